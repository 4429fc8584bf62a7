// Gradients of attention and of recurrent layers.
// SPDX-License-Identifier: MIT
#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;
namespace nnet = ca::nnet;

}  // namespace

TEST_CASE("autograd: gradients of attention") {
  check_layouts(
      "attention",
      [](const auto& q, const auto& k, const auto& v, const auto& m) {
        return nnet::scaled_dot_product_attention(q, k, v, m, {.causal = true, .offset = 1});
      },
      S{4, 2, 3}, S{2, 4, 3}, S{2, 4, 2}, S{4});
  check_layouts(
      "rotary_embedding", [](const auto& x) { return nnet::rotary_embedding(x, {.base = 2}); }, S{2, 3, 4});
}
TEST_CASE("autograd: gradients of recurrent layers") {
  const ca::ndarray<int> lengths = ca::array<int>({3, 1});
  check_layouts(
      "gru",
      [&]<class X>(const X& x, const X& w, const X& u, const X& b) {
        const std::vector<nnet::recurrent_weights<X>> weights{{w, u, b, X(b * 2.)}};
        return nnet::gru(x, weights, X(x(ca::slice(0, 1))), lengths).output;
      },
      S{3, 2, 2}, S{2, 6}, S{2, 6}, S{6});
  check_layouts(
      "lstm",
      []<class X>(const X& x, const X& w, const X& u, const X& b) {
        const std::vector<nnet::recurrent_weights<X>> weights{{w, u, b, b}};
        const auto r = nnet::lstm(x, weights);
        return r.hidden * r.cell;
      },
      S{3, 2, 2}, S{2, 8}, S{2, 8}, S{8});
}
TEST_CASE("autograd: the gradient of a mask in float32 beside half types") {
  const auto half = [](const ca::shape& s, float v) { return ca::astype<ca::float16>(ca::full(s, v)); };
  const ca::ndarray<ca::float16> q = half({4096, 2}, 0), k = half({2, 2}, 0);
  const ca::ndarray<ca::float16> v = ca::astype<ca::float16>(ca::array<float>({{1}, {0}}));
  const ca::variable<float> mask = ca::zeros({1, 2});
  ca::variable y = nnet::scaled_dot_product_attention(q, k, v, mask);
  y.backward(half({4096, 1}, 100));
  CHECK(test::equal(mask.grad(), {1, 2}, std::vector<float>{102400, -102400}));
  const ca::ndarray<double> scores = ca::array<double>({{0.5, -1}}), one = ca::array<double>({{1, 0}});
  const auto [value, tangent] = ca::jvp([&](const auto& m) {
    return nnet::scaled_dot_product_attention(scores, ca::zeros<double>({2, 2}), ca::array<double>({{1}, {0}}), m);
  })(scores, one);
  const double p = 1 / (1 + std::exp(-1.5));
  CHECK(test::close(value, {1, 1}, {p}, 1e-12));
  CHECK(test::close(tangent, {1, 1}, {p * (1 - p)}, 1e-12));
}
