// The backend entries for running plans: what a device that is not included answers with.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"
#include "plan.hpp"

namespace cudarray::inline v0::backend {

/// `target(place) = tree(place)` at every place of the space (all its axes are kept axes).
template <class Build, class Device, class Target, class Tree, class Space>
void run_elementwise(Device, const Target&, const Tree&, const Space&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// `target(place) = op.finish(combination of op.lift(tree(place, r), r) over the reduced axes, count)`.
template <class Build, class Device, class Target, class Tree, class Op, class Space>
void run_reduce(Device, const Target&, const Tree&, const Op&, const Space&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// Where kernels record data-dependent errors; only devices that are not synchronous have it.
template <class Device>
detail::fault_record* fault_slot(Device) {
  CUDARRAY_NO_BACKEND(Device);
  return nullptr;
}

/// The positions of the true elements of a contiguous mask of n elements, ascending, as int64; waits for the device to
/// learn how many there are.
template <class Build, class Device>
detail::storage_ref flat_nonzero(Device, detail::storage&, int64, int64&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// The positions that sort n contiguous elements: stable, NaN last, as int64.
template <class Build, class T, class Device>
detail::storage_ref stable_argsort(Device, detail::storage&, int64) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

}  // namespace cudarray::inline v0::backend
