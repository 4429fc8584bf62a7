// The derivative of attention: of the scores, whose weights are all that is kept.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/positions.hpp"
#include "linalg.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

template <class S, class M>
const shape& shape_of_last(const S&, const M& mask) {
  return mask.shape();
}
/// Of scores, and of a mask that is added to them.
struct attention_weights_rule {
  static constexpr bool reads_value = true;
  template <int K, class T, class D, class... X>
  auto gradient(const ndarray<T, D>& g, const ndarray<T, D>& weights, const X&... x) const {
    using C = compute_t<T>;
    const auto p = wide<C>(weights), dp = wide<C>(g);
    const auto of_scores = p * (dp - sum(p * dp, -1, keepdims));
    if constexpr (K == 0) return ndarray<T, D>(narrowed<ndarray<T, D>>(of_scores));
    else return ndarray<C, D>(cudarray::detail::sum_to(ndarray<C, D>(of_scores).node(), shape_of_last(x...)));
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class S, class M>
requires(has_gradient<S> || has_gradient<M>) auto apply_attention_weights(const attention_shapes&, const S& scores,
                                                                          const M& mask, const attention_options& o) {
  if constexpr (has_gradient<M>)
    return cudarray::detail::apply_rule(
        attention_weights_rule{}, [&](const auto& s, const auto& m) { return attention_weights(s, m, o); }, scores,
        mask);
  else
    return cudarray::detail::apply_rule(
        attention_weights_rule{}, [&](const auto& s) { return attention_weights(s, mask, o); }, scores);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

struct rotary_rule {
  rotary_options options;
  template <int, class A, class X>
  A gradient(const A& g, const X&) const {
    return rotated(g, options, -1);
  }
  static constexpr bool reads(int, int) { return false; }
};

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

template <variable_expression X>
auto rotary_embedding(const X& x, const rotary_options& o = {}) {
  detail::check_rotary("nnet::rotary_embedding", cudarray::detail::dims_of(x), o);
  return cudarray::detail::apply_rule(
      detail::rotary_rule{o}, [&](const auto& a) { return rotary_embedding(a, o); }, x);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
