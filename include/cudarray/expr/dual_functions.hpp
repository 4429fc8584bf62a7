// Elementwise functions of dual numbers, made of the derivatives that gradients are made of.
// SPDX-License-Identifier: MIT
#pragma once

#include "derivatives.hpp"
#include "node.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class T>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr T primal_part(const T& x) {
  return x;
}
template <class T>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr T primal_part(const dual<T>& x) {
  return x.primal;
}
/// Operand K of a function of N.
template <int K, int N, class X>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr auto operand_or_unread(const X& x) {
  if constexpr (K < N) return get<K>(x);
  else return unread{};
}
template <class Op>
inline constexpr bool is_user_function = false;
template <class F>
inline constexpr bool is_user_function<op::user_op<F>> = true;
/// What operand K adds to the tangent of op(primals...) = r.
template <int K, int N, class Op, class R, class L, class X>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr R tangent_of(const Op& op, const R& r, const L& l, const X& primals) {
  using rule = derivative<Op, K>;
  constexpr bool differentiable = !is_dual<L> || rule::exists || !is_user_function<Op>;
  static_assert(differentiable,
                "cudarray: a function in ca::map of variables has no derivative: write its member derivative(x, r), or "
                "use ca::stop_gradient(x)");
  if constexpr (is_dual<L> && rule::exists)
    return R(rule::of(op, l.tangent, r, operand_or_unread<0, N>(primals), operand_or_unread<1, N>(primals),
                      operand_or_unread<2, N>(primals)));
  else return R{};
}
template <class Op, class... L, int... K>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr auto dual_value_of(const Op& op, ::std::integer_sequence<int, K...>,
                                                               const L&... l) {
  const auto r = op(primal_part(l)...);
  const slots<decltype(primal_part(l))...> primals{{primal_part(l)}...};
  using R = ::std::remove_const_t<decltype(r)>;
  return dual<R>(r, (tangent_of<K, int(sizeof...(L))>(op, r, l, primals) + ...));
}
template <class Op, class... L>
CUDARRAY_HD constexpr auto dual_value(const Op& op, const L&... l) {
  return dual_value_of(op, ::std::make_integer_sequence<int, int(sizeof...(L))>{}, l...);
}

