// Softmax, cross-entropy and one-hot coding: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/creation.hpp"
#include "../ops/indexing.hpp"
#include "../ops/reductions.hpp"

namespace cudarray::inline v0::nnet {

/// exp(x - max) / sum(exp(x - max)) along an axis: same shape. Eager. Throws index_error, value_error for an empty
/// axis.
template <array_expression X, class Build = this_build>
auto softmax(const X& x, int axis = -1) {
  ndarray<value_type_t<X>, device_type_t<X>> e = exp(x - max(x, axis, keepdims));
  e /= sum(e, axis, keepdims);
  return e;
}

/// log(sum(exp(x))) along an axis, without overflow. Eager.
template <array_expression X, class Build = this_build>
auto logsumexp(const X& x, int axis = -1, bool keep = false) {
  using A = ndarray<value_type_t<X>, device_type_t<X>>;
  const A largest = max(x, axis, keepdims), top = where(isfinite(largest), largest, 0);  // inf - inf would be NaN
  const A r = log(sum(exp(x - top), axis, keepdims)) + top;
  return keep ? r : A(squeeze(r, axis));
}

/// x - logsumexp(x): the logarithm of softmax. Eager.
template <array_expression X, class Build = this_build>
auto log_softmax(const X& x, int axis = -1) {
  return ndarray<value_type_t<X>, device_type_t<X>>(x - logsumexp<X, Build>(x, axis, true));
}

/// One row per label, 1 at the label and 0 elsewhere: (b,) -> (b, n). Eager. Throws index_error for a label that is not
/// in [-n, n): on CUDA at the next synchronising call.
template <dtype T = float, array_expression L, class Build = this_build>
auto one_hot_encode(const L& labels, int64 n) {
  using D = device_type_t<L>;
  const ndarray<int64, D> numbers = arange<int64, D, int64, Build>(n);
  const ndarray<int64, D> checked = take<ndarray<int64, D>, L, Build>(numbers, labels);
  return ndarray<T, D>(astype<T>(expand_dims(checked, -1) == numbers));
}

/// The position of the largest element of each row: (b, n) -> (b,), int64. Lazy.
template <array_expression X>
auto one_hot_decode(const X& x) {
  return argmax(x, -1);
}

/// The loss of each row, -sum(y_true * log(p)), where p is y_pred clipped to [eps, 1 - eps] and its rows made to sum to
/// one again: (b, n), (b, n) -> (b,). Eager. Throws shape_error.
template <array_expression P, array_expression Y, class Build = this_build>
auto categorical_cross_entropy(const P& y_pred, const Y& y_true, double eps = 1e-15) {
  using T = value_type_t<P>;
  using A = ndarray<T, device_type_t<P>>;
  const A p = clip(y_pred, eps, 1 - eps);
  return A(-sum(y_true * log(p / sum(p, -1, keepdims)), -1));
}

/// categorical_cross_entropy(softmax(x), y) without its loss of precision: (b, n), (b, n) -> (b,). Its gradient with
/// respect to x is softmax(x) - y for rows of y that sum to one. Eager. Throws shape_error.
template <array_expression X, array_expression Y, class Build = this_build>
auto softmax_cross_entropy(const X& x, const Y& y_true) {
  return ndarray<value_type_t<X>, device_type_t<X>>(-sum(y_true * log_softmax<X, Build>(x), -1));
}
/// The gradient of softmax_cross_entropy with respect to x, for a gradient of 1 for each row: softmax(x) - y. Eager.
template <array_expression X, array_expression Y, class Build = this_build>
auto softmax_cross_entropy_backward(const X& x, const Y& y_true) {
  return ndarray<value_type_t<X>, device_type_t<X>>(softmax<X, Build>(x) - y_true);
}

}  // namespace cudarray::inline v0::nnet
