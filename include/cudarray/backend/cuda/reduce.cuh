// Reductions on CUDA: one kernel for any axes and any operand; the same bits in every run, as nothing is added up by
// atomics.
// SPDX-License-Identifier: MIT
#pragma once

#include "elementwise.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// How the threads of a block are spread: on `wide` results (or groups of V results), `deep` threads on each. The lanes
/// go `along` the reduced axes, and so do neighbouring threads; or both go across the results.
template <int Operands>
struct reduce_space {
  thread_space<Operands> threads;
  int wide = 1, deep = 1;
  bool along = false;
  int64 results = 1, places = 1;  ///< threads' places on the kept axes, and on the reduced axes
  int64 count = 1;                ///< elements that are reduced to one
  int64 chunk = 1;                ///< places a block takes
};

template <class T>
__device__ T shuffle_down(const T& v, int by) {
  constexpr int words = (sizeof(T) + 3) / 4;
  uint32 w[words] = {};
  memcpy(w, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < words; ++i) w[i] = __shfl_down_sync(~0u, w[i], unsigned(by));
  T r;
  memcpy(&r, w, sizeof(T));
  return r;
}

/// Combines the threads of each result in the same order always; the value is valid where depth is 0.
template <class Op, int V, class Total, int Operands>
__device__ void combine_block(Total (&total)[V], const reduce_space<Operands>& r, int depth, Total* shared) {
  const int t = int(threadIdx.x);
  if (r.along) {
    for (int half = (r.deep < 32 ? r.deep : 32) / 2; half > 0; half /= 2)
      total[0] = Op::combine(total[0], shuffle_down(total[0], half));
    if (r.deep <= 32) return;
    if (t % 32 == 0) shared[t / 32] = total[0];
    __syncthreads();
    if (depth == 0)
      for (int w = 1; w < r.deep / 32; ++w) total[0] = Op::combine(total[0], shared[t / 32 + w]);
    return;
  }
  for (int half = r.deep / 2; half > 0; half /= 2) {
    if (depth >= half && depth < 2 * half)
#pragma unroll
      for (int k = 0; k < V; ++k) shared[(t - half * r.wide) * V + k] = total[k];
    __syncthreads();
    if (depth < half)
#pragma unroll
      for (int k = 0; k < V; ++k) total[k] = Op::combine(total[k], shared[t * V + k]);
    __syncthreads();
  }
}

/// Partial results of at most this many steps of a thread are combined in the wider total type, so that errors do not
/// grow with the length.
inline constexpr int block_length = 32;

template <int V, int U, int Operands, class Op, class Target, class Tree, class Total>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                  const __grid_constant__ reduce_space<Operands> r, Total* partial, uint32* tickets) {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  extern __shared__ __align__(16) char raw[];
  Total* const shared = reinterpret_cast<Total*>(raw);
  const auto& s = r.threads;
  const int depth = r.along ? int(threadIdx.x) % r.deep : int(threadIdx.x) / r.wide;
  const int place = r.along ? int(threadIdx.x) / r.deep : int(threadIdx.x) % r.wide;
  const int64 result = int64(blockIdx.x) * r.wide + place;
  lane_access<V, Operands, Tree> base;
  base.start(s);
  if (result < r.results) {
    const int64 first = s.move(result, 0, s.kept, base.offset);
    base.inside = r.along ? V : s.template inside<V>(first);
  }
  Total total[V];
#pragma unroll
  for (int k = 0; k < V; ++k) total[k] = Op::template identity<Total>();
  int64 i = int64(blockIdx.y) * r.chunk;
  const int64 end = result >= r.results ? i : i + r.chunk < r.places ? i + r.chunk : r.places;
  for (i += depth; i < end;) {
    block part[V];
#pragma unroll
    for (int k = 0; k < V; ++k) part[k] = Op::template identity<block>();
#pragma unroll 1
    for (int step = 0; step < block_length / U && i < end; ++step, i += U * r.deep) {
      lane_access<V, Operands, Tree> a[U];
      int64 position[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const int64 at = i + u * r.deep;
        a[u] = base;
        if (at >= end) {
          a[u].inside = 0;
          continue;
        }
        const int64 first = s.move(at, s.kept, s.ndim, a[u].offset);
        if (r.along) a[u].inside = s.template inside<V>(first);
        a[u].fetch(tree);
        if constexpr (Op::indexed)
          position[u] = !r.along ? at : s.ndim - s.kept < 2 ? first : s.extent[s.split].divide(at) * s.limit + first;
      }
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (a[u].inside > 0) a[u].template fetch<true>(tree);
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (a[u].inside == 0) continue;
        const auto v = tree(a[u]);
#pragma unroll
        for (int k = 0; k < V; ++k) {
          if (k < a[u].inside) {
            if constexpr (Op::indexed) Op::append(part[k], v.v[k], position[u] + (r.along ? k * s.gap : 0));
            else part[k] = Op::combine(part[k], Op::template lift<block>(v.v[k], 0));
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < V; ++k) total[k] = Op::combine(total[k], Total(part[k]));
  }
  if (r.along)
#pragma unroll
    for (int k = 1; k < V; ++k) total[0] = Op::combine(total[0], total[k]);
  combine_block<Op>(total, r, depth, shared);
  const int results = r.along ? 1 : base.inside;  // of this thread
  if (gridDim.y > 1) {
    // the block that comes last combines what all have left in memory
    __shared__ bool last;
    const auto left = [&](int64 chunk) { return partial + (chunk * r.results + result) * (r.along ? 1 : V); };
    if (depth == 0 && result < r.results)
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < results) left(blockIdx.y)[k] = total[k];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(tickets + blockIdx.x, 1u) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0) tickets[blockIdx.x] = 0;
#pragma unroll
    for (int k = 0; k < V; ++k) total[k] = Op::template identity<Total>();
    if (result < r.results)
      for (int64 c = depth; c < gridDim.y; c += r.deep)
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < results) total[k] = Op::combine(total[k], left(c)[k]);
    combine_block<Op>(total, r, depth, shared);
  }
  if (depth != 0 || result >= r.results) return;
