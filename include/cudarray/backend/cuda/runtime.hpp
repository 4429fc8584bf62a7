// The CUDA runtime: checked calls, the current device, locks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "../../core/device.hpp"
#include "../../core/dtype.hpp"
#include "../../core/error.hpp"

namespace cudarray::inline v0::backend::gpu {

/// Throws what a failed call means: out_of_memory, or cuda_error naming call and reason.
inline void check(cudaError_t e, const char* call) {
  if (e == cudaSuccess) return;
  (void)cudaGetLastError();  // a sticky error stays, others are taken off
  const ::std::string text = detail::cat("cuda: ", call, ": ", cudaGetErrorName(e), ": ", cudaGetErrorString(e));
  if (e == cudaErrorMemoryAllocation) detail::fail<out_of_memory>(text);
  detail::fail<cuda_error>(text);
}

inline constexpr int most_devices = 32;

/// The number of devices, at most `most_devices`.
inline int device_count() {
  static int known = -1;
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) < 0) {
    int n = 0;
    check(cudaGetDeviceCount(&n), "cudaGetDeviceCount");
    __atomic_store_n(&known, n < most_devices ? n : most_devices, __ATOMIC_RELAXED);
  }
  return known;
}

/// Makes a device the current one and restores the one before.
class device_guard {
 public:
  explicit device_guard(int ordinal) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != ordinal) check(cudaSetDevice(ordinal), "cudaSetDevice");
    else before_ = -1;
  }
  ~device_guard() {
    if (before_ >= 0) (void)cudaSetDevice(before_);
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  int before_ = -1;
};

/// A lock for a few instructions.
class spin_guard {
 public:
  explicit spin_guard(char& lock) : lock_(lock) {
    while (__atomic_test_and_set(&lock_, __ATOMIC_ACQUIRE)) {
    }
  }
  ~spin_guard() { __atomic_clear(&lock_, __ATOMIC_RELEASE); }
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;

 private:
  char& lock_;
};

/// A number of each device that is asked for once, by whichever threads come first; 0: not known.
struct per_device {
  int of[most_devices] = {};
  template <class F>
  int known(int ordinal, const F& ask) {
    int n = __atomic_load_n(&of[ordinal], __ATOMIC_RELAXED);
    if (n == 0) __atomic_store_n(&of[ordinal], n = ask(), __ATOMIC_RELAXED);
    return n;
  }
};

}  // namespace cudarray::inline v0::backend::gpu
