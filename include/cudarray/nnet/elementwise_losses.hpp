// Losses of predictions and targets, element by element or row by row: lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/reductions.hpp"
#include "activations.hpp"

namespace cudarray::inline v0::nnet {

/// What a loss makes of its elements: the mean of all, their sum, or nothing.
enum class reduction { mean, sum, none };

struct smooth_l1_options {
  double beta = 1;  ///< where the square ends
};
struct huber_options {
  double delta = 1;  ///< where the square ends
};
struct margin_options {
  double margin = 1;
};
struct ranking_options {
  double margin = 0;
};
struct triplet_options {
  double margin = 1;
  double eps = 1e-6;  ///< added to each difference
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// Targets do not broadcast: that hides mistakes. Throws shape_error.
template <class X, class Y>
void check_targets(const char* function, const X& x, const Y& y) {
  const shape &of_x = cudarray::detail::dims_of(x), &of_y = cudarray::detail::dims_of(y);
  if (of_x != of_y)
    cudarray::detail::fail<shape_error>(function, ": predictions of shape ", of_x, ", targets of shape ", of_y,
                                        ": they must be equal");
}
/// One for each row.
template <class X, class Y>
void check_classes(const char* function, const X& x, const Y& y) {
  shape rows;
  const shape &of_x = cudarray::detail::dims_of(x), &of_y = cudarray::detail::dims_of(y);
  for (int d = 0; d + 1 < of_x.ndim(); ++d) rows.push_back(of_x[d]);
  if (of_x.ndim() == 0 || of_y != rows)
    cudarray::detail::fail<shape_error>(function, ": rows of shape ", of_x, ", classes of shape ", of_y);
}
inline void check_positive(const char* function, const char* name, double v) {
  if (!(v > 0)) cudarray::detail::fail<value_error>(function, ": ", name, " ", v, " is not positive");
}

/// What losses of predictions of dtype T are computed in: half types in float32, integers in float64.
template <class T>
using loss_t = ::std::conditional_t<(kind_of<T> >= kind::floating), cudarray::detail::compute_t<T>, double>;
/// An operand as such losses take it: targets that are integers do not wrap, nor make them float64.
template <class C, class X>
decltype(auto) wide(const X& x) {
  using T = value_type_t<X>;
  using W = ::std::conditional_t<(kind_of<T> >= kind::floating), cudarray::detail::compute_t<T>,
                                 cudarray::detail::primal_t<C>>;
  if constexpr (::std::is_same_v<W, T>) return (x);
  else return astype<W>(x);
}
/// What a loss makes of `f` of its operands; of half types in the dtype of the first.
template <reduction R, class F, class X, class... More>
auto loss(const F& f, const X& x, const More&... more) {
  using T = value_type_t<X>;
  using C = loss_t<T>;
  const auto losses = f(wide<C>(x), wide<C>(more)...);
  const auto result = [&] {
    if constexpr (R == reduction::mean) return mean(losses);
    else if constexpr (R == reduction::sum) return sum(losses);
    else return losses;
  }();
  if constexpr (kind_of<T> < kind::floating || ::std::is_same_v<C, T>) return result;
  else return astype<T>(result);
}
/// x^2 / 2 where |x| is up to delta, delta (|x| - delta / 2) beyond.
template <class X>
auto huber(const X& x, double delta) {
  return cudarray::detail::elementwise("nnet::huber_loss", op::huber_op{}, x, delta);
}
/// The Euclidean length of each row, whose gradient at 0 is 0.
template <class X>
auto length(const X& x, int64 axis = -1) {
  return cudarray::detail::elementwise("sqrt", op::length_op{}, sum(square(x), axis));
}
template <class X>
auto bounded_log(const X& x) {
  return cudarray::detail::elementwise("log", op::bounded_log_op{}, x);
}
template <class X>
auto bounded_log1p(const X& x) {
  return cudarray::detail::elementwise("log1p", op::bounded_log1p_op{}, x);
}
template <class A, class B>
auto cosine_similarity(const A& a, const B& b, int64 axis) {
  return sum(a * b, axis) / (maximum(length(a, axis), 1e-8) * maximum(length(b, axis), 1e-8));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Each is the mean over all elements; `mse_loss<ca::nnet::reduction::sum>(x, y)` is their sum and `reduction::none` the
// losses themselves. Lazy. Throws shape_error where the shapes differ: targets do not broadcast.

/// (x - y)^2.
///     ca::nnet::mse_loss(prediction, target)
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto mse_loss(const X& x, const Y& y) {
  detail::check_targets("nnet::mse_loss", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return square(a - b); }, x, y);
}
/// |x - y|.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto l1_loss(const X& x, const Y& y) {
  detail::check_targets("nnet::l1_loss", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return abs(a - b); }, x, y);
}
/// (x - y)^2 / 2 where |x - y| is up to delta, delta (|x - y| - delta / 2) beyond (Huber 1964). Throws value_error for
/// a delta that is not positive.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto huber_loss(const X& x, const Y& y, const huber_options& o = {}) {
  constexpr const char* function = "nnet::huber_loss";
  detail::check_targets(function, x, y);
  detail::check_positive(function, "delta", o.delta);
  return detail::loss<R>([&o](const auto& a, const auto& b) { return detail::huber(a - b, o.delta); }, x, y);
}
/// huber_loss / beta: |x - y| - beta / 2 beyond beta (Girshick 2015). Throws value_error for a beta that is not
/// positive.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto smooth_l1_loss(const X& x, const Y& y, const smooth_l1_options& o = {}) {
  constexpr const char* function = "nnet::smooth_l1_loss";
  detail::check_targets(function, x, y);
  detail::check_positive(function, "beta", o.beta);
  return detail::loss<R>([&o](const auto& a, const auto& b) { return detail::huber(a - b, o.beta) / o.beta; }, x, y);
}
/// -(y log(p) + (1 - y) log(1 - p)) of probabilities p, the logarithms being -100 at least.
template <reduction R = reduction::mean, array_expression P, array_expression Y>
auto binary_cross_entropy(const P& p, const Y& y) {
  detail::check_targets("nnet::binary_cross_entropy", p, y);
  return detail::loss<R>(
      [](const auto& a, const auto& b) { return -(b * detail::bounded_log(a) + (1 - b) * detail::bounded_log1p(-a)); },
      p, y);
}
/// binary_cross_entropy(sigmoid(x), y) without its loss of precision: (1 - y) x - log(sigmoid(x)).
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto binary_cross_entropy_with_logits(const X& x, const Y& y) {
  detail::check_targets("nnet::binary_cross_entropy_with_logits", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return (1 - b) * a - logsigmoid(a); }, x, y);
}
/// The same with weights of the positive class, a number or an array that broadcasts:
/// (1 - y) x - (1 + (w - 1) y) log(sigmoid(x)).
template <reduction R = reduction::mean, array_expression X, array_expression Y, class W>
requires(array_expression<W> || scalar_value<W>) auto binary_cross_entropy_with_logits(const X& x, const Y& y,
                                                                                       const W& positive_weight) {
  detail::check_targets("nnet::binary_cross_entropy_with_logits", x, y);
  const auto f = [](const auto& a, const auto& b, const auto& w) {
    return (1 - b) * a - (1 + (w - 1) * b) * logsigmoid(a);
  };
  if constexpr (array_expression<W>) return detail::loss<R>(f, x, y, positive_weight);
  else return detail::loss<R>([&](const auto& a, const auto& b) { return f(a, b, double(positive_weight)); }, x, y);
}
/// y (log(y) - x) of logarithms x of probabilities and probabilities y, 0 where y is 0. The divergence of a batch of n
/// is the sum divided by n. Of logarithms of targets give exp(y).
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto kl_div(const X& x, const Y& y) {
  detail::check_targets("nnet::kl_div", x, y);
  return detail::loss<R>(
      [](const auto& a, const auto& b) { return where(b > 0, b * (log(where(b > 0, b, 1)) - a), 0); }, x, y);
}
/// exp(x) - y x, of the logarithm x of a rate and counts y.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto poisson_nll_loss(const X& x, const Y& y) {
  detail::check_targets("nnet::poisson_nll_loss", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return exp(a) - b * a; }, x, y);
}
/// (log(v) + (x - y)^2 / v) / 2 of means x and variances v, which are taken as 1e-6 at least (below, they have no
/// gradient) and broadcast.
template <reduction R = reduction::mean, array_expression X, array_expression Y, array_expression V>
auto gaussian_nll_loss(const X& x, const Y& y, const V& variance) {
  detail::check_targets("nnet::gaussian_nll_loss", x, y);
  return detail::loss<R>(
      [](const auto& a, const auto& b, const auto& c) {
        const auto v = maximum(c, 1e-6);
        return 0.5 * (log(v) + square(a - b) / v);
      },
      x, y, variance);
}
/// max(1 - y x, 0), of scores x and classes y that are 1 or -1.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto hinge_loss(const X& x, const Y& y) {
  detail::check_targets("nnet::hinge_loss", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return relu(1 - b * a); }, x, y);
}
/// log(1 + exp(-y x)), of scores x and classes y that are 1 or -1.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto soft_margin_loss(const X& x, const Y& y) {
  detail::check_targets("nnet::soft_margin_loss", x, y);
  return detail::loss<R>([](const auto& a, const auto& b) { return softplus(-(b * a)); }, x, y);
}
/// x where y is 1, max(margin - x, 0) where it is -1.
template <reduction R = reduction::mean, array_expression X, array_expression Y>
auto hinge_embedding_loss(const X& x, const Y& y, const margin_options& o = {}) {
  detail::check_targets("nnet::hinge_embedding_loss", x, y);
  return detail::loss<R>([&o](const auto& a, const auto& b) { return where(b > 0, a, relu(o.margin - a)); }, x, y);
}
/// max(margin - y (a - b), 0): where y is 1, a should be larger than b by the margin, where it is -1 smaller.
template <reduction R = reduction::mean, array_expression A, array_expression B, array_expression Y>
auto margin_ranking_loss(const A& a, const B& b, const Y& y, const ranking_options& o = {}) {
  detail::check_targets("nnet::margin_ranking_loss", a, b);
  detail::check_targets("nnet::margin_ranking_loss", a, y);
  return detail::loss<R>([&o](const auto& u, const auto& v, const auto& w) { return relu(o.margin - w * (u - v)); }, a,
                         b, y);
}

