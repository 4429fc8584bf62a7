// The backend entries for sorting, scanning and selecting: work along one axis of a contiguous array.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"
#include "plan.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A C-contiguous array (outer, n, inner), worked on along its middle axis.
struct segments {
  storage* store;
  int64 offset;  ///< of its first element
  int64 outer, n, inner;
  template <class T>
  T* at() const {
    return static_cast<T*>(store->data) + offset;
  }
  int64 elements() const { return outer * n * inner; }
};

/// What topk found in each segment: (outer, k) elements, and their positions in it, int64.
struct top_elements {
  storage_ref values, positions;
};

/// What an index must be, and where one that is not is recorded on devices that are not synchronous.
struct index_check {
  int64 limit;
  fault_site fault;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// A new array of the elements of each segment in ascending order, NaN last; `inner` is 1. Real dtypes and bool.
template <class T, class Device>
detail::storage_ref sort_segments(Device, const detail::segments&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// A new array of the positions, int64, that sort each segment: stable, NaN last; `inner` is 1.
template <class T, class Device>
detail::storage_ref argsort_segments(Device, const detail::segments&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// The `k` largest elements of each segment in descending order, or the smallest in ascending order; the first of
/// equals first, NaN above all numbers. `inner` is 1, k at least 1 and at most n. Real dtypes and bool.
template <class T, class Device>
detail::top_elements topk_segments(Device, const detail::segments&, int64, bool) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// A new array: element i of a segment is `Op::finish` of the combination of its first i + 1 elements.
template <class Op, class T, class Device>
detail::storage_ref scan_segments(Device, const detail::segments&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// The positions of the true elements of a mask (1, n, 1), ascending, as int64, in new memory. Waits for the device to
/// learn how many there are.
template <class Device>
detail::storage_ref flat_nonzero(Device, const detail::segments&, int64&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// The elements where the mask, of the same (1, n, 1), is true, in new memory. Waits as flat_nonzero does.
template <class T, class Device>
detail::storage_ref select_flagged(Device, const detail::segments&, const detail::segments&, int64&) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}

/// `to[o, index[i], j] = Op::combine(to[o, index[i], j], values[o, i, j])` for all i, also where an index is there
/// several times, Op a reduction's: `to` is (outer, n, inner), `index` (1, m, 1) of int64, `values` (outer, m, inner)
/// and apart from `to`. A negative index counts from the end; on synchronous devices the caller has checked them.
template <class Op, class T, class Device>
void combine_at_indices(Device, const detail::segments&, const detail::segments&, const detail::segments&,
                        const detail::index_check&) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
