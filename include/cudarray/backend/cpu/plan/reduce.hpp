// Plans of reductions on the CPU: rows, columns or tiles, in tasks and chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/fold.hpp"
#include "space.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// What a plan must know of a reduction and of what it reads.
struct reduce_facts {
  const memory_operand* of;
  int lanes;      ///< of a pack
  bool packable;  ///< there are packs
  bool indexed;   ///< the place of an extreme is wanted
  bool beside;    ///< short rows can be combined side by side
};

/// How a reduction is cut up: tasks are groups of results; each may be cut into chunks of the reduced places, whose
/// totals are combined in order. It follows from the shape alone, never from the number of threads.
struct reduce_plan {
  walk_space s;
  enum { by_element, along, across } form = by_element;
  bool staged[most_operands];  ///< operands that are copied to tiles
  bool tiled = false;          ///< there are any
  bool beside = false;         ///< short rows are combined side by side
  bool joined = false;         ///< the last kept axis is a reduced one: what it holds is combined at the end
  bool streams = false;        ///< elements come from beyond the caches, and are read as they lie
  int64 width = 1;             ///< places of a task along the last kept axis
  int64 depth = 1;             ///< reduced places of a tile, along the last axis
  detail::folding fold;        ///< of such a place: partial totals beside each other
  int64 segments = 1;          ///< tasks along the last kept axis
  int64 tasks = 1, chunks = 1;
  int64 count;                 ///< elements of each result
  int64 places;                ///< of the reduced axes
  int side, inner;             ///< the last kept axis, -1: none; the last reduced axis; side: none
  int64 steps[most_operands];  ///< from result to result, of a place or of places

  const char* name() const {
    switch (form) {
      case by_element:
        return "elements";
      case along:
        return tiled ? "rows of tiles" : beside ? "rows side by side" : "rows";
      case across:
        break;
    }
    return tiled            ? joined ? "columns of tiles, joined" : "columns of tiles"
           : fold.folds > 1 ? "runs as columns"
           : fold.rows > 1  ? "columns, rows side by side"
                            : "columns";
  }
  bool reduces() const { return inner > side; }
  /// Rows of at least so many elements are combined one by one; finding the place of an extreme takes longer for each.
  static int64 short_row(const reduce_facts& r) { return r.indexed ? tuning::row_of_extremes : tuning::row; }
  /// Tasks that share a result, and the totals that a task of so many places along the last kept axis leaves.
  int64 sharing() const { return joined ? segments : 1; }
  int64 left(int64 wide) const { return joined ? 1 : wide * fold.each; }
  /// Totals of such a task while rows are added up.
  int64 columns(int64 wide) const { return wide * fold.places(); }
  int64 begin(int64 chunk) const {
    const int64 at = places / chunks * chunk + places % chunks * chunk / chunks,
                unit = form == across ? tuning::block * fold.rows : tuning::chunk_unit;
    return chunk == chunks ? places : at - at % unit;
  }
  /// Goes to the first result of a task; returns how many it has.
  int64 enter(place_in& at, int64 task) const {
    at.seek(s, 0, side, task / segments);
    if (side < 0) return 1;
    const int64 j = task % segments * width, left = s.extent[side] - j;
    at.advance(s, side, j);
    return left < width ? left : width;
  }

