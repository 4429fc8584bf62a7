// Threads of the host or of one device: a lock for a few instructions, and values that one writes and others read.
// SPDX-License-Identifier: MIT
#pragma once

#include "annotations.hpp"
#include "dtype.hpp"

namespace cudarray::inline v0::detail {

/// True if the caller has it now.
CUDARRAY_HD inline bool try_lock(uint32& lock) {
#if defined(__CUDA_ARCH__)
  const bool taken = atomicCAS(&lock, 0u, 1u) == 0;
  __threadfence();
  return taken;
#else
  return __atomic_exchange_n(&lock, 1u, __ATOMIC_ACQUIRE) == 0;
#endif
}
CUDARRAY_HD inline void unlock(uint32& lock) {
#if defined(__CUDA_ARCH__)
  __threadfence();
  atomicExch(&lock, 0u);
#else
  __atomic_store_n(&lock, 0u, __ATOMIC_RELEASE);
#endif
}

/// The value, and what its writer wrote before it.
template <class T>
CUDARRAY_HD T load_acquire(const T& from) {
#if defined(__CUDA_ARCH__)
  const T value = *const_cast<const volatile T*>(&from);
  __threadfence();
  return value;
#else
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
#endif
}
/// Writes a value behind what was written before, also as the host sees it.
template <class T>
CUDARRAY_HD void store_release(T& to, T value) {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
  *const_cast<volatile T*>(&to) = value;
#else
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
#endif
}

}  // namespace cudarray::inline v0::detail
