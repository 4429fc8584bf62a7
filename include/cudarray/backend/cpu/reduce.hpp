// Reductions on the CPU: packs along the reduced axis or across the results, through tiles where memory lies otherwise.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend {
namespace host {

/// The same number in all lanes of an accumulator, and one lane of it.
template <class A, class T>
CUDARRAY_FORCE_INLINE void fill_lanes(A& a, const T& v) {
  if constexpr (requires { a.first; }) {
    fill_lanes(a.first, v.first);
    fill_lanes(a.second, v.second);
  } else {
    a.v = v - decltype(a.v){};
  }
}
template <class Total, class A>
CUDARRAY_FORCE_INLINE Total lane_total(const A& a, int k) {
  if constexpr (requires { a.first; }) return {lane(a.first, k), lane(a.second, k)};
  else return Total(lane(a, k));
}

/// What a reduction does for an expression: rows of elements are combined into totals.
template <class Build, class Target, class Tree, class Op, int Operands>
struct reduction_kernels {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  using total = typename types::total;
  static constexpr int part = ::std::is_arithmetic_v<block> ? int(sizeof(block)) : 8;
  static constexpr int N = lanes_for<Build, (part > Tree::widest ? part : Tree::widest)>;
  static constexpr bool packable = Tree::packable && (::std::is_arithmetic_v<block> || requires(block b) {
                                     b.first;
                                   } || (Op::indexed && !::std::is_same_v<typename Tree::value_type, bool>));
  static constexpr int64 flush = 16;  ///< packs an accumulator adds up in its own type, before they go to the total

  Target target;
  Tree tree;

  /// A row of the operands, in registers.
  struct row {
    Tree tree;
    int64 offset[Operands], step[Operands];
    CUDARRAY_FORCE_INLINE row(const Tree& t, const int64* offsets, const int64* steps) : tree(t) {
      for (int k = 0; k < Operands; ++k) offset[k] = offsets[k], step[k] = steps[k];
    }
    CUDARRAY_FORCE_INLINE auto lanes(int64 i) const {
      return Op::template lift<block>(tree(pack_access<N, Build>{offset, step, i}), 0);
    }
    CUDARRAY_FORCE_INLINE auto element(int64 i) const { return tree(element_access<Build>{offset, step, i}); }
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
  /// Results of `count` elements each, along a row of the target.
  static void store(const void* self, const int64* offset, const int64* step, const void* totals, int64 n,
                    int64 count) {
    auto* const to = static_cast<const reduction_kernels*>(self)->target.p + offset[0];
    const int64 apart = step[0];
    for (int64 i = 0; i < n; ++i)
      to[i * apart] = detail::lane_cast<typename Target::value_type>(
          Op::template finish<typename types::result>(static_cast<const total*>(totals)[i], count));
  }

