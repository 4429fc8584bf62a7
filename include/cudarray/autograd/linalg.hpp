// The derivatives of products.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/linalg.hpp"
#include "dual_products.hpp"
#include "manipulation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Of (..., m, k) and (..., k, n), whose batches broadcast; a 1-d operand is a row or a column.
struct matmul_rule {
  template <int K, class A, class X, class Y>
  auto gradient(const A& g, const X& x, const Y& y) const {
    const A columns = y.ndim() == 1 ? A(expand_dims(g, -1)) : g;
    const A whole = x.ndim() == 1 ? A(expand_dims(columns, -2)) : columns;
    const X left = x.ndim() == 1 ? X(expand_dims(x, 0)) : x;
    const Y right = y.ndim() == 1 ? Y(expand_dims(y, 1)) : y;
    if constexpr (K == 0)
      return reshape(sum_to(matmul(whole, swapaxes(right, -1, -2)).node(), left.shape()), x.shape());
    else return reshape(sum_to(matmul(swapaxes(left, -1, -2), whole).node(), right.shape()), y.shape());
  }
  static constexpr bool reads(int k, int operand) { return k != operand; }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The product of matrices, of which one is a variable. Throws shape_error.
template <array_expression X, array_expression Y>
requires(variable_expression<X> || variable_expression<Y>) auto matmul(const X& x, const Y& y) {
  return detail::apply_rule(
      detail::matmul_rule{}, [](const auto& a, const auto& b) { return matmul(a, b); }, x, y);
}
template <array_expression X, array_expression Y>
requires(variable_expression<X> || variable_expression<Y>) auto dot(const X& x, const Y& y) {
  detail::check_two_axes("dot", x, y);
  return matmul(x, y);
}
template <array_expression X, array_expression Y>
requires(variable_expression<X> || variable_expression<Y>) auto inner(const X& x, const Y& y) {
  detail::check_two_axes("inner", x, y);
  return matmul(x, transpose(eval(y)));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
