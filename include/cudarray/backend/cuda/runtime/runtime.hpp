// The CUDA runtime: checked calls, the current device, locks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>
#include <sched.h>

#include <new>
#include <type_traits>

#include "../../../core/device.hpp"
#include "../../../core/dtype.hpp"
#include "../../../core/error.hpp"

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

/// A lock for a few instructions.
class spin_guard {
 public:
  explicit spin_guard(char& lock) : lock_(lock) {
    for (int tries = 0; __atomic_test_and_set(&lock_, __ATOMIC_ACQUIRE);)
      if (++tries > spins) (void)sched_yield();  // its owner may not be running
  }
  ~spin_guard() { __atomic_clear(&lock_, __ATOMIC_RELEASE); }
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;

 private:
  static constexpr int spins = 100;
  char& lock_;
};

/// The driver's stack of contexts, which the runtime takes the current device from.
struct context_stack {
  using context = struct CUctx_st*;
  int (*retain)(context*, int) = nullptr;  ///< the primary context of a device
  int (*push)(context) = nullptr;
  int (*pop)(context*) = nullptr;
  context primary[most_devices] = {};
  char lock = 0;

  CUDARRAY_PUBLIC static context_stack& of_process() {
    static context_stack one;
    return one;
  }
  /// Makes the device's primary context the current one, until it is popped. Returns the error.
  CUDARRAY_COLD cudaError_t enter(int ordinal) {
    if (ordinal < 0 || ordinal >= most_devices) return cudaErrorInvalidDevice;
    context known = __atomic_load_n(&primary[ordinal], __ATOMIC_ACQUIRE);
    if (known == nullptr) {
      const spin_guard guard(lock);
      known = primary[ordinal];
      if (known == nullptr) {
        if (retain == nullptr)
          if (const cudaError_t e = find_functions(); e != cudaSuccess) return e;
        if (const int e = retain(&known, ordinal); e != 0) return cudaError_t(e);  // the numbers are the same
        __atomic_store_n(&primary[ordinal], known, __ATOMIC_RELEASE);
      }
    }
    return cudaError_t(push(known));
  }
  CUDARRAY_COLD void leave() noexcept {
    context out = nullptr;
    (void)pop(&out);
  }

 private:
  cudaError_t find_functions() {
    decltype(retain) retain_found = nullptr;
    decltype(push) push_found = nullptr;
    decltype(pop) pop_found = nullptr;
    const auto find = [](const char* name, auto& function) {
      void* found = nullptr;
      cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
      constexpr unsigned since = 12000;
      const cudaError_t e = cudaGetDriverEntryPointByVersion(name, &found, since, cudaEnableDefault, &result);
      function = reinterpret_cast<::std::remove_reference_t<decltype(function)>>(found);
      return e != cudaSuccess ? e : found != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
    };
    cudaError_t e = find("cuDevicePrimaryCtxRetain", retain_found);
    if (e == cudaSuccess) e = find("cuCtxPushCurrent", push_found);
    if (e == cudaSuccess) e = find("cuCtxPopCurrent", pop_found);
    if (e == cudaSuccess) retain = retain_found, push = push_found, pop = pop_found;
    return e;
  }
};

/// Makes a device the current one, and restores what was before. cudaSetDevice would make a context for the device
/// before where there is none: 500 MB of memory.
class device_guard {
 public:
  explicit device_guard(int ordinal) { check(enter(ordinal), "making a device the current one"); }
  device_guard(int ordinal, ::std::nothrow_t) noexcept : failed_(enter(ordinal) != cudaSuccess) {}
  ~device_guard() {
    if (entered_) context_stack::of_process().leave();
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  /// False where it failed, as it does when the process ends.
  explicit operator bool() const { return !failed_; }

 private:
  cudaError_t enter(int ordinal) {
    int now = -1;
    cudaError_t e = cudaGetDevice(&now);
    if (e == cudaSuccess && now != ordinal) {
      e = context_stack::of_process().enter(ordinal);
      entered_ = e == cudaSuccess;
    }
    return e;
  }
  bool entered_ = false, failed_ = false;
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
