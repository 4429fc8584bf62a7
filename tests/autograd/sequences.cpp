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
