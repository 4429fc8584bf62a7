// A device's memory: how much is used, a limit, giving back what is cached, finding uses after release.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/integer.hpp"
#include "../memory/account.hpp"
#include "../memory/entries.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What arrays use of a device's memory, and what the pool holds beyond that. Counts the library's own memory: what is
/// borrowed, and what cuBLAS and cuDNN take for themselves, is not in it.
///     ca::memory_stats().peak
template <device_tag Device = default_device>
memory_statistics memory_stats(Device device = {}) {
  const detail::memory_account& a = account_of(device);
  return {__atomic_load_n(&a.used, __ATOMIC_RELAXED), __atomic_load_n(&a.peak, __ATOMIC_RELAXED), cached_bytes(device),
          __atomic_load_n(&a.limit, __ATOMIC_RELAXED)};
}

/// Arrays may use so many bytes of a device's memory; 0: all there is. What exceeds it throws out_of_memory, and
/// everything stays usable. Throws value_error for a negative limit.
template <device_tag Device = default_device>
void set_memory_limit(detail::any_integer bytes, Device device = {}) {
  if (bytes < 0) detail::fail<value_error>("set_memory_limit: ", bytes, " bytes");
  __atomic_store_n(&account_of(device).limit, bytes.value, __ATOMIC_RELAXED);
}

/// Gives what a device's pool holds and no array uses back to the system. Waits for the device.
template <device_tag Device = default_device>
void free_cached(Device device = {}) {
  release_cached(device);
}

/// From now on memory is overwritten before it is released (bytes of 0xff: NaN in floats), so that a use after release
/// shows. For debugging; on every device.
inline void poison_released(bool on) { __atomic_store_n(&detail::poison_memory, on, __ATOMIC_RELAXED); }

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
