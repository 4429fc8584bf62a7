// Attention of half types, which a library may compute as a whole, beside float64's, values and gradients.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;

struct attention_case {
  ca::shape q, k, v;
  bool causal;
};
const std::vector<attention_case> cases = {
    {{2, 4, 128, 64}, {2, 4, 128, 64}, {2, 4, 128, 64}, true},
    {{1, 4, 96, 64}, {1, 2, 160, 64}, {1, 2, 160, 64}, false},
    {{1, 6, 33, 32}, {1, 2, 33, 32}, {1, 2, 33, 32}, true},
    {{2, 2, 77, 40}, {2, 2, 77, 40}, {2, 2, 77, 40}, true},
    {{1, 1, 64, 128}, {1, 1, 200, 128}, {1, 1, 200, 64}, false},
    {{2, 20, 16}, {2, 24, 16}, {2, 24, 16}, true},
    {{24, 16}, {20, 16}, {20, 16}, true},
    {{2, 3, 2, 17, 8}, {2, 3, 2, 19, 8}, {2, 3, 2, 19, 8}, false},
    {{2, 2, 9, 7}, {2, 2, 9, 7}, {2, 2, 9, 5}, true},
};

template <class T>
double far_from(const ca::ndarray<T>& x, const ca::ndarray<double>& y) {
  const double size = ca::max(ca::abs(y)).item();
  return ca::max(ca::abs(ca::astype<double>(x) - y)).item() / (size > 0 ? size : 1);
}
/// Values and gradients of attention to operands of dtype T and to the same in float64: how far they are off, as a part
/// of the largest number.
template <class T>
double off_by(const ca::ndarray<T>& a, const ca::ndarray<T>& b, const ca::ndarray<T>& c, bool causal) {
  const ca::variable<T> q = a, k = b, v = c;
  const ca::variable<double> dq = ca::astype<double>(a), dk = ca::astype<double>(b), dv = ca::astype<double>(c);
  const ca::variable<T> y = nnet::scaled_dot_product_attention(q, k, v, {.causal = causal});
  const ca::variable<double> exact = nnet::scaled_dot_product_attention(dq, dk, dv, {.causal = causal});
  const ca::ndarray<T> g = ca::astype<T>(test::wave_of(y.shape(), 4));
  y.backward(g);
  exact.backward(ca::astype<double>(g));
  double worst = far_from(y.value(), exact.value());
  for (const double d : {far_from(q.grad(), dq.grad()), far_from(k.grad(), dk.grad()), far_from(v.grad(), dv.grad())})
    worst = d > worst ? d : worst;
  return worst;
}

}  // namespace

TEST_CASE("nnet: attention of half types and its gradients are float64's") {
  const auto check = [&]<class T>(T, double tolerance) {
    for (const auto& z : cases) {
      INFO(ca::dtype_name<T> << " " << z.q.str() << " to " << z.k.str());
      const auto wave = [](const ca::shape& s, double phase) { return ca::astype<T>(test::wave_of(s, phase) * 0.25); };
      CHECK(off_by<T>(wave(z.q, 0), wave(z.k, 1), wave(z.v, 2), z.causal) < tolerance);
    }
  };
  check(ca::float16(0), 0.004);
  check(ca::bfloat16(0), 0.03);
}

TEST_CASE("nnet: attention of half types to views: heads behind steps, halves of rows, single rows") {
  using T = ca::bfloat16;
  const auto wave = [](const ca::shape& s, double phase) {
    return ca::ndarray<T>(ca::astype<T>(test::wave_of(s, phase) * 0.25));
  };
  const auto heads = [](const ca::ndarray<T>& x) { return ca::ndarray<T>(ca::transpose(x, {0, 2, 1, 3})); };
  const auto all = wave({2, 32, 3, 4, 16}, 0);  // q, k and v of a product for all
  const auto part = [&](int i) { return heads(all(ca::_, ca::_, i)); };
  CHECK(off_by<T>(part(0), part(1), part(2), true) < 0.03);
  const auto x = wave({1, 2, 20, 18}, 1)(ca::ellipsis, ca::slice(1, 17));  // rows that begin anywhere
  CHECK(off_by<T>(x, x, x, false) < 0.03);
  CHECK(off_by<T>(ca::broadcast_to(wave({1, 2, 20, 16}, 2), {3, 2, 20, 16}), wave({3, 2, 20, 16}, 3),
                  wave({3, 2, 20, 16}, 4), false) < 0.03);
  CHECK(off_by<T>(wave({1, 1, 1, 16}, 2), wave({1, 1, 1, 16}, 3), wave({1, 1, 1, 16}, 4), true) < 0.03);
}

TEST_CASE("nnet: attention of half types has the same bits each time, and of a variable that is used twice") {
  using T = ca::float16;
  const ca::ndarray<T> a = ca::astype<T>(test::wave_of({2, 4, 128, 64}));
  const auto gradient = [&] {
    const ca::variable<T> x = a;
    const ca::variable<T> y = nnet::scaled_dot_product_attention(x, x, x, {.causal = true});
    y.backward(ca::astype<T>(test::wave_of(y.shape(), 1)));
    return ca::eval(x.grad());
  };
  const auto first = gradient();
  for (int i = 0; i < 5; ++i)
    CHECK(test::values(ca::astype<float>(gradient())) == test::values(ca::astype<float>(first)));
  const ca::variable<T> q = a, k = a, v = a;
  const ca::variable<T> y = nnet::scaled_dot_product_attention(q, k, v, {.causal = true});
  y.backward(ca::astype<T>(test::wave_of(y.shape(), 1)));
  CHECK(far_from(first, ca::astype<double>(q.grad()) + ca::astype<double>(k.grad()) + ca::astype<double>(v.grad())) <
        0.002);
  // constants get no gradient, and without a record there is none
  const ca::variable<T> only = a;
  const ca::variable<T> z = nnet::scaled_dot_product_attention(a, only, a, {.causal = true});
  z.backward(ca::astype<T>(test::wave_of(z.shape(), 1)));
  CHECK(test::values(ca::astype<float>(only.grad())) == test::values(ca::astype<float>(k.grad())));
  const ca::no_grad off;
  const ca::variable<T> w = nnet::scaled_dot_product_attention(only, only, only, {.causal = true});
  CHECK(!w.requires_grad());
}
