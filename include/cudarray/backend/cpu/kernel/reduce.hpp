// Loops of reductions: by packs along the reduced axis or across the results.
// SPDX-License-Identifier: MIT
#pragma once

#include "accumulators.hpp"
#include "map_row.hpp"
#include "reduction_walk.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// True if a tree computes what takes many instructions: generated numbers, and functions whose rule says `costly`.
template <class Tree>
inline constexpr bool is_costly = false;
template <int Ix, class G>
inline constexpr bool is_costly<detail::generated<Ix, G>> = true;
template <int Ix, class T, class X>
inline constexpr bool is_costly<detail::gathered<Ix, T, X>> = is_costly<X>;
template <class Op, class Types, class... K>
inline constexpr bool is_costly<detail::apply<Op, Types, K...>> = requires {
  Op::costly;
}
|| (is_costly<K> || ...);

/// What a reduction does for an expression: rows of elements are combined into totals.
template <class Tree, class Op, int Operands>
struct reduction_kernels {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  using total = typename types::total;
  static constexpr int part = [] {
    if constexpr (Op::indexed) return int(sizeof(block::value));
    else if constexpr (requires(block b) { b.first; }) return int(sizeof(decltype(block::first)));
    else return ::std::is_arithmetic_v<block> ? int(sizeof(block)) : 8;
  }();
  static constexpr int N = lanes_for<(part > Tree::widest ? part : Tree::widest)>;
  static constexpr bool packable =
      Tree::packable && (::std::is_arithmetic_v<block> || requires(block b) { b.first; } || detail::is_dual<block> ||
                         (Op::indexed && !detail::is_dual<typename Tree::value_type> &&
                          !::std::is_same_v<typename Tree::value_type, bool>));
  static constexpr int64 flush = 16;  ///< packs an accumulator adds up in its own type, before they go to the total

  Tree tree;

  /// A row of the operands, in registers.
  struct row {
    Tree tree;
    int64 offset[::std::size_t(Operands)], step[::std::size_t(Operands)];
    CUDARRAY_FORCE_INLINE row(const Tree& t, const int64* offsets, const int64* steps) : tree(t) {
      for (int k = 0; k < Operands; ++k) offset[k] = offsets[k], step[k] = steps[k];
    }
    CUDARRAY_FORCE_INLINE auto lanes(int64 i) const {
      return Op::template lift<block>(tree(pack_access<N>{offset, step, i}), 0);
    }
    CUDARRAY_FORCE_INLINE auto element(int64 i) const { return tree(element_access{offset, step, i}); }
  };

