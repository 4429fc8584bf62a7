// The derivatives of neural-network functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/ctc_loss.hpp"
#include "../nnet/embedding.hpp"
#include "../nnet/linear.hpp"
#include "../nnet/local_response_norm.hpp"
#include "../nnet/losses.hpp"
#include "attention.hpp"
#include "batch_norm.hpp"
#include "conv.hpp"
#include "cross_entropy.hpp"
#include "dual_products.hpp"
#include "images.hpp"
#include "indexing.hpp"
#include "linalg.hpp"
#include "pool.hpp"
#include "recurrent.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::apply_rule;

struct glu_rule {
  int axis;
  template <int, class A, class X>
  X gradient(const A& g, const X& x) const {
    X dx = empty_like(x);
    const auto [value, gate] = halves("nnet::glu", x, axis);
    const auto [of_value, of_gate] = halves("nnet::glu", dx, axis);
    of_value(ellipsis) = g * sigmoid(gate);
    of_gate(ellipsis) = g * value * sigmoid(gate) * sigmoid(-gate);
    return dx;
  }
  static constexpr bool reads(int, int) { return true; }
};
template <class C, class D>
struct ctc_rule {
  ctc_paths<C, D> paths;
  template <int, class X>
  ndarray<C, D> gradient(const ndarray<C, D>& g, const X& x) const {
    return paths.gradient(g, x.shape());
  }
  static constexpr bool reads(int, int) { return false; }
};
struct embedding_rule {
  int64 padding;  ///< a row without gradient, or -1
  template <int K, class A, class W, class Ix>
  A gradient(const A& g, const W& table, const Ix& index) const {
    const A to = cudarray::detail::take_rule{0}.template gradient<0>(g, table, index);
    if (padding >= 0) to(padding)(ellipsis) = 0;
    return to;
  }
  static constexpr bool reads(int, int operand) { return operand == 1; }
};
struct local_response_norm_rule {
  local_response_norm_options options;
  template <int, class T, class D, class X>
  ndarray<T, D> gradient(const ndarray<T, D>& g, const X& x) const {
    return local_response<T, D>(x, options).gradient(g);
  }
  static constexpr bool reads(int, int) { return true; }
};
struct softmax_rule {
  int axis;
  static constexpr bool reads_value = true;
  template <int, class A, class X>
  A gradient(const A& g, const A& y, const X&) const {
    return y * (g - sum(g * y, axis, keepdims));
  }
  static constexpr bool reads(int, int) { return false; }
};
struct log_softmax_rule {
  int axis;
  static constexpr bool reads_value = true;
  template <int, class A, class X>
  A gradient(const A& g, const A& y, const X&) const {
    return g - exp(y) * sum(g, axis, keepdims);
  }
  static constexpr bool reads(int, int) { return false; }
};
/// With the axis kept.
struct logsumexp_rule {
  int axis;
  template <int, class A, class X>
  A gradient(const A& g, const X& x) const {
    return g * nnet::softmax(x, axis);
  }
  static constexpr bool reads(int, int) { return true; }
};
/// Of scores x and weights t, whose rows sum to one or not.
struct softmax_cross_entropy_rule {
  template <int K, class A, class X, class Y>
  A gradient(const A& g, const X& x, const Y& t) const {
    const A rows = expand_dims(g, -1);
    if constexpr (K == 0) return (nnet::softmax(x, -1) * sum(t, -1, keepdims) - t) * rows;
    else return -nnet::log_softmax(x, -1) * rows;
  }
  static constexpr bool reads(int k, int operand) { return k == 0 || operand == 0; }
};

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

template <variable_expression X>
auto glu(const X& x, cudarray::detail::any_integer axis = -1) {
  const int at = cudarray::detail::normal_axis("nnet::glu", axis, cudarray::detail::dims_of(x).ndim());
  return detail::apply_rule(
      detail::glu_rule{at}, [&](const auto& a) { return glu(a, at); }, x);
}
template <reduction R = reduction::mean, variable_expression X, detail::class_labels L, detail::class_labels N,
          detail::class_labels M>
