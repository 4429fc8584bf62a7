// Picking elements by index arrays: take, nonzero.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "../eval/scatter.hpp"
#include "../eval/segments.hpp"
#include "manipulation.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An index operand as int64, evaluated unless it is a node already of that type.
template <class Ix>
auto index_node(const char* function, const Ix& i) {
  constexpr bool integers = is_integer<value_type_t<Ix>>;
  static_assert(integers, "cudarray: the indices to take must be of an integer dtype");
  return cast_node<int64>(as_operand<int64>(function, i));
}

/// Throws index_error for the first index, in C order, that is out of range.
template <class Device>
CUDARRAY_COLD void fail_index(const char* function, const ndarray<int64, Device>& index, int64 limit, int axis) {
  const ndarray<int64, Device> dense = index.copy();
  const leaf<int64, cpu> all = host_block(dense);
  const int64* k = static_cast<const int64*>(all.store->data);
  while (index_fits(*k, limit)) ++k;
  fail<index_error>(function, ": index ", *k, " is out of bounds for axis ", axis, " with size ", limit);
}

/// On devices whose work is done when a call returns, a wrong index is found before anything is written.
template <class D>
void check_indices(const char* function, const leaf<int64, D>& index, int64 limit, int axis) {
  if constexpr (D::synchronous) {
    if (index.dims().elements() == 0) return;
    const int64 low = make_reduce<op::min_op>(function, index, axes::all(), false).item();
    const int64 high = make_reduce<op::max_op>(function, index, axes::all(), false).item();
    if (low < -limit || high >= limit) fail_index(function, ndarray<int64, D>(index), limit, axis);
  }
}

inline shape selected_shape(const shape& from, int axis, const shape& index) {
  shape s;
  for (int d = 0; d < axis; ++d) s.push_back(from[d]);
  for (int64 n : index) s.push_back(n);
  for (int d = axis + 1; d < from.ndim(); ++d) s.push_back(from[d]);
  return s;
}

template <class T, class D, class Ix>
gather<T, D, Ix> make_gather(const leaf<T, D>& source, const Ix& index, int axis, const char* function = "take") {
  return {{}, source, index, axis, selected_shape(source.where.dims, axis, index.dims()), function};
}

/// Along an axis, by an index that has the source's number of axes. Throws shape_error.
template <class T, class D, class Ix>
gather<T, D, Ix> make_gather_along(const char* function, const leaf<T, D>& source, const Ix& index, int axis) {
  const shape &from = source.where.dims, &at = index.dims();
  if (at.ndim() != from.ndim())
    fail<shape_error>(function, ": indices of shape ", at, " for an array of shape ", from,
                      ": they must have as many axes (ca::expand_dims adds one)");
  shape around = from, picked = at;
  around[axis] = picked[axis] = 1;
  shape dims = broadcast_shapes(function, around, picked);
  dims[axis] = at[axis];
  return {{}, source, index, axis, dims, function, true};
}

/// Where an expression is not 0: contiguous; a mask that is so already is handed back.
template <class X>
ndarray<bool, device_type_t<X>> mask_array(const char* function, const X& x) {
  using M = ndarray<bool, device_type_t<X>>;
  if constexpr (::std::is_same_v<X, M>) {
    if (x.storage().get()) return ascontiguousarray<M>(x);
  }
  return M(materialise(cast_node<bool>(as_operand<bool>(function, x))));
}

/// A contiguous array as one segment.
template <class T, class Device>
segments one_segment(const ndarray<T, Device>& a) {
  return {a.storage().get(), a.where().offset, 1, a.size(), 1};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The elements of `a` that `index` picks along an axis; the axis is replaced by the axes of the index. Lazy. Negative
/// indices count from the end. Throws index_error: on CUDA at the next synchronising call, the element reads as 0.
///     ca::take(table, labels, 0)  // (rows, n), (b,) -> (b, n)
template <array_expression X, array_expression Ix>
auto take(const X& x, const Ix& index, detail::any_integer axis = 0) {
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis("take", axis, a.ndim());
  return detail::make_gather(a.node(), detail::index_node("take", index), at);
}

/// One element of each line along an axis for each index: of each row x(i) of (rows, n), with indices (rows, k), the
/// elements x(i, index(i, j)) -> (rows, k). The other axes broadcast. Lazy. Negative indices count from the end. Throws
/// shape_error where the numbers of axes differ; index_error: on CUDA at the next synchronising call, the element reads
/// as 0.
///     ca::take_along_axis(x, ca::expand_dims(labels, -1), -1)  // (rows, n), (rows,) -> (rows, 1)
template <array_expression X, array_expression Ix>
auto take_along_axis(const X& x, const Ix& index, detail::any_integer axis = -1) {
  constexpr const char* function = "take_along_axis";
  const auto a = detail::as_array(x);
  const int at = detail::normal_axis(function, axis, a.ndim());
  return detail::make_gather_along(function, a.node(), detail::index_node(function, index), at);
}

/// The positions, in C order, of the elements that are not 0. Eager; waits for the device.
template <array_expression X>
const ndarray<int64, device_type_t<X>> flatnonzero(const X& x) {
  using D = device_type_t<X>;
  const ndarray<bool, D> mask = detail::mask_array("flatnonzero", x);
  int64 count = 0;
  auto store = flat_nonzero(mask.device(), detail::one_segment(mask), count);
  return ndarray<int64, D>(detail::leaf<int64, D>(::std::move(store), shape(count)));
}

/// One array of indices per axis, of the elements that are not 0. Eager; waits for the device.
template <array_expression X>
::std::vector<ndarray<int64, device_type_t<X>>> nonzero(const X& x) {
  const auto flat = flatnonzero<X>(x);
  const shape s = detail::as_operand<bool>("nonzero", x).dims();
  ::std::vector<ndarray<int64, device_type_t<X>>> r;
  int64 below = s.elements();
  for (int64 n : s) {
    const int64 extent = n > 0 ? n : 1;
    below /= extent;
    r.emplace_back(floor_divide(flat, below) % extent);
  }
  return r;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
