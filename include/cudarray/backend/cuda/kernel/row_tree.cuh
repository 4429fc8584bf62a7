// Trees of row programs, for one row: what is the same all along it is computed once.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/row_program.hpp"
#include "lanes.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// A division by what is the same all along a row: by its inverse, and a step that corrects the quotient (Markstein
/// 1990) to the nearest number. Where that leaves the normal numbers, it may be one of those beside it.
template <class Types, class C, class Tree>
struct row_quotient {
  using value_type = typename Types::result;
  Tree tree;
  C by, inverse;
  bool normal;
  __device__ row_quotient(const Tree& t, C d)
      : tree(t), by(d), inverse(C(1) / d), normal(::fabs(d) > C(1e-15f) && ::fabs(d) < C(1e15f)) {
    if constexpr (sizeof(C) == 4) asm volatile("" : "+f"(by));  // or it is converted anew for each element
  }
  __device__ C divide(C v) const {
    const C q = v * inverse, corrected = ::fma(::fma(-q, by, v), inverse, q), size = ::fabs(q);
    return size > C(1e-15f) && size < detail::bounds<C>::highest ? corrected : q;
  }
  template <class A>
  __device__ auto operator()(const A& a) const {
    auto v = lane_cast<C>(tree(a));
    if (normal) {
#pragma unroll
      for (auto& x : v.v) x = divide(x);
    } else {
#pragma unroll
      for (auto& x : v.v) x = x / by;
    }
    return lane_cast<value_type>(v);
  }
};
struct division_by_inverse {
  template <class Types, class Tree, class C>
  __device__ static row_quotient<Types, C, Tree> make(const Tree& tree, C by) {
    return {tree, by};
  }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
