// Quantiles, percentiles and medians by all of NumPy's methods: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "creation.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "sorting.hpp"

namespace cudarray::inline v0 {

/// How a quantile lies between two elements: the nine of Hyndman and Fan (1996), in their order, and NumPy's own.
enum class quantile_method {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail {

/// Between which of n sorted elements a quantile lies, and how far from the first to the second.
struct quantile_place {
  double low, high, part;
};
/// x y, rounded by itself: compilers make no fused multiply-add of it and what is added.
CUDARRAY_HD inline double rounded_product(double x, double y) { return math::fma(x, y, 0.); }
/// The place that is counted from 0, by NumPy's formulas, before it is limited to what there is.
CUDARRAY_HD inline double virtual_index(quantile_method m, double q, double n) {
  const double whole = rounded_product(n, q);
  const auto between = [q, whole](double a, double b) { return whole + (a + rounded_product(q, 1 - a - b)) - 1; };
  switch (m) {
    case quantile_method::inverted_cdf:
    case quantile_method::averaged_inverted_cdf:
    case quantile_method::interpolated_inverted_cdf:
      return whole - 1;
    case quantile_method::closest_observation:
      return whole - 1 - 0.5;
    case quantile_method::hazen:
      return between(0.5, 0.5);
    case quantile_method::weibull:
      return between(0, 0);
    case quantile_method::median_unbiased:
      return between(1 / 3., 1 / 3.);
    case quantile_method::normal_unbiased:
      return between(3 / 8., 3 / 8.);
    default:
      return rounded_product(n - 1, q);
  }
}
CUDARRAY_HD inline double quantile_part(quantile_method m, double index, double part) {
  const double below = index - part;
  switch (m) {
    case quantile_method::inverted_cdf:
    case quantile_method::higher:
      return part > 0 ? 1 : 0;
    case quantile_method::averaged_inverted_cdf:
      return part > 0 ? 1 : 0.5;
    case quantile_method::closest_observation:  // the even order statistic, which counts from 1
      return part == 0 && math::fmod(math::abs(below), 2.) == 1 ? 0 : 1;
    case quantile_method::lower:
      return 0;
    case quantile_method::midpoint:
      return part > 0 ? 0.5 : 0;
    case quantile_method::nearest:
      return math::rint(index) - below;
    default:
      return part;
  }
}
CUDARRAY_HD inline quantile_place place_of_quantile(quantile_method m, double q, double n) {
  const double index = virtual_index(m, q, n), below = math::floor(index);
  if (!(index >= 0)) return {0, 0, 0};
  if (index >= n - 1) return {n - 1, n - 1, 0};
  const double part = quantile_part(m, index, index - below);
  if (part == 0 || part == 1) return {below + part, below + part, 0};
  return {below, below + 1, part};
}

inline void check_quantile(const char* function, double q, double most) {
  if (!(q >= 0 && q <= most)) fail<value_error>(function, ": ", q, " is not in [0, ", most, "]");
}

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

/// One number of a quantile's place among n elements.
template <double detail::quantile_place::*Part>
struct quantile_place_op {
  template <class>
  using types = rule::uniform<double, double, true>;
  static constexpr bool lanes = false;
  quantile_method method;
  double q;
  CUDARRAY_HD double operator()(double n) const { return detail::place_of_quantile(method, q, n).*Part; }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What may follow the axes of a quantile.
struct quantile_options {
  bool keep = false;
  quantile_method method = quantile_method::linear;
  void set(keepdims_t) { keep = true; }
  void set(quantile_method m) { method = m; }
};
template <class O>
concept quantile_option = ::std::is_same_v<O, keepdims_t> || ::std::is_same_v<O, quantile_method>;
template <class... O>
quantile_options quantile_settings(const O&... o) {
  quantile_options r;
  (r.set(o), ...);
  return r;
}

/// The reduced axes as one, the last, and sorted along it.
template <class X>
auto sorted_last(const char* function, const X& x, const axes& over) {
  const shape& dims = dims_of(x);
  const unsigned mask = over.mask(function, dims.ndim());
  (void)reduced_shape(function, dims, mask, false, false);
  int64 order[max_rank];
  int kept = 0, n = 0;
  shape lines;
  for (int d = 0; d < dims.ndim(); ++d)
    if (!(mask >> d & 1u)) order[kept++] = d, lines.push_back(dims[d]);
  n = kept;
  int64 count = 1;
  for (int d = 0; d < dims.ndim(); ++d)
    if (mask >> d & 1u) order[n++] = d, count *= dims[d];
  lines.push_back(count);
  return eval(sort(reshape(transpose(x, axes(order, n)), lines), -1));
}
/// r, which lies between a and b by part t; in the middle, and beside infinities, it is their weighted mean.
template <class A, class P, class R>
auto with_mean(const A& a, const A& b, const P& t, const R& r) {
  return eval(where(a == b, a, where(isinf(a) | isinf(b) | (t == 0.5), a * (1 - t) + b * t, r)));
}
/// From a to b by parts t, as NumPy computes it.
template <class A, class P>
auto between(const A& a, const A& b, const P& t) {
  const auto near_a = a + (b - a) * t;
  const auto near_b = b - (b - a) * (1 - t);
  if constexpr (scalar_value<P>) {
    if (t < 0.5) return with_mean(a, b, t, near_a);
    return with_mean(a, b, t, near_b);
  } else {
    return with_mean(a, b, t, where(t < 0.5, near_a, near_b));
  }
}
/// The dtype of quantiles, and the one they are computed in.
template <class X>
using quantile_t = decltype(rule::to_float<value_type_t<X>, true>());

/// One quantile of the sorted lines of `a`, by its place in each of them, or in all.
template <class A, class Ix, class P>
auto quantile_of_lines(const A& a, const Ix& low, const Ix& high, const P& part) {
  using R = quantile_t<A>;
  using C = compute_t<R>;
  const auto x = eval(astype<C>(take_along_axis(a, low, -1))), y = eval(astype<C>(take_along_axis(a, high, -1)));
  return eval(squeeze(astype<R>(between(x, y, part)), -1));
}
template <class A>
auto quantile_of_sorted(const A& a, double q, quantile_method m) {
  const shape& s = a.shape();
  const int64 n = s[s.ndim() - 1];
  const quantile_place at = place_of_quantile(m, q, double(n));
  shape one = s;
  for (int d = 0; d < one.ndim(); ++d) one[d] = 1;
  const auto index = [&](double i) { return full<int64>(one, int64(i), a.device()); };
  const auto r = quantile_of_lines(a, index(at.low), index(at.high), at.part);
  if constexpr (kind_of<primal_t<value_type_t<A>>> < kind::floating) return r;
  else return eval(where(isnan(take(a, full<int64>(shape{}, n - 1, a.device()), -1)), __builtin_nan(""), r));
}
template <class A>
auto nanquantile_of_sorted(const A& a, double q, quantile_method m) {
  if constexpr (kind_of<primal_t<value_type_t<A>>> < kind::floating) {
    return quantile_of_sorted(a, q, m);
  } else {
    const auto counts = eval(astype<double>(sum(!isnan(a), -1, keepdims)));
    const auto of = [&]<double quantile_place::*Part>() {
      return elementwise("nanquantile", op::quantile_place_op<Part>{m, q}, counts);
    };
    const auto index = [](const auto& i) { return eval(astype<int64>(maximum(i, 0))); };
    const auto low = index(of.template operator()<&quantile_place::low>());
    const auto high = index(of.template operator()<&quantile_place::high>());
    using C = primal_t<compute_t<quantile_t<A>>>;
    return quantile_of_lines(a, low, high, eval(astype<C>(of.template operator()<&quantile_place::part>())));
  }
}
template <class X, class F>
auto one_quantile(const char* function, const X& x, double q, double most, const axes& over, const quantile_options& o,
                  const F& f) {
  check_quantile(function, q, most);
  const auto r = f(sorted_last(function, x, over), q / most, o.method);
  const shape& dims = dims_of(x);
  return eval(reshape(r, reduced_shape(function, dims, over.mask(function, dims.ndim()), o.keep, true)));
}
template <class X, class F>
auto quantiles(const char* function, const X& x, ::std::span<const double> q, double most, const axes& over,
               const quantile_options& o, const F& f) {
  for (const double one : q) check_quantile(function, one, most);
  const shape& dims = dims_of(x);
  const shape s = reduced_shape(function, dims, over.mask(function, dims.ndim()), o.keep, true);
  const auto sorted = sorted_last(function, x, over);
  ::std::vector<::std::remove_const_t<decltype(eval(reshape(f(sorted, 0., o.method), s)))>> parts;
  for (const double one : q) parts.push_back(reshape(f(sorted, one / most, o.method), s));
  if (parts.empty()) fail<value_error>(function, ": no quantiles are asked for");
  return eval(stack(parts));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Integers have quantiles in float64. NaN among the elements makes them NaN; nan.. leave NaN out. Behind the axes may
// stand a ca::quantile_method (absent: linear) and ca::keepdims. Throw value_error, index_error; none of no elements.

/// The element below which this part of all elements lies, q in [0, 1] or (percentile) [0, 100]; of several q, in
/// braces or a span, one after another along a new first axis.
///     ca::quantile(x, 0.9, 0)
///     ca::percentile(x, {25, 50, 75}, ca::axes::all(), ca::quantile_method::weibull)
#define CUDARRAY_QUANTILE(name, most, of)                                                     \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, double q, const axes& over, const O&... o) {                          \
    return detail::one_quantile(#name, x, q, most, over, detail::quantile_settings(o...),     \
                                [](const auto&... a) { return detail::of(a...); });           \
  }                                                                                           \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, ::std::span<const double> q, const axes& over, const O&... o) {       \
    return detail::quantiles(#name, x, q, most, over, detail::quantile_settings(o...),        \
                             [](const auto&... a) { return detail::of(a...); });              \
  }                                                                                           \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, ::std::initializer_list<double> q, const axes& over, const O&... o) { \
    return name(x, ::std::span<const double>(q.begin(), q.size()), over, o...);               \
  }                                                                                           \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, double q, const O&... o) {                                            \
    return name(x, q, axes::all(), o...);                                                     \
  }                                                                                           \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, ::std::span<const double> q, const O&... o) {                         \
    return name(x, q, axes::all(), o...);                                                     \
  }                                                                                           \
  template <array_expression X, detail::quantile_option... O>                                 \
  auto name(const X& x, ::std::initializer_list<double> q, const O&... o) {                   \
    return name(x, q, axes::all(), o...);                                                     \
  }
CUDARRAY_QUANTILE(quantile, 1, quantile_of_sorted)
CUDARRAY_QUANTILE(percentile, 100, quantile_of_sorted)
CUDARRAY_QUANTILE(nanquantile, 1, nanquantile_of_sorted)
CUDARRAY_QUANTILE(nanpercentile, 100, nanquantile_of_sorted)
#undef CUDARRAY_QUANTILE

/// The element in the middle, of an even number the mean of the two.
///     ca::median(x, 1, ca::keepdims)
#define CUDARRAY_MEDIAN(name, of)                                                        \
  template <array_expression X, detail::quantile_option... O>                            \
  auto name(const X& x, const axes& over, const O&... o) {                               \
    return detail::one_quantile(#name, x, 0.5, 1, over, detail::quantile_settings(o...), \
                                [](const auto&... a) { return detail::of(a...); });      \
  }                                                                                      \
  template <array_expression X, detail::quantile_option... O>                            \
  auto name(const X& x, const O&... o) {                                                 \
    return name(x, axes::all(), o...);                                                   \
  }
CUDARRAY_MEDIAN(median, quantile_of_sorted)
CUDARRAY_MEDIAN(nanmedian, nanquantile_of_sorted)
#undef CUDARRAY_MEDIAN

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
