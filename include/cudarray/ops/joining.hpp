// Joining arrays to one: NumPy's concatenate and its kin. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <ranges>
#include <span>
#include <tuple>
#include <vector>

#include "manipulation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What is joined: a range of arrays or expressions of one type, or a tuple of any.
template <class L>
struct list_traits {
  static constexpr bool is = false;
};
template <class... X>
struct traits_of_list {
  static constexpr bool is = true, has_variable = (detail::has_variable<X> || ...);
  using value_type = result_type_t<value_type_t<X>...>;
  using device_type = typename first_device<X...>::type;
};
template <class... X>
requires(sizeof...(X) > 0 && (array_expression<X> && ...)) struct list_traits<::std::tuple<X...>>
    : traits_of_list<::std::remove_cvref_t<X>...> {
};
template <class L>
requires(::std::ranges::contiguous_range<const L&>&& array_expression<::std::ranges::range_value_t<const L&>> &&
         !array_expression<L>) struct list_traits<L> : traits_of_list<::std::ranges::range_value_t<const L&>> {
};
template <class L>
concept array_list = list_traits<L>::is;

/// Calls f with each array of a list.
template <class L, class F>
void for_each_in(const L& list, const F& f) {
  for (const auto& x : list) f(x);
}
template <class... X, class F>
void for_each_in(const ::std::tuple<X...>& list, const F& f) {
  ::std::apply([&](const auto&... x) { (f(x), ...); }, list);
}
/// The list of the results of f.
template <class L, class F>
auto each_in(const L& list, const F& f) {
  ::std::vector<::std::remove_cvref_t<decltype(f(*::std::begin(list)))>> r;
  for (const auto& x : list) r.push_back(f(x));
  return r;
}
template <class... X, class F>
auto each_in(const ::std::tuple<X...>& list, const F& f) {
  return ::std::apply([&](const auto&... x) { return ::std::tuple(f(x)...); }, list);
}
template <class L>
::std::vector<shape> shapes_of(const L& list) {
  ::std::vector<shape> r;
  for_each_in(list, [&](const auto& x) { r.push_back(dims_of(x)); });
  return r;
}

/// An array or expression as an array of dtype T.
template <class T, class X>
ndarray<T, device_type_t<X>> as_array_of(const X& x) {
  if constexpr (::std::is_same_v<value_type_t<X>, T>) return as_array(x);
  else return as_array(astype<T>(x));
}

