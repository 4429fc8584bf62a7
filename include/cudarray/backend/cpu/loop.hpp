// Walking an iteration space on the CPU: rows along the last axis, by packs where the strides allow, else by elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/plan.hpp"
#include "pack_math.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host {

/// Element i of a row: operand k lies at `offset[k] + i * step[k]`.
template <int Operands, class Build>
struct element_access {
  const int64* offset;
  const int64* step;
  int64 i;
  template <int I, class T>
  CUDARRAY_FORCE_INLINE T* at(T* p) const {
    return p + offset[I] + i * step[I];
  }
  template <int I, class T>
  CUDARRAY_FORCE_INLINE T load(const T* p) const {
    return *at<I>(p);
  }
  template <class T>
  CUDARRAY_FORCE_INLINE T splat(T v) const {
    return v;
  }
  template <int I, class G>
  CUDARRAY_FORCE_INLINE auto generate(const G& g) const {
    return g(offset[I] + i * step[I]);
  }
  template <class Op, class... V>
  CUDARRAY_FORCE_INLINE auto apply(const Op& op, V... v) const {
    return op(v...);
  }
};

/// Elements i to i + N - 1 of a row whose steps are all 0 or 1.
template <int N, int Operands, class Build>
struct pack_access {
  const int64* offset;
  const int64* step;
  int64 i;
  template <int I, class T>
  CUDARRAY_FORCE_INLINE auto load(const T* p) const {
    if (step[I]) return simd::load_lanes<T, N, Build>(p + offset[I] + i);
    return splat(p[offset[I]]);
  }
  template <class T>
  CUDARRAY_FORCE_INLINE auto splat(T v) const {
    if constexpr (::std::is_same_v<T, bool>)
      return simd::splat<uint8, N, Build>(uint8(v)) != simd::splat<uint8, N, Build>(uint8(0));
    else return simd::splat<T, N, Build>(v);
  }
  template <int I, class G>
  CUDARRAY_FORCE_INLINE auto generate(const G& g) const {
    return simd::from_lanes<typename G::value_type, N, Build>([&](int k) { return g(offset[I] + (i + k) * step[I]); });
  }
  template <class Op, class... V>
  CUDARRAY_FORCE_INLINE auto apply(const Op& op, const V&... v) const {
    if constexpr (Op::lanes) return op(v...);
    else return simd::each_lane<Op, N, Build>(op, v...);
  }
};

/// Steps through the axes [begin, end) in C order, keeping an offset for every operand.
template <int Operands, class Build>
struct odometer {
  int64 index[max_rank] = {};
  int64 offset[Operands] = {};

  /// Moves on; false after the last place, when all offsets are back where they were.
  template <class Space>
  bool next(const Space& s, int begin, int end) {
    for (int d = end - 1; d >= begin; --d) {
      for (int k = 0; k < Operands; ++k) offset[k] += s.stride[k][d];
      if (++index[d] < s.extent[d]) return true;
      for (int k = 0; k < Operands; ++k) offset[k] -= s.stride[k][d] * s.extent[d];
      index[d] = 0;
    }
    return false;
  }
};

template <int Operands>
bool unit_steps(const detail::iteration_space<Operands>& s, int axis, int first_operand) {
  for (int k = first_operand; k < Operands; ++k)
    if (s.stride[k][axis] != 0 && s.stride[k][axis] != 1) return false;
  return true;
}

template <class Build, int Widest>
inline constexpr int lanes_for = Build::vector_bytes / Widest > 1 ? Build::vector_bytes / Widest : 2;

}  // namespace cudarray::inline v0::backend::host

#pragma GCC diagnostic pop
