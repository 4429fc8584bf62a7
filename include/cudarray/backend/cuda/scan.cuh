// Scans on CUDA in two passes: sums of chunks, then each chunk with what stands before it. The same bits in every run.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/sequences.hpp"
#include "sequences.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// How blocks share (outer, n, inner): chunks of n. A chunk's sum is at [chunk][sequence].
struct scan_plan {
  int64 outer, n, inner;
  int64 chunk;               ///< elements, a multiple of what a team takes at a time where n is more
  int64 chunks;              ///< of a sequence
  int wide = block_threads;  ///< neighbouring sequences in a block, where a thread takes a chunk
};

template <class Op, class T>
using scan_total = typename Op::template types<T>::total;
template <class Op, class T>
using scan_result = typename Op::template types<T>::result;

template <class Op, class T>
__device__ scan_total<Op, T> scan_lift(T v) {
  return Op::template lift<scan_total<Op, T>>(element_cast<detail::compute_t<T>>(v), 0);
}
template <class Op, class T>
__device__ scan_result<Op, T> scan_finish(const scan_total<Op, T>& sum) {
  return Op::template finish<scan_result<Op, T>>(sum, 0);
}

/// A warp's tile, `Items` elements to a lane. It passes through shared memory, so that accesses coalesce and a lane has
/// neighbouring elements. A word is left out there after every 32, against bank conflicts.
template <class T, class R, int Items>
struct scan_tile {
  static constexpr int elements = warp * Items;
  static constexpr int bytes = (elements + elements / warp) * int(sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R));
};
template <class Op, class T>
inline constexpr int scan_items = sizeof(T) > 8 || sizeof(scan_result<Op, T>) > 8 || sizeof(scan_total<Op, T>) > 8 ? 8
                                                                                                                   : 16;

/// Scans a warp's tile of n elements, `each` of them (a power of two) to a lane, into `to`. `meet(total)` takes what
/// the lanes before and this one add up to, and returns what stands before the warp's tile.
template <class Op, class T, int Items, class Meet>
__device__ void scan_warp(const T (&loaded)[Items], scan_result<Op, T>* to, int n, int each, char* shared,
                          const Meet& meet) {
  using total = scan_total<Op, T>;
  using R = scan_result<Op, T>;
  const int lane = int(threadIdx.x) % warp, mine = lane * each + lane * each / warp;
  T* const in = reinterpret_cast<T*>(shared);
  R* const out = reinterpret_cast<R*>(shared);
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k >= each) break;
    in[lane + k * (warp + 1)] = loaded[k];
  }
  __syncwarp();
  T own[Items];
  total sum = Op::template identity<total>();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k >= each) break;
    own[k] = in[mine + k];
    if (lane * each + k < n) sum = Op::combine(sum, scan_lift<Op>(own[k]));
  }
  __syncwarp();
#pragma unroll
  for (int by = 1; by < warp; by *= 2) {
    const total below = shuffle_up(sum, by);
    if (lane >= by) sum = Op::combine(below, sum);
  }
  const total below = shuffle_up(sum, 1), carried = meet(sum);
  sum = lane == 0 ? carried : Op::combine(carried, below);
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k >= each) break;
    sum = Op::combine(sum, scan_lift<Op>(own[k]));
    out[mine + k] = scan_finish<Op, T>(sum);
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k >= each) break;
    if (lane + k * warp < n) to[lane + k * warp] = out[lane + k * (warp + 1)];
  }
  __syncwarp();
}

inline constexpr int scan_blocks = 3;  ///< of scan_kernel, on a multiprocessor

