// Kernels of maps without tiles: aligned rows, any layout, generated numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "lanes.cuh"
#include "launch.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Neighbouring lanes, of which those that are computed together are whole groups.
template <int V, int Operands, class... Trees>
struct row_access : basic_access<true, V, Operands, Trees...> {
  template <int Ix, class G>
  __device__ auto generate(const G& g) const {
    if constexpr (requires { requires V % G::group == 0; }) {
      lanes<typename G::value_type, V> r;
      const int64 first = int64(uint64(this->offset[Ix]) / G::group);  // never negative: a shift
#pragma unroll
      for (int k = 0; k < V / G::group; ++k) g.fill(first + k, r.v + k * G::group);
      return r;
    } else {
      return basic_access<true, V, Operands, Trees...>::template generate<Ix>(g);
    }
  }
};

/// How many numbers of a tree's leaves are computed together, at most.
template <class Tree>
inline constexpr int computed_together = 1;
template <int Ix, class G>
requires requires { G::group; }
inline constexpr int computed_together<detail::generated<Ix, G>> = G::group;
template <class Op, class Types, class... K>
inline constexpr int computed_together<detail::apply<Op, Types, K...>> = [] {
  int most = 1;
  ((most = computed_together<K> > most ? computed_together<K> : most), ...);
  return most;
}();

/// Whether rows are read or written where an index says.
template <class Target, class Tree>
inline constexpr bool picks_rows = !Target::direct || detail::has_gathered<Tree>;

/// Rows of neighbouring lanes with wide accesses: `per_row` blocks on each row of the last axis, or, where rows are
/// short, blocks on all threads (a group of which takes `per_row` even rows); U groups of threads in a block one after
/// another, no lane outside.
template <int V, int U, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    row_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
               const __grid_constant__ thread_space<Operands> s, const divider per_row) {
  in_stream_order();
  constexpr bool taken = picks_rows<Target, Tree>;  // as wholes
  constexpr reach how = taken ? reach::taken : reach::whole;
  row_access<V, Operands, Tree, Target> a[U];
  const int x = s.ndim - 1;
  int64 block = blockIdx.x;
  a[0].start(s);
  if (__builtin_expect(x > 0 && !s.short_rows, 0)) {  // small arrays are flat, and notice every jump
    const int64 row = per_row.divide(block);
    block -= row * per_row.divisor;
    go_to(s, row, 0, x, a[0].offset);
  }
  const int64 t = block * (U * block_threads) + threadIdx.x;
  if (taken && s.even_rows) go_to(s, t, 0, 2, a[0].offset);
#pragma unroll
  for (int u = U - 1; u >= 0; --u) {
    if (u > 0) a[u] = a[0];
    const int64 at = t + u * block_threads;
    if (at >= (s.short_rows ? s.threads : s.last)) continue;
    a[u].inside = V;
    if (taken && s.even_rows) {
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[u].offset[k] += u * per_row.divisor * s.step[k][0];
    } else if (__builtin_expect(s.short_rows, 0)) {
      go_to(s, at, a[u].offset);
    } else {
      // along a row an operand moves by ones or stands still
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (s.lane_step[k] != 0) a[u].offset[k] += at * V;
    }
    a[u].template fetch<how>(tree, target);
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) a[u].template fetch<how, true>(tree, target);
  using value = typename Target::value_type;
  if constexpr (registers<1, Tree>::count == 0) {
    lanes<value, V> v[U];  // of threads outside, too: without jumps in between all share what is constant
#pragma unroll
    for (int u = 0; u < U; ++u) v[u] = lane_cast<value>(tree(a[u]));
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (a[u].inside > 0) put(a[u], target, v[u]);
  } else {
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (a[u].inside > 0) put(a[u], target, lane_cast<value>(tree(a[u])));
  }
}

/// Every place of a space, V lanes in a thread, U groups of threads in a block one after another.
template <int V, int U, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    map_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
               const __grid_constant__ thread_space<Operands> s) {
  in_stream_order();
  lane_access<V, Operands, Tree, Target> a[U];
  const int64 t = int64(blockIdx.x) * (U * block_threads) + threadIdx.x;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    a[u].start(s);
    if (t + u * block_threads >= s.threads) continue;
    a[u].inside = lanes_inside<V>(s, go_to(s, t + u * block_threads, a[u].offset));
    if (a[u].inside > 0) a[u].template fetch<reach::strided>(tree, target);
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) a[u].template fetch<reach::strided, true>(tree, target);
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) put(a[u], target, lane_cast<typename Target::value_type>(tree(a[u])));
}

/// Trees that are generated numbers as they are, of which 16 bytes are made together.
template <class Target, class Tree>
inline constexpr bool fills = false;
template <class T, int Ix, class G>
requires requires { G::group; }
inline constexpr bool fills<detail::store_to<T>, detail::generated<Ix, G>> =
    ::std::is_same_v<T, typename G::value_type> && G::group * sizeof(T) == 16;

/// Generated numbers into n neighbouring elements, aligned: U groups of threads in a block one after another.
template <int U, class G>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(typename G::value_type* to, const __grid_constant__ G numbers, const int64 n) {
  in_stream_order();
  constexpr int V = G::group;
  const int64 first = int64(blockIdx.x) * (U * block_threads) + threadIdx.x;
  lanes<typename G::value_type, V> v[U];
#pragma unroll
  for (int u = 0; u < U; ++u) numbers.fill(first + u * block_threads, v[u].v);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const int64 at = (first + u * block_threads) * V;
    if (at + V <= n) store_wide(to + at, v[u]);
    else
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (at + k < n) to[at + k] = v[u].v[k];
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
