// Pooling on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/pooling_pixels.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
void max_pool(cpu, const detail::pooling& g) {
  if (g.channels > 1) host::pool_pixels<T, detail::compute_t<T>, false>(g);
  else host::pool_windows<T, detail::compute_t<T>, false>(g);
}
template <class T>
void average_pool(cpu, const detail::pooling& g) {
  if (g.channels > 1) host::pool_pixels<T, detail::average_t<T>, true>(g);
  else host::pool_windows<T, detail::average_t<T>, true>(g);
}

/// Windows of pairs, two rows at most, that share no pixels.
template <class T>
void max_pool_gradient_of_pairs(const detail::pooling& g) {
  using C = detail::compute_t<T>;
  using namespace host;
  constexpr int N = lanes_for<(sizeof(C) > 4 ? sizeof(C) : 4)>;
  const bool all = in_strips(g) && 2 * g.q == g.w && g.r == g.stride[0];  // pixels are in a window
  const detail::pooling images = all ? stacked(g) : g;
  for_window_rows(
      images, pool_lines(images), !all, 0, [](char*) {},
      [&](int64 plane, int64 i, int64 rows, char*) {
        const int64 w = g.w, q = g.q, first = plane * images.h * w;
        const T *const image = g.at<const T>(2) + first, *const gradients = g.at<const T>(1) + plane * images.p * q;
        T* const results = g.at<T>(0) + first;
        if (i == 0 && !all) ::std::memset(static_cast<void*>(results), 0, ::std::size_t(g.h * w) * sizeof(T));
        with_lanes<N>(q, [&](auto lanes) {
          for (int64 row = i; row < i + rows; ++row) {
            const auto u = images.covered(0, row);
            const T *const from = image + u.begin * w, *const gradient = gradients + row * q;
            T* const to = results + u.begin * w;
            const int64 next_row = u.end - u.begin == 1 ? 0 : w;
            for_pieces<lanes>(
                q, [=](int64 k) { pool_pairs_gradient<lanes, C>(to + 2 * k, gradient + k, from + 2 * k, next_row); });
          }
        });
      });
}
template <class T>
void max_pool_gradient(cpu, const detail::pooling& g) {
  using C = detail::compute_t<T>;
  using namespace host;
  constexpr int N = lanes_for<(sizeof(C) > 4 ? sizeof(C) : 4)>;
  if (g.channels > 1) return max_pool_pixels_gradient<T>(g);
  if (in_pairs(g) && g.r <= g.stride[0] && g.r <= 2) return max_pool_gradient_of_pairs<T>(g);
  const pool_lines lines(g);
  // where the largest pixel of each column is, where that of each window, and the first ones themselves
  const int64 places = (lines.size() + g.q * lines.rows + 1) / 2 * 2;
  const auto start = [&](char* space) {
    int32* const place = reinterpret_cast<int32*>(space);
    C* const line = reinterpret_cast<C*>(place + places);
    for (int64 k = 0; k < lines.size(); ++k) {
      line[k] = detail::bounds<C>::lowest;
      place[k] = INT32_MAX;  // the border is never first
    }
  };
  const int64 bytes = places * 4 + lines.size() * int64(sizeof(C));
  for_window_rows(g, lines, true, bytes, start, [&](int64 plane, int64 i, int64 rows, char* space) {
    int32 *const place = reinterpret_cast<int32*>(space), *const found = place + lines.size();
    C* const line = reinterpret_cast<C*>(place + places);
    const T *const image = g.at<const T>(2) + plane * g.h * g.w, *const gradient =
                                                                     g.at<const T>(1) + (plane * g.p + i) * g.q;
    T* const to = g.at<T>(0) + plane * g.h * g.w;
    for (int64 row = 0; row < rows; ++row) {
      const auto u = g.covered(0, i + row);
      const int64 begin = row * lines.pitch + g.padding[1];
      for_lanes<N>(lines.columns, [&](auto lanes, int64 c) {
        const auto ahead = simd::from_lanes<int32, lanes>([](int k) { return k; });
        const auto load = [&](int64 at) {
          return placed_lanes<C, lanes>{lane_cast<C>(simd::load_lanes<T, lanes>(image + at * g.w + c)),
                                        ahead + simd::splat<int32, lanes>(int32(at * g.w + c))};
        };
        const auto top = combine_range(u.begin, u.end, load, larger_pixel<C, lanes>);
        simd::store_lanes(line + begin + c, top.value);
        simd::store_lanes(place + begin + c, top.place);
      });
    }
    for_lanes<N>(rows * g.q, [&](auto lanes, int64 k) {
      const auto load = [&](int64 j) {
        const int64 at = k * g.stride[1] + j;
        return placed_lanes<C, lanes>{load_every<lanes>(line + at, g.stride[1]),
                                      load_every<lanes>(place + at, g.stride[1])};
      };
      simd::store_lanes(found + k, combine_range(0, g.s, load, larger_pixel<C, lanes>).place);
    });
    if (i == 0) ::std::memset(static_cast<void*>(to), 0, ::std::size_t(g.h * g.w) * sizeof(T));
    if (lines.apart)
      for (int64 k = 0; k < rows * g.q; ++k) to[found[k]] = gradient[k];
    else
      for (int64 k = 0; k < rows * g.q; ++k)
        to[found[k]] = detail::lane_cast<T>(math::add(C(to[found[k]]), C(gradient[k])));
  });
}

template <class T>
void average_pool_gradient(cpu, const detail::pooling& g) {
  using C = detail::average_t<T>;
  using namespace host;
  constexpr int N = lanes_for<(sizeof(C) > sizeof(T) ? sizeof(C) : sizeof(T))>;
  if (g.channels > 1) return average_pool_pixels_gradient<T>(g);
  pool_lines lines(g);
  lines.rows = 1;  // kept as wide as all windows, also where no pixels are
  const int64 width = (g.q - 1) * g.stride[1] + g.s, pitch = width > g.w + g.padding[1] ? width : g.w + g.padding[1];
  const auto start = [&](char* space) { count_columns(g, reinterpret_cast<C*>(space) + pitch); };
  for_window_rows(
      g, lines, true, (pitch + 2 * g.q) * int64(sizeof(C)), start, [&](int64 plane, int64 i, int64, char* space) {
        C *const line = reinterpret_cast<C*>(space), *const columns = line + pitch, *const share = columns + g.q;
        const T* const gradient = g.at<const T>(1) + (plane * g.p + i) * g.q;
        T* const to = g.at<T>(0) + plane * g.h * g.w;
        if (i == 0) ::std::memset(static_cast<void*>(to), 0, ::std::size_t(g.h * g.w) * sizeof(T));
        ::std::memset(static_cast<void*>(line), 0, ::std::size_t(pitch) * sizeof(C));
        const C window_rows = count_rows<C>(g, i);
        for (int64 j = 0; j < g.q; ++j) share[j] = C(gradient[j]) / (window_rows * columns[j]);
        for (int64 v = 0; v < g.s; ++v)
          for (int64 j = 0; j < g.q; ++j) line[j * g.stride[1] + v] += share[j];
        const auto u = g.covered(0, i);
        for (int64 at = u.begin; at < u.end; ++at) {
          T* const row = to + at * g.w;
          if (lines.apart)
            for_lanes<N>(g.w, [&](auto lanes, int64 c) {
              simd::store_lanes(row + c, lane_cast<T>(simd::load_lanes<C, lanes>(line + g.padding[1] + c)));
            });
          else add_line<C>(row, line + g.padding[1], g.w);
        }
      });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
