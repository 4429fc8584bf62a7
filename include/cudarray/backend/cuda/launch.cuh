// The one kernel launch, and index arithmetic for kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"

namespace cudarray::inline v0::backend::gpu {

inline constexpr int block_threads = 256;

/// Launches a kernel on the current stream of `ordinal` after ordering it behind other users of its operands (operand
/// 0 is written); counted and checked.
template <class... P, class... A>
void launch(int ordinal, detail::storage* const* operands, int count, void (*kernel)(P...), dim3 grid, int threads,
            ::std::size_t shared_bytes, const A&... arguments) {
  const device_guard guard(ordinal);
  const stream_ref& stream = current(ordinal);
  for (int k = 0; k < count; ++k) use_on(operands[k], stream, k == 0);
  kernel<<<grid, threads, shared_bytes, stream->handle>>>(arguments...);
  check(cudaGetLastError(), "kernel launch");
  detail::count(detail::counters.kernels);
}

inline int64 ceil_div(int64 a, int64 b) { return (a + b - 1) / b; }

inline int multiprocessors(int ordinal) {
  static int known[most_devices];
  if (known[ordinal] == 0)
    check(cudaDeviceGetAttribute(&known[ordinal], cudaDevAttrMultiProcessorCount, ordinal), "cudaDeviceGetAttribute");
  return known[ordinal];
}

/// Division by a number known on the host: multiply and shift for 32 bits (n < 2^31; Granlund and Montgomery 1994).
template <class Index>
struct divider {
  Index divisor;
  divider() = default;
  explicit divider(int64 d) : divisor(Index(d)) {}
  __device__ Index divide(Index n) const { return n / divisor; }
};
template <>
struct divider<int32> {
  uint32 divisor, magic, shift;
  divider() = default;
  explicit divider(int64 d) : divisor(uint32(d)), shift(0) {
    while (shift < 31 && (uint32(1) << shift) < divisor) ++shift;
    magic = uint32(((uint64(1) << 32) * ((uint64(1) << shift) - divisor)) / divisor + 1);
  }
  __device__ int32 divide(int32 n) const { return int32((__umulhi(uint32(n), magic) + uint32(n)) >> shift); }
};

/// An iteration space as kernels read it.
template <class Index, int Operands>
struct device_space {
  int ndim, kept;
  Index extent[max_rank];
  divider<Index> by[max_rank];
  Index stride[Operands][max_rank];

  explicit device_space(const detail::iteration_space<Operands>& s) : ndim(s.ndim), kept(s.kept) {
    for (int d = 0; d < max_rank; ++d) {
      extent[d] = d < ndim ? Index(s.extent[d]) : Index(1);
      by[d] = divider<Index>(extent[d] > 0 ? int64(extent[d]) : 1);  // empty: nothing will be divided
      for (int k = 0; k < Operands; ++k) stride[k][d] = d < ndim ? Index(s.stride[k][d]) : Index(0);
    }
  }

  /// Adds to each operand's offset where the i-th place of the axes [begin, end) in C order lies.
  __device__ void add_offsets(Index i, int begin, int end, Index* offset) const {
#pragma unroll
    for (int d = max_rank - 1; d >= 0; --d) {
      if (d >= end || d < begin) continue;
      Index at = i;
      if (d > begin) {
        const Index q = by[d].divide(i);
        at = i - q * extent[d];
        i = q;
      }
#pragma unroll
      for (int k = 0; k < Operands; ++k) offset[k] += at * stride[k][d];
    }
  }
};

/// One element of every operand.
template <class Index, int Operands>
struct element_access {
  Index offset[Operands];
  template <int I, class T>
  __device__ T* at(T* p) const {
    return p + offset[I];
  }
  template <int I, class T>
  __device__ T load(const T* p) const {
    return p[offset[I]];
  }
  template <class T>
  __device__ T splat(T v) const {
    return v;
  }
  template <int I, class G>
  __device__ auto generate(const G& g) const {
    return g(int64(offset[I]));
  }
  template <class Op, class... V>
  __device__ auto apply(const Op& op, V... v) const {
    return op(v...);
  }
};

/// True if 32 bits reach every place of the space and every operand from its first element.
template <int Operands>
bool fits_32_bits(const detail::iteration_space<Operands>& s) {
  constexpr int64 most = int64(1) << 31;
  if (s.size(0, s.ndim) >= most) return false;
  for (int k = 0; k < Operands; ++k) {
    int64 low = 0, high = 0;
    for (int d = 0; d < s.ndim; ++d) (s.stride[k][d] < 0 ? low : high) += (s.extent[d] - 1) * s.stride[k][d];
    if (high >= most || low <= -most) return false;
  }
  return true;
}

}  // namespace cudarray::inline v0::backend::gpu