#pragma unroll
  for (int k = 0; k < V; ++k)
    if (k < results)
      target(place_access{base.offset[0] + k * s.lane_step[0]},
             Op::template finish<typename types::result>(total[k], r.count));
}

inline int power_of_two_above(int64 n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

/// Counters, all zero between kernels, that tell the last block of a kernel: the stream's, or new ones in a graph.
inline uint32* tickets_on(cuda device, const stream_ref& stream, detail::storage_ref& owned) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream->handle, &status), "cudaStreamIsCapturing");
  if (status == cudaStreamCaptureStatusNone) return stream->tickets;
  owned = allocate(device, most_tickets * sizeof(uint32));
  check(cudaMemsetAsync(owned->data, 0, most_tickets * sizeof(uint32), stream->handle), "cudaMemsetAsync");
  return static_cast<uint32*>(owned->data);
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class Target, class Tree, class Op, int Operands>
void run_reduce(cuda device, const Target& target, const Tree& tree, const Op&,
                const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using total = typename types::total;
  constexpr int V = gpu::lanes_for<Tree::widest>, U = gpu::groups_for<gpu::registers<V, Tree>::count>;
  gpu::reduce_space<Operands> r;
  const int inner = s.kept < s.ndim ? s.ndim - 1 : -1, across = s.kept - 1;  // the last axes of both kinds, -1: none
  r.count = s.size(s.kept, s.ndim);
  // lanes and neighbouring threads go along the axis on which most operands lie close together
  int close_along = 0, close_across = 0;
  for (int k = 1; k < Operands; ++k) {
    close_along += inner >= 0 && gpu::magnitude(s.stride[k][inner]) == 1;
    close_across += across >= 0 && gpu::magnitude(s.stride[k][across]) == 1;
  }
  const int64 results = s.size(0, s.kept);
  r.along = inner >= 0 && (across < 0 || results < 32 || (close_along >= close_across && r.count > 8));
  const int split = r.along ? inner : across;
  bool neighbours = false;
  if (split >= 0) {
    gpu::wide_check<V, Operands> check{s, split};
    detail::for_each_operand(tree, check);
    neighbours = check.fits;
    if (neighbours) r.threads.wide = check.wide;
  }
  r.threads.template divide<V>(s, split, neighbours);
  for (int d = 0; d < s.ndim; ++d) (d < s.kept ? r.results : r.places) *= r.threads.extent[d].divisor;
  if (r.count == 0) r.places = 0;
  if (r.along) {
    r.deep = gpu::power_of_two_above(gpu::ceil_div(r.places, U), gpu::block_threads);
    r.wide = gpu::block_threads / r.deep;
  } else {
    r.wide = gpu::power_of_two_above(r.results, 32);
    r.deep = gpu::block_threads / r.wide;
    while (r.deep > 1 && r.places < r.deep * 4 && r.results > r.wide) r.deep /= 2, r.wide *= 2;
  }
  const int64 blocks = gpu::ceil_div(r.results, r.wide), wanted = int64(gpu::multiprocessors(device.ordinal)) * 4;
  int64 chunks = wanted / blocks;
  const int64 most_chunks = r.places / (int64(r.deep) * U * 4);
  chunks = chunks < most_chunks ? chunks : most_chunks;
  chunks = chunks > 1 && blocks <= gpu::most_tickets ? chunks : 1;
  r.chunk = gpu::ceil_div(r.places, chunks);
  if (r.chunk > 0) chunks = gpu::ceil_div(r.places, r.chunk);
  detail::storage_ref partial, own_tickets;
  uint32* tickets = nullptr;
  if (chunks > 1) {
    partial = allocate(device, ::std::size_t(chunks * r.results) * (r.along ? 1 : V) * sizeof(total));
    tickets = gpu::tickets_on(device, gpu::current(device.ordinal), own_tickets);
  }
  gpu::launch(device.ordinal, s.store, Operands, gpu::reduce_kernel<V, U, Operands, Op, Target, Tree, total>,
              dim3(unsigned(blocks), unsigned(chunks > 0 ? chunks : 1)), gpu::block_threads,
              gpu::block_threads * V * sizeof(total), target, tree, r,
              static_cast<total*>(partial.get() ? partial->data : nullptr), tickets);
}

}  // namespace cudarray::inline v0::backend
