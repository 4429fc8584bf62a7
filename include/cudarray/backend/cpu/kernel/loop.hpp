// Walking an iteration space on the CPU: how trees are called for elements and packs, and what all walks share.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/several.hpp"
#include "../../../expr/reduction_table.hpp"
#include "../plan/space.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/threads.hpp"
#include "../simd/pack_division.hpp"
#include "../simd/pack_dual.hpp"
#include "strided_copy.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

// Walks are compiled once for all expressions; they call an expression's kernels through pointers, a row at a time.

/// Element i of a row: operand k lies at `offset[k] + i * step[k]`.
struct element_access {
  const int64* offset;
  const int64* step;
  int64 i;
  template <int Ix, class T>
  CUDARRAY_FORCE_INLINE T* at(T* p) const {
    return p + offset[Ix] + i * step[Ix];
  }
  template <int Ix, class T>
  CUDARRAY_FORCE_INLINE T load(const T* p) const {
    return detail::read_element(at<Ix>(p));
  }
  template <class T>
  CUDARRAY_FORCE_INLINE T splat(T v) const {
    return v;
  }
  template <int Ix, class G>
  CUDARRAY_FORCE_INLINE auto generate(const G& g) const {
    return g(offset[Ix] + i * step[Ix]);
  }
  template <class Op, class... V>
  CUDARRAY_FORCE_INLINE auto apply(const Op& op, V... v) const {
    return op(v...);
  }
  template <int Ix>
  CUDARRAY_FORCE_INLINE int64 distance(int) const {
    return offset[Ix] + i * step[Ix];
  }
};

/// True if all that a tree reads stands still along a row.
template <class Tree>
CUDARRAY_FORCE_INLINE bool stands_still(const Tree& tree, const int64* step) {
  bool still = true;
  detail::for_each_operand(tree, [&](const auto& leaf) {
    if constexpr (requires { leaf.operand; }) still = still && step[leaf.operand] == 0;
  });
  return still;
}

/// Elements i to i + N - 1 of a row. Operands in memory have steps of 0 or 1, all of them 1 in a `Unit` row; what
/// gathers and generates, any.
template <int N, bool Unit = false>
struct pack_access {
  const int64* offset;
  const int64* step;
  int64 i;
  template <int Ix, class T>
  CUDARRAY_FORCE_INLINE auto load(const T* p) const {
    if (Unit || step[Ix]) return simd::load_lanes<T, N>(p + offset[Ix] + i);
    return splat(detail::read_element(p + offset[Ix]));
  }
  template <class T>
  CUDARRAY_FORCE_INLINE auto splat(T v) const {
    if constexpr (::std::is_same_v<T, bool>) return simd::splat<uint8, N>(uint8(v)) != simd::splat<uint8, N>(uint8(0));
    else if constexpr (detail::is_dual<T>) return simd::splat_dual<N>(v);
    else return simd::splat<T, N>(v);
  }
  template <int Ix, class G>
  CUDARRAY_FORCE_INLINE auto generate(const G& g) const {
    if constexpr (requires { G::group; }) {
      using value = typename G::value_type;
      const int64 first = offset[Ix] + i * step[Ix];
      if (N % G::group == 0 && step[Ix] == 1 && first % G::group == 0) {
        value v[::std::size_t(N)];
        for (int k = 0; k < N / G::group; ++k) g.fill(first / G::group + k, v + k * G::group);
        return simd::load_lanes<value, N>(v);
      }
    }
    return simd::from_lanes<typename G::value_type, N>([&](int k) { return g(offset[Ix] + (i + k) * step[Ix]); });
  }
  template <int Ix, class G>
  CUDARRAY_FORCE_INLINE auto gather(const G& g) const {
    using T = typename G::value_type;
    if (step[Ix] == 1 && stands_still(g.index, step)) {
      const element_access at{offset, step, i};
      int64 k = int64(g.index(at));
      using index = ::std::remove_cvref_t<decltype(g.index)>;
      if (!detail::resolve_index(k, g.limit, g.fault, detail::position_of<index>(at))) return splat(T{});
      return simd::load_lanes<T, N>(g.p + offset[Ix] + i + k * g.stride);
    }
    return simd::from_lanes<T, N>([&](int k) { return g(element_access{offset, step, i + k}); });
  }
  template <class Op, class... V>
  CUDARRAY_FORCE_INLINE auto apply(const Op& op, const V&... v) const {
    if constexpr (Op::lanes) return op(v...);
    else return simd::each_lane<Op, N>(op, v...);
  }
};

