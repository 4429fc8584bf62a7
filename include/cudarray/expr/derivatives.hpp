// The derivatives of elementwise functions, a line for each operand: its gradient, from that of the result.
// SPDX-License-Identifier: MIT
#pragma once

#include "operator_table.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What a gradient is made from besides the result's: the result r, the operands x, y and z, a bit each.
struct reads {
  static constexpr unsigned nothing = 0, r = 1, x = 2, y = 4, z = 8, rx = r | x, ry = r | y, xy = x | y,
                            xyz = x | y | z;
  static constexpr unsigned operand(int k) { return 2u << k; }
};
/// Stands for what a gradient says that it does not read.
struct unread {};

/// The gradient of operand K of a function Op: `exists` is false where it is zero everywhere. `of(op, g, r, x, y, z)`
/// takes lanes: g is the gradient of the result. It is what g becomes, not g times a factor: infinity times 0 is NaN.
template <class Op, int K>
struct derivative {
  static constexpr bool exists = false;
};

/// The derivative of x sigmoid(x), s being sigmoid(x); of x sigmoid(v), with x v' for x.
template <class L, class C>
CUDARRAY_HD constexpr auto silu_slope(const L& x, const L& s, const C& one) {
  return s * (one + x * (one - s));
}
/// The derivative of x sigmoid(v), v = 1.5957691 (x + 0.044715 x^3), whose powers are finite.
CUDARRAY_EXEC_CHECK_OFF
template <class L, class C>
CUDARRAY_HD constexpr auto gelu_tanh_slope(const L& x, const C& c) {
  return silu_slope(x * c(1.5957691216057308) * (c(1) + c(0.134145) * x * x),
                    op::sigmoid_op{}(c(1.5957691216057308) * (x + c(0.044715) * x * x * x)), c(1));
}
/// The derivative of sin(pi x) / (pi x) next to 0, u being (pi x)^2: its Taylor series.
CUDARRAY_EXEC_CHECK_OFF
template <class L, class C>
CUDARRAY_HD constexpr auto sinc_slope_at_0(const L& x, const L& u, const C& c) {
  return x * c(-3.289868133696453) *
         (c(1) -
          u / c(10) *
              (c(1) - u / c(28) * (c(1) - u / c(54) * (c(1) - u / c(88) * (c(1) - u / c(130) * (c(1) - u / c(180)))))));
}
/// The derivative of the Bessel function i1 next to 0, u being x^2 / 4: the sum of (k + 1/2) u^k / (k! (k + 1)!).
CUDARRAY_EXEC_CHECK_OFF
template <class L, class C>
CUDARRAY_HD constexpr auto i1_slope_at_0(const L& u, const C& c) {
  return c(0.5) +
         u * (c(0.75) +
              u * (c(5. / 24) +
                   u * (c(7. / 288) +
                        u * (c(9. / 5760) + u * (c(11. / 172800) + u * (c(13. / 7257600) + u * c(15. / 406425600)))))));
}
/// The derivative of x tanh(softplus(x)), t being that hyperbolic tangent and s sigmoid(x).
template <class L, class C>
CUDARRAY_HD constexpr auto mish_slope(const L& x, const L& t, const L& s, const C& one) {
  return t + x * s * (one - t * t);
}

#define CUDARRAY_DERIVATIVE(name, operand, reads_, value)                                                      \
  template <>                                                                                                  \
  struct derivative<op::name##_op, operand> {                                                                  \
    static constexpr bool exists = true;                                                                       \
    static constexpr unsigned needs = reads::reads_;                                                           \
    CUDARRAY_EXEC_CHECK_OFF                                                                                    \
    template <class G, class R, class X, class Y, class Z>                                                     \
    CUDARRAY_HD static constexpr auto of(const op::name##_op&, const G& g, const R& r, const X& x, const Y& y, \
                                         const Z& z) {                                                         \
      using namespace math;                                                                                    \
      [[maybe_unused]] const number_like c{g};                                                                 \
      (void)r, (void)x, (void)y, (void)z;                                                                      \
      return value;                                                                                            \
    }                                                                                                          \
  };
#include "derivatives.inc"
#undef CUDARRAY_DERIVATIVE

template <class U>
struct derivative<op::astype_op<U>, 0> {
  static constexpr bool exists = is_differentiable<U>;
  static constexpr unsigned needs = reads::nothing;
  template <class G, class... X>
  CUDARRAY_HD static constexpr const G& of(const op::astype_op<U>&, const G& g, const X&...) {
    return g;
  }
};

/// Whether a user's function of N operands has a derivative: `f.derivative(x, r)`, or `f.derivative<K>(x..., r)`.
template <class F, int N>
inline constexpr bool differentiates = false;
template <class F>
inline constexpr bool differentiates<F, 1> = requires(const F& f, double x) {
  f.derivative(x, x);
};
template <class F>
inline constexpr bool differentiates<F, 2> = requires(const F& f, double x) {
  f.template derivative<0>(x, x, x);
};
template <class F>
inline constexpr bool differentiates<F, 3> = requires(const F& f, double x) {
  f.template derivative<0>(x, x, x, x);
};

/// Whether that takes these numbers, which are dual numbers where it is differentiated itself.
template <class F, class R, class X, class Y, class Z>
constexpr bool is_twice_differentiable() {
  if constexpr (::std::is_same_v<Y, unread>) {
    return requires(const F& f, const R& r, const X& x) { f.derivative(x, r); };
  } else if constexpr (::std::is_same_v<Z, unread>) {
    return requires(const F& f, const R& r, const X& x, const Y& y) { f.template derivative<0>(x, y, r); };
  } else {
    return requires(const F& f, const R& r, const X& x, const Y& y, const Z& z) {
      f.template derivative<0>(x, y, z, r);
    };
  }
}

template <class F, int K>
struct derivative<op::user_op<F>, K> {
  static constexpr bool exists = differentiates<F, 1> || differentiates<F, 2> || differentiates<F, 3>;
  static constexpr unsigned needs = reads::r | reads::xyz;
  CUDARRAY_EXEC_CHECK_OFF
  template <class G, class R, class X, class Y, class Z>
  CUDARRAY_HD static constexpr auto of(const op::user_op<F>& op, const G& g, const R& r, const X& x, const Y& y,
                                       const Z& z) {
    constexpr bool twice = is_twice_differentiable<F, R, X, Y, Z>();
    static_assert(
        twice,
        "cudarray: the derivative of a function in ca::map is differentiated, and takes no dual numbers: write "
        "template <class L> L derivative(L x, L r)");
    if constexpr (!twice) return g;
    else if constexpr (::std::is_same_v<Y, unread>) return g * op.f.derivative(x, r);
    else if constexpr (::std::is_same_v<Z, unread>) return g * op.f.template derivative<K>(x, y, r);
    else return g * op.f.template derivative<K>(x, y, z, r);
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
