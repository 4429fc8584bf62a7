// Writing through an index array: elements of an axis picked by integers.
// SPDX-License-Identifier: MIT
#pragma once

#include "evaluate.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// `to[..., index, ...] = value` along `axis`; the value broadcasts to the shape of the selection. The caller has
/// checked the index on devices that are synchronous, and made sure that value and index do not share storage with
/// `to`.
template <class T, class D, class Index, class N>
void scatter(const storage_ref& store, const layout& to, int axis, const Index& index, const N& value,
             const shape& selected) {
  const D device{store->ordinal};
  check_operands(*store, selected, leaf_list<Index>(index).of, Index::leaves);
  if constexpr (!is_scalar_node<N>) check_operands(*store, selected, leaf_list<N>(value).of, N::leaves);
  fault_record local;
  fault_sink faults{&local};
  if constexpr (!D::synchronous) faults = fault_slot(device);
  if (selected.elements() > 0) {
    iteration_space<1 + N::leaves + Index::leaves> s;
    s.ndim = s.kept = selected.ndim();
    copy_extents(s.extent, selected);
    const int inserted = index.dims().ndim();
    for (int d = 0; d < to.ndim(); ++d)
      if (d != axis) s.stride[0][d < axis ? d : d - 1 + inserted] = to.dims[d] == 1 ? 0 : to.stride[d];
    s.store[0] = store.get();
    const auto tree = lower<1>(value, same_axes + (selected.ndim() - value.dims().ndim()), s, faults);
    const auto picks = lower<1 + N::leaves>(index, same_axes + axis, s, faults);
    simplify(s, true);
    run_elementwise(
        device,
        scatter_to<T, ::std::remove_cvref_t<decltype(picks)>>{
            static_cast<T*>(store->data) + to.offset, picks, to.stride[axis], to.dims[axis], {faults, "index", axis}},
        tree, s);
  }
  throw_fault(local);
  count_write(*store, to, sizeof(T));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
