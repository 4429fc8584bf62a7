// Convolution (cross-correlation) along one to three axes, transposed convolution, and their gradients: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/pad.hpp"
#include "batch_norm.hpp"
#include "channels_last.hpp"
#include "linear.hpp"
#include "windows.hpp"

namespace cudarray::inline v0::nnet {

/// As much padding as gives one result for each pixel, or for each `stride` of them; where that is an odd number, the
/// end has the more.
struct same_padding {};
inline constexpr same_padding same{};

class conv_padding : public extents {
  bool same_ = false;

 public:
  using extents::extents;
  constexpr conv_padding(const extents& e) : extents(e) {}
  constexpr conv_padding(same_padding) : same_(true) {}
  constexpr bool is_same() const { return same_; }
};

struct conv_options {
  extents stride = 1;
  conv_padding padding = 0;  ///< zeros at both ends of each axis, or `same`
  extents dilation = 1;      ///< from a pixel of a window to the next
  cudarray::detail::any_integer groups =
      1;  ///< each filter sees the channels of its group; as many as channels: depthwise
  nnet::activation activation = activation::none;
};
struct conv_transpose_options {
  extents stride = 1, padding = 0;
  extents output_padding = 0;  ///< how much longer the result is at the end of each axis
  extents dilation = 1;
  cudarray::detail::any_integer groups = 1;
  nnet::activation activation = activation::none;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using convolution = cudarray::detail::convolution;

/// A convolution of images (n, c, in) with filters (k, c / groups, window) to results (n, k, out), for a function.
struct convolution_way {
  const char* function;
  window_grid grid;
  int64 n, c, k, groups;
  bool channels_last = false;  ///< in memory, of results and of the images' gradient
  bool filters_last = false;   ///< of the filters' gradient

