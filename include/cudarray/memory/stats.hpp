// Process-wide counters of what the library did.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/annotations.hpp"
#include "../core/counting.hpp"
#include "../core/dtype.hpp"

namespace cudarray::inline v0 {

/// What the process has done so far: subtract two readings to see what a statement cost.
struct statistics {
  uint64 kernels = 0;      ///< loops or kernels run by the planner's backends
  uint64 temporaries = 0;  ///< intermediate arrays an evaluation needed
  uint64 allocations = 0;  ///< arrays allocated, temporaries among them
  friend statistics operator-(const statistics& a, const statistics& b) {
    return {a.kernels - b.kernels, a.temporaries - b.temporaries, a.allocations - b.allocations};
  }
};

namespace detail {
CUDARRAY_PUBLIC inline statistics counters;
inline void count(uint64& c, int64 times = 1) { add_shared(c, uint64(times)); }
}  // namespace detail

/// The counters of this process.
///     auto before = ca::stats();
///     ca::ndarray<float> d = a + b * c;
///     auto cost = ca::stats() - before;  // kernels 1, temporaries 0, allocations 1
inline statistics stats() {
  const auto read = [](const uint64& c) { return __atomic_load_n(&c, __ATOMIC_RELAXED); };
  return {read(detail::counters.kernels), read(detail::counters.temporaries), read(detail::counters.allocations)};
}

}  // namespace cudarray::inline v0