  reduce_plan(const walk_space& space, const reduce_facts& r) : s(space) {
    side = s.kept - 1;
    inner = s.ndim - 1;
    count = places = s.size(s.kept, s.ndim);
    const int64 results = s.size(0, s.kept), n = reduces() ? s.extent[inner] : 1;
    for (int k = 0; k < s.operands; ++k) staged[k] = false;
    const auto unit = [&](int axis) {
      bool all = true;
      for (int k = 1; k < s.operands; ++k) all = all && packs_can_read(r.of[k], s.stride[k][axis]);
      return all;
    };
    if (r.packable && places > 0) {
      int flat = side;  // a kept axis along which all operands lie side by side
      while (flat >= 0 && !unit(flat)) --flat;
      const bool row = reduces() && unit(inner);
      beside = row && r.beside && n <= tuning::packs_beside * r.lanes && 2 * n >= r.lanes && side >= 0 &&
               s.extent[side] >= tuning::results_beside * r.lanes;
      for (int k = 1; k < s.operands && n < r.lanes; ++k)  // elements of the next row are read as well
        beside = beside && s.stride[k][side] == n * s.stride[k][inner];
      if (row && lie_in_runs(r, n, true)) beside = false;
      else if (beside) lie_beside(n, r.lanes);
      else if (row && (n >= short_row(r) || results < tuning::few_results)) lie_along(n);
      else if (flat >= 0 && flat == side && lie_in_runs(r, n, false)) {
      } else if (flat >= 0 && (!r.indexed || s.extent[flat] >= r.lanes)) lie_across(flat, r);
      else copy_tiles(r, n);
    } else if (reduces() && places > 0) {
      if (side >= 0 && !r.indexed && s.access().nearer(side, inner)) {
        form = across;
        width = s.extent[side] < tuning::columns ? s.extent[side] : tuning::columns;
      } else if (nearer_axis(r, 0, inner - 1) >= 0) {
        copy_tiles(r, n);
      }
    }
    if (fold.folds == 1) s.steps(steps, side);
    segments = side >= 0 ? (s.extent[side] + width - 1) / width : 1;
    tasks = side >= 0 ? s.size(0, side) * segments : 1;
    const int64 work = results * count;
    for (int k = 1; k < s.operands; ++k)  // sums of single bytes are wide: short rows of them share their loads still
      streams = streams ||
                (exceeds_cache(work * r.of[k].bytes) && (r.of[k].bytes > 1 || columns(width) >= tuning::wide_bytes));
    if (work >= tuning::chunked && tasks < tuning::tasks) {
      const int64 wanted = (tuning::tasks + tasks - 1) / tasks, most = work / tuning::chunk;
      chunks = wanted < most ? wanted : most;
      if (chunks > places) chunks = places;
    }
  }

