// Softmax, cross-entropy and one-hot coding: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/rows.hpp"
#include "../ops/creation.hpp"
#include "../ops/indexing.hpp"
#include "../ops/reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::elementwise;
using cudarray::detail::is_floating;
using cudarray::detail::make_reduce;

using cudarray::detail::row_function;

/// A row for each label vector: throws shape_error where the shapes differ, as nothing broadcasts here.
inline void check_labels(const char* function, const shape& predictions, const shape& labels) {
  if (labels != predictions)
    cudarray::detail::fail<shape_error>(
        function, ": predictions of shape ", predictions, ", labels of shape ", labels,
        ": they must be equal (nnet::one_hot_encode makes such labels of class numbers)");
}

/// Minus a weight times a logarithm, 0 for a weight of 0: a class that cannot be (log 0 is -inf) and is not the label
/// counts nothing.
struct weighted_op : rule::common {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class W, class L, class Z>
  CUDARRAY_HD constexpr auto operator()(const W& weight, const L& logarithm, const Z& zero) const {
    using namespace math;
    return select(equal(weight, zero), zero, subtract(zero, multiply(weight, logarithm)));
  }
};
/// -sum(weight * logarithm) of each row.
template <class W, class L>
auto cross_entropy(const char* function, const W& weight, const L& logarithm) {
  return sum(elementwise(function, weighted_op{}, weight, logarithm, 0), -1);
}

// Each takes the name of the function that the user called, for its errors.

/// What row functions are of rows without elements: nothing, or, for each row, the logarithm of an empty sum.
template <bool PerRow, class X>
auto rows_of_nothing(const X& x, shape dims, int axis) {
  using T = value_type_t<X>;
  using A = ndarray<T, device_type_t<X>>;
  if (PerRow) dims[axis] = 1;
  return A(cudarray::detail::filled<T>("", dims, -::std::numeric_limits<double>::infinity(), A(x).device()));
}

/// Runs a row function by the backend's own kernel if it has one; else it is what `compose(node)` makes.
template <row_function F, class X, class Compose>
auto by_rows(const char* function, const X& x, int64 axis, const Compose& compose) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  static_assert(
      cudarray::detail::is_differentiable<T>,
      "cudarray: softmax, log_softmax and logsumexp are defined for floating dtypes: use ca::astype<float>(x)");
  const shape dims = cudarray::detail::dims_of(x);
  const int at = cudarray::detail::normal_axis(function, axis, dims.ndim());
  if (dims[at] == 0) return rows_of_nothing<F == row_function::logsumexp>(x, dims, at);
  const auto largest = make_reduce<op::max_op>(function, x, axis, true);
  if constexpr (is_floating<T>) {
    auto r = cudarray::detail::evaluate_rows<F>(largest.kid, at);
    if (r.store.get()) return ndarray<T, D>(::std::move(r));
  }
  return ndarray<T, D>(compose(largest.kid, largest));
}

template <class X>
auto softmax(const char* function, const X& x, int64 axis) {
  using T = value_type_t<X>;
  using A = ndarray<T, device_type_t<X>>;
  return by_rows<row_function::softmax>(function, x, axis, [&](const auto& n, const auto& largest) {
    if constexpr (backend::one_pass<device_type_t<X>> && is_floating<T>) {
      namespace core = cudarray::detail;
      using C = core::compute_t<T>;
      const auto v = core::cast_node<C>(n);
      const auto of = core::parts_of<C>(core::materialise(core::make_reduce<op::softmax_op>(function, v, axis, true)));
      return A(core::cast_node<T>(exp(v - of.first) * of.second));
    } else {
      A e = exp(n - largest);
      e /= sum(e, axis, keepdims);
      return e;
    }
  });
}

/// With the axis kept.
template <class X>
auto logsumexp(const char* function, const X& x, int64 axis) {
  return by_rows<row_function::logsumexp>(function, x, axis, [&](const auto& n, const auto& largest) {
    using A = ndarray<value_type_t<X>, device_type_t<X>>;
    if constexpr (backend::one_pass<device_type_t<X>> && is_floating<value_type_t<X>>) {
      return A(cudarray::detail::make_reduce<op::logsumexp_op>(function, n, axis, true));
    } else {
      const A highest = largest, top = where(isfinite(highest), highest, 0);  // inf - inf would be NaN
      return A(log(sum(exp(n - top), axis, keepdims)) + top);
    }
  });
}

