// Continuous distributions: counted in bins against SciPy's (distributions_golden.py), the same bits, errors.
// SPDX-License-Identifier: MIT
#include "distributions.hpp"

namespace rnd = ca::random;
using test::thrown;

TEST_CASE("distributions: continuous ones, in bins") {
  const ca::shape s{2000, 50};
  const ca::ndarray<int> low = ca::ones<int>({50});
  rnd::generator g(20261129);
#define CUDARRAY_REAL(name, call, edges, p, limit)                                     \
  {                                                                                    \
    INFO(name);                                                                        \
    CHECK(test::chi_square(call, CUDARRAY_BRACED edges, CUDARRAY_BRACED p) < (limit)); \
  }
#define CUDARRAY_WHOLE(...)
#define CUDARRAY_BRACED(...) __VA_ARGS__
#include "distributions.inc"
#undef CUDARRAY_BRACED
#undef CUDARRAY_WHOLE
#undef CUDARRAY_REAL
}

TEST_CASE("distributions: samplers have the same bits on every device") {
  const auto bits_of = [](const auto& draw) {
    rnd::generator g(7, 11);
    return test::hash(ca::eval(draw(g)));
  };
  const ca::shape s{20000};
  CHECK(bits_of([&](auto& g) { return rnd::exponential(s, 1, g); }) == 0xe57acfff61a6c9f0u);
  CHECK(bits_of([&](auto& g) { return rnd::exponential<double>(s, 1, g); }) == 0x59845ba16a452ca7u);
  CHECK(bits_of([&](auto& g) { return rnd::gumbel(s, 0, 1, g); }) == 0x114a3f8863c55d70u);
  CHECK(bits_of([&](auto& g) { return rnd::gumbel<double>(s, 0, 1, g); }) == 0xc5720a466e31b4dbu);
  CHECK(bits_of([&](auto& g) { return rnd::gamma<double>(s, 0.3, 1, g); }) == 0x3a7814faeb303e9du);
  CHECK(bits_of([&](auto& g) { return rnd::gamma<double>(s, 4.7, 1, g); }) == 0x84bb1b9e886b0702u);
  CHECK(bits_of([&](auto& g) { return rnd::beta<double>(s, 0.3, 2, g); }) == 0x6fb172100d586dcdu);
}

TEST_CASE("distributions: the tails of exponential and of Gumbel's numbers are fine") {
  rnd::generator g(3);
  const auto e = rnd::exponential({4000000}, 1, g);
  const float least = ca::eval(ca::min(e)).item(), most = ca::eval(ca::max(e)).item();
  CHECK((least > 0 && least < 2e-6f && most > 13 && most < 23));  // at most 33 log(2)
  const auto u = rnd::gumbel({4000000}, 0, 1, g);
  CHECK((ca::eval(ca::max(u)).item() < 23 && ca::eval(ca::max(u)).item() > 13));
}

TEST_CASE("distributions: parameters that are arrays, one for each number") {
  rnd::generator g(5), h(5);
  const ca::ndarray<double> mean = ca::array({{1., 100.}, {10000., 0.}});
  const auto x = rnd::gamma<double>({1000, 2, 2}, mean, 1, g);
  CHECK(g.offset() == 4000);
  const auto m = test::values(ca::mean(x, 0));
  CHECK((std::fabs(m[0] - 1) < 0.2 && std::fabs(m[1] - 100) < 2 && std::fabs(m[2] - 10000) < 20 && m[3] == 0));
  // an expression, a view, a selection, integers and halves are parameters, too; and give what their values give
  const ca::ndarray<int> k = ca::array<int>({1, 2, 3});
  const auto expected = test::values(rnd::gamma({4, 3}, ca::array({1.f, 2.f, 3.f}), 1, h));
  const auto same = [&](const auto& a) {
    rnd::generator again(5);
    return test::values(rnd::gamma({4, 3}, a, 1, again)) == expected;
  };
  CHECK(same(k));
  CHECK(same(k + 0.0));
  CHECK(same(ca::flip(ca::array<int>({3, 2, 1}))));
  CHECK(same(ca::astype<ca::float16>(k)));
  CHECK(same(ca::array<int>({0, 1, 2, 3})(ca::array<int>({1, 2, 3}))));
  // of numbers and of arrays of one value the same comes
  h = rnd::generator(6), g = rnd::generator(6);
  CHECK(test::values(rnd::laplace({5, 3}, 2, 0.5, g)) ==
        test::values(rnd::laplace({5, 3}, ca::full({3}, 2), ca::full({5, 1}, 0.5), h)));
  h = rnd::generator(6), g = rnd::generator(6);
  CHECK(test::values(rnd::normal({5, 3}, 2, 0.5f, g)) == test::values(rnd::normal({5, 3}, ca::full({3}, 2), 0.5, h)));
}

TEST_CASE("distributions: edges of the parameters") {
  rnd::generator g(5);
  CHECK(ca::all(rnd::exponential({9}, 0, g) == 0).item());
  CHECK(ca::all(rnd::gamma({9}, 0, 1, g) == 0).item());
  CHECK(ca::all(rnd::gamma({9}, 3, 0, g) == 0).item());
  CHECK(ca::all(rnd::normal({9}, ca::full({9}, 4), 0, g) == 4).item());
  CHECK(ca::all(rnd::triangular({9}, 2, 2, 2, g) == 2).item());
  CHECK(ca::all(ca::isfinite(rnd::beta({999}, 1e-3, 1e-3, g))).item());
  CHECK(ca::all(rnd::vonmises({999}, 3, 5, g) <= 3.1415927f).item());
  CHECK(rnd::gamma({0, 3}, 2, 1, g).shape() == ca::shape{0, 3});
  CHECK(rnd::beta({}, 2, 1, g).shape() == ca::shape{});
}

