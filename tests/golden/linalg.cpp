// Golden cases of the matrix product.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class T>
value matmul(const test_case& c) {
  return download(ca::matmul(load<T>(c.in[0]), load<T>(c.in[1])));
}

}  // namespace

void add_linalg(table& t) {
  t[key<float, float>("matmul")] = matmul<float>;
  t[key<double, double>("matmul")] = matmul<double>;
  t[key<ca::int32, ca::int32>("matmul")] = matmul<ca::int32>;
}

}  // namespace golden
