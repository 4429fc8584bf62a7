// Repeating, rolling, inserting and leaving out elements: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "creation.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "splitting.hpp"

namespace cudarray::inline v0::detail {

/// An array as three axes: before an axis, along it, behind it.
struct axis_view {
  int axis;
  int64 outer = 1, n = 1, inner = 1;
  axis_view(const char* function, const shape& s, int64 along)
      : axis(normal_axis(function, along, s.ndim())), n(s[axis]) {
    for (int d = 0; d < axis; ++d) outer *= s[d];
    for (int d = axis + 1; d < s.ndim(); ++d) inner *= s[d];
  }
};
inline void check_copies(const char* function, int64 count) {
  if (count < 0) fail<value_error>(function, ": ", count, " copies");
}
/// Index i of an axis of n, of which `limit` is the first beyond. Throws index_error.
inline int64 normal_index(const char* function, int64 i, int64 n, int64 limit) {
  if (i < -n || i >= limit) fail<index_error>(function, ": index ", i, " is out of bounds for an axis of ", n);
  return i < 0 ? i + n : i;
}
/// Index k as often as counts[k] says; one count is for all n. Throws value_error, shape_error.
inline ::std::vector<int64> repeated_indices(::std::span<const int64> counts, int64 n) {
  if (int64(counts.size()) != n && counts.size() != 1)
    fail<shape_error>("repeat: ", counts.size(), " counts for an axis of ", n);
  ::std::vector<int64> r;
  for (int64 i = 0; i < n; ++i) {
    const int64 count = counts[counts.size() == 1 ? 0 : ::std::size_t(i)];
    check_copies("repeat", count);
    r.insert(r.end(), ::std::size_t(count), i);
  }
  return r;
}
/// Where the elements of an axis of n come from, of these and then of the inserted ones: each in front of its index.
inline ::std::vector<int64> inserted_indices(::std::span<const int64> before, int64 n) {
  ::std::vector<::std::pair<int64, int64>> places;  // and where the value is
  for (::std::size_t i = 0; i < before.size(); ++i)
    places.emplace_back(normal_index("insert", before[i], n, n + 1), n + int64(i));
  ::std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ::std::vector<int64> r;
  auto next = places.begin();
  for (int64 i = 0; i <= n; ++i) {
    for (; next != places.end() && next->first == i; ++next) r.push_back(next->second);
    if (i < n) r.push_back(i);
  }
  return r;
}

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An array with `count` copies of each `each` elements one after another, which makes the axis longer.
template <class X>
auto with_copies(const X& x, const axis_view& v, int64 each, int64 count) {
  shape s = dims_of(x);
  s[v.axis] *= count;
  const int64 parts = each > 0 ? v.outer * v.n * v.inner / each : 0;
  return reshape(broadcast_to(reshape(x, shape{parts, 1, each}), shape{parts, count, each}), s);
}
/// The elements of an axis that a list of the host names.
template <class X>
auto taken(const X& x, const ::std::vector<int64>& index, int axis) {
  const auto a = eval(x);
  return eval(take(a, array(index, a.device()), axis));
}
/// What is put into an axis of a, in its dtype: at `count` indices, or (-1) at one, as NumPy tells them apart.
template <class A, class V>
auto inserted(const A& a, const V& values, int axis, int64 count) {
  using T = value_type_t<A>;
  const auto given = [&] {
    if constexpr (array_expression<V>) return eval(astype<T>(values));
    else return full<T>(shape{}, values, a.device());
  }();
  shape one = a.shape(), slice;
  for (int d = 0; d < one.ndim(); ++d)
    if (d != axis) slice.push_back(one[d]);
  one[axis] = count;
  if (count >= 0) return eval(broadcast_to(given, one));
  if (given.ndim() < a.ndim()) return eval(expand_dims(broadcast_to(given, slice), axis));
  one[axis] = given.shape()[0];
  return eval(broadcast_to(moveaxis(given, 0, axis), one));
}
/// The elements of an axis but those where `left_out(mask)` writes.
template <class X, class F>
auto without(const X& x, int axis, const F& left_out) {
  const auto a = eval(x);
  const ndarray<bool, device_type_t<X>> kept = ones<bool, device_type_t<X>>(shape{a.shape()[axis]}, a.device());
  left_out(kept);
  return eval(take(a, flatnonzero(kept), axis));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Each element of an axis `count` times; without an axis of all elements, to one axis. Throws value_error.
///     ca::repeat(x, 2, 0)  // rows a, b -> a, a, b, b
template <array_expression X>
auto repeat(const X& x, detail::any_integer count, detail::any_integer axis) {
  detail::check_copies("repeat", count);
  const detail::axis_view v("repeat", detail::dims_of(x), axis);
  return detail::with_copies(x, v, v.inner, count);
}
template <array_expression X>
auto repeat(const X& x, detail::any_integer count) {
  return repeat(ravel(x), count, 0);
}
/// Element k of an axis counts[k] times: of a list in braces, a span or an array of integers, which the host waits for.
/// Throws value_error, and shape_error where there are not as many counts.
template <array_expression X>
auto repeat(const X& x, ::std::span<const int64> counts, detail::any_integer axis) {
  const detail::axis_view v("repeat", detail::dims_of(x), axis);
  return detail::taken(x, detail::repeated_indices(counts, v.n), v.axis);
}
template <array_expression X>
auto repeat(const X& x, ::std::initializer_list<int64> counts, detail::any_integer axis) {
  return repeat(x, ::std::span<const int64>(counts.begin(), counts.size()), axis);
}
template <array_expression X>
auto repeat(const X& x, ::std::initializer_list<int64> counts) {
  return repeat(ravel(x), counts, 0);
}
template <array_expression X, array_expression N>
auto repeat(const X& x, const N& counts, detail::any_integer axis) {
  const auto host = ravel(to<cpu>(ndarray<int64, device_type_t<N>>(detail::index_node("repeat", counts))));
  return repeat(x, ::std::span<const int64>(host.span()), axis);
}
template <array_expression X, array_expression N>
auto repeat(const X& x, const N& counts) {
  return repeat(ravel(x), counts, 0);
}

/// The array again and again along each axis: `copies` has a number for each, the last for the last. Throws
/// value_error.
///     ca::tile(x, {2, 3})  // (4, 5) -> (8, 15)
template <array_expression X>
auto tile(const X& x, const shape& copies) {
  shape s = detail::dims_of(x), from;
  for (int d = s.ndim(); d < copies.ndim(); ++d) from.push_back(1);
  for (const int64 n : s) from.push_back(n);
  auto r = eval(reshape(x, from));
  for (int d = copies.ndim() - 1; d >= 0; --d) {
    detail::check_copies("tile", copies[d]);
    const detail::axis_view v("tile", r.shape(), from.ndim() - copies.ndim() + d);
    if (copies[d] != 1) r = eval(detail::with_copies(r, v, v.n * v.inner, copies[d]));
  }
  return copies.elements() == 1 ? copy(r) : r;
}
/// All elements in another shape, again and again where there are too few: 0 where there are none.
template <array_expression X>
auto resize(const X& x, const shape& s) {
  const auto flat = eval(ravel(x));
  const int64 n = flat.size(), wanted = detail::check_extents("resize", s).elements();
  if (n == 0) return copy(broadcast_to(astype<value_type_t<X>>(sum(flat)), s));
  const auto enough = eval(tile(flat, {(wanted + n - 1) / n}));
  return eval(reshape(split(enough, {wanted})[0], s));
}

/// The elements moved along an axis, those that leave it coming in at its other end; without an axis, of all elements
/// in C order. Eager.
///     ca::roll(x, 1, -1)  // [1 2 3] -> [3 1 2]
template <array_expression X>
auto roll(const X& x, detail::any_integer shift, detail::any_integer axis) {
  const detail::axis_view v("roll", detail::dims_of(x), axis);
  const int64 by = v.n > 0 ? (shift % v.n + v.n) % v.n : 0;
  auto parts = split(x, {v.n - by}, v.axis);
  ::std::swap(parts[0], parts[1]);
  return concatenate(parts, v.axis);
}
template <array_expression X>
auto roll(const X& x, detail::any_integer shift) {
  return reshape(roll(ravel(x), shift, 0), detail::dims_of(x));
}
/// Several axes, each by a number of its own. Throws value_error.
template <array_expression X>
auto roll(const X& x, ::std::initializer_list<int64> shifts, const axes& along) {
  if (along.is_all() || along.size() != int(shifts.size()))
    detail::fail<value_error>("roll: ", shifts.size(), " shifts of ", along.size(), " axes");
  auto r = eval(x);
  for (int i = 0; i < along.size(); ++i) r = eval(roll(r, shifts.begin()[i], along[i]));
  return r;
}

/// Values put in front of an index of an axis. Arrays of fewer axes than x, and scalars, are broadcast to what lies at
/// one index; an array of as many has its first axis along this one. Throws index_error, shape_error.
///     ca::insert(x, 1, 0, -1)  // [1 2 3] -> [1 0 2 3]
template <array_expression X, class V>
requires(array_expression<V> || scalar_value<V>) auto insert(const X& x, detail::any_integer index, const V& values,
                                                             detail::any_integer axis) {
  const auto a = eval(x);
  const detail::axis_view v("insert", a.shape(), axis);
  const int64 place = detail::normal_index("insert", index, v.n, v.n + 1);
  const auto parts = split(a, {place}, v.axis);
  return concatenate(::std::tuple(parts[0], detail::inserted(a, values, v.axis, -1), parts[1]), v.axis);
}
/// In front of several indices of x, in braces: the values are broadcast to that many along the axis.
template <array_expression X, class V>
requires(array_expression<V> || scalar_value<V>) auto insert(const X& x, ::std::initializer_list<int64> indices,
                                                             const V& values, detail::any_integer axis) {
  const auto a = eval(x);
  const detail::axis_view v("insert", a.shape(), axis);
  const auto from = detail::inserted_indices(::std::span<const int64>(indices.begin(), indices.size()), v.n);
  return detail::taken(concatenate(::std::tuple(a, detail::inserted(a, values, v.axis, int64(indices.size()))), v.axis),
                       from, v.axis);
}

/// x without an index, a slice or a list of indices of an axis. Eager; waits for the device. Throws index_error.
///     ca::delete_(x, ca::slice(1, 3), 0)
template <array_expression X>
auto delete_(const X& x, const index_item& which, detail::any_integer axis) {
  const int at = detail::normal_axis("delete_", axis, detail::dims_of(x).ndim());
  return detail::without(x, at, [&](const auto& kept) { kept(which) = false; });
}
template <array_expression X>
auto delete_(const X& x, ::std::initializer_list<int64> which, detail::any_integer axis) {
  const detail::axis_view v("delete_", detail::dims_of(x), axis);
  for (const int64 i : which) detail::normal_index("delete_", i, v.n, v.n);
  return detail::without(x, v.axis, [&](const auto& kept) {
    for (const int64 i : which) kept(i) = false;
  });
}

/// Which ends `trim_zeros` cuts.
enum class trim { both, front, back };
/// x without the zeros at the ends of each axis: the smallest block that holds all others. A view. Waits for the
/// device.
template <array_expression X>
auto trim_zeros(const X& x, trim ends = trim::both) {
  auto r = eval(x);
  for (int axis = 0; axis < detail::dims_of(x).ndim(); ++axis) {
    int64 others[max_rank];
    int count = 0;
    for (int d = 0; d < r.ndim(); ++d)
      if (d != axis) others[count++] = d;
    const auto line = flatnonzero(any(r != 0, axes(others, count)));
    const int64 n = r.shape(axis), found = line.size();
    const int64 first = found == 0           ? (ends == trim::back ? 0 : n)
                        : ends == trim::back ? 0
                                             : line(0).item(),
                last = found == 0            ? first
                       : ends == trim::front ? n
                                             : line(-1).item() + 1;
    r = eval(split(r, {first, last}, axis)[1]);
  }
  return r;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
