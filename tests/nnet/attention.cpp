// Attention: what is hidden, half types, generation with a cache, linear biases, dropout, errors.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using array = ca::ndarray<float>;
using ca::_;

array wave(const ca::shape& s, double shift) { return ca::astype<float>(test::wave_of(s) + shift); }
double off(const array& a, const array& b) { return double(ca::max(ca::abs(a - b)).item()); }

struct operands {
  array q, k, v;
  operands(const ca::shape& of_q, const ca::shape& of_k, const ca::shape& of_v)
      : q(wave(of_q, 0)), k(ca::sin(wave(of_k, 2) * 5)), v(ca::cos(wave(of_v, 1) * 7)) {}
};

}  // namespace

TEST_CASE("nnet: a query that sees no key gets zeros, and has no gradient") {
  const operands x({2, 2, 70, 8}, {2, 2, 80, 8}, {2, 2, 80, 8});
  const ca::ndarray<bool> mask = ca::expand_dims(ca::arange<int>(70) != 3, -1) & (ca::arange<int>(80) != 0);
  const ca::variable<float> q = x.q, k = x.k, v = x.v;
  ca::variable y = nnet::scaled_dot_product_attention(q, k, v, mask);
  CHECK(off(y.value()(_, _, 3), ca::zeros({2, 2, 8})) == 0);
  y.backward(ca::ones(y.shape()));
  CHECK(off(q.grad()(_, _, 3), ca::zeros({2, 2, 8})) == 0);
  CHECK(off(k.grad()(_, _, 0), ca::zeros({2, 2, 8})) == 0);
  CHECK(off(v.grad()(_, _, 0), ca::zeros({2, 2, 8})) == 0);
  CHECK(ca::all(ca::isfinite(q.grad())).item());
}
TEST_CASE("nnet: attention to generated steps is causal attention") {
  const operands x({1, 4, 9, 6}, {1, 2, 9, 6}, {1, 2, 9, 5});
  const array all = nnet::scaled_dot_product_attention(x.q, x.k, x.v, {.causal = true});
  nnet::key_value_cache<float> cache(ca::empty({1, 2, 9, 6}), ca::empty({1, 2, 9, 5}));
  const auto steps = [&](const array& a, ca::int64 from, ca::int64 to) { return a(_, _, ca::slice(from, to)); };
  cache.append(steps(x.k, 0, 4), steps(x.v, 0, 4));
  const array prompt =
      nnet::scaled_dot_product_attention(steps(x.q, 0, 4), cache.keys(), cache.values(), {.causal = true});
  CHECK(off(prompt, steps(all, 0, 4)) < 1e-6);
  for (ca::int64 t = 4; t < 8; ++t) {
    cache.append(steps(x.k, t, t + 1), steps(x.v, t, t + 1) * 1.f);
    const array y = nnet::scaled_dot_product_attention(steps(x.q, t, t + 1), cache.keys(), cache.values());
    CHECK(off(y, steps(all, t, t + 1)) < 1e-6);
  }
  // a later chunk sees what was before it
  cache.append(steps(x.k, 8, 9), steps(x.v, 8, 9));
  const array chunk =
      nnet::scaled_dot_product_attention(steps(x.q, 6, 9), cache.keys(), cache.values(), {.causal = true, .offset = 6});
  CHECK(off(chunk, steps(all, 6, 9)) < 1e-6);
  CHECK(test::thrown<ca::value_error>([&] { cache.append(steps(x.k, 0, 1), steps(x.v, 0, 1)); }) ==
        "nnet::key_value_cache: 9 steps and 1 more, there is room for 9");
  CHECK(
      test::thrown<ca::shape_error>([&] { cache.append(x.k, x.k); }) ==
      "nnet::key_value_cache: keys of shape (1, 2, 9, 6) and values of shape (1, 2, 9, 6) for a cache of (1, 2, 9, 6) "
      "and (1, 2, 9, 5)");
  CHECK((cache.length() == 9 && cache.capacity() == 9));
  cache.clear();
  CHECK(cache.keys().shape() == ca::shape{1, 2, 0, 6});
}
TEST_CASE("nnet: rotary embeddings depend on distances only") {
  const array q = wave({2, 1, 8}, 0), k = wave({2, 1, 8}, 3);
  const auto product = [&](ca::int64 i, ca::int64 j) {
    return array(ca::sum(nnet::rotary_embedding(q, {.offset = i}) * nnet::rotary_embedding(k, {.offset = j}), -1));
  };
  CHECK(off(product(3, 1), product(1002, 1000)) < 1e-5);
  CHECK(off(product(3, 1), product(3, 2)) > 1e-3);
}
TEST_CASE("nnet: slopes of alibi") {
  // Press et al. 2022: 1/2, 1/4, .. of 8 heads; of 12 the odd ones of 16 follow
  const array of_8 = nnet::alibi(8, 1, 2);
  for (int h = 0; h < 8; ++h) CHECK(std::abs(of_8(h, 0, 1).item() + float(std::pow(2, -h - 1))) < 1e-7f);
  const array of_12 = nnet::alibi(12, 1, 2);
  for (int h = 8; h < 12; ++h)
    CHECK(std::abs(of_12(h, 0, 1).item() + float(std::pow(2, -(2 * (h - 8) + 1) / 2.))) < 1e-7f);
  const operands x({2, 8, 4, 6}, {2, 8, 5, 6}, {2, 8, 5, 6});
  const array bias = nnet::alibi(8, 4, 5, 1);
  CHECK(bias.shape() == ca::shape{8, 4, 5});
  CHECK(std::abs(bias(0, 3, 1).item() + 1.5f) < 1e-6f);
  CHECK(off(nnet::scaled_dot_product_attention(x.q, x.k, x.v, nnet::alibi(8, 4, 5, 1), {.causal = true, .offset = 1}),
            nnet::scaled_dot_product_attention(x.q, x.k, x.v, bias, {.causal = true, .offset = 1})) < 1e-6);
}
TEST_CASE("nnet: attention of half types, of nothing, and with dropout") {
  const operands x({2, 2, 6, 8}, {2, 2, 7, 8}, {2, 2, 7, 8});
  const auto half = [](const array& a) { return ca::eval(ca::astype<ca::bfloat16>(a)); };
  const auto y = nnet::scaled_dot_product_attention(half(x.q), half(x.k), half(x.v), {.causal = true});
  static_assert(std::is_same_v<ca::value_type_t<decltype(y)>, ca::bfloat16>);
  CHECK(off(ca::astype<float>(y), nnet::scaled_dot_product_attention(x.q, x.k, x.v, {.causal = true})) < 0.02);
  const ca::variable<float> q = ca::zeros({2, 0, 8}), v = x.v(0);
  ca::variable none = nnet::scaled_dot_product_attention(q, x.k(0), v);
  CHECK(none.shape() == ca::shape{2, 0, 8});
  none.backward(ca::zeros({2, 0, 8}));
  CHECK(off(v.grad(), ca::zeros({2, 7, 8})) == 0);
  const array no_keys = nnet::scaled_dot_product_attention(x.q, x.k(_, _, ca::slice(0)), x.v(_, _, ca::slice(0)));
  CHECK(off(no_keys, ca::zeros({2, 2, 6, 8})) == 0);
  // what dropout leaves is scaled: the mean over many masks is the value
  ca::random::seed(1);
  const array all = nnet::scaled_dot_product_attention(x.q, x.k, x.v);
  array sum = ca::zeros(all.shape());
  for (int i = 0; i < 400; ++i) sum += nnet::scaled_dot_product_attention(x.q, x.k, x.v, {.dropout = 0.2});
  CHECK(off(sum / 400, all) < 0.15);
  ca::random::seed(0);
}
TEST_CASE("nnet: errors of attention") {
  const operands x({2, 4, 6, 8}, {2, 3, 7, 8}, {2, 3, 7, 8});
  const auto shape = [](const auto& f) { return test::thrown<ca::shape_error>(f); };
  const std::string wanted = ": (.., h, l, d), (.., g, s, d) and (.., g, s, e) are wanted, h a multiple of g";
  CHECK(
      shape([&] { nnet::scaled_dot_product_attention(x.q, x.k, x.v); }) ==
      "nnet::scaled_dot_product_attention: queries of shape (2, 4, 6, 8), keys of shape (2, 3, 7, 8), values of shape "
      "(2, 3, 7, 8)" +
          wanted);
  CHECK(shape([&] { nnet::scaled_dot_product_attention(x.k, x.k, x.v(0)); }).find(wanted) != std::string::npos);
  CHECK(
      shape([&] {
        nnet::scaled_dot_product_attention(x.k, x.k, x.v, ca::ones({6, 7}));
      }) ==
      "nnet::scaled_dot_product_attention: a mask of shape (6, 7) does not broadcast to scores of shape (2, 3, 7, 7)");
  CHECK(test::thrown<ca::value_error>([&] { nnet::scaled_dot_product_attention(x.k, x.k, x.v, {.dropout = 1}); }) ==
        "nnet::scaled_dot_product_attention: the probability 1 is not in [0, 1)");
  CHECK(shape([&] {
          nnet::rotary_embedding(ca::ones({2, 3}));
        }) == "nnet::rotary_embedding: x of shape (2, 3), not (.., t, d) with an even d");
  CHECK(test::thrown<ca::value_error>([&] { nnet::rotary_embedding(x.q, {.base = 0}); }) ==
        "nnet::rotary_embedding: base 0 is not positive and finite");
  CHECK(test::thrown<ca::value_error>([&] { nnet::alibi(0, 1, 1); }) == "nnet::alibi: 0 heads, 1 queries, 1 keys");
}
