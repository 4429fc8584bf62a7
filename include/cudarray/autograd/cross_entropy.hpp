// The derivative of cross_entropy: computed with the loss, in the pass that reads the logits.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/cross_entropy.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

namespace core = cudarray::detail;

/// Whether the gradients that are kept are those of rows, which `scale` makes the loss's of: the smallest numbers of
/// float16 would lose those of a mean, and a loss is scaled up for them.
template <class T>
inline constexpr bool scaled_later = ::std::is_same_v<cudarray::detail::primal_t<T>, float16>;

/// Keeps the gradient, which the loss's is multiplied by; unless that is known to be 1.
template <class T, class D>
struct cross_entropy_node final : core::computed_node<T, D> {
  using K = constant_t<T>;
  core::kept_array kept[2];  ///< the gradient and the scale
  core::tape_ref to;
  int axis;  ///< of the classes, where there is a loss of each row; else -1

  cross_entropy_node(const shape& s, const ndarray<T, D>& dx, const ndarray<K, D>& scale, const core::tape_ref& x,
                     int rows_axis)
      : core::computed_node<T, D>(s, {kept, scaled_later<T> ? 2 : 1, &to, 1}), to(core::if_wanted(x)), axis(rows_axis) {
    kept[0].keep(dx.node());
    if (scaled_later<T>) kept[1].keep(scale.node());
  }
  void go_back() override {
    if (!core::is_due(to)) return;
    const auto dx = this->template kept_as<T>(0);
    auto& node = this->template node_of<T>(0);
    const ndarray<T, D> g = axis < 0 ? this->gradient : ndarray<T, D>(expand_dims(this->gradient, axis));
    if constexpr (scaled_later<T>) {
      const auto scale = this->template kept_as<K>(1);
      core::add_gradient(node, ndarray<T, D>(astype<T>(wide<compute_t<T>>(dx) * (wide<compute_t<T>>(g) * scale))));
    } else if (this->is_one) {
      core::add_gradient(node, dx);
    } else {
      core::add_gradient(node, ndarray<T, D>(dx * g));
    }
  }
};

template <reduction R, class X, class L, class W>
auto tracked_cross_entropy(const X& x, const L& labels, const W& weights, const cross_entropy_options& o) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const variable<T, D> v(x);
  const auto c = classify<R, !scaled_later<T>>("nnet::cross_entropy", v.value(), labels, weights, o);
  const core::tape_ref from = v.node().tape;
  const bool wanted = core::recording() && core::is_wanted(from);
  const ndarray<T, D> dx = wanted ? ndarray<T, D>(empty<T, D>(v.shape(), v.device())) : ndarray<T, D>();
  const ndarray<T, D> loss = reduced_rows<R>(c, cross_entropy_rows(c, wanted ? &dx : nullptr));
  const int rows_axis = R == reduction::none ? c.axis : -1;
  return variable<T, D>(
      loss, wanted ? core::tape_ref(new cross_entropy_node<T, D>(loss.shape(), dx, c.scale, from, rows_axis))
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
  if constexpr (detail::takes_logits<X, W>()) return detail::tracked_cross_entropy<R>(x, labels, weights, o);
  else return cudarray::detail::poison{};
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