template <int Widest>
inline constexpr int lanes_for = this_build::vector_bytes / Widest > 1 ? this_build::vector_bytes / Widest : 2;

/// Asks for the line of memory at p. g++ takes a function of nothing but such hints for one that does nothing, and
/// drops its calls: the empty statement prevents it.
CUDARRAY_FORCE_INLINE void prefetch(const void* p) {
  __builtin_prefetch(p);
  asm volatile("");
}

/// Asks memory for what some rows, `down` apart, of n elements will gather: several reads are under way at once then,
/// where the rows would wait for one after the other.
template <class Tree>
void fetch_gathered(const void* tree, const int64* offset, const int64* step, const int64* down, int operands,
                    int64 rows, int64 n) {
  detail::for_each_operand(*static_cast<const Tree*>(tree), [&](const auto& leaf) {
    if constexpr (requires { leaf.index; }) {
      constexpr int64 line = 64 / int64(sizeof(*leaf.p));
      const int64 along = step[leaf.operand];
      const bool whole = along == 1 && stands_still(leaf.index, step);
      if (!whole && down[leaf.operand] != 0 && stands_still(leaf.index, down)) return;  // the same columns of each row
      int64 at[most_operands];
      for (int k = 0; k < operands; ++k) at[k] = offset[k];
      for (int64 r = 0; r < rows; ++r) {
        for (int64 i = 0; i < n; i += whole ? n : 1) {
          int64 k = int64(leaf.index(element_access{at, step, i}));
          if (!detail::index_fits(k, leaf.limit)) continue;
          if (k < 0) k += leaf.limit;
          const auto* const p = leaf.p + at[leaf.operand] + i * along + k * leaf.stride;
          prefetch(p);
          if (whole)
            for (int64 j = line; j < n + line - 1; j += line) prefetch(p + (j < n ? j : n - 1));
        }
        for (int k = 0; k < operands; ++k) at[k] += down[k];
      }
    }
  });
}

/// Goes on by so many steps, with every operand. A call, as all that a walk does for a row and not for an element:
/// less to compile.
CUDARRAY_NO_INLINE inline void move_on(int64* offset, const int64* step, int64 times, int operands) {
  for (int k = 0; k < operands; ++k) offset[k] += times * step[k];
}

/// What fetches for a tree; nothing where nothing is gathered.
struct fetcher {
  static constexpr int64 ahead = 8;  ///< rows: what is too much at once is dropped
  void (*fetch)(const void*, const int64*, const int64*, const int64*, int, int64, int64) = nullptr;
  const void* tree = nullptr;

  template <class Tree>
  static fetcher of(const Tree& tree) {
    if constexpr (detail::has_gathered<Tree>) return {fetch_gathered<Tree>, &tree};
    else return {};
  }
  explicit operator bool() const { return fetch != nullptr; }
  /// Before row r of so many, of n elements, which begins at `offset`: what lies some rows ahead.
  void before(int64 r, int64 rows, const int64* offset, const int64* step, const int64* down, int operands,
              int64 n) const {
    if (fetch != nullptr) fetch_before(r, rows, offset, step, down, operands, n);
  }

