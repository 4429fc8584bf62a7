// Plans of maps by tiles: where operands lie along another axis than what is written.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

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
  CUDARRAY_HD tile_place place(int t) const {
    const int q = first.divide(t), r = second.divide(q);
    return {{t - q * int(first.divisor), q - r * int(second.divisor), r < last ? r : outside}};
  }
  CUDARRAY_HD int shared(const int* c) const {
    return c[0] * shared_step[0] + c[1] * shared_step[1] + c[2] * shared_step[2];
  }
  /// How many of V lanes, the first of them at `first_at` and `last_at`, stand before the ends of these axes.
  CUDARRAY_HD int inside(int first_at, int first_end, int last_at, int last_end, int V) const {
    if (first_at >= first_end || last_at >= last_end) return 0;
    const int left = lane_axis == 0 ? first_end - first_at : last_end - last_at;
    const int lanes = apart.divide(left + int(apart.divisor) - 1);
    return lanes < V ? lanes : V;
  }
};

/// How the kernel for tiles covers its space: made where there are any, as this takes the host some time.
template <int Operands>
struct tile_plan {
  thread_space<Operands> threads;   ///< the axes that tiles are not on
  tile_walk out, in;                ///< along x, r, y and along y, r, x
  divider along[3];                 ///< tiles along x, r and y
  int tiled[3] = {}, tile[3] = {};  ///< elements of these, and of a tile on them, of what is written there
  int box = 0;                      ///< columns of a tile that are read
  int slot = 0;                     ///< elements of shared memory for an operand
  int alignment = 1;                ///< of what is written of a row, more where tiles are skewed
  int lead = 0;                     ///< of skewed tiles: so many elements the first one is off alignment
  uint64 transposed = 0;
  int step[Operands][3] = {};       ///< along the axes in the order of the operand's walk
  int64 group_step[Operands] = {};  ///< elements from group to group of lanes
  int64 across[Operands] = {};      ///< of cells: words from one to the next
  int64 blocks = 1;
};

/// The axis that most operands lie along which do not lie along the last one, and those operands, a bit each; axis -1
/// if there is none.
struct transposed_axis {
  int axis = -1;
  uint64 operands = 0;
  template <int Operands>
  transposed_axis(const detail::iteration_space<Operands>& s, const operand_info* of) {
    const detail::access at(s);
    const int x = s.ndim - 1;
    for (int y = 0, most = 0; y < x; ++y) {
      uint64 those = 0;
      int n = 0;
      for (int k = 1; k < Operands; ++k) {
        const int64 along_y = at.step(k, y), along_x = at.step(k, x);
        if (of[k].data == nullptr || along_y == 0 || along_y > 2 || along_x < 2) continue;
        those |= uint64(1) << k;
        ++n;
      }
      if (n > most) axis = y, most = n, operands = those;
    }
  }
};

