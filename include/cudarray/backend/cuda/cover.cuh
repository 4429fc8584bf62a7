// What kernels must know of a space and its operands, and how elementwise ones cover it: decided on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include "lanes.cuh"

namespace cudarray::inline v0::backend::gpu {

/// What must be known of a leaf, and of what is written.
struct operand_info {
  const void* data = nullptr;  ///< null: nothing is loaded
  int bytes = 1;               ///< of an element
  int group = 1;               ///< numbers that are computed together
  bool gathered = false;
  int64 gather_step = 0;    ///< along the axis that is picked from
  uint64 index_leaves = 0;  ///< the operands that say what is picked
};
template <int Operands>
struct survey {
  operand_info of[Operands];
  template <int I, class T>
  void operator()(const detail::load<I, T>& l) {
    of[I] = {l.p, int(sizeof(T))};
  }
  template <int I, class T, class X>
  void operator()(const detail::gathered<I, T, X>& g) {
    picked(of[I], g);
  }
  template <int I, class G>
  requires requires { G::group; }
  void operator()(const detail::generated<I, G>&) { of[I].group = G::group; }
  template <class L>
  void operator()(const L&) {}
  template <class T>
  void written(const detail::store_to<T>& t) {
    of[0] = {t.p, int(sizeof(T))};
  }
  template <int I, class T, class Tree>
  void written(const detail::store_two<I, T, Tree>& t) {
    detail::for_each_operand(t, *this);
    of[0] = {t.p, int(sizeof(T))};
    of[I] = {t.q, int(sizeof(T))};
  }
  template <class T, class Index>
  void written(const detail::scatter_to<T, Index>& t) {
    detail::for_each_operand(t, *this);
    picked(of[0], t);
  }

