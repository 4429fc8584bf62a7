// The backend entries for pooling.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/entries.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Windows of r x s pixels on images (planes, h, w, channels), results (planes, p, q, channels): C-contiguous arrays;
/// each channel is pooled on its own. Operand 0 is written. Windows begin on the image or the padding before it; the
/// last ones may reach beyond the padding behind it.
struct pooling {
  int64 planes, channels, h, w, r, s, p, q;
  int64 stride[2], padding[2];
  bool count_padding;  ///< averages divide by how many pixels a window covers, padding included
  storage* store[3];
  int64 offset[3];

  template <class T>
  T* at(int i) const {
    return static_cast<T*>(store[i]->data) + offset[i];
  }
  /// The pixels [begin, end) of an axis that the windows at place i of it cover, padding left out.
  struct range {
    int64 begin, end;
  };
  range covered(int axis, int64 i) const {
    const int64 extent = axis == 0 ? h : w, begin = i * stride[axis] - padding[axis], end = begin + (axis == 0 ? r : s);
    return {begin > 0 ? begin : 0, end < extent ? end : extent};
  }
  /// How many the window at place i counts along an axis; the divisor of an average is the product of these.
  int64 counted(int axis, int64 i) const {
    const range v = covered(axis, i);
    if (!count_padding) return v.end - v.begin;
    const int64 begin = i * stride[axis] - padding[axis], end = begin + (axis == 0 ? r : s),
                last = (axis == 0 ? h : w) + padding[axis];
    return (end < last ? end : last) - begin;
  }
};

/// What averages and their gradients are computed in.
template <class T>
using average_t = ::std::conditional_t<is_integer<T>, double, compute_t<T>>;

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Operand 0 is the largest pixel of each window of operand 1; NaN counts as the largest.
template <class T, class Device>
void max_pool(Device, const detail::pooling&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// Operand 0, images, has the gradient, operand 1, of each window at the first largest pixel of operand 2, the images;
/// gradients add up in the order of the windows.
template <class T, class Device>
void max_pool_gradient(Device, const detail::pooling&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// Operand 0 is the mean of each window of operand 1: columns are added up first, then these.
template <class T, class Device>
void average_pool(Device, const detail::pooling&) {
  CUDARRAY_NO_BACKEND(Device);
}

/// Operand 0, images, has at each pixel of a window its gradient, operand 1, divided by what the mean divides by; these
/// add up along a row of windows first, the last window's first, then from row to row.
template <class T, class Device>
void average_pool_gradient(Device, const detail::pooling&) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
