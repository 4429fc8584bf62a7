// Where the functions of the table of derivatives are defined.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/autograd.hpp>
#include <type_traits>

namespace test {

/// The first operand of a function that the tests take from (0, 1), where it is defined.
template <class Op, class T>
T first_operand(const T& x) {
  if constexpr (std::is_same_v<Op, cudarray::op::arccosh_op>) return x + T(1);
  else if constexpr (std::is_same_v<Op, cudarray::op::polygamma_op>) return T(1);
  else if constexpr (std::is_same_v<Op, cudarray::op::zeta_op>) return T(2);
  else return x;
}

}  // namespace test
