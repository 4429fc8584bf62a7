// Gradients of functions of several operands, which broadcast, and their values at ties and edges.
#include <limits>

#include "differences.hpp"

namespace {

using test::check_gradients;
using test::numbers;

const test::range wide{-2, 2}, positive{0.3, 3};
constexpr double inf = std::numeric_limits<double>::infinity();

/// The gradients of f at one pair of numbers, from a gradient of 1.
template <class F>
numbers gradients_at(const F& f, double x, double y) {
  const ca::variable<double> a = ca::array<double>({x}), b = ca::array<double>({y});
  const ca::variable<double> r = f(a, b);
  r.backward();
  return {a.has_grad() ? a.grad().item() : 0, b.has_grad() ? b.grad().item() : 0};
}

}  // namespace

TEST_CASE("autograd: gradients of arithmetic") {
  check_gradients(
      "add", [](const auto& x, const auto& y) { return x + y; }, wide, wide);
  check_gradients(
      "subtract", [](const auto& x, const auto& y) { return x - y; }, wide, wide);
  check_gradients(
      "multiply", [](const auto& x, const auto& y) { return x * y; }, wide, wide);
  check_gradients(
      "divide", [](const auto& x, const auto& y) { return x / y; }, wide, positive);
}
TEST_CASE("autograd: gradients of powers and remainders") {
  check_gradients(
      "power", [](const auto& x, const auto& y) { return ca::power(x, y); }, positive, wide);
  check_gradients(
      "remainder", [](const auto& x, const auto& y) { return ca::remainder(x, 10. + y); }, positive, positive);
  check_gradients(
      "hypot", [](const auto& x, const auto& y) { return ca::hypot(x, y); }, positive, positive);
}
TEST_CASE("autograd: gradients of angles and signs") {
  check_gradients(
      "arctan2", [](const auto& x, const auto& y) { return ca::arctan2(x, y); }, positive, wide);
  check_gradients(
      "copysign", [](const auto& x, const auto& y) { return ca::copysign(x, ca::stop_gradient(y)); }, positive, wide);
}
TEST_CASE("autograd: gradients of extremes and choices") {
  check_gradients(
      "maximum", [](const auto& x, const auto& y) { return ca::maximum(x, y + 3.); }, wide, wide);
  check_gradients(
      "minimum", [](const auto& x, const auto& y) { return ca::minimum(x, y + 3.); }, wide, wide);
  check_gradients(
      "where", [](const auto& x, const auto& y) { return ca::where(x > 10., x, y * y); }, wide, wide);
  check_gradients(
      "clip", [](const auto& x, const auto& l, const auto& h) { return ca::clip(x, l, h); }, test::range{2, 3},
      test::range{0, 1}, test::range{4, 5});
}
TEST_CASE("autograd: gradients of expressions are one function") {
  check_gradients(
      "gelu(x + b) * m + r",
      [](const auto& x, const auto& b, const auto& m, const auto& r) {
        const auto u = x + b;
        return 0.5 * u * (1. + ca::tanh(0.79788456 * (u + 0.044715 * u * u * u))) * m + r;
      },
      wide, wide, wide, wide);
  check_gradients(
      "tanh(x c) / (exp(b) + 1)",
      [](const auto& x, const auto& c, const auto& b) { return ca::tanh(x * c) / (ca::exp(b) + 1.); }, wide, wide,
      wide);
  check_gradients(
      "x twice", [](const auto& x) { return x * x + ca::sin(x); }, wide);
}

TEST_CASE("autograd: gradients at ties and kinks") {
  const auto maximum = [](const auto& x, const auto& y) { return ca::maximum(x, y); };
  const auto minimum = [](const auto& x, const auto& y) { return ca::minimum(x, y); };
  CHECK(gradients_at(maximum, 2, 2) == numbers{0.5, 0.5});
  CHECK(gradients_at(minimum, 2, 2) == numbers{0.5, 0.5});
  CHECK(gradients_at(maximum, inf, 2) == numbers{1, 0});
  CHECK(gradients_at(maximum, NAN, 2) == numbers{0, 0});
  CHECK(gradients_at([](const auto& x, const auto&) { return ca::abs(x); }, 0, 0) == numbers{0, 0});
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::clip(x, y, 3.); }, 1, 1)[0] == 1);
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::clip(x, y, 3.); }, 3, 1) == numbers{1, 0});
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::clip(x, y, 3.); }, 0, 1) == numbers{0, 1});
  const auto angle = [](const auto& x, const auto& y) { return ca::arctan2(x, y) * 1e200; };
  CHECK(std::fabs(gradients_at(angle, 1e200, 1e200)[0] - 0.5) < 1e-12);
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::where(x > 0., ca::log(x), y); }, -1, 1) ==
        numbers{0, 1});
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::power(x, y); }, 0, 0) == numbers{0, 0});
  CHECK(gradients_at([](const auto& x, const auto& y) { return ca::power(x, y); }, 0, 2) == numbers{0, 0});
  CHECK(std::isinf(gradients_at([](const auto& x, const auto&) { return ca::sqrt(x); }, 0, 0)[0]));
}
