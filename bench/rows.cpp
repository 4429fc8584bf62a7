// Softmax and its kin along the last axis: short, middling and long rows.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

template <class T>
void rows_of(suite& s, const std::string& name, const ca::shape& shape) {
  const std::string params = name + dims(shape[0], shape[1]);
  const double bytes = double(sizeof(T)) * double(shape.elements());
  const auto row = [&](const char* of, int passes, auto function) {
    s.row(of, params, {.bytes = passes * bytes}, [=] {
      const ca::ndarray<T> x = ca::astype<T>(normal(shape));
      return [=, y = ca::ndarray<T>()]() mutable { y = function(x); };
    });
  };
  row("R7_softmax_ax1", 2, [](const auto& x) { return ca::nnet::softmax(x, 1); });
  row("R7_logsumexp_ax1", 1, [](const auto& x) { return ca::nnet::logsumexp(x, 1); });
  row("R7_log_softmax_ax1", 2, [](const auto& x) { return ca::nnet::log_softmax(x, 1); });
}

int main(int argc, char** argv) {
  suite s(argc, argv);
  for (const ca::shape& shape :
       {ca::shape{side, gpu ? 1024 : 512}, ca::shape{gpu ? 32768 : 8192, 128},
        ca::shape{gpu ? 64 : 16, gpu ? 131072 : 65536}, ca::shape{gpu ? 4096 : 256, 50257}, ca::shape{side - 1, 1023},
        ca::shape{131072, 10}, ca::shape{many / 16, 16}, ca::shape{many / 32, 33}})
    rows_of<float>(s, "", shape);
  rows_of<double>(s, "fp64 ", {many / 128, 64});
  rows_of<ca::float16>(s, "fp16 ", {many / 32, 64});
  rows_of<ca::float16>(s, "fp16 ", {many / 16, 33});
  return s.run();
}
