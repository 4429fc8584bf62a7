// Cross-entropy of logits and class numbers, and its gradient in the same pass: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "elementwise_losses.hpp"
#include "losses.hpp"

namespace cudarray::inline v0::nnet {

struct cross_entropy_options {
  double label_smoothing = 0;  ///< this part of a row's weight is spread over all classes
  int64 ignore_index = -100;   ///< rows with this label count nothing
  int axis = -1;               ///< of the classes
};

/// A loss, and its gradient with respect to the logits.
template <class T, class Device>
struct loss_and_gradient {
  ndarray<T, Device> loss;
  ndarray<T, Device> gradient;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::compute_t;

/// A label as int32, -1 for one that is ignored. Others that are no class are recorded.
struct label_op {
  template <class L, class I, class N>
  struct types : rule::uniform<int64, int32, true> {};
  static constexpr bool lanes = false, may_fault = true;
  const char* function;
  int axis;
  cudarray::detail::fault_site fault;
  label_op reporting_to(const cudarray::detail::fault_sink& faults) const {
    return {function, axis, {faults, function, axis}};
  }
  CUDARRAY_HD int32 operator()(int64 label, int64 ignored, int64 classes) const {
    if (label == ignored) return -1;
    if (label >= 0 && label < classes) return int32(label);
    cudarray::detail::record_fault(fault, 0, label, classes);
    return -1;
  }
};

/// The number of a column.
struct column_number {
  using value_type = int32;
  CUDARRAY_HD int32 operator()(int64 i) const { return int32(i); }
};
/// The numbers of the classes along an axis of `dims`.
template <class D>
auto columns(const shape& dims, int axis, D device) {
  shape s;
  s.push_back(dims[axis]);
  for (int d = axis + 1; d < dims.ndim(); ++d) s.push_back(1);
  return cudarray::detail::generate<column_number, D>{{}, {}, s, device.ordinal};
}

/// What a row is computed in, of constants.
template <class T>
using constant_t = cudarray::detail::primal_t<compute_t<T>>;

/// All classes weigh the same.
struct no_weights {};
/// What cross_entropy is given, checked: labels, and weights of classes, with as many axes as the logits.
template <class T, class D, class Weights>
struct classified {
  const ndarray<T, D> x;
  ndarray<int32, D> label;
  Weights weights;
  ndarray<constant_t<T>, D> scale;  ///< 0-d: what the sum of the losses is multiplied by
  int axis;
  double on, off;  ///< what the label and all other classes have of a row

