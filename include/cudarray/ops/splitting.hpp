// Splitting arrays: views of the parts along an axis.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "manipulation.hpp"

namespace cudarray::inline v0::detail {

/// Where parts of an axis begin, but the first: of one length, or (`even` false) the first ones by 1 longer. Throws
/// value_error.
inline ::std::vector<int64> split_points(const char* function, const shape& dims, int64 sections, int64 axis,
                                         bool even) {
  const int64 n = dims[normal_axis(function, axis, dims.ndim())];
  if (sections <= 0 || (even && n % sections != 0))
    fail<value_error>(function, ": axis of ", n, " does not divide into ", sections, even ? " equal parts" : " parts");
  ::std::vector<int64> points;
  for (int64 i = 1; i < sections; ++i) points.push_back(i * (n / sections) + (i < n % sections ? i : n % sections));
  return points;
}
/// The axis that hsplit, vsplit and dsplit split. Throws shape_error.
inline int64 axis_of_split(const char* function, const shape& s, int at_least, int64 axis) {
  if (s.ndim() < at_least)
    fail<shape_error>(function, ": an array of shape ", s, ", not of ", at_least, at_least > 1 ? " axes" : " axis",
                      " at least");
  return axis;
}

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Views of the parts between split points along an axis.
///     auto parts = ca::split(a, {2, 5});  // a[:2], a[2:5], a[5:]
template <array_expression X>
requires(!detail::has_variable<X>) auto split(const X& x, ::std::span<const int64> points,
                                              detail::any_integer axis = 0) {
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis("split", axis, a.ndim());
  ::std::vector<::std::remove_const_t<decltype(a)>> parts;
  index_item items[max_rank] = {_, _, _, _, _, _, _, _};
  int64 from = 0;
  for (::std::size_t i = 0; i <= points.size(); ++i) {
    items[at] = i < points.size() ? slice(from, points[i]) : slice(from, none);
    parts.push_back(detail::view(a, detail::index_layout(a.where(), items, a.ndim())));
    if (i < points.size()) from = points[i];
  }
  return parts;
}
template <array_expression X>
auto split(const X& x, ::std::initializer_list<int64> points, detail::any_integer axis = 0) {
  return split(x, ::std::span<const int64>(points.begin(), points.size()), axis);
}
/// Views of `sections` equal parts along an axis. Throws value_error where they would not be equal.
template <array_expression X>
auto split(const X& x, detail::any_integer sections, detail::any_integer axis = 0) {
  const auto points = detail::split_points("split", detail::dims_of(x), sections, axis, true);
  return split(x, ::std::span<const int64>(points), axis);
}
/// Views of `sections` parts, of which the first are longer by 1 where they cannot be equal. Throws value_error.
template <array_expression X>
auto array_split(const X& x, detail::any_integer sections, detail::any_integer axis = 0) {
  const auto points = detail::split_points("array_split", detail::dims_of(x), sections, axis, false);
  return split(x, ::std::span<const int64>(points), axis);
}
template <array_expression X>
auto array_split(const X& x, ::std::initializer_list<int64> points, detail::any_integer axis = 0) {
  return split(x, points, axis);
}

/// split along axis 1 (of one axis: along that), 0, and 2. Throw shape_error where there is no such axis.
#define CUDARRAY_SPLITS(name, at_least, axis)                                   \
  template <array_expression X>                                                 \
  auto name(const X& x, ::std::initializer_list<int64> points) {                \
    const shape& s = detail::dims_of(x);                                        \
    return split(x, points, detail::axis_of_split(#name, s, at_least, axis));   \
  }                                                                             \
  template <array_expression X>                                                 \
  auto name(const X& x, detail::any_integer sections) {                         \
    const shape& s = detail::dims_of(x);                                        \
    return split(x, sections, detail::axis_of_split(#name, s, at_least, axis)); \
  }
CUDARRAY_SPLITS(hsplit, 1, s.ndim() == 1 ? 0 : 1)
CUDARRAY_SPLITS(vsplit, 2, 0)
CUDARRAY_SPLITS(dsplit, 3, 2)
#undef CUDARRAY_SPLITS

/// Views of what is at each index of an axis.
///     for (const auto& row : ca::unstack(a)) std::cout << row << '\n';
template <array_expression X>
auto unstack(const X& x, detail::any_integer axis = 0) {
  const int64 n = detail::dims_of(x)[detail::normal_axis("unstack", axis, detail::dims_of(x).ndim())];
  auto parts = n > 0 ? split(x, n, axis) : split(x, ::std::span<const int64>(), axis);
  if (n == 0) parts.clear();
  for (auto& p : parts) p = eval(squeeze(p, int64(axis)));
  return parts;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
