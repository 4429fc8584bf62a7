// Convolution and pooling from their definitions, by loops over host vectors.
// SPDX-License-Identifier: MIT
#pragma once

#include "slope.hpp"

namespace test {

/// Images (n, c, h, w), windows (r, s), results (p, q).
struct geometry {
  ca::int64 n, c, h, w, r, s;
  ca::nnet::extents stride, padding;

  ca::int64 p() const { return (h + 2 * padding[0] - r) / stride[0] + 1; }
  ca::int64 q() const { return (w + 2 * padding[1] - s) / stride[1] + 1; }

  /// Calls `body(result (i, j), place in the window (u, v), row, column)` for every pixel a window reads of the image;
  /// with `border`, also for the padding around it.
  template <class F>
  void each(const F& body, bool border = false) const {
    for (ca::int64 i = 0; i < p(); ++i)
      for (ca::int64 j = 0; j < q(); ++j)
        for (ca::int64 u = 0; u < r; ++u)
          for (ca::int64 v = 0; v < s; ++v) {
            const ca::int64 y = i * stride[0] - padding[0] + u, x = j * stride[1] - padding[1] + v;
            if (border || (y >= 0 && y < h && x >= 0 && x < w)) body(i, j, u, v, y, x);
          }
  }
  std::size_t pixel(ca::int64 image, ca::int64 channel, ca::int64 y, ca::int64 x) const {
    return std::size_t(((image * c + channel) * h + y) * w + x);
  }
  /// A place of a result with k channels.
  std::size_t result(ca::int64 k, ca::int64 image, ca::int64 channel, ca::int64 i, ca::int64 j) const {
    return std::size_t(((image * k + channel) * p() + i) * q() + j);
  }
};

}  // namespace test
