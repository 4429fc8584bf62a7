// Blocks, warps and the places of threads: what is decided on the host, as plain numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../core/annotations.hpp"
#include "../../../eval/space.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

inline constexpr int block_threads = 256, warp = 32;
/// What the parameters of a kernel may take, since CUDA 12.1 and Volta.
inline constexpr int parameter_bytes = 32764;
inline constexpr int most_shared = 48 << 10;  ///< bytes of shared memory that every block may have
inline constexpr int most_tickets = 1024;     ///< counters of a stream

inline int64 ceil_div(int64 a, int64 b) { return (a + b - 1) / b; }
inline int power_of_two_above(int64 n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

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
  CUDARRAY_HD int32 divide(int32 n) const {
    return int32((uint32(uint64(uint32(n)) * magic >> 32) + uint32(n)) >> shift);
  }
  CUDARRAY_HD int64 divide(int64 n) const {
    using wide = unsigned __int128;
    return int64((uint64(wide(uint64(n)) * far_magic >> 64) + uint64(n)) >> shift);
  }
};

/// An iteration space as V lanes in each of many threads walk it. The lanes divide one axis, `split`. They are
/// neighbours there, which makes accesses wide where memory is aligned; or a warp's width apart, so that each lane's
/// accesses of a warp lie together whatever the alignment; or, on a short axis, equal parts of it apart.
template <int Operands>
struct thread_space {
  int ndim = 0, kept = 0, split = -1;
  int lanes = 1;
  bool index32 = true;      ///< 32 bits hold every number of threads and every offset
  bool whole = true;        ///< no lane is outside
  bool by_warps = false;    ///< lanes are a warp's width apart
  bool short_rows = false;  ///< a block takes several
  bool even_rows = false;   ///< and as many with each group of threads, on two axes
  uint64 wide = 0;          ///< a bit for each operand whose lanes are one aligned access
  int64 last = 1;           ///< threads of the last axis
  // what rows need stands in front: a kernel waits for each line of its parameters
  int64 lane_step[Operands] = {};
  int64 threads = 1;  ///< of all axes
  int64 unit = 1;     ///< elements from thread to thread on the split axis, unless by warps
  int64 gap = 1;      ///< elements from lane to lane there
  int64 limit = 1;    ///< its elements
  divider extent[max_rank];
  int64 step[Operands][max_rank] = {};  ///< from element to element

  /// The axes of `s`, of which V lanes divide axis `split` (-1 where there is none), and so many elements more.
  void divide(const detail::iteration_space<Operands>& s, int V, int split_axis, bool neighbours, int more = 0) {
    constexpr int64 int32_end = int64(1) << 31;
    ndim = s.ndim, kept = s.kept, split = split_axis, lanes = V;
    whole = V == 1;
    int64 reach[Operands] = {};
    for (int d = 0; d < ndim; ++d) {
      int64 n = s.extent[d];
      for (int k = 0; k < Operands; ++k) {
        step[k][d] = s.stride[k][d];
        reach[k] += n * (step[k][d] < 0 ? -step[k][d] : step[k][d]);
      }
      if (d == split) {
        limit = n;
        by_warps = !neighbours && n >= V * warp;
        n = by_warps ? ceil_div(n, V * warp) * warp : ceil_div(n + more, V);
        whole = n * V == limit;
        unit = neighbours ? V : 1;
        gap = neighbours ? 1 : by_warps ? warp : n;
        for (int k = 0; k < Operands; ++k) lane_step[k] = gap * step[k][d];
      }
      threads *= n;
      last = n;
      extent[d] = divider(n);
    }
    index32 = threads < int32_end;
    for (int k = 0; k < Operands; ++k) index32 = index32 && reach[k] < int32_end;
  }
};

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
