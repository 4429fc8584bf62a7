// Functions of neural networks, forward and back.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

template <class T>
void rows(suite& s, const char* dtype) {
  for (const ca::shape& shape : {ca::shape{gpu ? 8192 : 256, 50257}, ca::shape{gpu ? 65536 : 8192, 1000}}) {
    const double once = double(sizeof(T)) * double(shape.elements());
    // logits in, their gradient out
    s.row("N_cross_entropy_fb", dtype + dims(shape[0], shape[1]), {.bytes = 2 * once}, [=] {
      const ca::ndarray<T> x = ca::astype<T>(normal(shape)), dx = ca::empty<T>(shape);
      const ca::ndarray<int> labels = ca::arange<int>(shape[0]) % int(shape[1]);
      return [=] { ca::nnet::cross_entropy_and_gradient(x, labels, {}, ca::out(dx)); };
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  rows<float>(s, "");
  rows<ca::bfloat16>(s, "bf16 ");
  return s.run();
}
