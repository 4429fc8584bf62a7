// Adding, multiplying, largest and smallest at places that indices pick.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/segments.hpp"
#include "../expr/reduction_table.hpp"
#include "indexing.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What values are given to a scatter: an array of their own, contiguous and apart from the target.
template <class T, class Device, class G, class V>
ndarray<T, Device> scattered_values(const char* function, const ndarray<T, Device>& a, const shape& selected,
                                    const G& given, const V& values) {
  using array = ndarray<T, Device>;
  if constexpr (is_scalar_node<G>) {
    const array v(new_leaf<T>(a.device(), selected));
    v(ellipsis) = values;
    return v;
  } else {
    array v(given);
    (void)common_device(function, a, v);
    if (v.shape() != selected) v = broadcast_to<array>(v, selected);
    return v.storage().get() == a.storage().get() ? copy<array>(v) : plain_elements(v);
  }
}
/// Combines the elements that an index picks along an axis with the values.
template <class Op, class T, class Device, class Ix, class V>
void scatter(const char* function, const ndarray<T, Device>& a, const Ix& index, const V& values, int64 axis) {
  constexpr bool integers = is_integer<value_type_t<Ix>>;
  static_assert(integers, "cudarray: a scatter's index must be of an integer dtype");
  constexpr bool one_device = on_one_device<ndarray<T, Device>, Ix>() && on_device<V, Device>;
  static_assert(one_device,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  const auto& given = as_operand<T>(function, values);
  using node = ::std::remove_cvref_t<decltype(given)>;
  constexpr bool kinds = same_kind<node_value_t<node>, T>;
  static_assert(kinds, "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
  constexpr bool ordered = !is_complex<T> || ::std::is_same_v<Op, op::sum_op> || ::std::is_same_v<Op, op::prod_op>;
  static_assert(ordered, "cudarray: complex numbers have no order, none is the largest");
  if constexpr (integers && one_device && kinds && ordered) {
    const int at = normal_axis(function, axis, a.ndim());
    check_writable(*a.node().store, a.where());
    ndarray<int64, Device> picks =
        ascontiguousarray<ndarray<int64, Device>>(ndarray<int64, Device>(index_node(function, index)));
    const shape selected = selected_shape(a.shape(), at, picks.shape());
    if (broadcast_shapes(function, selected, given.dims()) != selected)
      fail<shape_error>(function, ": values of shape ", given.dims(), " do not broadcast to ", selected);
    check_indices<Device>(function, picks.node(), a.shape()[at], at);
    if (selected.elements() == 0) return;
    (void)common_device(function, a, picks);
    if (picks.storage().get() == a.storage().get()) picks = picks.copy();
    const auto v = scattered_values(function, a, selected, given, values);
    const ndarray<T, Device> to = plain_elements(a);
    segments target{to.storage().get(), to.where().offset, 1, a.shape()[at], 1};
    for (int d = 0; d < a.ndim(); ++d)
      if (d != at) (d < at ? target.outer : target.inner) *= a.shape()[d];
    const segments source{v.storage().get(), v.where().offset, target.outer, picks.size(), target.inner};
    fault_sink faults;
    if constexpr (!Device::synchronous) faults = fault_slot(a.device());
    combine_at_indices<Op, T>(a.device(), target, one_segment(picks), source,
                              index_check{a.shape()[at], {faults, function, at}});
    if (to.storage().get() == a.storage().get()) count_write(*a.storage(), a.where(), sizeof(T));
    else assign<T, Device>(a.storage(), a.where(), to.node());
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Each combines values with the elements of `a` that `index` picks along an axis; where an index is there several
// times, with all its values. The values broadcast to the shape of `take(a, index, axis)`. Eager; the same bits in
// every run. Throw shape_error, value_error (a read-only array; more than 2^32 - 2 indices or places on CUDA), and
// index_error: on CUDA at the next synchronising call, and the wrong index changes nothing.
#define CUDARRAY_SCATTER(name, op_name)                                                                       \
  template <class T, class Device, array_expression Ix, class V>                                              \
  requires(array_expression<V> || scalar_value<V>) void name(const ndarray<T, Device>& a, const Ix& index,    \
                                                             const V& values, detail::any_integer axis = 0) { \
    detail::scatter<op::op_name>(#name, a, index, values, axis);                                              \
  }
/// Adds: NumPy's `add.at`, JAX's `at[].add`, the gradient of take.
///     ca::scatter_add(counts, labels, 1)  // a histogram
CUDARRAY_SCATTER(scatter_add, sum_op)
/// Multiplies: `multiply.at`.
CUDARRAY_SCATTER(scatter_mul, prod_op)
/// The largest of the element and the values, NaN if there is one: `maximum.at`. Of real numbers.
///     ca::scatter_max(best, players, scores)
CUDARRAY_SCATTER(scatter_max, max_op)
/// The smallest: `minimum.at`.
CUDARRAY_SCATTER(scatter_min, min_op)
#undef CUDARRAY_SCATTER

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
