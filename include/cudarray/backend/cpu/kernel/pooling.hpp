// Pooling on the CPU: the columns under a row of windows first, by packs, then the windows of the row.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/pooling.hpp"
#include "../../../memory/stats.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Calls `body(integral_constant of a number of lanes)`: as many as n has room for, at most N.
template <int N, class F>
CUDARRAY_FORCE_INLINE void with_lanes(int64 n, const F& body) {
  if constexpr (N == 1) body(::std::integral_constant<int, N>{});
  else if (n >= N) body(::std::integral_constant<int, N>{});
  else with_lanes<N / 2>(n, body);
}
/// Calls `body(i)` for pieces of N of [0, n). The last one may reach back.
template <int N, class F>
CUDARRAY_FORCE_INLINE void for_pieces(int64 n, const F& body) {
  for (int64 i = 0; i < n; i += N) body(i + N < n ? i : n - N);
}

/// The same for `body(integral_constant of a number of lanes, i)`.
template <int N, class F>
CUDARRAY_FORCE_INLINE void for_lanes(int64 n, const F& body) {
  with_lanes<N>(n, [&](auto lanes) { for_pieces<lanes>(n, [&](int64 i) { body(lanes, i); }); });
}

/// `load(begin)` to `load(end - 1)` combined in order; two of them, as most windows have, without a loop.
template <class Load, class Combine>
CUDARRAY_FORCE_INLINE auto combine_range(int64 begin, int64 end, const Load& load, const Combine& combine) {
  auto v = load(begin);
  if (end - begin == 2) return combine(v, load(begin + 1));
  for (int64 i = begin + 1; i < end; ++i) v = combine(v, load(i));
  return v;
}

/// Every second lane of 2 N - 1 elements in two packs, of which the second begins with element N - 1.
struct every_second {
  template <int N>
  static constexpr int at(int k) {
    return k < N / 2 ? 2 * k : k + k - N + 1 + N;
  }
};

/// The elements of a window row's columns, `step` apart, that begin at p.
template <int N, class T>
CUDARRAY_FORCE_INLINE simd::pack<T, N> load_every(const T* p, int64 step) {
  if (step == 1) return simd::load_lanes<T, N>(p);
  if constexpr (N > 1)
    if (step == 2) return simd::pick_lanes<every_second>(simd::load_lanes<T, N>(p), simd::load_lanes<T, N>(p + N - 1));
  return simd::from_lanes<T, N>([=](int k) { return p[k * step]; });
}

/// What is kept of the columns under some rows of windows: with a border, and without gaps between the rows where
/// windows do not overlap, so that they are one long row.
struct pool_lines {
  bool apart;     ///< windows do not overlap
  int64 pitch;    ///< elements of a row
  int64 columns;  ///< of them in the image, from the padding on
  int64 rows;     ///< at a time
  explicit pool_lines(const detail::pooling& g) {
    const bool gapless = g.s <= g.stride[1];
    apart = gapless && g.r <= g.stride[0];
    pitch = gapless ? g.q * g.stride[1] : (g.q - 1) * g.stride[1] + g.s;
    columns = g.w < pitch - g.padding[1] ? g.w : pitch - g.padding[1];
    rows = !gapless || pitch > 2048 ? 1 : 2048 / pitch < g.p ? 2048 / pitch : g.p;
  }
  int64 size() const { return pitch * rows; }
};

/// Counts a kernel and calls `body(plane, row of windows, how many rows, space)` for all, as many rows at a time as
/// lines hold. `whole`: one thread has all rows of a plane. `start(space)` prepares `bytes` bytes for a thread.
template <class Start, class F>
void for_window_rows(const detail::pooling& g, const pool_lines& lines, bool whole, int64 bytes, const Start& start,
                     const F& body) {
  const int64 unit = whole ? g.p : 1, units = g.planes * g.p / unit,
              wanted = parts_for(g.planes * g.p * g.q * g.channels * g.r * g.s / 4),
              parts = wanted < units ? wanted : units;
  detail::count(detail::counters.kernels);
  parallel(parts, [&](int64 part) {
    const scratch space(bytes);
    start(space.p);
    const int64 last = units * (part + 1) / parts * unit;
    for (int64 first = units * part / parts * unit, rows; first < last; first += rows) {
      const int64 i = first % g.p, left = last - first < g.p - i ? last - first : g.p - i;
      rows = left < lines.rows ? left : lines.rows;
      body(first / g.p, i, rows, space.p);
    }
  });
}

