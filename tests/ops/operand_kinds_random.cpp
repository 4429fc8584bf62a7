// The table of operands: random numbers whose parameters are arrays, and choices of arrays.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {
namespace rnd = ca::random;
using test::exactly;
using test::nearly;

const ca::ndarray<float> some() { return ca::array({{0.25f, 0.5f, 0.75f}, {0.125f, 0.375f, 0.625f}}); }
const ca::ndarray<ca::int64> whole() { return ca::array<ca::int64>({{4, 5, 60}, {7, 80, 9}}); }

// A distribution of parameters: the same generator, the same numbers.
#define DRAWN(name, ...)                                 \
  exactly(                                               \
      #name,                                             \
      [](const auto&... of) {                            \
        rnd::generator g(7);                             \
        return ca::eval(rnd::name({4, 2, 3}, of..., g)); \
      },                                                 \
      __VA_ARGS__)
// A function of arrays, and the generator.
#define WITH_GENERATOR(name, ...)             \
  exactly(                                    \
      #name,                                  \
      [](const auto&... of) {                 \
        rnd::generator g(7);                  \
        return ca::eval(rnd::name(of..., g)); \
      },                                      \
      __VA_ARGS__)
}  // namespace

TEST_CASE("operand kinds: distributions of real numbers") {
  const auto x = some();
  const auto y = ca::eval(x + 1);
  DRAWN(uniform, x, y);
  DRAWN(normal, x, y);
  DRAWN(exponential, x);
  DRAWN(laplace, x, y);
  DRAWN(gumbel, x, y);
  DRAWN(logistic, x, y);
  DRAWN(cauchy, x, y);
  DRAWN(lognormal, x, y);
  DRAWN(rayleigh, x);
  DRAWN(weibull, x);
  DRAWN(pareto, y);
  DRAWN(power, x);
  DRAWN(triangular, x, y, ca::eval(y + 1));
  DRAWN(wald, x, y);
  DRAWN(gamma, x, y);
  DRAWN(beta, x, y);
  DRAWN(chisquare, x);
  DRAWN(noncentral_chisquare, x, y);
  DRAWN(f, x, y);
  DRAWN(noncentral_f, x, y, x);
  DRAWN(standard_t, y);
  DRAWN(vonmises, x, y);
}
TEST_CASE("operand kinds: distributions of whole numbers") {
  const auto p = some();
  const auto n = whole();
  DRAWN(bernoulli, p);
  DRAWN(poisson, ca::eval(20 * p));
  DRAWN(binomial, n, p);
  DRAWN(negative_binomial, n, p);
  DRAWN(geometric, p);
  DRAWN(hypergeometric, n, n, n);
  DRAWN(logseries, p);
  DRAWN(zipf, ca::eval(p + 1));
}
TEST_CASE("operand kinds: random vectors, choices and orders") {
  const auto x = some();
  exactly(
      "multinomial",
      [](const auto& n, const auto& p) {
        rnd::generator g(7);
        return rnd::multinomial({2, 3}, n, p, g);
      },
      whole(), ca::eval(x(0)));
  nearly(
      "dirichlet",
      [](const auto& a) {
        rnd::generator g(7);
        return rnd::dirichlet({5, 2}, a, g);
      },
      x);
  nearly(
      "multivariate_normal",
      [](const auto& m, const auto& c) {
        rnd::generator g(7);
        return rnd::multivariate_normal(4, m, c, g);
      },
      ca::array({1.f, 2.f}), ca::array({{2.f, 1.f}, {1.f, 2.f}}));
  exactly(
      "choice",
      [](const auto& of, const auto& p) {
        rnd::generator g(7);
        return std::tuple(rnd::choice(of, 5, p, {}, g), rnd::choice(of, 2, {.replace = false}, g),
                          rnd::choice(3, 5, p, {}, g));
      },
      ca::eval(x.t()), ca::eval(x(0)));
  WITH_GENERATOR(categorical, x);
  WITH_GENERATOR(permutation, x);
  WITH_GENERATOR(permuted, x);
  exactly(
      "shuffle",
      [](const auto& a) {
        rnd::generator g(7);
        const auto c = ca::copy(a);
        rnd::shuffle(c, 0, g);
        return c;
      },
      x);
}
