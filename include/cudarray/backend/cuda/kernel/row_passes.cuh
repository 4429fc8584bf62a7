// Rows of the softmax family that registers do not hold: read twice.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/operands.hpp"
#include "row_values.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

inline constexpr int row_threads = 1024;  ///< of a block on a long row
/// How blocks share rows that registers do not hold.
struct row_cover {
  enum phase { both, first, second };  ///< first: what parts of rows add up to; second: the results that come of it
  int parts;                           ///< blocks of a row: a cluster, or in two phases
  int32 part;                          ///< places of a part
  int64 places;
  int threads;  ///< of a block
};
/// Chooses it. Blocks of a cluster share rows where these are few, more blocks in two kernels where they are very few:
/// what a block does once takes its time, and one block to a row is best where there are enough.
CUDARRAY_NO_INLINE inline row_cover cover_rows(int64 rows, int64 places, bool twice, int cluster, int multiprocessors) {
  constexpr int64 least = 4096, long_row = 16384;  // places of a part; of a row that is long
  row_cover r;
  r.places = places;
  int64 parts = ceil_div(2 * multiprocessors, rows);
  if (parts > cluster && rows * cluster >= multiprocessors) parts = cluster;
  if (parts > ceil_div(places, least)) parts = ceil_div(places, least);
  if (parts > block_threads) parts = block_threads;
  r.parts = int(parts);
  r.part = int32(ceil_div(places, parts));
  // few rows at a time, so that the second pass finds them in the cache
  r.threads = parts == 1 && twice && places > long_row ? row_threads : block_threads;
  return r;
}

/// Two passes over a row or a part of it: the first keeps the largest so far and the sum relative to it (Milakov and
/// Gimelshein 2018). Lane k of a thread is a block's width from lane k - 1: a warp's accesses lie together whatever the
/// alignment.
template <detail::row_function F, int V, int Operands, class Target, class Tree, class T>
__global__ void __launch_bounds__(row_threads)
    row_passes_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                      const __grid_constant__ thread_space<Operands> s, const __grid_constant__ row_cover r,
                      const row_cover::phase phase, row_part<T>* found) {
  in_stream_order();
  using access = lane_access<V, Operands, Tree>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  __shared__ T shared[row_threads / warp];
  const int deep = int(blockDim.x), t = int(threadIdx.x);
  const int64 row = blockIdx.x, begin = int64(blockIdx.y) * r.part;
  const int32 n = int32(r.places - begin < r.part ? r.places - begin : r.part);
  access base;
  base.start(s);
  int64 step[Operands];
  go_to(s, row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) {
    step[k] = s.step[k][s.ndim - 1];
    base.offset[k] += begin * step[k];
  }
  // `use(a)` for U times V places, `deep` apart; lanes may be outside
  constexpr int U = 4;
  const auto each = [&](const auto& use) {
    for (int32 at = t; at - t < n; at += U * V * deep) {
      access a[U];
      const auto fetch = [&]<bool All>(::std::bool_constant<All>) {
#pragma unroll
        for (int u = 0; u < U; ++u) {
          a[u] = base;
          a[u].inside = All ? V : 0;
#pragma unroll
          for (int k = 0; k < V; ++k)
            if (!All) a[u].inside += at + (u * V + k) * deep < n;
#pragma unroll
          for (int k = 0; k < Operands; ++k) a[u].offset[k] += (at + u * V * deep) * step[k];
          if (All || a[u].inside > 0) a[u].template fetch<reach::strided>(tree);
        }
        use(a);
      };
      if (at - t <= n - U * V * deep) fetch(::std::true_type());
      else fetch(::std::false_type());
    }
  };
  T largest = detail::bounds<T>::lowest, sum = 0;
  if (phase != row_cover::second) {
    each([&](const access(&a)[U]) {
      lanes<T, V> v[U];
      T top = largest;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (a[u].inside == 0) continue;
        v[u] = lane_cast<T>(tree(a[u]));
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < a[u].inside) top = larger::combine(top, v[u].v[k]);
      }
      const T from = finite_or_zero(top);
      sum *= math::exp(largest - from);
      largest = top;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        T part = 0;
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < a[u].inside) part += exp_of<typename Tree::value_type>(v[u].v[k] - from);
        sum += part;
      }
    });
  }
  row_part<T> whole{largest, sum};
  if (phase != row_cover::second) whole = combine_parts(whole, deep, shared);
  if (r.parts > 1) {
    if (phase != row_cover::second && t == 0) found[row * r.parts + blockIdx.y] = whole;
    if (phase == row_cover::first) return;
    if (phase == row_cover::both) cluster_barrier();
    whole =
        combine_parts(t < r.parts ? found[row * r.parts + t] : row_part<T>{detail::bounds<T>::lowest, 0}, deep, shared);
  }
  const T logarithm = logarithm_of(whole), inverse = inverse_of(whole), top = whole.largest;
  if constexpr (per_row) {
    if (t == 0 && blockIdx.y == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
    each([&](const access(&a)[U]) {
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (a[u].inside == 0) continue;
        auto v = lane_cast<T>(tree(a[u]));
#pragma unroll
        for (int k = 0; k < V; ++k)
          v.v[k] = F == detail::row_function::softmax ? exp_of<typename Tree::value_type>(v.v[k] - top) * inverse
                                                      : v.v[k] - logarithm;
        put(a[u], target, lane_cast<typename Target::value_type>(v));
      }
    });
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
