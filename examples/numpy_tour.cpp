// The README's tour, line by line.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>

namespace ca = cudarray;

int main() {
  // making arrays
  ca::ndarray<float> x = ca::linspace(0, 1, 6);
  ca::ndarray<ca::int64> n = ca::arange(6);
  ca::ndarray<float> m = ca::reshape(x, {2, 3});
  std::cout << x << '\n' << n << '\n' << m << '\n';

  // broadcasting, functions, reductions: lazy until assigned, printed or asked for with item()
  ca::ndarray<float> y = ca::sqrt(m) + ca::array<float>({10, 20, 30});
  std::cout << y << '\n' << ca::sum(y, 0) << '\n' << ca::max(y, -1, ca::keepdims) << '\n';
  std::cout << ca::argmax(y).item() << '\n';

  // NumPy's promotion: true division, int32 with float64 scalar
  ca::ndarray<int> k = ca::array<int>({1, 2, 3});
  std::cout << k / 2 << '\n' << k * 0.5 << '\n' << k % 2 << '\n';

  // indexing: views, masks, index arrays
  m(0, ca::slice(1, ca::none)) = -1.0f;
  m(m < 0) += 0.5f;
  std::cout << m << '\n' << m(ca::array<int>({1, 0, 1})) << '\n' << m(ca::ellipsis, ca::newaxis).shape().str() << '\n';

  // products, joining, random numbers
  std::cout << ca::matmul(m, m.t()) << '\n' << ca::concatenate({m, m}, 1) << '\n';
  ca::random::seed(42);
  std::cout << ca::random::normal({3}) << '\n' << ca::random::permutation(5) << '\n';

  // errors say what and where
  try {
    m + ca::zeros({4});
  } catch (const ca::error& e) {
    std::cout << e.what() << '\n';
  }
}
