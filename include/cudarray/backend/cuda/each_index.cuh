// A function of one's own for each index, on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/each_index.hpp"
#include "kernel/launch.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

template <class Body>
__global__ void __launch_bounds__(block_threads) each_index_kernel(const __grid_constant__ Body body, int64 n) {
  in_stream_order();
  for (int64 i = int64(blockIdx.x) * block_threads + threadIdx.x; i < n; i += int64(gridDim.x) * block_threads) body(i);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Body>
void run_each_index(cuda device, int64 n, const Body& body, const detail::used_memory* used, int count) {
  static_assert(sizeof(Body) + sizeof(int64) <= gpu::parameter_bytes, "the arrays must fit the kernel parameters");
  if (n == 0) return;
  for (int k = 0; k < count; ++k) gpu::use_on(used[k].store, gpu::current(device.ordinal), used[k].written);
  constexpr int64 most = INT32_MAX;
  const int64 blocks = gpu::ceil_div(n, gpu::block_threads);
  gpu::launch(device.ordinal, nullptr, 0, gpu::each_index_kernel<Body>, dim3(unsigned(blocks < most ? blocks : most)),
              gpu::block_threads, 0, body, n);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
