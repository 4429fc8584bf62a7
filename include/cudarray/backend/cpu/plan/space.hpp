// What the plans of the CPU see: a space, and where the operands of a tree lie.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "../../../eval/access.hpp"
#include "../../../eval/plan.hpp"
#include "tuning.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// A target, what its plan reads, and what an index that the target is written through reads, at most.
inline constexpr int most_operands = 2 * detail::most_leaves + 1;

/// to[i * pitch + j] = from[i * down + j * along] for i < rows and j < columns.
using tile_function = void(void* to, int64 pitch, const void* from, int64 rows, int64 columns, int64 down, int64 along);

/// Where the elements of an operand lie, and how tiles of them are copied; null for one that is not in memory.
struct memory_operand {
  const void* p = nullptr;
  int bytes = 0;
  tile_function* copy = nullptr;
  bool gathered = false;  ///< an index picks its elements: they are not where strides say
};

/// False for an operand that has to be copied to a tile before packs read it along an axis, or gathered one by one.
inline bool packs_can_read(const memory_operand& m, int64 step) {
  return step == 1 || (!m.gathered && (step == 0 || m.p == nullptr));
}

/// An iteration space whose number of operands is not part of its type.
struct walk_space {
  int ndim, kept, operands;
  int64 extent[max_rank];
  int64 stride[most_operands][max_rank];

  template <int Operands>
  explicit walk_space(const detail::iteration_space<Operands>& s) : ndim(s.ndim), kept(s.kept), operands(Operands) {
    static_assert(Operands <= most_operands);
    ::std::memcpy(extent, s.extent, sizeof(extent));
    ::std::memcpy(stride, s.stride, sizeof(s.stride));
  }
  CUDARRAY_NO_INLINE int64 size(int begin, int end) const {
    int64 n = 1;
    for (int i = begin; i < end; ++i) n *= extent[i];
    return n;
  }
  detail::access access() const { return {ndim, operands, stride}; }
  /// The step of each operand along an axis; 0 along none (-1).
  CUDARRAY_NO_INLINE void steps(int64* to, int axis) const {
    for (int k = 0; k < operands; ++k) to[k] = axis < 0 ? 0 : stride[k][axis];
  }
  CUDARRAY_NO_INLINE void swap_axes(int a, int b) {
    ::std::swap(extent[a], extent[b]);
    for (int k = 0; k < operands; ++k) ::std::swap(stride[k][a], stride[k][b]);
  }
  CUDARRAY_NO_INLINE void drop_axis(int axis) {
    for (int d = axis; d + 1 < ndim; ++d) swap_axes(d, d + 1);
    --ndim;
  }
};

/// A place in a space, with the offset of every operand there.
struct place_in {
  int64 index[max_rank];
  int64 offset[most_operands];

  explicit place_in(const walk_space& s) {
    for (int k = 0; k < s.operands; ++k) offset[k] = 0;
  }
  /// Goes on by `at` places of the axes [begin, end) in C order, from the first.
  CUDARRAY_NO_INLINE void seek(const walk_space& s, int begin, int end, int64 at) {
    for (int d = end - 1; d >= begin; --d) {
      index[d] = at == 0 ? 0 : at % s.extent[d];
      at = at == 0 ? 0 : at / s.extent[d];
      if (index[d] != 0) advance(s, d, index[d]);
    }
  }
  CUDARRAY_NO_INLINE void advance(const walk_space& s, int axis, int64 by) {
    for (int k = 0; k < s.operands; ++k) offset[k] += s.stride[k][axis] * by;
  }
  /// Moves on by one; false after the last place, when all offsets are back where they were.
  CUDARRAY_NO_INLINE bool next(const walk_space& s, int begin, int end) {
    for (int d = end - 1; d >= begin; --d) {
      advance(s, d, 1);
      if (++index[d] < s.extent[d]) return true;
      advance(s, d, -s.extent[d]);
      index[d] = 0;
    }
    return false;
  }
};

/// Results that the caches cannot hold anyway are written past them. What the system says of the last cache is not
/// asked for: virtual machines report that of a whole server.
inline bool exceeds_cache(int64 bytes) { return bytes > tuning::cache; }

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