  static void clear(void* totals, int64 n) {
    for (int64 i = 0; i < n; ++i) static_cast<total*>(totals)[i] = Op::template identity<total>();
  }
  static void merge(void* into, const void* totals, int64 n) {
    for (int64 i = 0; i < n; ++i) {
      total& t = static_cast<total*>(into)[i];
      t = Op::combine(t, static_cast<const total*>(totals)[i]);
    }
  }
  /// totals[k] = totals[k] combined with lane k.
  template <class A>
  static CUDARRAY_FORCE_INLINE void add_lanes(total* totals, const A& a) {
    if constexpr (::std::is_arithmetic_v<total>)
      simd::store_lanes(totals, Op::combine(simd::load_lanes<total, N>(totals), lane_cast<total>(a)));
    else
      for (int k = 0; k < N; ++k) totals[k] = Op::combine(totals[k], lane_total<total>(a, k));
  }
  static total add_elements(const row& r, int64 i, int64 n, int64 position, total sum) {
    while (i < n) {
      block b = Op::template identity<block>();
      for (const int64 stop = n < i + 64 ? n : i + 64; i < stop; ++i) {
        if constexpr (Op::indexed) Op::append(b, r.element(i), position + i);
        else b = Op::combine(b, Op::template lift<block>(r.element(i), 0));
      }
      sum = Op::combine(sum, Op::template widen<total>(b));
    }
    return sum;
  }
  static total add_packs(const row& r, int64& i, int64 n, int64 position, total sum) {
    if constexpr (Op::indexed) {
      // the extreme of a piece that fits the first cache; where it beats what was found, the place of it
      using max = typename Op::extreme;
      using value = decltype(sum.value);
      constexpr int64 piece = 16384 / int64(sizeof(value));
      for (int64 stop; i + 4 * N <= n; i = stop) {
        stop = n - i < piece + 4 * N ? n : i + piece;
        const auto at = [&](int64 k) { return lane_cast<value>(r.tree(pack_access<N>{r.offset, r.step, k})); };
        simd::pack<value, N> a[4];
        fill_lanes(a[0], max::template identity<value>());
        a[1] = a[2] = a[3] = a[0];
        for (int64 k = i;; k += 4 * N) {
          if (k + 4 * N > stop) k = stop - 4 * N;
          CUDARRAY_UNROLL
          for (int u = 0; u < 4; ++u) a[u] = max::combine(a[u], at(k + u * N));
          if (k + 4 * N == stop) break;
        }
        a[0] = max::combine(max::combine(a[0], a[1]), max::combine(a[2], a[3]));
        alignas(64) value of[::std::size_t(N)];
        simd::store_lanes(of, a[0]);
        for (int half = N / 2; half > 0; half /= 2)
          for (int k = 0; k < half; ++k) of[k] = max::combine(of[k], of[k + half]);
        const value m = of[0];
        total seen = sum;
        Op::append(seen, m, position + i);
        if (seen.position == sum.position) continue;
        const auto extreme = simd::splat<value, N>(m);
        int64 k = i;
        while (k + N < stop && !simd::any(detail::is_nan(m) ? isnan(at(k)) : at(k) == extreme)) k += N;
        sum = add_elements(r, k, k + N < stop ? k + N : stop, position, sum);
      }
    } else {
      using A = decltype(r.lanes(i));
      alignas(64) total sums[::std::size_t(N)];
      clear(sums, N);
      int64 k = i;
      while (k + N <= n) {
        A a[4];
        fill_lanes(a[0], Op::template identity<block>());
        a[1] = a[2] = a[3] = a[0];
        const int64 stop = n - k < 4 * N * flush ? n : k + 4 * N * flush;
        for (; k + 4 * N <= stop; k += 4 * N) {
          CUDARRAY_UNROLL
          for (int u = 0; u < 4; ++u) a[u] = Op::combine(a[u], r.lanes(k + u * N));
        }
        for (; k + N <= stop; k += N) a[0] = Op::combine(a[0], r.lanes(k));
        a[0] = Op::combine(Op::combine(a[0], a[1]), Op::combine(a[2], a[3]));
        add_lanes(sums, a[0]);
      }
      i = k;
      for (int half = N / 2; half > 0; half /= 2) merge(sums, sums + half, half);
      sum = Op::combine(sum, sums[0]);
    }
    return sum;
  }

  /// Combines the elements [i, n) of a row, the first of them at `position + i` of what is reduced, into one total.
  static void along(const void* self, const int64* offset, const int64* step, int64 i, int64 n, int64 position,
                    bool packs, void* totals) {
    const row r(static_cast<const reduction_kernels*>(self)->tree, offset, step);
    total sum = *static_cast<total*>(totals);
    if constexpr (packable)
      if (packs && n - i >= N) sum = add_packs(r, i, n, position, sum);
    *static_cast<total*>(totals) = add_elements(r, i, n, position, sum);
  }

  /// Short rows: each is combined into one pack, and N such packs, as the levels of a tree, into one with the total of
  /// a row in each lane.
  static constexpr bool takes_short_rows = packable && !Op::indexed;
  /// Combines rows of n elements, `apart` from each other, each into its total: as many as it can. Returns how many.
  /// Where n is less than N, elements behind a row are read, of the `readable` rows that are there.
  static int64 beside(const void* self, const int64* offset, const int64* step, const int64* apart, int64 rows,
                      int64 readable, int64 n, void* totals) {
    int64 i = 0;
    if constexpr (takes_short_rows) {
      row r(static_cast<const reduction_kernels*>(self)->tree, offset, step);
      using A = decltype(r.lanes(0));
      A a[::std::size_t(N)], nothing;
      fill_lanes(nothing, Op::template identity<block>());
      // what is no whole pack are the last lanes of the last pack, or the first ones of the only one
      const int64 whole = n / N * N, rest = n - whole, last = n < N ? 0 : n - N;
      const auto counted = lanes_between(a[0], n < N ? 0 : int(N - rest), n < N ? int(rest) : N);
      if (n < N && readable < rows + (N - 1) / n) rows = readable - (N - 1) / n;
      for (; i + N <= rows; i += N) {
        for (auto& of_row : a) {
          of_row = nothing;
          for (int64 k = 0; k < n; k += N) {
            auto v = r.lanes(k < whole ? k : last);
            if (k >= whole) v = select_lanes(counted, v, nothing);
            of_row = Op::combine(of_row, v);
          }
          for (int k = 0; k < Operands; ++k) r.offset[k] += apart[k];
        }
        for (int half = N / 2; half > 0; half /= 2)
          for (int k = 0; k < half; ++k)
            a[k] = Op::combine(interleave_lanes<false>(a[k], a[k + half]), interleave_lanes<true>(a[k], a[k + half]));
        add_lanes(static_cast<total*>(totals) + i, a[0]);
      }
    }
    return i;
  }

