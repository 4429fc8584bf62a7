// The derivatives of pooling, and of taking pixels back to where they were.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/pool_indices.hpp"
#include "dual_products.hpp"
#include "indexing.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

template <bool Average>
struct pooling_rule {
  pooling_way<Average> way;
  template <int, class A, class X>
  auto gradient(const A& g, const X& x) const {
    if constexpr (Average) return pooled_back(way, g);
    else return pooled_back(way, g, x);
  }
  static constexpr bool reads(int, int) { return !Average; }
};
template <bool Average, class X>
requires(has_gradient<X>) auto apply_pooling(const pooling_way<Average>& v, const X& x) {
  return cudarray::detail::apply_rule(
      pooling_rule<Average>{v}, [&](const auto& a) { return pooled(v, a); }, x);
}

struct unpooling_rule {
  template <int, class A, class X, class Ix>
  A gradient(const A& g, const X& x, const Ix& index) const {
    return reshape(take(reshape(g, {g.size()}), index, 0), x.shape());
  }
  static constexpr bool reads(int, int operand) { return operand == 1; }
};
template <class X, class D>
requires(has_gradient<X>) auto apply_unpooling(const unpooling_way& v, const X& x, const ndarray<int64, D>& places) {
  return cudarray::detail::apply_rule(
      unpooling_rule{}, [&](const auto& a, const auto& i) { return unpooled(v, a, i); }, x, places);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
