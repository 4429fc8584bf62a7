// Convolutions and their gradients: the middle of a network, and the two layers of LeNet's kind.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

struct sizes {
  int64 n, c, h, k, r, padding;
};

/// Rows as peers/bench_torch.py names them; the gradients are those of images and of filters, of the first layer's
/// one channel that of filters only.
template <class T>
void rows(suite& s, const sizes& z, const char* kind, ca::precision precision) {
  using ca::nnet::conv_options;
  const ca::shape images{z.n, z.c, z.h, z.h}, filters{z.k, z.c, z.r, z.r}, results{z.n, z.k, z.h, z.h};
  const std::string params = std::to_string(z.n) + ',' + std::to_string(z.c) + ',' + dims(z.h, z.h) + " k" +
                             std::to_string(z.k) + ',' + dims(z.r, z.r) + ' ' + kind + " nchw";
  const double flops = 2. * double(results.elements() * z.c * z.r * z.r),
               footprint = double(sizeof(T)) * double(images.elements() + results.elements());
  const auto numbers = [](const ca::shape& of) { return ca::ndarray<T>(ca::astype<T>(normal(of))); };
  const conv_options o{.stride = 1, .padding = z.padding};
  s.row("N1_conv_fwd", params, {.flops = flops, .footprint = footprint}, [=] {
    const auto x = numbers(images), w = numbers(filters);
    return [=, y = ca::ndarray<T>()]() mutable {
      const ca::precision_scope scope(precision);
      y = ca::nnet::conv2d(x, w, o);
    };
  });
  s.row("N1_conv_bwd", params, {.flops = z.c > 1 ? 2 * flops : flops, .footprint = footprint}, [=] {
    const auto x = numbers(images), w = numbers(filters), dy = numbers(results);
    return [=, dx = ca::ndarray<T>(), dw = ca::ndarray<T>()]() mutable {
      const ca::precision_scope scope(precision);
      if (z.c > 1) dx = ca::nnet::conv2d_backward_data(dy, w, images, o);
      dw = ca::nnet::conv2d_backward_weights(x, dy, filters, o);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  for (const sizes& z : {sizes{gpu ? 128 : 8, 64, 56, 64, 3, 1}, sizes{gpu ? 256 : 32, 1, 28, 32, 5, 2},
                         sizes{gpu ? 256 : 32, 32, 14, 64, 5, 2}}) {
    rows<float>(s, z, "fp32", ca::precision::ieee);
    if constexpr (gpu) {
      rows<float>(s, z, "tf32", ca::precision::tf32);
      if (z.c == 64) rows<ca::bfloat16>(s, z, "bf16", ca::precision::ieee);
    }
  }
  return s.run();
}