 private:
  void lie_along(int64 n) {
    form = along;
    if (side < 0 || s.ndim != s.kept + 1) return;
    const int64 e = s.extent[side];  // several results to a task, where there are many
    width = e < 2 * tuning::tasks ? 1 : e < tuning::tasks * tuning::block ? e / tuning::tasks : tuning::block;
    depth = n;
  }
  /// Tasks of whole packs of results, four or more.
  void lie_beside(int64 n, int64 lanes) {
    form = along;
    const int64 e = s.extent[side], part = (e / tuning::tasks + lanes - 1) / lanes * lanes,
                least = tuning::results_beside * lanes, most = least > tuning::block ? least : tuning::block;
    width = part < least ? least : part < most ? part : most;
    depth = n;
  }
  /// So many rows side by side that each has `e` elements, where they are short, that packs are full.
  static int64 rows_beside(int64 e, int64 rows) {
    const int64 most = tuning::rows_beside / e < 1 ? 1 : tuning::rows_beside / e, parts = (rows + most - 1) / most;
    return (rows + parts - 1) / parts;
  }
  void lie_across(int axis, const reduce_facts& r) {
    s.swap_axes(axis, side);
    const int64 e = s.extent[side];
    if (!r.indexed && reduces() && e < tuning::full_packs * r.lanes && s.access().continues(inner, side, e))
      fold.rows = rows_beside(e, s.extent[inner]);
    width = e < tuning::columns ? e : tuning::columns;
    if (width * fold.rows >= r.lanes) form = across;
    else width = fold.rows = 1;
  }
  /// Runs of what is reduced along the last axis (`row`), or of that and of a few results that it follows, as rows of
  /// as many results as they have elements: several runs where one follows the other. False where there are none, or
  /// packs would be cut.
  CUDARRAY_COLD bool lie_in_runs(const reduce_facts& r, int64 n, bool row) {
    if (r.indexed || s.ndim - s.kept < 2) return false;
    const detail::access at = s.access();
    const detail::side_by_side a(at, s.extent, s.kept, row);
    const int64 run = a.run();
    if (run > tuning::columns) return false;
    if (row ? n >= short_row(r) || places < tuning::least_runs * n : !at.continues(inner, side, a.each)) return false;
    int64 wide = 1;
    if (a.joins) {
      const int64 runs = s.extent[a.next], most = tuning::columns / run;
      wide = runs < most ? runs : most;
      while (wide > 1 && runs % wide != 0 && runs % wide * run < r.lanes) --wide;
    }
    const bool rows_follow =
        wide * run < tuning::full_packs * r.lanes && at.continues(inner - 1, a.element, wide * run);
    const int64 rows = rows_follow ? rows_beside(wide * run, s.extent[inner - 1]) : 1;
    if (rows * wide * run < r.lanes) return false;
    form = across;
    width = wide;
    fold = {rows, 1, n, a.each};
    s.steps(steps, a.element);
    if (row && side >= 0) steps[0] = s.stride[0][side];
    if (!row) {
      s.drop_axis(side);
      --s.kept;
    }
    s.drop_axis(s.ndim - 1);
    side = s.kept - 1, inner = s.ndim - 1;
    places = s.size(s.kept, s.ndim);
    return true;
  }
  /// The axis of [first, last] along which an operand that packs cannot read along the last one has the least step
  /// below that one's; or -1.
  CUDARRAY_NO_INLINE int nearer_axis(const reduce_facts& r, int first, int last) const {
    int best = -1;
    int64 least = 0;
    for (int k = 1; k < s.operands; ++k) {
      const int64 step = s.access().step(k, inner);
      for (int d = last; d >= first && !packs_can_read(r.of[k], s.stride[k][inner]); --d) {
        const int64 there = s.access().step(k, d);
        if (there == 0 || there >= step || (best >= 0 && there >= least)) continue;
        best = d;
        least = there;
      }
    }
    return best;
  }
  /// Results lie side by side in a tile where rows are short or farther apart, else one behind the other.
  void copy_tiles(const reduce_facts& r, int64 n) {
    int transposed = reduces() ? nearer_axis(r, 0, side) : -1;
    if (transposed < 0 && reduces() && !r.indexed) transposed = nearer_axis(r, side + 1, inner - 1);
    joined = transposed > side;
    if (joined) side = s.kept++;
    if (const int lies = transposed < 0 ? side : transposed;
        !joined && lies >= 0 && s.extent[lies] < r.lanes && n <= tuning::few_in_tiles)
      for (int d = 0; d <= side; ++d)  // few places of each: packs are of results along a longer axis
        if (s.extent[d] >= r.lanes && (transposed < 0 || s.extent[d] > s.extent[transposed])) transposed = d;
    if (transposed >= 0) s.swap_axes(transposed, side);
    places = s.size(s.kept, s.ndim);
    const bool all_nearer = transposed >= 0 && s.access().nearer(side, inner);
    const int64 e = side >= 0 ? s.extent[side] : 1;
    if ((r.packable || !r.indexed) && e >= r.lanes && (n < short_row(r) || all_nearer)) {
      form = across;
      // of a row of memory as much as can be, of many rows elsewhere
      const int64 wide = e < tuning::columns ? e : tuning::columns,
                  most = all_nearer && tuning::transposed_reduced_tile / wide < tuning::block
                             ? tuning::transposed_reduced_tile / wide
                             : tuning::block;
      depth = n < most ? n : most;
      width = all_nearer ? wide : e < tuning::reduced_tile / depth ? e : tuning::reduced_tile / depth;
    } else if (reduces()) {
      form = along;
      width = transposed < 0 ? 1 : e < tuning::block ? e : tuning::block;
      depth = (transposed < 0 ? tuning::reduced_tile : tuning::transposed_reduced_tile) / width;
    }
    tiled = form != by_element;
    const int axis = form == across ? side : inner;
    for (int k = 1; tiled && k < s.operands; ++k) staged[k] = r.of[k].p && !packs_can_read(r.of[k], s.stride[k][axis]);
  }
};

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
