// Conway's game of life on a torus.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64;
  const auto i = ca::reshape(ca::arange(n * n), {n, n});
  ca::ndarray<bool> alive = ca::sin(i * i * 0.37) > 0.2;
  for (int step = 0; step < 100; ++step) {
    ca::ndarray<int> neighbours = ca::zeros<int>({n, n});
    for (const int dy : {-1, 0, 1})
      for (const int dx : {-1, 0, 1})
        if (dy != 0 || dx != 0) neighbours += ca::roll(alive, {dy, dx}, {0, 1});
    alive = (neighbours == 3) | (alive & (neighbours == 2));
  }
  std::cout << ca::sum(alive) << '\n' << ca::sum(alive, 0)(ca::slice(ca::none, ca::none, 4)) << '\n';
}
