// Where the operands of a row lie, and how trees of row programs read them.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/row_program.hpp"
#include "row_tree.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// A row as a thread sees it: where its operands begin, what its reductions have found, and where what is kept of it
/// lies, if it is.
template <class Values, int Operands>
struct row_view {
  const char* at[Operands];
  int64 offset[Operands];  ///< elements from the first one of each operand
  char* kept;
  Values values;
};

/// N elements of a row from `i` on; vectors are aligned.
template <int N, class View, int Operands>
struct program_access {
  const row_program_plan<Operands>& plan;
  const View& row;
  int i;

  template <int Ix, class T>
  __device__ lanes<T, N> load(const T*) const {
    if constexpr (Ix >= Operands) {
      return splat(detail::get<Ix - Operands>(row.values));
    } else {
      const T* const p = reinterpret_cast<const T*>(row.at[Ix]);
      const row_operand how = plan.of[Ix];
      if (how == row_operand::vectors) [[likely]]
        return unpack<T, N>(load_shared<N>(p + i));
      if (how == row_operand::still) return splat(detail::read_element(p));
      lanes<T, N> r;
#pragma unroll
      for (int k = 0; k < N; ++k) r.v[k] = detail::read_element(p + i + k);
      return r;
    }
  }
  /// What an index picks: it is asked for each element.
  template <int Ix, class T, class X>
  __device__ lanes<T, N> gather(const detail::gathered<Ix, T, X>& g) const {
    const T* const p = g.p + row.offset[Ix];
    lanes<T, N> r = {};
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const program_access<1, View, Operands> one{plan, row, i + k};
      int64 at = lane_cast<int64>(g.index(one)).v[0];
      if (detail::resolve_index(at, g.limit, g.fault, detail::position_of<X>(one)))
        r.v[k] = detail::read_element(p + (plan.of[Ix] == row_operand::still ? 0 : i + k) + at * g.stride);
    }
    return r;
  }
  template <int Ix, class G>
  __device__ auto generate(const G& g) const {
    lanes<typename G::value_type, N> r;
#pragma unroll
    for (int k = 0; k < N; ++k) r.v[k] = g(distance<Ix>(k));
    return r;
  }
  template <int Ix>
  __device__ int64 distance(int k) const {
    return row.offset[Ix] + (plan.of[Ix] == row_operand::still ? 0 : i + k);
  }
  __device__ bool keeps() const { return row.kept != nullptr; }
  template <class T>
  __device__ lanes<T, N> kept() const {
    return unpack<T, N>(load_shared<N>(reinterpret_cast<const T*>(row.kept) + i));
  }
  template <class T>
  __device__ lanes<T, N> splat(T v) const {
    lanes<T, N> r;
#pragma unroll
    for (int k = 0; k < N; ++k) r.v[k] = v;
    return r;
  }
  template <class Op, class... L>
  __device__ auto apply(const Op& op, const L&... l) const {
    lanes<::std::remove_cvref_t<decltype(op(one(l, 0)...))>, N> r;
#pragma unroll
    for (int k = 0; k < N; ++k) r.v[k] = op(one(l, k)...);
    return r;
  }

 private:
  template <class T>
  __device__ static const T& one(const lanes<T, N>& l, int k) {
    return l.v[k];
  }
  template <class C>
  __device__ static const detail::row_value<C>& one(const detail::row_value<C>& v, int) {
    return v;
  }
};

/// Elements from the first of each operand to that of a row, and how many that is off alignment.
template <int Operands>
struct row_offsets {
  int64 of[Operands];
  uint32 off;
  __device__ row_offsets(const row_program_plan<Operands>& plan, int64 row) {
    const auto& s = plan.space;
    const bool flat = s.kept == 1;
    off = uint32(plan.lead) + (flat ? uint32(row) * uint32(plan.lead_step[0]) : 0);
#pragma unroll
    for (int k = 0; k < Operands; ++k) of[k] = flat ? row * s.step[k][0] : 0;
    if (!flat)
#pragma unroll 1
      for (int d = s.kept - 1; d >= 0; --d) {
        const int64 rest = row;
        row = s.extent[d].divide(row);
        const int64 at = rest - row * s.extent[d].divisor;
        off += uint32(at) * uint32(plan.lead_step[d]);
#pragma unroll
        for (int k = 0; k < Operands; ++k) of[k] += at * s.step[k][d];
      }
  }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
