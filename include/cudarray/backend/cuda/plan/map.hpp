// Plans of maps without tiles: rows of wide accesses, rows off alignment, any layout.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// How the kernels without tiles cover their space.
template <int Operands>
struct map_plan {
  enum { rows, any, unaligned } form = any;
  thread_space<Operands> threads;
  /// Blocks on a row, or, of even rows, how many a group of threads takes; threads on an unaligned row.
  divider per_row;
  int lead = 0;        ///< of unaligned rows: so many elements the first one is off alignment
  bool dense = false;  ///< unaligned rows follow each other
  int64 blocks = 1;
  const char* name() const {
    return form == unaligned    ? "unaligned rows"
           : form == any        ? "any layout"
           : threads.short_rows ? "short rows"
                                : "long rows";
  }
};

/// Whether rows lie along the last axis in all that is moved, and `dense`: follow each other in operand 0. Where no
/// index picks them, short ones would leave too many threads with half of an access.
template <int Operands>
CUDARRAY_NO_INLINE bool unaligned_rows(const detail::iteration_space<Operands>& s, const operand_info* of, int V,
                                       bool& dense) {
  const int x = s.ndim - 1;
  uint64 index = 0;
  for (int k = 0; k < Operands; ++k) index |= of[k].index_leaves;
  if (x < 0 || s.extent[x] < (index != 0 ? V : tuning::unaligned_accesses * V) || !readable_around(s, of)) return false;
  for (int k = 0; k < Operands; ++k)
    if (of[k].data == nullptr || s.stride[k][x] != (index >> k & 1 ? 0 : 1) || (of[k].gathered && index >> k & 1))
      return false;
  dense = true;
  int64 before = 1;
  for (int d = x; d >= 0; before *= s.extent[d--]) dense = dense && s.stride[0][d] == before;
  return true;
}

/// Rows along which all that moves is wide accesses: long ones, which blocks share, or short ones, several to a block.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_wide_rows(map_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                       const operand_info* of, int V, int U) {
  const int x = s.ndim - 1;
  uint64 wide = 0;
  if (x < 0 || !wide_operands(s, of, x, V, wide)) return false;
  for (int k = 0; k < Operands; ++k)
    if (of[k].gathered && !(wide >> k & 1)) return false;  // what is picked are no rows
  map_plan<Operands> c;
  c.form = map_plan<Operands>::rows;
  c.threads.divide(s, V, x, true);
  c.threads.wide = wide;
  const int64 per_block = int64(U) * block_threads, row = c.threads.extent[x].divisor, n = ceil_div(row, per_block);
  if (!c.threads.whole) return false;
  if (s.ndim == 1 || n * per_block <= row + row / tuning::idle_part) {
    c.per_row = divider(n);
    c.blocks = c.threads.threads / row * n;
  } else {
    c.threads.short_rows = true;
    c.threads.even_rows = s.ndim == 2 && block_threads % row == 0;
    if (c.threads.even_rows) c.per_row = divider(block_threads / row);
    c.blocks = ceil_div(c.threads.threads, per_block);
  }
  plan = c;
  return true;
}

/// Rows off alignment, by accesses that are aligned.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_unaligned_rows(map_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                            const operand_info* of, int V) {
  map_plan<Operands> c;
  if (!unaligned_rows(s, of, V, c.dense)) return false;
  const int x = s.ndim - 1;
  c.form = map_plan<Operands>::unaligned;
  c.threads.divide(s, 1, -1, false);
  c.lead = off_alignment(of[0], V);
  c.per_row = divider(ceil_div(s.extent[x] + (c.dense && x == 0 ? c.lead : V - 1), V));
  c.threads.threads = c.threads.threads / s.extent[x] * c.per_row.divisor;
  c.blocks = ceil_div(c.threads.threads, int64(block_threads));
  plan = c;
  return true;
}

/// Any layout: each lane of a thread by itself, on the longest axis where the last is short.
template <int Operands>
CUDARRAY_NO_INLINE map_plan<Operands> plan_any(const detail::iteration_space<Operands>& s, int V, int U) {
  map_plan<Operands> c;
  int split = s.ndim - 1;
  if (split >= 0 && s.extent[split] < tuning::short_axis)
    for (int d = 0; d < s.ndim - 1; ++d) split = s.extent[d] > s.extent[split] ? d : split;
  c.threads.divide(s, V, split, false);
  c.blocks = ceil_div(c.threads.threads, int64(U) * block_threads);
  return c;
}

/// The first plan of these that fits; U groups of V lanes a thread, `row_U` along rows. `lines_up`: there is a kernel
/// for unaligned rows.
template <int Operands>
map_plan<Operands> plan_map(const detail::iteration_space<Operands>& s, const operand_info* of, int V, int U, int row_U,
                            bool lines_up) {
  map_plan<Operands> c;
  if (plan_wide_rows(c, s, of, V, row_U) || (lines_up && plan_unaligned_rows(c, s, of, V))) return c;
  return plan_any(s, V, U);
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