 private:
  template <class X>
  static void picked(operand_info& o, const X& x) {
    o = {x.p, int(sizeof(*x.p)), 1, true, x.stride};  // nvcc 13 drops the names of designated ones
    detail::for_each_operand(x.index, [&o]<class L>(const L&) {
      if constexpr (requires { L::operand; }) o.index_leaves |= uint64(1) << L::operand;
    });
  }
};

inline int64 magnitude(int64 v) { return v < 0 ? -v : v; }

/// The operands (a bit each) whose V neighbouring lanes along an axis are one aligned access; false where one that is
/// loaded and moves there is not, or one that is computed moves by more than one, or is computed by groups and its
/// lanes are no whole ones.
template <int Operands>
CUDARRAY_NO_INLINE bool wide_operands(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                      int V, uint64& wide) {
  wide = 0;
  for (int k = 0; k < Operands; ++k) {
    const operand_info& o = of[k];
    const bool grouped = o.group > 1 && V % o.group == 0;
    if (!grouped && (s.stride[k][axis] == 0 || (o.data == nullptr && (k == 0 || s.stride[k][axis] == 1)))) continue;
    bool ok = s.stride[k][axis] == 1 && reinterpret_cast<::std::uintptr_t>(o.data) % ::std::size_t(V * o.bytes) == 0;
    for (int d = 0; d < s.ndim; ++d) ok = ok && (d == axis || s.stride[k][d] % V == 0);
    if (o.gathered) {
      // whole rows are picked where the index does not change along them
      ok = ok && o.gather_step % V == 0;
      for (int i = 0; i < Operands; ++i) ok = ok && (!(o.index_leaves >> i & 1) || s.stride[i][axis] == 0);
    } else if (!ok) {
      return false;
    }
    if (!grouped) wide |= uint64(ok) << k;
  }
  return true;
}

/// The elements that an operand is off alignment for V lanes.
inline int off_alignment(const operand_info& o, int V) {
  return int(reinterpret_cast<::std::uintptr_t>(o.data) / ::std::size_t(o.bytes) % ::std::size_t(V));
}

/// Whether what lies beside the operands that are loaded may be read, up to aligned places.
template <int Operands>
bool readable_around(const detail::iteration_space<Operands>& s, const operand_info* of) {
  for (int k = 1; k < Operands; ++k)
    if (of[k].data != nullptr && s.store[k]->borrowed) return false;
  return true;
}

/// The first operand that is loaded, where all of them lie along an axis and are off alignment for V lanes there by as
/// much as each other in every row; otherwise 0.
template <int Operands>
CUDARRAY_NO_INLINE int equally_aligned(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                       int V) {
  int first = 0;
  for (int k = 1; k < Operands; ++k) {
    const operand_info& o = of[k];
    if (o.data == nullptr && (s.stride[k][axis] == 0 || s.stride[k][axis] == 1)) continue;
    if (o.data == nullptr || o.gathered || s.stride[k][axis] != 1) return 0;
    if (first == 0) first = k;
    if (off_alignment(o, V) != off_alignment(of[first], V)) return 0;
    for (int d = 0; d < s.ndim; ++d)
      if (d != axis && (s.stride[k][d] - s.stride[first][d]) % V != 0) return 0;
  }
  return first;
}

/// Whether new memory for operand 0 is off alignment as operand k is in every row.
template <int Operands>
bool aligned_as_new(const detail::iteration_space<Operands>& s, const operand_info& o, int k, int axis, int V) {
  bool yes = off_alignment(o, V) == 0;
  for (int d = 0; d < s.ndim; ++d) yes = yes && (d == axis || (s.stride[k][d] - s.stride[0][d]) % V == 0);
  return yes;
}

/// How an elementwise kernel covers its space.
template <int Operands>
struct map_cover {
  enum { rows, any, tiles, ragged } form = any;
  thread_space<Operands> threads;
  divider per_row;  ///< blocks on a row, or, of even rows, how many a group of threads takes; threads on a ragged row
  int lead = 0;     ///< of skewed tiles and ragged rows: so many elements the first one is off alignment
  bool dense = false;  ///< ragged rows follow each other
  // tiles
  int across = 0;     ///< columns of a tile that are written
  int alignment = 1;  ///< of what is written of a row, more where tiles are skewed
  int64 height = 0, width = 0;
  int64 y_step[Operands] = {}, x_step[Operands] = {};
  uint64 turned = 0;
  int64 blocks = 1;
};

/// The axis that most operands lie along which do not lie along the last one, and those operands; -1 if tiles would not
/// pay.
template <int Operands>
int turned_axis(const detail::iteration_space<Operands>& s, const operand_info* of, uint64& turned) {
  constexpr int64 least = 16;
  const int x = s.ndim - 1;
  int best = -1, most = 0;
  if (x < 1 || s.extent[x] < least) return -1;
  for (int y = 0; y < x; ++y) {
    if (s.extent[y] < least) continue;
    uint64 those = 0;
    int n = 0;
    for (int k = 1; k < Operands; ++k) {
      const int64 along_y = magnitude(s.stride[k][y]), along_x = magnitude(s.stride[k][x]);
      if (of[k].data == nullptr || along_y == 0 || along_y > 2 || along_x < least) continue;
      those |= uint64(1) << k;
      ++n;
    }
    if (n > most) best = y, most = n, turned = those;
  }
  return best;
}

/// Rows of a tile are written from an element on whose number in memory is a multiple of this, which divides tile_rows:
/// writes that share 32 bytes with others cost as much as half of all of them (reads that do cost nothing).
inline int tile_alignment(int bytes) { return bytes > 4 ? 32 / bytes : tile_rows; }

/// Whether rows lie along the last axis in all that is moved, and `dense`: follow each other in operand 0. Where no
/// index picks them, short ones would leave too many threads with half of an access.
template <int Operands>
CUDARRAY_NO_INLINE bool ragged_rows(const detail::iteration_space<Operands>& s, const operand_info* of, int V,
                                    bool& dense) {
  const int x = s.ndim - 1;
  uint64 index = 0;
  for (int k = 0; k < Operands; ++k) index |= of[k].index_leaves;
  if (x < 0 || s.extent[x] < (index != 0 ? V : 8 * V) || !readable_around(s, of)) return false;
  for (int k = 0; k < Operands; ++k)
    if (of[k].data == nullptr || s.stride[k][x] != (index >> k & 1 ? 0 : 1) || (of[k].gathered && index >> k & 1))
      return false;
  dense = true;
  int64 before = 1;
  for (int d = x; d >= 0; before *= s.extent[d--]) dense = dense && s.stride[0][d] == before;
  return true;
}

/// `side`: of a tile, 0 where there is no kernel for tiles; at most `most_turned` operands fit the shared memory.
/// `lines_up`: there is a kernel for ragged rows.
template <int Operands>
CUDARRAY_NO_INLINE void cover_map(map_cover<Operands>& c, const detail::iteration_space<Operands>& s,
                                  const operand_info* of, int V, int U, bool lines_up, int side, int tile_lanes,
                                  int most_turned) {
  const int x = s.ndim - 1;
  const int y = side > 0 ? turned_axis(s, of, c.turned) : -1;
  if (y >= 0 && __builtin_popcountll(c.turned) <= most_turned) {
    detail::iteration_space<Operands> tiles = s;  // y moved next to x, both counted in tiles
    const int alignment = tile_alignment(of[0].bytes);
    c.lead = off_alignment(of[0], alignment);
    bool aligned = c.lead == 0;
    for (int d = 0; d < x; ++d) aligned = aligned && s.stride[0][d] % alignment == 0;
    if (!aligned && s.stride[0][x] == 1) c.alignment = alignment;
    c.across = c.alignment > 1 ? side - c.alignment : side;
    const auto put_axis = [&](int to, int from, int64 size) {
      tiles.extent[to] = ceil_div(s.extent[from] + (from == x ? c.alignment - 1 : 0), size);
      for (int k = 0; k < Operands; ++k) tiles.stride[k][to] = s.stride[k][from] * size;
    };
    for (int d = y; d < x - 1; ++d) put_axis(d, d + 1, 1);
    put_axis(x - 1, y, side);
    put_axis(x, x, c.across);
    c.threads.divide(tiles, 1, -1, false);
    c.height = s.extent[y], c.width = s.extent[x];
    for (int k = 0; k < Operands; ++k) {
      c.y_step[k] = s.stride[k][y], c.x_step[k] = s.stride[k][x];
      c.threads.lane_step[k] = side / tile_lanes * (c.turned >> k & 1 ? c.x_step[k] : c.y_step[k]);
    }
    c.blocks = c.threads.threads;
    c.form = map_cover<Operands>::tiles;
    return;
  }
  int split = x;
  uint64 wide = 0;
  bool neighbours = x >= 0 && wide_operands(s, of, x, V, wide);
  for (int k = 0; k < Operands; ++k) neighbours = neighbours && (!of[k].gathered || wide >> k & 1);  // rows are picked
  if (neighbours) {
    c.threads.divide(s, V, x, true);
    c.threads.wide = wide;
    const int64 per_block = int64(U) * block_threads, row = c.threads.extent[x].divisor, n = ceil_div(row, per_block);
    if (c.threads.whole && (s.ndim == 1 || n * per_block <= row + row / 4)) {
      c.per_row = divider(n);
      c.blocks = c.threads.threads / row * n;
      c.form = map_cover<Operands>::rows;
      return;
    }
    if (c.threads.whole && row >= 4) {
      c.threads.short_rows = true;
      c.threads.even_rows = s.ndim == 2 && block_threads % row == 0;
      if (c.threads.even_rows) c.per_row = divider(block_threads / row);
      c.blocks = ceil_div(c.threads.threads, per_block);
      c.form = map_cover<Operands>::rows;
      return;
    }
  }
  if (lines_up && ragged_rows(s, of, V, c.dense)) {
    c.threads = {};
    c.threads.divide(s, 1, -1, false);
    c.lead = off_alignment(of[0], V);
    c.per_row = divider(ceil_div(s.extent[x] + (c.dense && x == 0 ? c.lead : V - 1), V));
    c.threads.threads = c.threads.threads / s.extent[x] * c.per_row.divisor;
    c.blocks = ceil_div(c.threads.threads, int64(block_threads));
    c.form = map_cover<Operands>::ragged;
    return;
  }
  if (x >= 0 && s.extent[x] < 64)
    for (int d = 0; d < x; ++d) split = s.extent[d] > s.extent[split] ? d : split;
  c.threads = {};
  c.threads.divide(s, V, split, false);
  c.blocks = ceil_div(c.threads.threads, int64(U) * block_threads);
}

}  // namespace cudarray::inline v0::backend::gpu
