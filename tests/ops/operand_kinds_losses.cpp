// The table of operands: losses.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {

namespace nnet = ca::nnet;
using test::nearly;

using array = ca::ndarray<float>;
using integers = ca::ndarray<ca::int64>;

array wave(const ca::shape& s, double shift = 0) {
  return ca::astype<float>(ca::sin(ca::reshape(ca::arange(s.elements()), s) * 1.5 + shift));
}
array positive(const ca::shape& s, double shift = 0) { return wave(s, shift) * 0.4f + 0.5f; }
array signs(const ca::shape& s) { return ca::where(wave(s, 2) > 0, 1.f, -1.f); }
const auto labels = [] { return integers(ca::array<ca::int64>({2, 0, 1, 2})); };

}  // namespace

#define CALL(name, ...) \
  nearly(               \
      #name, [](const auto&... a) { return nnet::name(a...); }, __VA_ARGS__)

TEST_CASE("operand kinds: losses") {
  const array x = wave({4, 3}), y = wave({4, 3}, 1), p = positive({4, 3}), q = positive({4, 3}, 1), s = signs({4, 3});
  CALL(mse_loss, x, y);
  CALL(l1_loss, x, y);
  CALL(huber_loss, x, y);
  CALL(smooth_l1_loss, x, y);
  CALL(binary_cross_entropy, p, q);
  CALL(binary_cross_entropy_with_logits, x, q);
  CALL(binary_cross_entropy_with_logits, x, q, positive({3}));
  CALL(kl_div, x, p);
  CALL(poisson_nll_loss, x, p);
  CALL(gaussian_nll_loss, x, y, p);
  CALL(hinge_loss, x, s);
  CALL(soft_margin_loss, x, s);
  CALL(hinge_embedding_loss, x, s);
  CALL(margin_ranking_loss, x, y, s);
  CALL(cosine_similarity, x, y);
  CALL(cosine_embedding_loss, x, y, signs({4}));
  CALL(contrastive_loss, x, y, ca::ndarray<float>(ca::array<float>({1, 0, 0, 1})));
  CALL(triplet_margin_loss, x, y, p);
}
TEST_CASE("operand kinds: losses of classes") {
  const array x = wave({4, 3}), y = nnet::softmax(wave({4, 3}, 1)), w = positive({3});
  const integers c = labels();
  nearly(
      "one_hot_encode", [](const auto& a) { return nnet::one_hot_encode(a, 3); }, c);
  CALL(one_hot_decode, x);
  CALL(categorical_cross_entropy, y, y);
  CALL(cross_entropy, x, c);
  CALL(cross_entropy, x, y);
  CALL(cross_entropy, x, c, w);
  nearly(
      "cross_entropy_and_gradient",
      [](const auto& a, const auto& b) {
        const auto r = nnet::cross_entropy_and_gradient(a, b);
        return std::tuple(r.loss, r.gradient);
      },
      x, c);
  CALL(nll_loss, x, c);
  CALL(nll_loss, x, c, w);
  CALL(softmax_cross_entropy, x, y);
  CALL(softmax_cross_entropy_backward, x, y);
  nearly(
      "ctc_loss",
      [](const auto& a, const auto& l, const auto& steps, const auto& counts) {
        return nnet::ctc_loss(a, l, steps, counts);
      },
      array(nnet::log_softmax(wave({5, 2, 4}))), integers(ca::array<ca::int64>({{1, 2}, {3, 3}})),
      integers(ca::array<ca::int64>({5, 4})), integers(ca::array<ca::int64>({2, 1})));
}