  /// totals[k] = totals[k] combined with lane k.
  template <class A>
  static CUDARRAY_FORCE_INLINE void add_lanes(total* totals, const A& a) {
    if constexpr (::std::is_arithmetic_v<total>)
      simd::store_lanes(totals, Op::combine(simd::load_lanes<total, N, Build>(totals), lane_cast<total>(a)));
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
      sum = Op::combine(sum, total(b));
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
        const auto at = [&](int64 k) { return lane_cast<value>(r.tree(pack_access<N, Build>{r.offset, r.step, k})); };
        simd::pack<value, N, Build> a[4];
        fill_lanes(a[0], max::template identity<value>());
        a[1] = a[2] = a[3] = a[0];
        for (int64 k = i;; k += 4 * N) {
          if (k + 4 * N > stop) k = stop - 4 * N;
          CUDARRAY_UNROLL
          for (int u = 0; u < 4; ++u) a[u] = max::combine(a[u], at(k + u * N));
          if (k + 4 * N == stop) break;
        }
        a[0] = max::combine(max::combine(a[0], a[1]), max::combine(a[2], a[3]));
        value m = lane(a[0], 0);
        for (int k = 1; k < N; ++k) m = max::combine(m, lane(a[0], k));
        total seen = sum;
        Op::append(seen, m, position + i);
        if (seen.position == sum.position) continue;
        const auto extreme = simd::splat<value, N, Build>(m);
        int64 k = i;
        while (k + N < stop && !simd::any(m != m ? isnan(at(k)) : at(k) == extreme)) k += N;
        sum = add_elements(r, k, k + N < stop ? k + N : stop, position, sum);
      }
    } else {
      using A = decltype(r.lanes(i));
      total sums[N];
      clear(sums, N);
      while (i + N <= n) {
        A a[4];
        fill_lanes(a[0], Op::template identity<block>());
        a[1] = a[2] = a[3] = a[0];
        const int64 stop = n - i < 4 * N * flush ? n : i + 4 * N * flush;
        for (; i + 4 * N <= stop; i += 4 * N) {
          CUDARRAY_UNROLL
          for (int u = 0; u < 4; ++u) a[u] = Op::combine(a[u], r.lanes(i + u * N));
        }
        for (; i + N <= stop; i += N) a[0] = Op::combine(a[0], r.lanes(i));
        a[0] = Op::combine(Op::combine(a[0], a[1]), Op::combine(a[2], a[3]));
        add_lanes(sums, a[0]);
      }
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

  /// Combines rows, `down` apart, of N or more elements, element by element into as many totals.
  static void across(const void* self, const int64* offset, const int64* step, const int64* down, int64 rows, int64 n,
                     void* totals) {
    if constexpr (packable && !Op::indexed) {
      const Tree& tree = static_cast<const reduction_kernels*>(self)->tree;
      using A = decltype(row(tree, offset, step).lanes(0));
      constexpr int64 together = 32;  // packs
      for (int64 begin = 0; begin < n; begin += together * N) {
        const int64 end = n - begin < together * N ? n : begin + together * N;
        A acc[together];
        for (int64 c = begin, p = 0; c < end; c += N, ++p) fill_lanes(acc[p], Op::template identity<block>());
        row r(tree, offset, step);
        const auto each_pack = [&](int64 first, auto count) {
          int64 at[count][Operands];
          for (int u = 0; u < count; ++u)
            for (int k = 0; k < Operands; ++k) at[u][k] = offset[k] + (first + u) * down[k];
          A* to = acc;
          for (int64 c = begin; c < end; c += N, ++to) {
            const int64 lane = n - c < N ? n - N : c;
            const auto add = [&](const A& a, int u) {
              for (int k = 0; k < Operands; ++k) r.offset[k] = at[u][k];
              return Op::combine(a, r.lanes(lane));
            };
            if constexpr (count == 4) *to = add(add(add(add(*to, 0), 1), 2), 3);
            else *to = add(*to, 0);
          }
        };
        // four rows at a time share what is loaded and stored of the sums; rows that follow each other are faster in
        // order
        bool follow = true;
        for (int k = 1; k < Operands; ++k) follow = follow && down[k] <= n;
        int64 i = 0;
        for (; i + 4 <= rows && !follow; i += 4) each_pack(i, ::std::integral_constant<int, 4>{});
        for (; i < rows; ++i) each_pack(i, ::std::integral_constant<int, 1>{});
        total* t = static_cast<total*>(totals) + begin;
        const A* from = acc;
        for (int64 c = begin; c + N <= end; c += N, ++from, t += N) add_lanes(t, *from);
        for (int64 rest = (end - begin) % N, k = N - rest; k < N && rest > 0; ++k, ++t)
          *t = Op::combine(*t, lane_total<total>(*from, int(k)));
      }
    }
  }
};

/// A reduction as the walks see it: the functions of reduction_kernels.
struct reduce_kernels {
  const void* self;
  void (*clear)(void*, int64);
  void (*merge)(void*, const void*, int64);
  void (*store)(const void*, const int64*, const int64*, const void*, int64, int64);
  void (*along)(const void*, const int64*, const int64*, int64, int64, int64, bool, void*);
  void (*across)(const void*, const int64*, const int64*, const int64*, int64, int64, void*);
  bool packable, indexed;
  int lanes;       ///< of a pack
  int total_size;  ///< bytes of a total
  const memory_operand* of;
};

/// What is combined in which order follows from the shape alone, never from the number of threads.
/// How a reduction is cut up: tasks are groups of results; each may be cut into chunks of the reduced places, whose
/// totals are combined in order.
struct reduction_cut {
  walk_space s;
  enum { by_element, along, across } form = by_element;
  bool staged[most_operands];  ///< operands that are copied to tiles
  bool tiled = false;          ///< there are any
  int64 width = 1;             ///< results of a task, along the last kept axis
  int64 depth = 1;             ///< reduced places of a tile, along the last axis
  int64 fold = 1;              ///< rows that are combined side by side
  int64 segments = 1;          ///< tasks along the last kept axis
  int64 tasks = 1, chunks = 1;
  int64 places;     ///< reduced into each result
  int side, inner;  ///< the last kept axis, -1: none; the last reduced axis; side: none

