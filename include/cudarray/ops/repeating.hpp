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
  const auto count_of = [&](int64 i) { return counts[counts.size() == 1 ? 0 : ::std::size_t(i)]; };
  int64 all = 0;
  for (int64 i = 0; i < n; ++i) {
    check_copies("repeat", count_of(i));
    check_extents("repeat", shape{count_of(i)});
    all = check_extents("repeat", shape{all + count_of(i)})[0];
  }
  ::std::vector<int64> r;
  for (int64 i = 0; i < n; ++i) r.insert(r.end(), ::std::size_t(count_of(i)), i);
  return r;
}
/// The indices that are not gone.
inline ::std::vector<int64> indices_left(const ::std::vector<bool>& gone) {
  ::std::vector<int64> r;
  for (::std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) r.push_back(int64(i));
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

/// A new array with `count` copies of each `each` elements one after another, which makes the axis longer.
template <class X>
auto with_copies(const char* function, const X& x, const axis_view& v, int64 each, int64 count) {
  shape s = dims_of(x);
  if (__builtin_mul_overflow(s[v.axis], count, &s[v.axis])) s[v.axis] = INT64_MAX;
  check_extents(function, s);
  const int64 parts = each > 0 ? v.outer * v.n * v.inner / each : 0;
  return reshape(copy(broadcast_to(reshape(x, shape{parts, 1, each}), shape{parts, count, each})), s);
}
/// The elements of an axis that a list of the host names.
template <class X>
auto taken(const X& x, const ::std::vector<int64>& index, int axis) {
  const auto a = eval(x);
  return eval(take(a, array(index, a.device()), axis));
}
/// Values as an array beside a, of its dtype.
template <class A, class V>
auto elements_like(const A& a, const V& values) {
  using T = value_type_t<A>;
  if constexpr (array_expression<V>) return eval(astype<T>(values));
  else return filled<primal_t<T>>("insert", shape{}, values, a.device());
}
/// What is put in front of one index of an axis: arrays of fewer axes than a are broadcast to what lies at an index,
/// those of as many have their first axis along this one.
template <class A, class V>
auto inserted(const A& a, const V& values, int axis) {
  const auto given = elements_like(a, values);
  shape one = a.shape(), slice;
  for (int d = 0; d < one.ndim(); ++d)
    if (d != axis) slice.push_back(one[d]);
  if (given.ndim() < a.ndim()) return eval(expand_dims(broadcast_to(given, slice), axis));
  one[axis] = given.shape()[0];
  return eval(broadcast_to(moveaxis(given, 0, axis), one));
}
/// In front of several: broadcast to so many along the axis, or (1) to as many as there are values.
template <class A, class V>
auto inserted(const A& a, const V& values, int axis, int64 count) {
  const auto given = elements_like(a, values);
  shape all = a.shape();
  const int in_front = a.ndim() - given.ndim();
  all[axis] = count == 1 && axis >= in_front ? given.shape()[axis - in_front] : count;
  return eval(broadcast_to(given, all));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Each element of an axis `count` times; without an axis of all elements, to one axis. Throws value_error.
///     ca::repeat(x, 2, 0)  // rows a, b -> a, a, b, b
template <array_expression X>
auto repeat(const X& x, detail::any_integer count, detail::any_integer axis) {
  detail::check_copies("repeat", count);
  const detail::axis_view v("repeat", detail::dims_of(x), axis);
  return detail::with_copies("repeat", x, v, v.inner, count);
}
template <array_expression X>
auto repeat(const X& x, detail::any_integer count) {
  return repeat(ravel(x), count, 0);
}
/// Element k of an axis counts[k] times: of a list in braces, a span or an array of integers. On CUDA it waits.
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
auto repeat(const X& x, ::std::span<const int64> counts) {
  return repeat(ravel(x), counts, 0);
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
    if (copies[d] != 1) r = eval(detail::with_copies("tile", r, v, v.n * v.inner, copies[d]));
  }
  return copies.elements() == 1 ? copy(r) : r;
}
/// All elements in another shape, again and again where there are too few: 0 where there are none.
template <array_expression X>
auto resize(const X& x, const shape& s) {
  const auto flat = eval(ravel(x));
  const int64 n = flat.size(), wanted = detail::check_extents("resize", s).elements();
  if (n == 0) return copy(broadcast_to(astype<value_type_t<X>>(sum(flat)), s));
  if (wanted <= n) return eval(reshape(copy(split(flat, {wanted})[0]), s));
  const auto enough = eval(tile(flat, {(wanted + n - 1) / n}));
  return eval(reshape(split(enough, {wanted})[0], s));
}

/// The elements moved along axes, those that leave one coming in at its other end; without an axis, of all elements in
/// C order. Several shifts are one for each axis. Eager. Throws index_error, value_error.
///     ca::roll(x, 1, -1)  // [1 2 3] -> [3 1 2]
template <array_expression X>
auto roll(const X& x, ::std::initializer_list<int64> shifts, const axes& along) {
  const int moves = int(shifts.size()), places = along.size();
  if (along.is_all() || (places != moves && places != 1 && moves != 1))
    detail::fail<value_error>("roll: ", moves, " shifts of ", places, " axes");
  auto r = copy(x);
  for (int i = 0; i < (moves == 1 ? places : moves); ++i) {
    const detail::axis_view v("roll", r.shape(), along[places == 1 ? 0 : i]);
    const int64 shift = shifts.begin()[moves == 1 ? 0 : i], by = v.n > 0 ? (shift % v.n + v.n) % v.n : 0;
    auto parts = split(r, {v.n - by}, v.axis);
    ::std::swap(parts[0], parts[1]);
    r = eval(concatenate(parts, v.axis));
  }
  return r;
}
template <array_expression X>
auto roll(const X& x, detail::any_integer shift, const axes& along) {
  return roll(x, {shift.value}, along);
}
template <array_expression X>
auto roll(const X& x, detail::any_integer shift) {
  return reshape(roll(ravel(x), {shift.value}, 0), detail::dims_of(x));
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
  return concatenate(::std::tuple(parts[0], detail::inserted(a, values, v.axis), parts[1]), v.axis);
}
/// In front of several indices of x, in braces: the values are broadcast to that many along the axis. (One may have any
/// number of values.) On CUDA it waits.
template <array_expression X, class V>
requires(array_expression<V> || scalar_value<V>) auto insert(const X& x, ::std::initializer_list<int64> indices,
                                                             const V& values, detail::any_integer axis) {
  const auto a = eval(x);
  const detail::axis_view v("insert", a.shape(), axis);
  const auto block = detail::inserted(a, values, v.axis, int64(indices.size()));
  ::std::vector<int64> at(indices);
  if (at.size() == 1) at.resize(::std::size_t(block.shape()[v.axis]), at[0]);
  return detail::taken(concatenate(::std::tuple(a, block), v.axis), detail::inserted_indices(at, v.n), v.axis);
}

/// x without an index of an axis. Eager. Throws index_error.
///     ca::delete_(x, -1, 0)
template <array_expression X>
auto delete_(const X& x, detail::any_integer index, detail::any_integer axis) {
  const auto a = eval(x);
  const detail::axis_view v("delete_", a.shape(), axis);
  const int64 at = detail::normal_index("delete_", index, v.n, v.n);
  const auto parts = split(a, {at, at + 1}, v.axis);
  return concatenate(::std::tuple(parts[0], parts[2]), v.axis);
}
/// Without several, in braces, or a slice. On CUDA they wait.
///     ca::delete_(x, ca::slice(1, 3), 0)
template <array_expression X>
auto delete_(const X& x, ::std::initializer_list<int64> indices, detail::any_integer axis) {
  const detail::axis_view v("delete_", detail::dims_of(x), axis);
  ::std::vector<bool> gone(::std::size_t(v.n), false);
  for (const int64 i : indices) gone[::std::size_t(detail::normal_index("delete_", i, v.n, v.n))] = true;
  return detail::taken(x, detail::indices_left(gone), v.axis);
}
template <array_expression X>
auto delete_(const X& x, const slice& which, detail::any_integer axis) {
  const detail::axis_view v("delete_", detail::dims_of(x), axis);
  ::std::vector<bool> gone(::std::size_t(v.n), false);
  const index_item items[] = {which};
  const layout l = detail::index_layout(detail::c_layout(shape{v.n}), items, 1);
  for (int64 i = 0; i < l.dims[0]; ++i) gone[::std::size_t(l.offset + i * l.stride[0])] = true;
  return detail::taken(x, detail::indices_left(gone), v.axis);
}

/// Which ends `trim_zeros` cuts.
enum class trim_ends { both, front, back };
/// x without the zeros at the ends of each axis: the smallest block that holds all others. A view. Waits for the
/// device.
template <array_expression X>
auto trim_zeros(const X& x, trim_ends ends = trim_ends::both) {
  auto r = eval(x);
  for (int axis = 0; axis < detail::dims_of(x).ndim(); ++axis) {
    int64 others[max_rank];
    int count = 0;
    for (int d = 0; d < r.ndim(); ++d)
      if (d != axis) others[count++] = d;
    const auto line = flatnonzero(any(r != 0, axes(others, count)));
    const int64 n = r.shape(axis);
    const bool none = line.size() == 0;
    const int64 first = ends == trim_ends::back ? 0 : none ? n : line(0).item();
    const int64 last = ends == trim_ends::front ? n : none ? first : line(-1).item() + 1;
    r = eval(split(r, {first, last}, axis)[1]);
  }
  return r;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
