// Whether arrays are equal, or nearly so.
// SPDX-License-Identifier: MIT
#pragma once

#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0 {

/// a is close to b where |a - b| <= atol + rtol |b|.
struct closeness {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;  ///< NaN is close to NaN
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// In float64; infinities are close to themselves.
struct isclose_op {
  template <class A, class B>
  using types = rule::uniform<decltype(rule::to_float<result_type_t<A, B>, true>()), bool,
                              kind_of<result_type_t<A, B>> != kind::dual_>;
  static constexpr bool lanes = false;
  closeness o;
  template <class L>
  CUDARRAY_HD bool operator()(const L& x, const L& y) const {
    if (math::isnan(x) || math::isnan(y)) return o.equal_nan && math::isnan(x) && math::isnan(y);
    if (!math::isfinite(y)) return x == y;
    if constexpr (detail::is_complex<L>) {
      const complex128 a(x), b(y);
      return math::abs(a - b) <= o.atol + o.rtol * math::abs(b);
    } else {
      const double a = double(x), b = double(y);
      return math::abs(a - b) <= o.atol + o.rtol * math::abs(b);
    }
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Whether elements of a are close to those of b: NumPy's formula, in which b is what is right. Lazy; broadcasts.
///     ca::isclose(a, b, {.rtol = 1e-3})
template <class X, class Y>
requires detail::any_array<X, Y>
auto isclose(const X& a, const Y& b, const closeness& o = {}) {
  if (!(o.rtol >= 0) || !(o.atol >= 0))
    detail::fail<value_error>("isclose: tolerances ", o.rtol, " and ", o.atol, " are not 0 or above");
  return detail::elementwise("isclose", op::isclose_op{o}, a, b);
}
/// Whether all are. Waits for the device.
template <class X, class Y>
requires detail::any_array<X, Y>
bool allclose(const X& a, const Y& b, const closeness& o = {}) { return eval(all(isclose(a, b, o))).item(); }
/// Whether two arrays have one shape and equal elements; `equal_nan`: NaN is equal to NaN. Waits for the device.
template <array_expression X, array_expression Y>
bool array_equal(const X& a, const Y& b, bool equal_nan = false) {
  if (detail::dims_of(a) != detail::dims_of(b)) return false;
  if (!equal_nan) return eval(all(a == b)).item();
  const auto p = eval(a);
  const auto q = eval(b);
  return eval(all((p == q) | ((p != p) & (q != q)))).item();
}
/// Whether they broadcast to one shape and are equal there. Waits for the device.
template <array_expression X, array_expression Y>
bool array_equiv(const X& a, const Y& b) {
  const shape &s = detail::dims_of(a), &t = detail::dims_of(b);
  for (int d = 1; d <= s.ndim() && d <= t.ndim(); ++d) {
    const int64 m = s[s.ndim() - d], n = t[t.ndim() - d];
    if (m != n && m != 1 && n != 1) return false;
  }
  return eval(all(a == b)).item();
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
