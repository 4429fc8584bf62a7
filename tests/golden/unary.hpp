// What the golden cases of the functions of one operand share.
// SPDX-License-Identifier: MIT
#pragma once

#include "golden.hpp"

namespace golden {

template <class F, class T>
value unary(const test_case& c) {
  return download(F{}(load<T>(c.in[0])));
}

/// A function of one operand, for each dtype it is defined for.
template <class Op, class F>
void add_unary(table& t, const char* name, F) {
  each_dtype([&]<class T>() {
    if constexpr (Op::template types<T>::ok) t[key<T>(name)] = unary<F, T>;
  });
}

}  // namespace golden
