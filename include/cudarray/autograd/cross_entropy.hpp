// The derivative of cross_entropy: computed with the loss, in the pass that reads the logits.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/cross_entropy.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

namespace core = cudarray::detail;

/// Keeps the gradient, which the loss's is multiplied by; unless that is known to be 1.
template <class T, class D>
struct cross_entropy_node final : core::computed_node<T, D> {
  core::kept_array kept;
  core::tape_ref to;
  int axis;  ///< of the classes, where there is a loss of each row; else -1

  cross_entropy_node(const shape& s, const ndarray<T, D>& dx, const core::tape_ref& x, int rows_axis)
      : core::computed_node<T, D>(s, {&kept, 1, &to, 1}), to(core::if_wanted(x)), axis(rows_axis) {
    kept.keep(dx.node());
  }
  void go_back() override {
    if (!core::is_due(to)) return;
    const ndarray<T, D> dx(core::leaf<T, D>(kept.store, kept.where, kept.stamp));
    auto& node = this->template node_of<T>(0);
    if (this->is_one) core::add_gradient(node, dx);
    else core::add_gradient(node, ndarray<T, D>(dx * (axis < 0 ? this->gradient : expand_dims(this->gradient, axis))));
  }
};

template <reduction R, class X, class L, class W>
auto tracked_cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const variable<T, D> v(x);
  const auto c = classify<R>("nnet::cross_entropy", v.value(), labels, weights, o);
  const core::tape_ref from = v.node().tape;
  const bool wanted = core::recording() && core::is_wanted(from);
  const ndarray<T, D> dx = wanted ? ndarray<T, D>(empty<T, D>(v.shape(), v.device())) : ndarray<T, D>();
  const ndarray<T, D> loss = reduced_rows<R>(c, cross_entropy_rows(c, wanted ? &dx : nullptr));
  const int rows_axis = R == reduction::none ? c.axis : -1;
  return variable<T, D>(loss, wanted ? core::tape_ref(new cross_entropy_node<T, D>(loss.shape(), dx, from, rows_axis))
                                     : core::tape_ref());
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

template <reduction R = reduction::mean, variable_expression X, detail::class_labels L>
auto cross_entropy(const X& x, const L& labels, const cross_entropy_options& o = {}) {
  return detail::tracked_cross_entropy<R>(x, labels, detail::no_weights{}, o);
}
template <reduction R = reduction::mean, variable_expression X, detail::class_labels L, array_expression W>
auto cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o = {}) {
  constexpr bool constant = !cudarray::detail::has_variable<W>;
  static_assert(constant, "cudarray: nnet::cross_entropy has no gradient of weights: use ca::stop_gradient(weights)");
  if constexpr (constant) return detail::tracked_cross_entropy<R>(x, labels, weights, o);
  else return cudarray::detail::poison{};
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
