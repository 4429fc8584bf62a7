// Plans of reductions: how threads are spread on results and on what is reduced.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/fold.hpp"
#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// How a thread's lanes lie on what is reduced.
enum class reduce_access {
  aligned,    ///< loads are wide, no lane is outside
  unaligned,  ///< as aligned, but memory is not: along a row, its ends go one by one; across, lanes stand before the
              ///< results
  folded,     ///< as aligned, down columns several of which are added up to one result at last: few columns, rows are
              ///< so many of the operand's as are whole lanes, its ends go one by one; or columns are the elements of
              ///< short runs, or of those of a few results side by side
  strided     ///< each lane is loaded by itself
};

inline constexpr int most_steps = 4;  ///< of a tile

/// How the threads of a reduction's blocks are spread: on `block_results` results (or groups of V results), with
/// `result_threads` on each. These are `run_groups` groups of `run_threads`; a group takes a run at a time, which is
/// what lies on the last reduced axis. The lanes go `along` the reduced axes, and so do neighbouring threads; or both
/// go across the results. Runs are taken in tiles, a few steps of each thread: on along a run, or, of short ones, from
/// run to run. What the threads of aligned loads need stands in front: a kernel waits for each line of its parameters.
template <int Operands>
struct reduce_plan {
  reduce_access access = reduce_access::aligned;
  bool along = false;
  bool index32 = true;  ///< 32 bits hold every result, tile, place and step
  int block_results = 1, result_threads = 1, run_threads = 1, run_groups = 1, run_threads_log2 = 0;
  int own_results = 1;         ///< of `block_results` a block finishes so many; the next block does the others
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
  int rows = 1, columns = 1;  ///< of folded accesses: rows of the operands in one of its own, and results of these
  int run = 0;                ///< or elements of a run, of which those of a result are `each` apart; 0: rows fold, and
  int each = 1;               ///< have ends
  int element_step = 0;       ///< elements on the last axis, from step to step
  int run_tiles = 1;          ///< runs of a tile
  bool in_order = false;      ///< a thread takes what is reduced by ascending positions
  bool by_runs = false;       ///< neighbouring tiles are those of neighbouring runs
  divider row_tiles;          ///< tiles of a run; by runs: runs
  thread_space<Operands> threads;
  bool once = false;  ///< there is a block for each group of results, not only as many as run at a time
  bool loads_wide() const { return access != reduce_access::strided; }
  const char* name() const {
    switch (access) {
      case reduce_access::aligned:
        return along ? "aligned rows" : "aligned columns";
      case reduce_access::unaligned:
        return along ? "unaligned rows" : "unaligned columns";
      case reduce_access::folded:
        return run > 0 ? "runs as columns" : "folded columns";
      case reduce_access::strided:
        break;
    }
    return along ? "strided rows" : "strided columns";
  }
};

/// How many operands lie closer together along an axis than along another, and so close that neighbours share memory's
/// lines; -1: no axis is meant.
CUDARRAY_NO_INLINE inline int close_together(const detail::access& a, int axis, int other) {
  int n = 0;
  for (int k = 1; k < a.operands && axis >= 0; ++k) {
    const int64 step = a.step(k, axis), apart = other < 0 ? 0 : a.step(k, other);
    n += step == 1 || (step != 0 && step <= tuning::close_steps && (apart == 0 || step < apart));
  }
  return n;
}

