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

// Convolutions, which are linear in each of two operands.

template <class X, class W>
requires(dual_operands<X, W>) auto correlate(const convolution_way& v, const X& images, const W& filters) {
  return cudarray::detail::bilinear([&](const auto& x, const auto& w) { return correlate(v, x, w); }, images, filters);
}
template <class G, class W>
requires(dual_operands<G, W>) auto correlate_back(const convolution_way& v, const G& gradient, const W& filters) {
  return cudarray::detail::bilinear([&](const auto& g, const auto& w) { return correlate_back(v, g, w); }, gradient,
                                    filters);
}
template <class X, class G>
requires(dual_operands<X, G>) auto correlate_weights(const convolution_way& v, const X& images, const G& gradient) {
  return cudarray::detail::bilinear([&](const auto& x, const auto& g) { return correlate_weights(v, x, g); }, images,
                                    gradient);
}

template <class T, class D>
ndarray<dual<T>, D> pooled(const pooling_way<false>& v, const ndarray<dual<T>, D>& images) {
  using cudarray::detail::part_of;
  const shape as_planes{v.x.elements() / (v.grid.in[0] * v.grid.in[1]), 1, v.grid.in[0], v.grid.in[1]};
  const auto part = [&](const ndarray<T, D>& a, T edge) {
    return windows_in_rows(reshape(a, as_planes), v.grid, edge);
  };
  const ndarray<T, D> x = part_of<0>(images);
  const ndarray<int64, D> first(argmax(part(x, cudarray::detail::bounds<T>::lowest), 2, keepdims));
  const ndarray<T, D> tangents(take_along_axis(part(part_of<1>(images), T(0)), first, 2));
  return cudarray::detail::dual_of(pooled(v, x), in_order<T, D>(v.channels_last, reshape(tangents, v.y)));
}
template <class T, class D>
ndarray<dual<T>, D> pooled_back(const pooling_way<false>& v, const ndarray<dual<T>, D>& gradient,
                                const ndarray<dual<T>, D>& images) {
  using cudarray::detail::part_of;
  const ndarray<T, D> x = part_of<0>(images);
  return cudarray::detail::dual_of(pooled_back(v, part_of<0>(gradient), x), pooled_back(v, part_of<1>(gradient), x));
}
template <class T, class D>
ndarray<dual<T>, D> pooled(const pooling_way<true>& v, const ndarray<dual<T>, D>& images) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(pooled(v, part_of<0>(images)), pooled(v, part_of<1>(images)));
}
template <class T, class D>
ndarray<dual<T>, D> pooled_back(const pooling_way<true>& v, const ndarray<dual<T>, D>& gradient) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(pooled_back(v, part_of<0>(gradient)), pooled_back(v, part_of<1>(gradient)));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
