// Elements picked and put by conditions, by several choices and by indices along an axis; flat indices.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "creation.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "repeating.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// f of all elements of `a` as one axis, which it may write.
template <class T, class D, class F>
void on_all_elements(const ndarray<T, D>& a, const F& f) {
  check_writable(*a.node().store, a.where());
  const ndarray<T, D> flat = ravel(a);
  f(flat);
  if (flat.storage().get() != a.storage().get()) a(ellipsis) = reshape(flat, a.shape());
}
/// So many elements of values, from the first again where there are not as many. Throws value_error.
template <class T, class D, class V>
ndarray<T, D> values_in_turn(const char* function, const V& values, int64 count, D device) {
  const ndarray<T, D> given = [&]() -> ndarray<T, D> {
    if constexpr (array_expression<V>) return ravel(ndarray<T, D>(astype<T>(values)));
    else return full<T>({1}, values, device);
  }();
  if (given.size() == 0 && count > 0) fail<value_error>(function, ": no values for ", count, " elements");
  if (given.size() == 1) return broadcast_to(given, {count});
  return resize(given, {count});
}
/// The flat index of each element that indices along an axis pick.
template <class D>
ndarray<int64, D> flat_along(const shape& s, const ndarray<int64, D>& index, int axis) {
  ndarray<int64, D> flat = zeros<int64>(shape{}, index.device());
  int64 step = 1;
  for (int d = s.ndim() - 1; d >= 0; step *= s[d--]) {
    if (d == axis) {
      flat = flat + where(index < 0, index + s[d], index) * step;
      continue;
    }
    shape along;
    for (int i = 0; i < s.ndim(); ++i) along.push_back(i == d ? s[d] : 1);
    flat = flat + reshape(integer_range<int64>(0, s[d], 1, index.device()), along) * step;
  }
  return flat;
}
template <class X>
auto as_indices(const char* function, const X& x) {
  return ndarray<int64, device_type_t<X>>(index_node(function, x));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The indices of the elements that are not 0, a row for each: (count, number of axes). Waits for the device.
template <array_expression X>
auto argwhere(const X& x) {
  const int ndim = detail::dims_of(x).ndim();
  using integers = ndarray<int64, device_type_t<X>>;
  if (ndim == 0) return integers(zeros<int64>({flatnonzero(x).size(), 0}, detail::device_of(x)));
  return integers(stack(nonzero(x), 1));
}
/// The elements at the true elements of a condition of one axis, along an axis of x. Waits for the device. Throws
/// shape_error, index_error.
///     ca::compress(keep, x, 1)
template <array_expression C, array_expression X>
auto compress(const C& condition, const X& x, detail::any_integer axis) {
  if (detail::dims_of(condition).ndim() != 1)
    detail::fail<shape_error>("compress: a condition of shape ", detail::dims_of(condition), ", not of one axis");
  return eval(take(x, flatnonzero(condition), axis));
}
/// All elements where a condition of x's size holds, in C order. Waits for the device.
template <array_expression C, array_expression X>
auto extract(const C& condition, const X& x) {
  const auto a = eval(ravel(x));
  if (detail::dims_of(condition).elements() != a.size())
    detail::fail<shape_error>("extract: a condition of shape ", detail::dims_of(condition), " for ", a.size(),
                              " elements");
  return eval(take(a, flatnonzero(condition), 0));
}
/// Where the first of the conditions that holds is number k, elements of choice k; where none does, `otherwise`. All
/// broadcast. Lists as concatenate takes them. Throws value_error.
///     ca::select(std::tuple(x < 0, x > 1), std::tuple(low, high), x)
template <detail::array_list C, detail::array_list L, class V>
requires(array_expression<V> || scalar_value<V>) auto select(const C& conditions, const L& choices,
                                                             const V& otherwise) {
  using D = typename detail::list_traits<L>::device_type;
  using T = result_type_t<typename detail::list_traits<L>::value_type, detail::argument_t<V>>;
  ::std::vector<ndarray<bool, D>> is;
  ::std::vector<ndarray<T, D>> of;
  detail::for_each_in(conditions, [&](const auto& c) { is.push_back(astype<bool>(c)); });
  detail::for_each_in(choices, [&](const auto& c) { of.push_back(astype<T>(c)); });
  if (is.size() != of.size())
    detail::fail<value_error>("select: ", is.size(), " conditions and ", of.size(), " choices");
  if (is.empty()) detail::fail<value_error>("select: no conditions");
  const auto rest = [&]() -> ndarray<T, D> {
    if constexpr (array_expression<V>) return astype<T>(otherwise);
    else return full<T>(shape{}, otherwise, of[0].device());
  };
  ndarray<T, D> r = rest();
  for (::std::size_t k = is.size(); k-- > 0;) r = where(is[k], of[k], r);
  return r;
}
/// Element i of the result is element i of the choice that index(i) names. All broadcast. Throws value_error,
/// shape_error, and index_error as take does.
///     ca::choose(index, std::vector{a, b, c})
template <array_expression Ix, detail::array_list L>
auto choose(const Ix& index, const L& choices) {
  const auto picks = detail::as_indices("choose", index);
  shape s = picks.shape();
  for (const shape& c : detail::shapes_of(choices)) s = detail::broadcast_shapes("choose", s, c);
  const auto all = stack(detail::each_in(choices, [&](const auto& c) { return broadcast_to(eval(c), s); }), 0);
  return eval(squeeze(take_along_axis(all, expand_dims(broadcast_to(picks, s), 0), 0), 0));
}

/// Writes values, one after another and again from the first, where a mask of a's shape holds. Waits for the device.
/// Throws shape_error, value_error.
template <class T, class Device, array_expression M, class V>
requires(array_expression<V> || scalar_value<V>) void place(const ndarray<T, Device>& a, const M& mask,
                                                            const V& values) {
  if (detail::dims_of(mask) != a.shape())
    detail::fail<shape_error>("place: a mask of shape ", detail::dims_of(mask), " for an array of shape ", a.shape());
  const auto where_true = flatnonzero(mask);
  const auto v = detail::values_in_turn<T>("place", values, where_true.size(), a.device());
  detail::on_all_elements(a, [&](const auto& flat) { flat(where_true) = v; });
}
/// Writes values, one after another and again from the first, at flat indices in C order. Throws index_error,
/// value_error.
///     ca::put(a, ca::array<int>({0, -1}), 5)
template <class T, class Device, array_expression Ix, class V>
requires(array_expression<V> || scalar_value<V>) void put(const ndarray<T, Device>& a, const Ix& index,
                                                          const V& values) {
  const auto picks = eval(ravel(detail::as_indices("put", index)));
  const auto v = detail::values_in_turn<T>("put", values, picks.size(), a.device());
  detail::on_all_elements(a, [&](const auto& flat) { flat(picks) = v; });
}
/// Writes what take_along_axis with the same index and axis would read: values broadcast to the index. Of an index that
/// is there several times, one of the values is kept. Waits for the device. Throws shape_error, index_error.
///     ca::put_along_axis(a, ca::argmax(a, 1, ca::keepdims), 0, 1)
template <class T, class Device, array_expression Ix, class V>
requires(array_expression<V> || scalar_value<V>) void put_along_axis(const ndarray<T, Device>& a, const Ix& index,
                                                                     const V& values, detail::any_integer axis) {
  constexpr const char* function = "put_along_axis";
  const int at = detail::normal_axis(function, axis, a.ndim());
  const auto picks = detail::as_indices(function, index);
  // where it is wrong, and how it broadcasts, is what take_along_axis says
  const shape s = detail::make_gather_along(function, a.node(), picks.node(), at).dims();
  const int64 n = a.shape()[at];
  if (picks.size() > 0 && (min(picks).item() < -n || max(picks).item() >= n))
    detail::fail_index(function, picks, n, at);
  const auto flat_index = detail::flat_along(a.shape(), ndarray<int64, Device>(broadcast_to(picks, s)), at);
  const ndarray<T, Device> v = [&]() -> ndarray<T, Device> {
    if constexpr (array_expression<V>) return copy(broadcast_to(ndarray<T, Device>(astype<T>(values)), s));
    else return full<T>(s, values, a.device());
  }();
  detail::on_all_elements(a, [&](const auto& flat) { flat(ravel(flat_index)) = ravel(v); });
}

/// The index along each axis of flat indices in C order into a shape. Negative ones count from the end. Throws
/// index_error; waits for the device.
///     auto at = ca::unravel_index(ca::argmax(x), x.shape());
template <array_expression Ix>
auto unravel_index(const Ix& flat, const shape& s) {
  using integers = ndarray<int64, device_type_t<Ix>>;
  const integers index = detail::as_indices("unravel_index", flat);
  const int64 n = detail::check_extents("unravel_index", s).elements();
  if (eval(any((index < -n) | (index >= n))).item())
    detail::fail<index_error>("unravel_index: an index is out of bounds for shape ", s);
  ::std::vector<integers> r;
  integers rest = where(index < 0, index + n, index);
  for (int d = s.ndim() - 1; d >= 0; --d) {
    const int64 extent = s[d] > 0 ? s[d] : 1;
    r.insert(r.begin(), integers(rest % extent));
    rest = floor_divide(rest, extent);
  }
  return r;
}
/// The flat indices in C order of an index for each axis of a shape; they broadcast. Throws value_error, index_error;
/// waits for the device.
template <detail::array_list L>
auto ravel_multi_index(const L& indices, const shape& s) {
  using integers = ndarray<int64, typename detail::list_traits<L>::device_type>;
  ::std::vector<integers> at;
  detail::for_each_in(indices, [&](const auto& i) { at.push_back(detail::as_indices("ravel_multi_index", i)); });
  if (int64(at.size()) != s.ndim())
    detail::fail<value_error>("ravel_multi_index: ", at.size(), " indices for a shape of ", s.ndim(), " axes");
  if (at.empty()) detail::fail<value_error>("ravel_multi_index: no indices");
  (void)detail::check_extents("ravel_multi_index", s);
  integers r = copy(at[0]);
  for (int d = 0; d < s.ndim(); ++d) {
    const integers& i = at[::std::size_t(d)];
    if (eval(any((i < 0) | (i >= s[d]))).item())
      detail::fail<index_error>("ravel_multi_index: an index is out of bounds for axis ", d, " of shape ", s);
    if (d > 0) r = r * s[d] + i;
  }
  return r;
}

/// Index arrays whose combinations are a block: each of one axis has an axis of its own; a mask stands for the
/// positions of what is true, and makes this wait for the device. Throws shape_error.
///     const auto [rows, columns] = ca::ix_(ca::array<int>({0, 2}), ca::array<int>({1, 3}));
///     a(rows, columns)  // a[np.ix_([0, 2], [1, 3])]
template <array_expression... Ix>
auto ix_(const Ix&... index) {
  int axis = 0;
  const auto along = [&axis]<class X>(const X& i) {
    using integers = ndarray<int64, device_type_t<X>>;
    const integers positions = [&] {
      if constexpr (::std::is_same_v<value_type_t<X>, bool>) return flatnonzero(i);
      else return integers(detail::index_node("ix_", i));
    }();
    if (detail::dims_of(detail::known_operand(i)).ndim() != 1)
      detail::fail<shape_error>("ix_: an index of shape ", detail::dims_of(detail::known_operand(i)),
                                ", not of one axis");
    shape s;
    for (int d = 0; d < int(sizeof...(Ix)); ++d) s.push_back(d == axis ? positions.size() : 1);
    ++axis;
    return integers(reshape(positions, s));
  };
  return ::std::tuple{along(index)...};
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
