// A function of one's own for each index, on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/each_index.hpp"
#include "kernel/loop.hpp"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Body>
void run_each_index(cpu, int64 n, const Body& body, const detail::used_memory*, int) {
  detail::count(detail::counters.kernels);
  const int64 parts = host::parts_for(n);
  host::parallel(parts, [&](int64 part) {
    for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) body(i);
  });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
