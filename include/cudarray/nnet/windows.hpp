// What convolution and pooling share: numbers along the axes of images, padding, and views of all windows of an image.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/convolution.hpp"
#include "../ops/creation.hpp"
#include "../ops/dual_parts.hpp"
#include "../ops/manipulation.hpp"

namespace cudarray::inline v0::nnet {

/// A number for each axis of images, (width), (height, width) or (depth, height, width); one stands for all axes.
class extents {
  int64 at_[3] = {};
  int count_ = 1;

 public:
  constexpr extents() = default;
  template <::std::integral Int>
  constexpr extents(Int all) : at_{cudarray::detail::to_int64(all), 0, 0} {}
  constexpr extents(cudarray::detail::any_integer h, cudarray::detail::any_integer w) : at_{h, w, 0}, count_(2) {}
  constexpr extents(cudarray::detail::any_integer d, cudarray::detail::any_integer h, cudarray::detail::any_integer w)
      : at_{d, h, w}, count_(3) {}
  constexpr int count() const { return count_; }
  constexpr int64 operator[](int axis) const { return at_[count_ == 1 ? 0 : axis]; }
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::window_grid;

template <class T>
concept real_elements = !cudarray::detail::is_dual<T>;

/// The array of a variable, without tangents.
template <class X>
auto without_gradient(const X& x) {
  using A = ndarray<value_type_t<X>, device_type_t<X>>;
  if constexpr (cudarray::detail::has_variable<X>) return cudarray::detail::primals(A(stop_gradient(x)));
  else return cudarray::detail::primals(A(x));
}

/// What messages call images of 1 to 3 axes.
constexpr const char* name_of_images(int axes) {
  return axes == 1 ? "(n, c, w)" : axes == 2 ? "(n, c, h, w)" : "(n, c, d, h, w)";
}

inline shape shape_of(const extents& e, int axes) {
  shape s;
  for (int a = 0; a < axes; ++a) s.push_back(e[a]);
  return s;
}
inline extents extents_of(const shape& s) {
  return s.ndim() == 1 ? extents(s[0]) : s.ndim() == 2 ? extents(s[0], s[1]) : extents(s[0], s[1], s[2]);
}
/// Throws value_error where there are not so many numbers as axes, or one is below `least` or larger than 2^40.
inline void check_numbers(const char* function, const char* name, const extents& e, int axes, int64 least) {
  if (e.count() != 1 && e.count() != axes)
    cudarray::detail::fail<value_error>(function, ": ", name, " of ", e.count(), " numbers: ", axes,
                                        " or 1 are wanted");
  for (int a = 0; a < axes; ++a) {
    if (e[a] < least)
      cudarray::detail::fail<value_error>(function, ": ", name, " ", shape_of(e, axes),
                                          least > 0 ? " is not positive" : " is negative");
    if (e[a] > int64(1) << 40)
      cudarray::detail::fail<value_error>(function, ": ", name, " ", shape_of(e, axes), " is too large");
  }
}

/// How windows lie on images.
struct window_numbers {
  extents window, stride, padding = 0, dilation = 1;
  bool ceil = false;  ///< the last window may reach beyond the padding, if it begins before it
};

inline void check_images(const char* function, const shape& x, int axes) {
  if (x.ndim() != axes + 2)
    cudarray::detail::fail<shape_error>(function, ": images of shape ", x, ", not ", name_of_images(axes));
}
/// How many windows there are along an axis of `span` pixels, padding included; 0 where none fits.
inline int64 windows_along(int64 span, int64 window, int64 stride, int64 dilation, int64 before_end, bool ceil) {
  if (window < 1 || (window - 1 > (INT64_MAX - 1) / dilation)) return 0;
  const int64 free = span - (dilation * (window - 1) + 1);
  if (free < 0) return ceil && free > -stride ? 1 : 0;
  const int64 whole = free / stride + 1;
  return ceil && free % stride != 0 && whole <= (before_end - 1) / stride ? whole + 1 : whole;
}
/// Throws shape_error where images do not have so many axes or no window fits, value_error for wrong numbers.
inline window_grid make_grid(const char* function, int axes, const shape& x, const window_numbers& o) {
  check_images(function, x, axes);
  check_numbers(function, "stride", o.stride, axes, 1);
  check_numbers(function, "padding", o.padding, axes, 0);
  check_numbers(function, "dilation", o.dilation, axes, 1);
  window_grid g{};
  g.axes = axes;
  for (int a = 0; a < axes; ++a) {
    const int64 span = x[2 + a] + 2 * o.padding[a];
    g.in[a] = x[2 + a];
    g.window[a] = o.window[a];
    g.padding[a] = o.padding[a];
    g.dilation[a] = o.window[a] == 1 ? 1 : o.dilation[a];
    g.out[a] = windows_along(span, g.window[a], o.stride[a], g.dilation[a], g.in[a] + g.padding[a], o.ceil);
    g.stride[a] = o.stride[a] < span ? o.stride[a] : span;  // longer than that, there is one window
    if (g.out[a] > 0) continue;
    bool apart = false;
    for (int b = 0; b < axes; ++b) apart = apart || o.dilation[b] != 1;
    cudarray::detail::fail<shape_error>(
        function, ": a window of ", shape_of(o.window, axes),
        apart ? cudarray::detail::cat(" with dilation ", shape_of(o.dilation, axes)) : "", " does not fit images of ",
        x, " with padding ", shape_of(o.padding, axes));
  }
  return g;
}
/// (outer, channels) and what lies along the axes.
inline shape with_axes(int64 outer, int64 channels, const int64 (&spatial)[3], int axes) {
  shape s{outer, channels};
  for (int a = 0; a < axes; ++a) s.push_back(spatial[a]);
  return s;
}

/// The pixels that windows are over, from the first one's to the last one's, if there is no padding at the end; and at
/// least those of the images.
inline shape padded_shape(const shape& x, const window_grid& g) {
  shape s = x;
  for (int a = 0; a < g.axes; ++a) {
    const int64 own = g.padding[a] + g.in[a],
                reach = (g.out[a] - 1) * g.stride[a] + (g.window[a] - 1) * g.dilation[a] + 1;
    s[2 + a] = own > reach ? own : reach;
  }
  return s;
}
/// Images without their border, a view.
template <class T, class D>
ndarray<T, D> without_border(const ndarray<T, D>& padded, const window_grid& g) {
  layout l = padded.where();
  for (int a = 0; a < g.axes; ++a) {
    l.offset += g.padding[a] * l.stride[2 + a];
    l.dims[2 + a] = g.in[a];
  }
  return cudarray::detail::view(padded, l);
}
/// The images with a border of one value; themselves where windows need none.
template <class T, class D>
ndarray<T, D> padded(const ndarray<T, D>& x, const window_grid& g, T edge) {
  const shape s = padded_shape(x.shape(), g);
  if (s == x.shape()) return x;
  const ndarray<T, D> r = full<T, D, T>(s, edge, x.device());
  without_border(r, g)(ellipsis) = x;
  return r;
}

/// The pixels at one place of every window, counted row by row: (n, c, out), a view of the padded images.
template <class T, class D>
ndarray<T, D> window_place(const ndarray<T, D>& padded, const window_grid& g, int64 place) {
  layout l = padded.where();
  for (int a = g.axes - 1; a >= 0; --a) {
    l.offset += place % g.window[a] * g.dilation[a] * l.stride[2 + a];
    place /= g.window[a];
    l.dims[2 + a] = g.out[a];
    l.stride[2 + a] *= g.stride[a];
  }
  return cudarray::detail::view(padded, l);
}

/// All windows: (n, c, window, out), a view of the padded images.
template <class T, class D>
ndarray<T, D> windows(const ndarray<T, D>& padded, const window_grid& g) {
  const layout& from = padded.where();
  layout l{{from.dims[0], from.dims[1]}, {}, from.offset};
  for (int a = 0; a < g.axes; ++a) l.dims.push_back(g.window[a]);
  for (int a = 0; a < g.axes; ++a) l.dims.push_back(g.out[a]);
  for (int d = 0; d < 2; ++d) l.stride[d] = from.stride[d];
  for (int a = 0; a < g.axes; ++a) {
    l.stride[2 + a] = from.stride[2 + a] * g.dilation[a];
    l.stride[2 + g.axes + a] = from.stride[2 + a] * g.stride[a];
  }
  return cudarray::detail::view(padded, l);
}
/// The windows of images, one after the other along axis 2: (n, c, taps, out).
template <class T, class D>
ndarray<T, D> windows_in_rows(const ndarray<T, D>& images, const window_grid& g, T edge) {
  shape s{images.shape(0), images.shape(1), g.taps()};
  for (int a = 0; a < g.axes; ++a) s.push_back(g.out[a]);
  return reshape(windows(padded(images, g, edge), g), s);
}

/// Adds to each pixel of padded images what it has in the windows: of (n, c, taps, out).
template <class T, class D>
void add_windows(const ndarray<T, D>& padded, const window_grid& g, const ndarray<T, D>& columns) {
  for (int64 t = 0; t < g.taps(); ++t) window_place(padded, g, t) += columns(_, _, t);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
