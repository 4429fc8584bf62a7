// Pooling on CUDA: a thread for each window or, of a gradient, pixel; where windows overlap, for a strip of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/pooling.hpp"
#include "lanes.cuh"
#include "launch.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Where a thread's element, or strip, is.
struct pool_place {
  int64 element, plane;
  int channel, row, column;
};
/// An axis of a pooling.
struct pool_axis {
  int pixels, window, results, stride, padding;
  divider by_stride;
  pool_axis(int64 n, int64 r, int64 p, int64 s, int64 edge)
      : pixels(int(n)), window(int(r)), results(int(p)), stride(int(s)), padding(int(edge)), by_stride(s) {}
  struct range {
    int begin, end;
  };
  /// The pixels that the window at place i covers.
  __device__ range covered(int i) const {
    const int begin = i * stride - padding, end = begin + window;
    return {begin > 0 ? begin : 0, end < pixels ? end : pixels};
  }
  /// How many of its pixels, or of those with padding, the window at place i counts.
  __device__ int counted(int i, bool count_padding) const {
    const range v = covered(i);
    if (!count_padding) return v.end - v.begin;
    const int begin = i * stride - padding, end = begin + window;
    return (end < pixels + padding ? end : pixels + padding) - begin;
  }
  /// The windows that a pixel is in.
  __device__ range windows_at(int pixel) const {
    const int last = by_stride.divide(pixel + padding) + 1, before = pixel + padding - window;
    return {before < 0 ? 0 : by_stride.divide(before) + 1, last < results ? last : results};
  }
};
/// The geometry as kernels want it: what lies in a plane is counted in 32 bits. `Last`: pixels have channels side by
/// side.
template <bool Last>
struct pool_plan {
  pool_axis rows, columns;
  bool count_padding;
  int64 n;  ///< threads, of planes of (high, wide, channels)
  divider high, wide, side_by_side;

  /// A thread for `strip` windows, or pixels, one below the other.
  pool_plan(const detail::pooling& g, bool pixels, int strip = 1)
      : rows(g.h, g.r, g.p, g.stride[0], g.padding[0]),
        columns(g.w, g.s, g.q, g.stride[1], g.padding[1]),
        count_padding(g.count_padding),
        high(ceil_div(pixels ? g.h : g.p, strip)),
        wide(pixels ? g.w : g.q),
        side_by_side(g.channels) {
    n = g.planes * high.divisor * wide.divisor * g.channels;
  }
  __device__ int channels() const {
    if constexpr (Last) return side_by_side.divisor;
    else return 1;
  }
  unsigned blocks() const { return unsigned(ceil_div(n, block_threads)); }
  __device__ int64 divide(const divider& d, int64 x) const { return n <= INT32_MAX ? d.divide(int32(x)) : d.divide(x); }
  /// Where this thread's element, or strip, is; false for a thread without one.
  __device__ bool find(pool_place& to) const {
    to.element = int64(blockIdx.x) * block_threads + threadIdx.x;
    if (to.element >= n) return false;
    int64 at = to.element;
    to.channel = 0;
    if constexpr (Last) {
      at = divide(side_by_side, at);
      to.channel = int(to.element - at * channels());
    }
    const int64 line = divide(wide, at);
    to.column = int(at - line * wide.divisor);
    to.plane = divide(high, line);
    to.row = int(line - to.plane * high.divisor);
    return true;
  }
  /// Where in a plane a pixel, or a result, has its first channel, and where a place's own channel begins.
  __device__ int pixel(int row, int column) const { return (row * columns.pixels + column) * channels(); }
  __device__ int result(int row, int column) const { return (row * columns.results + column) * channels(); }
  __device__ int64 pixels(const pool_place& at) const {
    return at.plane * rows.pixels * columns.pixels * channels() + at.channel;
  }
  __device__ int64 results(const pool_place& at) const {
    return at.plane * rows.results * columns.results * channels() + at.channel;
  }
  /// What the mean of the window at (i, j) divides by.
  __device__ int divisor(int i, int j) const {
    return rows.counted(i, count_padding) * columns.counted(j, count_padding);
  }
};

template <class C, bool Average, class T, bool Last>
__global__ void __launch_bounds__(block_threads) pool_kernel(T* to, const T* images, const pool_plan<Last> p) {
  in_stream_order();
  pool_place at;
  if (!p.find(at)) return;
  const auto u = p.rows.covered(at.row), v = p.columns.covered(at.column);
  images += p.pixels(at);
  C all = Average ? C(0) : C(detail::bounds<C>::lowest);
  for (int column = v.begin; column < v.end; ++column) {
    C own = element_cast<C>(images[p.pixel(u.begin, column)]);
    for (int row = u.begin + 1; row < u.end; ++row) {
      const C pixel = element_cast<C>(images[p.pixel(row, column)]);
      own = Average ? C(own + pixel) : math::maximum(own, pixel);
    }
    all = Average ? C(all + own) : math::maximum(all, own);
  }
  if (Average) all = all / C(p.divisor(at.row, at.column));
  to[at.element] = element_cast<T>(all);
}

