// Softmax and its kin on CUDA: a row is read once and held in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/rows.hpp"
#include "reduce.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

inline constexpr int row_groups = 8;  ///< groups of lanes that a thread holds of a row, at most

/// Combines the `deep` threads of a row; each gets the result. `deep` is a power of two.
template <class Op, class T>
__device__ T combine_row(T v, int deep, T* shared) {
  for (int half = (deep < warp ? deep : warp) / 2; half > 0; half /= 2)
    v = Op::combine(v, T(__shfl_xor_sync(~0u, v, half)));
  if (deep <= warp) return v;
  const int t = int(threadIdx.x), first = t / deep * deep / warp;
  __syncthreads();  // shared memory may still be read
  if (t % warp == 0) shared[t / warp] = v;
  __syncthreads();
  v = shared[first];
  for (int w = 1; w < deep / warp; ++w) v = Op::combine(v, shared[first + w]);
  return v;
}

/// `deep` threads on a row of at most deep * V * row_groups elements; loads are wide.
template <detail::row_function F, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ thread_space<Operands> s, const int deep, const int64 rows) {
  using T = detail::compute_t<typename Tree::value_type>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  __shared__ T shared[block_threads / warp];
  const int depth = int(threadIdx.x) % deep;
  const int64 row = int64(blockIdx.x) * (block_threads / deep) + int(threadIdx.x) / deep;
  const int64 places = s.extent[s.ndim - 1].divisor;
  lane_access<V, Operands, Tree> base;
  base.start(s);
  if (row < rows) s.move(row, 0, s.kept, base.offset);
  lanes<T, V> x[row_groups];
  T largest = detail::bounds<T>::lowest;
  {
    lane_access<V, Operands, Tree> a[row_groups];
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      a[g] = base;
      const int at = depth + g * deep;
      if (at >= places || row >= rows) continue;
      a[g].inside = V;
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (s.lane_step[k] != 0) a[g].offset[k] += at * V;
      a[g].template fetch<reach::wide>(tree);
    }
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      if (a[g].inside == 0) continue;
      x[g] = lane_cast<T>(tree(a[g]));
#pragma unroll
      for (int k = 0; k < V; ++k) largest = op::max_op::combine(largest, x[g].v[k]);
    }
  }
  largest = combine_row<op::max_op>(largest, deep, shared);
  // where all is -inf, or +inf is there, logsumexp is what it is; softmax has no value
  const bool infinite = largest == detail::bounds<T>::highest || largest == detail::bounds<T>::lowest;
  const T top = per_row && infinite ? T(0) : largest;
  T sum = 0;
#pragma unroll
  for (int g = 0; g < row_groups; ++g) {
    if (depth + g * deep >= places) continue;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      const T e = math::exp(x[g].v[k] - top);
      if (F == detail::row_function::softmax) x[g].v[k] = e;
      sum += e;
    }
  }
  sum = combine_row<op::sum_op>(sum, deep, shared);
  if (row >= rows) return;
  const T logarithm = math::log(sum) + top;
  if constexpr (per_row) {
    if (depth == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      const int at = depth + g * deep;
      if (at >= places) continue;
      base.offset[0] += (g == 0 ? depth : deep) * V;
      base.inside = V;
#pragma unroll
      for (int k = 0; k < V; ++k)
        x[g].v[k] = F == detail::row_function::softmax ? x[g].v[k] / sum : x[g].v[k] - logarithm;
      put(base, target, lane_cast<typename Target::value_type>(x[g]));
    }
  }
}

#pragma GCC visibility pop
}  // namespace gpu

/// Rows that lie contiguous and aligned, up to 8192 elements of float32.
template <class Build, detail::row_function F, class Make, class Tree, int Operands>
bool run_rows(cuda device, const Make& make, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using loaded = gpu::registers<1, Tree>;
  using target = decltype(make());
  constexpr int V = gpu::lanes_for<Tree::widest, loaded::widest>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  const int x = s.ndim - 1;
  if (s.ndim != s.kept + 1 || loaded::count == 0 || s.size(0, s.ndim) == 0 ||
      s.extent[x] > gpu::block_threads * V * gpu::row_groups)
    return false;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  if (!per_row) leaves.of[0] = {reinterpret_cast<const void*>(256), int(sizeof(typename target::value_type))};  // new
  uint64 wide = 0;
  if (!gpu::wide_operands(s, leaves.of, x, V, wide) || __builtin_popcountll(wide) != loaded::count + !per_row)
    return false;
  gpu::thread_space<Operands> t;
  t.divide(s, V, x, true);
  if (!t.whole) return false;
  t.wide = wide;
  const int64 rows = s.size(0, s.kept);
  int deep = gpu::power_of_two_above(gpu::ceil_div(t.extent[x].divisor, gpu::row_groups), gpu::block_threads);
  while (deep < gpu::warp && deep * 4 < t.extent[x].divisor) deep *= 2;  // whole lines of memory, where rows have them
  const target to = make();
  gpu::launch(device.ordinal, s.store, Operands, gpu::rows_kernel<F, V, Operands, target, Tree>,
              dim3(unsigned(gpu::ceil_div(rows, gpu::block_threads / deep))), gpu::block_threads, 0, to, tree, t, deep,
              rows);
  return true;
}

}  // namespace cudarray::inline v0::backend