  bool reduces() const { return inner > side; }
  int64 begin(int64 chunk) const {
    const int64 at = places / chunks * chunk + places % chunks * chunk / chunks,
                unit = form == across ? 64 * fold : 1024;
    return chunk == chunks ? places : at - at % unit;
  }

  CUDARRAY_PER_BUILD reduction_cut(const walk_space& space, const reduce_kernels& r) : s(space) {
    constexpr int64 short_row = 128, widest = 1024, tile = 4096, block = 64;
    side = s.kept - 1;
    inner = s.ndim - 1;
    places = s.size(s.kept, s.ndim);
    const int64 results = s.size(0, s.kept), n = reduces() ? s.extent[inner] : 1;
    for (int k = 0; k < s.operands; ++k) staged[k] = false;
    const auto unit = [&](int axis) {
      bool all = true;
      for (int k = 1; k < s.operands; ++k)
        all = all && (!r.of[k].p || s.stride[k][axis] == 0 || s.stride[k][axis] == 1);
      return all;
    };
    if (r.packable && places > 0) {
      int flat = side;  // a kept axis along which all operands lie side by side
      while (flat >= 0 && !unit(flat)) --flat;
      const bool row = reduces() && unit(inner);
      if (row && (n >= short_row || results < 16 || r.indexed)) lie_along(n, block);
      else if (!r.indexed && flat >= 0) lie_across(flat, r.lanes, widest);
      else copy_tiles(r, n, short_row, tile, block);
    }
    segments = side >= 0 ? (s.extent[side] + width - 1) / width : 1;
    tasks = side >= 0 ? s.size(0, side) * segments : 1;
    const int64 work = results * places;
    if (work >= 131072 && tasks < 32) {
      const int64 wanted = (32 + tasks - 1) / tasks, most = work / 32768;
      chunks = wanted < most ? wanted : most;
      if (chunks > places) chunks = places;
    }
  }

