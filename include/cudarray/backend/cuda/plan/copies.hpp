// Plans of copies before a reduction: of operands that are transposed against the others.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/align.hpp"
#include "operands.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// Which operands of a reduction are copied first: those that lie along another axis than most of what is loaded, so
/// that each element that a warp reads is in another sector. Copies lie as the first of the others does.
template <int Operands>
CUDARRAY_NO_INLINE detail::transposed_operands plan_copies(const detail::iteration_space<Operands>& s,
                                                           const operand_info* of) {
  detail::transposed_operands r;
  if (s.size(0, s.ndim) < tuning::copied) return r;
  const detail::access at(s);
  int along = -1, leader = 0;
  for (int d = 0, most = 0; d < s.ndim; ++d) {
    int bytes = 0, first = 0;
    for (int k = Operands - 1; k > 0; --k)
      if (of[k].data != nullptr && at.along(k, d)) bytes += of[k].bytes, first = k;
    if (bytes > 0 && bytes >= most) along = d, most = bytes, leader = first;
  }
  if (along < 0) return r;
  for (int k = 1; k < Operands; ++k) {
    int own = -1;
    for (int d = 0; d < s.ndim; ++d)
      if (d != along && at.along(k, d)) own = d;
    if (of[k].data == nullptr || own < 0 || at.step(k, along) * of[k].bytes < tuning::sector) continue;
    if (of[k].bytes > tuning::copied_bytes) continue;  // lines are soon used up: the cache keeps pace with the memory
    // matrices in the cache are read well enough, but by threads that share a result
    const bool cached = s.extent[along] * s.extent[own] < cached_matrix(of[k].bytes);
    if (!cached || (along >= s.kept && own >= s.kept)) r.those |= uint64(1) << k;
  }
  const auto inside = [&](int a, int b) {  // axis a lies inside axis b
    const int64 x = at.step(leader, a), y = at.step(leader, b);
    return a == along || (b != along && x != 0 && (y == 0 || x < y));
  };
  for (int n = 0; n < s.ndim; ++n) {
    r.order[n] = n;
    for (int i = n; i > 0 && inside(r.order[i - 1], r.order[i]); --i) ::std::swap(r.order[i - 1], r.order[i]);
  }
  return r;
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
