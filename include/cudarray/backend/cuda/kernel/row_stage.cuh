// Short rows of the softmax family that fill memory: a block reads many as they lie, and holds each from on chip.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/operands.hpp"
#include "row_values.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

inline constexpr int stage_steps = 4;  ///< accesses of a thread that are under way at once
/// Elements of a row that a thread holds, at most.
template <class T>
inline constexpr int stage_groups = sizeof(T) > 4 ? 12 : 16;

/// How rows of `length` are spread: `block_rows` of them, which are whole accesses, to a block, 2^row_threads_log2
/// threads to a row.
template <int Operands>
struct staged_rows {
  int length = 1, block_rows = 1, row_threads_log2 = 0;
  int held = 1;  ///< elements of a row that a thread holds, at most
  int64 rows = 1, blocks = 1;
  thread_space<Operands> places;

  /// False where memory is not like that, or rows_kernel does better. `whole`: rows are whole accesses; `per_row`: so
  /// are results; `most_held`: stage_groups.
  CUDARRAY_NO_INLINE bool cover(const detail::iteration_space<Operands>& s, const operand_info* of, int V, bool whole,
                                bool per_row, int most_held, int multiprocessors) {
    if (s.ndim != 2 || s.extent[1] > warp * most_held) return false;
    const int n = int(s.extent[1]), leader = equally_aligned(s, of, 1, V);
    if (leader == 0 || off_alignment(of[leader], V) != 0 || !readable_around(s, of)) return false;
    // stores of whole rows are wide anyway; but if these are short, and begin in the middle of a sector of memory,
    // writing it twice costs more than bringing it together (as measured; not for five accesses of half types)
    if (const int accesses = n / V;
        whole && (per_row || accesses % 2 == 0 || accesses > (V == 4 ? 15 : 7) || (V > 4 && accesses == 5)))
      return false;
    if (per_row && s.stride[0][0] != 1) return false;
    for (int k = per_row; k < Operands; ++k) {
      if (s.stride[k][1] != 1 || s.stride[k][0] != n) return false;
      places.lane_step[k] = 1;
    }
    length = n;
    rows = s.extent[0];
    const int even = n & -n, unit = even < V ? V / even : 1;  // rows that are whole accesses
    block_rows = block_threads * stage_steps * V / n / unit * unit;
    const int64 enough = 8 * int64(multiprocessors);  // blocks
    const bool few = rows < block_rows * enough;
    if (few && n <= warp * row_groups) most_held = row_groups;
    while ((n - 1) >> row_threads_log2 >= most_held) ++row_threads_log2;
    held = int(ceil_div(n, 1 << row_threads_log2));
    if (few) {
      const int together = block_threads >> row_threads_log2, step = together > unit ? together : unit;
      const int64 shared = ceil_div(ceil_div(rows, enough), step) * step;
      if (shared < block_rows) block_rows = int(shared);
    }
    blocks = ceil_div(rows, block_rows);
    return blocks >> 31 == 0;
  }
};

#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Loads and stores are wide; in between, what is computed of the operands, and then the results, lie in shared memory.
template <detail::row_function F, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    row_stage_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                     const __grid_constant__ staged_rows<Operands> r) {
  in_stream_order();
  using value = typename Tree::value_type;
  using T = detail::compute_t<value>;
  constexpr bool softmax = F == detail::row_function::softmax, per_row = F == detail::row_function::logsumexp;
  extern __shared__ __align__(16) char raw[];
  value* const staged = reinterpret_cast<value*>(raw);
  const int t = int(threadIdx.x);
  const int64 first = int64(blockIdx.x) * r.block_rows, from = first * r.length;
  const int rows = r.rows - first < r.block_rows ? int(r.rows - first) : r.block_rows, elements = rows * r.length;
  {
    basic_access<true, V, Operands, Tree> a[stage_steps];
#pragma unroll
    for (int u = 0; u < stage_steps; ++u) {
      a[u].start(r.places);
      a[u].inside = V;
      const int at = (t + u * block_threads) * V;
#pragma unroll
      for (int k = 1; k < Operands; ++k) a[u].offset[k] = from + at;
      if (at < elements) a[u].template fetch<reach::wide>(tree);
    }
#pragma unroll
    for (int u = 0; u < stage_steps; ++u)
      if (const int at = (t + u * block_threads) * V; at < elements) store_wide(staged + at, tree(a[u]));
  }
  __syncthreads();
  const int deep = 1 << r.row_threads_log2, depth = t & (deep - 1);
  for (int group = 0; group < rows; group += block_threads >> r.row_threads_log2) {
    const int row = group + (t >> r.row_threads_log2), left = row < rows ? r.length - depth : 0;
    value* const mine = staged + row * r.length + depth;
    constexpr int groups = stage_groups<T>;
    T x[groups];
    T largest = detail::bounds<T>::lowest;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (g >= r.held) break;
      x[g] = g * deep < left ? element_cast<T>(mine[g * deep]) : detail::bounds<T>::lowest;
      largest = larger::combine(largest, x[g]);
    }
    largest = combine_lanes<larger>(largest, deep);
    // where all is -inf, or +inf is there, that is logsumexp; softmax has no value
    const T top = softmax ? largest : finite_or_zero(largest);
    T sum = 0;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (g >= r.held) break;
      const T power = exp_of<value>(x[g] - top);
      sum += power;
      if (softmax) x[g] = power;
    }
    sum = combine_lanes<op::sum_op>(sum, deep);
    const T logarithm = math::log(sum) + top, inverse = 1 / sum;
    if constexpr (per_row) {
      if (depth == 0 && left > 0) target(place_access{first + row}, logarithm);
    } else {
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if (g >= r.held) break;
        if (g * deep < left) mine[g * deep] = element_cast<value>(softmax ? x[g] * inverse : x[g] - logarithm);
      }
    }
  }
  if constexpr (!per_row) {
    __syncthreads();
#pragma unroll
    for (int u = 0; u < stage_steps; ++u) {
      const int at = (t + u * block_threads) * V;
      value* const to = target.p + from + at;
      if (at + V <= elements) {
        store_wide(to, load_shared<V>(staged + at));
      } else {
        for (int k = 0; at + k < elements; ++k) to[k] = staged[at + k];
      }
    }
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
