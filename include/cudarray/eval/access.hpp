// How operands lie on the axes of a space: what the plans of every backend ask.
// SPDX-License-Identifier: MIT
#pragma once

#include "space.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

inline int64 magnitude(int64 v) { return v < 0 ? -v : v; }

/// The strides of a space, without the number of its operands in the type. Operand 0 is the result: `continues` and
/// `nearer` ask the others.
struct access {
  int ndim, operands;
  const int64 (*stride)[max_rank];

  template <int Operands>
  explicit access(const iteration_space<Operands>& s) : ndim(s.ndim), operands(Operands), stride(s.stride) {}
  access(int axes, int count, const int64 (*strides)[max_rank]) : ndim(axes), operands(count), stride(strides) {}

  /// Elements from place to place of operand k along an axis, either way; 0: it stands still there.
  int64 step(int k, int axis) const { return magnitude(stride[k][axis]); }
  /// Operand k lies along the axis: elements are neighbours there, in order or reversed.
  bool along(int k, int axis) const { return step(k, axis) == 1; }
  /// In each operand the places of `axis` follow `places` of `other`: together they are one longer axis.
  CUDARRAY_NO_INLINE bool continues(int axis, int other, int64 places) const {
    bool yes = true;
    for (int k = 1; k < operands; ++k) yes = yes && stride[k][axis] == places * stride[k][other];
    return yes;
  }
  /// No operand has longer steps along an axis than along another.
  CUDARRAY_NO_INLINE bool nearer(int axis, int other) const {
    bool yes = true;
    for (int k = 1; k < operands; ++k) yes = yes && step(k, axis) <= step(k, other);
    return yes;
  }
  /// The axis, but for a and b, along which operand k moves in the shortest steps, the inner one of equal ones; -1: it
  /// moves along none.
  CUDARRAY_NO_INLINE int shortest(int k, int a, int b) const {
    int best = -1;
    for (int d = 0; d < ndim; ++d)
      if (d != a && d != b && stride[k][d] != 0 && (best < 0 || step(k, d) <= step(k, best))) best = d;
    return best;
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
