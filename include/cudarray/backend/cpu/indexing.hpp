// What a mask selects on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/sequences.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend {
namespace host {

/// A new array of `item(i)` for every i where the mask is true.
template <class Build, class T, class F>
detail::storage_ref select(cpu device, const detail::sequences& mask, int64& count, const F& item) {
  const bool* m = mask.at<bool>();
  detail::count(detail::counters.kernels);
  count = 0;
  for (int64 i = 0; i < mask.n; ++i) count += m[i];
  detail::storage_ref r = allocate(device, ::std::size_t(count) * sizeof(T));
  T* to = static_cast<T*>(r->data);
  for (int64 i = 0; i < mask.n; ++i)
    if (m[i]) *to++ = item(i);
  return r;
}

}  // namespace host

template <class Build>
detail::storage_ref flat_nonzero(cpu device, const detail::sequences& mask, int64& count) {
  return host::select<Build, int64>(device, mask, count, [](int64 i) { return i; });
}

template <class Build, class T>
detail::storage_ref select_flagged(cpu device, const detail::sequences& from, const detail::sequences& mask,
                                   int64& count) {
  return host::select<Build, T>(device, mask, count, [p = from.at<const T>()](int64 i) { return p[i]; });
}

}  // namespace cudarray::inline v0::backend
