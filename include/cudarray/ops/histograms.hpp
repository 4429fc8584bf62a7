// How often elements are there: counts of integers, and histograms. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "differences.hpp"
#include "searching.hpp"

namespace cudarray::inline v0 {

/// What the bins of a histogram cover; what is absent is the smallest or largest element.
struct histogram_range {
  ::std::optional<double> low = {}, high = {};
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The edges of so many equal bins over a range, or over all elements: NumPy's, 0 to 1 where there are none, and half
/// an element to each side where all are equal. Throws value_error.
template <class A>
auto equal_bins(const char* function, const A& x, int64 bins, const histogram_range& given) {
  using T = value_type_t<A>;
  using E = decltype(rule::to_float<T, true>());
  using C = ::std::conditional_t<is_half<E>, float, E>;
  if (bins < 1) fail<value_error>(function, ": ", bins, " bins");
  const bool filled = x.size() > 0;
  double low = given.low ? *given.low : filled ? eval(astype<double>(min(x))).item() : 0;
  double high = given.high ? *given.high : filled ? eval(astype<double>(max(x))).item() : low + 1;
  if (!math::isfinite(low) || !math::isfinite(high))
    fail<value_error>(function, ": a range from ", low, " to ", high, " is not finite");
  if (low > high) fail<value_error>(function, ": a range from ", low, " to ", high);
  if (low == high) low -= 0.5, high += 0.5;
  const auto edges = linspace<C>(low, high, bins + 1, x.device());
  if (eval(any(!(split(edges, {1})[1] > split(edges, {-1})[0]))).item())
    fail<value_error>(function, ": ", bins, " bins from ", low, " to ", high, " are too many for ", dtype_name<C>);
  return edges;
}
/// Which bin between ascending edges each element lies in, -1 for none; the last contains its right edge.
template <class A, class E>
auto bin_of(const A& x, const E& edges) {
  const int64 bins = edges.size() - 1;
  const auto place = searchsorted(edges, x, side::right) - 1;
  const auto last = eval(where(x == edges(-1), bins - 1, place));
  return eval(where((last >= bins) | isnan(x), -1, last));
}
/// The same of equal bins, without a search: what a division gives is a bin too high or too low at most.
template <class A, class E>
auto equal_bin_of(const A& x, const E& edges) {
  const int64 last = edges.size() - 2;
  const auto v = astype<value_type_t<E>>(x);
  const auto half = [](const auto& y) { return astype<double>(y) * 0.5; };  // no difference of halves is infinite
  const auto part = (half(v) - half(edges(0))) / (half(edges(-1)) - half(edges(0)));
  const auto bin = eval(astype<int64>(fmin(fmax(part * double(last + 1), 0.), double(last))));
  const auto near_bin = where(v < take(edges, bin), bin - 1, where(v >= take(edges, bin + 1), bin + 1, bin));
  return eval(where((v >= edges(0)) & (v <= edges(-1)), minimum(near_bin, last), -1));
}
template <class E>
void check_edges(const E& edges) {
  check_one_axis("histogram", "edges", edges);
  if (edges.size() < 2) fail<value_error>("histogram: ", edges.size(), " edges: 2 at least are wanted");
  if (eval(any(split(edges, {1})[1] < split(edges, {-1})[0])).item())
    fail<value_error>("histogram: the edges do not ascend");
}
/// How often each bin from 0 is there; those that are -1 are left out.
template <class D>
ndarray<int64, D> count_bins(const ndarray<int64, D>& bin, int64 bins) {
  const ndarray<int64, D> counts = zeros<int64>({bins + 1}, bin.device());
  scatter_add(counts, ravel(bin), 1);  // -1 is the last
  return copy(split(counts, {bins})[0]);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// How often each integer from 0 up is there: int64, `at_least` so many. Waits for the device. Throws value_error for
/// negative ones, shape_error for other than one axis.
///     ca::bincount(labels)
template <array_expression X>
auto bincount(const X& x, detail::any_integer at_least = 0) {
  using integers = ndarray<int64, device_type_t<X>>;
  const integers index(detail::index_node("bincount", x));
  detail::check_one_axis("bincount", "an array", index);
  if (at_least < 0) detail::fail<value_error>("bincount: ", at_least.value, " counts at least");
  if (index.size() > 0 && eval(min(index)).item() < 0)
    detail::fail<value_error>("bincount: ", eval(min(index)).item(), " is negative");
  const int64 most = index.size() > 0 ? eval(max(index)).item() + 1 : 0;
  const integers counts = zeros<int64>({most > at_least ? most : at_least.value}, index.device());
  if (index.size() > 0) scatter_add(counts, index, 1);
  return counts;
}
/// The sums of weights of each integer, in float64.
template <array_expression X, array_expression W>
auto bincount(const X& x, const W& weights, detail::any_integer at_least = 0) {
  using D = device_type_t<X>;
  if (detail::dims_of(x) != detail::dims_of(weights))
    detail::fail<shape_error>("bincount: weights of shape ", detail::dims_of(weights), " for integers of shape ",
                              detail::dims_of(x));
  const int64 n = bincount(x, at_least).size();
  const ndarray<double, D> sums = zeros<double>({n}, detail::device_of(x));
  if (detail::dims_of(x).elements() > 0) scatter_add(sums, x, astype<double>(detail::plain_values(weights)));
  return sums;
}

/// What histogram returns: `auto [counts, edges] = ca::histogram(x);`
template <class T, class Device>
struct counts_and_edges {
  ndarray<int64, Device> counts;
  ndarray<T, Device> edges;
};
/// How many elements lie in each of so many equal bins over a range, or over all elements; the last contains its right
/// edge. Elements outside, and NaN, are not counted. Waits for the device. Throws value_error.
///     auto [counts, edges] = ca::histogram(x, 10, {.low = 0, .high = 1});
template <array_expression X>
auto histogram(const X& x, detail::any_integer bins = 10, const histogram_range& range = {}) {
  const auto a = detail::plain_values(x);
  const auto edges = detail::equal_bins("histogram", a, bins, range);
  return counts_and_edges<value_type_t<decltype(edges)>, device_type_t<X>>{
      detail::count_bins(detail::equal_bin_of(a, edges), bins), edges};
}
/// In bins between ascending edges. Throws shape_error, value_error.
template <array_expression X, array_expression E>
auto histogram(const X& x, const E& edges) {
  const auto at = detail::plain_values(edges);
  detail::check_edges(at);
  return counts_and_edges<value_type_t<decltype(at)>, device_type_t<X>>{
      detail::count_bins(detail::bin_of(detail::plain_values(x), at), at.size() - 1), at};
}
/// What histogram2d returns.
template <class T, class U, class Device>
struct counts_and_two_edges {
  ndarray<int64, Device> counts;
  ndarray<T, Device> x_edges;
  ndarray<U, Device> y_edges;
};
/// How many pairs of elements lie in each of bins x bins rectangles. Waits for the device. Throws shape_error,
/// value_error.
///     auto [counts, x_edges, y_edges] = ca::histogram2d(x, y, 20);
template <array_expression X, array_expression Y>
auto histogram2d(const X& x, const Y& y, detail::any_integer bins = 10, const histogram_range& x_range = {},
                 const histogram_range& y_range = {}) {
  const auto a = detail::plain_values(x);
  const auto b = detail::plain_values(y);
  if (a.shape() != b.shape())
    detail::fail<shape_error>("histogram2d: arrays of shapes ", a.shape(), " and ", b.shape());
  const auto p = detail::equal_bins("histogram2d", a, bins, x_range);
  const auto q = detail::equal_bins("histogram2d", b, bins, y_range);
  const auto i = detail::equal_bin_of(a, p), j = detail::equal_bin_of(b, q);
  const auto both = eval(where((i < 0) | (j < 0), -1, i * bins.value + j));
  return counts_and_two_edges<value_type_t<decltype(p)>, value_type_t<decltype(q)>, device_type_t<X>>{
      reshape(detail::count_bins(both, bins * bins.value), {bins.value, bins.value}), p, q};
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
