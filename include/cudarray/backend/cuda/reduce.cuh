// Reductions on CUDA: one kernel, and a second one where the reduced axes are split; no atomics, the same bits always.
// SPDX-License-Identifier: MIT
#pragma once

#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// How the threads of a block are spread: `wide` results at a time, `deep` threads on each. Threads next to each other
/// work on one result (`along`) or on neighbouring results.
struct reduce_shape {
  int wide, deep;
  bool along;
  int64 results, count, chunk;  ///< chunk: reduced elements a block takes
};

/// Combines the threads of one result; the value is valid where depth is 0.
template <class Op, class Total>
__device__ Total combine_block(Total v, const reduce_shape& r, int result, int depth, Total* shared) {
  shared[result * r.deep + depth] = v;
  __syncthreads();
  for (int half = r.deep / 2; half > 0; half /= 2) {
    if (depth < half) shared[result * r.deep + depth] = v = Op::combine(v, shared[result * r.deep + depth + half]);
    __syncthreads();
  }
  return v;
}

template <class Index, int Operands, class Op, class Target, class Tree, class Total>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const Target target, const Tree tree, const device_space<Index, Operands> s, const reduce_shape r,
                  Total* partial) {
  using types = typename Op::template types<typename Tree::value_type>;
  using block = typename types::block;
  constexpr int block_length = 32;
  extern __shared__ char shared[];
  const int depth = r.along ? int(threadIdx.x) % r.deep : int(threadIdx.x) / r.wide;
  const int place = r.along ? int(threadIdx.x) / r.deep : int(threadIdx.x) % r.wide;
  const int64 result = int64(blockIdx.x) * r.wide + place;
  element_access<Index, Operands> base = {};
  if (result < r.results) s.add_offsets(Index(result), 0, s.kept, base.offset);
  Total total = Op::template identity<Total>();
  const int64 begin = int64(blockIdx.y) * r.chunk, end = begin + r.chunk < r.count ? begin + r.chunk : r.count;
  if (result < r.results) {
    for (int64 i = begin + depth; i < end;) {
      block part = Op::template identity<block>();
      const int64 rest = (end - i + r.deep - 1) / r.deep;
      const int n = rest < block_length ? int(rest) : block_length;
#pragma unroll 4
      for (int j = 0; j < n; ++j) {
        const int64 at = i + int64(j) * r.deep;
        element_access<Index, Operands> a = base;
        s.add_offsets(Index(at), s.kept, s.ndim, a.offset);
        part = Op::combine(part, Op::template lift<block>(tree(a), at));
      }
      total = Op::combine(total, Total(part));
      i += int64(n) * r.deep;
    }
  }
  total = combine_block<Op>(total, r, place, depth, reinterpret_cast<Total*>(shared));
  if (depth != 0 || result >= r.results) return;
  if (partial) partial[int64(blockIdx.y) * r.results + result] = total;
  else target(base, Op::template finish<typename types::result>(total, r.count));
}

template <class Index, int Operands, class Op, class R, class Target, class Total>
__global__ void __launch_bounds__(block_threads)
    finish_kernel(const Target target, const device_space<Index, Operands> s, const int64 results, const int64 count,
                  const int chunks, const Total* partial) {
  const int64 result = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (result >= results) return;
  Total total = partial[result];
  for (int c = 1; c < chunks; ++c) total = Op::combine(total, partial[c * results + result]);
  element_access<Index, Operands> a = {};
  s.add_offsets(Index(result), 0, s.kept, a.offset);
  target(a, Op::template finish<R>(total, count));
}

inline int power_of_two_above(int64 n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

template <class Index, int Operands, class Target, class Tree, class Op>
void reduce_with(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using types = typename Op::template types<typename Tree::value_type>;
  using total = typename types::total;
  reduce_shape r;
  r.results = s.size(0, s.kept);
  r.count = s.size(s.kept, s.ndim);
  // neighbouring threads go along the axis on which most operands lie close together
  int along = 0, across = 0;
  for (int k = 1; k < Operands; ++k) {
    const int64 a = s.kept < s.ndim ? s.stride[k][s.ndim - 1] : 0, b = s.kept > 0 ? s.stride[k][s.kept - 1] : 0;
    along += a == 1 || a == -1;
    across += b == 1 || b == -1;
  }
  r.along = along >= across || r.results < 32;
  if (r.along) {
    r.deep = power_of_two_above(ceil_div(r.count, 4), block_threads);
    r.wide = block_threads / r.deep;
  } else {
    r.wide = 32;
    r.deep = block_threads / r.wide;
  }
  const int64 blocks = ceil_div(r.results, r.wide), wanted = int64(multiprocessors(device.ordinal)) * 8;
  int64 chunks = 1;
  if (blocks < wanted) chunks = ceil_div(wanted, blocks);
  const int64 most_chunks = ceil_div(r.count, int64(r.deep) * 32);  // no less than 32 elements a thread
  if (chunks > most_chunks) chunks = most_chunks;
  if (chunks > 1024) chunks = 1024;
  if (chunks < 1) chunks = 1;
  r.chunk = ceil_div(r.count, chunks);
  if (r.chunk > 0) chunks = ceil_div(r.count, r.chunk);
  const device_space<Index, Operands> space(s);
  detail::storage_ref scratch;
  total* partial = nullptr;
  if (chunks > 1) {
    scratch = allocate(device, ::std::size_t(chunks * r.results) * sizeof(total));
    partial = static_cast<total*>(scratch->data);
  }
  launch(device.ordinal, s.store, Operands, reduce_kernel<Index, Operands, Op, Target, Tree, total>,
         dim3(unsigned(blocks), unsigned(chunks)), block_threads, block_threads * sizeof(total), target, tree, space, r,
         partial);
  if (chunks > 1)
    launch(device.ordinal, s.store, 1, finish_kernel<Index, Operands, Op, typename types::result, Target, total>,
           dim3(unsigned(ceil_div(r.results, block_threads))), block_threads, 0, target, space, r.results, r.count,
           int(chunks), static_cast<const total*>(partial));
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class Target, class Tree, class Op, int Operands>
void run_reduce(cuda device, const Target& target, const Tree& tree, const Op&,
                const detail::iteration_space<Operands>& s) {
  if (gpu::fits_32_bits(s)) gpu::reduce_with<int32, Operands, Target, Tree, Op>(device, target, tree, s);
  else gpu::reduce_with<int64, Operands, Target, Tree, Op>(device, target, tree, s);
}

}  // namespace cudarray::inline v0::backend
