// Plans of gradients: which of them a kernel sums up over which axes, and how its blocks are spread.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// What a kernel does with a gradient. The axes of its space are outer ones, those of rows, and the last one.
enum class gradient_form : uint8 {
  none,     ///< nothing: it is not wanted, is done in another run, or is part of another
  whole,    ///< an element at each place
  columns,  ///< sums over the rows: one for each place on the last axis
  rows,     ///< sums along the last axis: one for each row
  all       ///< sums over both
};

/// How blocks cover the rows: `down` rows of `across` threads at a time, each of which takes `steps` places of V lanes.
template <int Operands, int Gradients>
struct gradient_plan {
  gradient_form form[Gradients] = {};
  int8 part_of[Gradients];  ///< the first gradient of the same variable
  bool has_rows = false;    ///< sums of rows
  bool has_totals = false;  ///< sums over rows
  bool even_rows = true;    ///< on one axis
  bool neighbours = true;   ///< the lanes of a thread are, and all are inside
  int outer = 0;            ///< so many axes are outer ones
  int across = 1, across_log2 = 0, down = 1, steps = 1;
  int64 rows = 1, rows_of_block = 1;
  divider column_blocks, row_blocks;
  int64 blocks = 1;
  void* partial[Gradients] = {};                  ///< sums that several blocks share: each writes its own
  int64 next_step[Operands], next_row[Operands];  ///< what the offsets of a thread gain
  thread_space<Operands> threads;

  bool has(gradient_form f) const {
    bool is = false;
    for (int j = 0; j < Gradients; ++j) is = is || form[j] == f;
    return is;
  }
  /// Sums side by side, for each outer place.
  int64 width(gradient_form f) const {
    return f == gradient_form::columns ? threads.limit : f == gradient_form::rows ? rows : 1;
  }
  /// Blocks that share a sum.
  int64 sharing(gradient_form f) const {
    return f == gradient_form::columns ? row_blocks.divisor
           : f == gradient_form::rows  ? column_blocks.divisor
                                       : row_blocks.divisor * column_blocks.divisor;
  }
};

/// Puts the axes in `outer`, a bit each, in front of the others; the last one stays. Returns how many they are.
CUDARRAY_NO_INLINE inline int outer_first(int64* extent, int64 (*stride)[max_rank], int operands, int ndim,
                                          unsigned outer) {
  int n = 0;
  for (int d = 0; d < ndim; ++d) {
    if (!(outer >> d & 1)) continue;
    for (int at = d; at > n; --at) {
      ::std::swap(extent[at], extent[at - 1]);
      for (int k = 0; k < operands; ++k) ::std::swap(stride[k][at], stride[k][at - 1]);
    }
    ++n;
  }
  return n;
}

/// The forms of the gradients in `left` that one run makes: whole ones of one order in memory, others are left. A sum
/// over some axes but not all outside the last one makes those that it is not over outer axes; sums that want others
/// are left. Returns the outer axes, a bit each.
CUDARRAY_NO_INLINE inline unsigned gradient_forms(gradient_form* form, const int* operand_of, int gradients,
                                                  const int64 (*stride)[max_rank], int ndim, unsigned& left) {
  const unsigned every = (1u << ndim) - 1, last = ndim > 0 ? 1u << (ndim - 1) : 0;
  unsigned outer = 0;
  bool fixed = false;
  const int64* whole = nullptr;  // the strides of those
  for (int j = 0; j < gradients; ++j) {
    if (!(left >> j & 1)) continue;
    const int64* const own = stride[operand_of[j]];
    unsigned moves = 0;
    for (int d = 0; d < ndim; ++d) moves |= unsigned(own[d] != 0) << d;
    const unsigned needs = moves & ~last;
    if (moves == every) {
      if (whole != nullptr && !::std::equal(own, own + ndim, whole)) continue;
      form[j] = gradient_form::whole;
      whole = own;
    } else if (moves == (every & ~last)) {
      form[j] = gradient_form::rows;
    } else if (!fixed || needs == outer) {
      form[j] = (moves & last) != 0 ? gradient_form::columns : gradient_form::all;
      outer = needs;
      fixed = true;
    } else {
      continue;
    }
    left &= ~(1u << j);
  }
  return outer;
}

