// Recurrent layers: without a state, half types, dropout, trees of weights, errors.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>
// behind it, as users may
#include <cudarray/autograd.hpp>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using array = ca::ndarray<float>;
using variable = ca::variable<float>;
using ca::_;
template <class V>
using layers = std::vector<nnet::recurrent_weights<V>>;

array wave(const ca::shape& s, double shift) { return ca::astype<float>(ca::sin(test::wave_of(s) * 3 + shift)) * 0.5f; }
double off(const array& a, const array& b) { return double(ca::max(ca::abs(a - b)).item()); }
/// Of one layer, or of one direction.
template <class V>
nnet::recurrent_weights<V> weights(ca::int64 inputs, ca::int64 h, ca::int64 gates) {
  return {V(wave({inputs, gates * h}, 1)), V(wave({h, gates * h}, 2)), V(wave({gates * h}, 3)),
          V(wave({gates * h}, 4))};
}

}  // namespace

TEST_CASE("nnet: recurrent layers begin with zeros, and end where the next begins") {
  const array x = wave({6, 3, 4}, 0), zero = ca::zeros({1, 3, 5});
  const layers<array> w{weights<array>(4, 5, 4)}, of_gru{weights<array>(4, 5, 3)};
  const auto all = nnet::lstm(x, w), given = nnet::lstm(x, w, zero, zero);
  CHECK(off(all.output, given.output) == 0);
  const auto first = nnet::lstm(x(ca::slice(4)), w);
  const auto [output, hidden, cell] = nnet::lstm(x(ca::slice(4, ca::none)), w, first.hidden, first.cell);
  CHECK(off(output, all.output(ca::slice(4, ca::none))) < 1e-6);
  CHECK((off(hidden, all.hidden) < 1e-6 && off(cell, all.cell) < 1e-6));
  CHECK(off(hidden(0), output(-1)) == 0);
  // lengths of all steps say nothing new
  CHECK(off(nnet::gru(x, of_gru, zero, ca::full<int>(3, 6)).output, nnet::gru(x, of_gru).output) == 0);
}
TEST_CASE("nnet: first states of which one is a variable") {
  const array x = wave({3, 2, 4}, 0), h = wave({1, 2, 5}, 6);
  const layers<array> w{weights<array>(4, 5, 4)};
  const variable c = wave({1, 2, 5}, 7);
  const auto r = nnet::lstm(x, w, h, c);
  CHECK(off(r.output.value(), nnet::lstm(x, w, h, c.value()).output) == 0);
  r.output.backward(ca::ones({3, 2, 5}));
  const float step = 1e-2f;
  const auto sum_of = [&](float d) {
    const array moved = c.value() + d * ca::astype<float>(ca::arange(5) == 2);
    return ca::sum(nnet::lstm(x, w, h, moved).output).item();
  };
  CHECK(std::abs((sum_of(step) - sum_of(-step)) / (2 * step) - ca::sum(c.grad()(0, _, 2)).item()) < 1e-3f);
  const auto [y, dy] = ca::jvp([&](const auto& s) { return nnet::lstm(x, w, s, c.value()).output; })(h, h);
  CHECK(off(y, r.output.value()) == 0);
  CHECK(!nnet::lstm(x, w, h, variable(wave({1, 2, 5}, 7)).requires_grad(false)).output.requires_grad());
}
TEST_CASE("nnet: a recurrent layer written out") {
  const array x = wave({2, 3, 4}, 0);
  const auto w = weights<array>(4, 5, 1);
  const array h1 = ca::tanh(ca::matmul(x(0), w.input) + w.bias_input + w.bias_hidden);
  const array h2 = ca::tanh(ca::matmul(x(1), w.input) + w.bias_input + ca::matmul(h1, w.hidden) + w.bias_hidden);
  const auto [output, hidden] = nnet::rnn(x, layers<array>{w});
  CHECK((off(output(0), h1) < 1e-6 && off(output(1), h2) < 1e-6 && off(hidden(0), h2) < 1e-6));
}
TEST_CASE("nnet: recurrent layers of half types, of an empty batch, with dropout") {
  const array x = wave({5, 2, 4}, 0);
  const auto half = [](const array& a) { return ca::eval(ca::astype<ca::bfloat16>(a)); };
  const auto w = weights<array>(4, 8, 3);
  const std::vector<nnet::recurrent_weights<ca::ndarray<ca::bfloat16>>> narrow{
      {half(w.input), half(w.hidden), half(w.bias_input), half(w.bias_hidden)}};
  const auto y = nnet::gru(half(x), narrow);
  static_assert(std::is_same_v<ca::value_type_t<decltype(y.output)>, ca::bfloat16>);
  CHECK(off(ca::astype<float>(y.output), nnet::gru(x, layers<array>{w}).output) < 0.02);
  const layers<variable> of_variables{weights<variable>(4, 5, 4)};
  const variable none = ca::zeros({3, 0, 4});
  const auto r = nnet::lstm(none, of_variables);
  CHECK((r.output.shape() == ca::shape{3, 0, 5} && r.cell.shape() == ca::shape{1, 0, 5}));
  r.output.backward(ca::zeros({3, 0, 5}));
  CHECK(off(of_variables[0].hidden.grad(), ca::zeros({5, 20})) == 0);
  // between two layers, not behind the last
  const layers<array> two{weights<array>(4, 5, 3), weights<array>(5, 5, 3)}, one{two[0]};
  CHECK(off(nnet::gru(x, one, {.dropout = 0.5}).output, nnet::gru(x, one).output) == 0);
  CHECK(off(nnet::gru(x, two, {.dropout = 0.5}).output, nnet::gru(x, two).output) > 1e-3);
}
TEST_CASE("nnet: a tree of recurrent weights learns") {
  const array x = wave({4, 8, 3}, 0), target = wave({8, 2}, 5);
  layers<variable> w{weights<variable>(3, 2, 4), weights<variable>(3, 2, 4), weights<variable>(4, 2, 4),
                     weights<variable>(4, 2, 4)};
  const auto loss = [&](const layers<variable>& of) {
    const auto r = nnet::lstm(x, of, {.bidirectional = true});
    return nnet::mse_loss(r.output(-1)(_, ca::slice(2)) + r.cell(3), target);
  };
  const float before = loss(w).item();
  for (int i = 0; i < 20; ++i) {
    auto [value, gradient] = ca::value_and_grad(loss)(w);
    ca::tree_for_each([](auto& p, auto& g) { p.value() -= 0.3f * g.value(); }, w, gradient);
  }
  CHECK(loss(w).item() < 0.5f * before);
}
TEST_CASE("nnet: errors of recurrent layers") {
  const array x = wave({5, 2, 4}, 0);
  const layers<array> w{weights<array>(4, 5, 4)}, none;
  const auto shape = [](const auto& f) { return test::thrown<ca::shape_error>(f); };
  const auto value = [](const auto& f) { return test::thrown<ca::value_error>(f); };
  CHECK(shape([&] { nnet::gru(x, w); }) ==
        "nnet::gru: weights of shapes (4, 20) and (5, 20), biases of shapes (20,) and (20,) for 4 inputs: (i, 3 h), "
        "(h, 3 "
        "h), (3 h,), (3 h,) are wanted");
  CHECK(shape([&] { nnet::lstm(x(0), w); }) == "nnet::lstm: inputs of shape (2, 4), not (t, b, i) with a step or more");
  CHECK(shape([&] { nnet::lstm(x, layers<array>{w[0], w[0]}); }).find("for 5 inputs") != std::string::npos);
  CHECK(value([&] { nnet::lstm(x, none); }) == "nnet::lstm: weights of 0 layers and directions");
  CHECK(value([&] { nnet::lstm(x, w, {.bidirectional = true}); }) == "nnet::lstm: weights of 1 layers and directions");
  CHECK(value([&] { nnet::lstm(x, w, {.dropout = 1}); }) == "nnet::lstm: the probability 1 is not in [0, 1)");
  const array state = ca::zeros({1, 2, 5});
  CHECK(shape([&] {
          nnet::lstm(x, w, state, ca::zeros({1, 2, 4}));
        }) == "nnet::lstm: a first cell of shape (1, 2, 4): (1, 2, 5) is wanted");
  CHECK(shape([&] {
          nnet::rnn(x, layers<array>{weights<array>(4, 5, 1)}, ca::zeros({2, 2, 5}));
        }) == "nnet::rnn: a first state of shape (2, 2, 5): (1, 2, 5) is wanted");
  CHECK(shape([&] { nnet::lstm(x, w, state, state, ca::ones<int>(3)); }) ==
        "nnet::lstm: lengths of shape (3,): (2,) is wanted");
}

TEST_CASE("nnet: a step of an LSTM is a product and a kernel, and back the same") {
  const auto kernels = [](ca::int64 steps, bool back) {
    const variable x = wave({steps, 2, 3}, 0);
    const layers<variable> w{{wave({3, 16}, 1), wave({4, 16}, 2), wave({16}, 3), wave({16}, 4)}};
    const auto before = ca::stats().kernels;
    const variable y = nnet::lstm(x, w).output;
    if (back) y.backward(ca::ones({steps, 2, 4}));
    return ca::stats().kernels - before;
  };
  CHECK(kernels(6, false) - kernels(5, false) == 2);
  CHECK(kernels(6, true) - kernels(5, true) == 4);
}
