// Distributions of whole numbers: counted in bins against SciPy's, the same on every device; vectors; errors.
// SPDX-License-Identifier: MIT
#include "distributions.hpp"

namespace rnd = ca::random;
using test::thrown;

TEST_CASE("distributions: whole numbers, in bins") {
  const ca::shape s{2000, 50};
  rnd::generator g(20261130);
#define CUDARRAY_WHOLE(name, call, edges, p, limit)                                    \
  {                                                                                    \
    INFO(name);                                                                        \
    CHECK(test::chi_square(call, CUDARRAY_BRACED edges, CUDARRAY_BRACED p) < (limit)); \
  }
#define CUDARRAY_REAL(...)
#define CUDARRAY_BRACED(...) __VA_ARGS__
#include "distributions.inc"
#undef CUDARRAY_BRACED
#undef CUDARRAY_WHOLE
#undef CUDARRAY_REAL
}

TEST_CASE("distributions: whole numbers are the same on every device") {
  const auto bits_of = [](const auto& draw) {
    rnd::generator g(7, 11);
    return test::hash(ca::eval(draw(g)));
  };
  const ca::shape s{20000};
  const auto p = ca::linspace(0., 1., 20000);
  CHECK(bits_of([&](auto& g) { return rnd::bernoulli(s, p, g); }) == 0xbcd388fb1ad42657u);
  CHECK(bits_of([&](auto& g) { return rnd::poisson(s, 20 * p, g); }) == 0xdd396dc65d995133u);
  CHECK(bits_of([&](auto& g) { return rnd::poisson(s, 1e15, g); }) == 0x7f32749447e60aaeu);
  CHECK(bits_of([&](auto& g) { return rnd::binomial(s, 50, p, g); }) == 0x39eaf32ebb7a5c4du);
  CHECK(bits_of([&](auto& g) { return rnd::binomial(s, 1000000000000, p, g); }) == 0x26d31b3e9b82d085u);
  CHECK(bits_of([&](auto& g) { return rnd::geometric(s, 0.5 * p + 1e-5, g); }) == 0x685a36e95d6ab6d8u);
  CHECK(bits_of([&](auto& g) { return rnd::negative_binomial(s, 0.7, 0.5 * p + 1e-5, g); }) == 0x3733a6ac64b7be2cu);
  CHECK(bits_of([&](auto& g) { return rnd::hypergeometric(s, 3000, 5000, 70, g); }) == 0x7904428a8e1eaf51u);
  CHECK(bits_of([&](auto& g) { return rnd::logseries(s, 0.99 * p, g); }) == 0x8443496dc5dbc5ecu);
  CHECK(bits_of([&](auto& g) { return rnd::zipf(s, p + 1.1, g); }) == 0x2a08d155f6fed93au);
  CHECK(bits_of([&](auto& g) { return rnd::multinomial(1000, 1000, ca::arange(20), g); }) == 0x76ed8ddc8d5937a7u);
  CHECK(bits_of([&](auto& g) { return rnd::categorical(ca::reshape(p, {1000, 20}), -1, g); }) == 0xe78ebde6495c68e9u);
  CHECK(bits_of([&](auto& g) {
          return rnd::categorical(ca::reshape(ca::astype<float>(p), {1000, 20}), 0, g);
        }) == 0x94eabe2408cb708bu);
  CHECK(bits_of([&](auto& g) { return rnd::choice(20000, s, p, {}, g); }) == 0x4f9e19a297ae797du);
  CHECK(bits_of([&](auto& g) { return rnd::choice(20000, {2000}, p, {.replace = false}, g); }) == 0x5313530b77b5ceabu);
}

