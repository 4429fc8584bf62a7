// Pooling on CUDA: a thread for each result, or for each pixel of a gradient, which finds the windows it is in.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/pooling.hpp"
#include "lanes.cuh"
#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

struct pool_plan {
  detail::pooling g;
  int64 n;  ///< elements of operand 0, of planes of (rows, columns)
  divider rows, columns;
  divider stride[2];

  explicit pool_plan(const detail::pooling& pooling, bool gradient)
      : g(pooling),
        rows(gradient ? g.h : g.p),
        columns(gradient ? g.w : g.q),
        stride{divider(g.stride[0]), divider(g.stride[1])} {
    n = g.planes * rows.divisor * columns.divisor;
  }
  unsigned blocks() const { return unsigned(ceil_div(n, block_threads)); }
  /// Where this thread's element is; false for a thread without one.
  __device__ bool place(int64& element, int64& plane, int64& row, int64& column) const {
    element = int64(blockIdx.x) * block_threads + threadIdx.x;
    if (element >= n) return false;
    const int64 line = columns.divide(element);
    column = element - line * columns.divisor;
    plane = rows.divide(line);
    row = line - plane * rows.divisor;
    return true;
  }
  /// The windows along an axis that a pixel is in.
  __device__ detail::pooling::range windows_at(int axis, int64 pixel) const {
    const int64 last = stride[axis].divide(pixel + g.padding[axis]) + 1,
                before = pixel + g.padding[axis] - (axis == 0 ? g.r : g.s), most = axis == 0 ? g.p : g.q;
    return {before < 0 ? 0 : stride[axis].divide(before) + 1, last < most ? last : most};
  }
};

template <class C, bool Average, class T>
__global__ void __launch_bounds__(block_threads) pool_kernel(T* to, const T* images, const pool_plan p) {
  int64 at, plane, i, j;
  if (!p.place(at, plane, i, j)) return;
  const auto u = p.g.covered(0, i), v = p.g.covered(1, j);
  images += plane * p.g.h * p.g.w;
  C all = Average ? C(0) : C(detail::bounds<C>::lowest);
  for (int64 column = v.begin; column < v.end; ++column) {
    C own = element_cast<C>(images[u.begin * p.g.w + column]);
    for (int64 row = u.begin + 1; row < u.end; ++row) {
      const C pixel = element_cast<C>(images[row * p.g.w + column]);
      own = Average ? C(own + pixel) : math::maximum(own, pixel);
    }
    all = Average ? C(all + own) : math::maximum(all, own);
  }
  if (Average) all = all / C(p.g.divisor(u, v));
  to[at] = element_cast<T>(all);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    max_pool_gradient_kernel(T* to, const T* gradient, const T* images, const pool_plan p) {
  using C = detail::compute_t<T>;
  int64 at, plane, row, column;
  if (!p.place(at, plane, row, column)) return;
  gradient += plane * p.g.p * p.g.q;
  images += plane * p.g.h * p.g.w;
  const C own = element_cast<C>(images[row * p.g.w + column]);
  const auto is = p.windows_at(0, row), js = p.windows_at(1, column);
  T sum = T(0);
  for (int64 i = is.begin; i < is.end; ++i)
    for (int64 j = js.begin; j < js.end; ++j) {
      const auto u = p.g.covered(0, i), v = p.g.covered(1, j);
      bool first = true;
      for (int64 a = u.begin; a < u.end; ++a)
        for (int64 b = v.begin; b < v.end; ++b) {
          const C other = element_cast<C>(images[a * p.g.w + b]);
          const bool before = a < row || (a == row && b < column);
          const bool larger = own == own && (other > own || other != other);
          const bool equal = other == own || (other != other && own != own);
          first = first && !larger && !(equal && before);
        }
      if (first) sum = element_cast<T>(math::add(element_cast<C>(sum), element_cast<C>(gradient[i * p.g.q + j])));
    }
  to[at] = sum;
}

template <class C, class T>
__global__ void __launch_bounds__(block_threads)
    average_pool_gradient_kernel(T* to, const T* gradient, const pool_plan p) {
  int64 at, plane, row, column;
  if (!p.place(at, plane, row, column)) return;
  gradient += plane * p.g.p * p.g.q;
  const auto is = p.windows_at(0, row), js = p.windows_at(1, column);
  T sum = T(0);
  for (int64 i = is.begin; i < is.end; ++i) {
    const auto u = p.g.covered(0, i);
    C line = C(0);
    for (int64 j = js.end - 1; j >= js.begin; --j)
      line = line + element_cast<C>(gradient[i * p.g.q + j]) / C(p.g.divisor(u, p.g.covered(1, j)));
    sum = element_cast<T>(element_cast<C>(sum) + line);
  }
  to[at] = sum;
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class T>
void max_pool(cuda device, const detail::pooling& g) {
  const gpu::pool_plan p(g, false);
  gpu::launch(device.ordinal, g.store, 2, gpu::pool_kernel<detail::compute_t<T>, false, T>, p.blocks(),
              gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
}
template <class Build, class T>
void average_pool(cuda device, const detail::pooling& g) {
  const gpu::pool_plan p(g, false);
  gpu::launch(device.ordinal, g.store, 2, gpu::pool_kernel<detail::average_t<T>, true, T>, p.blocks(),
              gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
}
template <class Build, class T>
void max_pool_gradient(cuda device, const detail::pooling& g) {
  const gpu::pool_plan p(g, true);
  gpu::launch(device.ordinal, g.store, 3, gpu::max_pool_gradient_kernel<T>, p.blocks(), gpu::block_threads, 0,
              g.at<T>(0), g.at<const T>(1), g.at<const T>(2), p);
}
template <class Build, class T>
void average_pool_gradient(cuda device, const detail::pooling& g) {
  const gpu::pool_plan p(g, true);
  gpu::launch(device.ordinal, g.store, 2, gpu::average_pool_gradient_kernel<detail::average_t<T>, T>, p.blocks(),
              gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
}

}  // namespace cudarray::inline v0::backend
