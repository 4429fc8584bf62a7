// The optional backend entries for convolution: a library's own, where the device has one.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/storage.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A 2-d cross-correlation over C-contiguous arrays: x (n, c, h, w), w (k, c, r, s), y (n, k, p, q).
struct convolution {
  enum class what { forward, backward_data, backward_weights };
  what part;
  int64 n, c, h, w, k, r, s, p, q;
  int64 stride[2], padding[2];
  storage *x, *weights, *y;  ///< one of them is written, by `part`: y, x or weights
  int64 offset_x, offset_weights, offset_y;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {
/// Computes it and returns true, or returns false: then the caller multiplies matrices of windows.
template <class T, class Device>
bool convolve_natively(Device, const detail::convolution&) {
  return false;
}
}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
