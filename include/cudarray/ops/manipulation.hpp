// Changing shape and order of axes (views where possible), joining and splitting.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "transfer.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The array's memory in another layout; read-only if the array is.
template <class T, class Device>
ndarray<T, Device> view(const ndarray<T, Device>& a, const layout& l) {
  auto n = a.node();
  n.where = l;
  n.where.read_only |= a.where().read_only;
  return ndarray<T, Device>(::std::move(n));
}

/// Operands of functions that work on arrays: an array as it is, an expression evaluated.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> as_array(const X& x) {
  return ndarray<value_type_t<X>, device_type_t<X>>(x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The same elements in another shape, C order; one extent may be -1. A view where strides can say it, else a copy.
/// Throws shape_error.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> reshape(const X& x, const shape& s) {
  auto a = detail::as_array(x);
  const shape to = detail::resolve_reshape(a.shape(), s);
  layout l;
  if (!detail::reshape_layout(a.where(), to, l)) {
    a = copy<decltype(a)>(a);
    l = detail::c_layout(to);
  }
  return detail::view(a, l);
}
/// All elements along one axis: a view where possible.
template <array_expression X>
auto ravel(const X& x) {
  return reshape<X>(x, shape{-1});
}

/// The axes in another order, absent: reversed. A view. Throws index_error, value_error.
template <array_expression X>
ndarray<value_type_t<X>, device_type_t<X>> transpose(const X& x, const axes& order = axes::all()) {
  const auto a = detail::as_array(x);
  if (order.is_all()) return a.t();
  if (order.size() != a.ndim())
    detail::fail<value_error>("transpose: ", order.size(), " axes given for an array of ", a.ndim());
  order.mask("transpose", a.ndim());
  int perm[max_rank] = {};
  for (int i = 0; i < a.ndim(); ++i) perm[i] = detail::normal_axis("transpose", order[i], a.ndim());
  return detail::view(a, detail::permute_layout(a.where(), perm));
}
/// Two axes exchanged: a view.
template <array_expression X>
auto swapaxes(const X& x, detail::any_integer first, detail::any_integer second) {
  const auto a = detail::as_array(x);
  int perm[max_rank] = {};
  for (int i = 0; i < a.ndim(); ++i) perm[i] = i;
  ::std::swap(perm[detail::normal_axis("swapaxes", first, a.ndim())],
              perm[detail::normal_axis("swapaxes", second, a.ndim())]);
  return detail::view(a, detail::permute_layout(a.where(), perm));
}
/// A new axis of extent 1 at `axis` of the result: a view.
template <array_expression X>
auto expand_dims(const X& x, detail::any_integer axis) {
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis("expand_dims", axis, a.ndim() + 1);
  layout l;
  l.offset = a.where().offset;
  for (int d = 0; d <= a.ndim(); ++d) {
    l.dims.push_back(d == at ? 1 : a.shape()[d < at ? d : d - 1]);
    l.stride[d] = d == at ? 0 : a.where().stride[d < at ? d : d - 1];
  }
  return detail::view(a, l);
}
/// The named axes of extent 1 left out, absent: all of them. A view. Throws shape_error.
template <array_expression X>
auto squeeze(const X& x, const axes& which = axes::all()) {
  const auto a = detail::as_array(x);
  const unsigned mask = which.mask("squeeze", a.ndim());
  layout l;
  l.offset = a.where().offset;
  for (int d = 0; d < a.ndim(); ++d) {
    const bool named = mask >> d & 1u, one = a.shape()[d] == 1;
    if (named && one) continue;
    if (named && !which.is_all()) detail::fail<shape_error>("squeeze: axis ", d, " of shape ", a.shape(), " is not 1");
    l.stride[l.ndim()] = a.where().stride[d];
    l.dims.push_back(a.shape()[d]);
  }
  return detail::view(a, l);
}
/// Repeated to a shape without copying: a read-only view. Throws shape_error.
template <array_expression X>
auto broadcast_to(const X& x, const shape& s) {
  const auto a = detail::as_array(x);
  return detail::view(a, detail::broadcast_layout("broadcast_to", a.where(), s));
}
/// The order of elements reversed along axes, absent: all. A view.
template <array_expression X>
auto flip(const X& x, const axes& over = axes::all()) {
  const auto a = detail::as_array(x);
  const unsigned mask = over.mask("flip", a.ndim());
  layout l = a.where();
  for (int d = 0; d < a.ndim(); ++d)
    if ((mask >> d & 1u) && l.dims[d] > 0) {
      l.offset += (l.dims[d] - 1) * l.stride[d];
      l.stride[d] = -l.stride[d];
    }
  return detail::view(a, l);
}

