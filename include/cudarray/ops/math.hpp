// Elementwise functions: NumPy's names, lazy, one template each made from the tables.
// SPDX-License-Identifier: MIT
#pragma once

#include "out.hpp"

namespace cudarray::inline v0 {

/// Each returns a lazy expression of the operand's shape; with `ca::out(c)` last it is evaluated into c.
#define CUDARRAY_FUNCTION(name, rule_, value)                                                  \
  template <array_expression X>                                                                \
  CUDARRAY_PER_BUILD auto name(X&& x) {                                                        \
    return detail::elementwise(#name, op::name##_op{}, static_cast<X&&>(x));                   \
  }                                                                                            \
  template <array_expression X, class T, class D, class Build = this_build>                    \
  const ndarray<T, D> name(const X& x, const out_argument<T, D>& o) {                          \
    return detail::write_out<Build>(#name, o, detail::elementwise(#name, op::name##_op{}, x)); \
  }
#include "../expr/unary_functions.inc"
#undef CUDARRAY_FUNCTION

/// Each broadcasts its operands, of which one at least is an array. Throws shape_error when built.
#define CUDARRAY_FUNCTION(name, rule_, value)                                                                  \
  template <class X, class Y>                                                                                  \
  requires(array_expression<X> || array_expression<Y>) CUDARRAY_PER_BUILD auto name(X&& x, Y&& y) {            \
    return detail::elementwise(#name, op::name##_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));              \
  }                                                                                                            \
  template <class X, class Y, class T, class D, class Build = this_build>                                      \
  requires(array_expression<X> || array_expression<Y>) const ndarray<T, D> name(const X& x, const Y& y,        \
                                                                                const out_argument<T, D>& o) { \
    return detail::write_out<Build>(#name, o, detail::elementwise(#name, op::name##_op{}, x, y));              \
  }
#include "../expr/binary_functions.inc"
#undef CUDARRAY_FUNCTION

/// The absolute value; NumPy's short name and CUDArray's `fabs`.
template <array_expression X>
CUDARRAY_PER_BUILD auto abs(const X& x) {
  return absolute(x);
}
template <array_expression X>
CUDARRAY_PER_BUILD auto fabs(const X& x) {
  return absolute(x);
}
template <class X, class Y>
requires(array_expression<X> || array_expression<Y>) CUDARRAY_PER_BUILD auto mod(const X& x, const Y& y) {
  return detail::elementwise("mod", op::remainder_op{}, x, y);
}

/// Elements of `a` where `condition` holds, of `b` elsewhere; all three broadcast. Lazy; with `ca::out(c)` last into c.
///     ca::where(x > 0, x, 0.1f * x)
template <array_expression C, class A, class B>
CUDARRAY_PER_BUILD auto where(const C& condition, const A& a, const B& b) {
  if constexpr (scalar_value<A> && scalar_value<B>) {
    // two scalars: their own types decide
    using strong = result_type_t<normal_dtype_t<A>, normal_dtype_t<B>>;
    return detail::elementwise("where", op::where_op{}, condition,
                               detail::scalar<strong>{detail::convert_scalar<strong>(a)},
                               detail::scalar<strong>{detail::convert_scalar<strong>(b)});
  } else {
    return detail::elementwise("where", op::where_op{}, condition, a, b);
  }
}
template <array_expression C, class A, class B, class T, class D, class Build = this_build>
const ndarray<T, D> where(const C& condition, const A& a, const B& b, const out_argument<T, D>& o) {
  return detail::write_out<Build>("where", o, where(condition, a, b));
}

/// Elements limited to [low, high]; arrays or scalars, broadcast. A low above high gives high. Lazy; with `ca::out(c)`
/// last into c.
template <array_expression X, class L, class H>
CUDARRAY_PER_BUILD auto clip(const X& x, const L& low, const H& high) {
  return detail::elementwise("clip", op::clip_op{}, x, low, high);
}
template <array_expression X, class L, class H, class T, class D, class Build = this_build>
const ndarray<T, D> clip(const X& x, const L& low, const H& high, const out_argument<T, D>& o) {
  return detail::write_out<Build>("clip", o, clip(x, low, high));
}

/// The elements as dtype T. Float to integer saturates and NaN gives 0. Lazy.
template <dtype T, array_expression X>
CUDARRAY_PER_BUILD auto astype(const X& x) {
  return detail::elementwise("astype", op::astype_op<T>{}, x);
}

/// A function of your own, element by element: lazy, broadcast, fused like any other. For CUDA arrays `f` is a functor
/// or lambda with `__host__ __device__`. It takes the elements of the operands (float for the half types).
///     auto huber = ca::map([](float e) { return e < 1 ? e * e / 2 : e - 0.5f; }, ca::abs(x - y));
template <class F, class... X>
requires(array_expression<X> || ...) CUDARRAY_PER_BUILD auto map(const F& f, const X&... x) {
  return detail::elementwise("map", op::user_op<F>{{}, f}, x...);
}

}  // namespace cudarray::inline v0
