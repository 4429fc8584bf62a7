// Statistics of pictures: means and deviations of channels, a histogram, edges, the brightest block.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::_, ca::none, ca::slice;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 20;
  const auto i = ca::arange(n * 32 * 48 * 3);
  const ca::ndarray<ca::uint8> pictures =
      ca::reshape(ca::astype<ca::uint8>((ca::sin(i * 0.013) + 1) * 127 + i % 3), {n, 32, 48, 3});
  const ca::ndarray<float> x = ca::astype<float>(pictures) / 255;
  std::cout << ca::mean(x, {0, 1, 2}) << ' ' << ca::std(x, {0, 1, 2}) << '\n';
  std::cout << ca::histogram(pictures, 8, {.low = 0, .high = 256}).counts << '\n';
  const ca::ndarray<float> grey = ca::sum(x * ca::array({0.299f, 0.587f, 0.114f}), -1);
  const auto here = grey(_, slice(none, -1), slice(none, -1));
  const ca::ndarray<float> edges =
      ca::hypot(grey(_, slice(1, none), slice(none, -1)) - here, grey(_, slice(none, -1), slice(1, none)) - here);
  std::cout << ca::mean(edges) << ' ' << ca::percentile(edges, {50, 90}) << '\n';
  const ca::ndarray<float> blocks = ca::mean(ca::reshape(grey, {n, 4, 8, 6, 8}), {2, 4});
  std::cout << ca::argmax(ca::reshape(blocks, {n, -1}), 1)(slice(0, 10)) << ' ' << ca::max(blocks) << '\n';
}
