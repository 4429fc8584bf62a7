// Norms against PyTorch: values and gradients.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace nnet = ca::nnet;
using torch::of;

TEST_CASE("nnet: norms are PyTorch's") {
  torch::checker<double, float> check("norms.txt");
  check(of<1>, "layer_norm plain", [](const auto& x) { return nnet::layer_norm(x); });
  check(of<2>, "layer_norm gain", [](const auto& x, const auto& g) { return nnet::layer_norm(x, g); });
  check(of<3>, "layer_norm", [](const auto& x, const auto& g, const auto& b) { return nnet::layer_norm(x, g, b); });
  check(of<3>, "layer_norm eps",
        [](const auto& x, const auto& g, const auto& b) { return nnet::layer_norm(x, g, b, {.eps = 0.5}); });
  check(of<3>, "layer_norm two axes", [](const auto& x, const auto& g, const auto& b) {
    return nnet::layer_norm(x, g, b, {.axes = {-2, -1}});
  });
  check(of<1>, "rms_norm plain", [](const auto& x) { return nnet::rms_norm(x); });
  check(of<2>, "rms_norm", [](const auto& x, const auto& g) { return nnet::rms_norm(x, g, {.eps = 0.125}); });
  check(of<1>, "batch_norm plain", [](const auto& x) { return nnet::batch_norm(x); });
  check(of<3>, "batch_norm", [](const auto& x, const auto& g, const auto& b) { return nnet::batch_norm(x, g, b); });
  check(of<3>, "batch_norm eps",
        [](const auto& x, const auto& g, const auto& b) { return nnet::batch_norm(x, g, b, {.eps = 0.25}); });
  check(of<5>, "batch_norm_inference", [](const auto& x, const auto& g, const auto& b, const auto& m, const auto& v) {
    return nnet::batch_norm_inference(x, g, b, m, v);
  });
  check(of<3>, "group_norm 2",
        [](const auto& x, const auto& g, const auto& b) { return nnet::group_norm(x, 2, g, b); });
  check(of<1>, "group_norm 4 plain", [](const auto& x) { return nnet::group_norm(x, 4, {.eps = 0.5}); });
  check(of<3>, "instance_norm",
        [](const auto& x, const auto& g, const auto& b) { return nnet::instance_norm(x, g, b); });
  check(of<1>, "instance_norm plain", [](const auto& x) { return nnet::instance_norm(x); });
  check(of<1>, "local_response_norm", [](const auto& x) { return nnet::local_response_norm(x); });
  check(of<1>, "local_response_norm 2",
        [](const auto& x) { return nnet::local_response_norm(x, {.size = 2, .alpha = 0.5, .beta = 0.5, .k = 2}); });
  check(of<1>, "local_response_norm 3",
        [](const auto& x) { return nnet::local_response_norm(x, {.size = 3, .alpha = 1.5, .beta = 1.25, .k = 0.5}); });
  check(of<2>, "weight_norm", [](const auto& v, const auto& g) { return nnet::weight_norm(v, g); });
  check(of<2>, "weight_norm 1", [](const auto& v, const auto& g) { return nnet::weight_norm(v, g, {.axis = 1}); });
  check.finish();
}