/// A block on each chunk of each sequence (`inner` is 1).
template <class Op, class T>
__global__ void __launch_bounds__(block_threads, scan_blocks)
    scan_kernel(const T* from, scan_result<Op, T>* to, const scan_total<Op, T>* sums, const scan_plan p) {
  using total = scan_total<Op, T>;
  constexpr int warps = block_threads / warp, items = scan_items<Op, T>;
  using tile = scan_tile<T, scan_result<Op, T>, items>;
  __shared__ __align__(16) char shared[warps * tile::bytes];
  __shared__ __align__(16) char totals_memory[2 * warps * sizeof(total)];
  total* const totals = reinterpret_cast<total*>(totals_memory);
  const int w = int(threadIdx.x) / warp, lane = int(threadIdx.x) % warp;
  const int64 row = int64(blockIdx.x) / p.chunks, chunk = int64(blockIdx.x) % p.chunks;
  const int64 begin = chunk * p.chunk, end = begin + p.chunk < p.n ? begin + p.chunk : p.n;
  total carry = Op::template identity<total>();
  if (chunk > 0) {  // the sums of the chunks before, in an order of their own that is always the same
    for (int64 c = threadIdx.x; c < chunk; c += block_threads) carry = Op::combine(carry, sums[c * p.outer + row]);
    carry = combine_all<Op>(carry, totals);
  }
  from += row * p.n + begin, to += row * p.n + begin;
  const auto left = [&](int64 at) {  // of the warp's tile at `at`
    const int64 n = end - begin - at;
    return n < 0 ? 0 : n < tile::elements ? int(n) : tile::elements;
  };
  const auto read = [&](T(&v)[items], int64 at) {
    const int n = left(at);
    const T* const p = from + at + lane;
#pragma unroll
    for (int k = 0; k < items; ++k)
      if (lane + k * warp < n) v[k] = load_one(p + k * warp);
  };
  T next[items];
  read(next, w * tile::elements);
  int side = 0;
  for (int64 i = 0; begin + i < end; i += warps * tile::elements, side ^= warps) {
    T now[items];
#pragma unroll
    for (int k = 0; k < items; ++k) now[k] = next[k];
    const int64 at = i + w * tile::elements;
    read(next, at + warps * tile::elements);
    scan_warp<Op>(now, to + at, left(at), items, shared + w * tile::bytes, [&](const total& through) {
      if (lane == warp - 1) totals[side + w] = through;
      __syncthreads();
      total before = carry;
#pragma unroll
      for (int k = 0; k < warps; ++k) {
        if (k == w) before = carry;
        carry = Op::combine(carry, totals[side + k]);
      }
      return before;
    });
  }
}

/// A warp on each sequence (`inner` is 1), up to Items elements to a lane.
template <int Items, class Op, class T>
__global__ void __launch_bounds__(block_threads, scan_blocks)
    scan_rows_kernel(const T* from, scan_result<Op, T>* to, const scan_plan p) {
  using total = scan_total<Op, T>;
  using tile = scan_tile<T, scan_result<Op, T>, Items>;
  constexpr int warps = block_threads / warp;
  __shared__ __align__(16) char shared[warps * tile::bytes];
  const int w = int(threadIdx.x) / warp, lane = int(threadIdx.x) % warp;
  const int each = int(p.chunk) / warp;
  for (int64 row = int64(blockIdx.x) * warps + w; row < p.outer; row += int64(gridDim.x) * warps) {
    total carry = Op::template identity<total>();
    for (int64 i = 0; i < p.n; i += p.chunk) {
      const T* const at = from + row * p.n + i;
      const int n = int(p.n - i < p.chunk ? p.n - i : p.chunk);
      T now[Items];
#pragma unroll
      for (int k = 0; k < Items; ++k)
        if (lane + k * warp < n) now[k] = load_one(at + lane + k * warp);
      scan_warp<Op>(now, to + row * p.n + i, n, each, shared + w * tile::bytes, [&](const total& through) {
        const total before = carry;
        carry = Op::combine(carry, shuffle(through, warp - 1));
        return before;
      });
    }
  }
}

/// The sum of each chunk but the last, a block on each. It reads from the end, so that what the scan reads first is
/// still in the cache.
template <class Op, class T>
__global__ void __launch_bounds__(block_threads, scan_blocks)
    scan_sums_kernel(const T* from, scan_total<Op, T>* sums, const scan_plan p) {
  using total = scan_total<Op, T>;
  constexpr int U = 8;
  __shared__ __align__(16) char totals[block_threads / warp * sizeof(total)];
  const int64 row = int64(blockIdx.x) / (p.chunks - 1), chunk = int64(blockIdx.x) % (p.chunks - 1);
  from += row * p.n + chunk * p.chunk;
  total sum = Op::template identity<total>();
  // a chunk is a whole number of rounds; one half of what is under way is added up while the other comes
  const T* at = from + p.chunk - block_threads + threadIdx.x;
  const auto read = [&](T(&v)[U]) {
#pragma unroll
    for (int u = 0; u < U; ++u) v[u] = load_one(at - u * block_threads);
    at -= U * block_threads;
  };
  const auto add = [&](const T(&v)[U]) {
#pragma unroll
    for (int u = 0; u < U; ++u) sum = Op::combine(sum, scan_lift<Op>(v[u]));
  };
  int64 left = p.chunk / (U * block_threads);
  T even[U], odd[U];
  read(even);
  for (; left > 2; left -= 2) {
    read(odd);
    add(even);
    read(even);
    add(odd);
  }
  if (left > 1) read(odd);
  add(even);
  if (left > 1) add(odd);
  const total all = combine_all<Op>(sum, reinterpret_cast<total*>(totals));
  if (threadIdx.x == 0) sums[chunk * p.outer + row] = all;
}

