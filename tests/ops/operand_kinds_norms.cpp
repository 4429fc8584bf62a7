// The table of operands: activations, norms, embeddings, dropout.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {

namespace nnet = ca::nnet;
using test::exactly;
using test::nearly;

using array = ca::ndarray<float>;
using integers = ca::ndarray<ca::int64>;

array wave(const ca::shape& s, double shift = 0) {
  return ca::astype<float>(ca::sin(ca::reshape(ca::arange(s.elements()), s) * 1.5 + shift));
}
array positive(const ca::shape& s, double shift = 0) { return wave(s, shift) * 0.4f + 0.5f; }

}  // namespace

#define OF(name, ...) \
  nearly(             \
      #name, [](const auto&... a) { return nnet::name(a...); }, __VA_ARGS__)

TEST_CASE("operand kinds: activations") {
  const array x = wave({4, 6}) * 3, y = wave({4, 6}, 1);
  OF(relu, x);
  OF(relu_d, x);
  OF(relu6, x);
  OF(sigmoid, x);
  OF(sigmoid_d, x);
  OF(logsigmoid, x);
  OF(softsign, x);
  OF(tanhshrink, x);
  OF(silu, x);
  OF(mish, x);
  OF(gelu, x);
  OF(gelu_tanh, x);
  OF(selu, x);
  OF(hardsigmoid, x);
  OF(hardswish, x);
  OF(tanh, x);
  OF(tanh_d, x);
  OF(softplus, x);
  OF(softplus_d, x);
  OF(leaky_relu, x);
  OF(elu, x);
  OF(celu, x);
  OF(softshrink, x);
  OF(hardshrink, x);
  OF(hardtanh, x);
  OF(glu, x);
  OF(softmax, x);
  OF(log_softmax, x);
  OF(logsumexp, x);
  OF(swiglu, x, y);
  OF(geglu, x, y);
  OF(relu_backward, y, x);
  OF(prelu, x, wave({6}));
  nearly(
      "threshold", [](const auto& a) { return nnet::threshold(a, 0.5, -1); }, x);
}
TEST_CASE("operand kinds: norms") {
  const array x = wave({4, 6, 3}), g = positive({6}), b = wave({6}), m = wave({6}, 1), v = positive({6}, 2);
  const array row = positive({3}), shift = wave({3});
  OF(layer_norm, x);
  OF(layer_norm, x, row);
  OF(layer_norm, x, row, shift);
  OF(rms_norm, x);
  OF(rms_norm, x, row);
  OF(batch_norm, x);
  OF(batch_norm, x, g, b);
  nearly(
      "batch_norm",
      [](const auto& a, const auto& c, const auto& d) {
        const array mean = ca::zeros({6}), var = ca::ones({6});
        const array y = nnet::batch_norm(a, c, d, mean, var);
        return std::tuple(y, mean, var);
      },
      x, g, b);
  nearly(
      "batch_norm_inference", [](const auto&... a) { return nnet::batch_norm_inference(a...); }, x, g, b, m, v);
  nearly(
      "fold_batch_norm",
      [](const auto&... a) {
        const auto r = nnet::fold_batch_norm(a...);
        return std::tuple(r.weights, r.bias);
      },
      wave({6, 3, 2}), b, g, b, m, v);
  nearly(
      "group_norm", [](const auto& a) { return nnet::group_norm(a, 2); }, x);
  nearly(
      "group_norm", [](const auto& a, const auto& c, const auto& d) { return nnet::group_norm(a, 2, c, d); }, x, g, b);
  OF(instance_norm, x);
  OF(instance_norm, x, g, b);
  OF(local_response_norm, x);
  OF(weight_norm, x, positive({4}));
  nearly(
      "spectral_norm",
      [](const auto& w) {
        const array u = ca::ones({4});
        const array y = nnet::spectral_norm(w, u);
        return std::tuple(y, u);
      },
      x);
}
TEST_CASE("operand kinds: embeddings") {
  const array table = wave({5, 3});
  const integers i = ca::array<ca::int64>({{4, 0}, {1, 1}, {2, 3}});
  OF(embedding, i, table);
  OF(embedding_bag, i, table);
  OF(embedding_bag, i, table, wave({3, 2}));
}
TEST_CASE("operand kinds: dropout") {
  const array x = wave({2, 3, 4});
  const auto numbers = [] { return ca::random::generator(7); };
  exactly(
      "dropout",
      [&](const auto& a) {
        auto g = numbers();
        return ca::eval(nnet::dropout(a, 0.5, g));
      },
      x);
  exactly(
      "feature_dropout",
      [&](const auto& a) {
        auto g = numbers();
        return ca::eval(nnet::feature_dropout(a, 0.5, g));
      },
      x);
  nearly(
      "alpha_dropout",
      [&](const auto& a) {
        auto g = numbers();
        return ca::eval(nnet::alpha_dropout(a, 0.5, g));
      },
      x);
}