TEST_CASE("distributions: edges of whole numbers") {
  rnd::generator g(5);
  CHECK(ca::all(rnd::poisson({9}, 0, g) == 0).item());
  CHECK(ca::all(rnd::binomial({9}, 0, 0.5, g) == 0).item());
  CHECK(ca::all(rnd::binomial({9}, 7, ca::array({0., 1., 0., 1., 0., 1., 0., 1., 0.}), g) ==
                ca::array({0, 7, 0, 7, 0, 7, 0, 7, 0}))
            .item());
  CHECK(ca::all(rnd::geometric({9}, 1, g) == 1).item());
  CHECK(ca::all(rnd::geometric({9}, 1e-300, g) == std::numeric_limits<ca::int64>::max()).item());
  CHECK(ca::all(rnd::logseries({9}, 0, g) == 1).item());
  CHECK(ca::all(rnd::zipf({9}, 2000, g) == 1).item());
  CHECK(ca::all(rnd::zipf({999}, 1.0000001, g) > 0).item());
  CHECK(ca::all(rnd::hypergeometric({9}, 0, 8, 3, g) == 0).item());
  CHECK(ca::all(rnd::hypergeometric({9}, 4, 0, 3, g) == 3).item());
  CHECK(ca::all(rnd::hypergeometric({9}, 4, 5, 9, g) == 4).item());
  CHECK(ca::all(rnd::hypergeometric({9}, 4, 5, 0, g) == 0).item());
  const auto h = rnd::hypergeometric({9999}, 4, 5, 7, g);
  CHECK((ca::eval(ca::min(h)).item() == 2 && ca::eval(ca::max(h)).item() == 4));
  CHECK(ca::all(rnd::negative_binomial({9}, 3, 1, g) == 0).item());
  CHECK(rnd::poisson({2, 0}, 3, g).shape() == ca::shape{2, 0});
  CHECK(rnd::bernoulli({}, 1, g).item());
}

TEST_CASE("distributions: multinomial, dirichlet") {
  rnd::generator g(5);
  const auto m = rnd::multinomial({3, 2000}, 50, ca::array({2., 0., 3., 5., 0.}), g);
  CHECK(m.shape() == ca::shape{3, 2000, 5});
  CHECK(ca::all(ca::sum(m, -1) == 50).item());
  CHECK(ca::all((m(ca::ellipsis, 1) == 0) & (m(ca::ellipsis, 4) == 0)).item());
  const auto mean = test::values(ca::mean(m, {0, 1}));
  CHECK((std::fabs(mean[0] - 10) < 0.2 && std::fabs(mean[2] - 15) < 0.2 && std::fabs(mean[3] - 25) < 0.2));
  const auto variance = test::values(ca::var(ca::astype<double>(m), {0, 1}));
  CHECK((std::fabs(variance[0] - 8) < 0.5 && std::fabs(variance[2] - 10.5) < 0.6));
  // trials and probabilities for each row
  const auto rows = rnd::multinomial({2}, ca::array({4, 7}), ca::array({{1, 0, 0}, {0, 0, 2}}), g);
  CHECK(test::equal(rows, {2, 3}, std::vector<int>{4, 0, 0, 0, 0, 7}));
  CHECK(rnd::multinomial({0}, 3, ca::ones({2}), g).shape() == ca::shape{0, 2});

  const auto d = rnd::dirichlet<double>({4000}, ca::array({1., 2., 5.}), g);
  CHECK(d.shape() == ca::shape{4000, 3});
  CHECK(ca::allclose(ca::sum(d, -1), 1));
  const auto dm = test::values(ca::mean(d, 0)), dv = test::values(ca::var(d, 0));
  CHECK((std::fabs(dm[0] - 0.125) < 0.01 && std::fabs(dm[1] - 0.25) < 0.01 && std::fabs(dm[2] - 0.625) < 0.01));
  CHECK((std::fabs(dv[0] - 0.012153) < 0.001 && std::fabs(dv[2] - 0.026042) < 0.002));  // a (8 - a) / (64 * 9)
  // concentrations of which gamma numbers underflow
  const auto tiny = rnd::dirichlet({1000}, ca::full({4}, 1e-4), g);
  CHECK(ca::allclose(ca::sum(tiny, -1), 1));
}

