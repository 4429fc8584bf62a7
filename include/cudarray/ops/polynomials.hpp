// Polynomials by their coefficients, that of the highest power first, as numpy.polyval has them. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <utility>

#include "convolve.hpp"
#include "joining.hpp"
#include "operators.hpp"
#include "splitting.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class... X>
constexpr bool are_polynomials() {
  constexpr bool one = on_one_device<X...>();
  static_assert(one,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  return one;
}
template <class P>
auto coefficients(const char* function, const P& p) {
  const auto c = eval(p);
  if (c.ndim() != 1) fail<shape_error>(function, ": coefficients of shape ", c.shape(), ", not of one axis");
  return c;
}
/// With zeros in front, up to so many coefficients.
template <class P>
auto with_degree(const P& p, int64 n) {
  return pad(p, {{n > p.size() ? n - p.size() : 0, 0}});
}
/// n, n - 1, .., 1 in the dtype of floats, else in int64.
template <class T, class D>
auto falling_powers(int64 n, D device) {
  using U = ::std::conditional_t<(kind_of<primal_t<T>> < kind::floating), int64, real_t<primal_t<T>>>;
  return integer_range<U>(n, 0, -1, device);
}
/// The coefficients without zeros in front; one at least is left.
template <class P>
auto without_leading_zeros(const P& p) {
  const auto there = flatnonzero(plain_values(p) != 0);
  const int64 first = there.size() > 0 ? eval(there(0)).item() : p.size() - 1;
  return eval(split(p, {first})[1]);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Leading zeros stay where nothing else is said, and dtypes are those of the coefficients: NumPy drops some of the one,
// and widens the other. Throw shape_error for coefficients of other than one axis.

/// The values of a polynomial, of x's shape, by Horner's rule: a pass over x for each coefficient. In the common dtype.
///     ca::polyval(ca::array<double>({3, 0, 1}), x)  // 3 x^2 + 1
template <array_expression P, array_expression X>
auto polyval(const P& p, const X& x) {
  if constexpr (detail::are_polynomials<P, X>()) {
    using T = result_type_t<value_type_t<P>, value_type_t<X>>;
    const auto c = detail::coefficients("polyval", p);
    const auto at = eval(x);
    auto r = c.size() > 0 ? eval(astype<T>(at * 0 + c(0))) : eval(astype<T>(at * 0 + sum(c)));
    for (int64 i = 1; i < c.size(); ++i) r = eval(astype<T>(r * at + c(i)));
    return r;
  } else {
    return detail::poison{};
  }
}
template <array_expression P, scalar_value X>
auto polyval(const P& p, X x) {
  return polyval(p, full<normal_dtype_t<X>>(shape{}, x, detail::device_of(p)));
}
/// The sum of two polynomials.
template <array_expression P, array_expression Q>
auto polyadd(const P& p, const Q& q) {
  if constexpr (detail::are_polynomials<P, Q>()) {
    const auto a = detail::coefficients("polyadd", p);
    const auto b = detail::coefficients("polyadd", q);
    return eval(detail::with_degree(a, b.size()) + detail::with_degree(b, a.size()));
  } else {
    return detail::poison{};
  }
}
/// The difference of two polynomials.
template <array_expression P, array_expression Q>
auto polysub(const P& p, const Q& q) {
  if constexpr (detail::are_polynomials<P, Q>()) {
    const auto a = detail::coefficients("polysub", p);
    const auto b = detail::coefficients("polysub", q);
    return eval(detail::with_degree(a, b.size()) - detail::with_degree(b, a.size()));
  } else {
    return detail::poison{};
  }
}
/// The product of two polynomials: m + n - 1 coefficients. Throws value_error where one has none.
template <array_expression P, array_expression Q>
auto polymul(const P& p, const Q& q) {
  if constexpr (detail::are_polynomials<P, Q>()) {
    return convolve(detail::coefficients("polymul", p), detail::coefficients("polymul", q));
  } else {
    return detail::poison{};
  }
}
/// The quotient of two polynomials, and the remainder, whose leading zeros are left out, what is nearly 0 is not:
/// u = quotient v + remainder.
/// Integers are computed in float64. Waits for the device. Throws value_error where one has no coefficients.
///     auto [quotient, remainder] = ca::polydiv(u, v);
template <array_expression U, array_expression V>
auto polydiv(const U& u, const V& v) {
  if constexpr (detail::are_polynomials<U, V>()) {
    using T = decltype(rule::to_float<result_type_t<value_type_t<U>, value_type_t<V>>, true>());
    const auto by = eval(astype<T>(detail::coefficients("polydiv", v)));
    const auto over = eval(astype<T>(detail::coefficients("polydiv", u)));
    if (over.size() == 0 || by.size() == 0) detail::fail<value_error>("polydiv: no coefficients");
    auto rest = eval(over + 0 * by(0));
    const int64 m = rest.size(), n = by.size(), steps = m >= n ? m - n + 1 : 0;
    auto quotient = eval(split(rest, {steps > 0 ? steps : 1})[0] * 0);
    for (int64 k = 0; k < steps; ++k) {
      const auto d = eval(rest(k) / by(0));
      quotient = eval(quotient + pad(reshape(d, {1}), {{k, steps - 1 - k}}));
      // what d cancels is 0 without rounding
      rest = eval(rest - pad(d * by, {{k, m - n - k}}));
      rest = eval(where(detail::integer_range<int64>(0, m, 1, by.device()) <= k, 0, rest));
    }
    if (steps > 0) rest = eval(split(rest, {n > 1 ? steps : m - 1})[1]);
    return ::std::pair(quotient, detail::without_leading_zeros(rest));
  } else {
    return detail::poison{};
  }
}
/// The coefficients of the m-th derivative. Throws value_error for a negative m.
///     ca::polyder(p)
template <array_expression P>
auto polyder(const P& p, detail::any_integer m = 1) {
  if (m < 0) detail::fail<value_error>("polyder: ", m.value, " times");
  auto c = eval(detail::coefficients("polyder", p) * detail::falling_powers<value_type_t<P>>(1, detail::device_of(p)));
  for (int64 i = 0; i < m && c.size() > 0; ++i) {
    const int64 n = c.size() - 1;
    c = eval(split(c, {n})[0] * detail::falling_powers<value_type_t<decltype(c)>>(n, detail::device_of(c)));
  }
  return c;
}
/// The coefficients of the m-th antiderivative, with the constants of each integration: m, one for all, or absent: 0.
/// Integers are computed in float64. Throws value_error.
///     ca::polyint(p, 2, {5, 7})
template <array_expression P>
auto polyint(const P& p, detail::any_integer m = 1, ::std::initializer_list<double> constants = {}) {
  using T = decltype(rule::to_float<value_type_t<P>, true>());
  const auto given = int64(constants.size());
  if (m < 0) detail::fail<value_error>("polyint: ", m.value, " times");
  if (given > 1 && given != m) detail::fail<value_error>("polyint: ", given, " constants for ", m.value, " times");
  auto c = eval(astype<T>(detail::coefficients("polyint", p)));
  for (int64 i = 0; i < m; ++i) {
    const double constant = given == 0 ? 0 : constants.begin()[given == 1 ? 0 : i];
    const auto powers = detail::falling_powers<T>(c.size(), detail::device_of(c));
    c = eval(concatenate(
        ::std::tuple(eval(c / powers), full<detail::primal_t<T>>(shape{1}, constant, detail::device_of(c)))));
  }
  return c;
}
/// The coefficients, of which the first is 1, of the polynomial with these zeros. Integers are computed in float64.
///     ca::poly(zeros)
template <array_expression Z>
auto poly(const Z& zeros) {
  using T = decltype(rule::to_float<value_type_t<Z>, true>());
  const auto z = eval(astype<T>(detail::coefficients("poly", zeros)));
  const auto one = ones<detail::primal_t<T>>(shape{1}, detail::device_of(z));
  auto c = eval(concatenate(::std::tuple(one, eval(split(z, {0})[0]))));
  for (int64 i = 0; i < z.size(); ++i) c = convolve(c, concatenate(::std::tuple(one, eval(reshape(-z(i), {1})))));
  return c;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
