// What threads hold of rows of the softmax family, and what they tell each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/rows.hpp"
#include "../../../expr/reduction_table.hpp"
#include "warp.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

inline constexpr int row_groups = 8;  ///< groups of lanes that a thread holds of a row, at most
/// And where a row is held by one block: more doubles leave too few threads to hide what exponentials wait for.
template <class T>
inline constexpr int block_groups = sizeof(T) > 4 ? row_groups / 2 : row_groups;

/// The larger number; NaN is handed on by the sum that follows.
struct larger {
  template <class T>
  static __device__ T combine(T a, T b) {
    return ::fmax(a, b);
  }
};

/// exp(x); of half types' values by the device's own instruction, 0 below 2^-126.
template <class Value, class T>
__device__ T exp_of(T x) {
  if constexpr (sizeof(Value) < sizeof(T)) {
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x * 1.4426950408889634f));
    return x;
  } else {
    return math::exp(x);
  }
}

/// Combines `deep` threads of a warp; each gets the result. `deep` is a power of two.
template <class Op, class T>
__device__ T combine_lanes(T v, int deep) {
  for (int half = deep / 2; half > 0; half /= 2) v = Op::combine(v, T(__shfl_xor_sync(~0u, v, half)));
  return v;
}
/// Of a block.
template <class Op, class T>
__device__ T combine_row(T v, int deep, T* shared) {
  v = combine_lanes<Op>(v, deep < warp ? deep : warp);
  if (deep <= warp) return v;
  const int t = int(threadIdx.x), first = t / deep * deep / warp;
  __syncthreads();  // shared memory may still be read
  if (t % warp == 0) shared[t / warp] = v;
  __syncthreads();
  v = shared[first];
  for (int w = 1; w < deep / warp; ++w) v = Op::combine(v, shared[first + w]);
  return v;
}

/// What elements are taken relative to: the largest of them, where that is a number.
template <class T>
__device__ T finite_or_zero(T v) {
  return v == detail::bounds<T>::highest || v == detail::bounds<T>::lowest ? T(0) : v;
}
/// The largest of a part of a row, and the sum of exp(x - largest).
template <class T>
struct row_part {
  T largest, sum;
};
template <class T>
__device__ row_part<T> join(const row_part<T>& a, const row_part<T>& b) {
  const T top = larger::combine(a.largest, b.largest), from = finite_or_zero(top);
  return {top, a.sum * math::exp(a.largest - from) + b.sum * math::exp(b.largest - from)};
}
/// That of a row, of what `deep` threads have found.
template <class T>
__device__ row_part<T> combine_parts(const row_part<T>& mine, int deep, T* shared) {
  const T top = combine_row<larger>(mine.largest, deep, shared);
  return {top, combine_row<op::sum_op>(T(mine.sum * math::exp(mine.largest - finite_or_zero(top))), deep, shared)};
}
/// Where all is -inf, or +inf is there, that is logsumexp; softmax has no value.
template <class T>
__device__ T logarithm_of(const row_part<T>& row) {
  return finite_or_zero(row.largest) == row.largest || row.sum != row.sum ? math::log(row.sum) + row.largest
                                                                          : row.largest;
}
template <class T>
__device__ T inverse_of(const row_part<T>& row) {
  return 1 / (finite_or_zero(row.largest) == row.largest ? row.sum : row.largest - row.largest);
}

/// What a thread holds of a row: elements, as they are in memory (`Packed`) where that is smaller; for softmax then
/// exponentials in their place, unless they are packed.
template <detail::row_function F, bool Packed, int Groups, int V, class Value>
struct held_row {
  using T = detail::compute_t<Value>;
  static constexpr bool packed = Packed && sizeof(Value) < sizeof(T);
  static constexpr bool keeps = F == detail::row_function::softmax && !packed;
  using element = ::std::conditional_t<packed, Value, T>;
  using held = held_lanes<packed, element, V>;
  held of[Groups];
  __device__ void hold(int g, const lanes<Value, V>& v) { of[g] = repack<held>(lane_cast<element>(v)); }
  /// Those from `inside` on are -inf: they add nothing.
  __device__ void hold(int g, const lanes<Value, V>& v, int inside) {
    auto e = lane_cast<element>(v);
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k >= inside) e.v[k] = element_cast<element>(detail::bounds<T>::lowest);
    of[g] = repack<held>(e);
  }
  __device__ lanes<T, V> operator[](int g) const { return lane_cast<T>(repack<lanes<element, V>>(of[g])); }
  __device__ void keep(int g, const lanes<T, V>& powers) {
    if constexpr (keeps) of[g] = powers;
  }
  /// The exponential of what is held, relative to `from`, as what was kept is.
  __device__ static T power(T v, T from) { return keeps ? v : exp_of<Value>(v - from); }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