 private:
  CUDARRAY_NO_INLINE void fetch_before(int64 r, int64 rows, const int64* offset, const int64* step, const int64* down,
                                       int operands, int64 n) const {
    if (r == 0) fetch(tree, offset, step, down, operands, rows < ahead ? rows : ahead, n);
    if (r + ahead >= rows) return;
    int64 at[most_operands];
    for (int k = 0; k < operands; ++k) at[k] = offset[k] + ahead * down[k];
    fetch(tree, at, step, down, operands, 1, n);
  }
};

/// Which of the parts writes to a place, of so many bytes, of an array that all parts write to: what is on a page is
/// one part's, and pages are dealt as by chance, whatever places an index has.
inline int64 writer_of(int64 place, int64 bytes, int64 parts) {
  constexpr uint64 mix = 0x9E3779B97F4A7C15;  // Knuth's multiplicative hashing
  const uint64 page = uint64(place) / (bytes > 0 && bytes < 4096 ? uint64(4096 / bytes) : 1);
  return parts == 1 ? 0 : int64((page * mix >> 32) * uint64(parts) >> 32);
}

/// to[i] = Op::combine(to[i], from[i]), computed in C.
template <class Op, class C, class T, class S>
void combine_line(T* to, const S* from, int64 n) {
  int64 i = 0;
  if constexpr (::std::is_arithmetic_v<C> && !::std::is_same_v<C, bool>) {
    constexpr int widest = int(sizeof(C) > sizeof(T) ? sizeof(C) : sizeof(T)), N = lanes_for<widest>;
    for (; i + N <= n; i += N)
      simd::store_lanes(to + i, lane_cast<T>(Op::combine(lane_cast<C>(simd::load_lanes<T, N>(to + i)),
                                                         lane_cast<C>(simd::load_lanes<S, N>(from + i)))));
  }
  for (; i < n; ++i) to[i] = detail::lane_cast<T>(Op::combine(C(to[i]), C(from[i])));
}
/// to[i] += from[i], added in C.
template <class C, class T, class S>
void add_line(T* to, const S* from, int64 n) {
  combine_line<op::sum_op, C>(to, from, n);
}

/// A space of one element, or of one short row that packs can read: it needs no walk. Nothing is gathered.
template <int Operands>
struct single_row {
  bool is;
  int64 n;
  int64 offset[::std::size_t(Operands)] = {}, step[::std::size_t(Operands)];

  /// Of at most so many elements; operands before the first may have any step.
  single_row(const detail::iteration_space<Operands>& s, int64 most, int first) {
    n = s.ndim == 0 ? 1 : s.extent[0];
    is = s.ndim <= 1 && n <= most;
    for (int k = 0; k < Operands; ++k) {
      step[k] = s.ndim == 0 ? 0 : s.stride[k][0];
      is = is && (k < first || step[k] == 1 || (step[k] == 0 && (k > 0 || n == 1)));
    }
  }
};

/// Calls `row(place, i, n)` for each row of the axes [begin, end], of which [i, n) is within the places [from, to).
template <class F>
CUDARRAY_FORCE_INLINE void walk_rows(const walk_space& s, place_in at, int begin, int end, int64 from, int64 to,
                                     const F& row) {
  if (from == to) return;
  const int64 n = end < begin ? 1 : s.extent[end];
  at.seek(s, begin, end, from / n);
  for (int64 i = from % n, left = to - from; left > 0; i = 0) {
    const int64 stop = left < n - i ? i + left : n;
    row(at, i, stop);
    left -= stop - i;
    if (left > 0) at.next(s, begin, end);
  }
}

/// What a tree reads, by operand; no memory for those that gather, nor for an index: that is read element by element
/// where it lies, so that its faults say where that is.
template <class Tree>
void list_operands(const Tree& tree, memory_operand* of) {
  detail::for_each_operand(tree, [of](const auto& leaf) {
    if constexpr (requires { leaf.p; }) {
      constexpr int bytes = int(sizeof(*leaf.p));
      if constexpr (requires { leaf.index; }) {
        of[leaf.operand] = {nullptr, bytes, nullptr, true};
        detail::for_each_operand(leaf.index, [of](const auto& index) {
          if constexpr (requires { index.p; }) of[index.operand].p = nullptr;
        });
      } else {
        of[leaf.operand] = {leaf.p, bytes, copy_tile<bytes>, false};
      }
    }
  });
}

