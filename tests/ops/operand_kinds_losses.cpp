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

#define OF(name, ...) \
  nearly(             \
      #name, [](const auto&... a) { return nnet::name(a...); }, __VA_ARGS__)

TEST_CASE("operand kinds: losses") {
  const array x = wave({4, 3}), y = wave({4, 3}, 1), p = positive({4, 3}), q = positive({4, 3}, 1), s = signs({4, 3});
  OF(mse_loss, x, y);
  OF(l1_loss, x, y);
  OF(huber_loss, x, y);
  OF(smooth_l1_loss, x, y);
  OF(binary_cross_entropy, p, q);
  OF(binary_cross_entropy_with_logits, x, q);
  OF(binary_cross_entropy_with_logits, x, q, positive({3}));
  OF(kl_div, x, p);
  OF(poisson_nll_loss, x, p);
  OF(gaussian_nll_loss, x, y, p);
  OF(hinge_loss, x, s);
  OF(soft_margin_loss, x, s);
  OF(hinge_embedding_loss, x, s);
  OF(margin_ranking_loss, x, y, s);
  OF(cosine_similarity, x, y);
  OF(cosine_embedding_loss, x, y, signs({4}));
  OF(contrastive_loss, x, y, ca::ndarray<float>(ca::array<float>({1, 0, 0, 1})));
  OF(triplet_margin_loss, x, y, p);
}
TEST_CASE("operand kinds: losses of classes") {
  const array x = wave({4, 3}), y = nnet::softmax(wave({4, 3}, 1)), w = positive({3});
  const integers c = labels();
  nearly(
      "one_hot_encode", [](const auto& a) { return nnet::one_hot_encode(a, 3); }, c);
  OF(one_hot_decode, x);
  OF(categorical_cross_entropy, y, y);
  OF(cross_entropy, x, c);
  OF(cross_entropy, x, y);
  OF(cross_entropy, x, c, w);
  nearly(
      "cross_entropy_and_gradient",
      [](const auto& a, const auto& b) {
        const auto r = nnet::cross_entropy_and_gradient(a, b);
        return std::tuple(r.loss, r.gradient);
      },
      x, c);
  OF(nll_loss, x, c);
  OF(nll_loss, x, c, w);
  OF(softmax_cross_entropy, x, y);
  OF(softmax_cross_entropy_backward, x, y);
  nearly(
      "ctc_loss",
      [](const auto& a, const auto& l, const auto& steps, const auto& counts) {
        return nnet::ctc_loss(a, l, steps, counts);
      },
      array(nnet::log_softmax(wave({5, 2, 4}))), integers(ca::array<ca::int64>({{1, 2}, {3, 3}})),
      integers(ca::array<ca::int64>({5, 4})), integers(ca::array<ca::int64>({2, 1})));
}
