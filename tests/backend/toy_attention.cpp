// Attention that a device computes as a whole: what is kept of it, and a device that cannot any more.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "nnet/slope.hpp"
#include "test.hpp"

namespace {

using half = ca::ndarray<ca::bfloat16>;
using halves = ca::variable<ca::bfloat16>;

half wave(const ca::shape& s, double phase) { return ca::astype<ca::bfloat16>(test::wave_of(s, phase)); }
halves attention(const halves& q, const halves& k, const halves& v) {
  return ca::nnet::scaled_dot_product_attention(q, k, v, {.causal = true});
}
std::uint64_t kernels_of(const auto& f) {
  const auto before = ca::stats();
  f();
  return (ca::stats() - before).kernels;
}

}  // namespace

TEST_CASE("attention as a whole: one kernel forwards, one back, whatever axes are of one") {
  for (const ca::shape& s : {ca::shape{2, 3, 5, 16}, {1, 3, 5, 16}, {2, 1, 5, 16}, {2, 3, 1, 16}, {5, 16}}) {
    INFO(s.str());
    const halves q = wave(s, 0), k = wave(s, 1), v = wave(s, 2);
    const half g = wave(s, 3);
    halves y = q;
    CHECK(kernels_of([&] { y = attention(q, k, v); }) == 1);
    CHECK(kernels_of([&] { y.backward(g); }) == 1);
  }
}

TEST_CASE("attention as a whole: writing to an operand or the value before the backward pass is an error") {
  for (const ca::shape& s : {ca::shape{1, 2, 5, 16}, {2, 2, 5, 16}})
    for (int written = 0; written < 4; ++written) {
      INFO(s.str() << " " << written);
      half x[] = {wave(s, 0), wave(s, 1), wave(s, 2)};
      const halves q = x[0], k = x[1], v = x[2];
      const halves y = attention(q, k, v);
      half to = written < 3 ? x[written] : half(y.value());
      to.fill(0);
      CHECK_THROWS_AS(y.backward(wave(s, 3)), ca::stale_error);
    }
}

TEST_CASE("attention as a whole: products give the gradients where the device cannot any more") {
  const ca::shape s{2, 4, 9, 16}, shared{2, 2, 9, 16};
  const auto gradients = [&](bool gone) {
    const halves q = wave(s, 0), k = wave(shared, 1), v = wave(shared, 2);
    const halves y = attention(q, k, v);
    ca::backend::toy_attends = !gone;
    {
      const ca::no_grad off;
      y.backward(wave(s, 3));
    }
    ca::backend::toy_attends = true;
    return std::vector<half>{half(q.grad()), half(k.grad()), half(v.grad())};
  };
  const auto right = gradients(false), others = gradients(true);
  for (int i = 0; i < 3; ++i) {
    const auto a = ca::astype<float>(right[std::size_t(i)]), b = ca::astype<float>(others[std::size_t(i)]);
    CHECK(ca::max(ca::abs(a)).item() > 0.1f);
    CHECK(ca::max(ca::abs(a - b)).item() < 0.05f * ca::max(ca::abs(a)).item());
  }
}
