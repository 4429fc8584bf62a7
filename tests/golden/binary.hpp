// What the golden cases of the functions of two operands share.
// SPDX-License-Identifier: MIT
#pragma once

#include "golden.hpp"

namespace golden {

template <class F, class A, class B>
value binary(const test_case& c) {
  return download(F{}(load<A>(c.in[0]), load<B>(c.in[1])));
}

/// A function with two operands of one dtype, for each dtype it is defined for.
template <class Op, class F>
void add_binary(table& t, const char* name, F) {
  each_dtype([&]<class T>() {
    if constexpr (Op::template types<T, T>::ok) t[key<T, T>(name)] = binary<F, T, T>;
  });
}

#define GOLDEN_FUNCTION(name) [](const auto& x, const auto& y) { return ca::name(x, y); }
#define GOLDEN_BINARY(name) add_binary<ca::op::name##_op>(t, #name, GOLDEN_FUNCTION(name))

}  // namespace golden