/// Makes elements of 4 / E bytes words: E neighbours along x are one, or along y in operands that are transposed, and
/// one place of the space is a cell of E words, `across` from each other in memory. False where words would be cut or
/// off alignment.
template <int Operands>
CUDARRAY_NO_INLINE bool in_words(detail::iteration_space<Operands>& s, operand_info* of, transposed_axis& turn, int E,
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

/// Rows of a square tile are written from an element on whose number in memory is a multiple of this, which divides the
/// rows that a thread's lanes are apart: writes that share 32 bytes with others cost as much as half of all of them
/// (reads that do cost nothing).
inline int tile_alignment(int bytes) { return bytes > 4 ? int(tuning::sector) / bytes : 8; }

/// Elements of a tile along x, r and y, and the axis r, -1 where there is none.
struct tile_shape {
  int64 size[3] = {1, 1, 1};
  int r = -1;
  bool square = false;
};

/// Squares where x and y are long, all of one that is short and more of the other, or some of a third axis, r, which
/// goes on where x or y ends. A thread has so many slots, its groups times its lanes. False where tiles would not pay.
template <int Operands>
CUDARRAY_NO_INLINE bool choose_tile(tile_shape& tile, const detail::iteration_space<Operands>& s,
                                    const operand_info* of, const transposed_axis& turn, int64 slots, int E) {
  const int64 most_x = slots > 8 ? 2 * warp : warp, most_y = block_threads * slots / most_x;
  const int x = s.ndim - 1, y = turn.axis, leader = __builtin_ctzll(turn.operands);
  const int64 ex = s.extent[x], ey = s.extent[y], run = tuning::line / of[0].bytes;
  const bool all_x = ex <= most_x, all_y = ey <= most_y;
  const detail::access at(s);
  const int after_x = at.shortest(0, x, -1), after_y = at.shortest(leader, y, -1);
  const bool short_x = all_x && ex < run && after_x != y, short_y = all_y && ey < run && after_y != x;
  tile_shape t;
  t.square = !all_x && !all_y;
  t.r = short_x && (!short_y || ex <= ey) ? after_x : short_y ? after_y : -1;
  t.size[0] = all_x ? ex : most_x, t.size[2] = all_y ? ey : most_y;
  // where lines of memory stay in the cache, tiles are more work for nothing
  const int bytes = of[leader].bytes;
  const bool same_banks = s.stride[leader][x] * bytes % (bytes < 4 ? warp * bytes : tuning::line) == 0;
  const int64 matrix = ex * ey * E * E;  // elements
  if (t.r < 0 && (E > 1 ? matrix < tuning::cell_matrix / (E * E)
                        : matrix < cached_matrix(bytes) && (!same_banks || matrix < tuning::same_banks_matrix)))
    return false;
  if (t.r < 0 && all_x && all_y) {
    t.r = at.shortest(0, x, y);
  } else if (t.r < 0 && !t.square) {
    const int64 across = all_x ? ex : ey, along = all_x ? ey : ex;
    if (across < tuning::strip && ((all_x && E == 1) || matrix < tuning::strip_matrix)) return false;
    if (bytes < 4 && all_y && across <= tuning::narrow_strip &&
        (bytes == 1 || across * along >> tuning::narrow_strip_log2 == 0))
      return false;
    int64 n = across <= tile_walk::few ? slots * tile_walk::along_first(across) : block_threads;
    while (n * across > block_threads * slots) n /= 2;
    t.size[all_x ? 2 : 0] = along < n ? along : n;
  }
  if (t.r >= 0) {
    const auto covered = [&](int64 deep) {  // by all lanes, both ways
      return slots * (block_threads / (t.size[0] * deep)) >= t.size[2] &&
             slots * (block_threads / (t.size[2] * deep)) >= t.size[0];
    };
    t.size[1] = s.extent[t.r];
    const int64 most = block_threads / (t.size[0] > t.size[2] ? t.size[0] : t.size[2]);
    if (t.size[1] > most) t.size[1] = most;
    while (t.size[1] > 1 && !covered(t.size[1])) --t.size[1];
  }
  tile = t;
  return 4 * t.size[0] * t.size[1] * t.size[2] >= block_threads * slots;
}

/// Elements of shared memory from place to place along each axis of a tile: x is contiguous there, and a warp along y,
/// and then r, finds different banks.
inline void steps_in_banks(const int64* size, int* steps) {
  steps[0] = 1, steps[1] = int(size[0] | 1);
  steps[2] = size[1] > 1 ? int(steps[1] * size[1]) : int(size[0]);
  const int bank = size[2] < warp ? int(ceil_div(warp, size[2])) : 1, every = size[2] < warp ? warp : 2;
  while (steps[2] % every != bank % every) ++steps[2];
}

/// Whether places and steps along these axes take 32 bits; -1: no axis.
template <int Operands>
bool fits_32_bits(const detail::iteration_space<Operands>& s, const int (&axes)[3]) {
  for (const int d : axes) {
    if (d < 0) continue;
    if (s.extent[d] >> 30 != 0) return false;
    for (int k = 0; k < Operands; ++k)
      if (magnitude(s.stride[k][d]) >> 31 != 0) return false;
  }
  return true;
}

/// The axes of a space but for these, as one that is walked block by block.
template <int Operands>
thread_space<Operands> other_axes(const detail::iteration_space<Operands>& s, const int (&axes)[3]) {
  detail::iteration_space<Operands> others = s;
  others.ndim = 0;
  for (int d = 0; d < s.ndim; ++d) {
    if (d == axes[0] || d == axes[1] || d == axes[2]) continue;
    others.extent[others.ndim] = s.extent[d];
    for (int k = 0; k < Operands; ++k) others.stride[k][others.ndim] = s.stride[k][d];
    ++others.ndim;
  }
  thread_space<Operands> threads;
  threads.divide(others, 1, -1, false);
  return threads;
}

/// Tiles where operands lie along another axis, y, than operand 0, which lies along x; false where they would not pay.
/// U groups of V lanes in each thread, that `most_elements` of shared memory are for. E > 1: of cells (`in_words`).
template <int Operands>
CUDARRAY_NO_INLINE bool plan_tiles(tile_plan<Operands>& c, const detail::iteration_space<Operands>& s,
                                   const operand_info* of, const transposed_axis& turn, int U, int V, int most_elements,
                                   int E) {
  tile_shape tile;
  if (!choose_tile(tile, s, of, turn, U * V, E)) return false;
  int64(&size)[3] = tile.size;
  const int x = s.ndim - 1, axes[3] = {x, tile.r, turn.axis};
  int steps[3];
  steps_in_banks(size, steps);
  c.transposed = turn.operands;
  c.slot = int(steps[2] * size[2]);
  if (__builtin_popcountll(c.transposed) * c.slot > most_elements || !fits_32_bits(s, axes)) return false;
  if (tile.square) {
    const int alignment = tile_alignment(of[0].bytes);
    c.lead = off_alignment(of[0], alignment);
    bool aligned = c.lead == 0;
    for (int d = 0; d < x; ++d) aligned = aligned && s.stride[0][d] % alignment == 0;
    if (!aligned && s.stride[0][x] == 1) c.alignment = alignment;
  }
  const int64 back[3] = {size[2], size[1], size[0]};
  const int back_steps[3] = {steps[2], steps[1], steps[0]};
  c.out = tile_walk(size, tile.square ? warp : block_threads, V, steps);
  c.in = tile_walk(back, block_threads, V, back_steps);
  c.box = int(size[0]);
  size[0] -= c.alignment > 1 ? c.alignment : 0;
  for (int i = 0; i < 3; ++i) {
    const int d = axes[i];
    c.tiled[i] = d < 0 ? 1 : int(s.extent[d]);
    c.tile[i] = int(size[i]);
    c.along[i] = divider(ceil_div(c.tiled[i] + (i == 0 ? c.alignment - 1 : 0), size[i]));
    c.blocks *= c.along[i].divisor;
    for (int k = 0; k < Operands; ++k) c.step[k][c.transposed >> k & 1 ? 2 - i : i] = d < 0 ? 0 : int(s.stride[k][d]);
  }
  c.threads = other_axes(s, axes);
  c.blocks *= c.threads.threads;
  for (int k = 0; k < Operands; ++k) {
    const tile_walk& walk = c.transposed >> k & 1 ? c.in : c.out;
    c.threads.lane_step[k] = walk.apart.divisor * c.step[k][walk.lane_axis];
    c.group_step[k] = int64(walk.group[0]) * c.step[k][0] + int64(walk.group[1]) * c.step[k][2];
  }
  return true;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