/// Spreads the threads, and blocks enough for so many multiprocessors.
template <int Operands, int Gradients>
CUDARRAY_NO_INLINE void spread_gradients(gradient_plan<Operands, Gradients>& p, int multiprocessors) {
  const auto& s = p.threads;
  const int x = s.ndim - 1;
  int64 outer = 1;
  for (int d = 0; d < x; ++d) (d < p.outer ? outer : p.rows) *= s.extent[d].divisor;
  const bool columns = p.has(gradient_form::columns), all = p.has(gradient_form::all);
  p.has_rows = p.has(gradient_form::rows);
  p.has_totals = columns || all;
  p.even_rows = x - p.outer <= 1;
  p.across = power_of_two_above(s.last, columns || p.has_rows ? warp : block_threads);
  p.across_log2 = __builtin_ctz(unsigned(p.across));
  p.down = power_of_two_above(p.rows, block_threads / p.across);
  const int64 along = ceil_div(s.last, p.across), down = ceil_div(p.rows, p.down);
  // a thread has one sum of a column in each lane
  p.steps = columns ? 1 : int(along < tuning::gradient_steps ? along : tuning::gradient_steps);
  p.column_blocks = divider(ceil_div(along, p.steps));
  int64 each = 1;  // rows of a thread
  if (columns || all) {
    const int64 enough = int64(multiprocessors) * tuning::gradient_blocks, others = p.column_blocks.divisor * outer;
    const int64 blocks = ceil_div(enough, others);
    each = ceil_div(down, blocks < down ? blocks : down);
    if (each * p.steps > tuning::gradient_places) each = ceil_div(tuning::gradient_places, p.steps);
  }
  p.rows_of_block = each * p.down;
  p.row_blocks = divider(ceil_div(p.rows, p.rows_of_block));
  p.blocks = outer * p.row_blocks.divisor * p.column_blocks.divisor;
  if (p.blocks >> 31 != 0)
    detail::fail<value_error>("backward: ", p.blocks, " blocks of gradients are too many at once");
  for (int k = 0; k < Operands; ++k) {
    p.next_step[k] = int64(p.across) * s.lanes * s.step[k][x];
    p.next_row[k] = (x > p.outer ? p.down * s.step[k][x - 1] : 0) - p.steps * p.next_step[k];
  }
}

/// What is known of the gradients before a run: where each is in the space, and its memory.
struct gradient_info {
  const int* operand_of;
  const operand_info* written;
};

/// The run that makes the gradients in `left`, or as many of them as fit together, of the operands in `of`. Operand 0
/// of the plan is each gradient that is whole: all are in one order.
template <int Operands, int Gradients, int All>
CUDARRAY_NO_INLINE void plan_gradients(gradient_plan<Operands, Gradients>& p, detail::iteration_space<All>& s,
                                       operand_info* of, const gradient_info& info, unsigned& left, int V,
                                       int multiprocessors) {
  const unsigned outer = gradient_forms(p.form, info.operand_of, Gradients, s.stride, s.ndim, left);
  p.outer = outer_first(s.extent, s.stride, All, s.ndim, outer);
  if (s.ndim == 0) s.ndim = s.kept = s.extent[0] = 1;
  const int x = s.ndim - 1;
  detail::iteration_space<Operands> read;
  read.ndim = read.kept = s.ndim;
  for (int d = 0; d < s.ndim; ++d) {
    read.extent[d] = s.extent[d];
    for (int k = 1; k < Operands; ++k) read.stride[k][d] = s.stride[k][d];
  }
  bool aligned = s.extent[x] % V == 0;
  for (int j = 0; j < Gradients; ++j) {
    if (p.form[j] != gradient_form::whole) continue;
    of[0] = info.written[j];
    aligned = aligned && off_alignment(of[0], V) == 0;
    for (int d = 0; d < s.ndim; ++d) read.stride[0][d] = s.stride[info.operand_of[j]][d];
  }
  uint64 wide = 0;
  const bool is_wide = aligned && wide_operands(read, of, x, V, wide);
  p.threads.divide(read, V, x, is_wide);
  p.threads.wide = is_wide ? wide : 0;
  p.neighbours = is_wide;
  spread_gradients(p, multiprocessors);
}

/// Where a gradient that is summed up has its elements: on the axes that it moves along; `dense`: in that order.
CUDARRAY_NO_INLINE inline thread_space<1> places_of_sum(const int64* extent, const int64* stride, int ndim,
                                                        bool& dense) {
  detail::iteration_space<1> own;
  for (int d = 0; d < ndim; ++d) {
    if (stride[d] == 0) continue;
    own.extent[own.ndim] = extent[d];
    own.stride[0][own.ndim++] = stride[d];
  }
  own.kept = own.ndim;
  dense = true;
  int64 before = 1;
  for (int d = own.ndim - 1; d >= 0; before *= own.extent[d--]) dense = dense && own.stride[0][d] == before;
  thread_space<1> places;
  places.divide(own, 1, -1, false);
  return places;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
