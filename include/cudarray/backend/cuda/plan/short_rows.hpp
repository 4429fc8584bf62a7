// Plans of reductions along short rows that fill memory: many to a block.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// How rows of `length` are spread: `block_rows` of them to a block, 2^row_threads_log2 threads to a row. In shared
/// memory rows of whole places (V lanes each) have one place left out after every 8, against bank conflicts.
template <int Operands>
struct short_rows_plan {
  int length = 1, block_rows = 1, row_threads_log2 = 0;
  bool whole = false;  ///< rows are whole places
  int stride = 0;      ///< places in shared memory from a thread's first to its next
  int lead = 0;        ///< so many elements the first row is off alignment
  int result_step = 1;
  int64 rows = 1, blocks = 1;
  thread_space<Operands> places;
};

/// False where memory is not like that, or other kernels do better. A block takes U places a thread.
template <int Operands>
CUDARRAY_NO_INLINE bool plan_short_rows(short_rows_plan<Operands>& plan, const detail::iteration_space<Operands>& s,
                                        const operand_info* of, int V, int U, int multiprocessors) {
  if (s.ndim != 2 || s.kept != 1 || s.extent[0] == 0 || magnitude(s.stride[0][0]) >> 31 != 0) return false;
  const int64 n = s.extent[1];
  const int leader = equally_aligned(s, of, 1, V);
  if (n < 2 || leader == 0 || !readable_around(s, of)) return false;
  short_rows_plan<Operands> r;
  for (int k = 1; k < Operands; ++k) {
    if (s.stride[k][1] != 1 || s.stride[k][0] != n) return false;
    r.places.lane_step[k] = 1;
  }
  r.lead = off_alignment(of[leader], V);
  r.whole = n % V == 0 && r.lead == 0;
  const int64 most = int64(block_threads * U - !r.whole) * V;
  if (n * (r.whole ? tuning::aligned_rows_of_block : tuning::rows_of_block) > most) return false;
  r.length = int(n);
  r.rows = s.extent[0];
  r.block_rows = int(most / n);
  // where there are few rows, more blocks have fewer each
  if (const int64 shared = ceil_div(r.rows, 2 * multiprocessors); shared < r.block_rows)
    r.block_rows = int(shared > tuning::least_rows_of_block ? shared : tuning::least_rows_of_block);
  while (r.row_threads_log2 < __builtin_ctz(unsigned(warp)) &&
         r.block_rows << (r.row_threads_log2 + 1) <= block_threads)
    ++r.row_threads_log2;
  r.stride = r.whole ? block_threads + block_threads / 8 : block_threads;
  r.result_step = int(s.stride[0][0]);
  r.blocks = ceil_div(r.rows, r.block_rows);
  if (r.blocks >> 31 != 0) return false;
  plan = r;
  return true;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
