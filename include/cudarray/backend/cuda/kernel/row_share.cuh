// Long rows of the softmax family, held by a block or a cluster of blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/operands.hpp"
#include "row_values.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// How the blocks of a cluster hold a row.
struct row_share {
  int32 places;  ///< of a row
  int32 part;    ///< groups of V of these in a block
  int lead;      ///< elements the first row is off alignment
};
inline constexpr int share_threads = 512;  ///< of a block of a cluster, at most
inline constexpr int most_parts = 8;       ///< blocks of a cluster
/// Chooses the grid for row_share_kernel, and the threads of its blocks; false where it does not fit, or should not.
/// `groups` of V elements lie in a row, which is held or (`once`) not.
CUDARRAY_NO_INLINE inline bool share_rows(int64 rows, int64 groups, bool once, int cluster, int multiprocessors,
                                          dim3& grid, int& threads) {
  constexpr int64 least = 1024;  // groups of a block, where there are too few rows
  threads = power_of_two_above(ceil_div(groups, row_groups), block_threads);
  int64 parts = 1;
  if (!once) {
    if (groups > int64(cluster) * block_threads * row_groups) threads = share_threads;
    while (parts * threads * row_groups < groups) parts *= 2;
  }
  while (parts < cluster && rows * parts < 2 * multiprocessors && groups > 2 * parts * least) parts *= 2;
  grid = dim3(unsigned(rows), unsigned(parts));
  return threads >= 64 && parts <= cluster && (groups < 2 * least || rows * cluster >= multiprocessors);
}
/// How many blocks a multiprocessor must have room for; more operands, or wider numbers than are loaded, would spill.
template <int V, class Tree>
inline constexpr int share_blocks = registers<1, Tree>::count == 1 && V * sizeof(typename Tree::value_type) <= 16 ? 2
                                                                                                                  : 1;
/// Rows whose loads are wide where they are aligned; their ends go one by one. A row is held by a block or by those of
/// a cluster; for logsumexp, which does not need it again, a block goes over as much as it is given.
template <detail::row_function F, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(share_threads, share_blocks<V, Tree>)
    row_share_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                     const __grid_constant__ thread_space<Operands> s, const __grid_constant__ row_share r) {
  in_stream_order();
  using value = typename Tree::value_type;
  using T = detail::compute_t<value>;
  constexpr bool softmax = F == detail::row_function::softmax, per_row = F == detail::row_function::logsumexp;
  constexpr int leader = registers<V, Tree>::first, groups = per_row ? row_groups / 2 : row_groups;
  __shared__ row_part<T> of_warps[most_parts * share_threads / warp];
  const int deep = int(blockDim.x), t = int(threadIdx.x), parts = int(gridDim.y);
  if (parts > 1) cluster_begin();
  lane_access<1, Operands, Tree> edge;
  edge.start(s);
  go_to(s, blockIdx.x, 0, s.kept, edge.offset);
  basic_access<true, V, Operands, Tree> base;
  base.start(s);
  base.inside = V;
  const int before = -(r.lead + int(edge.offset[leader])) & (V - 1), middle = (r.places - before) / V;
  const int first = int(blockIdx.y) * r.part, behind = t < before ? t : t + middle * V;
  int left = middle - first < r.part ? middle - first : r.part;  // groups of V, from this block's first
#pragma unroll
  for (int k = 0; k < Operands; ++k) {
    base.offset[k] = edge.offset[k] + (before + (first + t) * V) * s.step[k][s.ndim - 1];
    edge.offset[k] += behind * s.step[k][s.ndim - 1];
  }
  edge.inside = blockIdx.y == 0 && behind < r.places;
  if (edge.inside > 0) edge.template fetch<reach::wide>(tree);
  held_row<F, true, row_groups, V, value> x;
  row_part<T> mine{detail::bounds<T>::lowest, 0};
  T from;
  do {
    basic_access<true, V, Operands, Tree> a[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      a[g] = base;
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[g].offset[k] += int64(g * deep * V) * s.step[k][s.ndim - 1];
      if (t + g * deep < left) a[g].template fetch<reach::wide>(tree);
    }
    T top = mine.largest;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      x.hold(g, tree(a[g]));
      const auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) top = larger::combine(top, v.v[k]);
    }
    from = finite_or_zero(top);
    mine = {top, mine.sum * exp_of<value>(mine.largest - from)};
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      auto v = x[g];
      T sum = 0;
#pragma unroll
      for (int k = 0; k < V; ++k) sum += v.v[k] = exp_of<value>(v.v[k] - from);
      mine.sum += sum;
      x.keep(g, v);
    }
    if constexpr (per_row) {
      left -= groups * deep;
#pragma unroll
      for (int k = 0; k < Operands; ++k) base.offset[k] += int64(groups * deep * V) * s.step[k][s.ndim - 1];
    }
  } while (per_row && left > 0);
  const T held = mine.largest;
  T end = detail::bounds<T>::lowest;
  if (edge.inside > 0) {
    end = element_cast<T>(tree(edge).v[0]);
    mine = join(mine, {end, math::exp(end - finite_or_zero(end))});
  }
  mine = combine_parts(mine, warp, static_cast<T*>(nullptr));
  const int lane = t % warp, warps = deep / warp;
  row_part<T>* const place = of_warps + int(blockIdx.y) * warps + t / warp;
  if (parts > 1) {
    cluster_begun();
    if (lane < parts) store_in_block(place, lane, mine);
    cluster_barrier();
  } else {
    if (lane == 0) *place = mine;
    __syncthreads();
  }
  row_part<T> whole{detail::bounds<T>::lowest, 0};
  for (int i = lane; i < parts * warps; i += warp) whole = join(whole, of_warps[i]);
  whole = combine_parts(whole, warp, static_cast<T*>(nullptr));
  if constexpr (per_row) {
    if (t == 0 && blockIdx.y == 0) target(place_access{base.offset[0]}, logarithm_of(whole));
  } else {
    const T logarithm = logarithm_of(whole), inverse = inverse_of(whole), zero = finite_or_zero(whole.largest),
            factor = inverse * math::exp(held - zero);
    if (edge.inside > 0)
      target(place_access{edge.offset[0]},
             element_cast<value>(softmax ? math::exp(end - zero) * inverse : end - logarithm));
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) v.v[k] = softmax ? x.power(v.v[k], from) * factor : v.v[k] - logarithm;
      auto at = base;
      at.offset[0] += g * deep * V;
      put(at, target, lane_cast<value>(v));
    }
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
