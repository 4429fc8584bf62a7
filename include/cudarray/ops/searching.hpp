// Searching in sorted arrays, and what sets of elements are made by. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "complex.hpp"
#include "creation.hpp"
#include "dual_parts.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "scatter.hpp"
#include "sorting.hpp"
#include "splitting.hpp"

namespace cudarray::inline v0 {

/// On which side of equal elements a value is put.
enum class side { left, right };
/// What interp gives outside of its points; absent: the first and the last value.
struct interp_options {
  ::std::optional<double> left = {}, right = {};
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// Whether an element stands before a value, NaN behind all numbers; `Equal`: or is equal to it.
template <bool Equal>
struct precedes_op : rule::comparison {
  static constexpr bool lanes = false;
  template <class L, class M>
  CUDARRAY_HD bool operator()(const L& element, const M& value) const {
    if (Equal ? math::less_equal(element, value) : math::less(element, value)) return true;
    return math::isnan(value) && (Equal || !math::isnan(element));
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class A>
void check_one_axis(const char* function, const char* name, const A& a) {
  if (a.ndim() != 1) fail<shape_error>(function, ": ", name, " of shape ", a.shape(), ", not of one axis");
}
/// By halving: a pass for each bit of the number of elements.
template <bool Right, class A, class V>
auto places_in_sorted(const A& a, const V& v) {
  using D = device_type_t<A>;
  const int64 n = a.size();
  ndarray<int64, D> place = filled<int64>("searchsorted", v.shape(), 0, a.device());
  int64 step = 1;
  while (step <= n / 2) step *= 2;
  for (; step > 0 && n > 0; step /= 2) {
    const auto next = place + step;
    const auto before = elementwise("searchsorted", op::precedes_op<Right>{}, take(a, minimum(next, n) - 1, 0), v);
    place = where(before & (next <= n), next, place);
  }
  return place;
}
/// Scalars as arrays beside others.
template <class V, class D>
auto array_beside(const V& v, D device) {
  if constexpr (array_expression<V>) return plain_values(v);
  else return full<normal_dtype_t<V>>(shape{}, v, device);
}

inline void check_kth(const char* function, const shape& s, int64 kth, int64 axis) {
  const int64 n = s[normal_axis(function, axis, s.ndim())];
  if (s.elements() > 0 && (kth < -n || kth >= n)) fail<value_error>(function, ": element ", kth, " of an axis of ", n);
}
/// The sorted elements, where they came from, and whether each differs from the one before.
template <class T, class D>
struct sorted_elements {
  ndarray<T, D> values;
  ndarray<int64, D> order;
  ndarray<bool, D> first;
};
/// The order of numbers, and of complex ones by their real and then their imaginary parts; NaN last.
template <class T, class D>
ndarray<int64, D> order_of_elements(const ndarray<T, D>& flat) {
  if constexpr (is_complex<T>) return lexsort(::std::tuple(imag(flat), real(flat), isnan(flat)));
  else return argsort(flat);
}
template <class T, class D>
sorted_elements<T, D> sort_elements(const ndarray<T, D>& x, bool equal_nan) {
  const ndarray<T, D> flat = ravel(x);
  const ndarray<int64, D> order = order_of_elements(flat);
  const ndarray<T, D> sorted = take(flat, order);
  const ndarray<bool, D> first = filled<bool>("unique", sorted.shape(), true, x.device());
  const auto before = split(sorted, {-1})[0], behind = split(sorted, {1})[1];
  if (flat.size() > 1) {
    const auto differ = behind != before;
    const auto to = split(first, {1})[1];
    if (equal_nan) to(ellipsis) = differ & !(isnan(behind) & isnan(before));
    else to(ellipsis) = differ;
  }
  return {sorted, order, first};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Where values would be put in a sorted array of one axis, so that it stays sorted: int64, of the shape of the values,
/// before equal elements or (side::right) behind them. NaN is behind all numbers. Throws shape_error.
///     ca::searchsorted(a, v, ca::side::right)
template <array_expression X, class V>
requires(array_expression<V> || scalar_value<V>) auto searchsorted(const X& sorted, const V& values,
                                                                   side where_equal = side::left) {
  const auto a = detail::plain_values(sorted);
  detail::check_one_axis("searchsorted", "a sorted array", a);
  const auto v = detail::array_beside(values, a.device());
  return where_equal == side::left ? detail::places_in_sorted<false>(a, v) : detail::places_in_sorted<true>(a, v);
}
/// In which of the intervals between ascending or descending edges each element lies: 0 is before the first edge.
/// `right`: an interval contains its right edge, not its left one. Waits for the device. Throws shape_error.
///     ca::digitize(x, edges)
template <array_expression X, array_expression E>
auto digitize(const X& x, const E& edges, bool right = false) {
  const auto bins = detail::plain_values(edges);
  detail::check_one_axis("digitize", "edges", bins);
  const auto before = split(bins, {-1})[0], behind = split(bins, {1})[1];
  const bool descending = bins.size() > 1 && eval(bins(0) > bins(-1)).item();
  if (descending ? any(behind > before).item() : any(behind < before).item())
    detail::fail<value_error>("digitize: the edges neither ascend nor descend");
  const side at_edge = right ? side::left : side::right;
  if (!descending) return searchsorted(bins, x, at_edge);
  return ndarray<int64, device_type_t<X>>(bins.size() - searchsorted(flip(bins), x, at_edge));
}
/// What lies between points (xp ascending, fp) on straight lines: of the shape of x. Throws shape_error, value_error.
///     ca::interp(x, xp, fp, {.left = 0, .right = 0})
template <array_expression X, array_expression P, array_expression F>
auto interp(const X& x, const P& xp, const F& fp, const interp_options& o = {}) {
  using R = decltype(rule::to_float<result_type_t<value_type_t<X>, value_type_t<P>, value_type_t<F>>, true>());
  using T = detail::compute_t<R>;
  const auto at = eval(astype<T>(x));
  const auto from = eval(astype<T>(xp));
  const auto values = eval(astype<T>(fp));
  const int64 n = detail::dims_of(xp).elements();
  if (from.ndim() != 1 || values.shape() != from.shape())
    detail::fail<shape_error>("interp: points of shapes ", from.shape(), " and ", values.shape(),
                              ": of one axis, and equal");
  if (n == 0) detail::fail<value_error>("interp: no points");
  const auto low = eval(clip(searchsorted(from, at, side::right) - 1, 0, n > 1 ? n - 2 : 0));
  const auto high = eval(minimum(low + 1, n - 1));
  const auto x0 = eval(take(from, low)), x1 = eval(take(from, high));
  const auto y0 = eval(take(values, low)), y1 = eval(take(values, high));
  const auto slope = eval((y1 - y0) / where(x1 == x0, 1, x1 - x0));
  // at a point exactly its value; from the other point where this gives NaN, as infinite ones do (NumPy's order)
  const auto by_first = eval(where(at == x1, slope * (at - x1) + y1, slope * (at - x0) + y0));
  const auto by_either = eval(where(isnan(by_first), slope * (at - x1) + y1, by_first));
  const auto at_point = where(at == x1, y1, where((at == x0) | (y0 == y1), y0, by_either));
  const auto inside = where(isnan(by_either) & (at == at), at_point, by_either);
  auto r = eval(where(at < from(0), values(0), where(at > from(-1), values(-1), inside)));
  if (o.left) r = eval(where(at < from(0), *o.left, r));
  if (o.right) r = eval(where(at > from(-1), *o.right, r));
  return eval(astype<R>(r));
}

/// What unique_all returns: the values in ascending order; of each where it stands first in x, and how often it is
/// there; and of each element of x which value it is, in x's shape.
template <class T, class Device>
struct unique_elements {
  ndarray<T, Device> values;
  ndarray<int64, Device> indices, inverse_indices, counts;
};
/// The elements of x, each once, with NaN (unless `equal_nan`) as often as it is there. Waits for the device.
///     auto [values, indices, inverse, counts] = ca::unique_all(x);
template <array_expression X>
auto unique_all(const X& x, bool equal_nan = false) {
  const auto a = detail::plain_values(x);
  using T = value_type_t<decltype(a)>;
  using D = device_type_t<X>;
  using integers = ndarray<int64, D>;
  const auto s = detail::sort_elements(a, equal_nan);
  const integers starts = flatnonzero(s.first);
  const integers ends = concatenate(::std::tuple(split(starts, {1})[1], full<int64>({1}, a.size(), a.device())));
  const integers inverse = empty<int64>({a.size()}, a.device());
  if (a.size() > 0) inverse(s.order) = cumsum<int64>(s.first) - 1;
  const integers counts = starts.size() > 0 ? integers(ends - starts) : starts;
  return unique_elements<T, D>{take(s.values, starts), take(s.order, starts), reshape(inverse, a.shape()), counts};
}
/// The elements of x, each once, in ascending order (complex numbers by real, then by imaginary parts); NaN is equal to
/// NaN, as NumPy has it. Waits for the device.
template <array_expression X>
auto unique(const X& x, bool equal_nan = true) {
  const auto a = detail::plain_values(x);
  const auto s = detail::sort_elements(a, equal_nan);
  return eval(take(s.values, flatnonzero(s.first)));
}
/// The array API standard's functions, to which NaN are different: the values; the values and how often each is there;
/// the values and which of them each element of x is.
template <array_expression X>
auto unique_values(const X& x) {
  return unique(x, false);
}
template <array_expression X>
auto unique_counts(const X& x) {
  auto all = unique_all(x);
  return ::std::pair(all.values, all.counts);
}
template <array_expression X>
auto unique_inverse(const X& x) {
  auto all = unique_all(x);
  return ::std::pair(all.values, all.inverse_indices);
}

/// The positions that sort by several keys of one length: the last key is the first that counts. Stable. Throws
/// value_error, shape_error.
///     ca::lexsort(std::tuple(first_name, surname))
template <detail::array_list L>
auto lexsort(const L& keys) {
  using D = typename detail::list_traits<L>::device_type;
  ndarray<int64, D> order;
  bool any = false;
  detail::for_each_in(keys, [&](const auto& key) {
    const auto k = detail::plain_values(key);
    detail::check_one_axis("lexsort", "a key", k);
    if (any && k.size() != order.size())
      detail::fail<shape_error>("lexsort: keys of ", order.size(), " and ", k.size(), " elements");
    if (any) order = take(order, argsort(take(k, order)));
    else order = argsort(k);
    any = true;
  });
  if (!any) detail::fail<value_error>("lexsort: no keys");
  return order;
}
/// The rows (`axis` 0), columns, .. of x, each once, in lexicographic order. Waits for the device.
///     ca::unique_along(x, 0)
template <array_expression X>
auto unique_along(const X& x, detail::any_integer axis) {
  const auto a = detail::plain_values(x);
  const int at = detail::normal_axis("unique_along", axis, a.ndim());
  const auto lines = eval(moveaxis(a, at, 0));
  const int64 n = lines.shape()[0];
  if (n == 0) return ndarray<value_type_t<decltype(a)>, device_type_t<X>>(copy(a));
  if (a.size() == 0) return ndarray<value_type_t<decltype(a)>, device_type_t<X>>(copy(split(a, {1}, at)[0]));
  const auto rows = eval(reshape(lines, {n, a.size() / n}));
  auto keys = unstack(rows, 1);
  ::std::reverse(keys.begin(), keys.end());
  const auto order = lexsort(keys);
  const auto sorted = eval(take(rows, order, 0));
  const auto first = full<bool>({n}, true, a.device());
  if (n > 1) split(first, {1})[1](ellipsis) = any(split(sorted, {1})[1] != split(sorted, {-1})[0], 1);
  return eval(take(a, take(order, flatnonzero(first)), at));
}

/// Whether each element of x is one of those of `test`: of x's shape.
template <array_expression X, array_expression Y>
auto isin(const X& x, const Y& test) {
  using D = device_type_t<X>;
  const auto a = detail::plain_values(x);
  if constexpr (detail::is_complex<result_type_t<value_type_t<X>, value_type_t<Y>>>) {
    // which of all the values that there are those of the test are
    const auto t = eval(ravel(detail::plain_values(test)));
    const auto [values, which] = unique_inverse(concatenate(::std::tuple(t, ravel(a))));
    const ndarray<bool, D> among = full<bool>(values.shape(), false, a.device());
    among(which(slice(t.size()))) = true;
    return ndarray<bool, D>(reshape(among(which(slice(t.size(), none))), a.shape()));
  } else {
    const auto t = eval(sort(ravel(detail::plain_values(test))));
    if (t.size() == 0) return ndarray<bool, D>(full<bool>(a.shape(), false, a.device()));
    const auto place = searchsorted(t, a);
    return ndarray<bool, D>(take(t, minimum(place, t.size() - 1)) == a);
  }
}
/// The elements of either, of both, of x but not of y, of one of the two: each once, in ascending order. They wait for
/// the device.
template <array_expression X, array_expression Y>
auto union1d(const X& x, const Y& y) {
  return unique(concatenate(::std::tuple(ravel(detail::plain_values(x)), ravel(detail::plain_values(y)))));
}
template <array_expression X, array_expression Y>
auto intersect1d(const X& x, const Y& y) {
  using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
  const auto u = unique(astype<T>(detail::plain_values(x)));
  return eval(u(isin(u, y)));
}
template <array_expression X, array_expression Y>
auto setdiff1d(const X& x, const Y& y) {
  const auto u = unique(x);
  return eval(u(!isin(u, y)));
}
template <array_expression X, array_expression Y>
auto setxor1d(const X& x, const Y& y) {
  return eval(sort(concatenate(::std::tuple(setdiff1d(x, y), setdiff1d(y, x)))));
}

/// The elements with those that sorting puts before and behind element `kth` before and behind it. (All are sorted.)
template <array_expression X>
auto partition(const X& x, detail::any_integer kth, detail::any_integer axis = -1) {
  detail::check_kth("partition", detail::dims_of(x), kth, axis);
  return sort(x, axis);
}
template <array_expression X>
auto argpartition(const X& x, detail::any_integer kth, detail::any_integer axis = -1) {
  detail::check_kth("argpartition", detail::dims_of(x), kth, axis);
  return argsort(x, axis);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