TEST_CASE("distributions: multivariate_normal") {
  rnd::generator g(5);
  const auto c = ca::array({{4., 1., 0.}, {1., 2., -0.5}, {0., -0.5, 1.}});
  const auto x = rnd::multivariate_normal<double>({100, 500}, ca::array({1., 2., 3.}), c, g);
  CHECK(x.shape() == ca::shape{100, 500, 3});
  const auto flat = ca::reshape(x, {50000, 3});
  CHECK(ca::allclose(ca::mean(flat, 0), ca::array({1., 2., 3.}), {.rtol = 0, .atol = 0.05}));
  CHECK(ca::allclose(ca::cov(flat.t()), c, {.rtol = 0, .atol = 0.1}));
  // semi-definite: the third number is the sum of the two others, the fourth is none
  const auto flatter = ca::array({{1., 0., 1., 0.}, {0., 1., 1., 0.}, {1., 1., 2., 0.}, {0., 0., 0., 0.}});
  const auto y = rnd::multivariate_normal<double>({50}, ca::zeros({4}), flatter, g);
  CHECK(ca::allclose(y(ca::_, 0) + y(ca::_, 1), y(ca::_, 2)));
  CHECK(ca::all(y(ca::_, 3) == 0).item());
  CHECK(rnd::multivariate_normal({3}, ca::zeros({0}), ca::zeros({0, 0}), g).shape() == ca::shape{3, 0});
  const auto before = g.offset();
  CHECK(thrown<ca::value_error>([&] {
          rnd::multivariate_normal({2}, ca::zeros(2), ca::array({{1., 2.}, {2., 1.}}), g);
        }) == "random::multivariate_normal: cov is not positive semi-definite: see row 1");
  CHECK(thrown<ca::value_error>([&] {
          rnd::multivariate_normal({2}, ca::zeros(2), ca::array({{1., 0.5}, {0.25, 1.}}), g);
        }) == "random::multivariate_normal: cov is not symmetric: 0.25 and 0.5 at (1, 0)");
  CHECK(thrown<ca::value_error>([&] { rnd::multivariate_normal({2}, ca::zeros(1), ca::array({{NAN}}), g); }) ==
        "random::multivariate_normal: cov is nan at flat index 0, not finite");
  CHECK(thrown<ca::value_error>([&] {
          rnd::multivariate_normal({2}, ca::array({0., INFINITY}), ca::eye(2), g);
        }) == "random::multivariate_normal: mean is inf at flat index 1, not finite");
  CHECK(thrown<ca::value_error>([&] {
          rnd::multivariate_normal({2}, ca::zeros(2), ca::array({{1e9, 0.}, {0., -5.}}), g);
        }) == "random::multivariate_normal: cov is not positive semi-definite: see row 1");
  CHECK(thrown<ca::shape_error>([&] {
          rnd::multivariate_normal({-2, -3}, ca::zeros(1), ca::eye(1), g);
        }) != "nothing was thrown");
  CHECK(thrown<ca::shape_error>([&] {
          rnd::multivariate_normal({2}, ca::zeros(3), ca::ones({2, 2}), g);
        }) == "random::multivariate_normal: mean of shape (3,) and cov of shape (2, 2), not (d) and (d, d)");
  CHECK(g.offset() == before);
}

TEST_CASE("distributions: covariances of numbers of different size, and nearly singular ones") {
  rnd::generator g(5);
  const auto c = ca::array({{1e8, 0., 0.}, {0., 0.9, 0.5}, {0., 0.5, 0.9}});
  const auto of = ca::cov(rnd::multivariate_normal<double>({100000}, ca::zeros(3), c, g).t());
  CHECK(ca::allclose(of / ca::array({{1e8, 1e4, 1e4}, {1e4, 1., 1.}, {1e4, 1., 1.}}),
                     ca::array({{1., 0., 0.}, {0., 0.9, 0.5}, {0., 0.5, 0.9}}), {.rtol = 0, .atol = 0.02}));
  const auto x =
      rnd::multivariate_normal<double>({100000}, ca::zeros(2), ca::array<double>({{1., 1.}, {1., 1 + 5e-9}}), g);
  CHECK(std::fabs(ca::eval(ca::var(x(ca::_, 1) - x(ca::_, 0))).item() / 5e-9 - 1) < 0.05);
  // the covariance of float32 vectors of which one is the sum of the others
  const ca::ndarray<float> v = rnd::normal({2, 1000}, 0, 1, g);
  const ca::ndarray<float> three = ca::concatenate(std::vector{v, ca::eval(ca::sum(v, 0, ca::keepdims))}, 0);
  const auto y = rnd::multivariate_normal({100}, ca::zeros(3), ca::astype<float>(ca::cov(three)), g);
  CHECK(ca::allclose(y(ca::_, 0) + y(ca::_, 1), y(ca::_, 2), {.rtol = 0, .atol = 0.01}));
}

