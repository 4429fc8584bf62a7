// Positions of true elements on CUDA, by CUB's selection.
// SPDX-License-Identifier: MIT
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include "launch.cuh"

namespace cudarray::inline v0::backend {

template <class Build>
detail::storage_ref flat_nonzero(cuda device, detail::storage& mask, int64 n, int64& count) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  detail::storage_ref all = allocate(device, ::std::size_t(n) * sizeof(int64)), found = allocate(device, sizeof(int64));
  gpu::use_on(&mask, stream, false);
  const ::thrust::counting_iterator<int64> positions(0);
  const auto select = [&](void* scratch, ::std::size_t& bytes) {
    gpu::check(::cub::DeviceSelect::Flagged(scratch, bytes, positions, static_cast<const bool*>(mask.data),
                                            static_cast<int64*>(all->data), static_cast<int64*>(found->data), n,
                                            stream->handle),
               "cub::DeviceSelect::Flagged");
  };
  ::std::size_t bytes = 0;
  select(nullptr, bytes);
  detail::storage_ref scratch = allocate(device, bytes > 0 ? bytes : 1);
  select(scratch->data, bytes);
  detail::count(detail::counters.kernels);
  copy_to_host(device, &count, *found, 0, sizeof(int64));
  return all;
}

}  // namespace cudarray::inline v0::backend
