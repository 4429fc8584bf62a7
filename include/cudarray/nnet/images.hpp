// Images: windows as columns, pixels to channels and back, other sizes, and sampling. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "adaptive_pool.hpp"

namespace cudarray::inline v0::nnet {

struct unfold_options {
  extents window = 3, stride = 1, padding = 0, dilation = 1;
};
/// How pixels between pixels are made: the one before, or the nearest; from two along each axis (bilinear, trilinear);
/// from four (bicubic, Keys 1981 with a = -3 / 4); the mean of all that a pixel covers.
enum class interpolation { nearest, nearest_exact, linear, cubic, area };
struct interpolate_options {
  interpolation mode = interpolation::nearest;
  bool align_corners = false;  ///< linear and cubic: the first and the last pixels stay where they are
};
/// What lies outside images: zeros, their last pixels, or their mirror images.
enum class sample_padding { zeros, border, reflection };
struct grid_sample_options {
  interpolation mode = interpolation::linear;  ///< or nearest
  sample_padding padding = sample_padding::zeros;
  bool align_corners = false;  ///< -1 and 1 are the middle of the last pixels, instead of their ends
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// The columns of images x, (n, c taps, places).
struct unfold_way {
  window_grid grid;
  shape x, columns;
};
inline unfold_way unfold_way_of(const char* function, const shape& x, const unfold_options& o) {
  const int axes = x.ndim() - 2 < 1 ? 1 : x.ndim() - 2 > 3 ? 3 : x.ndim() - 2;
  check_images(function, x, axes);
  check_numbers(function, "window", o.window, axes, 1);
  const window_grid g = make_grid(function, axes, x, {o.window, o.stride, o.padding, o.dilation});
  return {g, x, {x[0], x[1] * g.taps(), g.places()}};
}
template <real_elements T, class D>
ndarray<T, D> unfolded(const unfold_way& v, const ndarray<T, D>& x) {
  return reshape(windows(padded(x, v.grid, T(0)), v.grid).copy(), v.columns);
}
template <real_elements T, class D>
ndarray<T, D> folded(const unfold_way& v, const ndarray<T, D>& columns) {
  const ndarray<T, D> wide = zeros<T, D>(padded_shape(v.x, v.grid), columns.device());
  shape by_place{v.x[0], v.x[1], v.grid.taps()};
  for (int a = 0; a < v.grid.axes; ++a) by_place.push_back(v.grid.out[a]);
  add_windows(wide, v.grid, reshape(columns, by_place));
  return ascontiguousarray(without_border(wide, v.grid));
}
/// Of arrays; those of variables are in autograd/images.hpp.
template <class X>
requires(!has_gradient<X>) auto apply_unfold(const unfold_way& v, bool back, const X& x) {
  const ndarray<value_type_t<X>, device_type_t<X>> a(x);
  return back ? folded(v, a) : unfolded(v, a);
}

/// Where the m pixels of a longer or shorter axis are among n pixels.
template <class D>
ndarray<double, D> places_on_axis(int64 n, int64 m, bool align_corners, D device) {
  const auto i = arange<double>(0, double(m), 1, device);
  if (!align_corners) return (i + 0.5) * (double(n) / double(m)) - 0.5;
  return i * (m > 1 ? double(n - 1) / double(m - 1) : 0.0);
}
/// The pixels at `index` along an axis, before so many others, times a weight for each.
template <class X, class Ix, class W>
auto weighted_pixels(const X& x, const Ix& index, const W& weight, int axis, int behind) {
  using P = cudarray::detail::primal_t<value_type_t<X>>;
  return take(x, index, axis) * ahead_of(astype<P>(weight), behind);
}
template <class X, class D>
auto linear_along(const X& x, const ndarray<double, D>& places, int axis, int behind) {
  const double last = double(x.shape(axis) - 1);
  const ndarray<double, D> at = maximum(places, 0), before = minimum(floor(at), last), part = at - before;
  const ndarray<int64, D> first = astype<int64>(before), second = astype<int64>(minimum(before + 1, last));
  return eval(weighted_pixels(x, first, 1 - part, axis, behind) + weighted_pixels(x, second, part, axis, behind));
}
template <class X, class D>
auto cubic_along(const X& x, const ndarray<double, D>& places, int axis, int behind) {
  constexpr double a = -0.75;
  const double last = double(x.shape(axis) - 1);
  const ndarray<double, D> before = floor(places), part = places - before;
  const auto inner = [&](const auto& t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto outer = [&](const auto& t) { return ((t - 5) * t + 8) * t * a - 4 * a; };
  const auto index = [&](double ahead) { return ndarray<int64, D>(astype<int64>(clip(before + ahead, 0, last))); };
  const auto left = eval(weighted_pixels(x, index(-1), outer(part + 1), axis, behind) +
                         weighted_pixels(x, index(0), inner(part), axis, behind));
  return eval(left + weighted_pixels(x, index(1), inner(1 - part), axis, behind) +
              weighted_pixels(x, index(2), outer(2 - part), axis, behind));
}
template <class X, class D>
auto nearest_along(const X& x, int64 m, bool exact, int axis, D device) {
  const int64 n = x.shape(axis);
  // in the middle of a pixel, or where it begins
  const int64 step = exact ? 2 : 1;
  const ndarray<int64, D> index = floor_divide((arange<int64>(0, m, 1, device) * step + (step - 1)) * n, step * m);
  return eval(take(x, index, axis));
}
template <class X>
auto interpolate(const char* function, const X& x, const extents& size, const interpolate_options& o) {
  using T = value_type_t<X>;
  const shape dims = cudarray::detail::dims_of(x);
  const int axes = dims.ndim() - 2 < 1 ? 1 : dims.ndim() - 2 > 3 ? 3 : dims.ndim() - 2;
  const shape to = adaptive_size(function, axes, dims, size);
  if (o.align_corners && o.mode != interpolation::linear && o.mode != interpolation::cubic)
    cudarray::detail::fail<value_error>(function, ": align_corners is of linear and cubic interpolation");
  auto a = eval(wide<compute_t<T>>(x));
  bool same_size = true;
  for (int d = 0; d < axes; ++d) {
    const int64 n = dims[2 + d], m = to[d];
    const int behind = axes - 1 - d;
    if (n == m) continue;
    same_size = false;
    const auto places = [&] { return places_on_axis(n, m, o.align_corners, a.device()); };
    if (o.mode == interpolation::linear) a = linear_along(a, places(), 2 + d, behind);
    else if (o.mode == interpolation::cubic) a = cubic_along(a, places(), 2 + d, behind);
    else a = nearest_along(a, m, o.mode == interpolation::nearest_exact, 2 + d, a.device());
  }
  if (same_size) a = copy(a);
  return eval(narrowed<X>(a));
}

/// -1 to 1 as pixels of an axis of n.
template <class G>
auto pixel_of(const G& g, int64 n, bool align_corners) {
  using P = cudarray::detail::primal_t<value_type_t<G>>;
  const double half = double(align_corners ? n - 1 : n) / 2;
  return (g + P(1)) * P(half) - P(align_corners ? 0 : 0.5);
}
/// Those outside brought onto the axis.
template <class G>
auto onto_axis(const G& at, int64 n, const grid_sample_options& o) {
  using P = cudarray::detail::primal_t<value_type_t<G>>;
  const P last = P(double(n - 1));
  auto r = eval(at);
  if (o.padding == sample_padding::reflection) {
    // mirrors stand at the ends, or in the middles, of the last pixels
    const P low = o.align_corners ? P(0) : P(-0.5), span = o.align_corners ? last : P(double(n));
    if (span == P(0)) {
      r = r * P(0);
    } else {
      const auto from = eval(abs(r - low));
      const auto turns = floor(without_gradient(from) / span);
      const auto rest = eval(from - turns * span);
      r = where(turns % P(2) == P(0), rest + low, span - rest + low);
    }
  }
  if (o.padding != sample_padding::zeros) r = clip(r, P(0), last);
  return r;
}
/// The pixels (n, c, h w) at rows and columns (n, p q) that are numbers without a fraction; 0 outside.
template <class X, class D, class P>
auto pixels_at(const X& flat, const ndarray<P, D>& row, const ndarray<P, D>& column, int64 h, int64 w) {
  using E = cudarray::detail::primal_t<value_type_t<X>>;
  const auto inside = (row >= P(0)) & (row <= P(double(h - 1))) & (column >= P(0)) & (column <= P(double(w - 1)));
  const ndarray<int64, D> place = astype<int64>(where(inside, row, 0)) * w + astype<int64>(where(inside, column, 0));
  const ndarray<bool, D> kept = inside;
  return where(expand_dims(kept, 1), take_along_axis(flat, expand_dims(place, 1), 2), E(0));
}
template <class X, class G>
auto sample_grid(const char* function, const X& x, const G& grid, const grid_sample_options& o) {
  using T = value_type_t<X>;
  using C = compute_t<T>;
  using D = device_type_t<X>;
  using P = cudarray::detail::primal_t<C>;
  const shape dims = cudarray::detail::dims_of(x), of = cudarray::detail::dims_of(grid);
  check_images(function, dims, 2);
  if (of.ndim() != 4 || of[0] != dims[0] || of[3] != 2)
    cudarray::detail::fail<shape_error>(function, ": a grid of shape ", of, " for images of shape ", dims, ": (",
                                        dims[0], ", p, q, 2) is wanted");
  const int64 h = dims[2], w = dims[3], count = of[1] * of[2];
  if (h * w == 0) cudarray::detail::fail<shape_error>(function, ": images of ", dims, " have no pixels");
  const auto places = reshape(eval(beside<C>(grid)), {of[0], count, 2});
  const auto column = onto_axis(pixel_of(places(_, _, 0), w, o.align_corners), w, o),
             row = onto_axis(pixel_of(places(_, _, 1), h, o.align_corners), h, o);
  const auto flat = reshape(eval(wide<C>(x)), {dims[0], dims[1], h * w});
  const shape result{dims[0], dims[1], of[1], of[2]};
  const auto whole_row = without_gradient(row), whole_column = without_gradient(column);
  if (o.mode == interpolation::nearest) {
    const ndarray<P, D> r = rint(whole_row), c = rint(whole_column);
    return eval(narrowed<X>(reshape(eval(pixels_at(flat, r, c, h, w)), result)));
  }
  if (o.mode != interpolation::linear)
    cudarray::detail::fail<value_error>(function, ": the mode is to be interpolation::linear or nearest");
  const ndarray<P, D> top = floor(whole_row), left = floor(whole_column), bottom = top + P(1), right = left + P(1);
  const auto down = eval(expand_dims(eval(row - top), 1)), along = eval(expand_dims(eval(column - left), 1));
  const auto above =
      eval(pixels_at(flat, top, left, h, w) * (P(1) - along) + pixels_at(flat, top, right, h, w) * along);
  const auto below =
      eval(pixels_at(flat, bottom, left, h, w) * (P(1) - along) + pixels_at(flat, bottom, right, h, w) * along);
  return eval(narrowed<X>(reshape(eval(above * (P(1) - down) + below * down), result)));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The windows of images as columns (im2col): (n, c, h, w) -> (n, c r s, p q); of lines and volumes as well. Eager.
/// Throws shape_error, value_error.
///     ca::nnet::unfold(x, {.window = 3, .padding = 1})
template <array_expression X>
auto unfold(const X& x, const unfold_options& o = {}) {
  return apply_unfold(detail::unfold_way_of("nnet::unfold", cudarray::detail::dims_of(x), o), false, x);
}
/// Images of the shape given that are the sums of what columns have of their pixels (col2im): (n, c r s, p q) ->
/// (n, c, h, w). Eager. Throws shape_error, value_error.
///     ca::nnet::fold(columns, {n, c, h, w}, {.window = 3, .padding = 1})
template <array_expression X>
auto fold(const X& columns, const shape& images, const unfold_options& o = {}) {
  constexpr const char* function = "nnet::fold";
  const auto v = detail::unfold_way_of(function, images, o);
  const shape& given = cudarray::detail::dims_of(columns);
  if (given != v.columns)
    cudarray::detail::fail<shape_error>(function, ": columns of shape ", given, " for images of shape ", images, ": ",
                                        v.columns, " is wanted");
  return apply_unfold(v, true, columns);
}

/// Channels as pixels: (n, c r r, h, w) -> (n, c, h r, w r) (Shi et al. 2016). Eager. Throws shape_error, value_error.
template <array_expression X>
auto pixel_shuffle(const X& x, cudarray::detail::any_integer factor) {
  constexpr const char* function = "nnet::pixel_shuffle";
  const shape s = cudarray::detail::dims_of(x);
  const int64 r = factor;
  detail::check_images(function, s, 2);
  if (r < 1 || r > INT32_MAX || s[1] % (r * r) != 0)
    cudarray::detail::fail<value_error>(function, ": ", s[1], " channels of images of shape ", s, " are no squares of ",
                                        r, " x ", r);
  const int64 c = s[1] / (r * r);
  const auto apart = transpose(reshape(eval(x), {s[0], c, r, r, s[2], s[3]}), {0, 1, 4, 2, 5, 3});
  return reshape(copy(apart), {s[0], c, s[2] * r, s[3] * r});
}
/// Pixels as channels: (n, c, h r, w r) -> (n, c r r, h, w). Eager. Throws shape_error, value_error.
template <array_expression X>
auto pixel_unshuffle(const X& x, cudarray::detail::any_integer factor) {
  constexpr const char* function = "nnet::pixel_unshuffle";
  const shape s = cudarray::detail::dims_of(x);
  const int64 r = factor;
  detail::check_images(function, s, 2);
  if (r < 1 || r > INT32_MAX || s[2] % r != 0 || s[3] % r != 0)
    cudarray::detail::fail<value_error>(function, ": images of shape ", s, " are not made of squares of ", r, " x ", r);
  const auto apart = transpose(reshape(eval(x), {s[0], s[1], s[2] / r, r, s[3] / r, r}), {0, 1, 3, 5, 2, 4});
  return reshape(copy(apart), {s[0], s[1] * r * r, s[2] / r, s[3] / r});
}

/// Images of another size: (n, c, ..) -> (n, c, size), of one to three axes. Eager; half types are computed in float32.
/// Throws shape_error, value_error.
///     ca::nnet::interpolate(x, {64, 64}, {.mode = ca::nnet::interpolation::linear})
template <array_expression X>
auto interpolate(const X& x, const extents& size, const interpolate_options& o = {}) {
  constexpr const char* function = "nnet::interpolate";
  const int axes = cudarray::detail::dims_of(x).ndim() - 2;
  if (o.mode == interpolation::area && axes >= 1 && axes <= 3 && !o.align_corners)
    return detail::adaptive_average(function, axes, x, size);
  return detail::interpolate(function, x, size, o);
}
/// Pixels at places of images: (n, c, h, w), a grid of x and y from -1 to 1 (n, p, q, 2) -> (n, c, p, q) (Jaderberg et
/// al. 2015). The nearest pixels have no gradient in the grid. Eager. Throws shape_error, value_error.
///     ca::nnet::grid_sample(x, grid, {.padding = ca::nnet::sample_padding::border})
template <array_expression X, array_expression G>
auto grid_sample(const X& x, const G& grid, const grid_sample_options& o = {}) {
  return detail::sample_grid("nnet::grid_sample", x, grid, o);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
