// Scans on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/segments.hpp"
#include "kernel/scan.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Op, class T>
detail::storage_ref scan_segments(cuda device, const detail::segments& s) {
  using total = gpu::scan_total<Op, T>;
  using R = gpu::scan_result<Op, T>;
  const gpu::scan_plan p =
      gpu::plan_scan(s.outer, s.n, s.inner,
                     {gpu::scan_items<T, R>, gpu::scan_row_items<T, R>, gpu::scan_inner_threads<total>, int(sizeof(R)),
                      int64(gpu::multiprocessors(device.ordinal)) * gpu::scan_blocks});
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(R)), words;
  uint64* told = nullptr;
  if (p.in_tiles() && !p.alone) {
    const ::std::size_t bytes =
        (1 + ::std::size_t(p.depth) * ::std::size_t(s.outer * s.inner) * gpu::marked<total>::words) * sizeof(uint64);
    words = allocate(device, bytes);
    told = static_cast<uint64*>(words->data);
    const gpu::device_guard guard(device.ordinal);
    gpu::check(cudaMemsetAsync(told, 0, bytes, gpu::current(device.ordinal)->handle), "cudaMemsetAsync");
  }
  auto* const kernel = p.form == p.short_rows      ? gpu::scan_short_kernel<Op, T>
                       : p.form == p.short_columns ? gpu::scan_columns_kernel<Op, T>
                       : p.form == p.long_rows     ? gpu::scan_long_kernel<true, Op, T>
                                                   : gpu::scan_long_kernel<false, Op, T>;
  detail::storage* const operands[] = {r.get(), s.store};
  gpu::launch(device.ordinal, operands, 2, kernel, dim3(unsigned(p.blocks)), gpu::block_threads, 0, s.at<const T>(),
              static_cast<R*>(r->data), told, p);
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
