// The largest or smallest elements of segments on CUDA: selected by digits of their keys, then put in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <climits>
#include <cub/block/block_scan.cuh>

#include "sorting.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Keys of which the least come first in the order that is asked for, and where in its segment each stands: of
/// elements,
template <class T>
struct element_keys {
  using bits = typename ordered<T>::bits;
  const T* from;
  bits flipped;  ///< all bits where the largest come first
  int64 first = 0;
  __device__ bits key(int64 i) const { return bits(ordered<T>::template from<true>(from[i]) ^ flipped); }
  __device__ int64 position(int64 i) const { return first + i; }
  __device__ element_keys row(int64 at) const { return {from + at, flipped}; }
  __device__ element_keys part(int64 at) const { return {from + at, flipped, first + at}; }
};
/// or of elements that were found before.
template <class Bits>
struct found_keys {
  using bits = Bits;
  const bits* keys;
  const int64* positions;
  __device__ bits key(int64 i) const { return keys[i]; }
  __device__ int64 position(int64 i) const { return positions[i]; }
  __device__ found_keys row(int64 at) const { return {keys + at, positions + at}; }
  __device__ found_keys part(int64 at) const { return row(at); }
};

inline constexpr int digit_bits = 11, digit_values = 1 << digit_bits;
inline constexpr int first_most = 64;         ///< elements that first_of_rows_kernel finds
inline constexpr int first_within = 1024;     ///< of as many
inline constexpr int64 part_elements = 8192;  ///< that a block goes through: they stay in the cache
inline constexpr int64 select_most = 32768;   ///< elements that are selected; more are sorted with all others

/// The k keys that come first of each of so many parts of a segment, in the order in which they stand. A block finds
/// the last of them digit by digit, from the highest on; those of equal keys that stand first are taken.
template <class Source>
__global__ void __launch_bounds__(block_threads) select_first_kernel(const Source source, typename Source::bits* keys,
                                                                     int64* positions, int64 n, int64 parts, uint32 k) {
  in_stream_order();
  using bits = typename Source::bits;
  using scan = ::cub::BlockScan<uint32, block_threads>;
  constexpr int own = digit_values / block_threads, all_bits = 8 * int(sizeof(bits)), each = 4;
  __shared__ uint32 counts[digit_values];
  __shared__ uint32 chosen[3];
  __shared__ typename scan::TempStorage scratch;
  const int t = int(threadIdx.x);
  const int64 row = blockIdx.x / parts, part = blockIdx.x % parts, begin = n * part / parts;
  const int length = int(n * (part + 1) / parts - begin);
  const Source from = source.row(row * n).part(begin);
  uint64 known = 0, prefix = 0;  // bits of the last key that are known
  uint32 need = k;               // of those with these bits
  for (int shift = all_bits; shift > 0;) {
    const int width = shift < digit_bits ? shift : digit_bits;
    shift -= width;
    for (int j = t; j < digit_values; j += block_threads) counts[j] = 0;
    __syncthreads();
#pragma unroll 4
    for (int i = t; i < length; i += block_threads)
      if (const uint64 key = from.key(i); (key & known) == prefix)
        atomicAdd(&counts[uint32(key >> shift) & ((1u << width) - 1)], 1u);
    __syncthreads();
    uint32 mine = 0, before;
#pragma unroll
    for (int j = 0; j < own; ++j) mine += counts[t * own + j];
    scan(scratch).ExclusiveSum(mine, before);
    if (before < need && need <= before + mine) {
      int j = t * own;
      for (; before + counts[j] < need; ++j) before += counts[j];
      chosen[0] = uint32(j), chosen[1] = before, chosen[2] = counts[j];
    }
    __syncthreads();
    known |= uint64((1u << width) - 1) << shift;
    prefix |= uint64(chosen[0]) << shift;
    need -= chosen[1];
    if (chosen[2] == need) break;
  }
  keys += (row * parts + part) * k, positions += (row * parts + part) * k;
  uint32 below = 0, equal = 0;  // that stand before the tile
  for (int tile = 0; tile < length; tile += each * block_threads) {
    bits key[each];
    uint32 own_below = 0, own_equal = 0;  // a bit for each
#pragma unroll
    for (int u = 0; u < each; ++u)
      if (const int i = tile + t * each + u; i < length) {
        key[u] = from.key(i);
        own_below |= uint32((key[u] & known) < prefix) << u;
        own_equal |= uint32((key[u] & known) == prefix) << u;
      }
    if (!__syncthreads_or(int(own_below | own_equal))) continue;
    constexpr int half = 16;  // both are counted in one number
    uint32 before, all;
    scan(scratch).ExclusiveSum(uint32(__popc(own_below)) | uint32(__popc(own_equal)) << half, before, all);
    uint32 b = below + (before & 0xffffu), e = equal + (before >> half);
#pragma unroll
    for (int u = 0; u < each; ++u) {
      const bool is_below = own_below >> u & 1u, is_equal = own_equal >> u & 1u;
      if (is_below || (is_equal && e < need)) {
        const uint32 at = b + (e < need ? e : need);
        keys[at] = key[u];
        positions[at] = from.position(tile + t * each + u);
      }
      b += is_below, e += is_equal;
    }
    below += all & 0xffffu, equal += all >> half;
    if (below + (equal < need ? equal : need) == k) break;
    __syncthreads();  // before scratch is used again
  }
}

