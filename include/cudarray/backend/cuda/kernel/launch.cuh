// The one kernel launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <nv/target>

#include "../../../eval/several.hpp"
#include "../plan/threads.hpp"
#include "../runtime/memory.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// The first statement of every kernel (scripts/check-layers looks): a kernel of ours is launched when the last block
/// of the one before it in the stream has left, and waits here until that one's writes are seen.
__device__ inline void in_stream_order() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::: "memory");))
}

/// Whether a kernel was compiled for sm_90 or later and the device is such a one: it has clusters and early launches.
CUDARRAY_NO_INLINE inline bool compiled_for_hopper(int ordinal, const void* kernel) {
  constexpr int entries = 512, probes = 8;
  static ::std::atomic<uint64> known[entries];
  const uint64 place = reinterpret_cast<uint64>(kernel), key = (place << 1) ^ (uint64(ordinal) << 56);
  ::std::atomic<uint64>* entry = nullptr;
  for (int p = 0; p < probes; ++p) {
    entry = &known[((place >> 4) + uint64(p)) % entries];
    const uint64 seen = entry->load(::std::memory_order_relaxed);
    if ((seen & ~uint64(1)) == key) return (seen & 1) != 0;
    if (seen == 0) break;
  }
  const device_guard guard(ordinal);
  cudaFuncAttributes code;
  int clusters = 0;
  check(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, ordinal), "cudaDeviceGetAttribute");
  check(cudaFuncGetAttributes(&code, kernel), "cudaFuncGetAttributes");
  const bool yes = clusters != 0 && code.ptxVersion >= 90;
  entry->store(key | uint64(yes), ::std::memory_order_relaxed);
  return yes;
}

/// Launches a kernel on the current stream of `ordinal` after ordering it behind other users of its operands (operand
/// 0 is written); counted and checked. Blocks of a cluster, so many along y, run at the same time.
CUDARRAY_NO_INLINE inline void launch_kernel(int ordinal, detail::storage* const* operands, int count,
                                             const void* kernel, dim3 grid, dim3 threads, ::std::size_t shared_bytes,
                                             void** arguments, unsigned cluster = 1) {
  const device_guard guard(ordinal);
  const stream_ref& stream = current(ordinal);
  for (int k = 0; k < count; ++k) use_on(operands[k], stream, k == 0);
  cudaLaunchAttribute how[2] = {};
  unsigned given = 0;
  if (compiled_for_hopper(ordinal, kernel)) {
    how[given].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    how[given++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    how[given].id = cudaLaunchAttributeClusterDimension;
    how[given].val.clusterDim.x = how[given].val.clusterDim.z = 1;
    how[given++].val.clusterDim.y = cluster;
  }
  const cudaLaunchConfig_t config{grid, threads, shared_bytes, stream->handle, how, given};
  check(cudaLaunchKernelExC(&config, kernel, arguments), "kernel launch");
  detail::count(detail::counters.kernels);
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

/// Before a kernel that writes several arrays: orders it behind other users of those but operand 0.
template <class Target, int Operands>
void order_results(int ordinal, const detail::iteration_space<Operands>& s) {
  for (int k = Operands - detail::results_of<Target> + 1; k < Operands; ++k) use_on(s.store[k], current(ordinal), true);
}

/// Waits for all threads of a cluster, and for what they have written.
__device__ inline void cluster_barrier() {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                                 : "memory");))
}
/// All blocks of a cluster have begun behind `cluster_begun` if each has called `cluster_begin`.
__device__ inline void cluster_begin() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("barrier.cluster.arrive.relaxed.aligned;");))
}
__device__ inline void cluster_begun() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("barrier.cluster.wait.aligned;" ::: "memory");))
}

inline int multiprocessors(int ordinal) {
  static per_device count;
  return count.known(ordinal, [ordinal] {
    int n = 0;
    check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, ordinal), "cudaDeviceGetAttribute");
    return n;
  });
}

#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// Of a power of two.
__device__ inline int exponent_of(int power) { return 31 - __clz(power); }

#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
