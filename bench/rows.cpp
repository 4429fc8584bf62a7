// Softmax and its kin along the last axis: short, middling and long rows.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

int main(int argc, char** argv) {
  suite s(argc, argv);
  const ca::shape shapes[] = {
      {side, gpu ? 1024 : 512},  {gpu ? 32768 : 8192, 128}, {gpu ? 64 : 16, gpu ? 131072 : 65536},
      {gpu ? 4096 : 256, 50257}, {side - 1, 1023},          {131072, 10}};
  for (const ca::shape& shape : shapes) {
    const std::string params = dims(shape[0], shape[1]);
    const double bytes = 4. * double(shape.elements());
    s.row("R7_softmax_ax1", params, {.bytes = 2 * bytes}, [=] {
      const array x = normal(shape);
      return [=, y = array()]() mutable { y = ca::nnet::softmax(x, 1); };
    });
    s.row("R7_logsumexp_ax1", params, {.bytes = bytes}, [=] {
      const array x = normal(shape);
      return [=, y = array()]() mutable { y = ca::nnet::logsumexp(x, 1); };
    });
    s.row("R7_log_softmax_ax1", params, {.bytes = 2 * bytes}, [=] {
      const array x = normal(shape);
      return [=, y = array()]() mutable { y = ca::nnet::log_softmax(x, 1); };
    });
  }
  return s.run();
}
