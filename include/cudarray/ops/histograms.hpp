// How often elements are there: counts of integers, and histograms. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "differences.hpp"
#include "searching.hpp"

namespace cudarray::inline v0 {

/// What the bins of a histogram cover; what is absent is the smallest or largest element.
struct histogram_range {
  ::std::optional<double> low = {}, high = {};
};

/// Behind the range or the edges of a histogram: densities, whose integral over all bins is 1.
///     ca::histogram(x, 20, {}, ca::density)
struct density_t {};
inline constexpr density_t density{};

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
  const auto first = astype<double>(edges(0));
  const auto part = (astype<double>(v) - first) / (astype<double>(edges(-1)) - first);
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
/// What may follow: weights, an array of the shape of what is counted, and ca::density.
template <class O>
concept histogram_option = ::std::is_same_v<O, density_t> || array_expression<O>;
template <class W>
constexpr bool real_weights() {
  constexpr bool real = [] {
    if constexpr (array_expression<W>) return !is_complex<value_type_t<W>>;
    else return true;
  }();
  static_assert(real, "cudarray: weights are real numbers: give the parts of complex ones one after another");
  return real;
}
template <class... O>
constexpr bool are_histogram_options() {
  constexpr int arrays = (0 + ... + int(array_expression<O>)), densities = int(sizeof...(O)) - arrays;
  constexpr bool one_of_each = arrays <= 1 && densities <= 1;
  static_assert(one_of_each, "cudarray: a histogram has one array of weights, and ca::density once");
  return one_of_each && (true && ... && real_weights<O>());
}
struct no_weights {};
inline no_weights weights_among() { return {}; }
template <class O, class... Rest>
decltype(auto) weights_among(const O& o, const Rest&... rest) {
  if constexpr (array_expression<O>) return (o);
  else return weights_among(rest...);
}
/// How often each bin from 0 is there, or the sums of the weights there; -1 is none.
template <class D, class... O>
auto bin_totals(const char* function, const ndarray<int64, D>& bin, int64 bins, const O&... o) {
  const auto& weights = weights_among(o...);
  const auto total = [&]<class T>(T, const auto& values) {
    const ndarray<T, D> r = zeros<T>({bins + 1}, bin.device());
    scatter_add(r, ravel(bin), values);  // -1 is the last
    return copy(split(r, {bins})[0]);
  };
  if constexpr (::std::is_same_v<decltype(weights), const no_weights&>) {
    return total(int64{}, 1);
  } else {
    if (dims_of(weights) != bin.shape())
      fail<shape_error>(function, ": weights of shape ", dims_of(weights), " for elements of shape ", bin.shape());
    return total(double{}, ravel(astype<double>(plain_values(weights))));
  }
}
/// The totals as they are, or by the sizes of the bins as densities.
template <class... O, class C, class E>
auto totals_or_densities(const C& totals, const E& sizes) {
  constexpr bool densities = (false || ... || ::std::is_same_v<O, density_t>);
  if constexpr (densities) return eval(totals / (astype<double>(sum(totals)) * sizes));
  else return totals;
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
  if constexpr (detail::real_weights<W>()) {
    using D = device_type_t<X>;
    if (detail::dims_of(x) != detail::dims_of(weights))
      detail::fail<shape_error>("bincount: weights of shape ", detail::dims_of(weights), " for integers of shape ",
                                detail::dims_of(x));
    const int64 n = bincount(x, at_least).size();
    const ndarray<double, D> sums = zeros<double>({n}, detail::device_of(x));
    if (detail::dims_of(x).elements() > 0) scatter_add(sums, x, astype<double>(detail::plain_values(weights)));
    return sums;
  } else {
    return detail::poison{};
  }
}

/// What histogram returns: `auto [counts, edges] = ca::histogram(x);`
template <class T, class Device, class Count = int64>
struct counts_and_edges {
  ndarray<Count, Device> counts;
  ndarray<T, Device> edges;
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class E, class B, class... O>
auto histogram_of(const E& edges, const B& bin, const O&... o) {
  const auto totals =
      totals_or_densities<O...>(bin_totals("histogram", bin, edges.size() - 1, o...), diff(astype<double>(edges)));
  return counts_and_edges<value_type_t<E>, device_type_t<E>, value_type_t<decltype(totals)>>{totals, edges};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Elements outside all bins, and NaN, are not counted. Behind the other arguments may stand weights, an array of the
// shape of what is counted: then their sums in float64 take the place of counts; and ca::density. Wait for the device.
// Throw value_error and shape_error.

/// How many elements lie in each of so many equal bins over a range, or over all elements; the last contains its right
/// edge.
///     auto [counts, edges] = ca::histogram(x, 10, {.low = 0, .high = 1});
template <array_expression X, detail::histogram_option... O>
auto histogram(const X& x, detail::any_integer bins = 10, const histogram_range& range = {}, const O&... o) {
  if constexpr (detail::are_histogram_options<O...>()) {
    const auto a = detail::plain_values(x);
    const auto edges = detail::equal_bins("histogram", a, bins, range);
    return detail::histogram_of(edges, detail::equal_bin_of(a, edges), o...);
  } else {
    return detail::poison{};
  }
}
/// In bins between ascending edges.
template <array_expression X, array_expression E, detail::histogram_option... O>
auto histogram(const X& x, const E& edges, const O&... o) {
  if constexpr (detail::are_histogram_options<O...>()) {
    const auto at = detail::plain_values(edges);
    detail::check_edges(at);
    return detail::histogram_of(at, detail::bin_of(detail::plain_values(x), at), o...);
  } else {
    return detail::poison{};
  }
}
/// What histogram2d returns.
template <class T, class U, class Device, class Count = int64>
struct counts_and_two_edges {
  ndarray<Count, Device> counts;
  ndarray<T, Device> x_edges;
  ndarray<U, Device> y_edges;
};
/// How many pairs of elements lie in each of bins x bins rectangles.
///     auto [counts, x_edges, y_edges] = ca::histogram2d(x, y, 20);
template <array_expression X, array_expression Y, detail::histogram_option... O>
auto histogram2d(const X& x, const Y& y, detail::any_integer bins = 10, const histogram_range& x_range = {},
                 const histogram_range& y_range = {}, const O&... o) {
  if constexpr (detail::are_histogram_options<O...>()) {
    const auto a = detail::plain_values(x);
    const auto b = detail::plain_values(y);
    if (a.shape() != b.shape())
      detail::fail<shape_error>("histogram2d: arrays of shapes ", a.shape(), " and ", b.shape());
    const auto p = detail::equal_bins("histogram2d", a, bins, x_range);
    const auto q = detail::equal_bins("histogram2d", b, bins, y_range);
    const auto i = detail::equal_bin_of(a, p), j = detail::equal_bin_of(b, q);
    const auto both = eval(where((i < 0) | (j < 0), -1, i * bins.value + j));
    const auto totals = detail::totals_or_densities<O...>(
        reshape(detail::bin_totals("histogram2d", both, bins * bins.value, o...), {bins.value, bins.value}),
        expand_dims(diff(astype<double>(p)), 1) * diff(astype<double>(q)));
    return counts_and_two_edges<value_type_t<decltype(p)>, value_type_t<decltype(q)>, device_type_t<X>,
                                value_type_t<decltype(totals)>>{totals, p, q};
  } else {
    return detail::poison{};
  }
}
/// What histogramdd returns: `auto [counts, edges] = ca::histogramdd(points);`
template <class T, class Device, class Count = int64>
struct counts_and_all_edges {
  ndarray<Count, Device> counts;
  ::std::vector<ndarray<T, Device>> edges;
};
/// How many points, rows of (n, d), lie in each of bins[0] x .. x bins[d - 1] boxes, d at most 8; of one number that
/// many along each axis. Of `ranges` there are d or none. Weights are (n,).
///     auto [counts, edges] = ca::histogramdd(points, {10, 20, 5});
template <array_expression X, detail::histogram_option... O>
auto histogramdd(const X& x, const shape& bins = {10}, const ::std::vector<histogram_range>& ranges = {},
                 const O&... o) {
  if constexpr (detail::are_histogram_options<O...>()) {
    const auto a = detail::plain_values(x);
    const int64 d = a.ndim() == 2 ? a.shape(1) : 0;
    shape box = bins;
    while (bins.ndim() == 1 && box.ndim() < d && d <= max_rank) box.push_back(bins[0]);
    if (d < 1 || box.ndim() != d)
      detail::fail<shape_error>("histogramdd: an array of shape ", a.shape(), " for bins ", bins);
    if (!ranges.empty() && int64(ranges.size()) != d)
      detail::fail<value_error>("histogramdd: ", ranges.size(), " ranges for ", d, " axes");
    using E = value_type_t<decltype(detail::equal_bins("", a(_, 0), 1, {}))>;
    counts_and_all_edges<E, device_type_t<X>> found;
    ndarray<int64, device_type_t<X>> bin = zeros<int64>({a.shape(0)}, a.device());
    auto sizes = ones<double>(shape{}, a.device());
    for (int64 k = 0; k < d; ++k) {
      const auto column = ascontiguousarray(a(_, k));
      const auto edges = detail::equal_bins("histogramdd", column, box[int(k)],
                                            ranges.empty() ? histogram_range{} : ranges[::std::size_t(k)]);
      const auto one = detail::equal_bin_of(column, edges);
      bin = where((bin < 0) | (one < 0), -1, bin * box[int(k)] + one);
      sizes = expand_dims(sizes, -1) * astype<double>(diff(edges));
      found.edges.push_back(edges);
    }
    const auto totals = detail::totals_or_densities<O...>(
        reshape(detail::bin_totals("histogramdd", bin, box.elements(), o...), box), sizes);
    return counts_and_all_edges<E, device_type_t<X>, value_type_t<decltype(totals)>>{totals, found.edges};
  } else {
    return detail::poison{};
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