template <class C, class T>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr dual<T> dual_select(const C& c, const dual<T>& x, const dual<T>& y) {
  using namespace math;
  return {select(c, x.primal, y.primal), select(c, x.tangent, y.tangent)};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// Dual numbers of their parts.
struct dual_op {
  static constexpr bool lanes = true;
  template <class A, class B>
  using types = rule::uniform<result_type_t<A, B>, dual<result_type_t<A, B>>, detail::is_floating<result_type_t<A, B>>>;
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD constexpr auto operator()(const L& primal, const L& tangent) const {
    return dual<L>(primal, tangent);
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Found by argument-dependent look-up, by the functors of the tables and in users' functions.
#define CUDARRAY_DUAL(name, op_name)                     \
  template <class T>                                     \
  CUDARRAY_HD constexpr dual<T> name(const dual<T>& x) { \
    return detail::dual_value(op::op_name##_op{}, x);    \
  }
CUDARRAY_DUAL(abs, absolute)
CUDARRAY_DUAL(exp, exp)
CUDARRAY_DUAL(exp2, exp2)
CUDARRAY_DUAL(expm1, expm1)
CUDARRAY_DUAL(log, log)
CUDARRAY_DUAL(log2, log2)
CUDARRAY_DUAL(log10, log10)
CUDARRAY_DUAL(log1p, log1p)
CUDARRAY_DUAL(sqrt, sqrt)
CUDARRAY_DUAL(cbrt, cbrt)
CUDARRAY_DUAL(sin, sin)
CUDARRAY_DUAL(cos, cos)
CUDARRAY_DUAL(tan, tan)
CUDARRAY_DUAL(arcsin, arcsin)
CUDARRAY_DUAL(arccos, arccos)
CUDARRAY_DUAL(arctan, arctan)
CUDARRAY_DUAL(sinh, sinh)
CUDARRAY_DUAL(cosh, cosh)
CUDARRAY_DUAL(tanh, tanh)
CUDARRAY_DUAL(erf, erf)
CUDARRAY_DUAL(erfc, erfc)
CUDARRAY_DUAL(floor, floor)
CUDARRAY_DUAL(ceil, ceil)
CUDARRAY_DUAL(trunc, trunc)
CUDARRAY_DUAL(rint, rint)
#undef CUDARRAY_DUAL
#define CUDARRAY_DUAL_OF(name, op_name, X, Y)                  \
  template <class T>                                           \
  CUDARRAY_HD constexpr dual<T> name(const X& x, const Y& y) { \
    return detail::dual_value(op::op_name##_op{}, x, y);       \
  }
#define CUDARRAY_DUAL(name, op_name)                \
  CUDARRAY_DUAL_OF(name, op_name, dual<T>, dual<T>) \
  CUDARRAY_DUAL_OF(name, op_name, dual<T>, T)       \
  CUDARRAY_DUAL_OF(name, op_name, T, dual<T>)
CUDARRAY_DUAL(maximum, maximum)
CUDARRAY_DUAL(minimum, minimum)
CUDARRAY_DUAL(power, power)
CUDARRAY_DUAL(remainder, remainder)
CUDARRAY_DUAL(floor_divide, floor_divide)
CUDARRAY_DUAL(arctan2, arctan2)
CUDARRAY_DUAL(hypot, hypot)
CUDARRAY_DUAL(copysign, copysign)
#undef CUDARRAY_DUAL
#undef CUDARRAY_DUAL_OF
#define CUDARRAY_DUAL_OF(name, sign, X, Y)                  \
  template <class T>                                        \
  CUDARRAY_HD constexpr auto name(const X& x, const Y& y) { \
    return x sign y;                                        \
  }
#define CUDARRAY_DUAL(name, sign)                \
  CUDARRAY_DUAL_OF(name, sign, dual<T>, dual<T>) \
  CUDARRAY_DUAL_OF(name, sign, dual<T>, T)       \
  CUDARRAY_DUAL_OF(name, sign, T, dual<T>)
CUDARRAY_DUAL(add, +)
CUDARRAY_DUAL(subtract, -)
CUDARRAY_DUAL(multiply, *)
CUDARRAY_DUAL(equal, ==)
CUDARRAY_DUAL(not_equal, !=)
CUDARRAY_DUAL(less, <)
CUDARRAY_DUAL(less_equal, <=)
CUDARRAY_DUAL(greater, >)
CUDARRAY_DUAL(greater_equal, >=)
#undef CUDARRAY_DUAL
#undef CUDARRAY_DUAL_OF
template <class T>
CUDARRAY_HD constexpr dual<T> negative(const dual<T>& x) {
  return -x;
}
template <class T>
CUDARRAY_HD constexpr dual<T> sign(const dual<T>& x) {
  return detail::dual_value(op::sign_op{}, x);
}
#define CUDARRAY_DUAL(name)                           \
  template <class T>                                  \
  CUDARRAY_HD constexpr auto name(const dual<T>& x) { \
    return op::name##_op{}(x.primal);                 \
  }
CUDARRAY_DUAL(isnan)
CUDARRAY_DUAL(isinf)
CUDARRAY_DUAL(isfinite)
#undef CUDARRAY_DUAL
/// `c` is a truth value, or one for each lane.
template <class C, class T>
requires(!::std::is_same_v<C, bool>) CUDARRAY_HD
    constexpr dual<T> select(const C& c, const dual<T>& x, const dual<T>& y) {
  return detail::dual_select(c, x, y);
}
template <class C, class T>
CUDARRAY_HD constexpr dual<T> select(const C& c, const dual<T>& x, const T& y) {
  return detail::dual_select(c, x, dual<T>(y));
}
template <class C, class T>
CUDARRAY_HD constexpr dual<T> select(const C& c, const T& x, const dual<T>& y) {
  return detail::dual_select(c, dual<T>(x), y);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
