// Pooling on CUDA: a thread for each window, or, where windows overlap, for each pixel of a gradient.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/pooling.hpp"
#include "lanes.cuh"
#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// The geometry as kernels want it: what lies in a plane is counted in 32 bits.
struct pool_plan {
  struct axis {
    int pixels, window, results, stride, padding;
    divider by_stride;
    axis(int64 n, int64 r, int64 p, int64 s, int64 border)
        : pixels(int(n)), window(int(r)), results(int(p)), stride(int(s)), padding(int(border)), by_stride(s) {}
    struct range {
      int begin, end;
    };
    /// The pixels that the window at place i covers.
    __device__ range covered(int i) const {
      const int begin = i * stride - padding, end = begin + window;
      return {begin > 0 ? begin : 0, end < pixels ? end : pixels};
    }
    /// The windows that a pixel is in.
    __device__ range windows_at(int pixel) const {
      const int last = by_stride.divide(pixel + padding) + 1, before = pixel + padding - window;
      return {before < 0 ? 0 : by_stride.divide(before) + 1, last < results ? last : results};
    }
  };
  axis rows, columns;
  bool count_padding;
  int64 n;  ///< elements that have a thread each, of planes of (high, wide)
  divider high, wide;

  pool_plan(const detail::pooling& g, bool pixels)
      : rows(g.h, g.r, g.p, g.stride[0], g.padding[0]),
        columns(g.w, g.s, g.q, g.stride[1], g.padding[1]),
        count_padding(g.count_padding),
        high(pixels ? g.h : g.p),
        wide(pixels ? g.w : g.q) {
    n = g.planes * high.divisor * wide.divisor;
  }
  unsigned blocks() const { return unsigned(ceil_div(n, block_threads)); }
  /// Where this thread's element is; false for a thread without one.
  __device__ bool place(int64& element, int64& plane, int& row, int& column) const {
    element = int64(blockIdx.x) * block_threads + threadIdx.x;
    if (element >= n) return false;
    const int64 line = n <= INT32_MAX ? wide.divide(int32(element)) : wide.divide(element);
    column = int(element - line * wide.divisor);
    plane = n <= INT32_MAX ? high.divide(int32(line)) : high.divide(line);
    row = int(line - plane * high.divisor);
    return true;
  }
  __device__ int64 pixels() const { return int64(rows.pixels) * columns.pixels; }
  __device__ int64 results() const { return int64(rows.results) * columns.results; }
  /// What the mean of a window divides by.
  __device__ int divisor(axis::range u, axis::range v) const {
    return count_padding ? rows.window * columns.window : (u.end - u.begin) * (v.end - v.begin);
  }
};

template <class C, bool Average, class T>
__global__ void __launch_bounds__(block_threads) pool_kernel(T* to, const T* images, const pool_plan p) {
  in_stream_order();
  int64 at, plane;
  int i, j;
  if (!p.place(at, plane, i, j)) return;
  const auto u = p.rows.covered(i), v = p.columns.covered(j);
  images += plane * p.pixels();
  C all = Average ? C(0) : C(detail::bounds<C>::lowest);
  for (int column = v.begin; column < v.end; ++column) {
    C own = element_cast<C>(images[u.begin * p.columns.pixels + column]);
    for (int row = u.begin + 1; row < u.end; ++row) {
      const C pixel = element_cast<C>(images[row * p.columns.pixels + column]);
      own = Average ? C(own + pixel) : math::maximum(own, pixel);
    }
    all = Average ? C(all + own) : math::maximum(all, own);
  }
  if (Average) all = all / C(p.divisor(u, v));
  to[at] = element_cast<T>(all);
}

/// Where in a plane the first largest pixel of a window is.
template <class T>
__device__ int first_largest(const T* image, const pool_plan& p, pool_plan::axis::range u, pool_plan::axis::range v) {
  using C = detail::compute_t<T>;
  int best = u.begin * p.columns.pixels + v.begin;
  C top = element_cast<C>(image[best]);
  for (int row = u.begin; row < u.end; ++row)
    for (int column = v.begin; column < v.end; ++column) {
      const int here = row * p.columns.pixels + column;
      const C pixel = element_cast<C>(image[here]);
      if (pixel > top || (pixel != pixel && top == top)) top = pixel, best = here;
    }
  return best;
}
template <class T>
__global__ void __launch_bounds__(block_threads) largest_kernel(int32* found, const T* images, const pool_plan p) {
  in_stream_order();
  int64 at, plane;
  int i, j;
  if (!p.place(at, plane, i, j)) return;
  found[at] = first_largest(images + plane * p.pixels(), p, p.rows.covered(i), p.columns.covered(j));
}

