// A consumer of the package.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cudarray/cudarray.hpp>

namespace ca = cudarray;

int main() {
  const ca::ndarray<float> a = ca::ones({2, 3});
  std::printf("%s %g\n", ca::default_device::name, double(ca::sum(ca::matmul(a, a.t()) + 1).item()));
}