  static constexpr bool weighted = !::std::is_same_v<Weights, no_weights>;
  /// What each class has of a row.
  auto target() const {
    using C = constant_t<T>;
    const auto t = where(columns(x.shape(), axis, x.device()) == label, C(on), C(off));
    if constexpr (weighted) return t * weights;
    else return t;
  }
};
inline void check_classes(const char* function, const shape& x, const shape& labels, int axis,
                          const cross_entropy_options& o) {
  shape rows;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis) rows.push_back(x[d]);
  if (labels != rows)
    cudarray::detail::fail<shape_error>(function, ": logits of shape ", x, ", labels of shape ", labels, ": ", rows,
                                        " is wanted");
  if (x[axis] == 0 || x[axis] > INT32_MAX)
    cudarray::detail::fail<shape_error>(function, ": logits of shape ", x, " have ", x[axis], " classes");
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    cudarray::detail::fail<value_error>(function, ": label_smoothing ", o.label_smoothing, " is not in [0, 1]");
}
/// Weights of classes as they lie along an axis.
template <class T, class D, class W>
auto weights_along(const char* function, const ndarray<T, D>& x, const W& weights, int axis) {
  if constexpr (::std::is_same_v<W, no_weights>) {
    return weights;
  } else {
    const ndarray<constant_t<T>, D> w(astype<constant_t<T>>(weights));
    if (w.shape() != shape{x.shape(axis)})
      cudarray::detail::fail<shape_error>(function, ": logits of shape ", x.shape(), ", weights of shape ", w.shape(),
                                          ": ", shape{x.shape(axis)}, " is wanted");
    shape along{x.shape(axis)};
    for (int d = axis + 1; d < x.ndim(); ++d) along.push_back(1);
    return reshape(w, along);
  }
}
template <reduction R, class T, class D, class L, class W>
auto classify(const char* function, const ndarray<T, D>& x, const L& labels, const W& class_weights,
              const cross_entropy_options& o) {
  using C = constant_t<T>;
  const int axis = cudarray::detail::normal_axis(function, o.axis, x.ndim());
  check_classes(function, x.shape(), cudarray::detail::dims_of(labels), axis, o);
  const int64 n = x.shape(axis);
  const auto weights = weights_along(function, x, class_weights, axis);
  const ndarray<int32, D> label(expand_dims(ndarray<int32, D>(cudarray::detail::elementwise(
                                                function, label_op{function, axis, {}}, labels, o.ignore_index, n)),
                                            axis));
  (void)cudarray::detail::common_device(function, x, label);
  const auto scale = [&]() -> ndarray<C, D> {
    if constexpr (R != reduction::mean) return ones<C, D>({}, x.device());
    else if constexpr (::std::is_same_v<W, no_weights>) return C(1) / astype<C>(sum(label >= 0));
    else return C(1) / sum(where(label >= 0, take(ravel(weights), maximum(label, 0)), 0));
  };
  const double off = o.label_smoothing / double(n);
  return classified<T, D, ::std::remove_cv_t<decltype(weights)>>{
      x, label, weights, scale(), axis, 1 - o.label_smoothing + off, off};
}

/// The losses of the rows, unscaled, and, into `dx` unless it is null, the gradient of all of them, scaled.
template <class T, class D, class W>
ndarray<compute_t<T>, D> cross_entropy_rows(const classified<T, D, W>& c, const ndarray<T, D>* dx) {
  using C = compute_t<T>;
  const auto x = wide(c.x);
  const auto largest = max(x, c.axis, keepdims);
  const auto e = exp(x - largest);
  const auto total = sum(e, c.axis, keepdims);
  const auto target = c.target();
  const auto at_target = sum(cudarray::detail::elementwise("", weighted_op{}, target, x, 0), c.axis, keepdims);
  const auto whole = [&](const auto& v) {  // times what all classes have of the row: 1, without weights
    if constexpr (classified<T, D, W>::weighted) return v * sum(target, c.axis, keepdims);
    else return v;
  };
  const auto loss = where(c.label < 0, 0, whole(log(total) + largest) + at_target);
  if (dx == nullptr) return loss;
  const ndarray<C, D> rows = empty<C, D>(c.label.shape(), c.x.device());
  assign_together(out(rows) = loss, out(*dx) = where(c.label < 0, 0, (whole(e / total) - target) * c.scale));
  return rows;
}
/// What a loss makes of those of rows.
template <reduction R, class T, class D, class W>
ndarray<T, D> reduced_rows(const classified<T, D, W>& c, const ndarray<compute_t<T>, D>& rows) {
  if constexpr (R == reduction::none) return squeeze(ndarray<T, D>(astype<T>(rows)), c.axis);
  else return astype<T>(sum(rows) * c.scale);
}

template <class L>
concept class_labels = array_expression<L> &&(kind_of<value_type_t<L>> <= kind::signed_);
template <class Y>
concept class_probabilities = array_expression<Y> &&(kind_of<value_type_t<Y>> >= kind::floating);

template <reduction R, class X, class L, class W>
auto cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o) {
  using T = value_type_t<X>;
  using A = ndarray<T, device_type_t<X>>;
  constexpr bool floating = cudarray::detail::is_differentiable<T>;
  static_assert(floating, "cudarray: nnet::cross_entropy takes logits of a floating dtype: use ca::astype<float>(x)");
  const auto c = classify<R>("nnet::cross_entropy", A(x), labels, weights, o);
  return reduced_rows<R>(c, cross_entropy_rows(c, static_cast<const A*>(nullptr)));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The mean over the rows of log(sum(exp(x))) - x[label]: logits of n classes along an axis, and an integer of [0, n)
/// for each row: (.., n), (..) -> (). `cross_entropy<ca::nnet::reduction::none>` is (..). The mean is that of the rows
/// which are not ignored, NaN where there are none. Half types are computed in float32. Eager. Throws shape_error,
/// value_error, and index_error for a label that is no class: on CUDA at the next synchronising call.
///     ca::nnet::cross_entropy(x, labels, {.label_smoothing = 0.1})
template <reduction R = reduction::mean, array_expression X, detail::class_labels L>
auto cross_entropy(const X& x, const L& labels, const cross_entropy_options& o = {}) {
  return detail::cross_entropy<R>(x, labels, detail::no_weights{}, o);
}
/// With weights of the classes, (n,): rows count, also in the mean, as much as their label weighs.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, array_expression W>
auto cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o = {}) {
  return detail::cross_entropy<R>(x, labels, weights, o);
}
/// Of a probability of each class, (.., n), (.., n) -> (), which need not sum to one: the mean over the rows of
/// -sum(y log(softmax(x))).
template <reduction R = reduction::mean, array_expression X, detail::class_probabilities Y>
auto cross_entropy(const X& x, const Y& y) {
  return detail::loss<R>([](const auto& a, const auto& b) { return softmax_cross_entropy(a, b); }, x, y);
}
/// cross_entropy of labels, and its gradient with respect to the logits, made in one pass over these; of
/// `reduction::none` that of the sum.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L>
auto cross_entropy_and_gradient(const X& x, const L& labels, const cross_entropy_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const auto c =
      detail::classify<R>("nnet::cross_entropy_and_gradient", ndarray<T, D>(x), labels, detail::no_weights{}, o);
  const ndarray<T, D> dx = empty<T, D>(c.x.shape(), c.x.device());
  const ndarray<T, D> loss = detail::reduced_rows<R>(c, detail::cross_entropy_rows(c, &dx));
  return loss_and_gradient<T, D>{loss, dx};
}
/// The same with the gradient in an array of the logits' shape, which may be the logits. Returns the loss.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, class T, class D>
ndarray<T, D> cross_entropy_and_gradient(const X& x, const L& labels, const cross_entropy_options& o,
                                         const out_argument<T, D>& gradient) {
  constexpr const char* function = "nnet::cross_entropy_and_gradient";
  const auto c = detail::classify<R>(function, ndarray<T, D>(x), labels, detail::no_weights{}, o);
  if (gradient.array.shape() != c.x.shape())
    cudarray::detail::fail<shape_error>(function, ": logits of shape ", c.x.shape(), ", a gradient of shape ",
                                        gradient.array.shape());
  return detail::reduced_rows<R>(c, detail::cross_entropy_rows(c, &gradient.array));
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
