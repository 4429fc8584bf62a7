// The heat equation on a plate, by explicit steps.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::_, ca::none, ca::slice;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64;
  ca::ndarray<float> u = ca::zeros({n, n});
  u(0) = 100;
  u(_, -1) = ca::linspace(100, 0, n);
  const auto in = slice(1, -1), up = slice(2, none), down = slice(none, -2);
  for (int step = 0; step < 200; ++step)
    u(in, in) += 0.2f * (u(up, in) + u(down, in) + u(in, up) + u(in, down) - 4 * u(in, in));
  std::cout << ca::mean(u) << ' ' << ca::std(u) << '\n';
  std::cout << u(n / 2, slice(none, none, 8)) << '\n';
  std::cout << ca::max(ca::hypot(ca::gradient(u, 1, {.axis = 0}), ca::gradient(u, 1, {.axis = 1}))) << '\n';
}
