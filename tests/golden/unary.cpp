// Golden cases of the elementwise functions of one operand.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class F, class T>
value unary(const test_case& c) {
  return download(F{}(load<T>(c.in[0])));
}

template <class Op, class F>
void add(table& t, const char* name, F) {
  each_dtype([&]<class T>() {
    if constexpr (Op::template types<T>::ok) t[key<T>(name)] = unary<F, T>;
  });
}

}  // namespace

void add_unary(table& t) {
#define CUDARRAY_FUNCTION(name, rule_, value_) \
  add<ca::op::name##_op>(t, #name, [](const auto& x) { return ca::name(x); });
#include <cudarray/expr/unary_functions.inc>
#undef CUDARRAY_FUNCTION
}

}  // namespace golden