/// Each window gives its gradient to its first largest pixel, or (without `images`) to all of them in equal parts: of
/// windows that do not overlap.
template <class C, class T>
__global__ void __launch_bounds__(block_threads)
    spread_gradient_kernel(T* to, const T* gradient, const T* images, const pool_plan p) {
  in_stream_order();
  int64 at, plane;
  int i, j;
  if (!p.place(at, plane, i, j)) return;
  const auto u = p.rows.covered(i), v = p.columns.covered(j);
  to += plane * p.pixels();
  const int best = images != nullptr ? first_largest(images + plane * p.pixels(), p, u, v) : -1;
  C given = element_cast<C>(gradient[at]);
  if (best < 0) given = given / C(p.divisor(u, v));
  const T all = element_cast<T>(math::add(C(0), given));  // as sums have it, for which -0 is 0
  for (int row = u.begin; row < u.end; ++row)
    for (int column = v.begin; column < v.end; ++column) {
      const int here = row * p.columns.pixels + column;
      to[here] = best < 0 || here == best ? all : T(0);
    }
}

/// Each pixel adds up the gradients of the windows it is the first largest of.
template <class T>
__global__ void __launch_bounds__(block_threads)
    max_pool_gradient_kernel(T* to, const T* gradient, const int32* found, const pool_plan p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  int64 at, plane;
  int row, column;
  if (!p.place(at, plane, row, column)) return;
  gradient += plane * p.results();
  found += plane * p.results();
  const int own = row * p.columns.pixels + column;
  const auto is = p.rows.windows_at(row), js = p.columns.windows_at(column);
  T sum = T(0);
  for (int i = is.begin; i < is.end; ++i)
    for (int j = js.begin; j < js.end; ++j) {
      const int window = i * p.columns.results + j;
      if (found[window] == own)
        sum = element_cast<T>(math::add(element_cast<C>(sum), element_cast<C>(gradient[window])));
    }
  to[at] = sum;
}

template <class C, class T>
__global__ void __launch_bounds__(block_threads)
    average_pool_gradient_kernel(T* to, const T* gradient, const pool_plan p) {
  in_stream_order();
  int64 at, plane;
  int row, column;
  if (!p.place(at, plane, row, column)) return;
  gradient += plane * p.results();
  const auto is = p.rows.windows_at(row), js = p.columns.windows_at(column);
  T sum = T(0);
  for (int i = is.begin; i < is.end; ++i) {
    const auto u = p.rows.covered(i);
    C line = C(0);
    for (int j = js.end - 1; j >= js.begin; --j)
      line = line + element_cast<C>(gradient[i * p.columns.results + j]) / C(p.divisor(u, p.columns.covered(j)));
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
namespace gpu {
#pragma GCC visibility push(hidden)
/// Spreads the gradients of windows that do not overlap; false where they do.
template <class C, class T>
bool spread_gradient(cuda device, const detail::pooling& g, const T* images) {
  if (g.stride[0] < g.r || g.stride[1] < g.s) return false;
  const auto covers = [&g](int axis, int64 pixels, int64 window, int64 results) {
    return g.stride[axis] == window && results * window - g.padding[axis] >= pixels;
  };
  if (!covers(0, g.h, g.r, g.p) || !covers(1, g.w, g.s, g.q)) {
    const device_guard guard(device.ordinal);
    const stream_ref& stream = current(device.ordinal);
    use_on(g.store[0], stream, true);
    check(cudaMemsetAsync(g.at<T>(0), 0, ::std::size_t(g.planes * g.h * g.w) * sizeof(T), stream->handle),
          "cudaMemsetAsync");
  }
  const pool_plan p(g, false);
  launch(device.ordinal, g.store, images != nullptr ? 3 : 2, spread_gradient_kernel<C, T>, p.blocks(), block_threads, 0,
         g.at<T>(0), g.at<const T>(1), images, p);
  return true;
}
#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class T>
void max_pool_gradient(cuda device, const detail::pooling& g) {
  if (gpu::spread_gradient<detail::compute_t<T>>(device, g, g.at<const T>(2))) return;
  const gpu::pool_plan windows(g, false), pixels(g, true);
  const detail::storage_ref found = allocate(device, ::std::size_t(windows.n) * 4);
  int32* const places = static_cast<int32*>(found->data);
  detail::storage* const search[] = {found.get(), g.store[2]};
  gpu::launch(device.ordinal, search, 2, gpu::largest_kernel<T>, windows.blocks(), gpu::block_threads, 0, places,
              g.at<const T>(2), windows);
  detail::storage* const spread[] = {g.store[0], g.store[1], found.get()};
  gpu::launch(device.ordinal, spread, 3, gpu::max_pool_gradient_kernel<T>, pixels.blocks(), gpu::block_threads, 0,
              g.at<T>(0), g.at<const T>(1), places, pixels);
}
template <class Build, class T>
void average_pool_gradient(cuda device, const detail::pooling& g) {
  if (gpu::spread_gradient<detail::average_t<T>, T>(device, g, nullptr)) return;
  const gpu::pool_plan p(g, true);
  gpu::launch(device.ordinal, g.store, 2, gpu::average_pool_gradient_kernel<detail::average_t<T>, T>, p.blocks(),
              gpu::block_threads, 0, g.at<T>(0), g.at<const T>(1), p);
}

}  // namespace cudarray::inline v0::backend
