// An LSTM over a batch of sequences.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::nnet::sigmoid;
using array = ca::ndarray<float>;

array waves(const ca::shape& s) { return ca::reshape(ca::sin(ca::arange<float>(s.elements()) * 0.71f) / 4, s); }

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20, batch = 8, inputs = 16, hidden = 32;
  const array x = waves({steps, batch, inputs}), w = waves({inputs, 4 * hidden}), u = waves({hidden, 4 * hidden}),
              b = waves({4 * hidden});
  array h = ca::zeros({batch, hidden}), c = ca::zeros({batch, hidden});
  std::vector<array> outputs;
  for (int t = 0; t < steps; ++t) {
    const auto gates = ca::split(ca::eval(ca::matmul(x(t), w) + ca::matmul(h, u) + b), 4, 1);
    c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * ca::tanh(gates[2]);
    h = sigmoid(gates[3]) * ca::tanh(c);
    outputs.push_back(h);
  }
  const array y = ca::stack(outputs);
  std::cout << y.shape() << ' ' << ca::mean(y) << ' ' << ca::std(y) << '\n';
  std::cout << y(-1, 3, ca::slice(ca::none, ca::none, 4)) << '\n';
}
