// Gradients of the functions of special_functions.inc and special_binary_functions.inc, and of what repairs numbers.
// SPDX-License-Identifier: MIT
#include <limits>

#include "differences.hpp"

namespace {

using test::check_gradients;
using test::numbers;

const test::range wide{-2, 2}, positive{0.3, 3}, inside{-0.9, 0.9}, part{0.05, 0.95};
constexpr double inf = std::numeric_limits<double>::infinity(), nan_ = std::numeric_limits<double>::quiet_NaN();

}  // namespace

#define CHECK_FUNCTION(name, range) \
  check_gradients(                  \
      #name, [](const auto& x) { return ca::name(x); }, range)
#define CHECK_BINARY(name, first, second) \
  check_gradients(                        \
      #name, [](const auto& x, const auto& y) { return ca::name(x, y); }, first, second)

TEST_CASE("autograd: gradients of inverse hyperbolic functions and units") {
  CHECK_FUNCTION(reciprocal, positive);
  CHECK_FUNCTION(positive, wide);
  CHECK_FUNCTION(radians, wide);
  CHECK_FUNCTION(degrees, wide);
  CHECK_FUNCTION(arcsinh, wide);
  check_gradients(
      "arccosh", [](const auto& x) { return ca::arccosh(1.5 + x); }, positive);
  CHECK_FUNCTION(arctanh, inside);
  CHECK_FUNCTION(logit, part);
  CHECK_FUNCTION(expit, wide);
}
TEST_CASE("autograd: gradients of gamma and its kin") {
  CHECK_FUNCTION(gamma, positive);
  CHECK_FUNCTION(lgamma, positive);
  CHECK_FUNCTION(digamma, positive);
  check_gradients(
      "polygamma", [](const auto& x) { return ca::polygamma(2, x); }, positive);
  check_gradients(
      "zeta", [](const auto& x) { return ca::zeta(3, x); }, positive);
  CHECK_FUNCTION(i0, wide);
  CHECK_FUNCTION(i1, wide);
  const auto bend = [](const auto& x) { return ca::sum(ca::i1(x)); };
  const auto at = ca::array<double>({1e-9, 1e-6, 1.234e-3, 0.3, 0.49, 0.51, 2});
  CHECK(test::close(ca::hvp<0>(bend)(at, ca::ones<double>(7)), {7},
                    {3.75e-10, 3.750000000000521e-07, 0.0004627500978688036, 0.11391179780033125, 0.18994225036622364,
                     0.19823796492810108, 1.2461626307879599},
                    1e-13));
  const auto far = ca::grad<0>(bend)(ca::array<double>({800, -800}));
  CHECK(ca::all(far == HUGE_VAL).item());
  check_gradients(
      "ldexp", [](const auto& x) { return ca::ldexp(x, 3); }, wide);
  check_gradients(
      "frexp", [](const auto& x) { return ca::frexp(0.75 + 0.2 * ca::tanh(x)).first; }, wide);
  CHECK_FUNCTION(sinc, wide);
}
TEST_CASE("autograd: gradients of extremes without NaN, of logarithms of sums, of remainders") {
  CHECK_BINARY(fmax, wide, wide);
  CHECK_BINARY(fmin, wide, wide);
  CHECK_BINARY(logaddexp, wide, wide);
  CHECK_BINARY(logaddexp2, wide, wide);
  check_gradients(
      "fmod", [](const auto& x, const auto& y) { return ca::fmod(x, 10. + y); }, positive, positive);
}
TEST_CASE("autograd: what special functions hand on at edges") {
  const auto gradient = [](const auto& f, double at) {
    const ca::variable<double> x = ca::array<double>({at});
    const ca::variable<double> y = f(x);
    y.backward();
    return x.has_grad() ? x.grad().item() : 0.;
  };
  CHECK(gradient([](const auto& x) { return ca::sinc(x); }, 0) == 0);
  CHECK(std::fabs(gradient([](const auto& x) { return ca::sinc(x); }, 1e-8) / -3.2898681336964529e-8 - 1) < 1e-14);
  CHECK(gradient([](const auto& x) { return ca::fmax(x, nan_); }, 2) == 1);
  CHECK(gradient([](const auto& x) { return ca::fmin(x, 2.); }, 2) == 0.5);
  CHECK(gradient([](const auto& x) { return ca::fmax(x, 2.); }, nan_) == 0);
  CHECK(gradient([](const auto& x) { return ca::logaddexp(x, -inf); }, 3) == 1);
  CHECK(gradient([](const auto& x) { return ca::logaddexp(x, x); }, inf) == 1);
  CHECK(gradient([](const auto& x) { return ca::nan_to_num(x) * 3.; }, 2) == 3);
  CHECK(gradient([](const auto& x) { return ca::nan_to_num(x) * 3.; }, nan_) == 0);
  CHECK(gradient([](const auto& x) { return ca::heaviside(1., x); }, 5) == 0);
  CHECK(gradient([](const auto& x) { return ca::heaviside(0., x); }, 5) == 1);
  CHECK(gradient([](const auto& x) { return ca::round(x, 1) + x; }, 0.57) == 1);
}
TEST_CASE("autograd: special functions are differentiated twice") {
  const auto f = [](const auto& x) { return ca::sum(ca::lgamma(x) + ca::logaddexp(x, 1.) + ca::arcsinh(x)); };
  const auto at = ca::array<double>({0.7, 2.5});
  const auto [slope, change] = ca::jvp(ca::grad<0>(f))(at, ca::ones<double>({2}));
  // digamma' + s (1 - s), s = 1 / (1 + exp(1 - x)), - x / (1 + x^2)^1.5
  CHECK(test::close(change, {2}, numbers{2.693633411765673, 0.5114384577036354}, 1e-12));
  CHECK(test::close(slope, {2}, numbers{0.024765850009446865, 1.8921217931929906}, 1e-12));
}
