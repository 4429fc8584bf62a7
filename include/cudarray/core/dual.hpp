// Dual numbers: what functions are called with for their derivatives in one direction.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "annotations.hpp"
#include "half.hpp"

namespace cudarray::inline v0 {

/// A number, or a pack of them, and its derivative in one direction: an element of what `ca::jvp` calls functions with.
/// It is computed with as with the number, whose derivative goes along; comparisons are of the number. A dtype of
/// arrays, without literals and files.
template <class T>
struct dual {
  T primal{}, tangent{};
  constexpr dual() = default;
  CUDARRAY_HD constexpr dual(T p, T t) : primal(p), tangent(t) {}
  /// A constant.
  CUDARRAY_HD constexpr dual(T p) : primal(p), tangent{} {}
  template <class N>
  requires(::std::is_convertible_v<N, float>) CUDARRAY_HD explicit constexpr dual(N v) : dual(T(v)) {}
  template <class U>
  CUDARRAY_HD explicit constexpr dual(const dual<U>& o) : primal(T(o.primal)), tangent(T(o.tangent)) {}
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr dual operator-(dual a) { return {-a.primal, -a.tangent}; }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr dual& operator+=(const dual& o) {
    primal += o.primal, tangent += o.tangent;
    return *this;
  }
  // A constant has no tangent to multiply: infinity times 0 is NaN.
#define CUDARRAY_DUAL(sign, A, B, r, t) \
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr dual operator sign(A a, B b) { return {r, t}; }
  CUDARRAY_DUAL(+, dual, dual, a.primal + b.primal, a.tangent + b.tangent)
  CUDARRAY_DUAL(+, dual, T, a.primal + b, a.tangent)
  CUDARRAY_DUAL(+, T, dual, a + b.primal, b.tangent)
  CUDARRAY_DUAL(-, dual, dual, a.primal - b.primal, a.tangent - b.tangent)
  CUDARRAY_DUAL(-, dual, T, a.primal - b, a.tangent)
  CUDARRAY_DUAL(-, T, dual, a - b.primal, -b.tangent)
  CUDARRAY_DUAL(*, dual, dual, a.primal* b.primal, a.tangent* b.primal + a.primal * b.tangent)
  CUDARRAY_DUAL(*, dual, T, a.primal* b, a.tangent* b)
  CUDARRAY_DUAL(*, T, dual, a* b.primal, a* b.tangent)
  CUDARRAY_DUAL(/, dual, dual, a.primal / b.primal, (a.tangent - a.primal / b.primal * b.tangent) / b.primal)
  CUDARRAY_DUAL(/, dual, T, a.primal / b, a.tangent / b)
  CUDARRAY_DUAL(/, T, dual, a / b.primal, -(a / b.primal * b.tangent) / b.primal)
#undef CUDARRAY_DUAL
#define CUDARRAY_COMPARISON(sign)                                                         \
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr auto operator sign(dual a, dual b) { \
    return a.primal sign b.primal;                                                        \
  }
  CUDARRAY_COMPARISON(==)
  CUDARRAY_COMPARISON(!=)
  CUDARRAY_COMPARISON(<)
  CUDARRAY_COMPARISON(<=)
  CUDARRAY_COMPARISON(>)
  CUDARRAY_COMPARISON(>=)
#undef CUDARRAY_COMPARISON
};

}  // namespace cudarray::inline v0