/// What the windows at each place of a row count of its columns; the divisor of an average is this times what they
/// count of rows.
template <class C>
void count_columns(const detail::pooling& g, C* to) {
  for (int64 j = 0; j < g.q; ++j) to[j] = C(g.counted(1, j));
}
template <class C>
C count_rows(const detail::pooling& g, int64 i) {
  return C(g.counted(0, i));
}

template <bool Average, class P>
CUDARRAY_FORCE_INLINE P combine_pixels(const P& a, const P& b) {
  if constexpr (Average) return a + b;
  else return simd::maximum(a, b);
}

/// Pixels in pairs, as an image has them: 2 N in two packs.
template <class P>
struct pixel_pairs {
  P first, second;
};
template <int N, class C, class T>
CUDARRAY_FORCE_INLINE pixel_pairs<simd::pack<C, N>> load_pairs(const T* p) {
  return {lane_cast<C>(simd::load_lanes<T, N>(p)), lane_cast<C>(simd::load_lanes<T, N>(p + N))};
}
/// The left pixels of all pairs, or the right ones.
template <bool Right, class T, int N>
CUDARRAY_FORCE_INLINE simd::pack<T, N> side_of(const pixel_pairs<simd::pack<T, N>>& p) {
  if constexpr (N == 1) return Right ? p.second : p.first;
  else return simd::pick_lanes<lanes_of_row<2, Right, 1>>(p.first, p.second);
}
/// The columns of N windows, two pixels wide, combined from the top, then the left one with the right one.
template <int N, class C, bool Average, class T>
CUDARRAY_FORCE_INLINE simd::pack<C, N> combine_pairs(const T* p, int64 step, int64 rows) {
  using pack = simd::pack<C, N>;
  const auto both = combine_range(
      0, rows, [=](int64 at) { return load_pairs<N, C>(p + at * step); },
      [](const auto& a, const auto& b) {
        return pixel_pairs<pack>{combine_pixels<Average>(a.first, b.first),
                                 combine_pixels<Average>(a.second, b.second)};
      });
  return combine_pixels<Average>(side_of<false>(both), side_of<true>(both));
}
/// Rows of windows take up each image from its top to its bottom.
inline bool in_strips(const detail::pooling& g) {
  return g.padding[0] == 0 && g.p * g.stride[0] == g.h && g.r <= g.stride[0];
}
/// Such images as one tall one, whose rows are gone through faster; others as they are.
inline detail::pooling stacked(detail::pooling g) {
  if (in_strips(g)) {
    g.h *= g.planes;
    g.p *= g.planes;
    g.planes = 1;
  }
  return g;
}
/// Windows two pixels wide stand side by side, none over the padding: their pixels are taken as they lie.
inline bool in_pairs(const detail::pooling& g) {
  return g.s == 2 && g.stride[1] == 2 && g.padding[1] == 0 && 2 * g.q <= g.w;
}

