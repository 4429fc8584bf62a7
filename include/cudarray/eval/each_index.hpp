// The backend entry for a function of one's own that is called for each index.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/layout.hpp"
#include "../memory/entries.hpp"

namespace cudarray::inline v0::detail {

/// Memory that such a function reads, or writes as well.
struct used_memory {
  storage* store;
  bool written;
};

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// `body(i)` for every i of [0, n), in any order and several at a time; `body` uses `count` blocks of memory.
template <class Device, class Body>
void run_each_index(Device, int64, const Body&, const detail::used_memory*, int) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