/// a . b / (|a| |b|) along an axis, each length being 1e-8 at least: (.., n), (.., n) -> (..). Lazy. Throws
/// shape_error.
template <array_expression A, array_expression B>
auto cosine_similarity(const A& a, const B& b, cudarray::detail::any_integer axis = -1) {
  constexpr const char* function = "nnet::cosine_similarity";
  detail::check_targets(function, a, b);
  const int at = cudarray::detail::normal_axis(function, axis, cudarray::detail::dims_of(a).ndim());
  return detail::loss<reduction::none>(
      [&](const auto& u, const auto& v) { return detail::cosine_similarity(u, v, at); }, a, b);
}

// Of rows: (b, n), (b, n) and a class or more for each, (b,) -> (b,), of which these are the mean.

/// 1 - cosine_similarity(a, b) where y is 1, max(cosine_similarity(a, b) - margin, 0) where it is -1.
template <reduction R = reduction::mean, array_expression A, array_expression B, array_expression Y>
auto cosine_embedding_loss(const A& a, const B& b, const Y& y, const ranking_options& o = {}) {
  detail::check_targets("nnet::cosine_embedding_loss", a, b);
  detail::check_classes("nnet::cosine_embedding_loss", a, y);
  return detail::loss<R>(
      [&o](const auto& u, const auto& v, const auto& w) {
        const auto similarity = detail::cosine_similarity(u, v, -1);
        return where(w > 0, 1 - similarity, relu(similarity - o.margin));
      },
      a, b, y);
}
/// y d^2 / 2 + (1 - y) max(margin - d, 0)^2 / 2, d being the distance of the rows: y is 1 where they are of one class,
/// else 0 (Hadsell et al. 2006).
template <reduction R = reduction::mean, array_expression A, array_expression B, array_expression Y>
auto contrastive_loss(const A& a, const B& b, const Y& y, const margin_options& o = {}) {
  detail::check_targets("nnet::contrastive_loss", a, b);
  detail::check_classes("nnet::contrastive_loss", a, y);
  return detail::loss<R>(
      [&o](const auto& u, const auto& v, const auto& w) {
        return 0.5 * (w * sum(square(u - v), -1) + (1 - w) * square(relu(o.margin - detail::length(u - v))));
      },
      a, b, y);
}
/// max(|a - p + eps| - |a - n + eps| + margin, 0) of rows: an anchor a, p of its class and n of another (Balntas et al.
/// 2016).
template <reduction R = reduction::mean, array_expression A, array_expression P, array_expression N>
auto triplet_margin_loss(const A& anchor, const P& positive, const N& negative, const triplet_options& o = {}) {
  detail::check_targets("nnet::triplet_margin_loss", anchor, positive);
  detail::check_targets("nnet::triplet_margin_loss", anchor, negative);
  return detail::loss<R>(
      [&o](const auto& a, const auto& p, const auto& n) {
        return relu(detail::length(a - p + o.eps) - detail::length(a - n + o.eps) + o.margin);
      },
      anchor, positive, negative);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
