// Adding at places that indices pick.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/segments.hpp"
#include "indexing.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Adds values to the elements of `a` that `index` picks along an axis; where an index is there several times, all its
/// values are added: NumPy's `add.at`, JAX's `at[].add`, the gradient of take. The values broadcast to the shape of
/// `take(a, index, axis)`. Eager; the same bits in every run. Throws shape_error, value_error (a read-only array; more
/// than 2^32 - 2 indices or places on CUDA), and index_error: on CUDA at the next synchronising call, and the wrong
/// index adds nothing.
///     ca::scatter_add(counts, labels, 1)  // a histogram
template <class T, class Device, array_expression Ix, class V>
requires(array_expression<V> || scalar_value<V>) void scatter_add(const ndarray<T, Device>& a, const Ix& index,
                                                                  const V& values, detail::any_integer axis = 0) {
  constexpr bool integers = detail::is_integer<value_type_t<Ix>>;
  static_assert(integers, "cudarray: scatter_add: the index must be of an integer dtype");
  constexpr bool one_device = detail::on_one_device<ndarray<T, Device>, Ix>() && detail::on_device<V, Device>;
  static_assert(one_device,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  const auto& given = detail::as_operand<T>("scatter_add", values);
  constexpr bool kinds = detail::same_kind<detail::node_value_t<::std::remove_cvref_t<decltype(given)>>, T>;
  static_assert(kinds, "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
  if constexpr (integers && one_device && kinds) {
    using array = ndarray<T, Device>;
    const int at = detail::normal_axis("scatter_add", axis, a.ndim());
    detail::check_writable(*a.node().store, a.where());
    ndarray<int64, Device> picks =
        ascontiguousarray<ndarray<int64, Device>>(ndarray<int64, Device>(detail::index_node("scatter_add", index)));
    const shape selected = detail::selected_shape(a.shape(), at, picks.shape());
    if (detail::broadcast_shapes("scatter_add", selected, given.dims()) != selected)
      detail::fail<shape_error>("scatter_add: values of shape ", given.dims(), " do not broadcast to ", selected);
    if (selected.elements() == 0) return;
    (void)detail::common_device("scatter_add", a, picks);
    if (picks.storage().get() == a.storage().get()) picks = picks.copy();
    detail::check_indices<Device>("scatter_add", picks.node(), a.shape()[at], at);
    // values and target lie apart, both contiguous
    array v;
    if constexpr (detail::is_scalar_node<::std::remove_cvref_t<decltype(given)>>) {
      v = array(detail::new_leaf<T>(a.device(), selected));
      v(ellipsis) = values;
    } else {
      v = array(given);
      (void)detail::common_device("scatter_add", a, v);
      if (v.shape() != selected) v = broadcast_to<array>(v, selected);
      if (v.storage().get() == a.storage().get()) v = copy<array>(v);
      else v = detail::plain_elements(v);
    }
    const array to = detail::plain_elements(a);
    detail::segments target{to.storage().get(), to.where().offset, 1, a.shape()[at], 1};
    for (int d = 0; d < a.ndim(); ++d)
      if (d != at) (d < at ? target.outer : target.inner) *= a.shape()[d];
    const detail::segments source{v.storage().get(), v.where().offset, target.outer, picks.size(), target.inner};
    detail::fault_sink faults;
    if constexpr (!Device::synchronous) faults = fault_slot(a.device());
    add_at_indices<T>(a.device(), target, detail::one_segment(picks), source,
                      detail::index_check{a.shape()[at], {faults, "scatter_add", at}});
    if (to.storage().get() == a.storage().get()) detail::count_write(*a.storage(), a.where(), sizeof(T));
    else detail::assign<T, Device>(a.storage(), a.where(), to.node());
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
