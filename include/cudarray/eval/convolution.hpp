// The optional backend entries for convolution: a library's own, where the device has one.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/storage.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Windows that go over images, along one to three axes: the numbers of each axis.
struct window_grid {
  int axes;
  int64 in[3], window[3], out[3];  ///< pixels of an image, of a window, and windows
  int64 stride[3], padding[3], dilation[3];

  /// The product of the first `axes` numbers.
  int64 product(const int64 (&extents)[3]) const {
    int64 n = 1;
    for (int a = 0; a < axes; ++a) n *= extents[a];
    return n;
  }
  int64 taps() const { return product(window); }
  int64 places() const { return product(out); }
};

/// A cross-correlation over arrays of two or three axes: x (n, c, in), w (k, c / groups, window), y (n, k, out), all in
/// C order, or all with their channels innermost: (n, in, c), (k, window, c / groups), (n, out, k).
struct convolution : window_grid {
  enum class what { forward, backward_data, backward_weights };
  what part;
  int64 n, c, k, groups;
  storage *x, *weights, *y;  ///< one of them is written, by `part`: y, x or weights
  int64 offset_x, offset_weights, offset_y;
  bool channels_last;

  int64 image() const { return c * product(in); }      ///< elements of one
  int64 result() const { return k * places(); }        ///< of one image
  int64 filters() const { return k * depth(); }        ///< of all
  int64 depth() const { return c / groups * taps(); }  ///< products that are added up for a result
  int64 products() const { return n * result() * depth(); }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {
/// Computes it and returns true, or returns false: then the caller multiplies matrices of windows.
template <class T, class Device>
bool convolve_natively(Device, const detail::convolution&) {
  return false;
}
}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
