// The derivatives of convolutions and transposed ones, each of which is the gradient of the other.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/conv.hpp"
#include "dual_products.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

struct convolution_rule {
  convolution_way way;
  bool transposed;
  template <int K, class A, class X, class W>
  auto gradient(const A& g, const X& x, const W& w) const {
    if constexpr (K == 0) return transposed ? correlate(way, g, w) : correlate_back(way, g, w);
    else return transposed ? correlate_weights(way, g, x) : correlate_weights(way, x, g);
  }
  static constexpr bool reads(int k, int operand) { return k != operand; }
};

template <class X, class W>
requires(has_gradient<X> || has_gradient<W>) auto apply_convolution(const convolution_way& v, bool transposed,
                                                                    const X& images, const W& filters) {
  return cudarray::detail::apply_rule(
      convolution_rule{v, transposed},
      [&](const auto& x, const auto& w) { return transposed ? correlate_back(v, x, w) : correlate(v, x, w); }, images,
      beside<value_type_t<X>>(filters));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
