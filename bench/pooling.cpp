// Pooling and its gradients: windows side by side, and overlapping ones.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

int main(int argc, char** argv) {
  suite s(argc, argv);
  const ca::int64 n = gpu ? 128 : 32, c = 64, h = 56;
  const ca::shape images{n, c, h, h}, results{n, c, h / 2, h / 2};
  const std::string params = dims(n, c, h, h);
  const double pixels = double(images.elements());
  const auto max_rows = [&](const std::string& name, const ca::nnet::pool_options& o) {
    s.row("N2_" + name + "_fwd", params, {.bytes = 5 * pixels}, [=] {
      const array x = normal(images);
      return [=, y = array()]() mutable { y = ca::nnet::max_pool2d(x, o); };
    });
    s.row("N2_" + name + "_bwd", params, {.bytes = 9 * pixels}, [=] {
      const array x = normal(images), dy = normal(results);
      return [=, y = array()]() mutable { y = ca::nnet::max_pool2d_backward(dy, x, o); };
    });
  };
  max_rows("maxpool2", {.window = 2});
  max_rows("maxpool3", {.window = 3, .stride = 2, .padding = 1});
  s.row("N2_avgpool2_fwd", params, {.bytes = 5 * pixels}, [=] {
    const array x = normal(images);
    return [=, y = array()]() mutable { y = ca::nnet::avg_pool2d(x); };
  });
  s.row("N2_avgpool2_bwd", params, {.bytes = 5 * pixels}, [=] {
    const array dy = normal(results);
    return [=, y = array()]() mutable { y = ca::nnet::avg_pool2d_backward(dy, images); };
  });
  return s.run();
}