template <class Bits>
__device__ int first_by_shuffles(Bits key, int place) {
#pragma unroll
  for (int by = warp / 2; by > 0; by /= 2) {
    const Bits other = __shfl_xor_sync(~0u, key, by);
    const int other_place = __shfl_xor_sync(~0u, place, by);
    if (other < key || (other == key && other_place < place)) key = other, place = other_place;
  }
  return place;
}
/// The place of the least key of a warp, of equal ones the first.
template <class Bits>
__device__ int first_of_warp(Bits key, int place) {
  if constexpr (sizeof(Bits) == 4) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                      (const Bits least = __reduce_min_sync(~0u, key);
                       return __reduce_min_sync(~0u, key == least ? place : INT_MAX);),
                      (return first_by_shuffles(key, place);))
  } else {
    return first_by_shuffles(key, place);
  }
}

/// The k keys that come first of rows of at most `Items` to a lane, a warp on each row, in order: their elements, which
/// are in rows of `pitch`, and positions. The lanes' first keys are compared, k times.
template <int Items, class Source, class T>
__global__ void __launch_bounds__(block_threads)
    first_of_rows_kernel(const Source source, const T* from, T* values, int64* positions, int64 rows, int n,
                         int64 pitch, int k) {
  in_stream_order();
  using bits = ::std::conditional_t<sizeof(typename Source::bits) == 8, unsigned long long, uint32>;
  const int lane = int(threadIdx.x) % warp;
  const int64 row = int64(blockIdx.x) * (block_threads / warp) + threadIdx.x / warp;
  if (row >= rows) return;
  const Source keys = source.row(row * n);
  bits key[Items];
#pragma unroll
  for (int i = 0; i < Items; ++i) key[i] = i * warp + lane < n ? keys.key(i * warp + lane) : bits(0);
  constexpr int none = INT_MAX;
  uint32 taken = 0;  // a bit for each of the lane's
  bits own;
  int own_place;
  const auto find_own = [&] {
    own = ~bits(0), own_place = none;  // what comes last
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      if (i * warp >= n) break;
      const int place = i * warp + lane;
      if (place < n && (taken >> i & 1u) == 0 && (own_place == none || key[i] < own)) own = key[i], own_place = place;
    }
  };
  find_own();
  int kept = 0;
  for (int j = 0; j < k; ++j) {
    const int place = first_of_warp(own, own_place);
    if (place % warp == lane) {
      taken |= 1u << (place / warp);
      find_own();
    }
    if (j % warp == lane) kept = place;
    if (j % warp == warp - 1 || j == k - 1)
      if (const int64 to = j - j % warp + lane; to <= j) {
        const int64 p = keys.position(kept);
        positions[row * k + to] = p;
        values[row * k + to] = from[row * pitch + p];
      }
  }
}

template <class T>
struct key_of {
  element_keys<T> keys;
  __device__ auto operator()(int64 i) const { return keys.key(i); }
};
/// Position i of (rows, k): what the sorted rows of n begin with, and where that stood, if not there.
struct position_of {
  const int64 *sorted, *positions;
  int64 n;
  divider k;
  __device__ int64 operator()(int64 i) const {
    const int64 row = k.divide(i), at = row * n + sorted[row * n + i - row * k.divisor];
    return positions ? positions[at] : at - row * n;
  }
};
template <class T>
struct element_of {
  const T* from;
  const int64* positions;
  int64 n;
  divider k;
  __device__ T operator()(int64 i) const { return from[k.divide(i) * n + positions[i]]; }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
