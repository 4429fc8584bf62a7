// Folding: elements of several axes of a reduction that lie side by side are taken as one long axis of partial totals.
// SPDX-License-Identifier: MIT
#pragma once

#include "access.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A long axis of partial totals, each of the elements at one place of it, where the last axes of a reduction are
/// short. Its places, outermost first: `rows` of what is reduced next, `runs` of a kept axis, `folds` elements of a run
/// for each of `each` results beside each other. What differs in the first or the third only belongs to one result, and
/// is combined at the end.
struct folding {
  int64 rows = 1, runs = 1, folds = 1, each = 1;
  int64 run() const { return folds * each; }
  int64 row() const { return runs * run(); }
  int64 places() const { return rows * row(); }
};

/// Elements that lie side by side in each operand: `row` of them, the last reduced axis, for each of `each` results,
/// which are the last kept axis where rows are not `along` memory; and such runs one after the other.
struct side_by_side {
  int64 row, each;
  int element;  ///< the axis of the elements that are neighbours
  int next;     ///< the kept axis of the runs, -1: none
  bool joins;   ///< runs follow each other along that axis without gaps, and so do their results
  int64 run() const { return row * each; }

  /// Of a space with a reduced axis and, unless `along`, a kept one.
  side_by_side(const access& a, const int64* extent, int kept, bool along) {
    const int inner = a.ndim - 1, side = kept - 1;
    row = extent[inner], each = along ? 1 : extent[side];
    element = along ? inner : side, next = along ? side : side - 1;
    joins = next >= 0 && a.continues(next, element, run()) && (along || a.stride[0][next] == each * a.stride[0][side]);
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