  /// Extremes and their rows by packs, 64 at a time.
  static void extremes_across(const Tree& tree, const int64* offset, const int64* step, const int64* down, int64 rows,
                              int64 n, int64 position, total* totals) {
    using max = typename Op::extreme;
    using value = decltype(total::value);
    using number = detail::unsigned_t<sizeof(value)>;  // of a row
    static_assert(tuning::block <= 256);
    row r(tree, offset, step);
    constexpr int64 most = 64;
    simd::pack<value, N> best[most];
    simd::pack<number, N> which[most];
    for (int64 begin = 0; begin < n; begin += most * N) {
      const int64 end = n - begin < most * N ? n : begin + most * N;
      const auto each = [&](const auto& body) {
        for (int64 c = begin, p = 0; c < end; c += N, ++p) body(n - c < N ? n - N : c, best[p], which[p]);
      };
      each([](int64, auto& b, auto& w) {
        fill_lanes(b, max::template identity<value>());
        fill_lanes(w, number(0));
      });
      for (int k = 0; k < Operands; ++k) r.offset[k] = offset[k];
      const auto take_rows = [&]<int Rows>(int64 i, ::std::integral_constant<int, Rows>) {
        each([&](int64 c, auto& b, auto& w) {
          row at = r;
          CUDARRAY_UNROLL
          for (int u = 0; u < Rows; ++u) {
            const auto v = max::combine(b, lane_cast<value>(r.tree(pack_access<N>{at.offset, r.step, c})));
            auto other = v != b;
            if constexpr (this_build::finite_math) other = other | isnan(v);
            w = select(other & !isnan(b), simd::splat<number, N>(number(i + u)), w);  // a NaN stays
            b = v;
            for (int k = 0; k < Operands; ++k) at.offset[k] += down[k];
          }
        });
        for (int k = 0; k < Operands; ++k) r.offset[k] += Rows * down[k];
      };
      int64 i = 0;
      for (; i + 8 <= rows; i += 8) take_rows(i, ::std::integral_constant<int, 8>{});
      for (; i < rows; ++i) take_rows(i, ::std::integral_constant<int, 1>{});
      each([&](int64 c, const auto& b, const auto& w) {
        for (int k = 0; k < N; ++k) Op::append(totals[c + k], lane(b, k), position + int64(lane(w, k)));
      });
    }
  }
  static void across_elements(const Tree& tree, const int64* offset, const int64* step, const int64* down, int64 rows,
                              int64 n, total* totals) {
    row r(tree, offset, step);
    for (int64 i = 0; i < rows; ++i) {
      for (int64 j = 0; j < n; ++j)
        totals[j] = Op::combine(totals[j], Op::template widen<total>(Op::template lift<block>(r.element(j), 0)));
      for (int k = 0; k < Operands; ++k) r.offset[k] += down[k];
    }
  }
  /// Combines at most tuning::block rows, `down` apart, the first at `position` of what is reduced, element by
  /// element into as many totals; of N or more elements, where there are packs. Not for extremes without packs.
  /// `streams`: they come from beyond the caches, so those that follow each other are read in order.
  static void across(const void* self, const int64* offset, const int64* step, const int64* down, int64 rows, int64 n,
                     [[maybe_unused]] int64 position, [[maybe_unused]] bool streams, void* results) {
    [[maybe_unused]] const Tree& tree = static_cast<const reduction_kernels*>(self)->tree;
    [[maybe_unused]] total* const totals = static_cast<total*>(results);
    if constexpr (packable && Op::indexed) {
      extremes_across(tree, offset, step, down, rows, n, position, totals);
    } else if constexpr (!packable && !Op::indexed) {
      across_elements(tree, offset, step, down, rows, n, totals);
    } else if constexpr (packable) {
      using A = decltype(row(tree, offset, step).lanes(0));
      constexpr int64 most = 128;  // packs
      for (int64 begin = 0; begin < n; begin += most * N) {
        const int64 end = n - begin < most * N ? n : begin + most * N;
        A acc[most];
        for (int64 c = begin, p = 0; c < end; c += N, ++p) fill_lanes(acc[p], Op::template identity<block>());
        row r(tree, offset, step);
        // each access has a distance of its own from one place: pointers to all rows would not fit the registers
        const auto add_rows = [&]<int... U>(int64 first, ::std::integer_sequence<int, U...>) {
          for (int k = 0; k < Operands; ++k) r.offset[k] = offset[k] + first * down[k];
          A* to = acc;
          // whole packs, then the last lanes by the same code, as compilers round products that are added up by how
          // they come; addresses of packs do not depend on the end
          for (int64 lane = begin, stop = end - (end - begin) % N;; lane = end - N, stop = end) {
            for (; lane < stop; lane += N, ++to) {
              A sum = *to;
              row at = r;
              const auto add_row = [&](int u) {
                for (int k = 0; k < Operands; ++k) at.offset[k] = r.offset[k] + u * down[k];
                sum = Op::combine(sum, at.lanes(lane));
              };
              (add_row(U), ...);
              *to = sum;
            }
            if (stop == end) break;
          }
        };
        // some rows at a time share what is loaded and stored of the sums, and memory is read in as many places; rows
        // that follow each other are faster in order where more is computed than that, or memory read ahead, as one
        // stream
        constexpr int together = is_costly<Tree> ? 4 : 8;
        bool in_order = streams || is_costly<Tree> || requires { Op::costly; };
        for (int k = 1; k < Operands; ++k) in_order = in_order && down[k] <= end - begin;
        int64 i = 0;
        for (; !in_order && i + together <= rows; i += together)
          add_rows(i, ::std::make_integer_sequence<int, together>{});
        for (; i < rows; ++i) {
          int64 at[::std::size_t(Operands)];
          for (int k = 0; k < Operands; ++k) at[k] = offset[k] + i * down[k];
          A* to = acc;
          for (int64 c = begin; c < end; c += N, ++to) {
            const int64 lane = n - c < N ? n - N : c;
            for (int k = 0; k < Operands; ++k) r.offset[k] = at[k];
            *to = Op::combine(*to, r.lanes(lane));
          }
        }
        total* t = totals + begin;
        const A* from = acc;
        for (int64 c = begin; c + N <= end; c += N, ++from, t += N) add_lanes(t, *from);
        for (int64 rest = (end - begin) % N, k = N - rest; k < N && rest > 0; ++k, ++t)
          *t = Op::combine(*t, lane_total<total>(*from, int(k)));
      }
    }
  }
};

