// Pooling on the CPU where the channels of a pixel lie side by side: by packs of channels.
// SPDX-License-Identifier: MIT
#pragma once

#include "pooling.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Calls `body(plane, row of windows, space)` for all; as for_window_rows.
template <class F>
void for_pixel_rows(const detail::pooling& g, bool whole, int64 bytes, const F& body) {
  pool_lines lines(g);
  lines.rows = 1;
  for_window_rows(
      g, lines, whole, bytes, [](char*) {}, [&](int64 plane, int64 i, int64, char* space) { body(plane, i, space); });
}
/// Where a plane of images begins, and a row of results.
template <class T>
T* plane_of(const detail::pooling& g, int operand, int64 plane) {
  return g.at<T>(operand) + plane * g.h * g.w * g.channels;
}
template <class T>
T* results_of(const detail::pooling& g, int operand, int64 plane, int64 i) {
  return g.at<T>(operand) + (plane * g.p + i) * g.q * g.channels;
}

/// Operand 0, in the order of pool_windows.
template <class T, class C, bool Average>
void pool_pixels(const detail::pooling& g) {
  constexpr int N = lanes_for<(sizeof(C) > sizeof(T) ? sizeof(C) : sizeof(T))>;
  const auto combine = [](const auto& a, const auto& b) { return combine_pixels<Average>(a, b); };
  for_pixel_rows(g, false, 0, [&](int64 plane, int64 i, char*) {
    const T* const image = plane_of<const T>(g, 1, plane);
    T* const results = results_of<T>(g, 0, plane, i);
    const auto u = g.covered(0, i);
    const C high = count_rows<C>(g, i);
    for (int64 j = 0; j < g.q; ++j) {
      const auto v = g.covered(1, j);
      const C divisor = high * C(g.counted(1, j));
      for_lanes<N>(g.channels, [&](auto lanes, int64 c) {
        const auto column = [&](int64 x) {
          return combine_range(
              u.begin, u.end,
              [&](int64 y) { return lane_cast<C>(simd::load_lanes<T, lanes>(image + (y * g.w + x) * g.channels + c)); },
              combine);
        };
        auto all = combine_range(v.begin, v.end, column, combine);
        if constexpr (Average) all = all / simd::splat<C, lanes>(divisor);
        simd::store_lanes(results + j * g.channels + c, lane_cast<T>(all));
      });
    }
  });
}

template <class T>
void max_pool_pixels_gradient(const detail::pooling& g) {
  using C = detail::compute_t<T>;
  constexpr int N = lanes_for<(sizeof(C) > 4 ? sizeof(C) : 4)>;
  for_pixel_rows(g, true, g.channels * 4, [&](int64 plane, int64 i, char* space) {
    int32* const found = reinterpret_cast<int32*>(space);
    const T* const image = plane_of<const T>(g, 2, plane);
    T* const to = plane_of<T>(g, 0, plane);
    if (i == 0) ::std::memset(static_cast<void*>(to), 0, ::std::size_t(g.h * g.w * g.channels) * sizeof(T));
    const auto u = g.covered(0, i);
    for (int64 j = 0; j < g.q; ++j) {
      const auto v = g.covered(1, j);
      for_lanes<N>(g.channels, [&](auto lanes, int64 c) {
        const auto ahead = simd::from_lanes<int32, lanes>([](int k) { return k; });
        const auto column = [&](int64 x) {
          return combine_range(
              u.begin, u.end,
              [&](int64 y) {
                const int64 at = (y * g.w + x) * g.channels + c;
                return placed_lanes<C, lanes>{lane_cast<C>(simd::load_lanes<T, lanes>(image + at)),
                                              ahead + simd::splat<int32, lanes>(int32(at))};
              },
              larger_pixel<C, lanes>);
        };
        simd::store_lanes(found + c, combine_range(v.begin, v.end, column, larger_pixel<C, lanes>).place);
      });
      const T* const gradient = results_of<const T>(g, 1, plane, i) + j * g.channels;
      for (int64 c = 0; c < g.channels; ++c)
        to[found[c]] = detail::lane_cast<T>(math::add(C(to[found[c]]), C(gradient[c])));
    }
  });
}

template <class T>
void average_pool_pixels_gradient(const detail::pooling& g) {
  using C = detail::average_t<T>;
  const int64 n = g.channels, width = (g.q - 1) * g.stride[1] + g.s,
              pitch = (width > g.w + g.padding[1] ? width : g.w + g.padding[1]) * n;
  for_pixel_rows(g, true, (pitch + g.q * n) * int64(sizeof(C)), [&](int64 plane, int64 i, char* space) {
    C *const line = reinterpret_cast<C*>(space), *const share = line + pitch;
    const T* const gradient = results_of<const T>(g, 1, plane, i);
    T* const to = plane_of<T>(g, 0, plane);
    if (i == 0) ::std::memset(static_cast<void*>(to), 0, ::std::size_t(g.h * g.w * n) * sizeof(T));
    ::std::memset(static_cast<void*>(line), 0, ::std::size_t(pitch) * sizeof(C));
    for (int64 j = 0; j < g.q; ++j) {
      const C divisor = count_rows<C>(g, i) * C(g.counted(1, j));
      for (int64 c = 0; c < n; ++c) share[j * n + c] = C(gradient[j * n + c]) / divisor;
    }
    for (int64 v = 0; v < g.s; ++v)
      for (int64 j = 0; j < g.q; ++j) {
        C* const pixel = line + (j * g.stride[1] + v) * n;
        for (int64 c = 0; c < n; ++c) pixel[c] += share[j * n + c];
      }
    const auto u = g.covered(0, i);
    for (int64 at = u.begin; at < u.end; ++at) add_line<C>(to + at * g.w * n, line + g.padding[1] * n, g.w * n);
  });
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
