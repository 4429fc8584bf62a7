// Cross-entropy of logits and class numbers, and its gradient in the same pass: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "elementwise_losses.hpp"
#include "losses.hpp"

namespace cudarray::inline v0::nnet {

struct cross_entropy_options {
  double label_smoothing = 0;               ///< this part of a row's weight is spread over all classes
  int64 ignore_index = -100;                ///< rows with this label count nothing
  cudarray::detail::any_integer axis = -1;  ///< of the classes
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
  template <class...>
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

/// Labels as int64 holds them: what is beyond is no class.
template <class L>
auto bounded_labels(const L& labels) {
  if constexpr (::std::is_same_v<value_type_t<L>, uint64>) return minimum(labels, uint64(INT64_MAX));
  else return cudarray::detail::known_operand(labels);
}
/// Where row i begins in an array in C order whose axis of n classes has `inner` elements behind it.
struct row_begin {
  using value_type = int64;
  int64 n, inner;
  CUDARRAY_HD int64 operator()(int64 i) const { return i / inner * (n * inner) + i % inner; }
};

/// What a row is computed in, of constants.
template <class T>
using constant_t = cudarray::detail::primal_t<compute_t<T>>;

/// All classes weigh the same.
struct no_weights {};
/// What cross_entropy is given, checked, and what is known of each row, with the axis of the classes kept. A class has
/// the part `off` of a row, the label `on` more; each part counts as much as its class weighs.
template <class T, class D, class Weights>
struct classified {
  using C = compute_t<T>;
  using K = constant_t<T>;
  const ndarray<T, D> x;
  Weights weights;      ///< as they lie along the axis
  ndarray<K, D> scale;  ///< 0-d: what the sum of the losses is multiplied by
  int axis;
  double on, off;
  ndarray<int32, D> label;  ///< -1 where it is ignored
  ndarray<C, D> picked;     ///< the label's logit
  ndarray<K, D> factor;     ///< the scale; 0 where the label is ignored

