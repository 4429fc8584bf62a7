// Products, convolutions and pooling of dual numbers, which kernels and libraries do not have.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/conv.hpp"
#include "../nnet/pool.hpp"
#include "../ops/indexing.hpp"
#include "../ops/linalg.hpp"
#include "../ops/reductions.hpp"
#include "dual.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A function that is linear in each of two operands, of which one or both are dual numbers.
template <class F, class X, class Y>
auto bilinear(const F& f, const X& x, const Y& y) {
  const auto a = as_array(x);
  const auto b = as_array(y);
  const auto p = primals(a);
  const auto q = primals(b);
  const auto value = f(p, q);
  if constexpr (!is_dual<value_type_t<Y>>) return dual_of(value, f(part_of<1>(a), q));
  else if constexpr (!is_dual<value_type_t<X>>) return dual_of(value, f(p, part_of<1>(b)));
  else return dual_of(value, f(part_of<1>(a), q) + f(p, part_of<1>(b)));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Arrays of which one is of dual numbers, and none a variable.
template <class X, class Y>
concept dual_operands =
    array_expression<X> && array_expression<Y> && !detail::has_variable<X> && !detail::has_variable<Y> &&
    (detail::is_dual<value_type_t<X>> || detail::is_dual<value_type_t<Y>>);

template <array_expression X, array_expression Y>
requires(dual_operands<X, Y>) auto matmul(const X& x, const Y& y) {
  return detail::bilinear([](const auto& a, const auto& b) { return matmul(a, b); }, x, y);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// The windows of images, one after the other along axis 2: (n, c, r s, p, q).
template <class T, class D>
ndarray<T, D> windows_in_rows(const ndarray<T, D>& images, const window_grid& g, T edge) {
  return reshape(windows(padded(images, g.padding, edge), g),
                 {images.shape(0), images.shape(1), g.window.h * g.window.w, g.p, g.q});
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Of arrays of dual numbers.

template <array_expression X, array_expression W>
requires(dual_operands<X, W>) auto conv2d(const X& images, const W& filters, const conv_options& o = {}) {
  return cudarray::detail::bilinear([&](const auto& x, const auto& w) { return conv2d(x, w, o); }, images, filters);
}
template <array_expression G, array_expression W>
requires(dual_operands<G, W>) auto conv2d_backward_data(const G& gradient, const W& filters, const shape& image_shape,
                                                        const conv_options& o = {}) {
  return cudarray::detail::bilinear(
      [&](const auto& g, const auto& w) { return conv2d_backward_data(g, w, image_shape, o); }, gradient, filters);
}
template <array_expression X, array_expression G>
requires(dual_operands<X, G>) auto conv2d_backward_weights(const X& images, const G& gradient,
                                                           const shape& filter_shape, const conv_options& o = {}) {
  return cudarray::detail::bilinear(
      [&](const auto& x, const auto& g) { return conv2d_backward_weights(x, g, filter_shape, o); }, images, gradient);
}
template <class T, class D>
ndarray<dual<T>, D> max_pool2d(const ndarray<dual<T>, D>& images, const pool_options& o = {}) {
  using cudarray::detail::part_of;
  const auto g = detail::pool_grid("nnet::max_pool2d", images.shape(), o);
  const auto lowest = cudarray::detail::bounds<T>::lowest;
  const auto found = argmax(detail::windows_in_rows(part_of<0>(images), g, lowest), 2, keepdims);
  const ndarray<int64, D> first(found);
  const auto tangents = take_along_axis(detail::windows_in_rows(part_of<1>(images), g, T(0)), first, 2);
  return cudarray::detail::dual_of(max_pool2d(part_of<0>(images), o), squeeze(ndarray<T, D>(tangents), 2));
}
template <class T, class D>
ndarray<dual<T>, D> max_pool2d_backward(const ndarray<dual<T>, D>& gradient, const ndarray<dual<T>, D>& images,
                                        const pool_options& o = {}) {
  using cudarray::detail::part_of;
  const ndarray<T, D> x = part_of<0>(images);
  return cudarray::detail::dual_of(max_pool2d_backward(part_of<0>(gradient), x, o),
                                   max_pool2d_backward(part_of<1>(gradient), x, o));
}
template <class T, class D>
ndarray<dual<T>, D> avg_pool2d(const ndarray<dual<T>, D>& images, const pool_options& o = {}) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(avg_pool2d(part_of<0>(images), o), avg_pool2d(part_of<1>(images), o));
}
template <class T, class D>
ndarray<dual<T>, D> avg_pool2d_backward(const ndarray<dual<T>, D>& gradient, const shape& image_shape,
                                        const pool_options& o = {}) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(avg_pool2d_backward(part_of<0>(gradient), image_shape, o),
                                   avg_pool2d_backward(part_of<1>(gradient), image_shape, o));
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
