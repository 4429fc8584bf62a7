// Sorting and scanning along an axis.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/segments.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The segments along an axis of a C-contiguous array; of another one only their numbers are right.
template <class T, class Device>
segments segments_of(const ndarray<T, Device>& a, int axis) {
  const shape dims = a.shape();
  segments s{a.node().store.get(), a.where().offset, 1, dims[axis], 1};
  for (int d = 0; d < a.ndim(); ++d)
    if (d != axis) (d < axis ? s.outer : s.inner) *= dims[d];
  return s;
}

/// A new C-contiguous array of a's shape, made by `f(segments)` of the elements of `a` along an axis. With `last` the
/// axis is moved to the end before, and back after.
template <class R, class T, class Device, class F>
ndarray<R, Device> along_axis(const ndarray<T, Device>& a, int axis, bool last, const F& f) {
  if (last && segments_of(a, axis).inner > 1)
    return copy<ndarray<R, Device>>(swapaxes(along_axis<R>(swapaxes(a, axis, -1), a.ndim() - 1, false, f), axis, -1));
  const ndarray<T, Device> from = plain_elements(a);
  const segments s = segments_of(from, axis);
  const Device device = a.device();
  return ndarray<R, Device>(leaf<R, Device>(s.elements() > 0 ? f(device, s) : allocate(device, 0), a.shape()));
}

/// With so many neighbouring segments or more a device's scans take them as they stand.
template <class Device>
constexpr int64 scans_across() {
  if constexpr (requires { Device::scans_across; }) return Device::scans_across;
  else return 1;
}

template <class Op, class X>
auto scan(const char* function, const X& x, int64 axis) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using R = typename Op::template types<T>::result;
  const ndarray<T, D> a = as_array(x);
  const int at = normal_axis(function, axis, a.ndim());
  return along_axis<R>(a, at, segments_of(a, at).inner < scans_across<D>(),
                       [](D device, const segments& s) { return scan_segments<Op, T>(device, s); });
}

template <class X>
constexpr bool sortable() {
  constexpr bool real = !is_complex<value_type_t<X>>;
  static_assert(real, "cudarray: complex numbers have no order: sort ca::absolute(x)");
  return real;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The elements in ascending order along an axis, NaN last. Eager. Throws index_error for an axis that is not there; on
/// CUDA value_error for several segments of together 2^32 elements or more.
///     ca::sort(a, 0)  // each column
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> sort(const X& x, detail::any_integer axis = -1) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (detail::sortable<X>()) {
    const ndarray<T, D> a = detail::as_array(x);
    return detail::along_axis<T>(a, detail::normal_axis("sort", axis, a.ndim()), true,
                                 [](D device, const detail::segments& s) { return sort_segments<T>(device, s); });
  } else {
    return {};
  }
}

/// The positions along an axis, int64, that sort it: stable, NaN last. Eager. Throws index_error for an axis that is
/// not there; on CUDA value_error beyond 2^32 elements.
///     ca::take(a, ca::argsort(a))  // a sorted, for one axis
template <array_expression X>
const ndarray<int64, device_type_t<X>> argsort(const X& x, detail::any_integer axis = -1) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (detail::sortable<X>()) {
    const ndarray<T, D> a = detail::as_array(x);
    return detail::along_axis<int64>(
        a, detail::normal_axis("argsort", axis, a.ndim()), true,
        [](D device, const detail::segments& s) { return argsort_segments<T>(device, s); });
  } else {
    return {};
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0 {

/// The axis that topk goes along, and which end of the order it takes.
struct topk_options {
  detail::any_integer axis = -1;
  bool largest = true;  ///< else the smallest
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What topk returns: `auto [v, i] = ca::topk(x, 5);`
template <class T, class Device, class Values = ndarray<T, Device>>
struct values_and_indices {
  Values values;
  ndarray<int64, Device> indices;
};

/// The k largest elements along an axis, in descending order, or the smallest in ascending order, and their positions:
/// (.., n, ..) -> (.., k, ..) both. Of equal elements the first comes first; NaN is above all numbers, as sort has it.
/// Eager. Throws index_error for an axis that is not there, value_error unless 0 <= k <= n; on CUDA also where all is
/// sorted, for large k, and that is 2^32 elements or more.
///     auto [v, i] = ca::topk(ca::array<int>({3, 9, 1, 9}), 2);                      // 9, 9 and 1, 3
///     auto [w, j] = ca::topk(ca::array<int>({3, 9, 1, 9}), 2, {.largest = false});  // 1, 3 and 2, 0
template <array_expression X>
values_and_indices<value_type_t<X>, device_type_t<X>> topk(const X& x, detail::any_integer k,
                                                           const topk_options& options = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using result = values_and_indices<T, D>;
  if constexpr (detail::sortable<X>()) {
    const ndarray<T, D> a = detail::as_array(x);
    const int axis = detail::normal_axis("topk", options.axis, a.ndim());
    shape dims = a.shape();
    if (k < 0 || k > dims[axis]) detail::fail<value_error>("topk: k = ", k, " of an axis of ", dims[axis], " elements");
    if (axis + 1 < a.ndim()) {
      const result r = topk<ndarray<T, D>>(swapaxes(a, axis, -1), k, {.axis = -1, .largest = options.largest});
      return {copy<ndarray<T, D>>(swapaxes(r.values, axis, -1)),
              copy<ndarray<int64, D>>(swapaxes(r.indices, axis, -1))};
    }
    const ndarray<T, D> from = detail::plain_elements(a);
    const detail::segments s = detail::segments_of(from, axis);
    const D device = a.device();
    const bool any = s.outer > 0 && k > 0;
    const detail::top_elements top = any ? topk_segments<T>(device, s, k, options.largest)
                                         : detail::top_elements{allocate(device, 0), allocate(device, 0)};
    dims[axis] = k;
    return {ndarray<T, D>(detail::leaf<T, D>(top.values, dims)),
            ndarray<int64, D>(detail::leaf<int64, D>(top.positions, dims))};
  } else {
    return {};
  }
}

/// The same, by its name in the array API standard.
template <array_expression X>
auto top_k(const X& x, detail::any_integer k, const topk_options& options = {}) {
  return topk(x, k, options);
}

/// Each takes `(x, axis)`, or `(x)`: then over all elements in C order, with one axis. `f<double>(x, axis)` converts
/// the elements first. Eager. Throws index_error for an axis that is not there.
#define CUDARRAY_SCAN(name, op_name)                                          \
  template <class T = void, array_expression X>                               \
  auto name(const X& x, detail::any_integer axis) {                           \
    return detail::scan<op::op_name>(#name, detail::widened<T>(x), axis);     \
  }                                                                           \
  template <class T = void, array_expression X>                               \
  auto name(const X& x) {                                                     \
    return detail::scan<op::op_name>(#name, ravel(detail::widened<T>(x)), 0); \
  }
/// The sums of the elements up to each, in the types of sum; floats are added up in float64.
///     ca::cumsum(ca::array<int>({1, 2, 3}))  // 1, 3, 6
CUDARRAY_SCAN(cumsum, sum_op)
/// The products of the elements up to each, in the types of prod.
CUDARRAY_SCAN(cumprod, prod_op)
/// The largest of the elements up to each; NaN from the first NaN on. NumPy's `maximum.accumulate`.
CUDARRAY_SCAN(cummax, max_op)
/// The smallest of the elements up to each; NaN from the first NaN on. NumPy's `minimum.accumulate`.
CUDARRAY_SCAN(cummin, min_op)
#undef CUDARRAY_SCAN

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