/// A thread on each chunk of each of neighbouring sequences. With `Sums` it only takes the chunks' sums, of all but the
/// last.
template <bool Sums, class Op, class T>
__global__ void __launch_bounds__(block_threads)
    scan_columns_kernel(const T* from, scan_result<Op, T>* to, scan_total<Op, T>* sums, const scan_plan p) {
  using total = scan_total<Op, T>;
  constexpr int U = 8;
  const int64 column = int64(blockIdx.x) * p.wide + int(threadIdx.x) % p.wide, columns = p.outer * p.inner;
  const int64 chunk = int64(blockIdx.y) * (block_threads / p.wide) + int(threadIdx.x) / p.wide;
  if (column >= columns || chunk >= p.chunks - Sums) return;
  const int64 first = column / p.inner * p.n * p.inner + column % p.inner;
  const int64 begin = chunk * p.chunk, end = begin + p.chunk < p.n ? begin + p.chunk : p.n;
  total sum = Op::template identity<total>();
  if (!Sums)
#pragma unroll 16
    for (int64 c = 0; c < chunk; ++c) sum = Op::combine(sum, sums[c * columns + column]);
  for (int64 i = begin; i < end; i += U) {
    T v[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < end) v[u] = load_one(from + first + (i + u) * p.inner);
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < end) {
        sum = Op::combine(sum, scan_lift<Op>(v[u]));
        if (!Sums) to[first + (i + u) * p.inner] = scan_finish<Op, T>(sum);
      }
  }
  if (Sums) sums[chunk * columns + column] = sum;
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class Op, class T>
detail::storage_ref scan_sequences(cuda device, const detail::sequences& s) {
  using total = gpu::scan_total<Op, T>;
  using R = gpu::scan_result<Op, T>;
  constexpr int threads = gpu::block_threads, warps = threads / gpu::warp, items = gpu::scan_items<Op, T>, few = 2;
  constexpr int tile = gpu::warp * items;
  const T* from = s.at<const T>();
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(R)), sums;
  R* const to = static_cast<R*>(r->data);
  detail::storage* const operands[] = {r.get(), s.store};
  const auto run = [&](auto kernel, dim3 grid, const auto&... arguments) {
    gpu::launch(device.ordinal, operands, 2, kernel, grid, threads, 0, arguments...);
  };
  const int64 enough = int64(gpu::multiprocessors(device.ordinal)) * (s.inner == 1 ? gpu::scan_blocks : 8);
  gpu::scan_plan p{s.outer, s.n, s.inner, s.n, 1};
  if (s.inner == 1 && s.n <= 2 * tile) {
    p.chunk = gpu::warp;
    while (p.chunk < s.n && p.chunk < tile) p.chunk *= 2;
    const int64 blocks = gpu::ceil_div(s.outer, warps);
    const dim3 grid(unsigned(blocks < enough * 16 ? blocks : enough * 16));
    if (s.n <= few * gpu::warp) run(gpu::scan_rows_kernel<few, Op, T>, grid, from, to, p);
    else run(gpu::scan_rows_kernel<items, Op, T>, grid, from, to, p);
    return r;
  }
  // Sequences are cut where there are too few of them. Every thread on a chunk adds up the sums before it: not too
  // many.
  constexpr int64 most = 2048;
  const int64 columns = s.outer * s.inner;
  while (s.inner > 1 && p.wide / 2 >= columns && p.wide > gpu::warp) p.wide /= 2;
  const int64 sequences = s.inner == 1 ? s.outer : gpu::ceil_div(columns, p.wide);
  const int64 least = s.inner == 1 ? warps * tile : 16, deep = s.inner == 1 ? 1 : threads / p.wide;
  int64 wanted = enough * deep / sequences;
  if (s.inner > 1 && wanted > most) wanted = most;
  if (wanted < 1) wanted = 1;
  p.chunk = gpu::ceil_div(gpu::ceil_div(s.n, wanted), least) * least;
  p.chunks = gpu::ceil_div(s.n, p.chunk);
  total* chunk_sums = nullptr;
  if (p.chunks > 1) {
    sums = allocate(device, ::std::size_t((p.chunks - 1) * columns) * sizeof(total));
    chunk_sums = static_cast<total*>(sums->data);
  }
  if (s.inner == 1) {
    if (p.chunks > 1) run(gpu::scan_sums_kernel<Op, T>, dim3(unsigned((p.chunks - 1) * s.outer)), from, chunk_sums, p);
    run(gpu::scan_kernel<Op, T>, dim3(unsigned(p.chunks * s.outer)), from, to, chunk_sums, p);
  } else {
    const auto grid = [&](int64 chunks) { return dim3(unsigned(sequences), unsigned(gpu::ceil_div(chunks, deep))); };
    if (p.chunks > 1) run(gpu::scan_columns_kernel<true, Op, T>, grid(p.chunks - 1), from, to, chunk_sums, p);
    run(gpu::scan_columns_kernel<false, Op, T>, grid(p.chunks), from, to, chunk_sums, p);
  }
  return r;
}

}  // namespace cudarray::inline v0::backend
