// Reductions along short rows that fill memory: a block reads many of them as they lie, and adds them up on chip.
// SPDX-License-Identifier: MIT
#pragma once

#include "cover.cuh"
#include "totals.cuh"

namespace cudarray::inline v0::backend::gpu {

/// How rows of `length` are spread: `own` of them to a block, 2^deep_log2 threads to a row. In shared memory rows of
/// whole places (V lanes each) have one place left out after every 8, against bank conflicts.
template <int Operands>
struct short_rows {
  int length = 1, own = 1, deep_log2 = 0;
  bool whole = false;  ///< rows are whole places
  int stride = 0;      ///< places in shared memory from a thread's first to its next
  int lead = 0;        ///< so many elements the first row is off alignment
  int result_step = 1;
  int64 rows = 1, blocks = 1;
  thread_space<Operands> places;

  /// False where memory is not like that, or other kernels do better. A block takes U places a thread.
  CUDARRAY_NO_INLINE bool cover(const detail::iteration_space<Operands>& s, const operand_info* of, int V, int U,
                                int multiprocessors) {
    if (s.ndim != 2 || s.kept != 1 || s.extent[0] == 0 || magnitude(s.stride[0][0]) >> 31 != 0) return false;
    const int64 n = s.extent[1];
    const int leader = equally_aligned(s, of, 1, V);
    if (n < 2 || leader == 0 || !readable_around(s, of)) return false;
    for (int k = 1; k < Operands; ++k) {
      if (s.stride[k][1] != 1 || s.stride[k][0] != n) return false;
      places.lane_step[k] = 1;
    }
    lead = off_alignment(of[leader], V);
    whole = n % V == 0 && lead == 0;
    // with fewer rows than that in a block other kernels are faster, as measured
    const int64 most = int64(block_threads * U - !whole) * V;
    if (n * (whole ? 12 : 8) > most) return false;
    length = int(n);
    rows = s.extent[0];
    own = int(most / n);
    // where there are few rows, more blocks have fewer each
    if (const int64 shared = ceil_div(rows, 2 * multiprocessors); shared < own) own = shared > 8 ? int(shared) : 8;
    while (deep_log2 < exponent(warp) && own << (deep_log2 + 1) <= block_threads) ++deep_log2;
    stride = whole ? block_threads + block_threads / 8 : block_threads;
    result_step = int(s.stride[0][0]);
    blocks = ceil_div(rows, own);
    return blocks >> 31 == 0;
  }

 private:
  static constexpr int exponent(int power) { return __builtin_ctz(unsigned(power)); }
};

#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// Calls `f(p)` for p from `p` on to `end`, so many apart: without the division that an unrolled loop begins with.
template <int Unroll, class F>
__device__ void each_apart(int p, int end, int apart, const F& f) {
  for (; p + (Unroll - 1) * apart < end; p += Unroll * apart)
#pragma unroll
    for (int u = 0; u < Unroll; ++u) f(p + u * apart);
#pragma unroll 1
  for (; p < end; p += apart) f(p);
}

/// Loads are wide, and as many under way as in a map; what is computed of them waits in shared memory for the threads
/// of its row.
template <int V, int U, int Operands, class Op, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    short_rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                      const __grid_constant__ short_rows<Operands> r) {
  in_stream_order();
  using value = typename Tree::value_type;
  using types = device_types<Op, value, true>;
  using block = typename types::block;
  using total = typename types::total;
  extern __shared__ __align__(16) char raw[];
  value* const staged = reinterpret_cast<value*>(raw);
  const int t = int(threadIdx.x);
  const int64 first = int64(blockIdx.x) * r.own, from = first * r.length;
  const int rows = r.rows - first < r.own ? int(r.rows - first) : r.own;
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
  const int deep = 1 << r.deep_log2, lane = t & (deep - 1);
  const int64 result = first * r.result_step;
  for (int group = 0; group < r.own; group += block_threads >> r.deep_log2) {
    const int row = group + (t >> r.deep_log2);
    block part = Op::template identity<block>();
    const auto add = [&part](value one, int position) {
      add_value<Op>(part, element_cast<detail::compute_t<value>>(one), position);
    };
    const int begin = before + row * r.length;
    if (row < rows && r.whole) {
      const int first_place = int(unsigned(begin) / V);
      each_apart<2>(lane, int(unsigned(r.length) / V), deep, [&](int i) {
        const int p = first_place + i;
        const auto v = load_shared<V>(staged + (p + int(unsigned(p) / 8)) * V);
#pragma unroll
        for (int k = 0; k < V; ++k) add(v.v[k], i * V + k);
      });
    } else if (row < rows) {
      each_apart<4>(lane, r.length, deep, [&](int i) { add(staged[begin + i], i); });
    }
    total sum = Op::template widen<total>(part);
    for (int half = deep / 2; half > 0; half /= 2) sum = Op::combine(sum, shuffle_down(sum, half));
    if (lane == 0 && row < rows)
      target(place_access{result + int64(row) * r.result_step},
             Op::template finish<typename types::result>(sum, r.length));
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu
