// Gradients of norms, and of functions of class numbers.
// SPDX-License-Identifier: MIT
#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;
namespace nnet = ca::nnet;

}  // namespace

TEST_CASE("autograd: gradients of norms") {
  check_layouts(
      "layer_norm",
      [](const auto& x, const auto& g, const auto& b) {
        return nnet::layer_norm(x, g, b, {.axes = {0, 1}});
      },
      S{3, 4}, S{4}, S{4});
  check_layouts(
      "rms_norm", [](const auto& x, const auto& g) { return nnet::rms_norm(x, g, {.eps = 0.5}); }, S{3, 4}, S{4});
  check_layouts(
      "batch_norm", [](const auto& x, const auto& g, const auto& b) { return nnet::batch_norm(x, g, b); }, S{3, 2, 2},
      S{2}, S{2});
  check_layouts(
      "batch_norm, channels last", [](const auto& x) { return nnet::batch_norm(x, {.eps = 0.5, .axis = -1}); },
      S{3, 2, 2});
  check_layouts(
      "batch_norm_inference",
      [](const auto& x, const auto& g, const auto& m, const auto& v) {
        return nnet::batch_norm_inference(x, g, m, m, v * v);
      },
      S{3, 2, 2}, S{2}, S{2}, S{2});
  check_layouts(
      "group_norm", [](const auto& x, const auto& g, const auto& b) { return nnet::group_norm(x, 2, g, b); },
      S{2, 4, 3}, S{4}, S{4});
  check_layouts(
      "instance_norm", [](const auto& x, const auto& g, const auto& b) { return nnet::instance_norm(x, g, b); },
      S{2, 2, 3}, S{2}, S{2});
  check_layouts(
      "local_response_norm", [](const auto& x) { return nnet::local_response_norm(x, {.size = 4, .alpha = 0.5}); },
      S{2, 6, 2});
  check_layouts(
      "weight_norm", [](const auto& v, const auto& g) { return nnet::weight_norm(v, g); }, S{3, 2, 2}, S{3});
}
TEST_CASE("autograd: gradients of functions of class numbers") {
  const ca::ndarray<int> labels = ca::array<int>({2, 0, -100}), tokens = ca::array<int>({{1, 0}, {1, 2}});
  const ca::ndarray<int> steps = ca::array<int>({4, 3}), counts = ca::array<int>({2, 1});
  check_layouts(
      "nll_loss", [&](const auto& x) { return nnet::nll_loss(x, labels); }, S{3, 4});
  check_layouts(
      "ctc_loss",
      [&](const auto& x) { return nnet::ctc_loss<nnet::reduction::none>(x, tokens, steps, counts, {.blank = 2}); },
      S{4, 2, 3});
  check_layouts(
      "embedding", [&](const auto& x) { return nnet::embedding(tokens, x, {.padding_idx = 3}); }, S{3 + 1, 2});
  check_layouts(
      "embedding_bag", [&](const auto& x, const auto& w) { return nnet::embedding_bag(tokens, x, w); }, S{3, 2},
      S{2, 2});
  check_layouts(
      "bilinear", [](const auto& a, const auto& b, const auto& w) { return nnet::bilinear(a, b, w); }, S{3, 2}, S{3, 4},
      S{2, 2, 4});
}
TEST_CASE("autograd: spectral_norm in one direction") {
  const ca::ndarray<double> w = ca::array<double>({{4, 1}, {1, 4}}), d = ca::array<double>({{1, 0}, {2, -1}});
  const ca::ndarray<double> u = ca::array<double>({1, 1});  // 5 is the largest singular value
  const auto [y, dy] = ca::jvp([&](const auto& a) { return nnet::spectral_norm(a, u); })(w, d);
  CHECK(test::close(y, {2, 2}, {0.8, 0.2, 0.2, 0.8}, 1e-12));
  // d / s - w (u' d v) / s^2, and u' d v = 1
  CHECK(test::close(dy, {2, 2}, {0.2 - 0.16, -0.04, 0.4 - 0.04, -0.2 - 0.16}, 1e-12));
}