/// Stores results of `count` elements each, `step` apart.
template <class Op, class Types, class T>
void store_results(const detail::store_to<T>& target, const typename Types::total* totals, int64 offset, int64 step,
                   int64 n, int64 count) {
  T* const to = target.p + offset;
  for (int64 i = 0; i < n; ++i)
    to[i * step] = detail::lane_cast<T>(Op::template finish<typename Types::result>(totals[i], count));
}
/// By whole packs: a result has the same bits whatever comes with it.
template <class Op, class Types, class T, class Through>
void store_results(const detail::store_through<T, Through>& target, const typename Types::total* totals, int64 offset,
                   int64 step, int64 n, int64 count) {
  using result = typename Types::result;
  constexpr int64 most = 256, N = detail::in_lanes<Through> ? map_lanes<detail::store_to<T>, Through> : 1,
                  aligned[] = {0, 0}, ones[] = {1, 1};
  alignas(64) result results[most];
  alignas(64) T passed[most];
  const Through tree = detail::with_loads(target.through, [&results](auto read) {
    read.p = results;
    return read;
  });
  const detail::store_to<T> to{passed};
  const map_body<detail::store_to<T>, Through> plan{to, tree};
  for (int64 at = 0; at < n; at += most) {
    const int64 some = n - at < most ? n - at : most, whole = (some + N - 1) / N * N;
    store_results<Op, Types>(detail::store_to<result>{results}, totals + at, 0, 1, some, count);
    for (int64 i = some; i < whole; ++i) results[i] = results[0];
    map_row<detail::store_to<T>, Through, 2>(&plan, aligned, ones, 0, whole, {true, false, true});
    for (int64 i = 0; i < some; ++i) target.p[offset + (at + i) * step] = passed[i];
  }
}

/// What a reduction does for an expression, and where its results go.
template <class Target, class Tree, class Op, int Operands>
struct stored_reduction : reduction_kernels<Tree, Op, Operands> {
  using kernels = reduction_kernels<Tree, Op, Operands>;
  Target target;

  /// Along a row of the target.
  static void store(const void* self, const int64* offset, const int64* step, const void* totals, int64 n,
                    int64 count) {
    const auto& to = static_cast<const stored_reduction*>(static_cast<const kernels*>(self))->target;
    store_results<Op, typename kernels::types>(to, static_cast<const typename kernels::total*>(totals), offset[0],
                                               step[0], n, count);
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