/// What is written, but for places that an index picks.
template <class Target>
void list_results(const Target& target, memory_operand* of) {
  constexpr int bytes = int(sizeof(typename Target::value_type));
  if constexpr (Target::direct) of[0] = {target.p, bytes, spread_tile<bytes>};
  else of[0].bytes = bytes;
}
template <int First, class... T>
void list_results(const detail::store_several<First, T...>& target, memory_operand* of) {
  target.each([of]<int J, int Ix, class P>(P* p) {
    constexpr int bytes = int(sizeof(P));
    of[Ix] = {p, bytes, spread_tile<bytes>};
  });
}

/// Tiles of operands, copied to where packs can read them. A copy is reached through an index of the operand's own.
struct tile_copies {
  const memory_operand* of;
  const bool* staged;
  int operands;
  int64 index[most_operands], source[most_operands];
  int64 rows = 0, columns = 0;  ///< of what was copied last
  scratch space;

  /// `elements`: the most of a tile.
  CUDARRAY_NO_INLINE tile_copies(const memory_operand* memory, const bool* which, int count, int64 elements)
      : of(memory), staged(which), operands(count), space(bytes(memory, which, count, elements)) {
    auto to = int64(reinterpret_cast<::std::uintptr_t>(space.p));
    for (int k = 0; k < operands; ++k)
      if (staged[k]) {
        // the first such address in `to` that is a whole number of elements away from the operand
        const int64 size = of[k].bytes, apart = to - int64(reinterpret_cast<::std::uintptr_t>(of[k].p));
        index[k] = apart / size + (apart % size > 0);
        to += bytes_of(size, elements);
      }
  }

  /// Copies the tiles that begin at `offset`, and sets it to where they are now: row by row, `columns` apart.
  CUDARRAY_NO_INLINE void fetch(int64* offset, int64 tile_rows, int64 tile_columns, const int64* down,
                                const int64* along) {
    const bool same_size = rows == tile_rows && columns == tile_columns;
    for (int k = 1; k < operands; ++k)
      if (staged[k]) {
        const char* const p = static_cast<const char*>(of[k].p);
        if (!same_size || source[k] != offset[k])
          of[k].copy(const_cast<char*>(p + index[k] * of[k].bytes), tile_columns, p + offset[k] * of[k].bytes,
                     tile_rows, tile_columns, down[k], along[k]);
        source[k] = offset[k];
        offset[k] = index[k];
      }
    rows = tile_rows;
    columns = tile_columns;
  }

  /// Before a row of a tile, with so many below it, of operands that are not copied: asks for a row that comes soon.
  /// Rows are pieces of longer ones on pages of their own, where a processor begins anew to read ahead by itself.
  CUDARRAY_NO_INLINE void ask_ahead(int64 below, const int64* offset, const int64* down, int first, const int64* step,
                                    int64 n) const {
    constexpr int64 ahead = 4, page = 4096, line = 64;
    if (below <= ahead) return;
    for (int k = first; k < operands; ++k) {
      const int64 size = of[k].bytes, pitch = down[k] * size;
      if (staged[k] || of[k].p == nullptr || step[k] != 1 || (pitch < page && pitch > -page)) continue;
      const char* const p = static_cast<const char*>(of[k].p) + offset[k] * size + ahead * pitch;
      for (int64 at = 0; at < n * size; at += line) prefetch(p + at);
    }
  }

 private:
  static int64 bytes_of(int64 size, int64 elements) { return ((elements + 1) * size + 63) / 64 * 64; }
  static int64 bytes(const memory_operand* of, const bool* staged, int count, int64 elements) {
    int64 n = 0;
    for (int k = 0; k < count; ++k) n += staged[k] ? bytes_of(of[k].bytes, elements) : 0;
    return n;
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
