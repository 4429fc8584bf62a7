// Pooling along one to three axes, and its gradients: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/pooling.hpp"
#include "../ops/transfer.hpp"
#include "channels_last.hpp"
#include "windows.hpp"

namespace cudarray::inline v0::nnet {

struct pool_options {
  extents window = 2;
  extents stride = 0;  ///< 0: as the window, so that windows do not overlap
  extents padding = 0;
  bool count_include_pad = false;  ///< average pooling: padding counts as zeros
  bool ceil_mode = false;          ///< the last windows of an axis may reach beyond the padding
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

inline window_grid pool_grid(const char* function, int axes, const shape& x, const pool_options& o) {
  check_images(function, x, axes);
  check_numbers(function, "window", o.window, axes, 1);
  check_numbers(function, "stride", o.stride, axes, INT64_MIN);
  check_numbers(function, "padding", o.padding, axes, 0);
  extents stride = o.stride;
  if (o.stride.count() == 1 && o.stride[0] == 0) {
    stride = o.window;
  } else {
    shape each = shape_of(o.stride, axes);
    for (int a = 0; a < axes; ++a)
      if (each[a] == 0) each[a] = o.window[a];
    stride = extents_of(each);
  }
  for (int a = 0; a < axes; ++a)
    if (2 * o.padding[a] > o.window[a])
      cudarray::detail::fail<value_error>(function, ": padding ", shape_of(o.padding, axes),
                                          " is more than half the window ", shape_of(o.window, axes));
  window_grid g = make_grid(function, axes, x, {o.window, stride, o.padding, 1, o.ceil_mode});
  for (int a = 0; a < axes; ++a) {
    if (g.in[a] == 0) cudarray::detail::fail<shape_error>(function, ": images of ", x, " have no pixels, only padding");
    const int64 span = g.in[a] + 2 * g.padding[a];
    if (g.window[a] > span) g.window[a] = span;
  }
  return g;
}

/// Pooling of planes of two axes: of x to y, both in C order or with the channels innermost.
template <bool Average>
struct pooling_way {
  const char* function;
  window_grid grid;
  int64 planes;
  shape x, y;
  bool count_padding = false, channels_last = false;

