// Attention and rotary embeddings against PyTorch.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace nnet = ca::nnet;
using torch::of;

TEST_CASE("nnet: attention is PyTorch's") {
  torch::checker<double, float> check("attention.txt");
  const auto three = [&](const char* name, const nnet::attention_options& o) {
    check(of<3>, name,
          [&](const auto& q, const auto& k, const auto& v) { return nnet::scaled_dot_product_attention(q, k, v, o); });
  };
  three("plain", {});
  three("scale", {.scale = 0.25});
  three("causal", {.causal = true});
  check(of<4>, "mask", [](const auto& q, const auto& k, const auto& v, const auto& m) {
    return nnet::scaled_dot_product_attention(q, k, v, ca::stop_gradient(m) > 0);
  });
  const auto biased = [](const auto& q, const auto& k, const auto& v, const auto& m) {
    return nnet::scaled_dot_product_attention(q, k, v, m);
  };
  check(of<4>, "bias", biased);
  check(of<4>, "bias of keys", biased);
  check(of<1>, "rotary", [](const auto& x) { return nnet::rotary_embedding(x); });
  check(of<1>, "rotary interleaved",
        [](const auto& x) { return nnet::rotary_embedding(x, {.base = 100, .offset = 7, .interleaved = true}); });
  check.finish();
}
