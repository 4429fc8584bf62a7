// The negative log-likelihood of class numbers: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "cross_entropy.hpp"

namespace cudarray::inline v0::nnet {

struct nll_loss_options {
  int64 ignore_index = -100;                ///< rows with this label count nothing
  cudarray::detail::any_integer axis = -1;  ///< of the classes
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// What each row counts: `weight(labels)`, labels being int32 with the axis kept, -1 where they are ignored.
template <reduction R, class X, class L, class Weight>
auto nll_loss(const X& x, const L& given, const nll_loss_options& o, const Weight& weight) {
  constexpr const char* function = "nnet::nll_loss";
  namespace core = cudarray::detail;
  const shape& dims = core::dims_of(x);
  const int axis = core::normal_axis(function, o.axis, dims.ndim());
  check_classes(function, dims, core::dims_of(given), axis, {});
  using C = loss_t<value_type_t<X>>;
  using D = device_type_t<X>;
  const auto labels = expand_dims(core::as_array(bounded_labels(given)), axis);
  const ndarray<int32, D> label(
      core::elementwise(function, label_op{function, axis, {}}, labels, o.ignore_index, dims[axis]));
  const ndarray<core::primal_t<C>, D> factor(where(label < 0, 0, weight(label)));
  const auto rows = [&](const auto& a) {
    const auto picked = squeeze(eval(take_along_axis(a, maximum(label, 0), axis)), axis);
    return where(squeeze(label, axis) < 0, 0, -picked * squeeze(factor, axis));
  };
  if constexpr (R == reduction::mean)
    return eval(loss<reduction::none>([&](const auto& a) { return sum(rows(a)) / sum(factor); }, x));
  else return eval(loss<R>(rows, x));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// -x[label] of logarithms x of probabilities of n classes along an axis, and an integer of [0, n) for each row: (..,
/// n),
/// (..) -> (), the mean over the rows that are not ignored, NaN where there are none. Behind log_softmax it is
/// cross_entropy, which needs less memory. Eager. Throws shape_error, and index_error for a label that is no class: on
/// CUDA at the next synchronising call.
///     ca::nnet::nll_loss(ca::nnet::log_softmax(x), labels)
template <reduction R = reduction::mean, array_expression X, detail::class_labels L>
auto nll_loss(const X& x, const L& labels, const nll_loss_options& o = {}) {
  return detail::nll_loss<R>(x, labels, o, [](const auto&) { return 1; });
}
/// With weights of the classes, (n,), which have no gradient: rows count, also in the mean, as much as their label
/// weighs.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, array_expression W>
auto nll_loss(const X& x, const L& labels, const W& weights, const nll_loss_options& o = {}) {
  constexpr bool constant = !cudarray::detail::has_variable<W>;
  static_assert(constant, "cudarray: nnet::nll_loss has no gradient of weights: use ca::stop_gradient(weights)");
  if constexpr (constant) {
    const shape& dims = cudarray::detail::dims_of(x);
    const int axis = cudarray::detail::normal_axis("nnet::nll_loss", o.axis, dims.ndim());
    if (cudarray::detail::dims_of(weights) != shape{dims[axis]})
      cudarray::detail::fail<shape_error>("nnet::nll_loss: x of shape ", dims, ", weights of shape ",
                                          cudarray::detail::dims_of(weights), ": ", shape{dims[axis]}, " is wanted");
    return detail::nll_loss<R>(x, labels, o, [&](const auto& label) {
      return reshape(eval(take(weights, ravel(maximum(label, 0)), 0)), label.shape());
    });
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