/// How the threads of a result share its runs, U steps of each at a time.
template <int Operands>
CUDARRAY_NO_INLINE void share_runs(reduce_plan<Operands>& r, const detail::iteration_space<Operands>& s, int V, int U) {
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1;
  // a run that a few threads take in one step leaves the others of a tile for the next runs
  const int whole_run = power_of_two_above(r.row, r.result_threads);
  const bool short_runs = s.ndim - s.kept == 2 && r.runs > 1 && whole_run >= r.row &&
                          (r.row <= tuning::short_run || 4 * r.row >= tuning::full_quarters * whole_run);
  // of an operand transposed against the others, warps on neighbouring runs read from the same places
  r.by_runs = !r.in_order && !short_runs && r.along && !r.loads_wide() && r.threads.by_warps && r.runs > 1 &&
              r.result_threads > warp && close_together(detail::access(s), inner - 1, inner) > 0;
  r.run_threads = r.result_threads;
  if (short_runs) {
    r.run_threads = whole_run;
  } else if (r.by_runs) {
    r.run_threads = warp;
  } else if (r.runs > 1) {
    const int together = !r.along             ? 1
                         : r.loads_wide()     ? tuning::aligned_run_threads
                         : r.threads.by_warps ? warp
                                              : tuning::strided_run_threads;
    const int tile = power_of_two_above(ceil_div(r.row, U), r.result_threads);
    if (r.run_threads > tile) r.run_threads = tile > together || together > r.result_threads ? tile : together;
  }
  r.run_threads_log2 = __builtin_ctz(unsigned(r.run_threads));
  r.run_groups = r.result_threads / r.run_threads;
  r.run_tiles = short_runs ? U : 1;
  r.left_step = short_runs ? 1 : r.run_threads;
  const int64 row_tiles = short_runs ? 1 : ceil_div(r.row, int64(U) * r.run_threads);
  r.row_tiles = divider(r.by_runs ? r.runs : row_tiles);
  r.tiles = ceil_div(r.runs, r.run_tiles) * row_tiles;
  const int64 place = r.along && (r.loads_wide() || r.threads.by_warps) ? V : 1;  // elements from thread to thread
  r.element_step = short_runs ? 0 : r.run_threads * int(place);
  r.position_step = short_runs ? r.positions : r.element_step;
  for (int k = 0; k < Operands && inner >= 0; ++k) {
    const int64 element = s.stride[k][inner], step = short_runs ? s.stride[k][inner - 1] : r.element_step * element;
    r.ahead[k] = (r.loads_wide() && r.along ? V : 1) * element;
    for (int u = 1; u < most_steps; ++u) r.step[k][u - 1] = u * step;
  }
}

/// Whether blocks that own so many results each have few threads without one.
inline bool few_idle(int64 results, int own) { return 4 * results >= 3 * own * ceil_div(results, own); }

/// How many threads a result may have; `once`: so few that each has 8 to 15 steps, and a block takes one group of
/// results.
struct threads_of_result {
  int least = 1, most = 1;
  bool once = false;
};

/// Along the reduced axes: few threads on a result where there are many results, each does more.
template <int Operands>
threads_of_result threads_along(const reduce_plan<Operands>& r, int V, bool light) {
  threads_of_result n;
  const bool unaligned = r.access == reduce_access::unaligned;
  const int64 places = r.runs * r.row;
  n.most = power_of_two_above(ceil_div(places, 2), block_threads);
  n.least = r.threads.by_warps ? warp : power_of_two_above(ceil_div(r.row, 4), 4);
  if (const int edges = power_of_two_above(2 * V - 2, block_threads);
      unaligned && r.row >= 4 * edges && n.least < edges)
    n.least = edges;
  n.once = r.access == reduce_access::aligned && r.runs == 1 &&
           places >= (V > 4 ? tuning::once_least_narrow : tuning::once_least) && (light || places < tuning::once_most);
  if (n.once) n.least = power_of_two_above(places / tuning::once_steps + 1, block_threads);
  return n;
}

/// Across the results: many blocks share each of few results, and the last of them adds up what they left: the less,
/// the narrower it is.
template <int Operands>
threads_of_result threads_across(const reduce_plan<Operands>& r, int V) {
  threads_of_result n;
  const bool turns = r.access == reduce_access::unaligned;
  const int64 places = r.runs * r.row;
  const int widest = !r.loads_wide()                            ? tuning::strided_wide
                     : turns || r.results > tuning::some_groups ? tuning::many_wide
                     : r.results > tuning::few_groups           ? tuning::some_wide
                                                                : tuning::few_wide;
  n.most = block_threads / power_of_two_above(r.results + turns, widest);
  while (n.most > 1 && places < n.most * 4 && r.results > block_threads / n.most) n.most /= 2;
  if (!turns) return n;
  n.least = V;  // rows that are off alignment alike are a thread's
  for (int wide = block_threads / V; wide >= 4; wide /= 2)
    if (const int own = wide - 1; few_idle(r.results, own)) {
      if (block_threads / wide > n.most) n.most = block_threads / wide;
      break;
    }
  return n;
}