/// The arrays one after another along an axis. Eager. Throws shape_error where other extents differ, value_error for
/// none.
///     ca::concatenate({a, b}, 1)
template <class T, class Device>
const ndarray<T, Device> concatenate(::std::span<const ndarray<T, Device>> parts, detail::any_integer axis = 0) {
  if (parts.empty()) detail::fail<value_error>("concatenate: no arrays given");
  const int at = detail::normal_axis("concatenate", axis, parts[0].ndim());
  shape s = parts[0].shape();
  s[at] = 0;
  ndarray<T, Device> first = parts[0];  // that is not empty
  for (const auto& p : parts) {
    if (detail::common_device("concatenate", first, p); first.size() == 0) first = p;
    bool fits = p.ndim() == s.ndim();
    for (int d = 0; fits && d < s.ndim(); ++d) fits = d == at || p.shape()[d] == s[d];
    if (!fits)
      detail::fail<shape_error>("concatenate: shapes ", parts[0].shape(), " and ", p.shape(), " along axis ", at);
    s[at] += p.shape()[at];
  }
  ndarray<T, Device> r(detail::new_leaf<T>(first.device(), s));
  layout l = r.where();
  for (const auto& p : parts) {
    l.dims[at] = p.shape()[at];
    detail::assign<T, Device>(r.storage(), l, p.node());
    l.offset += p.shape()[at] * l.stride[at];
  }
  return r;
}
template <class T, class Device>
const ndarray<T, Device> concatenate(const ::std::vector<ndarray<T, Device>>& parts, detail::any_integer axis = 0) {
  return concatenate<T, Device>(::std::span<const ndarray<T, Device>>(parts), axis);
}
template <class T, class Device>
const ndarray<T, Device> concatenate(::std::initializer_list<ndarray<T, Device>> parts, detail::any_integer axis = 0) {
  return concatenate<T, Device>(::std::span<const ndarray<T, Device>>(parts.begin(), parts.size()), axis);
}

/// Arrays of one shape along a new axis. Eager. Throws shape_error, value_error.
template <class T, class Device>
const ndarray<T, Device> stack(::std::span<const ndarray<T, Device>> parts, detail::any_integer axis = 0) {
  if (parts.empty()) detail::fail<value_error>("stack: no arrays given");
  const int at = detail::normal_axis("stack", axis, parts[0].ndim() + 1);
  ::std::vector<ndarray<T, Device>> raised;
  for (const auto& p : parts) {
    if (p.shape() != parts[0].shape())
      detail::fail<shape_error>("stack: shapes ", parts[0].shape(), " and ", p.shape());
    raised.push_back(expand_dims(p, at));
  }
  return concatenate<T, Device>(raised, at);
}
template <class T, class Device>
const ndarray<T, Device> stack(const ::std::vector<ndarray<T, Device>>& parts, detail::any_integer axis = 0) {
  return stack<T, Device>(::std::span<const ndarray<T, Device>>(parts), axis);
}
template <class T, class Device>
const ndarray<T, Device> stack(::std::initializer_list<ndarray<T, Device>> parts, detail::any_integer axis = 0) {
  return stack<T, Device>(::std::span<const ndarray<T, Device>>(parts.begin(), parts.size()), axis);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail {

/// Where equal parts of an axis begin, but the first. Throws value_error.
inline ::std::vector<int64> split_points(const shape& dims, int64 sections, int64 axis) {
  const int64 n = dims[normal_axis("split", axis, dims.ndim())];
  if (sections <= 0 || n % sections != 0)
    fail<value_error>("split: axis of ", n, " does not divide into ", sections, " equal parts");
  ::std::vector<int64> points;
  for (int64 i = 1; i < sections; ++i) points.push_back(i * (n / sections));
  return points;
}

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Views of the parts between split points along an axis.
///     auto parts = ca::split(a, {2, 5});  // a[:2], a[2:5], a[5:]
template <class T, class Device>
::std::vector<ndarray<T, Device>> split(const ndarray<T, Device>& a, ::std::span<const int64> points,
                                        detail::any_integer axis = 0) {
  const int at = detail::normal_axis("split", axis, a.ndim());
  ::std::vector<ndarray<T, Device>> parts;
  index_item items[max_rank] = {_, _, _, _, _, _, _, _};
  int64 from = 0;
  for (::std::size_t i = 0; i <= points.size(); ++i) {
    items[at] = i < points.size() ? slice(from, points[i]) : slice(from, none);
    parts.push_back(detail::view(a, detail::index_layout(a.where(), items, a.ndim())));
    if (i < points.size()) from = points[i];
  }
  return parts;
}
template <class T, class Device>
::std::vector<ndarray<T, Device>> split(const ndarray<T, Device>& a, ::std::initializer_list<int64> points,
                                        detail::any_integer axis = 0) {
  return split(a, ::std::span<const int64>(points.begin(), points.size()), axis);
}
/// Views of `sections` equal parts along an axis. Throws value_error where they would not be equal.
template <class T, class Device>
::std::vector<ndarray<T, Device>> split(const ndarray<T, Device>& a, detail::any_integer sections,
                                        detail::any_integer axis = 0) {
  return split(a, ::std::span<const int64>(detail::split_points(a.shape(), sections, axis)), axis);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
