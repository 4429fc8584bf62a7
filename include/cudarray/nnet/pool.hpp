// 2-d pooling and its gradients: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/reductions.hpp"
#include "windows.hpp"

namespace cudarray::inline v0::nnet {

struct pool_options {
  extent2 window = 2;
  extent2 stride = 0;  ///< 0: as the window, so that windows do not overlap
  extent2 padding = 0;
  bool count_include_pad = false;  ///< average pooling: padding counts as zeros
};

namespace detail {

CUDARRAY_PER_BUILD inline window_grid pool_grid(const char* function, const shape& x, const pool_options& o) {
  const extent2 stride(o.stride.h == 0 ? o.window.h : o.stride.h, o.stride.w == 0 ? o.window.w : o.stride.w);
  if (2 * o.padding.h > o.window.h || 2 * o.padding.w > o.window.w)
    throw value_error(cat(function, ": padding (", o.padding.h, ", ", o.padding.w, ") is more than half the window (",
                          o.window.h, ", ", o.window.w, ")"));
  return make_grid(function, x, o.window, stride, o.padding);
}

inline void check_pool_gradient(const char* function, const shape& dy, const shape& x, const window_grid& g) {
  const shape expected{x[0], x[1], g.p, g.q};
  if (dy != expected)
    throw shape_error(cat(function, ": the gradient has shape ", dy, ", the pooling's result ", expected));
}

/// The number of pixels an average divides by: (p, q), or one number as (1, 1).
template <class T, class D, class Build>
ndarray<T, D> divisors(const window_grid& g, bool count_include_pad, D device) {
  if (count_include_pad || (g.padding.h == 0 && g.padding.w == 0))
    return full<T, D, int64, Build>({1, 1}, g.window.h * g.window.w, device);
  const ndarray<T, D> one = ones<T, D, Build>({1, 1, g.h, g.w}, device);
  const ndarray<T, D> count = sum(windows(padded<Build>(one, g.padding, T(0)), g), {2, 3});
  return reshape(count, {g.p, g.q});
}

template <class Build, class T, class D>
ndarray<T, D> without_border(const ndarray<T, D>& wide, const window_grid& g) {
  return ascontiguousarray<T, D, Build>(
      wide(_, _, slice(g.padding.h, g.padding.h + g.h), slice(g.padding.w, g.padding.w + g.w)));
}

/// Calls `body(number of the place, pixels at this place of every window)`: one pass over the windows for each place is
/// what every device does well, strided reads and all.
template <class T, class D, class F>
void for_places(const ndarray<T, D>& images, const window_grid& g, const F& body) {
  for (int64 i = 0; i < g.window.h; ++i)
    for (int64 j = 0; j < g.window.w; ++j) body(i * g.window.w + j, window_place(images, g, i, j));
}

template <class Build, class T, class D>
ndarray<T, D> largest_pixels(const ndarray<T, D>& images, const window_grid& g) {
  ndarray<T, D> top;
  for_places(images, g, [&](int64 place, const ndarray<T, D>& pixels) {
    if (place == 0) top = pixels.template copy<Build>();
    else top(ellipsis) = maximum(top, pixels);
  });
  return top;
}

}  // namespace detail

/// The largest pixel of each window: (n, c, h, w) -> (n, c, p, q). NaN and infinities count as numbers do. Eager.
/// Throws shape_error, value_error.
///     ca::nnet::max_pool2d(x, {.window = 2})
template <array_expression X, class Build = this_build>
auto max_pool2d(const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> x(images);
  const auto g = detail::pool_grid("nnet::max_pool2d", x.shape(), o);
  return detail::largest_pixels<Build>(detail::padded<Build>(x, o.padding, cudarray::detail::bounds<T>::lowest), g);
}

/// The gradient of max_pool2d: dy goes to the first largest pixel of its window; where windows overlap, gradients add
/// up. (n, c, p, q), (n, c, h, w) -> (n, c, h, w). Eager. Throws shape_error.
template <array_expression G, array_expression X, class Build = this_build>
auto max_pool2d_backward(const G& gradient, const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> x(images), dy(gradient);
  const auto g = detail::pool_grid("nnet::max_pool2d_backward", x.shape(), o);
  detail::check_pool_gradient("nnet::max_pool2d_backward", dy.shape(), x.shape(), g);
  const ndarray<T, D> wide_x = detail::padded<Build>(x, o.padding, cudarray::detail::bounds<T>::lowest);
  const ndarray<T, D> top = detail::largest_pixels<Build>(wide_x, g),
                      wide = zeros<T, D, Build>(wide_x.shape(), x.device());
  const ndarray<bool, D> found = zeros<bool, D, Build>(top.shape(), x.device()),
                         real = detail::padded<Build>(
                             ndarray<bool, D>(ones<bool, D, Build>({1, 1, g.h, g.w}, x.device())), o.padding, false);
  detail::for_places(wide_x, g, [&](int64 place, const ndarray<T, D>& pixels) {
    const auto inside = detail::window_place(real, g, place / g.window.w, place % g.window.w);
    const ndarray<bool, D> hit = ((pixels == top) | isnan(pixels)) & inside & !found;
    detail::window_place(wide, g, place / g.window.w, place % g.window.w) += where(hit, dy, 0);
    found(ellipsis) = found | hit;
  });
  return detail::without_border<Build>(wide, g);
}

/// The mean of each window's pixels: (n, c, h, w) -> (n, c, p, q). Padding counts only with `count_include_pad`. Eager.
/// Throws shape_error, value_error.
template <array_expression X, class Build = this_build>
auto avg_pool2d(const X& images, const pool_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> x(images);
  const auto g = detail::pool_grid("nnet::avg_pool2d", x.shape(), o);
  const auto total = sum(detail::windows(detail::padded<Build>(x, o.padding, T(0)), g), {2, 3});
  return ndarray<T, D>(total / detail::divisors<T, D, Build>(g, o.count_include_pad, x.device()));
}

/// The gradient of avg_pool2d for images of shape `image_shape`. Eager. Throws shape_error.
template <array_expression G, class Build = this_build>
auto avg_pool2d_backward(const G& gradient, const shape& image_shape, const pool_options& o = {}) {
  using T = value_type_t<G>;
  using D = device_type_t<G>;
  const auto g = detail::pool_grid("nnet::avg_pool2d_backward", image_shape, o);
  const ndarray<T, D> given(gradient);
  detail::check_pool_gradient("nnet::avg_pool2d_backward", given.shape(), image_shape, g);
  const ndarray<T, D> dy = given / detail::divisors<T, D, Build>(g, o.count_include_pad, given.device());
  const ndarray<T, D> wide =
      zeros<T, D, Build>({image_shape[0], image_shape[1], g.h + 2 * o.padding.h, g.w + 2 * o.padding.w}, dy.device());
  detail::for_places(wide, g, [&](int64, ndarray<T, D> pixels) { pixels += dy; });
  return detail::without_border<Build>(wide, g);
}

}  // namespace cudarray::inline v0::nnet