auto ctc_loss(const X& log_probabilities, const L& labels, const N& steps, const M& label_counts,
              const ctc_loss_options& o = {}) {
  using cudarray::detail::dims_of;
  using T = value_type_t<X>;
  using C = detail::compute_t<T>;
  using D = device_type_t<X>;
  detail::check_ctc(dims_of(log_probabilities), dims_of(labels), dims_of(steps), dims_of(label_counts), o);
  const variable<T, D> x(log_probabilities);
  const detail::ctc_paths<C, D> paths(x.value(), labels, steps, label_counts, o.blank);
  const auto rows = detail::apply_rule(
      detail::ctc_rule<C, D>{paths}, [&](const auto&) { return paths.losses; }, x);
  return detail::ctc_reduced<R, T>(paths, rows, o);
}
template <array_expression Ix, variable_expression W>
auto embedding(const Ix& index, const W& table, const embedding_options& o = {}) {
  using D = device_type_t<W>;
  const int64 padding = detail::check_embedding("nnet::embedding", cudarray::detail::dims_of(table), o);
  const ndarray<int64, D> picks(cudarray::detail::index_node("nnet::embedding", index));
  return detail::apply_rule(
      detail::embedding_rule{padding}, []<class A>(const A& a, const auto& i) { return A(take(a, i, 0)); }, table,
      picks);
}
template <variable_expression X>
auto local_response_norm(const X& x, const local_response_norm_options& o = {}) {
  detail::check_local_response("nnet::local_response_norm", cudarray::detail::dims_of(x), o);
  return detail::apply_rule(
      detail::local_response_norm_rule{o}, [&](const auto& a) { return local_response_norm(a, o); }, x);
}
template <variable_expression W, class T, class D>
auto spectral_norm(const W& w, const ndarray<T, D>& u, const spectral_norm_options& o = {}) {
  const auto weights = eval(w);
  const auto v = detail::singular_vectors(weights.value(), u, o);
  const auto result = detail::by_singular_value(weights, v);
  if (o.iterations > 0) u(ellipsis) = astype<T>(v.left);
  return result;
}
template <variable_expression X>
auto softmax(const X& x, cudarray::detail::any_integer axis = -1) {
  const int at = cudarray::detail::normal_axis("nnet::softmax", axis, cudarray::detail::dims_of(x).ndim());
  return detail::apply_rule(
      detail::softmax_rule{at}, [&](const auto& a) { return softmax(a, at); }, x);
}
template <variable_expression X>
auto log_softmax(const X& x, cudarray::detail::any_integer axis = -1) {
  const int at = cudarray::detail::normal_axis("nnet::log_softmax", axis, cudarray::detail::dims_of(x).ndim());
  return detail::apply_rule(
      detail::log_softmax_rule{at}, [&](const auto& a) { return log_softmax(a, at); }, x);
}
template <variable_expression X>
auto logsumexp(const X& x, cudarray::detail::any_integer axis = -1, bool keep = false) {
  const int at = cudarray::detail::normal_axis("nnet::logsumexp", axis, cudarray::detail::dims_of(x).ndim());
  const auto r = detail::apply_rule(
      detail::logsumexp_rule{at}, [&](const auto& a) { return logsumexp(a, at, true); }, x);
  return keep ? r : squeeze(r, at);
}
template <array_expression X, array_expression Y>
requires(variable_expression<X> || variable_expression<Y>) auto softmax_cross_entropy(const X& x, const Y& y_true) {
  return detail::apply_rule(
      detail::softmax_cross_entropy_rule{}, [](const auto& a, const auto& t) { return softmax_cross_entropy(a, t); }, x,
      y_true);
}
template <reduction R = reduction::mean, array_expression X, detail::class_probabilities Y>
requires(variable_expression<X> || variable_expression<Y>) auto cross_entropy(const X& x, const Y& y) {
  return detail::loss<R>([](const auto& a, const auto& b) { return softmax_cross_entropy(a, b); }, x, y);
}
/// The gradient of y_pred; that of labels is not recorded.
template <variable_expression P, array_expression Y>
auto categorical_cross_entropy(const P& y_pred, const Y& y_true, double eps = 1e-15) {
  using T = value_type_t<P>;
  using V = variable<T, device_type_t<P>>;
  constexpr bool labels = !cudarray::detail::has_variable<Y>;
  static_assert(labels,
                "cudarray: nnet::categorical_cross_entropy has no gradient of labels: use ca::stop_gradient(y)");
  constexpr const char* function = "nnet::categorical_cross_entropy";
  detail::check_labels(function, cudarray::detail::dims_of(y_pred), cudarray::detail::dims_of(y_true));
  if (!(eps >= 0 && eps < 0.5)) cudarray::detail::fail<value_error>(function, ": eps ", eps, " is not in [0, 0.5)");
  const V p(clip(y_pred, eps, 1 - eps));
  const V rows(where(y_true == 0, 0, y_true * log(where(y_true == 0, 1, p / sum(p, -1, keepdims)))));
  return V(-sum(rows, -1));
}
/// x @ w + b, with an activation.
template <array_expression X, array_expression W, array_expression B>
requires(variable_expression<X> || variable_expression<W> ||
         variable_expression<B>) auto linear(const X& x, const W& w, const B& b, const linear_options& o = {}) {
  using cudarray::detail::primal_t;
  using T = primal_t<value_type_t<X>>;
  using V = variable<result_type_t<value_type_t<X>, value_type_t<W>, value_type_t<B>>, device_type_t<X>>;
  constexpr bool one_dtype =
      ::std::is_same_v<primal_t<value_type_t<W>>, T> && ::std::is_same_v<primal_t<value_type_t<B>>, T>;
  static_assert(one_dtype, "cudarray: nnet::linear: x, w and b must be of one floating dtype: use ca::astype<T>(x)");
  const shape weights = cudarray::detail::dims_of(w), bias = cudarray::detail::dims_of(b);
  if (weights.ndim() != 2 || bias != shape{weights[1]})
    cudarray::detail::fail<shape_error>("nnet::linear: weights of shape ", weights, " and a bias of shape ", bias,
                                        "; (k, n) and (n,) are wanted");
  const auto y = matmul(x, w);
  return o.activation == activation::relu ? V(relu(y + b)) : V(y + b);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
