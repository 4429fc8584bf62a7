// The one kernel launch, and division by numbers known on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <nv/target>

#include "memory.hpp"

namespace cudarray::inline v0::backend::gpu {

inline constexpr int block_threads = 256, warp = 32;
inline constexpr int tile_rows = 8;           ///< of the threads of a tile, a warp in each
inline constexpr int most_shared = 48 << 10;  ///< bytes of shared memory that every block may have

/// Launches a kernel on the current stream of `ordinal` after ordering it behind other users of its operands (operand
/// 0 is written); counted and checked. Blocks of a cluster, so many along y, run at the same time.
CUDARRAY_NO_INLINE inline void launch_kernel(int ordinal, detail::storage* const* operands, int count,
                                             const void* kernel, dim3 grid, dim3 threads, ::std::size_t shared_bytes,
                                             void** arguments, unsigned cluster = 1) {
  const device_guard guard(ordinal);
  const stream_ref& stream = current(ordinal);
  for (int k = 0; k < count; ++k) use_on(operands[k], stream, k == 0);
  if (cluster == 1) {
    check(cudaLaunchKernel(kernel, grid, threads, arguments, shared_bytes, stream->handle), "kernel launch");
  } else {
    cudaLaunchAttribute size{};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = size.val.clusterDim.z = 1;
    size.val.clusterDim.y = cluster;
    const cudaLaunchConfig_t how{grid, threads, shared_bytes, stream->handle, &size, 1};
    check(cudaLaunchKernelExC(&how, kernel, arguments), "kernel launch");
  }
  detail::count(detail::counters.kernels);
}
/// How many blocks a cluster may have: 1 where the device, or what the kernel was compiled for, has none.
CUDARRAY_NO_INLINE inline int most_of_cluster(int ordinal, const void* kernel) {
  const device_guard guard(ordinal);
  int clusters = 0;
  cudaFuncAttributes code;
  check(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, ordinal), "cudaDeviceGetAttribute");
  check(cudaFuncGetAttributes(&code, kernel), "cudaFuncGetAttributes");
  return clusters != 0 && code.ptxVersion >= 90 ? 8 : 1;
}
template <class... P>
void launch_clusters(unsigned cluster, int ordinal, detail::storage* const* operands, int count, void (*kernel)(P...),
                     dim3 grid, dim3 threads, ::std::size_t shared_bytes,
                     const ::std::type_identity_t<P>&... arguments) {
  void* list[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  launch_kernel(ordinal, operands, count, reinterpret_cast<const void*>(kernel), grid, threads, shared_bytes, list,
                cluster);
}
template <class... P>
void launch(int ordinal, detail::storage* const* operands, int count, void (*kernel)(P...), dim3 grid, dim3 threads,
            ::std::size_t shared_bytes, const ::std::type_identity_t<P>&... arguments) {
  launch_clusters(1, ordinal, operands, count, kernel, grid, threads, shared_bytes, arguments...);
}

/// Waits for all threads of a cluster, and for what they have written.
__device__ inline void cluster_barrier() {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                                 : "memory");))
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

/// Of a power of two.
__device__ inline int exponent_of(int power) { return 31 - __clz(power); }

#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu
