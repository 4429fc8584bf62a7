// Functions that round, repair and take numbers apart: lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "complex.hpp"
#include "math.hpp"
#include "operators.hpp"

namespace cudarray::inline v0 {

/// What stands for NaN and the infinities; infinite here: the largest and the lowest number of the dtype.
struct nan_to_num_options {
  double nan = 0, posinf = __builtin_huge_val(), neginf = -__builtin_huge_val();
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// The nearest multiple of 10^-decimals, ties to even, by NumPy's formula: x times `factor`, or (`up`) divided by it,
/// is rounded. Where that is not finite, x has no digits to lose.
struct round_op : rule::ordered {
  static constexpr bool lanes = false;
  double factor;
  bool up;
  template <class L>
  CUDARRAY_HD L operator()(const L& x) const {
    if constexpr (detail::is_dual<L>) {
      return L((*this)(x.primal));
    } else if constexpr (!::std::is_floating_point_v<L>) {
      if (!up) return x;
      return detail::lane_cast<L>(math::rint(double(x) / factor) * factor);
    } else {
      const L by = L(factor), scaled = up ? x / by : x * by;
      if (!math::isfinite(scaled)) return x;
      if (scaled == L(0)) return scaled;
      return up ? math::rint(scaled) * by : math::rint(scaled) / by;
    }
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether derivatives by X are asked for.
template <class X>
constexpr bool varies() {
  if constexpr (array_expression<X>) return has_variable<X> || is_dual<value_type_t<X>>;
  else return false;
}
template <class N>
constexpr bool is_whole() {
  if constexpr (array_expression<N>) return is_integer<value_type_t<N>>;
  else return is_integer<normal_dtype_t<N>>;
}
/// The largest finite number of a floating dtype.
template <class T>
constexpr double largest_number() {
  if constexpr (::std::is_same_v<T, float16>) return 65504;
  else if constexpr (::std::is_same_v<T, bfloat16>) return 0x1.fep127;
  else return double(::std::numeric_limits<primal_t<T>>::max());
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The nearest multiple of 10^-decimals, ties to the even one, as NumPy computes it. Integers change only where
/// `decimals` is negative.
///     ca::round(x, 2)
template <array_expression X>
auto round(const X& x, detail::any_integer decimals = 0) {
  if constexpr (detail::has_complex<X>) {
    return to_complex(round(real(x), decimals), round(imag(x), decimals));
  } else {
    const double exponent = decimals < 0 ? -double(decimals.value) : double(decimals.value);
    return detail::elementwise("round", op::round_op{{}, math::power(10., exponent), decimals < 0}, x);
  }
}
/// NaN and infinities replaced by numbers, of the dtype's range where the options say nothing. Integers as they are.
///     ca::nan_to_num(x, {.nan = -1})
template <array_expression X>
auto nan_to_num(const X& x, const nan_to_num_options& o = {}) {
  using T = value_type_t<X>;
  if constexpr (detail::is_complex<T>) {
    return to_complex(nan_to_num(real(x), o), nan_to_num(imag(x), o));
  } else if constexpr (kind_of<T> < kind::floating) {
    return detail::elementwise("nan_to_num", op::astype_op<T>{}, x);
  } else {
    constexpr double largest = detail::largest_number<T>();
    const double high = o.posinf == __builtin_huge_val() ? largest : o.posinf;
    const double low = o.neginf == -__builtin_huge_val() ? -largest : o.neginf;
    return detail::elementwise("nan_to_num", op::nan_to_num_op{{}, o.nan, high, low}, x);
  }
}
/// The quotients rounded down, and what is left: x = quotient * y + remainder. Both lazy.
///     auto [quotient, remainder] = ca::divmod(x, 3);
template <class X, class Y>
requires detail::any_array<X, Y>
auto divmod(const X& x, const Y& y) { return ::std::pair(floor_divide(x, y), remainder(x, y)); }
/// The fractional and the whole parts, both with the sign of x. Both lazy.
///     auto [fraction, whole] = ca::modf(x);
template <array_expression X>
auto modf(const X& x) {
  const auto v = astype<decltype(rule::to_float<value_type_t<X>, false>())>(x);
  return ::std::pair(copysign(where(isinf(v), 0, v - trunc(v)), v), trunc(v));
}
/// x times 2 to the power of integers, rounded once; in x's floating dtype, of a number in float64. Lazy.
///     ca::ldexp(x, 3)  // 8 x
template <class X, class N>
requires detail::any_array<X, N>
auto ldexp(const X& x, const N& n) {
  constexpr bool whole = detail::is_whole<N>();
  static_assert(whole, "cudarray: ldexp: the exponents must be of an integer dtype");
  if constexpr (whole) {
    const auto exponents = [&]<class T>(T) {
      if constexpr (scalar_value<N>) return double(n);
      else return astype<T>(n);
    };
    if constexpr (scalar_value<X>) {
      return detail::elementwise("ldexp", op::ldexp_op{}, double(x), exponents(double{}));
    } else {
      using T = decltype(rule::to_float<value_type_t<X>, false>());
      using C = detail::compute_t<T>;  // half types have no large exponents
      return astype<T>(detail::elementwise("ldexp", op::ldexp_op{}, astype<C>(x), exponents(detail::primal_t<C>{})));
    }
  } else {
    return detail::poison{};
  }
}
/// The sum of (q + k)^-s over all k from 0 on (Hurwitz), Riemann's for q = 1: NaN for s < 1, for q < 0 and s no
/// integer, and for q below -10^5. It has a derivative by q. Lazy.
///     ca::zeta(2, x)
template <class S, class Q>
requires detail::any_array<S, Q>
auto zeta(const S& s, const Q& q) {
  constexpr bool constant = !detail::varies<S>();
  static_assert(constant, "cudarray: zeta has no derivative by its first argument: write ca::stop_gradient(s)");
  return detail::elementwise("zeta", op::zeta_op{}, s, q);
}
/// Mantissas, 0.5 <= |m| < 1, and exponents, int32: x = m 2^n. 0, the infinities and NaN are their own mantissas. Both
/// lazy.
///     auto [mantissa, exponent] = ca::frexp(x);
template <array_expression X>
auto frexp(const X& x) {
  const auto v = astype<decltype(rule::to_float<value_type_t<X>, false>())>(x);
  const auto n = detail::elementwise("frexp", op::exponent_op{}, v);
  return ::std::pair(ldexp(v, -n), n);
}
/// 1 / (1 + exp(-x)); nnet::sigmoid is the same function.
template <array_expression X>
auto expit(const X& x) {
  return detail::elementwise("expit", op::sigmoid_op{}, x);
}
/// Whether elements are the infinity of this sign.
template <array_expression X>
auto isposinf(const X& x) {
  return isinf(x) & (x > 0);
}
template <array_expression X>
auto isneginf(const X& x) {
  return isinf(x) & (x < 0);
}
/// radians and degrees by NumPy's other names.
template <array_expression X>
auto deg2rad(const X& x) {
  return radians(x);
}
template <array_expression X>
auto rad2deg(const X& x) {
  return degrees(x);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
