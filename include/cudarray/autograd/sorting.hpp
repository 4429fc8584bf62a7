// The derivatives of sorts and of cumulative functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/sorting.hpp"
#include "dual.hpp"
#include "indexing.hpp"
#include "manipulation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The sums of the elements from each on.
template <class A>
A sums_behind(const A& x, int axis) {
  return A(flip(cumsum(flip(x, axis), axis), axis));
}
/// Of the sums up to each element.
struct cumsum_rule {
  int axis;
  template <int, class A, class X>
  A gradient(const A& g, const X&) const {
    return sums_behind(g, axis);
  }
  static constexpr bool reads(int, int) { return false; }
};
/// Of the products up to each element: the sum of g times the product of the others. Before the first 0 of a line that
/// is the product divided by the element; at the first 0 the product without it; behind it 0.
struct cumprod_rule {
  int axis;
  template <int, class A, class X>
  A gradient(const A& g, const X& x) const {
    if constexpr (is_dual<value_type_t<A>>) return of_dual(g, x);
    const ndarray<int64, device_type_t<A>> zeros_before(cumsum(astype<int64>(x == 0), axis));
    const A others = cumprod(A(where(x == 0, 1, x)), axis);
    const A until = sums_behind(A(where(zeros_before == 0, g * others, 0)), axis);
    const A without = sums_behind(A(where(zeros_before == 1, g * others, 0)), axis);
    return where(zeros_before == 0, until / x, where((zeros_before == 1) & (x == 0), without, 0));
  }
  static constexpr bool reads(int, int) { return true; }

 private:
  /// A 0 has a derivative: the product of the others is that of what is not 0 by the other 0, if there is one.
  template <class A>
  A of_dual(const A& g, const A& x) const {
    const ndarray<int64, device_type_t<A>> zeros(cumsum(astype<int64>(x == 0), axis));
    const A others = g * cumprod(A(where(x == 0, 1, x)), axis), sum_of_zeros = cumsum(A(where(x == 0, x, 0)), axis);
    const A one = sums_behind(A(where(zeros == 1, others, 0)), axis),
            two = sums_behind(A(where(zeros == 2, others * sum_of_zeros, 0)), axis),
            two_of = sums_behind(A(where(zeros == 2, others, 0)), axis);
    return where(x == 0, one + two - x * two_of, sums_behind(A(g * cumprod(x, axis)), axis) / x);
  }
};

/// Where along an axis the extreme up to each element stands: the last of equals, or of NaNs.
template <class A>
auto places_of_records(const A& x, const A& extremes, int axis) {
  using D = device_type_t<A>;
  shape along;
  for (int d = 0; d < x.ndim(); ++d) along.push_back(d == axis ? x.shape(d) : 1);
  const ndarray<int64, D> place = reshape(integer_range<int64>(0, x.shape(axis), 1, x.device()), along);
  return cummax(ndarray<int64, D>(where((x == extremes) | (x != x), place, int64(0))), axis);
}

template <class T, class X>
auto widened_variable(const X& x) {
  if constexpr (::std::is_void_v<T>) return eval(x);
  else return eval(astype<T>(x));
}
template <class V>
V cumsum_of(const V& v, int axis) {
  return apply_rule(
      cumsum_rule{axis}, [axis](const auto& a) { return cumsum(a, axis); }, v);
}
template <class V>
V cumprod_of(const V& v, int axis) {
  return apply_rule(
      cumprod_rule{axis}, [axis](const auto& a) { return cumprod(a, axis); }, v);
}
template <class V>
V cummax_of(const V& v, int axis) {
  return take_along_axis(v, places_of_records(primals(v.value()), cummax(primals(v.value()), axis), axis), axis);
}
template <class V>
V cummin_of(const V& v, int axis) {
  return take_along_axis(v, places_of_records(primals(v.value()), cummin(primals(v.value()), axis), axis), axis);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

template <variable_expression X>
auto argsort(const X& x, detail::any_integer axis = -1) {
  return argsort(detail::primals(detail::array_of(x)), axis);
}
template <variable_expression X>
auto sort(const X& x, detail::any_integer axis = -1) {
  const auto v = eval(x);
  const int at = detail::normal_axis("sort", axis, v.ndim());
  return take_along_axis(v, argsort(detail::primals(v.value()), at), at);
}
template <variable_expression X>
auto topk(const X& x, detail::any_integer k, const topk_options& options = {}) {
  const auto v = eval(x);
  const auto found = topk(detail::primals(v.value()), k, options);
  using V = ::std::remove_const_t<decltype(v)>;
  return values_and_indices<value_type_t<X>, device_type_t<X>, V>{take_along_axis(v, found.indices, options.axis),
                                                                  found.indices};
}
#define CUDARRAY_SCAN(name)                                                  \
  template <class T = void, variable_expression X>                           \
  auto name(const X& x, detail::any_integer axis) {                          \
    const auto v = detail::widened_variable<T>(x);                           \
    return detail::name##_of(v, detail::normal_axis(#name, axis, v.ndim())); \
  }                                                                          \
  template <class T = void, variable_expression X>                           \
  auto name(const X& x) {                                                    \
    return detail::name##_of(ravel(detail::widened_variable<T>(x)), 0);      \
  }
CUDARRAY_SCAN(cumsum)
CUDARRAY_SCAN(cumprod)
CUDARRAY_SCAN(cummax)
CUDARRAY_SCAN(cummin)
#undef CUDARRAY_SCAN

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
