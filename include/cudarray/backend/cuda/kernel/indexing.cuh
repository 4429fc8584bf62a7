// What a mask selects on CUDA, in two passes: how many in each chunk, then each chunk's behind those before it.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/segments.hpp"
#include "warp.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

inline constexpr int flags_each = 16;  ///< flags a lane reads at once
inline constexpr int flags_tile = flags_each * warp, select_warps = block_threads / warp;

/// One thread's flags, a bit each.
__device__ inline uint32 read_flags(const uint8* mask, int64 i, int64 n) {
  lanes<uint8, flags_each> f;
  if (i + flags_each <= n && reinterpret_cast<::std::uintptr_t>(mask) % flags_each == 0) {
    f = load_wide<flags_each>(mask + i);
  } else {
#pragma unroll
    for (int k = 0; k < flags_each; ++k) f.v[k] = i + k < n ? load_one(mask + i + k) : 0;
  }
  uint32 bits = 0;
#pragma unroll
  for (int k = 0; k < flags_each; ++k) bits |= uint32(f.v[k] != 0) << k;
  return bits;
}

struct plus {
  template <class T>
  static __device__ T combine(T a, T b) {
    return a + b;
  }
};

/// How many flags of each chunk are set, a warp on each, and how many at all.
template <class Count>
__global__ void __launch_bounds__(block_threads)
    count_flags_kernel(const uint8* mask, Count* counts, unsigned long long* all, int64 n, int64 chunk) {
  in_stream_order();
  __shared__ Count shared[select_warps];
  const int lane = int(threadIdx.x) % warp;
  const int64 c = int64(blockIdx.x) * select_warps + int(threadIdx.x) / warp;
  const int64 begin = c * chunk, end = begin + chunk < n ? begin + chunk : n;
  int own = 0;
#pragma unroll 4
  for (int64 i = begin + lane * flags_each; i < end; i += flags_tile) own += __popc(read_flags(mask, i, end));
  Count count = own;
  for (int half = warp / 2; half > 0; half /= 2) count += shuffle_down(count, half);
  if (lane == 0) counts[c] = count;
  count = combine_all<plus>(lane == 0 ? count : Count(0), shared);
  if (threadIdx.x == 0) atomicAdd(all, static_cast<unsigned long long>(count));
}

/// `item(i)` for the set flags i of each chunk, a warp on each, behind those of the chunks before it.
template <class T, class Count, class Item>
__global__ void __launch_bounds__(block_threads)
    select_kernel(const uint8* mask, const Count* counts, T* to, int64 n, int64 chunk, const Item item) {
  in_stream_order();
  constexpr int U = 8;
  __shared__ Count shared[select_warps];
  __shared__ uint16 places[select_warps][flags_tile];
  const int w = int(threadIdx.x) / warp, lane = int(threadIdx.x) % warp;
  const int64 first = int64(blockIdx.x) * select_warps, begin = (first + w) * chunk,
              end = begin + chunk < n ? begin + chunk : n;
  Count before = 0;
  for (int64 c = threadIdx.x; c < first; c += block_threads) before += counts[c];
  to += combine_all<plus>(before, shared);
  for (int k = 0; k < w; ++k) to += counts[first + k];
  uint16* const found = places[w];
  uint32 next = read_flags(mask, begin + lane * flags_each, end);
  for (int64 i = begin; i < end; i += flags_tile) {
    uint32 bits = next;
    next = read_flags(mask, i + flags_tile + lane * flags_each, end);
    int through = __popc(bits);
    int at = -through;
#pragma unroll
    for (int by = 1; by < warp; by *= 2) {
      const int below = __shfl_up_sync(~0u, through, unsigned(by));
      if (lane >= by) through += below;
    }
    at += through;
    for (; bits != 0; bits &= bits - 1) found[at++] = uint16(lane * flags_each + __ffs(int(bits)) - 1);
    const int all = __shfl_sync(~0u, through, warp - 1);
    __syncwarp();
    for (int k = lane; k < all; k += U * warp) {
      T v[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (k + u * warp < all) v[u] = item(i + found[k + u * warp]);
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (k + u * warp < all) to[k + u * warp] = v[u];
    }
    to += all;
    __syncwarp();
  }
}

struct position {
  __device__ int64 operator()(int64 i) const { return i; }
};
template <class T>
struct element {
  const T* from;
  __device__ T operator()(int64 i) const { return load_one(from + i); }
};

/// A new array of what `item` gives for the set flags.
template <class T, class Item>
detail::storage_ref select(cuda device, const detail::segments& mask, detail::storage* from, int64& count,
                           const Item& item) {
  const int64 n = mask.n;
  count = 0;
  if (n == 0) return allocate(device, 0);
  const int64 wanted = int64(multiprocessors(device.ordinal)) * 16 * select_warps;  // two waves of blocks
  const int64 chunk = ceil_div(ceil_div(n, wanted), flags_tile) * flags_tile;
  const int64 blocks = ceil_div(n, chunk * select_warps), chunks = blocks * select_warps;
  const detail::storage_ref counts = allocate(device, ::std::size_t(chunks + 1) * sizeof(int64));
  int64* const count_of = static_cast<int64*>(counts->data);
  auto* const all = reinterpret_cast<unsigned long long*>(count_of + chunks);
  const uint8* const flags = mask.at<const uint8>();
  {
    const device_guard guard(device.ordinal);
    check(cudaMemsetAsync(all, 0, sizeof(int64), current(device.ordinal)->handle), "cudaMemsetAsync");
  }
  detail::storage* const counted[] = {counts.get(), mask.store};
  launch(device.ordinal, counted, 2, count_flags_kernel<int64>, dim3(unsigned(blocks)), block_threads, 0, flags,
         count_of, all, n, chunk);
  copy_to_host(device, &count, *counts, ::std::size_t(chunks) * sizeof(int64), sizeof(int64));
  detail::storage_ref r = allocate(device, ::std::size_t(count) * sizeof(T));
  if (count == 0) return r;
  detail::storage* const selected[] = {r.get(), counts.get(), mask.store, from};
  launch(device.ordinal, selected, from != nullptr ? 4 : 3, select_kernel<T, int64, Item>, dim3(unsigned(blocks)),
         block_threads, 0, flags, count_of, static_cast<T*>(r->data), n, chunk, item);
  return r;
}

/// Elements are moved as words of their size.
template <int Bytes>
using word_of = ::std::conditional_t<
    Bytes == 1, uint8,
    ::std::conditional_t<Bytes == 2, uint16,
                         ::std::conditional_t<Bytes == 4, uint32, ::std::conditional_t<Bytes == 8, uint64, uint4>>>>;

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