/// The shape of arrays one after another along an axis. Throws shape_error, value_error.
inline shape joined_shape(const ::std::vector<shape>& parts, int64 axis) {
  if (parts.empty()) fail<value_error>("concatenate: no arrays given");
  const int at = normal_axis("concatenate", axis, parts[0].ndim());
  shape s = parts[0];
  s[at] = 0;
  for (const shape& p : parts) {
    bool fits = p.ndim() == s.ndim();
    for (int d = 0; fits && d < s.ndim(); ++d) fits = d == at || p[d] == s[d];
    if (!fits) fail<shape_error>("concatenate: shapes ", parts[0], " and ", p, " along axis ", at);
    s[at] += p[at];
    check_extents("concatenate", s);
  }
  return s;
}
template <class T, class Device>
const ndarray<T, Device> joined(const ::std::vector<ndarray<T, Device>>& parts, int64 axis) {
  const shape s = joined_shape(shapes_of(parts), axis);
  const int at = normal_axis("concatenate", axis, s.ndim());
  ndarray<T, Device> first = parts[0];  // that is not empty
  for (const auto& p : parts)
    if (common_device("concatenate", first, p); first.size() == 0) first = p;
  ndarray<T, Device> r(new_leaf<T>(first.device(), s));
  layout l = r.where();
  for (const auto& p : parts) {
    l.dims[at] = p.shape()[at];
    assign<T, Device>(r.storage(), l, p.node());
    l.offset += p.shape()[at] * l.stride[at];
  }
  return r;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// All but `append` take a list in braces, a vector or a span of arrays or of expressions of one type, or a tuple of
// any, whose dtypes are promoted: `ca::concatenate(std::tuple(x, y + 1, mask))`.

/// The arrays one after another along an axis. Throws shape_error where other extents differ, value_error for none.
///     ca::concatenate({a, b}, 1)
template <detail::array_list L>
requires(!detail::list_traits<L>::has_variable) auto concatenate(const L& list, detail::any_integer axis = 0) {
  using traits = detail::list_traits<L>;
  ::std::vector<ndarray<typename traits::value_type, typename traits::device_type>> parts;
  detail::for_each_in(list,
                      [&](const auto& x) { parts.push_back(detail::as_array_of<typename traits::value_type>(x)); });
  return detail::joined(parts, axis);
}

/// The same, by its name in the array API standard.
template <detail::array_list L>
auto concat(const L& list, detail::any_integer axis = 0) {
  return concatenate(list, axis);
}

/// Arrays of one shape along a new axis. Throws shape_error, value_error.
template <detail::array_list L>
auto stack(const L& list, detail::any_integer axis = 0) {
  const auto shapes = detail::shapes_of(list);
  if (shapes.empty()) detail::fail<value_error>("stack: no arrays given");
  for (const shape& s : shapes)
    if (s != shapes[0]) detail::fail<shape_error>("stack: shapes ", shapes[0], " and ", s);
  const int at = detail::normal_axis("stack", axis, shapes[0].ndim() + 1);
  return concatenate(detail::each_in(list, [at](const auto& x) { return expand_dims(x, at); }), at);
}

/// As columns: along axis 1, of arrays of one axis along that.
///     ca::hstack({a, b})
template <detail::array_list L>
auto hstack(const L& list) {
  const auto parts = detail::each_in(list, [](const auto& x) { return atleast_1d(x); });
  const auto shapes = detail::shapes_of(parts);
  return concatenate(parts, !shapes.empty() && shapes[0].ndim() == 1 ? 0 : 1);
}
/// As rows: along axis 0; arrays of one axis are rows.
template <detail::array_list L>
auto vstack(const L& list) {
  return concatenate(detail::each_in(list, [](const auto& x) { return atleast_2d(x); }), 0);
}
/// Along axis 2, of arrays that have been given three axes.
template <detail::array_list L>
auto dstack(const L& list) {
  return concatenate(detail::each_in(list, [](const auto& x) { return atleast_3d(x); }), 2);
}
/// Along axis 1; arrays of one axis are columns.
template <detail::array_list L>
auto column_stack(const L& list) {
  return concatenate(detail::each_in(list,
                                     [](const auto& x) {
                                       const shape s = detail::dims_of(x);
                                       return reshape(x, s.ndim() < 2 ? shape{s.elements(), 1} : s);
                                     }),
                     1);
}

#define CUDARRAY_JOINS(name)                                                 \
  template <array_expression X>                                              \
  auto name(::std::initializer_list<X> list, detail::any_integer axis = 0) { \
    return name(::std::span<const X>(list.begin(), list.size()), axis);      \
  }
CUDARRAY_JOINS(concatenate)
CUDARRAY_JOINS(concat)
CUDARRAY_JOINS(stack)
#undef CUDARRAY_JOINS
#define CUDARRAY_JOINS(name)                                      \
  template <array_expression X>                                   \
  auto name(::std::initializer_list<X> list) {                    \
    return name(::std::span<const X>(list.begin(), list.size())); \
  }
CUDARRAY_JOINS(hstack)
CUDARRAY_JOINS(vstack)
CUDARRAY_JOINS(dstack)
CUDARRAY_JOINS(column_stack)
#undef CUDARRAY_JOINS

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Rows of blocks, which are given at least two axes, joined along the last axis, and these along the one before.
template <class Rows>
auto joined_blocks(const Rows& rows) {
  int ndim = 2;
  for_each_in(rows, [&](const auto& row) {
    for_each_in(row, [&](const auto& x) { ndim = ::std::max(ndim, dims_of(x).ndim()); });
  });
  const auto raised = [ndim](const auto& x) {
    const shape s = dims_of(x);
    shape to;
    for (int d = s.ndim(); d < ndim; ++d) to.push_back(1);
    for (const int64 n : s) to.push_back(n);
    return reshape(x, to);
  };
  const auto row_of = [&](const auto& row) { return eval(concatenate(each_in(row, raised), -1)); };
  return concatenate(each_in(rows, row_of), -2);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Rows of blocks joined along the last axis, and these along the one before: in braces, or as a tuple of lists. Throws
/// shape_error, value_error.
///     ca::block({{a, b}, {c, d}})
///     ca::block(std::tuple(std::tuple(a, b + 1), std::tuple(c, mask)))
template <array_expression X>
auto block(::std::initializer_list<::std::initializer_list<X>> rows) {
  return detail::joined_blocks(rows);
}
template <detail::array_list... Rows>
requires(sizeof...(Rows) > 0) auto block(const ::std::tuple<Rows...>& rows) { return detail::joined_blocks(rows); }

/// One row of blocks, joined along the last axis.
template <array_expression X>
auto block(::std::initializer_list<X> row) {
  return concatenate(row, -1);
}
template <detail::array_list L>
auto block(const L& row) {
  return concatenate(row, -1);
}

/// The elements of x and then those of y along one axis; or along an axis of theirs. Throws shape_error.
template <array_expression X, array_expression Y>
auto append(const X& x, const Y& y) {
  return concatenate(::std::tuple(ravel(x), ravel(y)));
}
template <array_expression X, array_expression Y>
auto append(const X& x, const Y& y, detail::any_integer axis) {
  return concatenate(::std::tuple(eval(x), eval(y)), axis);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