 private:
  void lie_along(int64 n, int64 block) {
    form = along;
    if (side < 0 || s.ndim != s.kept + 1) return;
    const int64 e = s.extent[side];  // several results to a task, where there are many
    width = e < 64 ? 1 : e < 32 * block ? e / 32 : block;
    depth = n;
  }
  void lie_across(int axis, int64 lanes, int64 widest) {
    s.swap_axes(axis, side);
    const int64 e = s.extent[side], n = reduces() ? s.extent[inner] : 1;
    bool gapless = reduces() && e < 8 * lanes;
    for (int k = 1; k < s.operands; ++k) gapless = gapless && s.stride[k][inner] == e * s.stride[k][side];
    if (gapless) fold = 256 / e < 1 ? 1 : n < 256 / e ? n : 256 / e;
    width = e < widest ? e : widest;
    if (width * fold >= lanes) form = across;
    else width = fold = 1;
  }
  /// Results lie side by side in a tile where rows are short, else one behind the other.
  void copy_tiles(const reduce_kernels& r, int64 n, int64 short_row, int64 tile, int64 block) {
    int turned = -1;  // a kept axis that is the fastest one of an operand
    for (int k = 1; k < s.operands && turned < 0 && reduces(); ++k)
      for (int d = side; d >= 0 && turned < 0; --d)
        if (r.of[k].p && s.stride[k][inner] != 0 && s.stride[k][inner] != 1 && s.stride[k][d] == 1) turned = d;
    if (turned >= 0) s.swap_axes(turned, side);
    const int64 e = side >= 0 ? s.extent[side] : 1;
    if (!r.indexed && e >= r.lanes && n < short_row) {
      form = across;
      depth = n < block ? n : block;
      width = e < tile / depth ? e : tile / depth;
    } else if (reduces()) {
      form = along;
      width = turned < 0 ? 1 : e < block ? e : block;
      depth = tile / width;
    }
    tiled = form != by_element;
    const int axis = form == across ? side : inner;
    for (int k = 1; tiled && k < s.operands; ++k)
      staged[k] = r.of[k].p && s.stride[k][axis] != 0 && s.stride[k][axis] != 1;
  }
};

/// The chunks [first, last), counted task by task. Their totals go to `partial`, or, where tasks are whole, the results
/// to the target.
CUDARRAY_PER_BUILD inline void reduce_chunks(const reduce_kernels& r, const reduction_cut& c, char* partial,
                                             int64 first, int64 last) {
  const walk_space& s = c.s;
  const int side = c.side, inner = c.inner;
  const int64 n = c.reduces() && c.places > 0 ? s.extent[inner] : 1;
  int64 step[most_operands], down[most_operands], packed[most_operands], next[most_operands], none[most_operands];
  for (int k = 0; k < s.operands; ++k) {
    step[k] = side >= 0 ? s.stride[k][side] : 0;
    down[k] = c.reduces() ? s.stride[k][inner] : 0;
    none[k] = 0;
    packed[k] = c.staged[k] ? 1 : c.form == c.across ? step[k] : down[k];
  }
  tile_copies copies(r.of, c.staged, c.tiled ? s.operands : 0, c.width * c.depth);
  alignas(16) char single[64];
  const scratch space(c.width * c.fold > 1 ? c.width * c.fold * r.total_size : 0);
  char* const own = space.p != nullptr ? space.p : single;

  for (int64 unit = first; unit < last; ++unit) {
    const int64 task = unit / c.chunks, chunk = unit % c.chunks, begin = c.begin(chunk), end = c.begin(chunk + 1);
    const int64 j = task % c.segments * c.width;
    const int64 width = side < 0 ? 1 : s.extent[side] - j < c.width ? s.extent[side] - j : c.width;
    const int64 columns = width * c.fold;
    place_in base(s);
    base.seek(s, 0, side, task / c.segments);
    if (side >= 0) base.advance(s, side, j);
    r.clear(own, columns);
    int64 position = begin - begin % n;  // of the row
    walk_rows(s, base, s.kept, inner, begin, end, [&](const place_in& row, int64 i, int64 stop) {
      if (c.form != c.across && c.depth == 1) {
        r.along(r.self, row.offset, down, i, stop, position, c.form == c.along, own);
      } else {
        const int64 most = c.form == c.along || c.tiled ? c.depth : 64 * c.fold;
        for (int64 length; i < stop; i += length) {
          length = stop - i < most ? stop - i : most;
          place_in at = row;
          if (c.reduces()) at.advance(s, inner, i);
          if (c.form == c.along) {  // a row of the tile for each result
            if (c.tiled) copies.fetch(at.offset, width, length, step, down);
            for (int64 w = 0; w < width; ++w) {
              r.along(r.self, at.offset, packed, 0, length, position + i, true, own + w * r.total_size);
              for (int k = 0; k < s.operands; ++k) at.offset[k] += c.staged[k] ? length : step[k];
            }
          } else {
            if (c.tiled) {
              const place_in ahead = at;
              copies.fetch(at.offset, length, width, down, step);
              for (int k = 1; k < s.operands; ++k)  // the next tile comes while this one is added up
                for (int64 w = 0; w < width && c.staged[k]; ++w)
                  __builtin_prefetch(static_cast<const char*>(r.of[k].p) +
                                     (ahead.offset[k] + (width + w) * step[k]) * r.of[k].bytes);
            }
            const int64 rows = columns < r.lanes ? 0 : length / c.fold;
            for (int k = 0; k < s.operands; ++k) next[k] = c.staged[k] ? width : c.fold * down[k];
            if (rows > 0) r.across(r.self, at.offset, packed, next, rows, columns, own);
            for (int64 rest = rows * c.fold; rest < length; ++rest) {  // what is no whole pack
              for (int k = 0; k < s.operands; ++k) next[k] = at.offset[k] + rest * (c.staged[k] ? width : down[k]);
              for (int64 e = 0; e < width; ++e) {
                r.along(r.self, next, none, 0, 1, 0, false, own + e * r.total_size);
                for (int k = 0; k < s.operands; ++k) next[k] += packed[k];
              }
            }
          }
        }
      }
      position += n;
    });
    for (int64 f = 1; f < c.fold; ++f) r.merge(own, own + f * width * r.total_size, width);
    if (partial != nullptr)
      ::std::memcpy(partial + unit * c.width * r.total_size, own, ::std::size_t(width * r.total_size));
    else r.store(r.self, base.offset, step, own, width, c.places);
  }
}

/// Runs a reduction over a space with at least one result.
CUDARRAY_PER_BUILD CUDARRAY_NO_INLINE inline void walk_reduction(const reduce_kernels& r, const walk_space& space) {
  if (space.kept == 0 && space.ndim == 1 && space.extent[0] < 65536) {  // one short row: what the below comes to
    int64 none[most_operands], step[most_operands];
    bool packs = r.packable;
    for (int k = 0; k < space.operands; ++k) {
      none[k] = 0;
      step[k] = space.stride[k][0];
      packs = packs && (k == 0 || !r.of[k].p || step[k] == 0 || step[k] == 1);
    }
    if (packs) {
      alignas(16) char sum[64];
      r.clear(sum, 1);
      r.along(r.self, none, step, 0, space.extent[0], 0, true, sum);
      r.store(r.self, none, none, sum, 1, space.extent[0]);
      return;
    }
  }
  const reduction_cut c(space, r);
  const walk_space& s = c.s;
  const int64 units = c.tasks * c.chunks, work = s.size(0, s.kept) * c.places;
  const int64 wanted = parts_for(c.form == c.by_element ? work : work / 4), parts = wanted < units ? wanted : units;
  const scratch space_for_partial(c.chunks > 1 ? units * c.width * r.total_size : 0);
  char* const partial = space_for_partial.p;
  parallel(parts, [&](int64 part) { reduce_chunks(r, c, partial, units * part / parts, units * (part + 1) / parts); });
  if (partial == nullptr) return;
  int64 step[most_operands];
  for (int k = 0; k < s.operands; ++k) step[k] = c.side >= 0 ? s.stride[k][c.side] : 0;
  for (int64 task = 0; task < c.tasks; ++task) {
    place_in at(s);
    at.seek(s, 0, c.side, task / c.segments);
    const int64 j = task % c.segments * c.width;
    const int64 width = c.side < 0 ? 1 : s.extent[c.side] - j < c.width ? s.extent[c.side] - j : c.width;
    if (c.side >= 0) at.advance(s, c.side, j);
    char* const sum = partial + task * c.chunks * c.width * r.total_size;
    for (int64 chunk = 1; chunk < c.chunks; ++chunk) r.merge(sum, sum + chunk * c.width * r.total_size, width);
    r.store(r.self, at.offset, step, sum, width, c.places);
  }
}

}  // namespace host

template <class Build, class Target, class Tree, class Op, int Operands>
void run_reduce(cpu, const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using kernels = host::reduction_kernels<Build, Target, Tree, Op, Operands>;
  static_assert(sizeof(typename kernels::total) <= 64);
  detail::count(detail::counters.kernels);
  const kernels self{target, tree};
  host::memory_operand of[Operands];
  host::list_operands<Build>(tree, of);
  host::walk_reduction({&self, kernels::clear, kernels::merge, kernels::store, kernels::along, kernels::across,
                        kernels::packable, Op::indexed, kernels::N, int(sizeof(typename kernels::total)), of},
                       host::walk_space(s));
}

}  // namespace cudarray::inline v0::backend

#pragma GCC diagnostic pop