  shape images() const { return with_axes(n, c, grid.in, grid.axes); }
  shape filters() const { return with_axes(k, c / groups, grid.window, grid.axes); }
  shape results() const { return with_axes(n, k, grid.out, grid.axes); }
  int64 depth() const { return c / groups * grid.taps(); }
};

/// Matrices of windows are made for as many images at a time as this many bytes hold.
inline constexpr int64 window_bytes = int64(8) << 20;

template <class T>
int64 images_at_once(int64 per_image) {
  const int64 n = window_bytes / (per_image * int64(sizeof(T)) + 1);
  return n > 1 ? n : 1;
}

/// Has the device's own convolution write one of three arrays in the way's order; false where it has none.
template <class T, class D>
bool natively(const convolution_way& v, convolution::what part, const ndarray<T, D>& x, const ndarray<T, D>& w,
              const ndarray<T, D>& y) {
  if (x.size() == 0 || w.size() == 0 || y.size() == 0) return false;
  window_grid g = v.grid;
  for (int a = 0; a < g.axes; ++a)  // transposed ones may leave out the last windows
    if ((g.in[a] + 2 * g.padding[a] - g.dilation[a] * (g.window[a] - 1) - 1) / g.stride[a] + 1 != g.out[a])
      return false;
  if (g.axes == 1) {  // rows of one pixel
    g = {2, {1, g.in[0]}, {1, g.window[0]}, {1, g.out[0]}, {1, g.stride[0]}, {0, g.padding[0]}, {1, g.dilation[0]}};
  }
  const convolution c{g,
                      part,
                      v.n,
                      v.c,
                      v.k,
                      v.groups,
                      x.storage().get(),
                      w.storage().get(),
                      y.storage().get(),
                      x.where().offset,
                      w.where().offset,
                      y.where().offset,
                      v.channels_last};
  if (!convolve_natively<T>(x.device(), c)) return false;
  const auto& written = part == convolution::what::forward ? y : part == convolution::what::backward_data ? x : w;
  cudarray::detail::count_write(*written.storage());
  return true;
}

/// Calls `body(windows as (m, groups, depth, places), first image, m)` for the images, some at a time.
template <class T, class D, class F>
void for_windows(const convolution_way& v, const ndarray<T, D>& x, const F& body) {
  const ndarray<T, D> images = padded(x, v.grid, T(0));
  const int64 places = v.grid.places(), step = images_at_once<T>(v.groups * v.depth() * places);
  for (int64 i = 0; i < v.n; i += step) {
    const ndarray<T, D> some = windows(images(slice(i, i + step)), v.grid).copy();
    body(reshape(some, {some.shape(0), v.groups, v.depth(), places}), i, some.shape(0));
  }
}
template <class T, class D>
ndarray<T, D> filter_matrices(const convolution_way& v, const ndarray<T, D>& w) {
  return reshape(w, {v.groups, v.k / v.groups, v.depth()});
}
template <class T, class D>
ndarray<T, D> result_matrices(const convolution_way& v, const ndarray<T, D>& y) {
  return reshape(y, {v.n, v.groups, v.k / v.groups, v.grid.places()});
}

/// The same convolution in C order.
inline convolution_way in_c_order(convolution_way v) {
  v.channels_last = false;
  return v;
}

// Of arrays of one dtype. Those of dual numbers are in autograd/dual_products.hpp, and found by the way's namespace.

/// The results.
template <real_elements T, class D>
ndarray<T, D> correlate(const convolution_way& v, const ndarray<T, D>& images, const ndarray<T, D>& filters) {
  const ndarray<T, D> x = in_order(v.channels_last, images), w = in_order(v.channels_last, filters);
  const ndarray<T, D> y =
      empty_in_order<T, D>(v.channels_last, v.results(), cudarray::detail::common_device(v.function, x, w));
  if (y.size() == 0 || natively(v, convolution::what::forward, x, w, y)) return y;
  if (v.channels_last) return channels_last(correlate(in_c_order(v), images, filters));
  const ndarray<T, D> flat = filter_matrices(v, w), rows = result_matrices(v, y);
  for_windows(
      v, x, [&](const auto& columns, int64 first, int64 m) { rows(slice(first, first + m)) = matmul(flat, columns); });
  return y;
}
/// The gradient of the images, of which `dy` is that of the results.
template <real_elements T, class D>
ndarray<T, D> correlate_back(const convolution_way& v, const ndarray<T, D>& gradient, const ndarray<T, D>& filters) {
  const ndarray<T, D> dy = in_order(v.channels_last, gradient), w = in_order(v.channels_last, filters);
  const ndarray<T, D> dx =
      empty_in_order<T, D>(v.channels_last, v.images(), cudarray::detail::common_device(v.function, dy, w));
  if (dx.size() == 0 || natively(v, convolution::what::backward_data, dx, w, dy)) return dx;
  if (v.channels_last) return channels_last(correlate_back(in_c_order(v), gradient, filters));
  const window_grid& g = v.grid;
  const ndarray<T, D> flat = swapaxes(filter_matrices(v, w), 1, 2), rows = result_matrices(v, dy);
  const ndarray<T, D> wide = zeros<T, D>(padded_shape(v.images(), g), dy.device());
  const int64 step = images_at_once<T>(v.groups * v.depth() * g.places());
  for (int64 first = 0; first < v.n; first += step) {
    const ndarray<T, D> images = wide(slice(first, first + step));
    shape by_place{images.shape(0), v.c, g.taps()};
    for (int a = 0; a < g.axes; ++a) by_place.push_back(g.out[a]);
    add_windows(images, g, reshape(matmul(flat, rows(slice(first, first + step))), by_place));
  }
  dx(ellipsis) = without_border(wide, g);
  return dx;
}
/// The gradient of the filters, in their order.
template <real_elements T, class D>
ndarray<T, D> correlate_weights(const convolution_way& v, const ndarray<T, D>& images, const ndarray<T, D>& gradient) {
  const ndarray<T, D> x = in_order(v.channels_last, images), dy = in_order(v.channels_last, gradient);
  ndarray<T, D> dw =
      empty_in_order<T, D>(v.channels_last, v.filters(), cudarray::detail::common_device(v.function, x, dy));
  if (dw.size() == 0 || natively(v, convolution::what::backward_weights, x, dw, dy))
    return in_order(v.filters_last, dw);
  if (v.channels_last) return correlate_weights(in_c_order(v), images, gradient);
  dw.fill(T(0));
  const ndarray<T, D> flat = filter_matrices(v, dw), rows = result_matrices(v, dy);
  for_windows(v, x, [&](const auto& columns, int64 first, int64 m) {
    flat(ellipsis) += sum(matmul(rows(slice(first, first + m)), swapaxes(columns, 2, 3)), 0);
  });
  return in_order(v.filters_last, dw);
}

/// What a layer computes: a convolution, or a transposed one, which is the gradient of one. Of arrays; that of
/// variables is in autograd/conv.hpp.
template <class X, class W>
requires(!has_gradient<X> && !has_gradient<W>) auto apply_convolution(const convolution_way& v, bool transposed,
                                                                      const X& x, const W& w) {
  const ndarray<value_type_t<X>, device_type_t<X>> a(x);
  const auto b = cudarray::detail::as_array(beside<value_type_t<X>>(w));
  return transposed ? correlate_back(v, a, b) : correlate(v, a, b);
}

/// The result with a bias and an activation: one pass.
template <class Y, class B>
auto with_bias(const convolution_way& v, const Y& y, const B& bias, activation act, int64 channels) {
  if constexpr (::std::is_same_v<B, absent>) {
    return act == activation::relu ? eval(relu(y)) : y;
  } else {
    const shape& given = cudarray::detail::dims_of(bias);
    if (given != shape{channels})
      cudarray::detail::fail<shape_error>(v.function, ": a bias of shape ", given, ": ", shape{channels}, " is wanted");
    shape along{channels};
    for (int a = 0; a < v.grid.axes; ++a) along.push_back(1);
    const auto b = reshape(beside<value_type_t<Y>>(bias), along);
    return act == activation::relu ? eval(relu(y + b)) : eval(y + b);
  }
}

inline int64 checked_groups(const char* function, int64 groups, int64 channels, int64 filters) {
  if (groups < 1 || channels % groups != 0 || filters % groups != 0)
    cudarray::detail::fail<value_error>(function, ": ", groups, " groups of ", channels, " channels and ", filters,
                                        " filters");
  return groups;
}
inline void fail_filters(const char* function, int axes, const shape& w, const shape& x, const char* wanted) {
  cudarray::detail::fail<shape_error>(function, ": filters of shape ", w, " for images of shape ", x, "; ", wanted,
                                      " and ", name_of_images(axes), " are wanted");
}
/// The window of filters (k, c, ..).
inline extents window_of(const shape& w) {
  return w.ndim() == 3 ? extents(w[2]) : w.ndim() == 4 ? extents(w[2], w[3]) : extents(w[2], w[3], w[4]);
}

/// The padding of each axis, and how much more there is to be at its end.
struct same_border {
  extents padding;
  pad_width uneven[5];  ///< of all axes of the images
  bool is_uneven = false;
};
inline same_border border_of(const char* function, int axes, const shape& x, const extents& window,
                             const conv_options& o) {
  same_border b{};
  check_numbers(function, "stride", o.stride, axes, 1);
  check_numbers(function, "dilation", o.dilation, axes, 1);
  shape each;
  for (int a = 0; a < axes; ++a) {
    const int64 n = x[2 + a], taps = window[a] > 1 ? window[a] - 1 : 0;
    if (taps > 0 && o.dilation[a] > (int64(1) << 40) / taps)
      cudarray::detail::fail<value_error>(function, ": dilation ", shape_of(o.dilation, axes), " is too large");
    const int64 missing = (n - 1) / o.stride[a] * o.stride[a] + o.dilation[a] * taps + 1 - n;
    each.push_back(missing > 0 ? missing / 2 : 0);
    if (missing <= 0 || missing % 2 == 0) continue;
    b.uneven[2 + a].after = 1;
    b.is_uneven = true;
  }
  b.padding = extents_of(each);
  return b;
}

inline convolution_way way_of(const char* function, int axes, const shape& x, const shape& w, const extents& padding,
                              const conv_options& o) {
  constexpr const char* filters[] = {"", "(k, c, s)", "(k, c, r, s)", "(k, c, t, r, s)"};
  constexpr const char* grouped[] = {"", "(k, c / groups, s)", "(k, c / groups, r, s)", "(k, c / groups, t, r, s)"};
  const char* const wanted = int64(o.groups) == 1 ? filters[axes] : grouped[axes];
  if (w.ndim() != axes + 2) fail_filters(function, axes, w, x, wanted);
  check_images(function, x, axes);
  const int64 groups = checked_groups(function, o.groups, x[1], w[0]);
  if (w[1] != x[1] / groups) fail_filters(function, axes, w, x, wanted);
  return {function, make_grid(function, axes, x, {window_of(w), o.stride, padding, o.dilation}), x[0], x[1], w[0],
          groups};
}

template <class X, class W, class B>
auto convolve_images(const char* function, int axes, const X& x, const W& w, const B& bias, const conv_options& o) {
  const shape &dims = cudarray::detail::dims_of(x), &filters = cudarray::detail::dims_of(w);
  const auto run = [&](const auto& images, const extents& padding) {
    convolution_way v = way_of(function, axes, cudarray::detail::dims_of(images), filters, padding, o);
    v.channels_last = keeps_channels_last(x);
    v.filters_last = keeps_channels_last(w);
    return with_bias(v, apply_convolution(v, false, images, w), bias, o.activation, v.k);
  };
  if (!o.padding.is_same() || dims.ndim() != axes + 2 || filters.ndim() != axes + 2) return run(x, o.padding);
  const same_border border = border_of(function, axes, dims, window_of(filters), o);
  if (!border.is_uneven) return run(x, border.padding);
  return run(cudarray::detail::pad_by(cudarray::detail::widths_of(dims, border.uneven, axes + 2), x, {}),
             border.padding);
}

/// A transposed convolution is the gradient of one from its results to its images.
inline convolution_way transposed_way(const char* function, int axes, const shape& x, const shape& w,
                                      const conv_transpose_options& o) {
  constexpr const char* filters[] = {"", "(c, k / groups, s)", "(c, k / groups, r, s)", "(c, k / groups, t, r, s)"};
  if (w.ndim() != axes + 2) fail_filters(function, axes, w, x, filters[axes]);
  check_images(function, x, axes);
  if (w[0] != x[1]) fail_filters(function, axes, w, x, filters[axes]);
  const int64 groups = checked_groups(function, o.groups, x[1], x[1]);
  check_numbers(function, "stride", o.stride, axes, 1);
  check_numbers(function, "dilation", o.dilation, axes, 1);
  check_numbers(function, "padding", o.padding, axes, 0);
  check_numbers(function, "output_padding", o.output_padding, axes, 0);
  convolution_way v{function, {}, x[0], w[1] * groups, w[0], groups};
  v.grid.axes = axes;
  for (int a = 0; a < axes; ++a) {
    const int64 n = x[2 + a], window = w[2 + a], dilation = window == 1 ? 1 : o.dilation[a],
                longer = o.output_padding[a];
    if (longer >= o.stride[a] && longer >= o.dilation[a])
      cudarray::detail::fail<value_error>(function, ": output_padding ", shape_of(o.output_padding, axes),
                                          " is not below stride ", shape_of(o.stride, axes), " or dilation ",
                                          shape_of(o.dilation, axes));
    constexpr int64 most = int64(1) << 40;
    if ((n > 1 && o.stride[a] > most / (n - 1)) || (window > 1 && dilation > most / (window - 1)))
      cudarray::detail::fail<value_error>(function, ": stride ", shape_of(o.stride, axes), " or dilation ",
                                          shape_of(o.dilation, axes), " is too large for images of ", x);
    const int64 in = (n - 1) * o.stride[a] - 2 * o.padding[a] + dilation * (window - 1) + longer + 1,
                span = in + 2 * o.padding[a];
    if (n < 1 || window < 1 || in < 1)
      cudarray::detail::fail<shape_error>(function, ": images of ", x, " and filters of ", w, " with padding ",
                                          shape_of(o.padding, axes), " and stride ", shape_of(o.stride, axes),
                                          " leave no result");
    v.grid.in[a] = in;
    v.grid.window[a] = window;
    v.grid.out[a] = n;
    v.grid.stride[a] = o.stride[a] < span ? o.stride[a] : span;
    v.grid.padding[a] = o.padding[a];
    v.grid.dilation[a] = dilation;
  }
  return v;
}
template <class X, class W, class B>
auto convolve_transposed(const char* function, int axes, const X& x, const W& w, const B& bias,
                         const conv_transpose_options& o) {
  convolution_way v = transposed_way(function, axes, cudarray::detail::dims_of(x), cudarray::detail::dims_of(w), o);
  v.channels_last = keeps_channels_last(x);
  v.filters_last = keeps_channels_last(w);
  return with_bias(v, apply_convolution(v, true, x, w), bias, o.activation, v.c);
}

inline convolution_way gradient_way(const char* function, const shape& dy, const shape& x, const shape& w,
                                    const conv_options& o, bool channels_last) {
  if (o.padding.is_same())
    cudarray::detail::fail<value_error>(function, ": the padding is a number of pixels, not `same`");
  convolution_way v = way_of(function, 2, x, w, o.padding, o);
  v.channels_last = channels_last;
  if (dy != v.results())
    cudarray::detail::fail<shape_error>(function, ": the gradient has shape ", dy, ", the convolution's result ",
                                        v.results());
  return v;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Cross-correlations of images with filters, with a bias for each filter and an activation where asked: (n, c, ..),
// (k, c / groups, ..), (k,) -> (n, k, ..). Along each axis there are
// (in + 2 padding - dilation (window - 1) - 1) / stride + 1 results. Eager. float32 stays IEEE float32. Throw
// shape_error, value_error.

/// Of lines: (n, c, w), (k, c, s) -> (n, k, q).
template <array_expression X, array_expression W>
auto conv1d(const X& x, const W& w, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv1d", 1, x, w, detail::absent{0}, o);
}
template <array_expression X, array_expression W, array_expression B>
auto conv1d(const X& x, const W& w, const B& b, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv1d", 1, x, w, b, o);
}
/// Of images: (n, c, h, w), (k, c, r, s) -> (n, k, p, q).
///     ca::nnet::conv2d(x, w, {.stride = {2, 2}, .padding = 1})
template <array_expression X, array_expression W>
auto conv2d(const X& x, const W& w, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv2d", 2, x, w, detail::absent{0}, o);
}
///     ca::nnet::conv2d(x, w, b, {.padding = ca::nnet::same, .activation = ca::nnet::activation::relu})
template <array_expression X, array_expression W, array_expression B>
auto conv2d(const X& x, const W& w, const B& b, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv2d", 2, x, w, b, o);
}
/// Of volumes: (n, c, d, h, w), (k, c, t, r, s) -> (n, k, o, p, q).
template <array_expression X, array_expression W>
auto conv3d(const X& x, const W& w, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv3d", 3, x, w, detail::absent{0}, o);
}
template <array_expression X, array_expression W, array_expression B>
auto conv3d(const X& x, const W& w, const B& b, const conv_options& o = {}) {
  return detail::convolve_images("nnet::conv3d", 3, x, w, b, o);
}

// Transposed convolutions, the gradients of convolutions with respect to their images: (n, c, ..), (c, k / groups, ..),
// (k,) -> (n, k, ..). Along each axis there are (in - 1) stride - 2 padding + dilation (window - 1) + output_padding +
// 1 results (Zeiler et al. 2010; Dumoulin, Visin 2016). Eager. Throw shape_error, value_error.

/// Of lines: (n, c, q), (c, k, s) -> (n, k, w).
template <array_expression X, array_expression W>
auto conv_transpose1d(const X& x, const W& w, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose1d", 1, x, w, detail::absent{0}, o);
}
template <array_expression X, array_expression W, array_expression B>
auto conv_transpose1d(const X& x, const W& w, const B& b, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose1d", 1, x, w, b, o);
}
/// Of images: (n, c, p, q), (c, k, r, s) -> (n, k, h, w).
///     ca::nnet::conv_transpose2d(x, w, {.stride = 2, .padding = 1, .output_padding = 1})
template <array_expression X, array_expression W>
auto conv_transpose2d(const X& x, const W& w, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose2d", 2, x, w, detail::absent{0}, o);
}
template <array_expression X, array_expression W, array_expression B>
auto conv_transpose2d(const X& x, const W& w, const B& b, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose2d", 2, x, w, b, o);
}
/// Of volumes: (n, c, o, p, q), (c, k, t, r, s) -> (n, k, d, h, w).
template <array_expression X, array_expression W>
auto conv_transpose3d(const X& x, const W& w, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose3d", 3, x, w, detail::absent{0}, o);
}
template <array_expression X, array_expression W, array_expression B>
auto conv_transpose3d(const X& x, const W& w, const B& b, const conv_transpose_options& o = {}) {
  return detail::convolve_transposed("nnet::conv_transpose3d", 3, x, w, b, o);
}

/// The gradient of conv2d with respect to the images, of shape `image_shape`: (n, k, p, q), (k, c / groups, r, s) ->
/// (n, c, h, w). Eager. Throws shape_error, value_error.
template <array_expression G, array_expression W>
auto conv2d_backward_data(const G& gradient, const W& filters, const shape& image_shape, const conv_options& o = {}) {
  const ndarray<value_type_t<G>, device_type_t<G>> dy(gradient);
  const auto w = cudarray::detail::as_array(detail::beside<value_type_t<G>>(filters));
  return correlate_back(detail::gradient_way("nnet::conv2d_backward_data", dy.shape(), image_shape, w.shape(), o,
                                             detail::keeps_channels_last(dy)),
                        dy, w);
}
/// The gradient of conv2d with respect to the filters, of shape `filter_shape`: (n, c, h, w), (n, k, p, q) ->
/// (k, c / groups, r, s). Eager. Throws shape_error, value_error.
template <array_expression X, array_expression G>
auto conv2d_backward_weights(const X& images, const G& gradient, const shape& filter_shape,
                             const conv_options& o = {}) {
  const ndarray<value_type_t<X>, device_type_t<X>> x(images);
  const auto dy = cudarray::detail::as_array(detail::beside<value_type_t<X>>(gradient));
  return correlate_weights(detail::gradient_way("nnet::conv2d_backward_weights", dy.shape(), x.shape(), filter_shape, o,
                                                detail::keeps_channels_last(x)),
                           x, dy);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
