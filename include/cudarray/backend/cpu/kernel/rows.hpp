// The softmax family on the CPU: a row stays in the cache.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/rows.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Rows of n elements: kept as what a function computes in, one at a time in the result itself or in `space`, short
/// ones `N` at a time, side by side.
template <detail::row_function F, class Target, class Tree, int Operands>
struct row_kernel {
  using value = typename Target::value_type;
  using T = detail::compute_t<value>;
  static constexpr int N = lanes_for<(int(sizeof(T)) > Tree::widest ? int(sizeof(T)) : Tree::widest)>;
  static constexpr bool in_place = F != detail::row_function::logsumexp && ::std::is_same_v<T, value>;

  static constexpr int chains = 4;  ///< results under way at a time: each waits for the one before

  /// Calls `packs(k, c)` for the packs of a row, c being the chain they belong to, and `element(k)` for what is left.
  template <class Packs, class Element>
  static CUDARRAY_FORCE_INLINE void each(int64 n, const Packs& packs, const Element& element) {
    int64 k = 0;
    for (; k + chains * N <= n; k += chains * N) {
      CUDARRAY_UNROLL
      for (int c = 0; c < chains; ++c) packs(k + c * N, c);
    }
    for (; k + N <= n; k += N) packs(k, 0);
    for (; k < n; ++k) element(k);
  }

  static constexpr int64 short_row = 2 * N;

  /// N rows, `down` apart; `flat`: elements of all operands follow each other from row to row. The same bits whichever
  /// rows come together.
  static void run_together(const Target& target, const Tree& tree, const int64* offset, const int64* step,
                           const int64* down, int64 n, bool flat) {
    using namespace math;
    using pack = simd::pack<T, N>;
    const auto load = [](const T* p) { return simd::load_lanes<T, N>(p); };
    const auto filled = [](T v) { return simd::splat<T, N>(v); };
    alignas(64) T rows[::std::size_t(N * short_row)], columns[::std::size_t(N * short_row)];
    int64 at[::std::size_t(Operands)];
    for (int k = 0; k < Operands; ++k) at[k] = offset[k];
    const int64 length = flat ? N * n : n;
    for (T *row = rows, *end = rows + N * n; row < end; row += length) {
      int64 i = 0;
      for (; i + N <= length; i += N) simd::store_lanes(row + i, lane_cast<T>(tree(pack_access<N>{at, step, i})));
      for (; i < length; ++i) row[i] = detail::lane_cast<T>(tree(element_access{at, step, i}));
      for (int k = 0; k < Operands; ++k) at[k] += down[k];
    }
    copy_tile<sizeof(T)>(columns, N, rows, n, N, 1, n);
    pack most = filled(detail::bounds<T>::lowest);  // of numbers; NaN is handed on by the sum that follows
    for (int64 i = 0; i < n; ++i) most = larger(load(columns + i * N), most);
    // infinity - infinity would be NaN in a logarithm's sum
    const pack top = F == detail::row_function::softmax ? most : select(isfinite(most), most, filled(T(0)));
    pack part[chains];
    for (pack& p : part) p = filled(T(0));
    const auto add = [&](int64 i, int c) {
      const pack e = exp(load(columns + i * N) - top);
      if constexpr (F == detail::row_function::softmax) simd::store_lanes(columns + i * N, e);
      part[c] = part[c] + e;
    };
    int64 i = 0;
    for (; i + chains <= n; i += chains) {
      CUDARRAY_UNROLL
      for (int c = 0; c < chains; ++c) add(i + c, c);
    }
    for (; i < n; ++i) add(i, 0);
    const pack sum = (part[0] + part[1]) + (part[2] + part[3]);
    if constexpr (F == detail::row_function::logsumexp) {
      const pack v = log(sum) + top;
      for (int r = 0; r < N; ++r) target(element_access{offset, down, r}, lane(v, r));
    } else {
      const pack by = F == detail::row_function::softmax ? filled(T(1)) / sum : log(sum) + top;
      for (int64 j = 0; j < n; ++j) {
        const pack v = load(columns + j * N);
        pack w;
        if constexpr (F == detail::row_function::softmax) w = v * by;
        else w = v - by;
        simd::store_lanes(columns + j * N, w);
      }
      value* const to = target.p + offset[0];
      T* const back = [&] {
        if constexpr (::std::is_same_v<T, value>) return to;
        else return rows;
      }();
      copy_tile<sizeof(T)>(back, n, columns, N, n, 1, N);
      if constexpr (!::std::is_same_v<T, value>)
        for (int64 j = 0; j < N * n; j += N) simd::store_lanes(to + j, lane_cast<value>(load(rows + j)));
    }
  }

  static void run(const Target& target, const Tree& tree, const int64* offset, const int64* step, int64 n, T* space) {
    using namespace math;
    using pack = simd::pack<T, N>;
    const auto load = [](const T* p) { return simd::load_lanes<T, N>(p); };
    T* x = space;
    if constexpr (in_place) x = target.p + offset[0];
    pack most[chains];  // of numbers; NaN is handed on by the sum that follows
    for (pack& m : most) m = simd::splat<T, N>(detail::bounds<T>::lowest);
    T largest = detail::bounds<T>::lowest;
    each(
        n,
        [&](int64 k, int c) {
          const pack v = lane_cast<T>(tree(pack_access<N>{offset, step, k}));
          simd::store_lanes(x + k, v);
          most[c] = larger(v, most[c]);
        },
        [&](int64 k) {
          x[k] = detail::lane_cast<T>(tree(element_access{offset, step, k}));
          largest = x[k] > largest ? x[k] : largest;
        });
    for (int c = 1; c < chains; ++c) most[0] = larger(most[c], most[0]);
    for (int k = 0; k < N; ++k) largest = lane(most[0], k) > largest ? lane(most[0], k) : largest;
    // infinity - infinity would be NaN in a logarithm's sum
    const T top = F == detail::row_function::softmax || isfinite(largest) ? largest : T(0);
    const pack tops = simd::splat<T, N>(top);
    double sum = 0;
    for (int64 begin = 0; begin < n; begin += 64 * N) {  // blocks of float32, added up in float64
      pack part[chains];
      for (pack& p : part) p = simd::splat<T, N>(T(0));
      each(
          n - begin < 64 * N ? n - begin : 64 * N,
          [&](int64 k, int c) {
            const pack e = exp(load(x + begin + k) - tops);
            if constexpr (F == detail::row_function::softmax) simd::store_lanes(x + begin + k, e);
            part[c] = part[c] + e;
          },
          [&](int64 k) {
            const T e = exp(x[begin + k] - top);
            if constexpr (F == detail::row_function::softmax) x[begin + k] = e;
            sum += double(e);
          });
      const pack all = (part[0] + part[1]) + (part[2] + part[3]);
      for (int k = 0; k < N; ++k) sum += double(lane(all, k));
    }
    if constexpr (F == detail::row_function::logsumexp) {
      target(element_access{offset, step, 0}, T(log(T(sum)) + top));
    } else {
      value* const to = target.p + offset[0];
      const T by = F == detail::row_function::softmax ? T(1 / sum) : T(log(T(sum)) + top);
      const pack all = simd::splat<T, N>(by);
      each(
          n,
          [&](int64 k, int) {
            const pack v = load(x + k);
            if constexpr (F == detail::row_function::softmax) simd::store_lanes(to + k, lane_cast<value>(v * all));
            else simd::store_lanes(to + k, lane_cast<value>(v - all));
          },
          [&](int64 k) {
            to[k] = detail::lane_cast<value>(F == detail::row_function::softmax ? x[k] * by : x[k] - by);
          });
    }
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
