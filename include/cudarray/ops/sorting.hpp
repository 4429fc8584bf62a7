// Sorting and scanning along an axis.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/sequences.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// A new C-contiguous array of a's shape, made by `f(sequences)` of the elements of `a` along an axis. With `last` the
/// axis is moved to the end before, and back after.
template <class Build, class R, class T, class Device, class F>
ndarray<R, Device> along_axis(const ndarray<T, Device>& a, int axis, bool last, const F& f) {
  const shape dims = a.shape();
  sequences s{nullptr, 0, 1, dims[axis], 1};
  for (int d = 0; d < a.ndim(); ++d)
    if (d != axis) (d < axis ? s.outer : s.inner) *= dims[d];
  if (last && s.inner > 1)
    return copy<ndarray<R, Device>, Build>(
        swapaxes(along_axis<Build, R>(swapaxes(a, axis, -1), a.ndim() - 1, false, f), axis, -1));
  const ndarray<T, Device> from = ascontiguousarray<T, Device, Build>(a);
  s.store = from.node().store.get();
  s.offset = from.where().offset;
  const Device device = a.device();
  return ndarray<R, Device>(leaf<R, Device>(s.elements() > 0 ? f(device, s) : allocate(device, 0), dims));
}

/// With so many neighbouring sequences or more a device's scans take them as they stand.
template <class Device>
constexpr int64 scans_across() {
  if constexpr (requires { Device::scans_across; }) return Device::scans_across;
  else return 1;
}

template <class Build, class Op, class X>
auto scan(const char* function, const X& x, int axis) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using R = typename Op::template types<T>::result;
  const ndarray<T, D> a = as_array<Build>(x);
  const int at = normal_axis(function, axis, a.ndim());
  int64 inner = 1;
  for (int d = at + 1; d < a.ndim(); ++d) inner *= a.shape()[d];
  return along_axis<Build, R>(a, at, inner < scans_across<D>(),
                              [](D device, const sequences& s) { return scan_sequences<Build, Op, T>(device, s); });
}

template <class X>
constexpr bool sortable() {
  constexpr bool real = !is_complex<value_type_t<X>>;
  static_assert(real, "cudarray: complex numbers have no order: sort ca::absolute(x)");
  return real;
}

}  // namespace detail

/// The elements in ascending order along an axis, NaN last. Eager. Throws index_error for an axis that is not there; on
/// CUDA value_error for several sequences of together 2^32 elements or more.
///     ca::sort(a, 0)  // each column
template <array_expression X, class Build = this_build>
const ndarray<value_type_t<X>, device_type_t<X>> sort(const X& x, int axis = -1) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (detail::sortable<X>()) {
    const ndarray<T, D> a = detail::as_array<Build>(x);
    return detail::along_axis<Build, T>(
        a, detail::normal_axis("sort", axis, a.ndim()), true,
        [](D device, const detail::sequences& s) { return sort_sequences<Build, T>(device, s); });
  } else {
    return {};
  }
}

/// The positions along an axis, int64, that sort it: stable, NaN last. Eager. Throws index_error for an axis that is
/// not there; on CUDA value_error beyond 2^32 elements.
///     ca::take(a, ca::argsort(a))  // a sorted, for one axis
template <array_expression X, class Build = this_build>
const ndarray<int64, device_type_t<X>> argsort(const X& x, int axis = -1) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (detail::sortable<X>()) {
    const ndarray<T, D> a = detail::as_array<Build>(x);
    return detail::along_axis<Build, int64>(
        a, detail::normal_axis("argsort", axis, a.ndim()), true,
        [](D device, const detail::sequences& s) { return argsort_sequences<Build, T>(device, s); });
  } else {
    return {};
  }
}

/// Each takes `(x, axis)`, or `(x)`: then over all elements in C order, with one axis. `f<double>(x, axis)` converts
/// the elements first. Eager. Throws index_error for an axis that is not there.
#define CUDARRAY_SCAN(name, op_name)                                                 \
  template <class T = void, array_expression X, class Build = this_build>            \
  auto name(const X& x, int axis) {                                                  \
    return detail::scan<Build, op::op_name>(#name, detail::widened<T>(x), axis);     \
  }                                                                                  \
  template <class T = void, array_expression X, class Build = this_build>            \
  auto name(const X& x) {                                                            \
    return detail::scan<Build, op::op_name>(#name, ravel(detail::widened<T>(x)), 0); \
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

}  // namespace cudarray::inline v0