/// Operand 0: the columns under each window combined from the top, then these from the left.
template <class T, class C, bool Average>
void pool_windows(const detail::pooling& given) {
  constexpr int N = lanes_for<(sizeof(C) > sizeof(T) ? sizeof(C) : sizeof(T))>;
  const detail::pooling g = stacked(given);
  const pool_lines lines(g);
  if (in_pairs(g)) {
    for_window_rows(
        g, lines, false, 0, [](char*) {},
        [&](int64 plane, int64 i, int64 rows, char*) {
          const int64 w = g.w, q = g.q;  // (stores might change what is not a copy)
          const T* const image = g.at<const T>(1) + plane * g.h * w;
          T* const results = g.at<T>(0) + plane * g.p * q;
          with_lanes<N>(q, [&](auto lanes) {
            for (int64 row = i; row < i + rows; ++row) {
              const auto u = g.covered(0, row);
              const int64 height = u.end - u.begin;
              const C divisor = Average ? count_rows<C>(g, row) * C(2) : C(1);
              const T* const from = image + u.begin * w;
              T* const to = results + row * q;
              for_pieces<lanes>(q, [=](int64 k) {
                auto v = combine_pairs<lanes, C, Average>(from + 2 * k, w, height);
                if constexpr (Average) v = v / simd::splat<C, lanes>(divisor);
                simd::store_lanes(to + k, lane_cast<T>(v));
              });
            }
          });
        });
    return;
  }
  const auto combine = [](const auto& a, const auto& b) { return combine_pixels<Average>(a, b); };
  const auto start = [&](char* space) {
    C* const line = reinterpret_cast<C*>(space);
    for (int64 k = 0; k < lines.size(); ++k) line[k] = Average ? C(0) : C(detail::bounds<C>::lowest);
    if constexpr (Average) count_columns(g, line + lines.size());
  };
  const int64 bytes = (lines.size() + Average * g.q * (1 + lines.rows)) * int64(sizeof(C));
  for_window_rows(g, lines, false, bytes, start, [&](int64 plane, int64 i, int64 rows, char* space) {
    C *const line = reinterpret_cast<C*>(space), *const columns = line + lines.size(), *const divisor = columns + g.q;
    const T* const image = g.at<const T>(1) + plane * g.h * g.w;
    for (int64 row = 0; row < rows; ++row) {
      const auto u = g.covered(0, i + row);
      for_lanes<N>(lines.columns, [&](auto lanes, int64 c) {
        const auto load = [&](int64 at) { return lane_cast<C>(simd::load_lanes<T, lanes>(image + at * g.w + c)); };
        simd::store_lanes(line + row * lines.pitch + g.padding[1] + c, combine_range(u.begin, u.end, load, combine));
      });
      if constexpr (Average)
        for (int64 j = 0; j < g.q; ++j) divisor[row * g.q + j] = count_rows<C>(g, i + row) * columns[j];
    }
    T* const to = g.at<T>(0) + (plane * g.p + i) * g.q;
    for_lanes<N>(rows * g.q, [&](auto lanes, int64 k) {
      const auto load = [&](int64 j) { return load_every<lanes>(line + k * g.stride[1] + j, g.stride[1]); };
      auto v = combine_range(0, g.s, load, combine);
      if constexpr (Average) v = v / simd::load_lanes<C, lanes>(divisor + k);
      simd::store_lanes(to + k, lane_cast<T>(v));
    });
  });
}

/// A pixel, and where in its image it is.
template <class C, int N>
struct placed_lanes {
  simd::pack<C, N> value;
  simd::pack<int32, N> place;
};
/// The larger pixel, NaN being the largest; of equal ones the first.
template <class C, int N>
CUDARRAY_FORCE_INLINE placed_lanes<C, N> larger_pixel(const placed_lanes<C, N>& a, const placed_lanes<C, N>& b) {
  const auto nan_a = isnan(a.value), nan_b = isnan(b.value);
  const auto better =
      (((b.value > a.value) | nan_b) & !nan_a) | (((b.value == a.value) | (nan_a & nan_b)) & (b.place < a.place));
  return {select(better, b.value, a.value), select(better, b.place, a.place)};
}

/// True where b is the larger pixel, NaN being the largest; of equal ones it is not.
template <class P>
CUDARRAY_FORCE_INLINE auto is_larger(const P& b, const P& a) {
  if constexpr (detail::arithmetic::finite_math) return ((b > a) | isnan(b)) & !isnan(a);
  else return (!(a >= b)) & (a == a);
}
/// Gives lane k of v to the right pixel of pair k, or the left one, and 0 to the other.
template <class T, class C, int W, int N>
CUDARRAY_FORCE_INLINE void store_pairs(T* p, const simd::mask<W, N>& to_right, const simd::pack<C, N>& v) {
  const auto none = simd::splat<C, N>(C(0));
  const auto left = lane_cast<T>(select(to_right, none, v)), right = lane_cast<T>(select(to_right, v, none));
  simd::store_lanes(p, simd::interleave<false>(left, right));
  simd::store_lanes(p + N, simd::interleave<true>(left, right));
}
/// The gradients of N windows of two by two pixels, or, if the next row is 0 elements away, of one by two.
template <int N, class C, class T>
CUDARRAY_FORCE_INLINE void pool_pairs_gradient(T* to, const T* gradient, const T* image, int64 next_row) {
  const auto none = simd::splat<C, N>(C(0)), given = lane_cast<C>(simd::load_lanes<T, N>(gradient));
  const auto top = load_pairs<N, C>(image);
  const auto a = side_of<false>(top), b = side_of<true>(top);
  const auto right = is_larger(b, a);
  if (next_row == 0) return store_pairs(to, right, given);
  const auto bottom = load_pairs<N, C>(image + next_row);
  const auto c = side_of<false>(bottom), d = side_of<true>(bottom);
  const auto right_below = is_larger(d, c), below = is_larger(select(right_below, d, c), select(right, b, a));
  store_pairs(to, right, select(below, none, given));
  store_pairs(to + next_row, right_below, select(below, given, none));
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