/// Windows, or pixels, one below the other that a thread takes where they overlap: the pixels of a row of a window, or
/// the windows of a pixel, are looked at once for all of them, so many side by side at a time.
inline constexpr int pool_strip = 4, pool_columns = 3;

/// The rows of pixels of a strip of windows.
struct strip_rows {
  int top, window, stride, first, end;  ///< top: the row where the first window begins, in the padding perhaps
  __device__ strip_rows(const pool_axis& rows, int i)
      : top(i * rows.stride - rows.padding), window(rows.window), stride(rows.stride) {
    first = top > 0 ? top : 0;
    end = rows.covered(i + pool_strip < rows.results ? i + pool_strip - 1 : rows.results - 1).end;
  }
  /// Whether window s, where there is one, has a row.
  __device__ bool has(int s, int row) const { return uint32(row - top) - uint32(s) * uint32(stride) < uint32(window); }
};

/// The pixels of columns [begin, end) of a line, `step` elements apart: `f(pixels, column)` for some side by side, the
/// last one repeated.
template <class C, class T, class F>
__device__ void each_columns(const T* line, int step, pool_axis::range v, const F& f) {
#pragma unroll 1
  for (int column = v.begin; column < v.end; column += pool_columns) {
    C pixel[pool_columns];
#pragma unroll
    for (int k = 0; k < pool_columns; ++k)
      pixel[k] = element_cast<C>(line[(column + k < v.end ? column + k : v.end - 1) * step]);
    f(pixel, column);
  }
}

template <class T, bool Last>
__global__ void __launch_bounds__(block_threads) max_strip_kernel(T* to, const T* images, const pool_plan<Last> p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  pool_place at;
  if (!p.find(at)) return;
  const int i = at.row * pool_strip;
  const auto v = p.columns.covered(at.column);
  const strip_rows rows(p.rows, i);
  images += p.pixels(at) + p.pixel(rows.first, 0);
  C all[pool_strip];
#pragma unroll
  for (int s = 0; s < pool_strip; ++s) all[s] = C(detail::bounds<C>::lowest);
#pragma unroll 1
  for (int row = rows.first; row < rows.end; ++row, images += p.pixel(1, 0)) {
    C own = C(detail::bounds<C>::lowest);
    each_columns<C>(images, p.channels(), v, [&](const C(&pixel)[pool_columns], int) {
#pragma unroll
      for (int k = 0; k < pool_columns; ++k) own = math::maximum(own, pixel[k]);
    });
#pragma unroll
    for (int s = 0; s < pool_strip; ++s)
      if (rows.has(s, row)) all[s] = math::maximum(all[s], own);
  }
  to += p.results(at) + p.result(i, at.column);
#pragma unroll
  for (int s = 0; s < pool_strip; ++s)
    if (i + s < p.rows.results) to[p.result(s, 0)] = element_cast<T>(all[s]);
}

/// Where in a plane the first largest pixel of a window is.
template <class T, bool Last>
__device__ int first_largest(const T* image, const pool_plan<Last>& p, pool_axis::range u, pool_axis::range v) {
  using C = detail::compute_t<T>;
  int best = p.pixel(u.begin, v.begin);
  C top = element_cast<C>(image[best]);
  for (int row = u.begin; row < u.end; ++row)
    for (int column = v.begin; column < v.end; ++column) {
      const int here = p.pixel(row, column);
      const C pixel = element_cast<C>(image[here]);
      if (pixel > top || (pixel != pixel && top == top)) top = pixel, best = here;
    }
  return best;
}
template <class T, bool Last>
__global__ void __launch_bounds__(block_threads)
    largest_strip_kernel(int32* found, const T* images, const pool_plan<Last> p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  pool_place at;
  if (!p.find(at)) return;
  const int i = at.row * pool_strip;
  const auto v = p.columns.covered(at.column);
  const strip_rows rows(p.rows, i);
  images += p.pixels(at) + p.pixel(rows.first, 0);
  C top[pool_strip];
  int best[pool_strip];
#pragma unroll
  for (int s = 0; s < pool_strip; ++s) {
    const int begin = rows.top + s * rows.stride;
    top[s] = C(detail::bounds<C>::lowest);
    best[s] = p.pixel(begin > 0 ? begin : 0, v.begin);
  }
  const auto beats = [](C pixel, C before) { return pixel > before || (pixel != pixel && before == before); };
#pragma unroll 1
  for (int row = rows.first; row < rows.end; ++row, images += p.pixel(1, 0)) {
    C largest = C(detail::bounds<C>::lowest);
    int own = v.begin;
    each_columns<C>(images, p.channels(), v, [&](const C(&pixel)[pool_columns], int column) {
#pragma unroll
      for (int k = 0; k < pool_columns; ++k)
        if (beats(pixel[k], largest)) largest = pixel[k], own = column + k;
    });
#pragma unroll
    for (int s = 0; s < pool_strip; ++s)
      if (rows.has(s, row) && beats(largest, top[s])) top[s] = largest, best[s] = p.pixel(row, own);
  }
  found += p.results(at) + p.result(i, at.column);
#pragma unroll
  for (int s = 0; s < pool_strip; ++s)
    if (i + s < p.rows.results) found[p.result(s, 0)] = best[s];
}

