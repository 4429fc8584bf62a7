// The backend entries for memory: what a device that is not included answers with.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/device.hpp"
#include "account.hpp"
#include "storage.hpp"

namespace cudarray::inline v0::detail {
struct random_source;
}

namespace cudarray::inline v0::backend {

/// False, but only once it is instantiated: the condition of the fallbacks' static_assert.
template <class...>
inline constexpr bool present = false;

#define CUDARRAY_NO_BACKEND(Device)                                                                                 \
  static_assert(present<Device>,                                                                                    \
                "cudarray: no backend for this device in this file: include <cudarray/cudarray.hpp> and, for CUDA " \
                "kernels, compile this file with nvcc (link cudarray::cuda)")

/// `bytes` of uninitialised memory, aligned to 64 or more. Throws out_of_memory.
template <class Device>
detail::storage_ref allocate(Device, ::std::size_t) {
  CUDARRAY_NO_BACKEND(Device);
  return {};
}
/// Copies bytes to the host and waits for them.
template <class Device>
void copy_to_host(Device, void*, detail::storage&, ::std::size_t, ::std::size_t) {
  CUDARRAY_NO_BACKEND(Device);
}
/// Copies bytes from the host; the host memory may be reused when it returns.
template <class Device>
void copy_from_host(Device, detail::storage&, ::std::size_t, const void*, ::std::size_t) {
  CUDARRAY_NO_BACKEND(Device);
}
/// Copies `bytes` bytes of a source, `worth_pieces` or more, to the beginning of a block, piece by piece, and waits for
/// them. False, and nothing is asked of the source, where the host had better have all of them first. Optional.
inline constexpr ::std::size_t worth_pieces = ::std::size_t(16) << 20;
template <class Device>
bool copy_from_source(Device, detail::storage&, ::std::size_t, const detail::byte_source&) {
  return false;
}

// Optional: for devices whose work goes on when a call returns.

/// Makes a stream of another library, which may write if `writes`, wait for the work on a block.
template <class Device>
void let_consumer_wait(Device, detail::storage&, void*, bool) {}
/// Later work on the block waits for that stream.
template <class Device>
void wait_for_consumer(Device, detail::storage&, void*) noexcept {}
/// Waits for all work of the library that may use memory that is another library's.
template <class Device>
void finish_borrowing(Device) noexcept {}

/// Waits for the device's work in this thread's stream and throws what went wrong in it.
template <class Device>
void synchronize_device(Device) {
  CUDARRAY_NO_BACKEND(Device);
}

/// True while this thread captures a graph on the device: then `source`, of the thread's seed and stream, is made what
/// each launch finds its next `blocks` of random numbers by. Optional.
template <class Device>
bool capture_random(Device, uint64, detail::random_source&) {
  return false;
}

/// The device's account: `allocate` charges it, releasing credits it.
template <class Device>
detail::memory_account& account_of(Device) {
  CUDARRAY_NO_BACKEND(Device);
  static detail::memory_account none;
  return none;
}
/// Bytes that the device's pool holds and no array uses.
template <class Device>
int64 cached_bytes(Device) {
  CUDARRAY_NO_BACKEND(Device);
  return 0;
}
/// Gives them back to the system.
template <class Device>
void release_cached(Device) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend
