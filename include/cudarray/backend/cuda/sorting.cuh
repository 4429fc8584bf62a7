// Sorting on CUDA, by CUB's stable merge sort.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/device/device_merge_sort.cuh>

#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

template <class T>
struct comes_before {
  const T* k;
  __device__ bool operator()(int64 a, int64 b) const {
    const bool an = k[a] != k[a], bn = k[b] != k[b];
    return an || bn ? !an && bn : k[a] < k[b];
  }
};

template <class T>
__global__ void __launch_bounds__(block_threads) count_up_kernel(T* to, int64 n) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = T(i);
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class T>
detail::storage_ref stable_argsort(cuda device, detail::storage& keys, int64 n) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  detail::storage_ref order = allocate(device, ::std::size_t(n) * sizeof(int64));
  if (n == 0) return order;
  int64* to = static_cast<int64*>(order->data);
  detail::storage* const operands[] = {order.get(), &keys};
  gpu::launch(device.ordinal, operands, 2, gpu::count_up_kernel<int64>,
              dim3(unsigned(gpu::ceil_div(n, gpu::block_threads))), gpu::block_threads, 0, to, n);
  const gpu::comes_before<T> less{static_cast<const T*>(keys.data)};
  const auto sort = [&](void* scratch, ::std::size_t& bytes) {
    gpu::check(::cub::DeviceMergeSort::StableSortKeys(scratch, bytes, to, n, less, stream->handle),
               "cub::DeviceMergeSort");
  };
  ::std::size_t bytes = 0;
  sort(nullptr, bytes);
  detail::storage_ref scratch = allocate(device, bytes > 0 ? bytes : 1);
  sort(scratch->data, bytes);
  return order;
}

}  // namespace cudarray::inline v0::backend