/// Spreads the threads, which take U steps at a time; false where loads cannot be wide.
template <int Operands>
CUDARRAY_NO_INLINE bool spread_threads(reduce_plan<Operands>& r, const detail::iteration_space<Operands>& s, int V,
                                       int U, int64 enough, bool light) {
  constexpr int64 int32_end = int64(1) << 31;
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;
  const bool unaligned = r.access == reduce_access::unaligned, turns = unaligned && !r.along,
             folded = r.access == reduce_access::folded;
  r.threads.divide(s, V, r.along ? inner : across, r.loads_wide(), turns ? V - 1 : 0);
  for (int d = 0; d < s.ndim; ++d)
    if (d != inner) (d < s.kept ? r.results : r.runs) *= r.threads.extent[d].divisor;
  if (r.count == 0) r.runs = 0;
  r.row = inner < 0 ? 1 : unaligned && r.along ? r.positions / V : r.threads.extent[inner].divisor;
  threads_of_result n = r.along ? threads_along(r, V, light) : threads_across(r, V);
  if (folded) n.least = n.most = block_threads / power_of_two_above(r.threads.extent[across].divisor, block_threads);
  const int wished = power_of_two_above(ceil_div(enough, r.results > 0 ? r.results : 1), block_threads);
  r.result_threads = wished < n.least ? n.least : wished < n.most ? wished : n.most > n.least ? n.most : n.least;
  r.once = n.once && r.result_threads == n.least;
  r.block_results = block_threads / r.result_threads;
  r.own_results = turns ? r.block_results - 1 : folded ? int(r.threads.extent[across].divisor) : r.block_results;
  share_runs(r, s, V, U);
  r.index32 = (r.results | r.row | r.runs | r.tiles) >> 30 == 0;
  // what is beyond the end of a row is counted, too
  if (r.access != reduce_access::aligned) r.index32 = r.index32 && r.positions < int32_end - 65536;
  for (const int64 ahead : r.ahead) r.index32 = r.index32 && magnitude(ahead) < int32_end;
  if (turns)
    return r.index32 && r.runs == 1 && r.row >= 4 * r.result_threads && r.own_results > 0 &&
           few_idle(r.results, r.own_results);
  if (unaligned) return r.index32 && r.runs == 1 && r.result_threads >= 2 * V - 2;
  return r.index32 && r.threads.whole;
}

/// Whether what is loaded lies along an axis, in order, and nothing else moves there.
template <int Operands>
CUDARRAY_NO_INLINE bool lies_along(const detail::iteration_space<Operands>& s, const operand_info* of, int axis) {
  for (int k = 1; k < Operands; ++k)
    if (s.stride[k][axis] != (of[k].data != nullptr)) return false;
  return true;
}

/// A space of columns side by side whose rows are as many of those of `s` as are whole lanes; false where it has not
/// enough rows, or columns.
template <int Operands>
CUDARRAY_NO_INLINE bool fold_columns(reduce_plan<Operands>& r, detail::iteration_space<Operands>& s,
                                     const operand_info* of, int V) {
  const int inner = s.ndim - 1, across = s.kept - 1;
  if (across < 0 || s.ndim - s.kept != 1 || s.extent[across] > block_threads) return false;
  r.columns = int(s.extent[across]), r.rows = 1;
  while (r.columns * r.rows % V != 0) r.rows *= 2;
  const int64 row = int64(r.columns) * r.rows;
  // the last block of a result adds up what all others have found: long for many columns, with few threads on each
  if (row / V > tuning::fold_groups || r.positions < tuning::fold_steps * int64(r.rows) * block_threads / (row / V))
    return false;
  for (int k = 1; k < Operands; ++k) {
    if (of[k].data == nullptr && s.stride[k][across] == 0 && s.stride[k][inner] == 0) continue;
    if (s.stride[k][across] != 1 || s.stride[k][inner] != r.columns) return false;
    s.stride[k][inner] = row;
  }
  s.extent[across] = row;
  s.extent[inner] = (r.positions * r.columns - (V - 1)) / row;
  return true;
}

/// Whether runs as columns serve threads better than the runs as they are.
inline bool folds_pay(const detail::side_by_side& a, int64 count, bool along, int bytes, int V) {
  if (!along) return a.each <= tuning::run_columns * V && a.each % V != 0;
  if (!a.joins || a.run() * bytes > tuning::run_bytes) return false;
  if (a.run() > tuning::run_groups * V || count / a.run() < tuning::run_count) return false;
  return a.run() % V != 0 || tuning::run_lanes % (a.run() / V) == 0;  // else a row's own threads do well
}

/// So many elements of a row and, of whole rows, so many runs, as columns such that lanes are whole and a block does
/// much for what it takes at its end; folds 0: there are none.
CUDARRAY_NO_INLINE inline detail::folding choose_folds(const detail::side_by_side& a, int64 count, bool along,
                                                       int64 next, int V) {
  constexpr int64 most_groups = tuning::run_groups;
  detail::folding best{1, 1, 0, a.each};
  const auto groups = [&](int64 folds, int64 runs) { return runs * folds * a.each / V; };
  const auto time = [&](int64 folds, int64 runs) {
    return count / folds * power_of_two_above(groups(folds, runs), most_groups) + tuning::block_end * block_threads;
  };
  const auto offer = [&](int64 folds, int64 runs) {
    if (runs * folds * a.each % V != 0) return;
    if (best.folds == 0 || time(folds, runs) * best.runs <= time(best.folds, best.runs) * runs)
      best.folds = folds, best.runs = runs;
  };
  for (int64 f = along ? a.row : 1; f <= a.row && groups(f, 1) <= most_groups; ++f)
    if (a.row % f == 0) offer(f, 1);
  for (int64 n = 2; a.joins && n <= next && groups(a.row, n) <= most_groups; ++n)
    if (next % n == 0 && (!along || best.folds == 0 || 2 * groups(a.row, n) <= most_groups)) offer(a.row, n);
  const int64 threads = power_of_two_above(groups(best.folds, best.runs), most_groups);
  if (!along && best.folds > 0 && count / best.folds * threads < block_threads)
    best.folds = 0;  // a row for each thread
  return best;
}