TEST_CASE("distributions: uniform numbers of arrays are of [low, high) whatever the arrays' dtype") {
  rnd::generator g(5);
  const auto all = [](const auto& condition) { return ca::eval(ca::all(condition)).item(); };
  const auto u = rnd::uniform({1000}, ca::full<ca::int8>({1}, -100), ca::full<ca::int8>({1}, 100), g);
  CHECK((all(u >= -100) && all(u < 100) && ca::eval(ca::max(u)).item() > 90 && ca::eval(ca::min(u)).item() < -90));
  CHECK(all(rnd::uniform({100000}, ca::full<float>({1}, 1), 1.00001f, g) < 1.00001f));
  CHECK(all(rnd::uniform({9}, ca::full<float>({1}, 2), 2, g) == 2));
  CHECK(thrown<ca::value_error>([&] { rnd::uniform<double>({9}, ca::full<double>({1}, -1e308), 1e308, g); }) ==
        "random::uniform: high - low is not finite");
}

TEST_CASE("distributions: parameters far from 1") {
  rnd::generator g(5);
  const auto variance = [](const auto& x) { return ca::eval(ca::var(x)).item(); };
  const auto any = [](const auto& condition) { return ca::eval(ca::any(condition)).item(); };
  for (const double a : {1e10, 1e15, 1e20})
    CHECK(std::fabs(variance(rnd::gamma<double>({200000}, a, 1, g)) / a - 1) < 0.02);
  CHECK(std::fabs(variance(rnd::beta<double>({200000}, 1e20, 1e20, g)) * 8e20 - 1) < 0.02);
  CHECK(!any(ca::isnan(rnd::f<double>({10000}, 1e-3, 1e-3, g))));
  CHECK(!any(ca::isnan(rnd::beta<double>({1000}, 1e-310, 1e-310, g))));
  CHECK(!any(ca::isnan(rnd::dirichlet<double>({1000}, ca::full<double>({3}, 1e-310), g))));
  // half of the chi-square numbers of 0.001 degrees are below 10^-600
  const double infinite = ca::eval(ca::mean(ca::isinf(rnd::standard_t<double>({10000}, 1e-3, g)))).item();
  CHECK((infinite > 0.45 && infinite < 0.55));
  CHECK(!any(rnd::wald<double>({1000}, 1e200, 1, g) <= 0));
  CHECK(!any(ca::isnan(rnd::wald<double>({1000}, 1e160, 1e160, g))));
  CHECK(!any(rnd::wald<double>({1000}, 1e-200, 1e-200, g) <= 0));
  const auto t = rnd::triangular<double>({1000}, 0, 5e-200, 1e-199, g);
  CHECK(std::fabs(ca::eval(ca::mean(t)).item() / 5e-200 - 1) < 0.1);
  CHECK(!any(ca::isinf(rnd::triangular<double>({1000}, 0, 5e199, 1e200, g))));
  const auto angle = rnd::vonmises({1000}, 1e20, 3, g);
  CHECK((variance(angle) > 0.1 && !any(ca::abs(angle) > 3.1415927f)));
  const auto far = rnd::truncated_normal<double>({1000}, 9, 10, 0, 1, g),
             low = rnd::truncated_normal<double>({1000}, -10, -9, 0, 1, g);
  CHECK(std::fabs(ca::eval(ca::mean(far)).item() - 9.1085) < 0.02);  // by SciPy
  CHECK(std::fabs(ca::eval(ca::mean(low)).item() + 9.1085) < 0.02);
}

TEST_CASE("distributions: wrong parameters draw nothing") {
  rnd::generator g(5);
  CHECK(thrown<ca::value_error>([&] { rnd::exponential({2}, -1, g); }) ==
        "random::exponential: scale is -1, not at least 0 and finite");
  CHECK(thrown<ca::value_error>([&] { rnd::gamma({2}, NAN, 1, g); }) ==
        "random::gamma: a is nan, not at least 0 and finite");
  CHECK(thrown<ca::value_error>([&] {
          rnd::gamma({2, 2}, ca::array({{1., 2.}, {3., -4.}}), 1, g);
        }) == "random::gamma: a is -4 at flat index 3, not at least 0 and finite");
  CHECK(thrown<ca::value_error>([&] { rnd::laplace({2}, INFINITY, 1, g); }) ==
        "random::laplace: loc is inf, not finite");
  CHECK(thrown<ca::value_error>([&] { rnd::weibull({2}, 0, g); }) == "random::weibull: a is 0, not above 0 and finite");
  CHECK(thrown<ca::value_error>([&] { rnd::triangular({2}, 0, 3, 2, g); }) ==
        "random::triangular: left <= mode <= right does not hold, or right - left is not finite");
  CHECK(thrown<ca::value_error>([&] {
          rnd::triangular({2}, 0, ca::array({1, 3}), 2, g);
        }) == "random::triangular: left <= mode <= right does not hold, or right - left is not finite");
  CHECK(thrown<ca::value_error>([&] { rnd::truncated_normal({2}, 2, 1, 0, 1, g); }) ==
        "random::truncated_normal: mean 0, standard deviation 1, numbers of [2, 1]");
  CHECK(thrown<ca::shape_error>([&] {
          rnd::gamma({2, 3}, ca::ones({2}), 1, g);
        }) == "random::gamma: a of shape (2,) for numbers of shape (2, 3)");
  CHECK(thrown<ca::shape_error>([&] {
          rnd::gamma({3}, ca::ones({2, 3}), 1, g);
        }) == "random::gamma: a of shape (2, 3) for numbers of shape (3,)");
  CHECK(thrown<ca::shape_error>([&] { rnd::beta({-3}, 1, 1, g); }) != "");
  CHECK(g.offset() == 0);
}
