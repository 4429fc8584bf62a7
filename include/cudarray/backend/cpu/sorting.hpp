// Sorting on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "memory.hpp"

namespace cudarray::inline v0::backend {

template <class Build, class T>
detail::storage_ref stable_argsort(cpu device, detail::storage& keys, int64 n) {
  detail::storage_ref r = allocate(device, ::std::size_t(n) * sizeof(int64));
  detail::count(detail::counters.kernels);
  int64* order = static_cast<int64*>(r->data);
  const T* k = static_cast<const T*>(keys.data);
  for (int64 i = 0; i < n; ++i) order[i] = i;
  ::std::stable_sort(order, order + n, [k](int64 a, int64 b) {
    const bool an = k[a] != k[a], bn = k[b] != k[b];
    return an || bn ? !an && bn : k[a] < k[b];
  });
  return r;
}

}  // namespace cudarray::inline v0::backend
