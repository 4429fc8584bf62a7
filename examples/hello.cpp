// The smallest program: an array, a broadcast expression, a reduction, printed.
// SPDX-License-Identifier: MIT
#include <cudarray/creation.hpp>
#include <cudarray/io.hpp>
#include <cudarray/math.hpp>
#include <cudarray/reductions.hpp>
#include <iostream>

namespace ca = cudarray;

int main() {
  ca::ndarray<float> a = ca::array<float>({{1, 2, 3}, {4, 5, 6}}), r = ca::array<float>({1, 2, 3});
  ca::ndarray<float> c = a * r + 1.0f;
  std::cout << c << '\n' << ca::sum(c).item() << '\n';
}
