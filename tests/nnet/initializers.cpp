// Initial weights: their moments, ranges and shapes.
// SPDX-License-Identifier: MIT
#include <cudarray/nnet.hpp>

#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using array = ca::ndarray<double>;
using ca::random::generator;

double variance(const array& w) { return ca::var(w).item(); }
double largest(const array& w) { return ca::max(ca::abs(w)).item(); }
bool near(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

}  // namespace

TEST_CASE("nnet: initial weights have their variance") {
  generator g(1);
  const ca::shape layer{300, 500}, filters{80, 30, 5, 5};
  CHECK(near(variance(nnet::glorot_uniform<double>(layer, {}, g)), 2. / 800, 0.02));
  CHECK(near(variance(nnet::glorot_normal<double>(layer, {.gain = 2}, g)), 8. / 800, 0.02));
  CHECK(near(variance(nnet::he_uniform<double>(layer, {}, g)), 2. / 300, 0.02));
  CHECK(near(variance(nnet::he_normal<double>(layer, {.fan = nnet::fan::out}, g)), 2. / 500, 0.02));
  CHECK(near(variance(nnet::lecun_uniform<double>(filters, {}, g)), 1. / 750, 0.02));
  CHECK(near(variance(nnet::lecun_normal<double>(filters, {}, g)), 1. / 750, 0.02));
  CHECK(near(variance(nnet::he_normal<double>(filters, {.gain = 1, .fan = nnet::fan::out}, g)), 1. / 2000, 0.02));
  const double limit = std::sqrt(6. / 800);
  const double most = largest(nnet::glorot_uniform<double>(layer, {}, g));
  CHECK((most <= limit && most > 0.999 * limit));
  // deeppy's AutoFiller: uniform within 1 / sqrt(3 inputs)
  const double automatic = largest(nnet::lecun_uniform<double>(layer, {.gain = 1 / 3.}, g));
  CHECK(near(automatic, 1 / std::sqrt(900.), 0.001));
  static_assert(std::is_same_v<decltype(nnet::he_normal({2, 3})), const ca::ndarray<float>>);
}
TEST_CASE("nnet: quantiles of the normal distribution") {
  // statistics.NormalDist().inv_cdf of Python
  const std::vector<double> p{1e-300, 1e-20, 0.001, 0.0749, 0.3, 0.5, 0.9, 0.93, 1 - 1e-12};
  const std::vector<double> x{-37.0470962993612,   -9.262340089798405,  -3.090232306167813,
                              -1.4402382675279632, -0.5244005127080407, 0,
                              1.2815515655446008,  1.4757910281791708,  7.0344869100478356};
  CHECK(test::close(ca::map(ca::detail::normal_quantile{}, ca::array(p)), {9}, x, 1e-12));
}
TEST_CASE("nnet: truncated normal numbers") {
  generator g(2);
  const array w = nnet::truncated_normal<double>({200, 500}, {}, g);
  CHECK(largest(w) <= 2);
  CHECK(near(variance(w), 0.7737413, 0.02));  // 1 - 4 phi(2) / (Phi(2) - Phi(-2))
  CHECK(std::abs(ca::mean(w).item()) < 0.01);
  const array moved = nnet::truncated_normal<double>({200, 500}, {.mean = 3, .std = 0.5, .low = 3, .high = 100}, g);
  CHECK(near(ca::mean(moved).item(), 3 + 0.5 * std::sqrt(2 / 3.141592653589793), 0.01));
  // far out in a tail, on either side
  for (const double sign : {-1., 1.}) {
    const array tail =
        nnet::truncated_normal<double>({1000}, {.low = sign < 0 ? -21. : 20., .high = sign < 0 ? -20. : 21.}, g);
    CHECK((ca::min(ca::abs(tail)).item() >= 20 && largest(tail) <= 21));
    CHECK(near(ca::mean(ca::abs(tail)).item(), 20.04975, 0.001));
  }
  CHECK(nnet::truncated_normal({3}, {.std = 0.02}).shape() == ca::shape{3});
}
TEST_CASE("nnet: orthogonal weights") {
  generator g(3);
  const auto off = [](const array& a, ca::int64 n, double gain) {
    return ca::max(ca::abs(a - ca::where(ca::arange(n) == ca::reshape(ca::arange(n), {-1, 1}), gain * gain, 0.)))
        .item();
  };
  const array wide = nnet::orthogonal<double>({20, 50}, {.gain = 2}, g),
              tall = nnet::orthogonal<double>({50, 20}, {}, g);
  CHECK(off(ca::matmul(wide, wide.t()), 20, 2) < 1e-12);
  CHECK(off(ca::matmul(tall.t(), tall), 20, 1) < 1e-12);
  const array filters = nnet::orthogonal<double>({8, 3, 3, 3}, {}, g), rows = ca::reshape(filters, {8, 27});
  CHECK(off(ca::matmul(rows, rows.t()), 8, 1) < 1e-12);
  CHECK(nnet::orthogonal({0, 4}).shape() == ca::shape{0, 4});
}
TEST_CASE("nnet: errors of initial weights use up no numbers") {
  generator g(4);
  CHECK(test::thrown<ca::shape_error>([&] { nnet::he_normal({5}, {}, g); }) ==
        "nnet::he_normal: weights of shape (5,): (inputs, outputs) or (outputs, inputs, ..) is wanted");
  CHECK(test::thrown<ca::value_error>([&] { nnet::truncated_normal({5}, {.std = 0}, g); }) ==
        "nnet::truncated_normal: mean 0, standard deviation 0, numbers of [-2, 2]");
  CHECK(test::thrown<ca::value_error>([&] { nnet::truncated_normal({5}, {.low = 60, .high = 61}, g); }) ==
        "nnet::truncated_normal: [60, 61] has no probability that float64 holds");
  CHECK(test::thrown<ca::value_error>([&] {
          nnet::he_uniform({5, 4}, {.gain = -1}, g);
        }) == "nnet::he_uniform: gain -1 is negative or no number");
  CHECK(g.offset() == 0);
}
