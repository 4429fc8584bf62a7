// Golden cases of comparisons, truth values and bits, with two operands of one dtype.
// SPDX-License-Identifier: MIT
#include "binary.hpp"

namespace golden {

void add_logic(table& t) {
  GOLDEN_BINARY(equal);
  GOLDEN_BINARY(not_equal);
  GOLDEN_BINARY(less);
  GOLDEN_BINARY(less_equal);
  GOLDEN_BINARY(greater);
  GOLDEN_BINARY(greater_equal);
  GOLDEN_BINARY(logical_and);
  GOLDEN_BINARY(logical_or);
  GOLDEN_BINARY(logical_xor);
  GOLDEN_BINARY(bitwise_and);
  GOLDEN_BINARY(bitwise_or);
  GOLDEN_BINARY(bitwise_xor);
  GOLDEN_BINARY(left_shift);
  GOLDEN_BINARY(right_shift);
}

}  // namespace golden
