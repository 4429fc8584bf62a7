// What convolution and pooling share: pairs of extents, padding, and views of all windows of an image.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/creation.hpp"
#include "../ops/manipulation.hpp"

namespace cudarray::inline v0::nnet {

/// A height and a width; one number stands for both.
struct extent2 {
  int64 h = 0, w = 0;
  constexpr extent2() = default;
  template <::std::integral Int>
  constexpr extent2(Int both) : h(cudarray::detail::to_int64(both)), w(h) {}
  constexpr extent2(cudarray::detail::any_integer h_, cudarray::detail::any_integer w_) : h(h_), w(w_) {}
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::cat;

/// How windows of `window` lie on images of h x w: p x q of them.
struct window_grid {
  int64 h, w;
  extent2 window, stride, padding;
  int64 p, q;
  shape results(const shape& images) const { return {images[0], images[1], p, q}; }
};

/// Throws shape_error where the operand is not (n, c, h, w) or no window fits, value_error for a stride below 1.
inline window_grid make_grid(const char* function, const shape& x, extent2 window, extent2 stride, extent2 padding) {
  if (x.ndim() != 4) cudarray::detail::fail<shape_error>(function, ": images of shape ", x, ", not (n, c, h, w)");
  if (stride.h < 1 || stride.w < 1)
    cudarray::detail::fail<value_error>(function, ": stride (", stride.h, ", ", stride.w, ") is not positive");
  if (padding.h < 0 || padding.w < 0)
    cudarray::detail::fail<value_error>(function, ": padding (", padding.h, ", ", padding.w, ") is negative");
  constexpr int64 most = int64(1) << 40;  // images with their border have extents that 64 bits hold
  if (padding.h > most || padding.w > most)
    cudarray::detail::fail<value_error>(function, ": padding (", padding.h, ", ", padding.w, ") is too large");
  window_grid g{x[2], x[3], window, stride, padding, 0, 0};
  const int64 free_h = g.h + 2 * padding.h - window.h, free_w = g.w + 2 * padding.w - window.w;
  if (window.h < 1 || window.w < 1 || free_h < 0 || free_w < 0)
    cudarray::detail::fail<shape_error>(function, ": a window of (", window.h, ", ", window.w,
                                        ") does not fit images of ", x, " with padding (", padding.h, ", ", padding.w,
                                        ")");
  g.p = free_h / stride.h + 1;
  g.q = free_w / stride.w + 1;
  return g;
}

/// The images with a border of one value; themselves where there is none.
template <class T, class D>
ndarray<T, D> padded(const ndarray<T, D>& x, extent2 padding, T edge) {
  if (padding.h == 0 && padding.w == 0) return x;
  ndarray<T, D> r =
      full<T, D, T>({x.shape(0), x.shape(1), x.shape(2) + 2 * padding.h, x.shape(3) + 2 * padding.w}, edge, x.device());
  r(_, _, slice(padding.h, padding.h + x.shape(2)), slice(padding.w, padding.w + x.shape(3))) = x;
  return r;
}

/// The pixels at place (i, j) of every window: (n, c, p, q), a view of the padded images.
template <class T, class D>
ndarray<T, D> window_place(const ndarray<T, D>& images, const window_grid& g, int64 i, int64 j) {
  return images(_, _, slice(i, i + (g.p - 1) * g.stride.h + 1, g.stride.h),
                slice(j, j + (g.q - 1) * g.stride.w + 1, g.stride.w));
}

/// All windows: (n, c, h', w') -> (n, c, r, s, p, q), a view of the padded images.
template <class T, class D>
ndarray<T, D> windows(const ndarray<T, D>& images, const window_grid& g) {
  const layout& from = images.where();
  layout l{{from.dims[0], from.dims[1], g.window.h, g.window.w, g.p, g.q}, {}, from.offset};
  const int64 strides[] = {from.stride[0],
                           from.stride[1],
                           from.stride[2],
                           from.stride[3],
                           from.stride[2] * g.stride.h,
                           from.stride[3] * g.stride.w};
  for (int d = 0; d < 6; ++d) l.stride[d] = strides[d];
  return cudarray::detail::view(images, l);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
