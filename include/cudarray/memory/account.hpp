// What the arrays of a device hold, and how much they may.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/annotations.hpp"
#include "../core/counting.hpp"
#include "../core/dtype.hpp"
#include "../core/error.hpp"

namespace cudarray::inline v0 {

/// Bytes of a device's memory.
struct memory_statistics {
  int64 used = 0;    ///< in arrays and temporaries
  int64 peak = 0;    ///< the most that was used so far
  int64 cached = 0;  ///< held by the pool beyond that, for arrays to come
  int64 limit = 0;   ///< what may be used; 0: all there is
};

namespace detail {

struct memory_account {
  int64 used = 0, peak = 0, limit = 0;
};

/// Overwrite memory before it is released.
CUDARRAY_PUBLIC inline bool poison_memory = false;

[[noreturn]] CUDARRAY_COLD inline void fail_charge(const char* device, int64 bytes, int64 used, int64 limit) {
  fail<out_of_memory>(device, ": ", bytes, " bytes beside the ", used, " in use would exceed the limit of ", limit);
}

/// Books memory that is about to be allocated. Throws out_of_memory where it would exceed the limit.
inline void charge(memory_account& a, ::std::size_t bytes, const char* device) {
  const int64 limit = __atomic_load_n(&a.limit, __ATOMIC_RELAXED);
  const int64 used = add_shared(a.used, int64(bytes));
  if (limit > 0 && used > limit) {
    add_shared(a.used, -int64(bytes));
    fail_charge(device, int64(bytes), used - int64(bytes), limit);
  }
  int64 peak = __atomic_load_n(&a.peak, __ATOMIC_RELAXED);
  while (used > peak && !__atomic_compare_exchange_n(&a.peak, &peak, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
inline void credit(memory_account& a, ::std::size_t bytes) { add_shared(a.used, -int64(bytes)); }

/// The same for a caller that holds the lock without which nobody books. Returns the limit where it would be exceeded,
/// and books nothing; otherwise 0.
inline int64 charge_locked(memory_account& a, int64 bytes) {
  const int64 limit = __atomic_load_n(&a.limit, __ATOMIC_RELAXED);
  if (limit > 0 && a.used + bytes > limit) return limit;
  const int64 used = add_locked(a.used, bytes);
  if (used > a.peak) __atomic_store_n(&a.peak, used, __ATOMIC_RELAXED);
  return 0;
}

}  // namespace detail
}  // namespace cudarray::inline v0