TEST_CASE("distributions: zipf near 1 and far from it") {
  rnd::generator g(5);
  const auto ones = [&](double a) { return ca::eval(ca::mean(rnd::zipf({200000}, a, g) == 1)).item(); };
  // of the numbers below 2^63, by mpmath
  CHECK(std::fabs(ones(1.1) - 0.09562) < 0.003);
  CHECK(std::fabs(ones(1.01) - 0.02781) < 0.0015);
  CHECK(std::fabs(ones(1.0000001) - 0.02260) < 0.0015);
  for (const double a : {63.5, 100., 1023.9, 1024.5}) CHECK(ones(a) == 1);
}

TEST_CASE("distributions: wrong parameters of whole numbers draw nothing") {
  rnd::generator g(5);
  CHECK(thrown<ca::value_error>([&] {
          rnd::poisson({2}, ca::array({1., -2.}), g);
        }) == "random::poisson: lam is -2 at flat index 1, not of [0, 2^62]");
  CHECK(thrown<ca::value_error>([&] { rnd::binomial({2}, 1.5, 0.5, g); }) ==
        "random::binomial: n is 1.5, not a whole number of [0, 2^53]");
  CHECK(thrown<ca::value_error>([&] { rnd::binomial({2}, 3, 1.25, g); }) ==
        "random::binomial: p is 1.25, not of [0, 1]");
  CHECK(thrown<ca::value_error>([&] { rnd::bernoulli({2}, NAN, g); }) == "random::bernoulli: p is nan, not of [0, 1]");
  CHECK(thrown<ca::value_error>([&] { rnd::geometric({2}, 0, g); }) == "random::geometric: p is 0, not of (0, 1]");
  CHECK(thrown<ca::value_error>([&] { rnd::logseries({2}, 1, g); }) == "random::logseries: p is 1, not of [0, 1)");
  CHECK(thrown<ca::value_error>([&] { rnd::zipf({2}, 1, g); }) == "random::zipf: a is 1, not above 1 and finite");
  CHECK(thrown<ca::value_error>([&] { rnd::hypergeometric({2}, 2, 3, 6, g); }) ==
        "random::hypergeometric: nsample is above ngood + nbad");
  CHECK(thrown<ca::value_error>([&] { rnd::multinomial({2}, 3, ca::zeros({3}), g); }) ==
        "random::multinomial: probabilities that add up to 0");
  CHECK(thrown<ca::value_error>([&] { rnd::multinomial({2}, 3, ca::full<double>({3}, 1e308), g); }) ==
        "random::multinomial: probabilities that add up to inf");
  CHECK(thrown<ca::value_error>([&] { rnd::hypergeometric({2}, 1e16, 3, 6, g); }) ==
        "random::hypergeometric: ngood is 1e+16, not a whole number of [0, 10^15]");
  CHECK(thrown<ca::value_error>([&] {
          rnd::multinomial({2}, 3, ca::array({1., -1.}), g);
        }) == "random::multinomial: p is -1 at flat index 1, not at least 0 and finite");
  CHECK(thrown<ca::shape_error>([&] { rnd::multinomial({2}, 3, ca::zeros({0}), g); }) ==
        "random::multinomial: p of shape (0,) says no categories");
  CHECK(thrown<ca::value_error>([&] {
          rnd::dirichlet({2}, ca::array({1., 0.}), g);
        }) == "random::dirichlet: alpha is 0 at flat index 1, not above 0 and finite");
  CHECK(g.offset() == 0);
}
