// What the threads of reductions hold of the elements they have seen.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../expr/reduction_table.hpp"
#include "warp.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// What holds a value in registers: 32 bits for narrower integers, which are not cut after every operation then; and
/// positions of so many bits as they need.
template <class T, bool Near>
struct in_registers {
  using type = ::std::conditional_t<::std::is_integral_v<T> && sizeof(T) < 4, int32, T>;
};
template <class V, bool Near>
struct in_registers<op::found<V>, Near> {
  using type = op::found<typename in_registers<V, Near>::type, ::std::conditional_t<Near, int32, int64>>;
};
template <class Op, class Value, bool Near>
struct device_types {
  using declared = typename Op::template types<Value>;
  using result = typename declared::result;
  using block = typename in_registers<typename declared::block, Near>::type;
  using total = typename in_registers<typename declared::total, Near>::type;
};

/// Partial results of at most this many steps of a thread are combined in the wider total type, so that errors do not
/// grow with the length.
inline constexpr int block_length = 32;
template <class Types>
inline constexpr bool adds_in_blocks = !::std::is_same_v<typename Types::block, typename Types::total>;

/// Whether a few columns may be walked as more of them: not for pairs of float64, which would spill.
template <class Total>
inline constexpr bool may_fold = sizeof(Total) <= 8;

/// Adds a value behind what is in a partial result.
template <class Op, class Part, class Value, class Index>
__device__ void add_value(Part& part, Value v, Index position) {
  if constexpr (Op::indexed) Op::append(part, v, position);
  else if constexpr (requires { Op::append(part, v); }) Op::append(part, v);
  else part = Op::combine(part, Op::template lift<Part>(v, 0));
}
/// Adds the lanes of one place to the partial results.
template <class Op, int V, class Part, class Value, class Index>
__device__ void add_lanes(Part (&part)[V], const lanes<Value, V>& value, int inside, Index position, Index gap) {
  const auto v = lane_cast<detail::compute_t<Value>>(value);
#pragma unroll
  for (int k = 0; k < V; ++k)
    if (k < inside) {
      add_value<Op>(part[k], v.v[k], position + k * gap);
    }
}

/// The totals of a thread, and the partial results on the way to them: few steps in the narrower type, where there is
/// one.
template <class Op, class Types, int V, class Total>
struct accumulator {
  using block = typename Types::block;
  static constexpr bool blocks = adds_in_blocks<Types>;
  Total total[V];
  block part[V];
  __device__ accumulator() {
#pragma unroll
    for (int k = 0; k < V; ++k) {
      total[k] = Op::template identity<Total>();
      if constexpr (blocks) part[k] = Op::template identity<block>();
    }
  }
  template <class Value, class Index>
  __device__ void add(const lanes<Value, V>& v, int inside, Index position, Index gap) {
    if constexpr (blocks) add_lanes<Op>(part, v, inside, position, gap);
    else add_lanes<Op>(total, v, inside, position, gap);
  }
  /// An element of any position.
  template <class Value>
  __device__ void add_one(Value value, int32 position) {
    const auto v = element_cast<detail::compute_t<Value>>(value);
    total[0] = Op::combine(total[0], Op::template lift<Total>(v, position));
  }
  template <int Half>
  __device__ void fold() {
    if constexpr (Half > 0) {
#pragma unroll
      for (int k = 0; k < Half; ++k) part[k] = Op::combine(part[k], part[k + Half]);
      fold<Half / 2>();
    }
  }
  /// Lanes of the same result (`along`) are added up first: conversions to the wider type are slow.
  __device__ void close_block(bool along) {
    if constexpr (blocks) {
      if (along) {
        fold<V / 2>();
        total[0] = Op::combine(total[0], Op::template widen<Total>(part[0]));
      } else {
#pragma unroll
        for (int k = 0; k < V; ++k) total[k] = Op::combine(total[k], Op::template widen<Total>(part[k]));
      }
#pragma unroll
      for (int k = 0; k < V; ++k) part[k] = Op::template identity<block>();
    }
  }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
