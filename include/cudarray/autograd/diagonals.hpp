// The derivatives of taking diagonals and making matrices of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/diagonals.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

struct diagonal_rule {
  diagonal_of diagonal;
  template <int, class A, class X>
  auto gradient(const A& g, const X& x) const {
    return put_diagonal(diagonal, g, x.shape());
  }
  static constexpr bool reads(int, int) { return false; }
};
struct diag_rule {
  diagonal_of diagonal;
  template <int, class A, class X>
  auto gradient(const A& g, const X&) const {
    return take_diagonal(diagonal, g);
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class X>
requires(has_variable<X>) auto apply_diagonal(const diagonal_of& d, const X& x) {
  return apply_rule(
      diagonal_rule{d}, [&](const auto& a) { return take_diagonal(d, a); }, x);
}
template <class X>
requires(has_variable<X>) auto apply_diag(const diagonal_of& d, const X& x, const shape& s) {
  return apply_rule(
      diag_rule{d}, [&](const auto& a) { return put_diagonal(d, a, s); }, x);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
