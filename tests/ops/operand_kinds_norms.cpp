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

#define CALL(name, ...) \
  nearly(               \
      #name, [](const auto&... a) { return nnet::name(a...); }, __VA_ARGS__)

TEST_CASE("operand kinds: activations") {
  const array x = wave({4, 6}) * 3, y = wave({4, 6}, 1);
  CALL(relu, x);
  CALL(relu_d, x);
  CALL(relu6, x);
  CALL(sigmoid, x);
  CALL(sigmoid_d, x);
  CALL(logsigmoid, x);
  CALL(softsign, x);
  CALL(tanhshrink, x);
  CALL(silu, x);
  CALL(mish, x);
  CALL(gelu, x);
  CALL(gelu_tanh, x);
  CALL(selu, x);
  CALL(hardsigmoid, x);
  CALL(hardswish, x);
  CALL(tanh, x);
  CALL(tanh_d, x);
  CALL(softplus, x);
  CALL(softplus_d, x);
  CALL(leaky_relu, x);
  CALL(elu, x);
  CALL(celu, x);
  CALL(softshrink, x);
  CALL(hardshrink, x);
  CALL(hardtanh, x);
  CALL(glu, x);
  CALL(softmax, x);
  CALL(log_softmax, x);
  CALL(logsumexp, x);
  CALL(swiglu, x, y);
  CALL(geglu, x, y);
  CALL(relu_backward, y, x);
  CALL(prelu, x, wave({6}));
  nearly(
      "threshold", [](const auto& a) { return nnet::threshold(a, 0.5, -1); }, x);
}
TEST_CASE("operand kinds: norms") {
  const array x = wave({4, 6, 3}), g = positive({6}), b = wave({6}), m = wave({6}, 1), v = positive({6}, 2);
  const array row = positive({3}), shift = wave({3});
  CALL(layer_norm, x);
  CALL(layer_norm, x, row);
  CALL(layer_norm, x, row, shift);
  CALL(rms_norm, x);
  CALL(rms_norm, x, row);
  CALL(batch_norm, x);
  CALL(batch_norm, x, g, b);
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
  CALL(instance_norm, x);
  CALL(instance_norm, x, g, b);
  CALL(local_response_norm, x);
  CALL(weight_norm, x, positive({4}));
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
  CALL(embedding, i, table);
  CALL(embedding_bag, i, table);
  CALL(embedding_bag, i, table, wave({3, 2}));
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