/// A space of columns that are the elements of runs, a block finishes some of them, where runs are side by side and
/// threads would read off alignment or do little otherwise: along short ones (`along`), or along those of a few results
/// that are side by side, as each of their next elements are. Two axes are reduced, at least. False where runs are not
/// like that.
template <int Operands>
CUDARRAY_NO_INLINE bool fold_runs(reduce_plan<Operands>& r, detail::iteration_space<Operands>& s,
                                  const operand_info* of, int V) {
  const int inner = s.ndim - 1, across = s.kept - 1;
  if (across < 0 || s.ndim >= max_rank) return false;
  const detail::access at(s);
  const detail::side_by_side a(at, s.extent, s.kept, r.along);
  int bytes = 0;
  for (int k = 1; k < Operands; ++k) bytes = of[k].bytes > bytes ? of[k].bytes : bytes;
  if (!lies_along(s, of, a.element) || (!r.along && !at.continues(inner, across, a.each)) ||
      !folds_pay(a, r.count, r.along, bytes, V))
    return false;
  const detail::folding fold = choose_folds(a, r.count, r.along, a.joins ? s.extent[a.next] : 1, V);
  if (fold.folds == 0) return false;
  r.columns = int(fold.runs * fold.each), r.run = int(fold.run()), r.each = int(fold.each);
  // the columns are the last kept axis; what is left of a row, if anything is, is the last that is reduced
  int columns = s.kept - 1;
  if (r.along) {
    columns = s.kept++;
    for (int d = inner; d > columns; --d) {
      s.extent[d] = s.extent[d - 1];
      for (int k = 0; k < Operands; ++k) s.stride[k][d] = s.stride[k][d - 1];
    }
    s.stride[0][columns] = s.stride[0][a.next];
  } else if (fold.folds < a.row) {
    s.extent[inner] = a.row / fold.folds;
    for (int k = 1; k < Operands; ++k) s.stride[k][inner] *= fold.folds;
  } else {
    --s.ndim;
  }
  s.extent[columns] = fold.row();
  for (int k = 1; k < Operands; ++k) s.stride[k][columns] = of[k].data != nullptr;
  if (a.joins) {
    s.extent[a.next] /= fold.runs;
    for (int k = 0; k < Operands; ++k) s.stride[k][a.next] *= fold.runs;
  }
  return true;
}

/// What a plan is made of. `loads`: how many operands the tree loads; `indexed`: positions are counted, by 32 bits
/// where loads are wide; U and `strided_U`: steps at a time, where loads are wide and otherwise; `light`: threads
/// combine what they found at little cost; `may_fold`: few columns may be walked as more.
struct reduction {
  const operand_info* of;
  int loads, V, U, strided_U;
  bool indexed, light, may_fold;
  int multiprocessors;
  int64 enough() const { return int64(multiprocessors) * tuning::busy_threads; }  ///< threads that keep the device busy
};

/// The space with a kept axis on which operands lie close together as the last of these, where they do on no last one.
template <int Operands>
CUDARRAY_NO_INLINE detail::iteration_space<Operands> with_near_axis_last(detail::iteration_space<Operands> s) {
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;
  const detail::access at(s);
  if (close_together(at, inner, across) > 0 || close_together(at, across, inner) > 0) return s;
  for (int d = 0; d < across; ++d)
    if (close_together(at, d, across) > 0) {
      ::std::swap(s.extent[d], s.extent[across]);
      for (int k = 0; k < Operands; ++k) ::std::swap(s.stride[k][d], s.stride[k][across]);
      break;
    }
  return s;
}

