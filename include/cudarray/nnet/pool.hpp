// Pooling along one to three axes, and its gradients: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/pooling.hpp"
#include "../ops/indexing.hpp"
#include "../ops/linalg.hpp"
#include "../ops/reductions.hpp"
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
/// The largest pixels, and where they were: in the images of a channel, counted in C order.
template <class Values, class Device>
struct pooled_with_indices {
  Values values;
  ndarray<int64, Device> indices;
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

/// Where the first largest pixel of each window is, counted in the images of a channel.
template <class T, class D>
ndarray<int64, D> largest_places(const ndarray<T, D>& x, const window_grid& g) {
  using places = ndarray<int64, D>;
  places taps(argmax(windows_in_rows(x, g, cudarray::detail::bounds<T>::lowest), 2)),
      flat = zeros<int64, D>(shape{}, x.device());
  int64 below = g.taps();
  for (int a = 0; a < g.axes; ++a) {
    below /= g.window[a];
    shape along{g.out[a]};
    for (int b = a + 1; b < g.axes; ++b) along.push_back(1);
    const places window = reshape(arange<int64>(0, g.out[a], 1, x.device()), along) * g.stride[a] - g.padding[a];
    // padding is found only where all is lowest, and then before the pixels
    flat = flat * g.in[a] + clip(window + floor_divide(taps, below) % g.window[a], 0, g.in[a] - 1);
  }
  return flat;
}
template <class X>
auto pool_with_indices(const char* function, int axes, const X& x, const pool_options& o) {
  using D = device_type_t<X>;
  const auto a = eval(x);
  const shape dims = a.shape();
  const window_grid g = pool_grid(function, axes, dims, o);
  const ndarray<int64, D> places = largest_places(without_gradient(a), g);
  const shape planes{dims[0], dims[1], g.product(g.in)};
  const auto picked = eval(take_along_axis(reshape(a, planes), reshape(places, {dims[0], dims[1], g.places()}), 2));
  const auto values = in_order_of(a, eval(reshape(picked, places.shape())));
  return pooled_with_indices<::std::remove_cvref_t<decltype(values)>, D>{values, places};
}

/// Pixels go to places among all pixels of the results.
struct unpooling_way {
  shape y;
};
template <class T, class D>
ndarray<T, D> unpooled(const unpooling_way& v, const ndarray<T, D>& x, const ndarray<int64, D>& places) {
  const ndarray<T, D> y = zeros<T, D>(v.y, x.device());
  reshape(y, {y.size()})(places) = reshape(x, {x.size()});
  return y;
}
template <class X, class D>
requires(!has_gradient<X>) auto apply_unpooling(const unpooling_way& v, const X& x, const ndarray<int64, D>& places) {
  return unpooled(v, ndarray<value_type_t<X>, D>(x), places);
}

/// The windows of adaptive pooling along an axis of n pixels, of which there are m (He et al. 2014): (m,), and (m,
/// longest) their pixels, those of shorter windows filled up with their last one.
template <class D>
struct adaptive_windows {
  ndarray<int64, D> begin, end, pixels;
  adaptive_windows(int64 n, int64 m, D device)
      : begin(floor_divide(arange<int64>(0, m, 1, device) * n, m)),
        end(floor_divide(arange<int64>(1, m + 1, 1, device) * n + (m - 1), m)) {
    int64 longest = 0;
    for (int64 i = 0; i < m; ++i) {
      const int64 length = ((i + 1) * n + m - 1) / m - i * n / m;
      if (length > longest) longest = length;
    }
    pixels = minimum(expand_dims(begin, 1) + arange<int64>(0, longest, 1, device), expand_dims(end, 1) - 1);
  }
};
inline shape adaptive_size(const char* function, int axes, const shape& x, const extents& size) {
  check_images(function, x, axes);
  check_numbers(function, "size", size, axes, 1);
  for (int a = 0; a < axes; ++a)
    if (x[2 + a] == 0) cudarray::detail::fail<shape_error>(function, ": images of ", x, " have no pixels");
  return shape_of(size, axes);
}
/// The windows of all axes, where they are all of one size and side by side: those of pooling.
inline bool are_even(const shape& x, const shape& to, pool_options& o) {
  shape window;
  bool even = true;
  for (int a = 0; a < to.ndim(); ++a) {
    even = even && x[2 + a] % to[a] == 0;
    window.push_back(x[2 + a] / to[a]);
  }
  o.window = extents_of(window);
  return even;
}
/// As numbers of one axis meet those before `behind` others.
template <class X>
auto ahead_of(const X& x, int behind) {
  shape s = cudarray::detail::dims_of(x);
  for (int b = 0; b < behind; ++b) s.push_back(1);
  return reshape(x, s);
}
template <class X>
auto adaptive_average(const char* function, int axes, const X& x, const extents& size) {
  if constexpr (!takes_floating<X>()) {
    return cudarray::detail::poison{};
  } else {
    using C = compute_t<value_type_t<X>>;
    using P = cudarray::detail::primal_t<C>;
    const shape dims = cudarray::detail::dims_of(x), to = adaptive_size(function, axes, dims, size);
    pool_options o;
    if (are_even(dims, to, o)) return eval(narrowed<X>(pool_images<true>(function, axes, wide<C>(x), o)));
    auto a = eval(wide<C>(x));
    for (int d = 0; d < axes; ++d) {
      const int64 n = dims[2 + d], m = to[d];
      const int behind = axes - 1 - d;
      if (n == m) continue;
      const adaptive_windows<device_type_t<X>> w(n, m, a.device());
      const auto length = ahead_of(expand_dims(w.end - w.begin, 1), behind);
      const auto inside = ahead_of(arange<int64>(0, w.pixels.shape(1), 1, a.device()), behind) < length;
      a = sum(where(inside, take(a, w.pixels, 2 + d), 0), 3 + d) / astype<P>(squeeze(length, 1));
    }
    return in_order_of(x, eval(narrowed<X>(a)));
  }
}
/// Axis by axis, the last one first: so the first largest pixel in C order is found.
template <class X>
auto adaptive_maximum(const char* function, int axes, const X& x, const extents& size) {
  using D = device_type_t<X>;
  const shape dims = cudarray::detail::dims_of(x), to = adaptive_size(function, axes, dims, size);
  pool_options o;
  if (are_even(dims, to, o)) return pool_images<false>(function, axes, x, o);
  auto a = eval(x);
  for (int d = axes - 1; d >= 0; --d) {
    const int64 n = dims[2 + d], m = to[d];
    if (n == m) continue;
    const int behind = axes - 1 - d;
    const adaptive_windows<D> w(n, m, a.device());
    const ndarray<int64, D> found =
        ahead_of(w.begin, behind) + argmax(take(without_gradient(a), w.pixels, 2 + d), 3 + d);
    a = take_along_axis(a, minimum(found, ahead_of(w.end, behind) - 1), 2 + d);
  }
  return in_order_of(x, a);
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

/// max_pool and where in its channel's images each pixel was, in C order: `values` and `indices`, for max_unpool.
template <array_expression X>
auto max_pool1d_with_indices(const X& x, const pool_options& o = {}) {
  return detail::pool_with_indices("nnet::max_pool1d_with_indices", 1, x, o);
}
///     const auto [y, places] = ca::nnet::max_pool2d_with_indices(x, {.window = 2});
template <array_expression X>
auto max_pool2d_with_indices(const X& x, const pool_options& o = {}) {
  return detail::pool_with_indices("nnet::max_pool2d_with_indices", 2, x, o);
}
template <array_expression X>
auto max_pool3d_with_indices(const X& x, const pool_options& o = {}) {
  return detail::pool_with_indices("nnet::max_pool3d_with_indices", 3, x, o);
}
/// Images of the size given that are 0 but for the pixels of x, which go back to where `indices` say: (n, c, ..),
/// (n, c, ..) -> (n, c, size). Of pixels with one place any is kept. Eager. Throws shape_error, and index_error: on
/// CUDA at the next call that waits for the device.
///     ca::nnet::max_unpool(y, places, {28, 28})
template <array_expression X, array_expression Ix>
auto max_unpool(const X& x, const Ix& indices, const shape& size) {
  constexpr const char* function = "nnet::max_unpool";
  using D = device_type_t<X>;
  const shape &dims = cudarray::detail::dims_of(x), &of = cudarray::detail::dims_of(indices);
  if (dims.ndim() < 3 || dims.ndim() > 5 || of != dims || size.ndim() != dims.ndim() - 2)
    cudarray::detail::fail<shape_error>(function, ": pixels of shape ", dims, ", indices of shape ", of, ", a size of ",
                                        size);
  detail::check_numbers(function, "size", detail::extents_of(size), size.ndim(), 0);
  detail::unpooling_way v{{dims[0], dims[1]}};
  for (const int64 n : size) v.y.push_back(n);
  const int64 planes = dims[0] * dims[1], taken = dims.elements() / (planes > 0 ? planes : 1), pixels = size.elements();
  const ndarray<int64, D> places(cudarray::detail::index_node(function, indices));
  // the places of a channel, checked
  const auto all = arange<int64>(0, pixels, 1, places.device());
  const ndarray<int64, D> in_plane(
      cudarray::detail::make_gather_along(function, all.node(), reshape(places, {planes * taken}).node(), 0));
  const auto plane = reshape(arange<int64>(0, planes, 1, places.device()), {planes, 1}) * pixels;
  return apply_unpooling(v, x,
                         reshape(ndarray<int64, D>(reshape(in_plane, {planes, taken}) + plane), {planes * taken}));
}

/// The mean of windows that lie so that there are `size` of them: window i is from in i / size, rounded down, to
/// in (i + 1) / size, rounded up. A size of 1: global pooling. (n, c, w) -> (n, c, size).
template <array_expression X>
auto adaptive_avg_pool1d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool1d", 1, x, size);
}
/// (n, c, h, w) -> (n, c, size).
///     ca::nnet::adaptive_avg_pool2d(x, {7, 7})
template <array_expression X>
auto adaptive_avg_pool2d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool2d", 2, x, size);
}
template <array_expression X>
auto adaptive_avg_pool3d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool3d", 3, x, size);
}
/// The largest pixels of such windows.
template <array_expression X>
auto adaptive_max_pool1d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool1d", 1, x, size);
}
template <array_expression X>
auto adaptive_max_pool2d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool2d", 2, x, size);
}
template <array_expression X>
auto adaptive_max_pool3d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool3d", 3, x, size);
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
