// Connectionist temporal classification: the likelihood of labels without their times. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/scatter.hpp"
#include "nll_loss.hpp"

namespace cudarray::inline v0::nnet {

struct ctc_loss_options {
  cudarray::detail::any_integer blank = 0;  ///< the class that stands for no label
  bool zero_infinity = false;  ///< whether labels that do not fit the steps have the loss 0, instead of infinity
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// Throws shape_error, value_error.
inline void check_ctc(const shape& x, const shape& labels, const shape& steps, const shape& lengths,
                      const ctc_loss_options& o) {
  constexpr const char* function = "nnet::ctc_loss";
  if (x.ndim() != 3 || x[0] == 0 || x[2] == 0)
    cudarray::detail::fail<shape_error>(function, ": logarithms of probabilities of shape ", x, ", not (t, b, c)");
  if (labels.ndim() != 2 || labels[0] != x[1] || steps != shape{x[1]} || lengths != shape{x[1]})
    cudarray::detail::fail<shape_error>(function, ": for logarithms of probabilities of shape ", x, " labels of shape ",
                                        labels, " and their counts of shapes ", steps, " and ", lengths,
                                        ": (b, s), (b,) and (b,) are wanted");
  if (o.blank < 0 || o.blank >= x[2])
    cudarray::detail::fail<value_error>(function, ": blank ", o.blank, " is none of ", x[2], " classes");
}
/// The logarithm of the sum of three exp(x).
template <class A, class B, class C>
auto log_of_three(const A& a, const B& b, const C& c) {
  const auto most = maximum(maximum(a, b), c);
  return most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

/// What paths of symbols (blank, label, blank, label, .., blank) say of logarithms of probabilities (t, b, c), in C:
/// sums over all paths, by the forward and backward recursions of Graves et al. 2006, equations 6 to 15, as logarithms.
template <class C, class D>
class ctc_paths {
  using K = cudarray::detail::primal_t<C>;
  using array = ndarray<C, D>;
  static constexpr double least = -1e30;  ///< stands for -inf, which differences do not make NaN of
  int64 steps_, symbols_;
  ndarray<int64, D> symbol_;        ///< (b, s)
  ndarray<bool, D> skips_;          ///< (b, s): whether the symbol may follow the last but one
  ndarray<int64, D> step_, label_;  ///< (b, 1): how many there are
  array at_;                        ///< (t, b, s): the logarithms of the symbols' probabilities
  array forward_;            ///< (t, b, 2 + s): of all ways to a symbol; two columns before the first are `least`
  ndarray<int64, D> place_;  ///< (s,): 0, 1, ..

  template <class L>
  static ndarray<int64, D> counts(const char* of, const L& given, int64 most) {
    const label_op op{of, 0, {}};
    const ndarray<int64, D> n(
        astype<int64>(cudarray::detail::elementwise(of, op, bounded_labels(given), INT64_MIN, most + 1)));
    return expand_dims(ndarray<int64, D>(maximum(n, 0)), -1);
  }
  auto at_end() const { return (place_ == 2 * label_) | (place_ == 2 * label_ - 1); }
  void go_forward() {
    const auto begins =
        where(step_ > 0, where((place_ < 2) & (place_ <= 2 * label_), at_(0), least), where(place_ == 0, 0, least));
    forward_(0, _, slice(2, none)) = begins;
    for (int64 t = 1; t < steps_; ++t) {
      const array before = forward_(t - 1), stays = before(_, slice(2, none));
      const auto skipped = where(skips_, before(_, slice(none, -2)), least);
      const auto next = at_(t) + log_of_three(stays, before(_, slice(1, -1)), skipped);
      forward_(t, _, slice(2, none)) = where(t < step_, next, stays);
    }
  }
  /// (t, b, s + 2): of all ways from a symbol to an end.
  array backward() const {
    const array r = full<C, D>({steps_, at_.shape(1), symbols_ + 2}, least, at_.device());
    const ndarray<bool, D> skipped = zeros<bool, D>({at_.shape(1), symbols_}, at_.device());
    if (symbols_ > 2) skipped(_, slice(none, -2)) = skips_(_, slice(2, none));
    for (int64 t = steps_ - 1; t >= 0; --t) {
      const array behind = r(t + 1 < steps_ ? t + 1 : t);
      const auto skips = where(skipped, behind(_, slice(2, none)), least);
      const auto next = at_(t) + log_of_three(behind(_, slice(none, -2)), behind(_, slice(1, -1)), skips);
      r(t, _, slice(none, -2)) =
          where(t + 1 == step_, where(at_end(), at_(t), least), where(t + 1 < step_, next, least));
    }
    return r;
  }

 public:
  array losses;  ///< (b,): minus the logarithm of the likelihood, 1e30 or so where it is 0

  template <class T, class L, class N, class M>
  ctc_paths(const ndarray<T, D>& x, const L& labels, const N& steps, const M& lengths, int64 blank)
      : steps_(x.shape(0)),
        symbols_(2 * cudarray::detail::dims_of(labels)[1] + 1),
        symbol_(full<int64, D>({x.shape(1), symbols_}, blank, x.device())),
        skips_(zeros<bool, D>({x.shape(1), symbols_}, x.device())),
        step_(counts("nnet::ctc_loss: counts of steps", steps, steps_)),
        label_(counts("nnet::ctc_loss: counts of labels", lengths, symbols_ / 2)),
        forward_(full<C, D>({steps_, x.shape(1), symbols_ + 2}, least, x.device())),
        place_(cudarray::detail::integer_range<int64>(0, symbols_, 1, x.device())) {
    const label_op op{"nnet::ctc_loss", 2, {}};
    const auto given = where(place_(slice(symbols_ / 2)) < label_, astype<int64>(bounded_labels(labels)), blank);
    symbol_(_, slice(1, none, 2)) =
        maximum(cudarray::detail::elementwise("nnet::ctc_loss", op, given, INT64_MIN, x.shape(2)), 0);
    if (symbols_ > 2) {
      const ndarray<int64, D> last = symbol_(_, slice(2, none));
      skips_(_, slice(2, none)) = (last != blank) & (last != symbol_(_, slice(none, -2)));
    }
    at_ = maximum(wide<C>(take_along_axis(x, expand_dims(symbol_, 0), 2)), least);
    go_forward();
    const array last = forward_(steps_ - 1);
    const auto end = [&](int64 before) { return squeeze(eval(take_along_axis(last, 2 + 2 * label_ - before, 1)), 1); };
    losses = -log_of_three(end(0), end(1), least);
  }
  auto impossible() const { return losses > -0.1 * least; }
  /// Divides the losses by the counts of labels, which are taken as 1 at least.
  ndarray<K, D> per_label() const { return 1 / astype<K>(maximum(squeeze(label_, 1), 1)); }
  /// With respect to x, of losses that have the gradient g, (b,). What is impossible has none.
  array gradient(const ndarray<C, D>& g, const shape& x) const {
    const array back = backward();
    const ndarray<int64, D> step = cudarray::detail::integer_range<int64>(0, steps_, 1, at_.device());
    const auto row = [](const auto& a) { return expand_dims(a, -1); };
    const auto now = reshape(step, {steps_, 1, 1}) < step_;
    const auto through = forward_(_, _, slice(2, none)) + back(_, _, slice(none, -2)) - at_ + row(losses);
    const array part = where(now & ~row(eval(impossible())), -exp(through) * row(g), 0);
    const array to = zeros<C, D>({steps_, x[1] * x[2]}, at_.device());
    const ndarray<int64, D> batch = cudarray::detail::integer_range<int64>(0, x[1], 1, at_.device());
    const ndarray<int64, D> place = symbol_ + row(batch) * x[2];
    scatter_add(to, ravel(place), reshape(part, {steps_, x[1] * symbols_}), 1);
    return reshape(to, x);
  }
};

/// Losses of rows as the options and the reduction have them.
template <reduction R, class T, class C, class D, class Losses>
auto ctc_reduced(const ctc_paths<C, D>& paths, const Losses& rows, const ctc_loss_options& o) {
  const auto losses = where(paths.impossible(), o.zero_infinity ? 0 : ::std::numeric_limits<double>::infinity(), rows);
  using N = ::std::conditional_t<cudarray::detail::is_dual<C>, cudarray::dual<cudarray::detail::primal_t<T>>, T>;
  const auto narrow = [](const auto& a) { return eval(astype<N>(a)); };
  if constexpr (R == reduction::mean) return narrow(mean(losses * paths.per_label()));
  else if constexpr (R == reduction::sum) return narrow(sum(losses));
  else return narrow(losses);
}
template <class X>
constexpr bool takes_probabilities() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>;
  static_assert(
      floating,
      "cudarray: nnet::ctc_loss takes logarithms of probabilities of a floating dtype: use nnet::log_softmax");
  return floating;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// Minus the logarithm of the probability of a sequence of labels, over all times that they may have in t steps,
/// between which there are blanks (Graves et al. 2006): logarithms of probabilities (t, b, c), classes (b, s) of which
/// the first `label_counts`, (b,), are meant, and the steps of each, (b,). The mean over the batch of what each label
/// costs. Half types are computed in float32; t small kernels on CUDA. Eager. Throws shape_error, value_error, and
/// index_error for a label or a count that cannot be: on CUDA at the next synchronising call.
///     ca::nnet::ctc_loss(ca::nnet::log_softmax(x), labels, steps, label_counts)
template <reduction R = reduction::mean, array_expression X, detail::class_labels L, detail::class_labels N,
          detail::class_labels M>
auto ctc_loss(const X& log_probabilities, const L& labels, const N& steps, const M& label_counts,
              const ctc_loss_options& o = {}) {
  if constexpr (detail::takes_probabilities<X>()) {
    using cudarray::detail::dims_of;
    using T = value_type_t<X>;
    using D = device_type_t<X>;
    detail::check_ctc(dims_of(log_probabilities), dims_of(labels), dims_of(steps), dims_of(label_counts), o);
    const detail::ctc_paths<detail::compute_t<T>, D> paths(ndarray<T, D>(log_probabilities), labels, steps,
                                                           label_counts, o.blank);
    return detail::ctc_reduced<R, T>(paths, paths.losses, o);
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
