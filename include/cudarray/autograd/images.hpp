// The derivatives of windows as columns, and of images from these: each is the gradient of the other.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/images.hpp"
#include "dual.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

template <class T, class D>
ndarray<dual<T>, D> unfolded(const unfold_way& v, const ndarray<dual<T>, D>& x) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(unfolded(v, part_of<0>(x)), unfolded(v, part_of<1>(x)));
}
template <class T, class D>
ndarray<dual<T>, D> folded(const unfold_way& v, const ndarray<dual<T>, D>& columns) {
  using cudarray::detail::part_of;
  return cudarray::detail::dual_of(folded(v, part_of<0>(columns)), folded(v, part_of<1>(columns)));
}
struct unfold_rule {
  unfold_way way;
  bool back;
  template <int, class A, class X>
  A gradient(const A& g, const X&) const {
    return back ? unfolded(way, g) : folded(way, g);
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class X>
requires(has_gradient<X>) auto apply_unfold(const unfold_way& v, bool back, const X& x) {
  return cudarray::detail::apply_rule(
      unfold_rule{v, back}, [&](const auto& a) { return back ? folded(v, a) : unfolded(v, a); }, x);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
