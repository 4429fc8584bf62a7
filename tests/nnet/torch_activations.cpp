// Activations against PyTorch: values and gradients.
// SPDX-License-Identifier: MIT
#include "nnet/torch.hpp"

namespace nnet = ca::nnet;
using torch::of;

#define CHECK_ACTIVATION(name) check(of<1>, #name, [](const auto& x) { return nnet::name(x); });

TEST_CASE("nnet: activations are PyTorch's") {
  torch::checker<double, float> check("activations.txt");
  CHECK_ACTIVATION(relu)
  CHECK_ACTIVATION(relu6)
  CHECK_ACTIVATION(sigmoid)
  CHECK_ACTIVATION(tanh)
  CHECK_ACTIVATION(logsigmoid)
  CHECK_ACTIVATION(softplus)
  CHECK_ACTIVATION(softsign)
  CHECK_ACTIVATION(tanhshrink)
  CHECK_ACTIVATION(silu)
  CHECK_ACTIVATION(mish)
  CHECK_ACTIVATION(gelu)
  CHECK_ACTIVATION(gelu_tanh)
  CHECK_ACTIVATION(selu)
  CHECK_ACTIVATION(hardsigmoid)
  CHECK_ACTIVATION(hardswish)
  CHECK_ACTIVATION(leaky_relu)
  CHECK_ACTIVATION(elu)
  CHECK_ACTIVATION(celu)
  CHECK_ACTIVATION(softshrink)
  CHECK_ACTIVATION(hardshrink)
  CHECK_ACTIVATION(hardtanh)
  CHECK_ACTIVATION(glu)
  check(of<1>, "erf", [](const auto& x) { return ca::erf(x); });
  check(of<1>, "erfc", [](const auto& x) { return ca::erfc(x); });
  check(of<1>, "leaky_relu 0.25", [](const auto& x) { return nnet::leaky_relu(x, 0.25); });
  check(of<1>, "elu 0.5", [](const auto& x) { return nnet::elu(x, 0.5); });
  check(of<1>, "celu 2", [](const auto& x) { return nnet::celu(x, 2); });
  check(of<1>, "softshrink 1", [](const auto& x) { return nnet::softshrink(x, 1); });
  check(of<1>, "hardshrink 1", [](const auto& x) { return nnet::hardshrink(x, 1); });
  check(of<1>, "hardtanh -2 0.5", [](const auto& x) { return nnet::hardtanh(x, -2, 0.5); });
  check(of<1>, "threshold", [](const auto& x) { return nnet::threshold(x, 0.5, -1); });
  check(of<1>, "glu 0", [](const auto& x) { return nnet::glu(x, 0); });
  check(of<2>, "prelu", [](const auto& x, const auto& a) { return nnet::prelu(x, a); });
  check(of<2>, "swiglu", [](const auto& gate, const auto& x) { return nnet::swiglu(gate, x); });
  check(of<2>, "geglu", [](const auto& gate, const auto& x) { return nnet::geglu(gate, x); });
  check.finish();
}