  static constexpr bool weighted = !::std::is_same_v<Weights, no_weights>;
  /// What the label weighs, and all parts of the row.
  auto label_weight() const { return reshape(take(ravel(weights), maximum(label, 0)), label.shape()); }
  auto row_weight() const { return label_weight() * K(on) + sum(weights) * K(off); }
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
/// `Scaled`: the gradients of the rows are those of the loss, not yet to be multiplied by `scale`.
template <reduction R, bool Scaled = true, class T, class D, class L, class W>
auto classify(const char* function, const ndarray<T, D>& x, const L& given, const W& class_weights,
              const cross_entropy_options& o) {
  namespace core = cudarray::detail;
  using C = compute_t<T>;
  using K = constant_t<T>;
  const int axis = core::normal_axis(function, o.axis, x.ndim());
  check_classes(function, x.shape(), core::dims_of(given), axis, o);
  const int64 n = x.shape(axis);
  const auto weights = weights_along(function, x, class_weights, axis);
  const auto labels = expand_dims(core::as_array(bounded_labels(given)), axis);
  const auto device = core::common_device(function, x, labels);
  const auto label = core::elementwise(function, label_op{function, axis, {}}, labels, o.ignore_index, n);
  const auto scale = [&]() -> ndarray<K, D> {
    if constexpr (R != reduction::mean) return ones<K, D>({}, device);
    else if constexpr (::std::is_same_v<W, no_weights>) return K(1) / astype<K>(sum(label >= 0));
    else return K(1) / sum(where(label >= 0, reshape(take(ravel(weights), maximum(label, 0)), labels.shape()), 0));
  };
  const double off = o.label_smoothing / double(n);
  const classified<T, D, ::std::remove_cv_t<decltype(weights)>> c{x,
                                                                  weights,
                                                                  scale(),
                                                                  axis,
                                                                  1 - o.label_smoothing,
                                                                  off,
                                                                  empty<int32, D>(labels.shape(), device),
                                                                  empty<C, D>(labels.shape(), device),
                                                                  empty<K, D>(labels.shape(), device)};
  const auto index = core::index_node(function, maximum(label, 0));
  assign_together(out(c.label) = label,
                  out(c.picked) = astype<C>(core::make_gather_along(function, x.node(), index, axis)),
                  out(c.factor) = where(label < 0, 0, Scaled ? c.scale : ones<K, D>({}, device)));
  return c;
}

/// The logarithm of the sum of exp(x) of each row and, into `dx` unless it is null, the gradient of all rows.
template <class T, class D, class W>
ndarray<compute_t<T>, D> logarithms_of_rows(const classified<T, D, W>& c, const ndarray<T, D>* dx) {
  using C = compute_t<T>;
  using K = constant_t<T>;
  const auto x = wide<compute_t<T>>(c.x);
  const auto largest = max(x, c.axis, keepdims);
  const auto e = exp(x - largest);
  const auto total = sum(e, c.axis, keepdims);
  const auto logarithm = log(total) + largest;
  if (dx == nullptr) return logarithm;
  const ndarray<C, D> r = empty<C, D>(c.label.shape(), c.x.device());
  if constexpr (classified<T, D, W>::weighted) {
    const ndarray<K, D> weight = c.row_weight(), part = c.weights * K(c.off);
    assign_together(out(r) = logarithm, out(*dx) = where(c.factor == 0, 0, (e / total * weight - part) * c.factor));
  } else {
    assign_together(out(r) = logarithm, out(*dx) = where(c.factor == 0, 0, (e / total - K(c.off)) * c.factor));
  }
  return r;
}
/// Writes the gradients at the labels, which have the part `on` besides, into an array in C order.
template <class T, class D, class W>
void write_at_labels(const classified<T, D, W>& c, const ndarray<compute_t<T>, D>& logarithm, const ndarray<T, D>& dx) {
  using K = constant_t<T>;
  const int64 rows = c.label.size(), n = c.x.shape(c.axis);
  if (rows == 0) return;
  int64 inner = 1;
  for (int d = c.axis + 1; d < c.x.ndim(); ++d) inner *= c.x.shape(d);
  const auto flat = [rows](const auto& a) { return reshape(a, {rows}); };
  const auto label = flat(c.label);
  const auto factor = flat(c.factor);
  const auto p = exp(flat(c.picked) - flat(logarithm));
  const auto index = maximum(astype<int64>(label), 0) * inner +
                     cudarray::detail::generate<row_begin, D>{{}, {n, inner}, {rows}, c.x.device().ordinal};
  const ndarray<T, D> all = reshape(dx, {dx.size()});
  const auto put = [&](const auto& value) {
    cudarray::detail::scatter<T, D>(all.storage(), all.where(), 0, index,
                                    cudarray::detail::cast_node<T>(where(label < 0, 0, value)), {rows});
  };
  if constexpr (classified<T, D, W>::weighted) {
    put((p * flat(c.row_weight()) - flat(c.label_weight()) * K(c.on + c.off)) * factor);
  } else {
    put((p - K(c.on + c.off)) * factor);
  }
}

/// The logits of each row, each times what its class has of it: all that is not the logarithm.
template <class T, class D, class W>
ndarray<compute_t<T>, D> logits_at_parts(const classified<T, D, W>& c) {
  using K = constant_t<T>;
  if constexpr (classified<T, D, W>::weighted) {
    if (c.off == 0) return c.label_weight() * c.picked;
    return c.label_weight() * K(c.on) * c.picked +
           sum(wide<compute_t<T>>(c.x) * c.weights, c.axis, keepdims) * K(c.off);
  } else {
    if (c.off == 0) return c.picked;
    return K(c.on) * c.picked + sum(wide<compute_t<T>>(c.x), c.axis, keepdims) * K(c.off);
  }
}
/// The losses of the rows, unscaled, and, into `dx` unless it is null, the gradient of all of them, scaled. It may be
/// the logits.
template <class T, class D, class W>
ndarray<compute_t<T>, D> cross_entropy_rows(const classified<T, D, W>& c, const ndarray<T, D>* dx) {
  const auto at_parts = logits_at_parts(c);
  const bool dense = dx == nullptr || dx->is_contiguous();
  const ndarray<T, D> gradient = dx == nullptr ? ndarray<T, D>() : dense ? *dx : ndarray<T, D>(empty_like(*dx));
  const auto logarithm = logarithms_of_rows(c, dx == nullptr ? nullptr : &gradient);
  if (dx != nullptr) write_at_labels(c, logarithm, gradient);
  if (!dense) (*dx)(ellipsis) = gradient;
  if constexpr (classified<T, D, W>::weighted) return where(c.label < 0, 0, c.row_weight() * logarithm - at_parts);
  else return where(c.label < 0, 0, logarithm - at_parts);
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

/// Whether these are logits; a sentence where they are not.
template <class X, class W = no_weights>
constexpr bool takes_logits() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>,
                 constant = !cudarray::detail::has_variable<W>;
  static_assert(floating, "cudarray: nnet::cross_entropy takes logits of a floating dtype: use ca::astype<float>(x)");
  static_assert(constant, "cudarray: nnet::cross_entropy has no gradient of weights: use ca::stop_gradient(weights)");
  return floating && constant;
}
/// Whether these are logits without a derivative.
template <class X>
constexpr bool takes_arrays() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>,
                 array = !cudarray::detail::has_variable<X>;
  static_assert(floating, "cudarray: nnet::cross_entropy takes logits of a floating dtype: use ca::astype<float>(x)");
  static_assert(array,
                "cudarray: nnet::cross_entropy_and_gradient takes arrays: of variables nnet::cross_entropy(x, labels) "
                "has the gradient by backward()");
  return floating && array;
}
template <reduction R, class X, class L, class W>
auto cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o) {
  using T = value_type_t<X>;
  using A = ndarray<T, device_type_t<X>>;
  const auto c = classify<R>("nnet::cross_entropy", A(x), labels, weights, o);
  return reduced_rows<R>(c, cross_entropy_rows(c, static_cast<const A*>(nullptr)));
}

/// The loss and the gradient, in the array that `make(x)` gives.
template <reduction R, class X, class L, class Make>
auto with_gradient(const X& x, const L& labels, const cross_entropy_options& o, const Make& make) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const auto c = classify<R>("nnet::cross_entropy_and_gradient", ndarray<T, D>(x), labels, no_weights{}, o);
  const ndarray<T, D> dx = make(c.x);
  const ndarray<T, D> loss = reduced_rows<R>(c, cross_entropy_rows(c, &dx));
  return loss_and_gradient<T, D>{loss, dx};
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
  if constexpr (detail::takes_logits<X>()) return detail::cross_entropy<R>(x, labels, detail::no_weights{}, o);
  else return cudarray::detail::poison{};
}
/// With weights of the classes, (n,): rows count, also in the mean, as much as their label weighs.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, array_expression W>
auto cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o = {}) {
  if constexpr (detail::takes_logits<X, W>()) return detail::cross_entropy<R>(x, labels, weights, o);
  else return cudarray::detail::poison{};
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
  if constexpr (detail::takes_arrays<X>())
    return detail::with_gradient<R>(x, labels, o, [](const auto& a) { return empty_like(a); });
  else return loss_and_gradient<float, device_type_t<X>>();
}
/// The same with the gradient in an array of the logits' shape, which may be the logits. Returns the loss.
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, class T, class D>
auto cross_entropy_and_gradient(const X& x, const L& labels, const cross_entropy_options& o,
                                const out_argument<T, D>& gradient) {
  const shape& logits = cudarray::detail::dims_of(x);
  if (gradient.array.shape() != logits)
    cudarray::detail::fail<shape_error>("nnet::cross_entropy_and_gradient: logits of shape ", logits,
                                        ", a gradient of shape ", gradient.array.shape());
  if constexpr (detail::takes_arrays<X>())
    return detail::with_gradient<R>(x, labels, o, [&](const auto&) { return gradient.array; }).loss;
  else return cudarray::detail::poison{};
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
