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
  template <int Ix, class T>
  void operator()(const detail::load<Ix, T>& l) {
    of[Ix] = {l.p, int(sizeof(T))};
  }
  template <int Ix, class T, class X>
  void operator()(const detail::gathered<Ix, T, X>& g) {
    picked(of[Ix], g);
  }
  template <int Ix, class G>
  requires requires { G::group; }
  void operator()(const detail::generated<Ix, G>&) { of[Ix].group = G::group; }
  template <class L>
  void operator()(const L&) {}
  template <class T>
  void written(const detail::store_to<T>& t) {
    of[0] = {t.p, int(sizeof(T))};
  }
  template <int Ix, class T, class Tree>
  void written(const detail::store_two<Ix, T, Tree>& t) {
    detail::for_each_operand(t, *this);
    of[0] = {t.p, int(sizeof(T))};
    of[Ix] = {t.q, int(sizeof(T))};
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

/// Where a thread's first lane stands in a tile: along the axes in the order of its walk.
struct tile_place {
  int c[3];
};

/// How threads walk a tile: next to each other along the first axis, then the second, then the last one. Lanes lie
/// along the last, or along the first where the others are short. Groups of lanes follow each other there, or along the
/// first axis.
struct tile_walk {
  static constexpr int outside = 1 << 16;  ///< more than any place in a tile
  divider first, second;                   ///< threads along each
  divider apart;                           ///< threads along the axis of the lanes
  int last = 1, lane_axis = 2;
  int group[2] = {};  ///< places from group to group, along the first and the last
  int shared_step[3] = {}, shared_lane = 0, shared_group = 0;  ///< elements of shared memory

  tile_walk() = default;
  /// Of a tile of so many elements along each axis; at most `most_first` threads are along the first.
  tile_walk(const int64* size, int64 most_first, int V, const int* steps) {
    const int64 rest = size[1] * size[2];
    if (rest <= few) lane_axis = 0, most_first = along_first(rest);
    const int64 n = size[0] < most_first ? size[0] : most_first;
    last = lane_axis == 0 ? int(size[2]) : int(block_threads / (n * size[1]));
    first = divider(n), second = divider(size[1]), apart = divider(lane_axis == 0 ? n : last);
    if (lane_axis == 2 && n < size[0]) group[0] = int(n);
    else group[lane_axis / 2] = V * int(apart.divisor);
    for (int i = 0; i < 3; ++i) shared_step[i] = steps[i];
    shared_lane = int(apart.divisor) * steps[lane_axis];
    shared_group = group[0] * steps[0] + group[1] * steps[2];
  }
  static constexpr int64 few = 8;
  /// Threads along the first axis where the lanes are along it, too, and so many elements on the others.
  static int64 along_first(int64 rest) {
    int64 n = block_threads;
    while (n * rest > block_threads) n /= 2;
    return n;
  }
  __device__ tile_place place(int t) const {
    const int q = first.divide(t), r = second.divide(q);
    return {{t - q * int(first.divisor), q - r * int(second.divisor), r < last ? r : outside}};
  }
  __device__ int shared(const int* c) const {
    return c[0] * shared_step[0] + c[1] * shared_step[1] + c[2] * shared_step[2];
  }
  /// How many of V lanes, the first of them at `first_at` and `last_at`, stand before the ends of these axes.
  __device__ int inside(int first_at, int first_end, int last_at, int last_end, int V) const {
    if (first_at >= first_end || last_at >= last_end) return 0;
    const int left = lane_axis == 0 ? first_end - first_at : last_end - last_at;
    const int lanes = apart.divide(left + int(apart.divisor) - 1);
    return lanes < V ? lanes : V;
  }
};

/// How the kernels without tiles cover their space.
template <int Operands>
struct map_cover {
  enum { rows, any, ragged } form = any;
  thread_space<Operands> threads;
  divider per_row;  ///< blocks on a row, or, of even rows, how many a group of threads takes; threads on a ragged row
  int lead = 0;     ///< of ragged rows: so many elements the first one is off alignment
  bool dense = false;  ///< ragged rows follow each other
  int64 blocks = 1;
};

/// How the kernel for tiles covers its space: made where there are any, as this takes the host some time.
template <int Operands>
struct tile_cover {
  thread_space<Operands> threads;   ///< the axes that tiles are not on
  tile_walk out, in;                ///< along x, r, y and along y, r, x
  divider along[3];                 ///< tiles along x, r and y
  int tiled[3] = {}, tile[3] = {};  ///< elements of these, and of a tile on them, of what is written there
  int box = 0;                      ///< columns of a tile that are read
  int slot = 0;                     ///< elements of shared memory for an operand
  int alignment = 1;                ///< of what is written of a row, more where tiles are skewed
  int lead = 0;                     ///< of skewed tiles: so many elements the first one is off alignment
  uint64 turned = 0;
  int step[Operands][3] = {};       ///< along the axes in the order of the operand's walk
  int64 group_step[Operands] = {};  ///< elements from group to group of lanes
  int64 across[Operands] = {};      ///< of cells: words from one to the next
  int64 blocks = 1;
};

/// The axis that most operands lie along which do not lie along the last one, and those operands, a bit each; axis -1
/// if there is none.
struct turned_axis {
  int axis = -1;
  uint64 operands = 0;
  template <int Operands>
  turned_axis(const detail::iteration_space<Operands>& s, const operand_info* of) {
    const int x = s.ndim - 1;
    for (int y = 0, most = 0; y < x; ++y) {
      uint64 those = 0;
      int n = 0;
      for (int k = 1; k < Operands; ++k) {
        const int64 along_y = magnitude(s.stride[k][y]), along_x = magnitude(s.stride[k][x]);
        if (of[k].data == nullptr || along_y == 0 || along_y > 2 || along_x < 2) continue;
        those |= uint64(1) << k;
        ++n;
      }
      if (n > most) axis = y, most = n, operands = those;
    }
  }
};

/// Makes elements of 4 / E bytes words: E neighbours along x are one, or along y in operands that are turned, and one
/// place of the space is a cell of E words, `across` from each other in memory. False where words would be cut or off
/// alignment.
template <int Operands>
CUDARRAY_NO_INLINE bool in_words(detail::iteration_space<Operands>& s, operand_info* of, turned_axis& turn, int E,
                                 int64* across) {
  const int x = s.ndim - 1, y = turn.axis;
  if (s.extent[x] % E != 0 || s.extent[y] % E != 0) return false;
  s.extent[x] /= E, s.extent[y] /= E;
  for (int k = 0; k < Operands; ++k) {
    int64* stride = s.stride[k];
    if (k > 0 && stride[x] == 0 && stride[y] == 1) turn.operands |= uint64(1) << k;
    const int along = turn.operands >> k & 1 ? y : x;
    if (of[k].data == nullptr || stride[along] != 1 || off_alignment(of[k], E) != 0) return false;
    for (int d = 0; d < s.ndim; ++d) {
      if (d == along) continue;
      if (stride[d] % E != 0) return false;
      if (d == x || d == y) across[k] = stride[d] / E;
      else stride[d] /= E;
    }
    of[k].bytes = 4;
  }
  return true;
}

/// The axis, but for a and b, along which an operand's step is shortest; -1 if there is none.
template <int Operands>
int shortest_step(const detail::iteration_space<Operands>& s, int k, int a, int b) {
  int best = -1;
  for (int d = 0; d < s.ndim; ++d)
    if (d != a && d != b && s.stride[k][d] != 0 &&
        (best < 0 || magnitude(s.stride[k][d]) <= magnitude(s.stride[k][best])))
      best = d;
  return best;
}

/// Rows of a square tile are written from an element on whose number in memory is a multiple of this, which divides the
/// rows that a thread's lanes are apart: writes that share 32 bytes with others cost as much as half of all of them
/// (reads that do cost nothing).
inline int tile_alignment(int bytes) { return bytes > 4 ? 32 / bytes : 8; }

/// Matrices of fewer elements stay in the cache until all of their lines are used.
inline int64 cached_matrix(int bytes) { return bytes < 4 ? 2400 : 1200; }

/// Tiles where operands lie along another axis, y, than operand 0, which lies along x: squares where both are long, all
/// of an axis that is short and more of the other one, or some of a third one, r; false where they would not pay.
/// U groups of V lanes in each thread, that `most_elements` of shared memory are for. E > 1: of cells (`in_words`).
template <int Operands>
CUDARRAY_NO_INLINE bool cover_tiles(tile_cover<Operands>& c, const detail::iteration_space<Operands>& s,
                                    const operand_info* of, const turned_axis& turn, int U, int V, int most_elements,
                                    int E) {
  const int64 slots = U * V, most_x = slots > 8 ? 2 * warp : warp, most_y = block_threads * slots / most_x;
  const int x = s.ndim - 1, y = turn.axis;
  c.turned = turn.operands;
  const int leader = __builtin_ctzll(c.turned);
  const int64 ex = s.extent[x], ey = s.extent[y], run = 128 / of[0].bytes;
  const bool all_x = ex <= most_x, all_y = ey <= most_y, square = !all_x && !all_y;
  // the axes that go on where x and y end
  const int after_x = shortest_step(s, 0, x, -1), after_y = shortest_step(s, leader, y, -1);
  const bool short_x = all_x && ex < run && after_x != y, short_y = all_y && ey < run && after_y != x;
  int r = short_x && (!short_y || ex <= ey) ? after_x : short_y ? after_y : -1;
  int64 size[3] = {all_x ? ex : most_x, 1, all_y ? ey : most_y};
  const auto covered = [&](int64 deep) {  // by all lanes, both ways
    return slots * (block_threads / (size[0] * deep)) >= size[2] &&
           slots * (block_threads / (size[2] * deep)) >= size[0];
  };
  // where lines of memory stay in the cache, tiles are more work for nothing
  const int bytes = of[leader].bytes;
  const bool same_banks = s.stride[leader][x] * bytes % (bytes < 4 ? warp * bytes : 128) == 0;
  const int64 matrix = ex * ey * E * E;  // elements
  if (r < 0 && (E > 1 ? matrix < 3600 / (E * E) : matrix < cached_matrix(bytes) && (!same_banks || matrix < 256)))
    return false;
  if (r < 0 && all_x && all_y) {
    r = shortest_step(s, 0, x, y);
  } else if (r < 0 && !square) {
    const int64 across = all_x ? ex : ey, along = all_x ? ey : ex;
    if (across < 24 && ((all_x && E == 1) || matrix < 16384)) return false;
    if (bytes < 4 && all_y && across <= 4 && (bytes == 1 || across * along >> 22 == 0)) return false;
    int64 n = across <= tile_walk::few ? slots * tile_walk::along_first(across) : block_threads;
    while (n * across > block_threads * slots) n /= 2;
    size[all_x ? 2 : 0] = along < n ? along : n;
  }
  if (r >= 0) {
    size[1] = s.extent[r];
    if (const int64 most = block_threads / (size[0] > size[2] ? size[0] : size[2]); size[1] > most) size[1] = most;
    while (size[1] > 1 && !covered(size[1])) --size[1];
  }
  if (4 * size[0] * size[1] * size[2] < block_threads * slots) return false;
  // x is contiguous in shared memory, and a warp along y, and then r, finds different banks
  int steps[3] = {1, int(size[0] | 1), 0};
  steps[2] = size[1] > 1 ? int(steps[1] * size[1]) : int(size[0]);
  for (const int bank = size[2] < warp ? int(ceil_div(warp, size[2])) : 1, every = size[2] < warp ? warp : 2;
       steps[2] % every != bank % every;)
    ++steps[2];
  c.slot = int(steps[2] * size[2]);
  if (__builtin_popcountll(c.turned) * c.slot > most_elements) return false;
  const int axes[3] = {x, r, y};
  for (const int d : axes) {  // places and steps take 32 bits
    if (d < 0) continue;
    if (s.extent[d] >> 30 != 0) return false;
    for (int k = 0; k < Operands; ++k)
      if (magnitude(s.stride[k][d]) >> 31 != 0) return false;
  }
  if (square) {
    const int alignment = tile_alignment(of[0].bytes);
    c.lead = off_alignment(of[0], alignment);
    bool aligned = c.lead == 0;
    for (int d = 0; d < x; ++d) aligned = aligned && s.stride[0][d] % alignment == 0;
    if (!aligned && s.stride[0][x] == 1) c.alignment = alignment;
  }
  const int64 back[3] = {size[2], size[1], size[0]};
  const int back_steps[3] = {steps[2], steps[1], steps[0]};
  c.out = tile_walk(size, square ? warp : block_threads, V, steps);
  c.in = tile_walk(back, block_threads, V, back_steps);
  c.box = int(size[0]);
  size[0] -= c.alignment > 1 ? c.alignment : 0;
  for (int i = 0; i < 3; ++i) {
    const int d = axes[i];
    c.tiled[i] = d < 0 ? 1 : int(s.extent[d]);
    c.tile[i] = int(size[i]);
    c.along[i] = divider(ceil_div(c.tiled[i] + (i == 0 ? c.alignment - 1 : 0), size[i]));
    c.blocks *= c.along[i].divisor;
    for (int k = 0; k < Operands; ++k) c.step[k][c.turned >> k & 1 ? 2 - i : i] = d < 0 ? 0 : int(s.stride[k][d]);
  }
  detail::iteration_space<Operands> others = s;
  others.ndim = 0;
  for (int d = 0; d < x; ++d)
    if (d != r && d != y) {
      others.extent[others.ndim] = s.extent[d];
      for (int k = 0; k < Operands; ++k) others.stride[k][others.ndim] = s.stride[k][d];
      ++others.ndim;
    }
  c.threads.divide(others, 1, -1, false);
  c.blocks *= c.threads.threads;
  for (int k = 0; k < Operands; ++k) {
    const tile_walk& walk = c.turned >> k & 1 ? c.in : c.out;
    c.threads.lane_step[k] = walk.apart.divisor * c.step[k][walk.lane_axis];
    c.group_step[k] = int64(walk.group[0]) * c.step[k][0] + int64(walk.group[1]) * c.step[k][2];
  }
  return true;
}

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

/// `lines_up`: there is a kernel for ragged rows.
template <int Operands>
CUDARRAY_NO_INLINE void cover_map(map_cover<Operands>& c, const detail::iteration_space<Operands>& s,
                                  const operand_info* of, int V, int U, bool lines_up) {
  const int x = s.ndim - 1;
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
