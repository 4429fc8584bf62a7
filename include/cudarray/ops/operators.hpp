// Operators on arrays and expressions: NumPy's, lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/elementwise.hpp"
#include "../expr/operator_table.hpp"

namespace cudarray::inline v0 {

/// Any right side is accepted here, so that a wrong one is reported in one sentence.
#define CUDARRAY_OPERATOR(sign, name)                                  \
  template <class X, class Y>                                          \
    requires(array_expression<X> || array_expression<Y>)               \
  auto operator sign(const X& x, const Y& y) {                         \
    return detail::elementwise(#sign, op::name##_op{}, x, y);          \
  }
CUDARRAY_OPERATOR(+, add)
CUDARRAY_OPERATOR(-, subtract)
CUDARRAY_OPERATOR(*, multiply)
CUDARRAY_OPERATOR(/, divide)
CUDARRAY_OPERATOR(%, remainder)
CUDARRAY_OPERATOR(==, equal)
CUDARRAY_OPERATOR(!=, not_equal)
CUDARRAY_OPERATOR(<, less)
CUDARRAY_OPERATOR(<=, less_equal)
CUDARRAY_OPERATOR(>, greater)
CUDARRAY_OPERATOR(>=, greater_equal)
CUDARRAY_OPERATOR(&, bitwise_and)
CUDARRAY_OPERATOR(|, bitwise_or)
CUDARRAY_OPERATOR(^, bitwise_xor)
#undef CUDARRAY_OPERATOR

/// Shifts take numbers and arrays only, so that streams keep their `<<`.
#define CUDARRAY_SHIFT(sign, name)                                                                    \
  template <class X, class Y>                                                                         \
    requires((array_expression<X> || array_expression<Y>) && detail::is_operand<X> && detail::is_operand<Y>) \
  auto operator sign(const X& x, const Y& y) {                                                        \
    return detail::elementwise(#sign, op::name##_op{}, x, y);                                         \
  }
CUDARRAY_SHIFT(<<, left_shift)
CUDARRAY_SHIFT(>>, right_shift)
#undef CUDARRAY_SHIFT

template <array_expression X>
auto operator-(const X& x) {
  return detail::elementwise("negative", op::negative_op{}, x);
}
template <array_expression X>
auto operator+(const X& x) {
  return detail::elementwise("+", op::astype_op<value_type_t<X>>{}, x);
}
/// Bits of integers inverted; "not" for bool.
template <array_expression X>
auto operator~(const X& x) {
  return detail::elementwise("~", op::invert_op{}, x);
}
template <array_expression X>
auto operator!(const X& x) {
  return detail::elementwise("!", op::logical_not_op{}, x);
}

namespace detail {
template <bool Never>
constexpr poison report_logical_operator() {
  static_assert(Never, "cudarray: && and || cannot work element by element: write & and | (with parentheses), or ca::logical_and");
  return {};
}
}  // namespace detail

template <class X, class Y>
  requires(array_expression<X> || array_expression<Y>)
auto operator&&(const X&, const Y&) {
  return detail::report_logical_operator<!array_expression<X> && !array_expression<Y>>();
}
template <class X, class Y>
  requires(array_expression<X> || array_expression<Y>)
auto operator||(const X&, const Y&) {
  return detail::report_logical_operator<!array_expression<X> && !array_expression<Y>>();
}

}  // namespace cudarray::inline v0
