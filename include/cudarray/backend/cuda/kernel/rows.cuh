// Rows of the softmax family that a block of threads holds in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "row_passes.cuh"
#include "row_share.cuh"
#include "row_stage.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// `deep` threads on a row of at most deep * V * block_groups elements, `used` groups of lanes in each. `Wide`: so are
/// loads; otherwise a thread's elements are `deep` apart, so that a warp's accesses lie together whatever the
/// alignment.
template <detail::row_function F, bool Wide, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ thread_space<Operands> s, const int deep, const int used, const int64 rows) {
  in_stream_order();
  using value = typename Tree::value_type;
  using T = detail::compute_t<value>;
  constexpr bool softmax = F == detail::row_function::softmax, per_row = F == detail::row_function::logsumexp;
  constexpr reach how = Wide ? reach::wide : reach::masked;
  constexpr int groups = block_groups<T>;
  // where all threads go the same way, exponentials of doubles do not wait for each other; others are ahead of memory
  constexpr bool together = sizeof(T) > 4;
  __shared__ T shared[block_threads / warp];
  const int shift = exponent_of(deep), depth = int(threadIdx.x) & (deep - 1), x_axis = s.ndim - 1;
  const int64 row = (int64(blockIdx.x) * block_threads + int(threadIdx.x)) >> shift;
  // elements of this thread
  int mine = row < rows ? (int(s.extent[x_axis].divisor) - depth + deep - 1) >> shift : 0;
  if (Wide) mine *= V;
  const auto behind = [=](int g) { return together ? g >= used : g * V >= mine; };
  const auto inside = [mine](int g) {
    const int left = mine - g * V;
    return (Wide && !together) || left >= V ? V : Wide || left < 0 ? 0 : left;
  };
  basic_access<true, V, Operands, Tree> base;
  base.start(s);
  if (row < rows) go_to(s, row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) base.offset[k] += s.step[k][x_axis] * (Wide ? depth * V : depth);
  held_row<F, Wide, groups, V, value> x;
  T largest = detail::bounds<T>::lowest;
  {
    basic_access<true, V, Operands, Tree> a[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      a[g] = base;
      a[g].inside = inside(g);
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[g].offset[k] += s.step[k][x_axis] * (g * deep * V);
      if (!together || a[g].inside > 0) a[g].template fetch<how>(tree);
    }
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      x.hold(g, tree(a[g]), a[g].inside);
      const auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) largest = larger::combine(largest, v.v[k]);
    }
  }
  largest = combine_row<larger>(largest, deep, shared);
  // where all is -inf, or +inf is there, that is logsumexp; softmax has no value
  const bool infinite = largest == detail::bounds<T>::highest || largest == detail::bounds<T>::lowest;
  const T top = !softmax && infinite ? T(0) : largest;
  T sum = 0;
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    if (behind(g)) break;
    auto v = x[g];
#pragma unroll
    for (int k = 0; k < V; ++k) sum += v.v[k] = exp_of<value>(v.v[k] - top);
    x.keep(g, v);
  }
  sum = combine_row<op::sum_op>(sum, deep, shared);
  if (row >= rows) return;
  const T logarithm = math::log(sum) + top, inverse = 1 / sum;
  if constexpr (per_row) {
    if (depth == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      base.offset[0] += g == 0 ? 0 : deep * V;
      base.inside = inside(g);
      auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) v.v[k] = softmax ? x.power(v.v[k], top) * inverse : v.v[k] - logarithm;
      if (!together || base.inside > 0) put(base, target, lane_cast<value>(v));
    }
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
