// Golden cases of arithmetic with two operands of one dtype.
// SPDX-License-Identifier: MIT
#include "binary.hpp"

namespace golden {

void add_arithmetic(table& t) {
  GOLDEN_BINARY(subtract);
  GOLDEN_BINARY(multiply);
  GOLDEN_BINARY(divide);
  GOLDEN_BINARY(floor_divide);
  GOLDEN_BINARY(remainder);
  GOLDEN_BINARY(power);
  GOLDEN_BINARY(maximum);
  GOLDEN_BINARY(minimum);
  GOLDEN_BINARY(arctan2);
  GOLDEN_BINARY(hypot);
  GOLDEN_BINARY(copysign);
}

}  // namespace golden