  int64 channels() const { return channels_last ? x[1] : 1; }  ///< side by side
};
/// Whether planes with their padding have so few elements that 32 bits count them, of so many channels side by side.
inline bool are_counted(const window_grid& g, int64 channels, int64 (&reach)[2]) {
  for (int a = 0; a < 2; ++a) {
    const int64 own = g.in[a] + 2 * g.padding[a], windows = (g.out[a] - 1) * g.stride[a] + g.window[a];
    reach[a] = own > windows ? own : windows;
  }
  return reach[0] <= INT32_MAX / (channels > 1 ? channels : 1) / reach[1];
}
/// The order is kept where planes are small enough for it; in C order they must be.
inline bool pools_channels_last(const char* function, const window_grid& g, int64 channels, bool asked) {
  int64 reach[2];
  if (asked && are_counted(g, channels, reach)) return true;
  if (!are_counted(g, 1, reach))
    cudarray::detail::fail<value_error>(function, ": images of ", reach[0], " x ", reach[1],
                                        " pixels with their padding: at most ", INT32_MAX, " can be pooled");
  return false;
}
/// Of the last one or two axes.
template <bool Average>
pooling_way<Average> way_of_last(const char* function, const window_grid& g, const shape& x, const pool_options& o,
                                 bool channels_last) {
  const int axes = g.axes < 2 ? 1 : 2, first = g.axes - axes;
  pooling_way<Average> v{function, {2, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, 1, x, x, o.count_include_pad};
  for (int a = 0; a < axes; ++a) {
    const int to = 2 - axes + a, from = first + a;
    v.grid.in[to] = g.in[from];
    v.grid.window[to] = g.window[from];
    v.grid.out[to] = g.out[from];
    v.grid.stride[to] = g.stride[from];
    v.grid.padding[to] = g.padding[from];
    v.y[x.ndim() - axes + a] = g.out[from];
  }
  v.channels_last = pools_channels_last(function, v.grid, x[1], channels_last);
  for (int d = 0; d < x.ndim() - axes; ++d)
    if (d != 1 || !v.channels_last) v.planes *= x[d];
  return v;
}
/// Of axis 2 of volumes (n, c, d, p, q), whose other axes are one.
template <bool Average>
pooling_way<Average> way_of_depth(const char* function, const window_grid& g, const shape& x, const pool_options& o,
                                  bool channels_last) {
  const int64 behind = x[3] * x[4];
  pooling_way<Average> v{function, {}, x[0], x, x, o.count_include_pad};
  v.grid = {2, {g.in[0], behind}, {g.window[0], 1}, {g.out[0], behind}, {g.stride[0], 1}, {g.padding[0], 0}, {1, 1}};
  v.y[2] = g.out[0];
  v.channels_last = pools_channels_last(function, v.grid, x[1], channels_last);
  if (!v.channels_last) v.planes *= x[1];
  return v;
}

/// What the entries are given: the result, and what it is computed from, in the way's order.
template <bool Average, class T, class D, class... A>
cudarray::detail::pooling describe(const pooling_way<Average>& v, const ndarray<T, D>& to, const A&... from) {
  const window_grid& g = v.grid;
  return {v.planes,
          v.channels(),
          g.in[0],
          g.in[1],
          g.window[0],
          g.window[1],
          g.out[0],
          g.out[1],
          {g.stride[0], g.stride[1]},
          {g.padding[0], g.padding[1]},
          v.count_padding,
          {to.storage().get(), from.storage().get()...},
          {to.where().offset, from.where().offset...}};
}

/// A new array of a shape, in the way's order, that `run(array)` fills, unless it is empty.
template <class T, bool Average, class D, class F>
ndarray<T, D> filled(const pooling_way<Average>& v, const shape& s, D device, const F& run) {
  const ndarray<T, D> to = empty_in_order<T, D>(v.channels_last, s, device);
  if (to.size() == 0) return to;
  run(to);
  cudarray::detail::count_write(*to.storage());
  return to;
}

// Of arrays of one dtype. Those of dual numbers are in autograd/dual_products.hpp, and found by the way's namespace.

template <bool Average, real_elements T, class D>
ndarray<T, D> pooled(const pooling_way<Average>& v, const ndarray<T, D>& images) {
  static_assert(cudarray::detail::is_floating<T> || cudarray::detail::is_integer<T>,
                "cudarray: pooling takes floating-point or integer arrays");
  const ndarray<T, D> x = in_order(v.channels_last, images);
  return filled<T>(v, v.y, x.device(), [&](const auto& y) {
    if constexpr (Average) average_pool<T>(x.device(), describe(v, y, x));
    else max_pool<T>(x.device(), describe(v, y, x));
  });
}
template <real_elements T, class D>
ndarray<T, D> pooled_back(const pooling_way<true>& v, const ndarray<T, D>& gradient) {
  const ndarray<T, D> dy = in_order(v.channels_last, gradient);
  return filled<T>(v, v.x, dy.device(),
                   [&](const auto& dx) { average_pool_gradient<T>(dy.device(), describe(v, dx, dy)); });
}
template <real_elements T, class D>
ndarray<T, D> pooled_back(const pooling_way<false>& v, const ndarray<T, D>& gradient, const ndarray<T, D>& images) {
  const ndarray<T, D> dy = in_order(v.channels_last, gradient), x = in_order(v.channels_last, images);
  return filled<T>(v, v.x, cudarray::detail::common_device(v.function, x, dy),
                   [&](const auto& dx) { max_pool_gradient<T>(x.device(), describe(v, dx, dy, x)); });
}

/// Of arrays; that of variables is in autograd/pool.hpp.
template <bool Average, class X>
requires(!has_gradient<X>) auto apply_pooling(const pooling_way<Average>& v, const X& x) {
  return pooled(v, ndarray<value_type_t<X>, device_type_t<X>>(x));
}
template <bool Average, class X>
auto pool_images(const char* function, int axes, const X& x, const pool_options& o) {
  const window_grid g = pool_grid(function, axes, cudarray::detail::dims_of(x), o);
  const bool last = keeps_channels_last(x);
  auto y = apply_pooling(way_of_last<Average>(function, g, cudarray::detail::dims_of(x), o, last), x);
  const bool deep = axes == 3 && (g.window[0] > 1 || g.stride[0] > 1 || g.padding[0] > 0);
  if (deep) y = apply_pooling(way_of_depth<Average>(function, g, y.shape(), o, last), y);
  return y;
}
/// The mean over three axes is made of two means, in the type that they are computed in.
template <class X>
auto average_volumes(const char* function, const X& x, const pool_options& o) {
  using T = value_type_t<X>;
  constexpr bool floating = takes_floating<X>();
  if constexpr (!floating) return cudarray::detail::poison{};
  else if constexpr (::std::is_same_v<compute_t<T>, T>) return pool_images<true>(function, 3, x, o);
  else return eval(astype<T>(pool_images<true>(function, 3, astype<compute_t<T>>(x), o)));
}

template <bool Average>
pooling_way<Average> gradient_way(const char* function, const shape& dy, const shape& x, const pool_options& o,
                                  bool channels_last) {
  const auto v = way_of_last<Average>(function, pool_grid(function, 2, x, o), x, o, channels_last);
  if (dy != v.y)
    cudarray::detail::fail<shape_error>(function, ": the gradient has shape ", dy, ", the pooling's result ", v.y);
  return v;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Windows go over the images of each channel: (n, c, ..) -> (n, c, ..). Along each axis there are
// (in + 2 padding - window) / stride + 1 of them, rounded down, or up with `ceil_mode`. Eager. Throw shape_error,
// value_error.

/// The largest pixel of each window. NaN and infinities count as numbers do; the gradient goes to the first largest
/// pixel of a window. (n, c, w) -> (n, c, q).
template <array_expression X>
auto max_pool1d(const X& x, const pool_options& o = {}) {
  return detail::pool_images<false>("nnet::max_pool1d", 1, x, o);
}
/// (n, c, h, w) -> (n, c, p, q).
///     ca::nnet::max_pool2d(x, {.window = 3, .stride = 2, .padding = 1})
template <array_expression X>
auto max_pool2d(const X& x, const pool_options& o = {}) {
  return detail::pool_images<false>("nnet::max_pool2d", 2, x, o);
}
/// (n, c, d, h, w) -> (n, c, o, p, q).
template <array_expression X>
auto max_pool3d(const X& x, const pool_options& o = {}) {
  return detail::pool_images<false>("nnet::max_pool3d", 3, x, o);
}

/// The mean of each window's pixels. Padding counts only with `count_include_pad`. (n, c, w) -> (n, c, q).
template <array_expression X>
auto avg_pool1d(const X& x, const pool_options& o = {}) {
  return detail::pool_images<true>("nnet::avg_pool1d", 1, x, o);
}
/// (n, c, h, w) -> (n, c, p, q).
template <array_expression X>
auto avg_pool2d(const X& x, const pool_options& o = {}) {
  return detail::pool_images<true>("nnet::avg_pool2d", 2, x, o);
}
/// (n, c, d, h, w) -> (n, c, o, p, q).
template <array_expression X>
auto avg_pool3d(const X& x, const pool_options& o = {}) {
  return detail::average_volumes("nnet::avg_pool3d", x, o);
}

/// The gradient of max_pool2d: dy goes to the first largest pixel of its window; where windows overlap, gradients add
/// up. (n, c, p, q), (n, c, h, w) -> (n, c, h, w). Eager. Throws shape_error, value_error.
template <array_expression G, array_expression X>
auto max_pool2d_backward(const G& gradient, const X& images, const pool_options& o = {}) {
  const ndarray<value_type_t<X>, device_type_t<X>> x(images), dy(gradient);
  return pooled_back(detail::gradient_way<false>("nnet::max_pool2d_backward", dy.shape(), x.shape(), o,
                                                 detail::keeps_channels_last(x)),
                     dy, x);
}
/// The gradient of avg_pool2d for images of shape `image_shape`. Eager. Throws shape_error, value_error.
template <array_expression G>
auto avg_pool2d_backward(const G& gradient, const shape& image_shape, const pool_options& o = {}) {
  const ndarray<value_type_t<G>, device_type_t<G>> dy(gradient);
  return pooled_back(detail::gradient_way<true>("nnet::avg_pool2d_backward", dy.shape(), image_shape, o,
                                                detail::keeps_channels_last(dy)),
                     dy);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
