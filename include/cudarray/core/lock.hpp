// A lock for a few instructions, of threads of the host or of one device.
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

}  // namespace cudarray::inline v0::detail
