// Max pooling that says where the largest pixels are, and unpooling: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/indexing.hpp"
#include "../ops/reductions.hpp"
#include "pool.hpp"

namespace cudarray::inline v0::nnet {

/// The largest pixels, and where they were: in the images of a channel, counted in C order.
template <class Values, class Device>
struct pooled_with_indices {
  Values values;
  ndarray<int64, Device> indices;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

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

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

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

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
