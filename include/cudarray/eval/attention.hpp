// The backend entry for attention as a whole.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// softmax(scale q k^T) v of q (b, h, l, d), k (b, g, s, d), v (b, g, s, e): y (b, h, l, e). Head i of the queries
/// meets head i / (h / g) of keys and values. The last axes of q, k, v, dy have stride 1, arrays that are written are
/// in C order. The arrays are there where it is computed, not where it is only asked for.
struct attention {
  int64 b, h, g, l, s, d, e;
  bool causal;  ///< query i sees keys 0 to i
  double scale;
  bool backward = false;  ///< dq, dk, dv are written, else y and the statistics
  enum operand { q, k, v, dy, y, statistics, dq, dk, dv, operands };  ///< the statistics: float32, (b, h, l)
  storage* store[operands] = {};
  int64 offset[operands] = {};
  int64 stride[4][3] = {};  ///< of q, k, v, dy
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Optional: whether attention of these sizes and strides is computed as a whole, forwards or, `backward`, back.
template <class T, class Device>
bool attends_natively(Device, const detail::attention&) {
  return false;
}
/// Computes it. False, and nothing is done, where it cannot, whatever was said before. Throws out_of_memory.
template <class T, class Device>
bool attend_natively(Device, const detail::attention&) {
  return false;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
