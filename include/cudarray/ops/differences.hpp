// Differences, derivatives and integrals of what is sampled along an axis; sums that begin with nothing. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "creation.hpp"
#include "dual_parts.hpp"
#include "joining.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "sorting.hpp"
#include "splitting.hpp"

namespace cudarray::inline v0 {

struct unwrap_options {
  detail::any_integer axis = -1;
  double period = 6.283185307179586;
  double discont = 0;  ///< smaller jumps stay; less than half a period is taken for that
};
struct gradient_options {
  detail::any_integer axis = 0;
  int edge_order = 1;  ///< 1 or 2: how many neighbours the derivative at an edge takes
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The elements from `first` to so many before the end of an axis: a view.
template <class A>
auto without_ends(const A& a, int64 first, int64 last, int axis) {
  const int64 n = a.shape()[axis];
  return split(a, {first < n ? first : n, last < n ? n - last : 0}, axis)[1];
}
/// What is sampled, in a floating dtype.
template <class X>
auto samples_of(const X& x) {
  if constexpr (kind_of<primal_t<value_type_t<X>>> < kind::floating) return eval(astype<double>(x));
  else return eval(x);
}
/// Numbers along one axis as they meet an array of so many axes.
template <class A>
auto along(const A& a, int axis, int ndim) {
  shape s;
  for (int d = 0; d < ndim; ++d) s.push_back(d == axis ? a.shape()[0] : 1);
  return eval(reshape(a, s));
}
/// Distances between neighbouring coordinates. Throws shape_error.
template <class A, class C>
auto distances(const char* function, const A& y, const C& x, int axis) {
  const auto at = samples_of(x);
  if (at.ndim() != 1 || at.shape()[0] != y.shape()[axis])
    fail<shape_error>(function, ": coordinates of shape ", at.shape(), " along axis ", axis, " of shape ", y.shape());
  return along(eval(without_ends(at, 1, 0, 0) - without_ends(at, 0, 1, 0)), axis, y.ndim());
}
template <class A>
void check_samples(const A& a, int axis, int edge_order) {
  if (edge_order != 1 && edge_order != 2) fail<value_error>("gradient: an edge order of ", edge_order, ": 1 or 2");
  if (a.shape()[axis] <= edge_order)
    fail<value_error>("gradient: an axis of ", a.shape()[axis], " elements: ", edge_order + 1, " at least are wanted");
}
/// The derivative at an edge by element 0, 1 and 2 from there, and the distances between them.
template <class A, class H>
auto edge_slope(const A& y0, const A& y1, const A& y2, const H& h1, const H& h2, int order) {
  if (order == 1) return eval((y1 - y0) / h1);
  return eval(y0 * (-(2 * h1 + h2) / (h1 * (h1 + h2))) + y1 * ((h1 + h2) / (h1 * h2)) - y2 * (h1 / (h2 * (h1 + h2))));
}
/// The derivative of samples by the distances h between them, second order inside (NumPy's formulas).
template <class A, class H>
auto slopes(const A& y, const H& h, int axis, int order) {
  const auto at = [axis](const auto& a, int64 i) {
    const int64 n = a.shape()[axis], k = i < 0 ? n + i : i;
    return eval(split(a, {k, k + 1}, axis)[1]);
  };
  const auto before = without_ends(h, 0, 1, axis), behind = without_ends(h, 1, 0, axis);
  const auto left = without_ends(y, 0, 2, axis), middle = without_ends(y, 1, 1, axis),
             right = without_ends(y, 2, 0, axis);
  const auto inside = eval(left * (-behind / (before * (before + behind))) +
                           where(behind == before, 0, middle * ((behind - before) / (before * behind))) +
                           right * (before / (behind * (before + behind))));
  const int64 third = order == 2 ? 2 : 1, second = order == 2 ? 1 : 0;
  const auto first = edge_slope(at(y, 0), at(y, 1), at(y, third), at(h, 0), at(h, second), order);
  const auto last = eval(-edge_slope(at(y, -1), at(y, -2), at(y, -1 - third), at(h, -1), at(h, -1 - second), order));
  return eval(concatenate(::std::tuple(first, inside, last), axis));
}
/// Of samples at one distance.
template <class A>
auto even_slopes(const A& y, double h, int axis, int order) {
  const auto at = [&](int64 i) {
    const int64 n = y.shape()[axis], k = i < 0 ? n + i : i;
    return eval(split(y, {k, k + 1}, axis)[1]);
  };
  const auto edge = [&](int64 i, int64 by) {
    if (order == 1) return eval((at(i + by) - at(i)) / h);
    return eval((at(i) * -1.5 + at(i + by) * 2. - at(i + 2 * by) * 0.5) / h);
  };
  const auto inside = eval((without_ends(y, 2, 0, axis) - without_ends(y, 0, 2, axis)) / (2 * h));
  return eval(concatenate(::std::tuple(edge(0, 1), inside, eval(-edge(-1, -1))), axis));
}
/// 0 or 1 in front of sums or products along an axis.
template <class A>
auto with_initial(const A& a, int value, int axis) {
  shape one = a.shape();
  one[axis] = 1;
  return eval(concatenate(::std::tuple(full<primal_t<value_type_t<A>>>(one, value, a.device()), a), axis));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The differences of neighbouring elements along an axis, n times; of bool, whether they differ. Throws value_error,
/// index_error.
///     ca::diff(x)  // x(1) - x(0), x(2) - x(1), ..
template <array_expression X>
auto diff(const X& x, detail::any_integer n = 1, detail::any_integer axis = -1) {
  if (n < 0) detail::fail<value_error>("diff: ", n.value, " times");
  auto r = copy(x);
  const int at = detail::normal_axis("diff", axis, r.ndim());
  for (int64 i = 0; i < n && r.shape()[at] > 0; ++i) {
    const auto next = detail::without_ends(r, 1, 0, at), last = detail::without_ends(r, 0, 1, at);
    if constexpr (::std::is_same_v<value_type_t<X>, bool>) r = eval(next != last);
    else r = eval(next - last);
  }
  return r;
}
/// The differences of neighbouring elements in C order.
template <array_expression X>
auto ediff1d(const X& x) {
  return diff(ravel(x));
}

/// Angles along an axis without jumps: where neighbours differ by more than half a period, whole periods are added to
/// those behind. Integers become float64. Throws index_error, value_error for a period that is not above 0.
///     ca::unwrap(phase)
///     ca::unwrap(hours, {.axis = 0, .period = 24})
template <array_expression X>
auto unwrap(const X& x, const unwrap_options& o = {}) {
  static_assert(!detail::is_complex<value_type_t<X>>, "cudarray: unwrap: of angles: write ca::angle(x)");
  const auto a = detail::samples_of(x);
  const int axis = detail::normal_axis("unwrap", o.axis, a.ndim());
  if (!(o.period > 0)) detail::fail<value_error>("unwrap: a period of ", o.period);
  if (a.shape()[axis] == 0) return a;
  const double half = o.period / 2, least = o.discont > half ? o.discont : half;
  const auto jump = diff(detail::plain_values(a), 1, axis);
  const auto within = remainder(jump + half, o.period) - half;
  const auto nearest = where((within == -half) & (jump > 0), half, within);
  const auto steps = eval(where(absolute(jump) < least, 0, nearest - jump));
  return eval(a + detail::with_initial(eval(cumsum(steps, axis)), 0, axis));
}

/// The derivative along an axis of samples so far apart, or at such coordinates: central differences inside, one-sided
/// ones at the edges. Integers are computed in float64. Throws value_error for too few elements, shape_error.
///     ca::gradient(y, 0.1)
///     ca::gradient(y, x, {.axis = 1, .edge_order = 2})
template <array_expression X>
auto gradient(const X& y, double spacing = 1, const gradient_options& o = {}) {
  const auto a = detail::samples_of(y);
  const int axis = detail::normal_axis("gradient", o.axis, a.ndim());
  detail::check_samples(a, axis, o.edge_order);
  return detail::even_slopes(a, spacing, axis, o.edge_order);
}
template <array_expression X, array_expression C>
auto gradient(const X& y, const C& coordinates, const gradient_options& o = {}) {
  const auto a = detail::samples_of(y);
  const int axis = detail::normal_axis("gradient", o.axis, a.ndim());
  detail::check_samples(a, axis, o.edge_order);
  return detail::slopes(a, detail::distances("gradient", a, coordinates, axis), axis, o.edge_order);
}

/// The integral along an axis of samples so far apart, or at such coordinates, by trapezoids. Throws shape_error,
/// index_error.
///     ca::trapezoid(y, x)
template <array_expression X>
auto trapezoid(const X& y, double spacing = 1, detail::any_integer axis = -1) {
  const auto a = detail::samples_of(y);
  const int at = detail::normal_axis("trapezoid", axis, a.ndim());
  return eval(sum((detail::without_ends(a, 1, 0, at) + detail::without_ends(a, 0, 1, at)) * (spacing / 2), at));
}
template <array_expression X, array_expression C>
auto trapezoid(const X& y, const C& coordinates, detail::any_integer axis = -1) {
  const auto a = detail::samples_of(y);
  const int at = detail::normal_axis("trapezoid", axis, a.ndim());
  const auto h = detail::distances("trapezoid", a, coordinates, at);
  return eval(sum((detail::without_ends(a, 1, 0, at) + detail::without_ends(a, 0, 1, at)) * h * 0.5, at));
}

/// cumsum and cumprod by the array API standard's names; `include_initial` puts 0 or 1 in front.
///     ca::cumulative_sum(x, 0, true)  // [1 2 3] -> [0 1 3 6]
template <array_expression X>
auto cumulative_sum(const X& x, detail::any_integer axis, bool include_initial = false) {
  const auto r = eval(cumsum(x, axis));
  return include_initial ? detail::with_initial(r, 0, detail::normal_axis("cumulative_sum", axis, r.ndim())) : r;
}
template <array_expression X>
auto cumulative_prod(const X& x, detail::any_integer axis, bool include_initial = false) {
  const auto r = eval(cumprod(x, axis));
  return include_initial ? detail::with_initial(r, 1, detail::normal_axis("cumulative_prod", axis, r.ndim())) : r;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
