// Which operands of a reduction are copied first, since they lie along another axis than the others.
// SPDX-License-Identifier: MIT
#pragma once

#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// The operands (a bit each) that lie along another axis than most of what is loaded, of which each element that a warp
/// reads is in another sector; and the axes in the order in which the first of the others lies in memory.
struct turned_operands {
  uint64 those = 0;
  int order[max_rank] = {};

  template <int Operands>
  CUDARRAY_NO_INLINE turned_operands(const detail::iteration_space<Operands>& s, const operand_info* of) {
    if (s.size(0, s.ndim) < tuning::copied) return;
    int along = -1, leader = 0;
    for (int d = 0, most = 0; d < s.ndim; ++d) {
      int bytes = 0, first = 0;
      for (int k = Operands - 1; k > 0; --k)
        if (of[k].data != nullptr && magnitude(s.stride[k][d]) == 1) bytes += of[k].bytes, first = k;
      if (bytes > 0 && bytes >= most) along = d, most = bytes, leader = first;
    }
    if (along < 0) return;
    for (int k = 1; k < Operands; ++k) {
      int own = -1;
      for (int d = 0; d < s.ndim; ++d)
        if (d != along && magnitude(s.stride[k][d]) == 1) own = d;
      if (of[k].data == nullptr || own < 0 || magnitude(s.stride[k][along]) * of[k].bytes < tuning::sector) continue;
      if (of[k].bytes > tuning::copied_bytes) continue;  // lines are soon used up: the cache keeps pace with the memory
      // matrices in the cache are read well enough, but by threads that share a result
      const bool cached = s.extent[along] * s.extent[own] < cached_matrix(of[k].bytes);
      if (!cached || (along >= s.kept && own >= s.kept)) those |= uint64(1) << k;
    }
    const auto inside = [&](int a, int b) {  // axis a lies inside axis b
      const int64 x = magnitude(s.stride[leader][a]), y = magnitude(s.stride[leader][b]);
      return a == along || (b != along && x != 0 && (y == 0 || x < y));
    };
    for (int n = 0; n < s.ndim; ++n) {
      order[n] = n;
      for (int i = n; i > 0 && inside(order[i - 1], order[i]); --i) ::std::swap(order[i - 1], order[i]);
    }
  }
  /// The space of a copy of operand k, which it lies in from then on. The number of its elements.
  template <int Operands>
  CUDARRAY_NO_INLINE int64 lay_out(detail::iteration_space<2>& copy, detail::iteration_space<Operands>& s,
                                   int k) const {
    int64 elements = 1;
    copy.ndim = copy.kept = s.ndim;
    for (int i = s.ndim - 1; i >= 0; --i) {
      int64& stride = s.stride[k][order[i]];
      copy.extent[i] = stride == 0 ? 1 : s.extent[order[i]];
      copy.stride[1][i] = stride;
      if (stride != 0) copy.stride[0][i] = stride = elements;
      elements *= copy.extent[i];
    }
    copy.store[1] = s.store[k];
    detail::simplify(copy, true);
    return elements;
  }
};

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
