// Pooling on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/pooling.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
void max_pool(cuda device, const detail::pooling& g) {
  gpu::in_either_order(g, [&](auto last) {
    if (g.stride[0] < g.r && g.p > 1) {
      const gpu::pool_plan<last> strips(g, false, gpu::pool_strip);
      gpu::launch(device.ordinal, g.store, 2, gpu::max_strip_kernel<T, last>, strips.blocks(), gpu::block_threads, 0,
                  g.at<T>(0), g.at<const T>(1), strips);
    } else {
      const gpu::pool_plan<last> p(g, false);
      gpu::launch(device.ordinal, g.store, 2, gpu::pool_kernel<detail::compute_t<T>, false, T, last>, p.blocks(),
                  gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
    }
  });
}
template <class T>
void average_pool(cuda device, const detail::pooling& g) {
  gpu::in_either_order(g, [&](auto last) {
    const gpu::pool_plan<last> p(g, false);
    gpu::launch(device.ordinal, g.store, 2, gpu::pool_kernel<detail::average_t<T>, true, T, last>, p.blocks(),
                gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
  });
}

template <class T>
void max_pool_gradient(cuda device, const detail::pooling& g) {
  if (gpu::spread_gradient<detail::compute_t<T>>(device, g, g.at<const T>(2))) return;
  const detail::storage_ref found = allocate(device, ::std::size_t(g.planes * g.p * g.q * g.channels) * sizeof(int32));
  int32* const places = static_cast<int32*>(found->data);
  detail::storage* const search[] = {found.get(), g.store[2]};
  detail::storage* const spread[] = {g.store[0], g.store[1], found.get()};
  gpu::in_either_order(g, [&](auto last) {
    const gpu::pool_plan<last> windows(g, false, gpu::pool_strip), pixels(g, true, gpu::pool_strip);
    gpu::launch(device.ordinal, search, 2, gpu::largest_strip_kernel<T, last>, windows.blocks(), gpu::block_threads, 0,
                places, g.at<const T>(2), windows);
    gpu::launch(device.ordinal, spread, 3, gpu::max_pool_gradient_kernel<T, last>, pixels.blocks(), gpu::block_threads,
                0, g.at<T>(0), g.at<const T>(1), places, pixels);
  });
}
template <class T>
void average_pool_gradient(cuda device, const detail::pooling& g) {
  if (gpu::spread_gradient<detail::average_t<T>, T>(device, g, nullptr)) return;
  gpu::in_either_order(g, [&](auto last) {
    const gpu::pool_plan<last> p(g, true);
    gpu::launch(device.ordinal, g.store, 2, gpu::average_pool_gradient_kernel<detail::average_t<T>, T, last>,
                p.blocks(), gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
  });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
