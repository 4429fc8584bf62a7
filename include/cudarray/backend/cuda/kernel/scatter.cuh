// Combining at picked places on CUDA: runs of equal sorted indices in order; integers are added by atomics.
// SPDX-License-Identifier: MIT
#pragma once

#include "sorting.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// The place an index means; `limit`, behind all others, for one that is wrong.
struct resolved_index {
  const int64* index;
  detail::index_check check;
  __device__ uint32 operator()(int64 i) const {
    int64 k = index[i];
    return detail::resolve_index(k, check.limit, check.fault, i) ? uint32(k) : uint32(check.limit);
  }
};

/// Whether atomics add up numbers of type T: to the same in any order.
template <class T>
inline constexpr bool adds_in_any_order = detail::is_integer<T> && sizeof(T) >= 4;

/// Few places, which a block adds up for itself first.
inline constexpr int most_bins = 4096;

/// Adds each of `count` elements, rows of `width` in groups of m, to the row of n that its index picks. A block takes
/// `share` of them; where `bins` is not 0, there are so many places to add to.
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_each_kernel(T* to, const T* values, const __grid_constant__ resolved_index pick, const int64 count,
                    const int64 n, const divider m, const divider width, const int64 share, const int bins) {
  in_stream_order();
  using word = ::std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  constexpr int U = 4;
  extern __shared__ __align__(16) char shared[];
  word *const all = reinterpret_cast<word*>(to), *const own = reinterpret_cast<word*>(shared);
  for (int b = int(threadIdx.x); b < bins; b += block_threads) own[b] = 0;
  if (bins > 0) __syncthreads();
  const int64 begin = int64(blockIdx.x) * share, end = begin + share < count ? begin + share : count;
  for (int64 first = begin + threadIdx.x; first < end; first += U * block_threads) {
    word v[U];
    int64 at[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int64 i = first + u * block_threads;
      at[u] = -1;
      if (i >= end) continue;
      const int64 row = width.divide(i), outer = m.divide(row), place = pick(row - outer * m.divisor);
      v[u] = word(values[i]);
      if (place < n) at[u] = (outer * n + place) * width.divisor + (i - row * width.divisor);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (at[u] < 0) continue;
      if (bins > 0) atomicAdd(own + at[u], v[u]);
      else atomicAdd(all + at[u], v[u]);
    }
  }
  if (bins > 0) __syncthreads();
  for (int b = int(threadIdx.x); b < bins; b += block_threads)
    if (own[b] != 0) atomicAdd(all + b, own[b]);
}

/// Teams of `team` threads, V neighbouring elements of `inner` each, take `run_length` sorted indices.
struct combine_plan {
  const uint32 *place, *from;  ///< sorted places, and which row of the values belongs there
  int64 m, n, inner, chunks;
  int team;
  int64 per_strip, strips;  ///< blocks on a strip of `inner`, and strips

  /// Which chunk, which group of elements of `inner`, and which of the outer places a thread has.
  __device__ void where(int64& chunk, int64& group, int64& outer) const {
    const int64 strip = int64(blockIdx.x) / per_strip;
    chunk = int64(blockIdx.x) % per_strip * (block_threads / team) + int(threadIdx.x) / team;
    group = strip % strips * team + int(threadIdx.x) % team;
    outer = strip / strips;
  }
};
inline constexpr int run_length = 32;

