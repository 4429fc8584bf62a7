// Counts that threads share.
// SPDX-License-Identifier: MIT
#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace cudarray::inline v0::detail {

/// True while the process is known to have one thread: what threads share needs no locked access then, which costs more
/// than all else in the handling of small arrays.
inline bool one_thread() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// Adds to a count that threads share. Returns what it is then.
template <int Order = __ATOMIC_RELAXED, class Int>
Int add_shared(Int& count, Int by) {
  if (one_thread()) return count = Int(count + by);
  return __atomic_add_fetch(&count, by, Order);
}

/// Adds to a count that threads share where the caller holds the lock without which none of them adds.
template <class Int>
Int add_locked(Int& count, Int by) {
  const Int now = Int(count + by);
  __atomic_store_n(&count, now, __ATOMIC_RELAXED);  // others may read
  return now;
}

}  // namespace cudarray::inline v0::detail
