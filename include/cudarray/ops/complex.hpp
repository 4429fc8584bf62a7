// Complex numbers: their parts, their angles, and what they are made of.
// SPDX-License-Identifier: MIT
#pragma once

#include "math.hpp"
#include "operators.hpp"

namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// The imaginary part of a real number.
struct no_part_op : rule::common {
  static constexpr bool lanes = false;
  template <class L>
  CUDARRAY_HD L operator()(L) const {
    return L(0);
  }
};
/// Two parts as one number.
struct to_complex_op : rule::of_parts {
  static constexpr bool lanes = false;
  template <class T>
  CUDARRAY_HD complex<T> operator()(T re, T im) const {
    return {re, im};
  }
};
/// A magnitude and an angle as one number.
struct polar_op : rule::of_parts {
  static constexpr bool lanes = false, costly = true;
  template <class T>
  CUDARRAY_HD complex<T> operator()(T magnitude, T angle) const {
    return {magnitude * math::cos(angle), magnitude * math::sin(angle)};
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class X>
inline constexpr bool has_complex = is_complex<value_type_t<X>>;
/// Conjugates where there are such, else the operand itself.
template <class X>
decltype(auto) conjugates(const X& x) {
  if constexpr (has_complex<X>) return elementwise("conj", op::conj_op{}, x);
  else return (x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The real parts: float32 of complex64. Of real numbers, themselves. Lazy.
template <array_expression X>
auto real(const X& x) {
  if constexpr (detail::has_complex<X>) return detail::elementwise("real", op::real_op{}, x);
  else return astype<value_type_t<X>>(x);
}
/// The imaginary parts, 0 of real numbers. Lazy.
template <array_expression X>
auto imag(const X& x) {
  if constexpr (detail::has_complex<X>) return detail::elementwise("imag", op::imag_op{}, x);
  else return detail::elementwise("imag", op::no_part_op{}, x);
}
/// The complex conjugates; real numbers as they are. Lazy.
template <array_expression X>
auto conj(const X& x) {
  if constexpr (detail::has_complex<X>) return detail::elementwise("conj", op::conj_op{}, x);
  else return astype<value_type_t<X>>(x);
}
/// The same, by its longer name.
template <array_expression X>
auto conjugate(const X& x) {
  return conj(x);
}
/// The angles to the positive real axis, in (-pi, pi], or in degrees: of a real number 0 or pi. Lazy.
template <array_expression X>
auto angle(const X& x, bool deg = false) {
  const double unit = deg ? 57.29577951308232 : 1;
  return detail::elementwise("angle", op::angle_op{}, x) * unit;
}
/// Numbers re + i im: complex64 of float32, complex128 where a part is a float64 or an integer. Lazy; broadcasts.
///     ca::to_complex(x, 0)
template <class X, class Y>
requires detail::any_array<X, Y>
auto to_complex(const X& re, const Y& im) { return detail::elementwise("to_complex", op::to_complex_op{}, re, im); }
/// Numbers of a magnitude and an angle in radians, in the same dtypes. Lazy; broadcasts.
template <class X, class Y>
requires detail::any_array<X, Y>
auto polar(const X& magnitude, const Y& angle) {
  return detail::elementwise("polar", op::polar_op{}, magnitude, angle);
}
/// Whether elements have an imaginary part, or none. Lazy.
template <array_expression X>
auto iscomplex(const X& x) {
  return imag(x) != 0;
}
template <array_expression X>
auto isreal(const X& x) {
  return imag(x) == 0;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
