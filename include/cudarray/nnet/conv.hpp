// 2-d convolution (cross-correlation) and its gradients, eager: by kernels or libraries of the device, or windows.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/convolution.hpp"
#include "../ops/linalg.hpp"
#include "windows.hpp"

namespace cudarray::inline v0::nnet {

struct conv_options {
  extent2 stride = 1;
  extent2 padding = 0;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using convolution = cudarray::detail::convolution;

/// Matrices of windows are made for as many images at a time as this many bytes hold.
inline constexpr int64 window_bytes = int64(8) << 20;

template <class T>
int64 images_at_once(int64 per_image) {
  const int64 n = window_bytes / (per_image * int64(sizeof(T)) + 1);
  return n > 1 ? n : 1;
}

template <class T, class D>
convolution describe(convolution::what part, const ndarray<T, D>& x, const ndarray<T, D>& w, const ndarray<T, D>& y,
                     const conv_options& o) {
  return {part,
          x.shape(0),
          x.shape(1),
          x.shape(2),
          x.shape(3),
          w.shape(0),
          w.shape(2),
          w.shape(3),
          y.shape(2),
          y.shape(3),
          {o.stride.h, o.stride.w},
          {o.padding.h, o.padding.w},
          x.storage().get(),
          w.storage().get(),
          y.storage().get(),
          x.where().offset,
          w.where().offset,
          y.where().offset};
}

inline window_grid conv_grid(const char* function, const shape& x, const shape& w, const conv_options& o) {
  if (w.ndim() != 4 || (x.ndim() == 4 && w[1] != x[1]))
    cudarray::detail::fail<shape_error>(function, ": filters of shape ", w, " for images of shape ", x,
                                        "; (k, c, r, s) and (n, c, h, w) are wanted");
  return make_grid(function, x, {w[2], w[3]}, o.stride, o.padding);
}

inline void check_gradient(const char* function, const shape& dy, const shape& x, const shape& w,
                           const window_grid& g) {
  const shape expected{x[0], w[0], g.p, g.q};
  if (dy != expected)
    cudarray::detail::fail<shape_error>(function, ": the gradient has shape ", dy, ", the convolution's result ",
                                        expected);
}

template <class T, class D>
ndarray<T, D> contiguous(const ndarray<T, D>& a) {
  return ascontiguousarray<T, D>(a);
}

/// Filters (k, c, r, s) as (k, c r s).
template <class T, class D>
ndarray<T, D> as_matrix(const ndarray<T, D>& w) {
  return reshape(w, {w.shape(0), w.shape(1) * w.shape(2) * w.shape(3)});
}

/// Calls `body(windows as (m, c r s, p q), first image, m)` for the images, some at a time.
template <class T, class D, class F>
void for_windows(const ndarray<T, D>& images, const window_grid& g, const F& body) {
  const int64 depth = images.shape(1) * g.window.h * g.window.w, places = g.p * g.q, n = images.shape(0);
  const int64 step = images_at_once<T>(depth * places);
  for (int64 i = 0; i < n; i += step) {
    const ndarray<T, D> some = windows(images(slice(i, i + step)), g).copy();
    body(reshape(some, {some.shape(0), depth, places}), i, some.shape(0));
  }
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The cross-correlation of images with filters: (n, c, h, w), (k, c, r, s) -> (n, k, p, q) with
/// p = (h + 2 padding - r) / stride + 1. Eager. float32 stays IEEE float32. Throws shape_error, value_error.
///     ca::nnet::conv2d(x, w, {.stride = {2, 2}, .padding = 1})
template <array_expression X, array_expression W>
auto conv2d(const X& images, const W& filters, const conv_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> x = detail::contiguous(ndarray<T, D>(images)), w = detail::contiguous(ndarray<T, D>(filters));
  const auto g = detail::conv_grid("nnet::conv2d", x.shape(), w.shape(), o);
  ndarray<T, D> y =
      empty<T, D>({x.shape(0), w.shape(0), g.p, g.q}, cudarray::detail::common_device("nnet::conv2d", x, w));
  if (y.size() == 0) return y;
  if (x.size() > 0 && w.size() > 0 &&
      convolve_natively<T>(y.device(), detail::describe(detail::convolution::what::forward, x, w, y, o))) {
    cudarray::detail::count_write(*y.storage());
    return y;
  }
  const ndarray<T, D> flat = detail::as_matrix(w), rows = reshape(y, {x.shape(0), w.shape(0), g.p * g.q});
  detail::for_windows(detail::padded(x, o.padding, T(0)), g, [&](const auto& columns, int64 first, int64 n) {
    rows(slice(first, first + n)) = matmul(flat, columns);
  });
  return y;
}

/// The gradient of conv2d with respect to the images, of shape `image_shape`: (n, k, p, q), (k, c, r, s) -> (n, c, h,
/// w). Eager. Throws shape_error.
template <array_expression G, array_expression W>
auto conv2d_backward_data(const G& gradient, const W& filters, const shape& image_shape, const conv_options& o = {}) {
  using T = value_type_t<G>;
  using D = device_type_t<G>;
  const ndarray<T, D> dy = detail::contiguous(ndarray<T, D>(gradient)), w = detail::contiguous(ndarray<T, D>(filters));
  const auto g = detail::conv_grid("nnet::conv2d_backward_data", image_shape, w.shape(), o);
  detail::check_gradient("nnet::conv2d_backward_data", dy.shape(), image_shape, w.shape(), g);
  ndarray<T, D> dx = empty<T, D>(image_shape, cudarray::detail::common_device("nnet::conv2d_backward_data", dy, w));
  if (dx.size() == 0) return dx;
  if (dy.size() > 0 && w.size() > 0 &&
      convolve_natively<T>(dy.device(), detail::describe(detail::convolution::what::backward_data, dx, w, dy, o))) {
    cudarray::detail::count_write(*dx.storage());
    return dx;
  }
  const int64 n = image_shape[0], c = image_shape[1], r = w.shape(2), s = w.shape(3);
  const ndarray<T, D> flat = detail::as_matrix(w), rows = reshape(dy, {n, w.shape(0), g.p * g.q});
  const ndarray<T, D> wide = zeros<T, D>({n, c, g.h + 2 * o.padding.h, g.w + 2 * o.padding.w}, dy.device());
  const int64 step = detail::images_at_once<T>(c * r * s * g.p * g.q);
  for (int64 first = 0; first < n; first += step) {
    const ndarray<T, D> images = wide(slice(first, first + step));
    const ndarray<T, D> columns =
        reshape(matmul(flat.t(), rows(slice(first, first + step))), {images.shape(0), c, r, s, g.p, g.q});
    for (int64 i = 0; i < r; ++i)
      for (int64 j = 0; j < s; ++j) detail::window_place(images, g, i, j) += columns(_, _, i, j);
  }
  dx(_) = wide(_, _, slice(o.padding.h, o.padding.h + g.h), slice(o.padding.w, o.padding.w + g.w));
  return dx;
}

/// The gradient of conv2d with respect to the filters, of shape `filter_shape`: (n, c, h, w), (n, k, p, q) ->
/// (k, c, r, s). Eager. Throws shape_error.
template <array_expression X, array_expression G>
auto conv2d_backward_weights(const X& images, const G& gradient, const shape& filter_shape,
                             const conv_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> x = detail::contiguous(ndarray<T, D>(images)), dy = detail::contiguous(ndarray<T, D>(gradient));
  const auto g = detail::conv_grid("nnet::conv2d_backward_weights", x.shape(), filter_shape, o);
  detail::check_gradient("nnet::conv2d_backward_weights", dy.shape(), x.shape(), filter_shape, g);
  ndarray<T, D> dw = empty<T, D>(filter_shape, cudarray::detail::common_device("nnet::conv2d_backward_weights", x, dy));
  if (dw.size() == 0) return dw;
  if (dy.size() > 0 && x.size() > 0 &&
      convolve_natively<T>(x.device(), detail::describe(detail::convolution::what::backward_weights, x, dw, dy, o))) {
    cudarray::detail::count_write(*dw.storage());
    return dw;
  }
  dw.fill(T(0));
  const ndarray<T, D> flat = detail::as_matrix(dw), rows = reshape(dy, {x.shape(0), filter_shape[0], g.p * g.q});
  detail::for_windows(detail::padded(x, o.padding, T(0)), g, [&](const auto& columns, int64 first, int64 n) {
    flat(ellipsis) += sum(matmul(rows(slice(first, first + n)), swapaxes(columns, 1, 2)), 0);
  });
  return dw;
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
