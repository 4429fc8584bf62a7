// Images whose memory holds the channels of a pixel side by side, seen in the usual order of axes.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/manipulation.hpp"
#include "../ops/transfer.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// (n, c, ..) as (n, .., c): a view.
template <class X>
auto channels_behind(const X& x) {
  const int n = cudarray::detail::dims_of(x).ndim();
  int64 order[max_rank] = {};
  for (int i = 1; i < n; ++i) order[i] = i == n - 1 ? 1 : i + 1;
  return transpose(x, axes(order, n));
}
/// (n, .., c) as (n, c, ..): a view.
template <class X>
auto channels_before(const X& x) {
  const int n = cudarray::detail::dims_of(x).ndim();
  int64 order[max_rank] = {};
  for (int i = 1; i < n; ++i) order[i] = i == 1 ? n - 1 : i - 1;
  return transpose(x, axes(order, n));
}

/// Whether the channels of (n, c, ..) are innermost, without gaps.
inline bool has_channels_last(const layout& l) {
  const int n = l.ndim();
  int order[max_rank] = {};
  for (int i = 1; i < n; ++i) order[i] = i == n - 1 ? 1 : i + 1;
  return n >= 3 && cudarray::detail::is_c_contiguous(cudarray::detail::permute_layout(l, order));
}
/// Whether an operand's results are to have their channels innermost: it has, or its value would, and is not in C order
/// as well.
inline bool keeps_channels_last(const layout& l) {
  return has_channels_last(l) && !cudarray::detail::is_c_contiguous(l);
}
template <class X>
bool keeps_channels_last(const X& x) {
  if constexpr (requires { x.where(); }) return keeps_channels_last(x.where());
  else if constexpr (requires { x.value().where(); }) return keeps_channels_last(x.value().where());
  else if constexpr (requires { X::leaves; })
    return keeps_channels_last(cudarray::detail::result_layout(x, cudarray::detail::leaf_list<X>(x)));
  else return false;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The same images, lines or volumes (n, c, ..), of the same shape, whose memory holds (n, .., c): the operand itself
/// where it does, else a copy. Convolutions of it keep that order, in their gradients, too; PyTorch's
/// `to(memory_format=torch.channels_last)`. Eager. Throws shape_error.
///     const ca::ndarray<float> x = ca::nnet::channels_last(images);
template <array_expression X>
auto channels_last(const X& x) {
  const auto a = eval(x);
  const shape& dims = cudarray::detail::dims_of(a);
  if (dims.ndim() < 3 || dims.ndim() > 5)
    cudarray::detail::fail<shape_error>("nnet::channels_last: images of shape ", dims, ": 3 to 5 axes are wanted");
  return detail::channels_before(ascontiguousarray(detail::channels_behind(a)));
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// An array in one of the two orders.
template <class T, class D>
ndarray<T, D> in_order(bool last, const ndarray<T, D>& x) {
  return last ? channels_last(x) : ascontiguousarray(x);
}
/// What was computed of images, in their order.
template <class X, class Y>
Y in_order_of(const X& images, const Y& y) {
  return keeps_channels_last(images) ? Y(channels_last(y)) : y;
}
/// A new array (n, c, ..) in one of them.
template <class T, class D>
ndarray<T, D> empty_in_order(bool last, const shape& s, D device) {
  if (!last) return empty<T, D>(s, device);
  shape behind{s[0]};
  for (int i = 2; i < s.ndim(); ++i) behind.push_back(s[i]);
  behind.push_back(s[1]);
  return channels_before(empty<T, D>(behind, device));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
