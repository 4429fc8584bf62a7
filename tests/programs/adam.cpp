// Logistic regression by Adam, the gradient by the library.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cudarray/autograd.hpp>
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using array = ca::ndarray<float>;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 500, d = 8;
  const array x = ca::reshape(ca::sin(ca::arange<float>(n * d) * 1.7f), {n, d});
  const array y = ca::astype<float>(ca::matmul(x, ca::linspace<float>(-1, 1, d)) > 0.1f);
  const auto loss = [&](const auto& w) { return ca::nnet::binary_cross_entropy_with_logits(ca::matmul(x, w), y); };
  array w = ca::zeros(d), m = ca::zeros(d), v = ca::zeros(d);
  for (int t = 1; t <= 200; ++t) {
    const array gradient = ca::grad<0>(loss)(w);
    m = 0.9f * m + 0.1f * gradient;
    v = 0.999f * v + 0.001f * ca::square(gradient);
    w -= 0.05f * (m / (1 - std::pow(0.9f, t))) / (ca::sqrt(v / (1 - std::pow(0.999f, t))) + 1e-8f);
  }
  std::cout << w << '\n';
  std::cout << loss(w) << ' ' << ca::mean((ca::matmul(x, w) > 0) == (y > 0)) << '\n';
}
