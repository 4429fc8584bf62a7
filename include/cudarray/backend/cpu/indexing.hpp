// Positions of true elements on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"

namespace cudarray::inline v0::backend {

template <class Build>
detail::storage_ref flat_nonzero(cpu device, detail::storage& mask, int64 n, int64& count) {
  const bool* m = static_cast<const bool*>(mask.data);
  detail::count(detail::counters.kernels);
  count = 0;
  for (int64 i = 0; i < n; ++i) count += m[i];
  detail::storage_ref r = allocate(device, ::std::size_t(count) * sizeof(int64));
  int64* to = static_cast<int64*>(r->data);
  for (int64 i = 0; i < n; ++i)
    if (m[i]) *to++ = i;
  return r;
}

}  // namespace cudarray::inline v0::backend
