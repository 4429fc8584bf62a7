// Operands of a reduction that lie along another axis than the others: copied into line with them.
// SPDX-License-Identifier: MIT
#pragma once

#include "elementwise.cuh"
#include "plan/turned.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// A copy of elements from `from` on, by tiles where these pay.
template <class T>
CUDARRAY_NO_INLINE const T* copy_turned(cuda device, const T* from, detail::iteration_space<2>& s, int64 elements,
                                        detail::storage_ref& kept) {
  kept = allocate(device, ::std::size_t(elements) * sizeof(T));
  s.store[0] = kept.get();
  const detail::store_to<T> target{static_cast<T*>(kept->data)};
  const detail::load<1, T> tree{from};
  using kernels = map_kernels<detail::store_to<T>, detail::load<1, T>>;
  survey<2> leaves;
  leaves(tree);
  leaves.written(target);
  detail::count(detail::counters.temporaries);
  if (!run_tiled(device, target, tree, s, leaves)) {
    run_general(device, target, tree, s, plan_any(s, kernels::V, kernels::U));
  }
  return target.p;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
