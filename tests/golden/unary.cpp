// Golden cases of the elementwise functions of one operand.
// SPDX-License-Identifier: MIT
#include "unary.hpp"

namespace golden {

void add_unary(table& t) {
#define CUDARRAY_FUNCTION(name, rule_, value_) \
  add_unary<ca::op::name##_op>(t, #name, [](const auto& x) { return ca::name(x); });
#include <cudarray/expr/unary_functions.inc>
#undef CUDARRAY_FUNCTION
}

}  // namespace golden
