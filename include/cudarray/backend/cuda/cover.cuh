// How kernels cover a space, decided on the host, where the types of an expression do not matter.
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
/// loaded and moves there is not, or one that is computed moves by more than one, or is computed V at a time and its
/// lanes are no whole group.
template <int Operands>
CUDARRAY_NO_INLINE bool wide_operands(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                      int V, uint64& wide) {
  wide = 0;
  for (int k = 0; k < Operands; ++k) {
    const operand_info& o = of[k];
    const bool grouped = o.group > 1 && o.group == V;
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

/// The first operand that is loaded, where all of them lie along an axis and are off alignment for V lanes there by as
/// much as each other in every row; otherwise 0. `around`: what lies beside them must be readable up to aligned places.
template <int Operands>
CUDARRAY_NO_INLINE int equally_aligned(const detail::iteration_space<Operands>& s, const operand_info* of, int axis,
                                       int V, bool around) {
  int first = 0;
  for (int k = 1; k < Operands; ++k) {
    const operand_info& o = of[k];
    if (o.data == nullptr && (s.stride[k][axis] == 0 || s.stride[k][axis] == 1)) continue;
    if (o.data == nullptr || o.gathered || s.stride[k][axis] != 1) return 0;
    if (around && s.store[k]->borrowed) return 0;
    if (first == 0) first = k;
    if (off_alignment(o, V) != off_alignment(of[first], V)) return 0;
    for (int d = 0; d < s.ndim; ++d)
      if (d != axis && (s.stride[k][d] - s.stride[first][d]) % V != 0) return 0;
  }
  return first;
}

/// How an elementwise kernel covers its space.
template <int Operands>
struct map_cover {
  enum { rows, any, tiles } form = any;
  thread_space<Operands> threads;
  divider per_row;  ///< blocks on a row, or, of even rows, how many a group of threads takes
  // tiles
  int across = 0;     ///< columns of a tile that are written
  int alignment = 1;  ///< of what is written of a row, more where tiles are skewed
  int lead = 0;       ///< then: so many elements the first row is off alignment
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

/// `side`: of a tile, 0 where there is no kernel for tiles; at most `most_turned` operands fit the shared memory.
template <int Operands>
CUDARRAY_NO_INLINE void cover_map(map_cover<Operands>& c, const detail::iteration_space<Operands>& s,
                                  const operand_info* of, int V, int U, int side, int tile_lanes, int most_turned) {
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
  if (x >= 0 && s.extent[x] < 64)
    for (int d = 0; d < x; ++d) split = s.extent[d] > s.extent[split] ? d : split;
  c.threads = {};
  c.threads.divide(s, V, split, false);
  c.blocks = ceil_div(c.threads.threads, int64(U) * block_threads);
}

/// How a thread's lanes lie on what is reduced.
enum class reduce_walk {
  straight,  ///< loads are wide, no lane is outside
  ragged,  ///< as straight, off alignment: along a row, its ends go one by one; across, lanes stand before the results
  apart    ///< lanes are apart
};

inline constexpr int most_steps = 4;  ///< of a tile

/// How the threads of a reduction's blocks are spread: on `wide` results (or groups of V results), `deep` threads on
/// each: `abreast` of these on a run, which is what lies on the last reduced axis, and `beside` of such groups. The
/// lanes go `along` the reduced axes, and so do neighbouring threads; or both go across the results. Runs are taken in
/// tiles, a few steps of each thread: on along a run, or, of short ones, from run to run. What straight threads need
/// stands in front: a kernel waits for each line of its parameters.
template <int Operands>
struct reduce_cover {
  reduce_walk walk = reduce_walk::straight;
  bool along = false;
  bool near = true;  ///< 32 bits hold every result, tile, place and step
  int wide = 1, deep = 1, abreast = 1, beside = 1, abreast_log2 = 0;
  int own = 1;                 ///< of `wide` results a block finishes so many; the next block does the others
  int left_step = 1;           ///< what a step takes from the places left in a run, or from the runs left
  int64 results = 1;           ///< threads' places on the kept axes
  int64 row = 1, runs = 1;     ///< places in a run, and runs
  int64 tiles = 1;             ///< of all runs
  int64 ahead[Operands] = {};  ///< along a run from element to element; of wide loads from place to place
  int64 step[Operands][most_steps - 1] = {};  ///< from a thread's first step to the others of a tile
  int64 positions = 0;                        ///< elements on the last reduced axis
  int64 position_step = 0;                    ///< positions from step to step
  int64 count = 1;                            ///< elements that are reduced to one
  int lead = 0;                               ///< so many elements the first row is off alignment
  int turn = 0;                               ///< and from row to row so many more, where lanes go across the results
  int element_step = 0;                       ///< elements on the last axis, from step to step
  int run_tiles = 1;                          ///< runs of a tile
  divider row_tiles;                          ///< tiles of a run
  thread_space<Operands> threads;
  bool once = false;  ///< there is a block for each group of results, not only as many as run at a time
  bool loads_wide() const { return walk != reduce_walk::apart; }
};

inline int power_of_two_above(int64 n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

/// How the `deep` threads of a result share its runs, U steps of each at a time.
template <int Operands>
CUDARRAY_NO_INLINE void share_runs(reduce_cover<Operands>& r, const detail::iteration_space<Operands>& s, int V,
                                   int U) {
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1;
  // a run that a few threads take in one step leaves the others of a tile for the next runs
  const int whole_run = power_of_two_above(r.row, r.deep);
  const bool short_runs =
      s.ndim - s.kept == 2 && r.runs > 1 && whole_run >= r.row && (r.row <= 8 || 4 * r.row >= 3 * whole_run);
  r.abreast = r.deep;
  if (short_runs) {
    r.abreast = whole_run;
  } else if (r.runs > 1) {
    const int together = !r.along ? 1 : r.loads_wide() ? 4 : r.threads.by_warps ? warp : 16;
    const int tile = power_of_two_above(ceil_div(r.row, U), r.deep);
    if (r.abreast > tile) r.abreast = tile > together || together > r.deep ? tile : together;
  }
  r.abreast_log2 = __builtin_ctz(unsigned(r.abreast));
  r.beside = r.deep / r.abreast;
  r.run_tiles = short_runs ? U : 1;
  r.left_step = short_runs ? 1 : r.abreast;
  r.row_tiles = divider(short_runs ? 1 : ceil_div(r.row, int64(U) * r.abreast));
  r.tiles = ceil_div(r.runs, r.run_tiles) * r.row_tiles.divisor;
  const int64 place = r.along && (r.loads_wide() || r.threads.by_warps) ? V : 1;  // elements from thread to thread
  r.element_step = short_runs ? 0 : r.abreast * int(place);
  r.position_step = short_runs ? r.positions : r.element_step;
  for (int k = 0; k < Operands && inner >= 0; ++k) {
    const int64 element = s.stride[k][inner], step = short_runs ? s.stride[k][inner - 1] : r.element_step * element;
    r.ahead[k] = (r.loads_wide() && r.along ? V : 1) * element;
    for (int u = 1; u < most_steps; ++u) r.step[k][u - 1] = u * step;
  }
}

/// Spreads the threads, which take U steps at a time; false where loads cannot be wide.
template <int Operands>
CUDARRAY_NO_INLINE bool spread_threads(reduce_cover<Operands>& r, const detail::iteration_space<Operands>& s, int V,
                                       int U, int64 enough, bool light) {
  constexpr int64 far = int64(1) << 31;
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;
  const bool ragged = r.walk == reduce_walk::ragged, turns = ragged && !r.along;
  r.threads = {}, r.once = false;
  r.threads.divide(s, V, r.along ? inner : across, r.loads_wide(), turns ? V - 1 : 0);
  r.results = r.runs = 1;
  for (int d = 0; d < s.ndim; ++d)
    if (d != inner) (d < s.kept ? r.results : r.runs) *= r.threads.extent[d].divisor;
  if (r.count == 0) r.runs = 0;
  r.row = inner < 0 ? 1 : ragged && r.along ? r.positions / V : r.threads.extent[inner].divisor;
  // few threads on a result where there are many results: each does more
  const int64 places = r.runs * r.row;
  int least = 1, most;
  if (r.along) {
    most = power_of_two_above(ceil_div(places, 2), block_threads);
    least = r.threads.by_warps ? warp : power_of_two_above(ceil_div(r.row, 4), 4);
    if (const int edges = power_of_two_above(2 * V - 2, block_threads); ragged && r.row >= 4 * edges && least < edges)
      least = edges;
    // 8 to 15 steps of a thread, where rows are long enough for that and, as measured, not too long
    r.once = r.walk == reduce_walk::straight && r.runs == 1 && places >= (V > 4 ? 6 : 32) && (light || places < 256);
    if (r.once) least = power_of_two_above(places / 16 + 1, block_threads);
  } else {
    // many blocks share each of few results, and the last of them adds up what they left: the less, the narrower it is
    const int widest = !r.loads_wide() ? 128 : turns || r.results > 8192 ? 32 : r.results > 512 ? 16 : 8;
    most = block_threads / power_of_two_above(r.results + turns, widest);
    while (most > 1 && places < most * 4 && r.results > block_threads / most) most /= 2;
    if (turns) least = V;  // rows that are off alignment alike are a thread's
  }
  const int wished = power_of_two_above(ceil_div(enough, r.results > 0 ? r.results : 1), block_threads);
  r.deep = wished < least ? least : wished < most ? wished : most > least ? most : least;
  r.once = r.once && r.deep == least;
  r.wide = block_threads / r.deep;
  r.own = turns ? r.wide - 1 : r.wide;
  share_runs(r, s, V, U);
  r.near = (r.results | r.row | r.runs | r.tiles) >> 30 == 0;
  // what is beyond the end of a row is counted, too
  if (r.walk != reduce_walk::straight) r.near = r.near && r.positions < far - 65536;
  for (const int64 ahead : r.ahead) r.near = r.near && magnitude(ahead) < far;
  if (turns)
    return r.near && r.runs == 1 && r.row >= 4 * r.deep && r.own > 0 &&
           4 * r.results >= 3 * r.own * ceil_div(r.results, r.own);  // few threads are idle
  if (ragged) return r.near && r.runs == 1 && r.deep >= 2 * V - 2;
  return r.near && r.threads.whole;
}

/// `loads`: how many operands the tree loads; `indexed`: positions are counted, by 32 bits where loads are wide; U and
/// `apart_U`: steps at a time, where loads are wide and otherwise; `light`: threads combine what they found at little
/// cost.
template <int Operands>
CUDARRAY_NO_INLINE void cover_reduce(reduce_cover<Operands>& r, const detail::iteration_space<Operands>& s,
                                     const operand_info* of, int loads, int V, int U, int apart_U, bool indexed,
                                     bool light, int multiprocessors) {
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;  // the last axes of both kinds, -1: none
  r.count = s.size(s.kept, s.ndim);
  if (inner >= 0) r.positions = s.extent[inner];
  // lanes and neighbouring threads go along the axis on which most operands lie close together
  int close_along = 0, close_across = 0;
  for (int k = 1; k < Operands; ++k) {
    close_along += inner >= 0 && magnitude(s.stride[k][inner]) == 1;
    close_across += across >= 0 && magnitude(s.stride[k][across]) == 1;
  }
  const int64 few = r.count % V == 0 ? 8 : 13;  // are a thread's
  r.along = inner >= 0 && (across < 0 || (close_along >= close_across && (r.count > few || s.size(0, s.kept) < 1024)));
  const int64 enough = int64(multiprocessors) * 2048;  // threads that keep the device busy
  const auto fits = [&](reduce_walk w) {
    r.walk = w;
    return spread_threads(r, s, V, r.loads_wide() ? U : apart_U, enough, light);
  };
  if (inner >= 0 && r.count > 0 && (!indexed || r.count >> 31 == 0)) {
    uint64 wide = 0;
    if (wide_operands(s, of, r.along ? inner : across, V, wide) && __builtin_popcountll(wide) == loads &&
        fits(reduce_walk::straight))
      return;
    if (const int k = equally_aligned(s, of, r.along ? inner : across, V, !r.along)) {
      r.lead = off_alignment(of[k], V);
      r.turn = int(s.stride[k][inner] & (V - 1));
      if (fits(reduce_walk::ragged)) return;
    }
  }
  fits(reduce_walk::apart);
}

/// Blocks share results where there are few of them; at most as many as run at a time (`wanted`) are made, but for
/// `once`.
template <int Operands>
CUDARRAY_NO_INLINE dim3 reduce_grid(const reduce_cover<Operands>& r, int64 wanted) {
  const int64 blocks = ceil_div(r.results, r.own), most = r.runs * r.row / (int64(r.deep) * 16);
  int64 chunks = wanted / blocks;
  chunks = chunks < most ? chunks : most;
  if (chunks < 1 || blocks > most_tickets) chunks = 1;
  return dim3(unsigned(r.once || blocks < wanted ? blocks : wanted), unsigned(chunks));
}

}  // namespace cudarray::inline v0::backend::gpu