/// What all plans of a space have in common.
template <int Operands>
CUDARRAY_NO_INLINE reduce_plan<Operands> begin_plan(const detail::iteration_space<Operands>& s, const reduction& q) {
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;  // the last axes of both kinds, -1: none
  const detail::access at(s);
  reduce_plan<Operands> r;
  r.count = s.size(s.kept, s.ndim);
  if (inner >= 0) r.positions = s.extent[inner];
  r.in_order = q.indexed;
  // lanes and neighbouring threads go along the axis on which most operands lie close together
  const int64 few = r.count % q.V == 0 ? tuning::thread_row_aligned : tuning::thread_row;
  r.along = inner >= 0 && (across < 0 || (close_together(at, inner, across) >= close_together(at, across, inner) &&
                                          (r.count > few || s.size(0, s.kept) < tuning::thread_row_results)));
  return r;
}

template <int Operands>
bool all_loads_wide(const detail::iteration_space<Operands>& s, int axis, const reduction& q) {
  uint64 wide = 0;
  return wide_operands(s, q.of, axis, q.V, wide) && __builtin_popcountll(wide) == q.loads;
}

/// Short runs, or those of a few results side by side, as columns.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_folded_runs(reduce_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                         const reduction& q) {
  if (!q.may_fold || q.indexed || s.ndim - s.kept < 2) return false;
  reduce_plan<Operands> r = begin_plan(s, q);
  detail::iteration_space<Operands> columns = s;
  if (!fold_runs(r, columns, q.of, q.V)) return false;
  r.access = reduce_access::folded, r.along = false;
  if (!all_loads_wide(columns, columns.kept - 1, q) || !spread_threads(r, columns, q.V, q.U, q.enough(), q.light))
    return false;
  plan = r;
  return true;
}
/// All loads are aligned.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_aligned(reduce_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                     const reduction& q) {
  reduce_plan<Operands> r = begin_plan(s, q);
  r.access = reduce_access::aligned;
  if (!all_loads_wide(s, r.along ? s.ndim - 1 : s.kept - 1, q) || !spread_threads(r, s, q.V, q.U, q.enough(), q.light))
    return false;
  plan = r;
  return true;
}
/// All operands are off alignment alike: few columns are folded, others taken unaligned.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_unaligned(reduce_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                       const reduction& q) {
  reduce_plan<Operands> r = begin_plan(s, q);
  const int inner = s.ndim - 1, k = equally_aligned(s, q.of, r.along ? inner : s.kept - 1, q.V);
  if (k == 0) return false;
  r.lead = off_alignment(q.of[k], q.V);
  r.turn = int(s.stride[k][inner] & (q.V - 1));
  if (q.may_fold && !r.along) {
    reduce_plan<Operands> folded = r;
    detail::iteration_space<Operands> wide_rows = s;
    folded.access = reduce_access::folded;
    if (fold_columns(folded, wide_rows, q.of, q.V) &&
        spread_threads(folded, wide_rows, q.V, q.U, q.enough(), q.light)) {
      plan = folded;
      return true;
    }
  }
  r.access = reduce_access::unaligned;
  if ((!r.along && !readable_around(s, q.of)) || !spread_threads(r, s, q.V, q.U, q.enough(), q.light)) return false;
  plan = r;
  return true;
}

/// The first plan of these that fits.
template <int Operands>
CUDARRAY_NO_INLINE reduce_plan<Operands> plan_reduce(const detail::iteration_space<Operands>& space,
                                                     const reduction& q) {
  const detail::iteration_space<Operands> s = with_near_axis_last(space);
  const int64 count = s.size(s.kept, s.ndim);
  reduce_plan<Operands> r;
  if (s.kept < s.ndim && count > 0 && (!q.indexed || count >> 31 == 0)) {
    if (plan_folded_runs(r, s, q)) return r;
    if (plan_aligned(r, s, q)) return r;
    if (plan_unaligned(r, s, q)) return r;
  }
  r = begin_plan(s, q);
  r.access = reduce_access::strided;
  spread_threads(r, s, q.V, q.strided_U, q.enough(), q.light);
  return r;
}

/// Blocks of a kernel: for results, and for parts of what is reduced to them.
struct reduce_blocks {
  int64 results, parts;
};

/// Blocks share results where there are few of them; at most as many as run at a time (`wanted`) are made, but for
/// `once`.
template <int Operands>
CUDARRAY_NO_INLINE reduce_blocks blocks_of(const reduce_plan<Operands>& r, int64 wanted) {
  const int64 blocks = ceil_div(r.results, r.own_results),
              most = r.runs * r.row / (int64(r.result_threads) * tuning::steps_of_part);
  int64 chunks = wanted / blocks;
  chunks = chunks < most ? chunks : most;
  if (chunks < 1 || blocks > most_tickets) chunks = 1;
  return {r.once || blocks < wanted ? blocks : wanted, chunks};
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
