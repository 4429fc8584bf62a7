// Reductions along short rows that fill memory: a block reads many of them as they lie, and adds them up on chip.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/short_rows.hpp"
#include "accumulator.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// Calls `f(p)` for p from `p` on to `end`, `stride` apart: without the division that an unrolled loop begins with.
template <int Unroll, class F>
__device__ void strided_loop(int p, int end, int stride, const F& f) {
  for (; p + (Unroll - 1) * stride < end; p += Unroll * stride)
#pragma unroll
    for (int u = 0; u < Unroll; ++u) f(p + u * stride);
#pragma unroll 1
  for (; p < end; p += stride) f(p);
}

/// Loads are wide, and as many under way as in a map; what is computed of them waits in shared memory for the threads
/// of its row.
template <int V, int U, int Operands, class Op, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    short_rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                      const __grid_constant__ short_rows_plan<Operands> r) {
  in_stream_order();
  using value = typename Tree::value_type;
  using types = device_types<Op, value, true>;
  using block = typename types::block;
  using total = typename types::total;
  extern __shared__ __align__(16) char raw[];
  value* const staged = reinterpret_cast<value*>(raw);
  const int t = int(threadIdx.x);
  const int64 first = int64(blockIdx.x) * r.block_rows, from = first * r.length;
  const int rows = r.rows - first < r.block_rows ? int(r.rows - first) : r.block_rows;
  const int before = int(from + r.lead) & (V - 1), places = int(unsigned(before + rows * r.length + V - 1) / V);
  basic_access<true, V, Operands, Tree> a[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    a[u].start(r.places);
    a[u].inside = V;
#pragma unroll
    for (int k = 1; k < Operands; ++k) a[u].offset[k] = from - before + (t + u * block_threads) * V;
    if (t + u * block_threads < places) a[u].template fetch<reach::wide>(tree);
  }
  value* const to = staged + (r.whole ? t + t / 8 : t) * V;
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (t + u * block_threads < places) store_wide(to + u * r.stride * V, tree(a[u]));
  __syncthreads();
  const int threads = 1 << r.row_threads_log2, lane = t & (threads - 1);
  const int64 result = first * r.result_step;
  for (int group = 0; group < r.block_rows; group += block_threads >> r.row_threads_log2) {
    const int row = group + (t >> r.row_threads_log2);
    block part = Op::template identity<block>();
    const auto add = [&part](value one, int position) {
      add_value<Op>(part, element_cast<detail::compute_t<value>>(one), position);
    };
    const int begin = before + row * r.length;
    if (row < rows && r.whole) {
      const int first_place = int(unsigned(begin) / V);
      strided_loop<2>(lane, int(unsigned(r.length) / V), threads, [&](int i) {
        const int p = first_place + i;
        const auto v = load_shared<V>(staged + (p + int(unsigned(p) / 8)) * V);
#pragma unroll
        for (int k = 0; k < V; ++k) add(v.v[k], i * V + k);
      });
    } else if (row < rows) {
      strided_loop<4>(lane, r.length, threads, [&](int i) { add(staged[begin + i], i); });
    }
    total sum = Op::template widen<total>(part);
    for (int half = threads / 2; half > 0; half /= 2) sum = Op::combine(sum, shuffle_down(sum, half));
    if (lane == 0 && row < rows)
      target(place_access{result + int64(row) * r.result_step},
             Op::template finish<typename types::result>(sum, r.length));
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