/// Combines each run of equal places. A run that lies in one chunk is combined with the target; parts of those that do
/// not are left: of one that comes from before at [chunk][0], of one that begins here and goes on at [chunk][1].
template <class Op, int V, class T>
__global__ void __launch_bounds__(block_threads)
    combine_runs_kernel(T* to, const T* values, lanes<detail::compute_t<T>, V>* edges, const combine_plan p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  constexpr int U = 4;
  const int64 groups = p.inner / V;
  int64 c, group, outer;
  p.where(c, group, outer);
  if (c >= p.chunks || group >= groups) return;
  const int64 begin = c * run_length, end = begin + run_length < p.m ? begin + run_length : p.m;
  to += outer * p.n * p.inner + group * V;
  values += outer * p.m * p.inner + group * V;
  edges += outer * (2 * p.chunks * groups) + group;
  const uint32 before = begin > 0 ? p.place[begin - 1] : ~0u, after = end < p.m ? p.place[end] : ~0u;
  lanes<C, V> sum;
#pragma unroll
  for (int k = 0; k < V; ++k) sum.v[k] = Op::template identity<C>();
  bool from_before = begin > 0 && before == p.place[begin];
  for (int64 i = begin; i < end; i += U) {
    uint32 place[U + 1];
    lanes<T, V> v[U], old[U];
    bool last[U];  // of its run, so far as this chunk knows
#pragma unroll
    for (int u = 0; u <= U; ++u) place[u] = i + u < end ? p.place[i + u] : after;
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const bool inside = i + u < end;
      last[u] = inside && (i + u + 1 == p.m || place[u] != place[u + 1]);
      if (!inside || place[u] >= p.n) continue;
      v[u] = load_wide<V>(values + int64(p.from[i + u]) * p.inner);
      if (last[u]) old[u] = load_wide<V>(to + int64(place[u]) * p.inner);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (i + u >= end || place[u] >= p.n) continue;
#pragma unroll
      for (int k = 0; k < V; ++k) sum.v[k] = Op::combine(sum.v[k], element_cast<C>(v[u].v[k]));
      const bool ends = last[u], goes_on = !ends && i + u + 1 == end;
      if (!ends && !goes_on) continue;
      if (from_before) {
        edges[2 * c * groups] = sum;
      } else if (goes_on) {
        edges[(2 * c + 1) * groups] = sum;
      } else {
        lanes<T, V> r;
#pragma unroll
        for (int k = 0; k < V; ++k) r.v[k] = element_cast<T>(Op::combine(element_cast<C>(old[u].v[k]), sum.v[k]));
        store_wide(to + int64(place[u]) * p.inner, r);
      }
      from_before = false;
#pragma unroll
      for (int k = 0; k < V; ++k) sum.v[k] = Op::template identity<C>();
    }
  }
}

/// Combines the parts of the runs that go from chunk to chunk.
template <class Op, int V, class T>
__global__ void __launch_bounds__(block_threads)
    combine_edges_kernel(T* to, const lanes<detail::compute_t<T>, V>* edges, const combine_plan p) {
  in_stream_order();
  using C = detail::compute_t<T>;
  const int64 groups = p.inner / V;
  int64 c, group, outer;
  p.where(c, group, outer);
  if (c + 1 >= p.chunks || group >= groups) return;
  const int64 end = (c + 1) * run_length;
  const uint32 place = p.place[end];
  if (p.place[end - 1] != place || place >= p.n) return;                                              // no run goes on
  if (c > 0 && p.place[end - run_length] == place && p.place[end - run_length - 1] == place) return;  // nor begins
  to += outer * p.n * p.inner + group * V + int64(place) * p.inner;
  edges += outer * (2 * p.chunks * groups) + group;
  lanes<C, V> sum = edges[(2 * c + 1) * groups];
  constexpr int U = 8;
  for (int64 d = c + 1; d < p.chunks && p.place[d * run_length] == place; d += U) {
    lanes<C, V> part[U];
    bool goes_on[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      goes_on[u] = d + u < p.chunks && p.place[(d + u) * run_length] == place;
      part[u] = edges[2 * (d + u < p.chunks ? d + u : c + 1) * groups];
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (goes_on[u]) sum.v[k] = Op::combine(sum.v[k], part[u].v[k]);
  }
  lanes<T, V> r = load_wide<V>(to);
#pragma unroll
  for (int k = 0; k < V; ++k) r.v[k] = element_cast<T>(Op::combine(element_cast<C>(r.v[k]), sum.v[k]));
  store_wide(to, r);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
