// The CUDA runtime: checked calls, the current device, streams and events.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "../../core/device.hpp"
#include "../../core/dtype.hpp"
#include "../../core/error.hpp"

namespace cudarray::inline v0 {
namespace backend::gpu {

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

inline constexpr int most_tickets = 1024;

struct capture;

/// A stream shared by those who use it and by the memory last used on it. Its tickets are counters in device memory,
/// all zero between two kernels: a kernel whose blocks have to know which of them is the last counts there.
struct stream_state {
  cudaStream_t handle = nullptr;
  int ordinal = 0;
  uint32* tickets = nullptr;
  capture* captured = nullptr;  ///< what its work becomes part of, if it is being captured
  int64 references = 1;
};

class stream_ref {
 public:
  stream_ref() = default;
  explicit stream_ref(stream_state* s) : s_(s) {}
  stream_ref(const stream_ref& o) : s_(o.s_) {
    if (s_) __atomic_fetch_add(&s_->references, int64(1), __ATOMIC_RELAXED);
  }
  stream_ref(stream_ref&& o) noexcept : s_(::std::exchange(o.s_, nullptr)) {}
  stream_ref& operator=(stream_ref o) noexcept {
    ::std::swap(s_, o.s_);
    return *this;
  }
  ~stream_ref() {
    if (s_ && __atomic_fetch_sub(&s_->references, int64(1), __ATOMIC_ACQ_REL) == 1) {
      (void)cudaFreeAsync(s_->tickets, s_->handle);
      (void)cudaStreamDestroy(s_->handle);  // the work in it is still done
      delete s_;
    }
  }
  stream_state* get() const { return s_; }
  stream_state* operator->() const { return s_; }

 private:
  stream_state* s_ = nullptr;
};

/// One whose work is captured does not wait for the legacy stream: other threads may use that meanwhile.
inline stream_ref make_stream(int ordinal, unsigned flags = cudaStreamDefault) {
  const device_guard guard(ordinal);
  cudaStream_t handle = nullptr;
  check(cudaStreamCreateWithFlags(&handle, flags), "cudaStreamCreateWithFlags");
  const stream_ref s(new stream_state{handle, ordinal, nullptr, nullptr, 1});
  void* tickets = nullptr;
  check(cudaMallocAsync(&tickets, most_tickets * sizeof(uint32), handle), "cudaMallocAsync");
  s->tickets = static_cast<uint32*>(tickets);
  check(cudaMemsetAsync(tickets, 0, most_tickets * sizeof(uint32), handle), "cudaMemsetAsync");
  return s;
}

/// The stream of a device that every thread starts with; made once, never destroyed.
CUDARRAY_PUBLIC inline stream_ref& first_stream(int ordinal) {
  static stream_ref* const streams = new stream_ref[most_devices];
  static bool made[most_devices];
  static char lock;
  if (!__atomic_load_n(&made[ordinal], __ATOMIC_ACQUIRE)) {
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {
    }
    struct unlock {
      ~unlock() { __atomic_clear(&lock, __ATOMIC_RELEASE); }
    } const on_exit;
    if (!made[ordinal]) {
      streams[ordinal] = make_stream(ordinal);
      __atomic_store_n(&made[ordinal], true, __ATOMIC_RELEASE);
    }
  }
  return streams[ordinal];
}

/// This thread's current streams, a null one meaning the first stream. Not destroyed with the thread's other objects
/// in any order that matters: only the handle's count changes.
CUDARRAY_PUBLIC inline stream_ref& thread_stream(int ordinal) {
  static thread_local stream_ref streams[most_devices];
  return streams[ordinal];
}

/// The current stream of a device in this thread. Throws device_error for a device that is not there.
inline const stream_ref& current(int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) detail::fail<device_error>("cuda: there is no device ", ordinal);
  const stream_ref& s = thread_stream(ordinal);
  return s.get() ? s : first_stream(ordinal);
}

}  // namespace backend::gpu

/// A CUDA stream: shared handle, destroyed when neither a handle nor an array's memory needs it any more.
///     ca::stream s;
///     { ca::stream_scope scope(s); c(ca::_) = a + b; }  // runs on s
class stream {
 public:
  explicit stream(cuda device = {}) : state_(backend::gpu::make_stream(device.ordinal)) {}
  explicit stream(backend::gpu::stream_ref s) : state_(::std::move(s)) {}
  /// The handle for CUDA's own functions.
  cudaStream_t get() const { return state_->handle; }
  cuda device() const { return {state_->ordinal}; }
  /// Waits for the work given so far. Throws cuda_error.
  void synchronize() const { backend::gpu::check(cudaStreamSynchronize(state_->handle), "cudaStreamSynchronize"); }
  const backend::gpu::stream_ref& state() const { return state_; }
  friend bool operator==(const stream& a, const stream& b) { return a.state_.get() == b.state_.get(); }
  friend bool operator!=(const stream& a, const stream& b) { return !(a == b); }

 private:
  backend::gpu::stream_ref state_;
};

/// This thread's current stream on a device.
inline stream current_stream(cuda device = {}) { return stream(backend::gpu::current(device.ordinal)); }

/// Makes a stream this thread's current one, for the scope.
class stream_scope {
 public:
  /// Throws cuda_error where this thread captures a graph.
  explicit stream_scope(const stream& s) : ordinal_(s.device().ordinal) {
    if (backend::gpu::current(ordinal_)->captured != nullptr)
      detail::fail<cuda_error>("graph: work on another stream cannot be captured");
    before_ = ::std::exchange(backend::gpu::thread_stream(ordinal_), s.state());
  }
  ~stream_scope() { backend::gpu::thread_stream(ordinal_) = before_; }
  stream_scope(const stream_scope&) = delete;
  stream_scope& operator=(const stream_scope&) = delete;

 private:
  int ordinal_;
  backend::gpu::stream_ref before_;
};

/// A point in a stream's work: to wait for, and to time with.
class event {
 public:
  explicit event(cuda device = {}) : ordinal_(device.ordinal) {
    const backend::gpu::device_guard guard(ordinal_);
    backend::gpu::check(cudaEventCreate(&handle_), "cudaEventCreate");
  }
  ~event() { (void)cudaEventDestroy(handle_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(const stream& s) { backend::gpu::check(cudaEventRecord(handle_, s.get()), "cudaEventRecord"); }
  void record() { record(current_stream(cuda{ordinal_})); }
  void synchronize() const { backend::gpu::check(cudaEventSynchronize(handle_), "cudaEventSynchronize"); }
  /// Makes later work of a stream wait for this point.
  void wait(const stream& s) const {
    backend::gpu::check(cudaStreamWaitEvent(s.get(), handle_, 0), "cudaStreamWaitEvent");
  }
  cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
  int ordinal_;
};

/// Milliseconds from one recorded event to a later one; waits for it.
inline float elapsed_ms(const event& from, const event& to) {
  to.synchronize();
  float ms = 0;
  backend::gpu::check(cudaEventElapsedTime(&ms, from.get(), to.get()), "cudaEventElapsedTime");
  return ms;
}

}  // namespace cudarray::inline v0
