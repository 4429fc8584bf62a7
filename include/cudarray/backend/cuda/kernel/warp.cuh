// What the threads of a warp, of a block and of a cluster hand each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "lanes.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// `move(word)` of every word of a value.
template <class T, class F>
__device__ T each_word(const T& v, const F& move) {
  constexpr int words = (sizeof(T) + 3) / 4;
  uint32 w[words] = {};
  memcpy(w, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < words; ++i) w[i] = move(w[i]);
  T r;
  memcpy(&r, w, sizeof(T));
  return r;
}
template <class T>
__device__ T shuffle_down(const T& v, int by) {
  return each_word(v, [by](uint32 w) { return __shfl_down_sync(~0u, w, unsigned(by)); });
}
template <class T>
__device__ T shuffle_up(const T& v, int by) {
  return each_word(v, [by](uint32 w) { return __shfl_up_sync(~0u, w, unsigned(by)); });
}
/// Stores a value where a block of this cluster has `place`, which lies in shared memory.
template <class T>
__device__ void store_in_block(T* place, int block, const T& v) {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (uint32 at = uint32(__cvta_generic_to_shared(place)), there; asm("mapa.shared::cluster.u32 %0, %1, %2;"
                                                                                : "=r"(there)
                                                                                : "r"(at), "r"(block));
                each_word(v, [&](uint32 w) {
                  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(w) : "memory");
                  there += 4;
                  return w;
                });))
}

/// The values of all threads of a block combined, in an order that is always the same; for every thread. `shared` holds
/// one value for each warp.
template <class Op, class Total>
__device__ Total combine_all(Total v, Total* shared) {
  constexpr int warps = block_threads / warp;
  for (int half = warp / 2; half > 0; half /= 2) v = Op::combine(v, shuffle_down(v, half));
  if (threadIdx.x % warp == 0) shared[threadIdx.x / warp] = v;
  __syncthreads();
  v = shared[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) v = Op::combine(v, shared[w]);
  __syncthreads();
  return v;
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
