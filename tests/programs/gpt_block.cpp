// A block of a transformer: causal attention of several heads, and two layers, each behind a layer norm.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
namespace nnet = ca::nnet;
using array = ca::ndarray<float>;

array weights(int rows, int columns) {
  return ca::reshape(ca::sin(ca::arange<float>(rows * columns) * 0.37f), {rows, columns}) / std::sqrt(float(rows));
}
array norm(const array& x) {
  const int width = int(x.shape(-1));
  return nnet::layer_norm(x, ca::ones(width), ca::zeros(width));
}
array attention(const array& x, int heads) {
  const int width = int(x.shape(-1));
  const auto qkv =
      ca::rearrange<"b l (n h d) -> n b h l d">(ca::matmul(x, weights(width, 3 * width)), {{"n", 3}, {"h", heads}});
  const auto y = nnet::scaled_dot_product_attention(qkv(0), qkv(1), qkv(2), {.causal = true});
  return ca::matmul(ca::rearrange<"b h l d -> b l (h d)">(y), weights(width, width));
}

int main(int argc, char** argv) {
  const int batch = 2, length = argc > 1 ? std::atoi(argv[1]) : 32, width = 64;
  array x = ca::reshape(ca::cos(ca::arange<float>(batch * length * width)), {batch, length, width});
  x = x + attention(norm(x), 4);
  x = x + ca::matmul(nnet::gelu_tanh(ca::matmul(norm(x), weights(width, 4 * width))), weights(4 * width, width));
  std::cout << ca::mean(x) << ' ' << ca::std(x) << '\n';
  std::cout << x(1, -1, ca::slice(ca::none, ca::none, 8)) << '\n';
}
