// k-means: groups of points.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::_;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 2000, k = 5;
  const auto i = ca::arange<float>(n);
  const ca::ndarray<float> x = ca::stack(std::tuple(ca::sin(0.7f * i) + i % k, ca::cos(1.3f * i) + 2 * (i % k)), 1);
  ca::ndarray<float> centres = ca::copy(x(ca::slice(0, k)));
  ca::ndarray<ca::int64> labels;
  for (int step = 0; step < 10; ++step) {
    const auto distances = ca::sum(ca::square(x(_, ca::newaxis) - centres), -1);
    labels = ca::argmin(distances, 1);
    for (int j = 0; j < k; ++j) centres(j) = ca::mean(x(labels == j), 0);
  }
  std::cout << centres << '\n' << ca::bincount(labels, k) << '\n';
  std::cout << ca::mean(ca::sqrt(ca::sum(ca::square(x - centres(labels)), -1))) << '\n';
}