template <class X>
auto log_softmax(const char* function, const X& x, int64 axis) {
  return by_rows<row_function::log_softmax>(
      function, x, axis, [&](const auto& n, const auto&) { return n - logsumexp(function, x, axis); });
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// exp(x - max) / sum(exp(x - max)) along an axis: same shape, empty along an empty axis. Eager. Throws index_error.
template <array_expression X>
auto softmax(const X& x, cudarray::detail::any_integer axis = -1) {
  return detail::softmax("nnet::softmax", x, axis);
}

/// log(sum(exp(x))) along an axis, without overflow; -inf along an empty axis. Eager.
template <array_expression X>
auto logsumexp(const X& x, cudarray::detail::any_integer axis = -1, bool keep = false) {
  const auto r = detail::logsumexp("nnet::logsumexp", x, axis);
  return keep ? r : ndarray<value_type_t<X>, device_type_t<X>>(squeeze(r, axis.value));
}

/// x - logsumexp(x): the logarithm of softmax. Eager.
template <array_expression X>
auto log_softmax(const X& x, cudarray::detail::any_integer axis = -1) {
  return detail::log_softmax("nnet::log_softmax", x, axis);
}

/// One row per label, 1 at the label and 0 elsewhere: (b,) -> (b, n). Eager. Throws index_error for a label that is not
/// in [-n, n): on CUDA at the next synchronising call.
template <dtype T = float, array_expression L>
auto one_hot_encode(const L& labels, cudarray::detail::any_integer n) {
  using D = device_type_t<L>;
  constexpr const char* function = "nnet::one_hot_encode";
  if (n < 0) cudarray::detail::fail<value_error>(function, ": ", n, " classes");
  const ndarray<int64, D> index(cudarray::detail::index_node(function, cudarray::detail::as_array(labels)));
  const ndarray<int64, D> numbers = cudarray::detail::integer_range<int64>(0, n.value, 1, index.device());
  cudarray::detail::check_indices<D>(function, index.node(), numbers.size(), 0);
  const ndarray<int64, D> checked = cudarray::detail::make_gather(numbers.node(), index.node(), 0, function);
  return ndarray<T, D>(astype<T>(expand_dims(checked, -1) == numbers));
}

/// The position of the largest element of each row: (b, n) -> (b,), int64. Lazy.
template <array_expression X>
auto one_hot_decode(const X& x) {
  return detail::make_reduce<op::argmax_op>("nnet::one_hot_decode", x, -1, false);
}

/// The loss of each row, -sum(y_true * log(p)), where p is y_pred clipped to [eps, 1 - eps] and its rows made to sum to
/// one again: (b, n), (b, n) -> (b,). Eager. Throws shape_error where the shapes differ: labels do not broadcast.
template <array_expression P, array_expression Y>
auto categorical_cross_entropy(const P& y_pred, const Y& y_true, double eps = 1e-15) {
  using T = value_type_t<P>;
  using A = ndarray<T, device_type_t<P>>;
  constexpr const char* function = "nnet::categorical_cross_entropy";
  detail::check_labels(function, cudarray::detail::dims_of(y_pred), cudarray::detail::dims_of(y_true));
  if (!(eps >= 0 && eps < 0.5)) cudarray::detail::fail<value_error>(function, ": eps ", eps, " is not in [0, 0.5)");
  const A p = clip(y_pred, eps, 1 - eps);
  const auto total = detail::make_reduce<op::sum_op>(function, p, -1, true);
  return A(detail::cross_entropy(function, y_true, log(p / total)));
}

/// categorical_cross_entropy(softmax(x), y) without its loss of precision: (b, n), (b, n) -> (b,). Its gradient with
/// respect to x is softmax(x) - y for rows of y that sum to one. Eager. Throws shape_error.
template <array_expression X, array_expression Y>
auto softmax_cross_entropy(const X& x, const Y& y_true) {
  constexpr const char* function = "nnet::softmax_cross_entropy";
  detail::check_labels(function, cudarray::detail::dims_of(x), cudarray::detail::dims_of(y_true));
  const auto log_p = detail::log_softmax(function, x, -1);
  return ndarray<value_type_t<X>, device_type_t<X>>(detail::cross_entropy(function, y_true, log_p));
}
/// The gradient of softmax_cross_entropy with respect to x, for a gradient of 1 for each row: softmax(x) - y. Eager.
template <array_expression X, array_expression Y>
auto softmax_cross_entropy_backward(const X& x, const Y& y_true) {
  constexpr const char* function = "nnet::softmax_cross_entropy_backward";
  detail::check_labels(function, cudarray::detail::dims_of(x), cudarray::detail::dims_of(y_true));
  const auto p = detail::softmax(function, x, -1);
  return ndarray<value_type_t<X>, device_type_t<X>>(detail::elementwise(function, op::subtract_op{}, p, y_true));
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
