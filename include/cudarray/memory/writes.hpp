// Which elements of a block were written: what reads others of its elements does not go stale.
// SPDX-License-Identifier: MIT
#pragma once

#include "storage.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The parts of a block that were written, made by the first who asks.
inline partial_writes& partial_writes_of(storage& s) {
  partial_writes* known = __atomic_load_n(&s.parts, __ATOMIC_ACQUIRE);
  if (known != nullptr) return *known;
  auto* const made = new partial_writes;
  if (__atomic_compare_exchange_n(&s.parts, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return *made;
  delete made;
  return *known;
}

/// Counts a write to the elements that a layout reaches, each of `itemsize` bytes.
inline void count_write(storage& s, const layout& to, ::std::size_t itemsize) {
  if (to.elements() == 0) return;
  if (::std::size_t(to.elements()) * itemsize >= s.bytes) return count_write(s);
  partial_writes& parts = partial_writes_of(s);
  while (!try_lock(parts.lock)) {
  }
  const uint64 number = add_shared(s.writes, uint64(1)), at = number % partial_writes::most;
  parts.number[at] = number;
  parts.where[at] = to;
  unlock(parts.lock);
}

/// Whether a write that may have reached elements of `l` came after the first `stamp`.
CUDARRAY_COLD inline bool reached_since(storage& s, uint64 stamp, const layout& l) {
  const uint64 now = write_count(s);
  if (__atomic_load_n(&s.parts, __ATOMIC_ACQUIRE) == nullptr || now - stamp > partial_writes::most) return true;
  partial_writes& parts = *s.parts;
  while (!try_lock(parts.lock)) {
  }
  bool reached = false;
  for (uint64 number = stamp + 1; number <= now && !reached; ++number) {
    const uint64 at = number % partial_writes::most;
    reached = parts.number[at] != number || may_share(parts.where[at], l);
  }
  unlock(parts.lock);
  return reached;
}
inline bool written_since(storage& s, uint64 stamp, const layout& l) {
  return write_count(s) != stamp && reached_since(s, stamp, l);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
