// Statements of variables and their backward passes: elementwise ones with broadcast operands, and rows in NumPy's
// notation. Gradients are written, not added to.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

template <class T>
ca::ndarray<T> of(const ca::shape& s) {
  return ca::astype<T>(normal(s));
}

/// `f(x, row, other row, other)`, forward and back to the variables: all but the last.
template <class T, class F>
void row(suite& s, const char* name, const char* dtype, const ca::shape& shape, double passes, const F& f) {
  const std::string params = dtype + dims(shape[0], shape[1]);
  const double bytes = passes * double(sizeof(T)) * double(shape.elements());
  s.row(name, params, {.bytes = bytes}, [=] {
    const ca::variable<T> x = of<T>(shape), a = of<T>({shape[1]}), b = of<T>({shape[1]});
    const ca::ndarray<T> other = of<T>(shape), g = of<T>(shape);
    return [=] {
      for (const auto* v : {&x, &a, &b}) v->zero_grad();
      const ca::variable<T> y = f(x, a, b, other);
      y.backward(g);
    };
  });
}

template <class T>
void rows(suite& s, const char* dtype, const ca::shape& shape) {
  const auto top = [](const auto& x) { return ca::max(x, -1, ca::keepdims); };
  // forward: x and other in, y out; back: x, other and g in, dx out
  row<T>(s, "D_elementwise_fb", dtype, shape, 7, [](const auto& x, const auto& a, const auto& b, const auto& other) {
    const auto u = x + a;
    return u * ca::nnet::sigmoid(u) * other + b;
  });
  // forward: x in, y out; back: x or y, and g, in, dx out
  row<T>(s, "D_softmax_fb", dtype, shape, 5, [=](const auto& x, const auto&, const auto&, const auto&) {
    return ca::exp(x - top(x)) / ca::sum(ca::exp(x - top(x)), -1, ca::keepdims);
  });
  row<T>(s, "D_rms_norm_fb", dtype, shape, 5, [](const auto& x, const auto& a, const auto&, const auto&) {
    return x / ca::sqrt(ca::mean(x * x, -1, ca::keepdims) + 1e-5f) * a;
  });
  row<T>(s, "D_layer_norm_fb", dtype, shape, 5, [](const auto& x, const auto& a, const auto& b, const auto&) {
    return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f) * a + b;
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  for (const ca::shape& shape : {ca::shape{gpu ? 8192 : 1024, 4096}, ca::shape{gpu ? 65536 : 8192, 256}}) {
    rows<float>(s, "", shape);
    rows<ca::bfloat16>(s, "bf16 ", shape);
  }
  s.row("D_small_fb", count(64), {.chain = true}, [] {
    const ca::variable<float> x = normal(64), a = normal(64), b = normal(64);
    const array g = normal(64);
    return [=] {
      for (const auto* v : {&x, &a, &b}) v->zero_grad();
      const ca::variable<float> y = x * a + b;
      y.backward(g);
    };
  });
  return s.run();
}
