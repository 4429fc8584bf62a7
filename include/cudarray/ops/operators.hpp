// Operators on arrays and expressions: NumPy's, lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/elementwise.hpp"
#include "../expr/operator_table.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

template <class X, class Y>
concept some_array = array_expression<X> || array_expression<Y>;

/// Any right side is accepted here, so that a wrong one is reported in one sentence. Written out, not made by a macro:
/// clang lists every expansion in its errors.
template <class X, class Y>
requires some_array<X, Y>
auto operator+(X&& x, Y&& y) {
  return detail::elementwise("+", op::add_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator-(X&& x, Y&& y) {
  return detail::elementwise("-", op::subtract_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator*(X&& x, Y&& y) {
  return detail::elementwise("*", op::multiply_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator/(X&& x, Y&& y) {
  return detail::elementwise("/", op::divide_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator%(X&& x, Y&& y) {
  return detail::elementwise("%", op::remainder_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator==(X&& x, Y&& y) {
  return detail::elementwise("==", op::equal_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator!=(X&& x, Y&& y) {
  return detail::elementwise("!=", op::not_equal_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator<(X&& x, Y&& y) {
  return detail::elementwise("<", op::less_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator<=(X&& x, Y&& y) {
  return detail::elementwise("<=", op::less_equal_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator>(X&& x, Y&& y) {
  return detail::elementwise(">", op::greater_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator>=(X&& x, Y&& y) {
  return detail::elementwise(">=", op::greater_equal_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator&(X&& x, Y&& y) {
  return detail::elementwise("&", op::bitwise_and_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator|(X&& x, Y&& y) {
  return detail::elementwise("|", op::bitwise_or_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires some_array<X, Y>
auto operator^(X&& x, Y&& y) {
  return detail::elementwise("^", op::bitwise_xor_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}

/// Shifts take numbers and arrays only, so that streams keep their `<<`.
template <class X, class Y>
concept shift_operands = some_array<X, Y> && detail::is_operand<X> && detail::is_operand<Y>;

template <class X, class Y>
requires shift_operands<X, Y>
auto operator<<(X&& x, Y&& y) {
  return detail::elementwise("<<", op::left_shift_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}
template <class X, class Y>
requires shift_operands<X, Y>
auto operator>>(X&& x, Y&& y) {
  return detail::elementwise(">>", op::right_shift_op{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}

template <array_expression X>
auto operator-(X&& x) {
  return detail::elementwise("negative", op::negative_op{}, static_cast<X&&>(x));
}
template <array_expression X>
auto operator+(X&& x) {
  return detail::elementwise("+", op::astype_op<value_type_t<X>>{}, static_cast<X&&>(x));
}
/// Bits of integers inverted; "not" for bool.
template <array_expression X>
auto operator~(X&& x) {
  return detail::elementwise("~", op::invert_op{}, static_cast<X&&>(x));
}
template <array_expression X>
auto operator!(X&& x) {
  return detail::elementwise("!", op::logical_not_op{}, static_cast<X&&>(x));
}

template <class X, class Y>
requires some_array<X, Y>
auto operator&&(const X&, const Y&) {
  return detail::report_logical_operator < !array_expression<X> && !array_expression < Y >> ();
}
template <class X, class Y>
requires some_array<X, Y>
auto operator||(const X&, const Y&) {
  return detail::report_logical_operator < !array_expression<X> && !array_expression < Y >> ();
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
