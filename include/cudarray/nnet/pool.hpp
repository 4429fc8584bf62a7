// 2-d pooling and its gradients: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/pooling.hpp"
#include "windows.hpp"

namespace cudarray::inline v0::nnet {

struct pool_options {
  extent2 window = 2;
  extent2 stride = 0;  ///< 0: as the window, so that windows do not overlap
  extent2 padding = 0;
  bool count_include_pad = false;  ///< average pooling: padding counts as zeros
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

inline window_grid pool_grid(const char* function, const shape& x, const pool_options& o) {
  const extent2 stride(o.stride.h == 0 ? o.window.h : o.stride.h, o.stride.w == 0 ? o.window.w : o.stride.w);
  if (2 * o.padding.h > o.window.h || 2 * o.padding.w > o.window.w)
    cudarray::detail::fail<value_error>(function, ": padding (", o.padding.h, ", ", o.padding.w,
                                        ") is more than half the window (", o.window.h, ", ", o.window.w, ")");
  window_grid g = make_grid(function, x, o.window, stride, o.padding);
  if (g.h == 0 || g.w == 0)
    cudarray::detail::fail<shape_error>(function, ": images of ", x, " have no pixels, only padding");
  const int64 high = g.h + 2 * g.padding.h, wide = g.w + 2 * g.padding.w;
  if (high > INT32_MAX / wide)
    cudarray::detail::fail<value_error>(function, ": images of ", high, " x ", wide,
                                        " pixels with their padding: at most ", INT32_MAX, " can be pooled");
  if (g.stride.h > high) g.stride.h = high;  // there is one window
  if (g.stride.w > wide) g.stride.w = wide;
  return g;
}

inline void check_pool_gradient(const char* function, const shape& dy, const shape& x, const window_grid& g) {
  const shape expected = g.results(x);
  if (dy != expected)
    cudarray::detail::fail<shape_error>(function, ": the gradient has shape ", dy, ", the pooling's result ", expected);
}

/// What the entries are given: the result, and what it is computed from, C-contiguous.
template <class T, class D, class... A>
cudarray::detail::pooling describe(const window_grid& g, bool count_padding, const ndarray<T, D>& to,
                                   const A&... from) {
  return {to.shape(0) * to.shape(1),
          g.h,
          g.w,
          g.window.h,
          g.window.w,
          g.p,
          g.q,
          {g.stride.h, g.stride.w},
          {g.padding.h, g.padding.w},
          count_padding,
          {to.storage().get(), from.storage().get()...},
          {to.where().offset, from.where().offset...}};
}

template <class A>
ndarray<value_type_t<A>, device_type_t<A>> pooled_operand(const A& a) {
  using T = value_type_t<A>;
  static_assert(cudarray::detail::is_floating<T> || cudarray::detail::is_integer<T>,
                "cudarray: pooling takes floating-point or integer arrays");
  return ascontiguousarray(ndarray<T, device_type_t<A>>(a));
}

/// A new array of a shape that `run(array)` fills, unless it is empty.
template <class T, class D, class F>
ndarray<T, D> filled(const shape& s, D device, const F& run) {
  const ndarray<T, D> to = empty<T, D>(s, device);
  if (to.size() == 0) return to;
  run(to);
  cudarray::detail::count_write(*to.storage());
  return to;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The largest pixel of each window: (n, c, h, w) -> (n, c, p, q). NaN and infinities count as numbers do. Eager.
/// Throws shape_error, value_error.
///     ca::nnet::max_pool2d(x, {.window = 2})
template <array_expression X>
auto max_pool2d(const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  const auto x = detail::pooled_operand(images);
  const auto g = detail::pool_grid("nnet::max_pool2d", x.shape(), o);
  return detail::filled<T>(g.results(x.shape()), x.device(),
                           [&](const auto& y) { max_pool<T>(x.device(), detail::describe(g, false, y, x)); });
}

/// The gradient of max_pool2d: dy goes to the first largest pixel of its window; where windows overlap, gradients add
/// up. (n, c, p, q), (n, c, h, w) -> (n, c, h, w). Eager. Throws shape_error, value_error.
template <array_expression G, array_expression X>
auto max_pool2d_backward(const G& gradient, const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  const auto x = detail::pooled_operand(images);
  const auto dy = detail::pooled_operand(ndarray<T, device_type_t<X>>(gradient));
  const auto g = detail::pool_grid("nnet::max_pool2d_backward", x.shape(), o);
  detail::check_pool_gradient("nnet::max_pool2d_backward", dy.shape(), x.shape(), g);
  const auto device = cudarray::detail::common_device("nnet::max_pool2d_backward", x, dy);
  return detail::filled<T>(x.shape(), device, [&](const auto& dx) {
    max_pool_gradient<T>(x.device(), detail::describe(g, false, dx, dy, x));
  });
}

/// The mean of each window's pixels: (n, c, h, w) -> (n, c, p, q). Padding counts only with `count_include_pad`. Eager.
/// Throws shape_error, value_error.
template <array_expression X>
auto avg_pool2d(const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  const auto x = detail::pooled_operand(images);
  const auto g = detail::pool_grid("nnet::avg_pool2d", x.shape(), o);
  return detail::filled<T>(g.results(x.shape()), x.device(), [&](const auto& y) {
    average_pool<T>(x.device(), detail::describe(g, o.count_include_pad, y, x));
  });
}

/// The gradient of avg_pool2d for images of shape `image_shape`. Eager. Throws shape_error, value_error.
template <array_expression G>
auto avg_pool2d_backward(const G& gradient, const shape& image_shape, const pool_options& o = {}) {
  using T = value_type_t<G>;
  const auto g = detail::pool_grid("nnet::avg_pool2d_backward", image_shape, o);
  const auto dy = detail::pooled_operand(gradient);
  detail::check_pool_gradient("nnet::avg_pool2d_backward", dy.shape(), image_shape, g);
  return detail::filled<T>(image_shape, dy.device(), [&](const auto& dx) {
    average_pool_gradient<T>(dy.device(), detail::describe(g, o.count_include_pad, dx, dy));
  });
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
