// The backend entries for running plans: what a device that is not included answers with. New arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"
#include "plan.hpp"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// `target(place) = tree(place)` at every place of the space (all its axes are kept axes).
template <class Device, class Target, class Tree, class Space>
void run_elementwise(Device, const Target&, const Tree&, const Space&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// `target(place) = op.finish(combination of op.lift(tree(place, r), r) over the reduced axes, count)`.
template <class Device, class Target, class Tree, class Op, class Space>
void run_reduce(Device, const Target&, const Tree&, const Op&, const Space&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// Optional: which operands of a reduction are copied first, as detail::transposed_operands.
template <class Device, class Tree, class Space>
::std::false_type plan_copies(Device, const Tree&, const Space&) {
  return {};
}

/// Optional: `target(place) = program(place)`, where the program's reductions are along the last axis of the space.
/// Results that do not move there are one for a row. False, and nothing is done, where the device does not have it.
template <class Device, class Target, class Program, class Space>
bool run_row_program(Device, const Target&, const Program&, const Space&) {
  return false;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend {

/// Where the next statement's kernels record data-dependent errors; only devices that are not synchronous have it.
template <class Device>
detail::fault_sink fault_slot(Device) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

}  // namespace cudarray::inline v0::backend

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An array of uninitialised elements, which lie as it is said.
template <class T, class Device>
CUDARRAY_NO_INLINE leaf<T, Device> new_leaf(Device device, const layout& l) {
  return {allocate(device, ::std::size_t(l.elements()) * sizeof(T)), l};
}
/// The same in C order.
template <class T, class Device>
leaf<T, Device> new_leaf(Device device, const shape& dims) {
  return new_leaf<T>(device, c_layout(dims));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