/// Each window gives its gradient to its first largest pixel, or (without `images`) to all of them in equal parts: of
/// windows that do not overlap.
template <class C, class T, bool Last>
__global__ void __launch_bounds__(block_threads)
    spread_gradient_kernel(T* to, const T* gradient, const T* images, const pool_plan<Last> p) {
  in_stream_order();
  pool_place at;
  if (!p.find(at)) return;
  const auto u = p.rows.covered(at.row), v = p.columns.covered(at.column);
  to += p.pixels(at);
  const int best = images != nullptr ? first_largest(images + p.pixels(at), p, u, v) : -1;
  C given = element_cast<C>(gradient[at.element]);
  if (best < 0) given = given / C(p.divisor(at.row, at.column));
  const T all = element_cast<T>(math::add(C(0), given));  // as sums have it, for which -0 is 0
  for (int row = u.begin; row < u.end; ++row)
    for (int column = v.begin; column < v.end; ++column) {
      const int here = p.pixel(row, column);
      to[here] = best < 0 || here == best ? all : T(0);
    }
}

/// Each pixel adds up the gradients of the windows it is the first largest of.
template <class T, bool Last>
__global__ void __launch_bounds__(block_threads)
    max_pool_gradient_kernel(T* to, const T* gradient, const int32* found, const pool_plan<Last> p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  pool_place at;
  if (!p.find(at)) return;
  const int row = at.row * pool_strip, own = p.pixel(row, at.column), last = row + pool_strip - 1;
  gradient += p.results(at);
  found += p.results(at);
  const auto js = p.columns.windows_at(at.column);
  const int begin = p.rows.windows_at(row).begin,
            end = p.rows.windows_at(last < p.rows.pixels ? last : p.rows.pixels - 1).end;
  T sum[pool_strip];
#pragma unroll
  for (int s = 0; s < pool_strip; ++s) sum[s] = T(0);
#pragma unroll 1
  for (int i = begin; i < end; ++i)
#pragma unroll 1
    for (int j = js.begin; j < js.end; j += pool_columns) {
      int below[pool_columns];
      C given[pool_columns];
#pragma unroll
      for (int k = 0; k < pool_columns; ++k) {
        below[k] = -1, given[k] = C(0);
        if (j + k < js.end)
          below[k] = found[p.result(i, j + k)] - own, given[k] = element_cast<C>(gradient[p.result(i, j + k)]);
      }
#pragma unroll
      for (int k = 0; k < pool_columns; ++k)
#pragma unroll
        for (int s = 0; s < pool_strip; ++s)
          if (below[k] == p.pixel(s, 0)) sum[s] = element_cast<T>(math::add(element_cast<C>(sum[s]), given[k]));
    }
  to += p.pixels(at) + own;
#pragma unroll
  for (int s = 0; s < pool_strip; ++s)
    if (row + s < p.rows.pixels) to[p.pixel(s, 0)] = sum[s];
}

template <class C, class T, bool Last>
__global__ void __launch_bounds__(block_threads)
    average_pool_gradient_kernel(T* to, const T* gradient, const pool_plan<Last> p) {
  in_stream_order();
  pool_place at;
  if (!p.find(at)) return;
  gradient += p.results(at);
  const auto is = p.rows.windows_at(at.row), js = p.columns.windows_at(at.column);
  T sum = T(0);
  for (int i = is.begin; i < is.end; ++i) {
    C line = C(0);
    for (int j = js.end - 1; j >= js.begin; --j)
      line = line + element_cast<C>(gradient[p.result(i, j)]) / C(p.divisor(i, j));
    sum = element_cast<T>(element_cast<C>(sum) + line);
  }
  to[at.element] = sum;
}

/// Calls `run(true or false as a type: whether pixels have channels side by side)`.
template <class F>
void in_either_order(const detail::pooling& g, const F& run) {
  if (g.channels > 1) run(::std::true_type());
  else run(::std::false_type());
}
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
    check(cudaMemsetAsync(g.at<T>(0), 0, ::std::size_t(g.planes * g.h * g.w * g.channels) * sizeof(T), stream->handle),
          "cudaMemsetAsync");
  }
  in_either_order(g, [&](auto last) {
    const pool_plan<last> p(g, false);
    launch(device.ordinal, g.store, images != nullptr ? 3 : 2, spread_gradient_kernel<C, T, last>, p.blocks(),
           block_threads, 0, g.at<T>(0), g.at<const T>(1), images, p);
  });
  return true;
}
#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
