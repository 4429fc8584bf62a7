// The one kernel launch, and division by numbers known on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"

namespace cudarray::inline v0::backend::gpu {

inline constexpr int block_threads = 256, warp = 32;
inline constexpr int most_shared = 48 << 10;  ///< bytes of shared memory that every block may have

/// Launches a kernel on the current stream of `ordinal` after ordering it behind other users of its operands (operand
/// 0 is written); counted and checked.
CUDARRAY_NO_INLINE inline void launch_kernel(int ordinal, detail::storage* const* operands, int count,
                                             const void* kernel, dim3 grid, dim3 threads, ::std::size_t shared_bytes,
                                             void** arguments) {
  const device_guard guard(ordinal);
  const stream_ref& stream = current(ordinal);
  for (int k = 0; k < count; ++k) use_on(operands[k], stream, k == 0);
  check(cudaLaunchKernel(kernel, grid, threads, arguments, shared_bytes, stream->handle), "kernel launch");
  detail::count(detail::counters.kernels);
}
template <class... P>
void launch(int ordinal, detail::storage* const* operands, int count, void (*kernel)(P...), dim3 grid, dim3 threads,
            ::std::size_t shared_bytes, const ::std::type_identity_t<P>&... arguments) {
  void* list[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  launch_kernel(ordinal, operands, count, reinterpret_cast<const void*>(kernel), grid, threads, shared_bytes, list);
}

inline int64 ceil_div(int64 a, int64 b) { return (a + b - 1) / b; }

inline int multiprocessors(int ordinal) {
  static int known[most_devices];
  if (known[ordinal] == 0)
    check(cudaDeviceGetAttribute(&known[ordinal], cudaDevAttrMultiProcessorCount, ordinal), "cudaDeviceGetAttribute");
  return known[ordinal];
}

#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// Division of numbers that are not negative by one known on the host: multiply and shift (Granlund and Montgomery
/// 1994), for 32 bits and for 64.
struct divider {
  int64 divisor = 1;
  uint64 far_magic = 1;
  uint32 magic = 1, shift = 0;
  divider() = default;
  explicit divider(int64 d) : divisor(d > 0 ? d : 1) {
    using wide = unsigned __int128;
    const wide w = wide(divisor);
    while ((wide(1) << shift) < w) ++shift;
    far_magic = uint64(((wide(1) << 64) * ((wide(1) << shift) - w)) / w + 1);
    magic = uint32(((wide(1) << 32) * ((wide(1) << shift) - w)) / w + 1);
  }
  /// For a divisor below 2^31.
  __device__ int32 divide(int32 n) const { return int32((__umulhi(uint32(n), magic) + uint32(n)) >> shift); }
  __device__ int64 divide(int64 n) const { return int64((__umul64hi(uint64(n), far_magic) + uint64(n)) >> shift); }
};

#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu
