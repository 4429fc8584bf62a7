// The library among other libraries' macros: it compiles behind them, and is used.
// SPDX-License-Identifier: MIT
#include "foreign_macros.hpp"

#include <cudarray/cudarray.hpp>

int main() {
  namespace ca = cudarray;
  ca::ndarray<float, ca::cpu> a = ca::ones<float, ca::cpu>({2, 3});
  a(ca::_, 0) = 2;
  a(a > 1) += 1;
  const ca::ndarray<float, ca::cpu> p = ca::nnet::softmax(ca::matmul(a, a.t()));
  return ca::sum(p).item() == 2 && ca::sort(a, 1)(0, 2).item() == 3 ? 0 : 1;
}
