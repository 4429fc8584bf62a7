// The largest or smallest elements of segments on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/topk.hpp"
#include "sorting.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
detail::top_elements topk_segments(cpu device, const detail::segments& s, int64 k, bool largest) {
  if constexpr (sizeof(T) <= 4)
    if (s.n >> 32 == 0) return host::find_top<T, host::packed_place>(device, s, k, largest);
  return host::find_top<T, host::wide_place>(device, s, k, largest);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
