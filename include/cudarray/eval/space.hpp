// The planner: an iteration space over all operands at once, with as few axes as their strides allow.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/layout.hpp"
#include "../memory/storage.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Plans of more operands than this are split: a part is materialised first. 40 operands of 64 bytes stay below 4 KB.
inline constexpr int most_leaves = 40;

/// Axes [0, kept) are those of the result, [kept, ndim) the reduced ones. Operand 0 is the result.
template <int Operands>
struct iteration_space {
  int ndim = 0;
  int kept = 0;
  int64 extent[max_rank] = {};
  int64 stride[::std::size_t(Operands)][max_rank] = {};
  storage* store[::std::size_t(Operands)] = {};

  int64 size(int begin, int end) const {
    int64 n = 1;
    for (int i = begin; i < end; ++i) n *= extent[i];
    return n;
  }
};

// Loops over axes stay out of the templates, and as they are: an array has few axes, which compilers would take four at
// a time, and reading what was just written one by one in wide pieces stalls the processor.

/// The extents of an array.
CUDARRAY_NO_INLINE inline void copy_extents(int64* to, const shape& dims) {
  for (int d = 0; d < dims.ndim(); ++d) {
    to[d] = dims[d];
    asm("");
  }
}
/// The strides of an operand whose axis d is axis `axis_of[d]` of a space. Extents of 1 get 0: they repeat.
CUDARRAY_NO_INLINE inline void place_axes(int64* to, const shape& dims, const int64* stride, const int* axis_of) {
  for (int d = 0; d < dims.ndim(); ++d) {
    to[axis_of[d]] = dims[d] == 1 ? 0 : stride[d];
    asm("");
  }
}

/// Works on the axes [begin, end): drops those of extent 1, puts long strides outside (if `reorder`), and merges
/// neighbours that every operand steps through as one. Returns the new end.
CUDARRAY_NO_INLINE inline int simplify_axes(int64* extent, int64 (*stride)[max_rank], int operands, int begin, int end,
                                            bool reorder) {
  const auto copy_axis = [&](int to, int from) {
    extent[to] = extent[from];
    for (int k = 0; k < operands; ++k) stride[k][to] = stride[k][from];
  };
  int n = begin;
  for (int i = begin; i < end; ++i)
    if (extent[i] != 1) copy_axis(n++, i);
  const auto magnitude = [](int64 v) { return v < 0 ? -v : v; };
  // axis a belongs outside axis b where the first operand that moves along both has the longer stride along a
  const auto outside = [&](int a, int b) {
    for (int k = 0; k < operands; ++k) {
      const int64 x = magnitude(stride[k][a]), y = magnitude(stride[k][b]);
      if (x != 0 && y != 0 && x != y) return x > y;
    }
    return false;
  };
  if (reorder) {
    for (int i = begin + 1; i < n; ++i)
      for (int j = i; j > begin && outside(j, j - 1); --j) {
        ::std::swap(extent[j], extent[j - 1]);
        for (int k = 0; k < operands; ++k) ::std::swap(stride[k][j], stride[k][j - 1]);
      }
  }
  int last = begin;  // the axis being grown
  for (int i = begin + 1; i < n; ++i) {
    bool joins = true;
    for (int k = 0; k < operands; ++k) joins = joins && stride[k][last] == stride[k][i] * extent[i];
    if (joins) {
      const int64 grown = extent[last] * extent[i];
      copy_axis(last, i);
      extent[last] = grown;
    } else {
      copy_axis(++last, i);
    }
  }
  return n > begin ? last + 1 : begin;
}

/// The same for all axes, of which the first `kept` are those of the result.
CUDARRAY_NO_INLINE inline void simplify_all(int64* extent, int64 (*stride)[max_rank], int operands, int& kept,
                                            int& ndim, bool reorder_reduced) {
  const int kept_end = simplify_axes(extent, stride, operands, 0, kept, true);
  const int end = simplify_axes(extent, stride, operands, kept, ndim, reorder_reduced);
  const int gap = kept - kept_end;
  for (int i = kept; gap > 0 && i < end; ++i) {
    extent[i - gap] = extent[i];
    for (int k = 0; k < operands; ++k) stride[k][i - gap] = stride[k][i];
  }
  kept = kept_end;
  ndim = end - gap;
}
template <int Operands>
void simplify(iteration_space<Operands>& s, bool reorder_reduced) {
  if (s.ndim == 1 && s.extent[0] != 1) return;
  simplify_all(s.extent, s.stride, Operands, s.kept, s.ndim, reorder_reduced);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
