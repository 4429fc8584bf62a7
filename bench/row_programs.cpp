// Row programs in NumPy's notation, nnet::softmax beside them, and statements that write several arrays.
// SPDX-License-Identifier: MIT
#include <cudarray/indexing.hpp>
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

template <class T>
ca::ndarray<T> of(const ca::shape& s) {
  return ca::astype<T>(normal(s));
}

template <class T>
void programs(suite& s, const char* dtype, const ca::shape& shape) {
  const std::string params = dtype + dims(shape[0], shape[1]);
  const double once = double(sizeof(T)) * double(shape.elements());
  // `f(x, other, row)`: another array of the shape, and one row
  const auto row = [&](const char* name, double bytes, auto f) {
    s.row(name, params, {.bytes = bytes}, [=] {
      const ca::ndarray<T> x = of<T>(shape), other = of<T>(shape), one = of<T>({shape[1]});
      return [=, y = ca::ndarray<T>()]() mutable { y = f(x, other, one); };
    });
  };
  const auto top = [](const auto& x) { return ca::max(x, -1, ca::keepdims); };
  row("RP_softmax", 2 * once, [=](const auto& x, const auto&, const auto&) {
    return ca::exp(x - top(x)) / ca::sum(ca::exp(x - top(x)), -1, ca::keepdims);
  });
  row("RP_nnet_softmax", 2 * once, [](const auto& x, const auto&, const auto&) { return ca::nnet::softmax(x, -1); });
  row("RP_layer_norm", 2 * once, [](const auto& x, const auto&, const auto& row) {
    return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f) * row + row;
  });
  row("RP_rms_norm", 2 * once, [](const auto& x, const auto&, const auto& row) {
    return x / ca::sqrt(ca::mean(x * x, -1, ca::keepdims) + 1e-5f) * row;
  });
  row("RP_softmax_gradient", 3 * once,
      [](const auto& y, const auto& dy, const auto&) { return y * (dy - ca::sum(dy * y, -1, ca::keepdims)); });
  s.row("RP_cross_entropy", params, {.bytes = once}, [=] {
    const ca::ndarray<T> x = of<T>(shape);
    const ca::ndarray<int> label = ca::astype<int>(ca::random::uniform({shape[0], 1}) * float(shape[1]));
    return [=, y = ca::ndarray<T>()]() mutable {
      y = ca::log(ca::sum(ca::exp(x - top(x)), -1, ca::keepdims)) + top(x) - ca::take_along_axis(x, label, -1);
    };
  });
  s.row("RP_layer_norm_and_statistics", params, {.bytes = 2 * once}, [=] {
    const ca::ndarray<T> x = of<T>(shape), y = ca::empty<T>(shape), m = ca::empty<T>({shape[0], 1}),
                         r = ca::empty_like(m);
    return [=] {
      const auto mean = ca::mean(x, -1, ca::keepdims);
      const auto by = 1.f / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f);
      ca::assign_together(ca::out(y) = (x - mean) * by, ca::out(m) = mean, ca::out(r) = by);
    };
  });
}

/// AdamW's step (Loshchilov and Hutter 2019): four arrays are read, three of them written.
void adamw(suite& s, int64 n) {
  s.row("RP_adamw", count(n), {.bytes = 28. * double(n)}, [=] {
    const array p = normal(n), m = ca::zeros(n), v = ca::zeros(n), g = normal(n);
    return [=] {
      const auto m1 = 0.9f * m + 0.1f * g;
      const auto v1 = 0.999f * v + 0.001f * (g * g);
      ca::assign_together(ca::out(p) = p * 0.9999f - 1e-3f * m1 / (ca::sqrt(v1) + 1e-8f), ca::out(m) = m1,
                          ca::out(v) = v1);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  for (const ca::shape& shape : {ca::shape{gpu ? 8192 : 4096, 1024}, ca::shape{gpu ? 16384 : 1024, 1600},
                                 ca::shape{32768, 128}, ca::shape{gpu ? 4096 : 64, 50257}, ca::shape{100000, 37}}) {
    programs<float>(s, "", shape);
    programs<ca::bfloat16>(s, "bf16 ", shape);
  }
  adamw(s, many);
  return s.run();
}
