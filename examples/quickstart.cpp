// The library in a page: every idea a user meets first, printed.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>

namespace ca = cudarray;

auto layer(const ca::array_expression auto& x, const auto& w, const auto& b) {
  return ca::nnet::softmax(ca::matmul(x, w) + b);  // one source for both devices
}

int main() {
  ca::ndarray<float> a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
  auto row = a(0);                                         // a view: shares memory with a
  auto rev = a(ca::_, ca::slice(ca::none, ca::none, -1));  // a[:, ::-1]
  a(ca::_, 0) = 7.0f;                                      // writes into a
  std::cout << "a\n" << a << "\nrow\n" << row << "\nreversed\n" << rev << '\n';

  ca::ndarray<float> z = (a - ca::mean(a, 1, ca::keepdims)) / ca::std(a, 1, ca::keepdims);
  std::cout << "normalised rows\n" << z << '\n';

  a(a > 6) = 0.0f;  // a[a > 6] = 0
  std::cout << "without what was above 6\n" << a << '\n';

  const ca::ndarray<float> w = ca::eye(3), b = ca::zeros({3});
  std::cout << "softmax(a @ w + b)\n" << layer(a, w, b) << '\n';

  auto host = ca::to<ca::cpu>(a);  // the only way across: explicit
  float s = ca::sum(z).item();     // explicit, waits for the device
  std::cout << "on " << ca::default_device::name << ", first element " << host(1, 1).item() << ", sum of z " << s
            << '\n';

  auto before = ca::stats();
  ca::ndarray<float> d = a + z * a;  // one kernel, no temporary
  auto cost = ca::stats() - before;
  std::cout << "a + z * a: " << cost.kernels << " kernel, " << cost.temporaries << " temporaries\n";
}
