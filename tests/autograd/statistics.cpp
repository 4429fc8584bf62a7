// Gradients of statistics, of differences and integrals, of what lies between points, and of sums of products.
// SPDX-License-Identifier: MIT
#include <limits>

#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;

}  // namespace

TEST_CASE("autograd: gradients of ranges, averages and covariances") {
  check_layouts(
      "ptp", [](const auto& x) { return ca::ptp(x, 1); }, S{3, 4});
  check_layouts(
      "average", [](const auto& x, const auto& w) { return ca::average(x, 3. + w, 1); }, S{3, 4}, S{4});
  check_layouts(
      "average of all", [](const auto& x, const auto& w) { return ca::average(x, 3. + w); }, S{2, 3}, S{2, 3});
  check_layouts(
      "cov", [](const auto& x) { return ca::cov(x); }, S{3, 4});
  check_layouts(
      "cov of columns", [](const auto& x, const auto& y) { return ca::cov(x, y, {.rowvar = false, .ddof = 0}); },
      S{3, 2}, S{3, 1});
  check_layouts(
      "corrcoef", [](const auto& x) { return ca::corrcoef(x)(0) * ca::corrcoef(x)(1, 2); }, S{3, 4});
}
TEST_CASE("autograd: gradients of quantiles") {
  check_layouts(
      "quantile", [](const auto& x) { return ca::quantile(x, 0.3, 0); }, S{5, 3});
  check_layouts(
      "quantiles",
      [](const auto& x) {
        return ca::quantile(x, {0.1, 0.8}, 1, ca::quantile_method::hazen, ca::keepdims);
      },
      S{2, 5});
  check_layouts(
      "median", [](const auto& x) { return ca::median(x * x); }, S{2, 3});
  check_layouts(
      "nanquantile", [](const auto& x) { return ca::nanquantile(x, 0.6, 1); }, S{2, 4});
}
TEST_CASE("autograd: gradients of reductions that leave NaN out are 0 there") {
  const double nan_ = std::numeric_limits<double>::quiet_NaN();
  const auto gradient = [&](const auto& f) {
    const ca::variable<double> x = ca::array<double>({1, nan_, 3, 5});
    const ca::variable<double> y = f(x);
    y.backward();
    return test::values(x.grad());
  };
  using v = std::vector<double>;
  CHECK(gradient([](const auto& x) { return ca::nansum(x * 2.); }) == v{2, 0, 2, 2});
  CHECK(gradient([](const auto& x) { return ca::nanprod(x); }) == v{15, 0, 5, 3});
  CHECK(gradient([](const auto& x) { return ca::nanmax(x); }) == v{0, 0, 0, 1});
  CHECK(gradient([](const auto& x) { return ca::nanmin(x); }) == v{1, 0, 0, 0});
  CHECK(test::close(ca::array(gradient([](const auto& x) { return ca::nanmean(x) * 3.; })), {4}, v{1, 0, 1, 1}, 1e-14));
  CHECK(test::close(ca::array(gradient([](const auto& x) { return ca::nanvar(x) * 3.; })), {4}, v{-4, 0, 0, 4}, 1e-14));
  CHECK(gradient([](const auto& x) { return ca::nanmedian(x); }) == v{0, 0, 1, 0});
}
TEST_CASE("autograd: gradients of differences and integrals") {
  check_layouts(
      "diff", [](const auto& x) { return ca::diff(x, 2) * ca::diff(x)(ca::_, ca::slice(1, ca::none)); }, S{2, 5});
  check_layouts(
      "gradient", [](const auto& y) { return ca::gradient(y, 0.5, {.axis = 1, .edge_order = 2}); }, S{2, 5});
  check_layouts(
      "gradient by coordinates",
      [](const auto& y, const auto& h) { return ca::gradient(y, ca::cumsum(3. + h, 0), {.axis = 0}); }, S{4, 2}, S{4});
  check_layouts(
      "trapezoid", [](const auto& y, const auto& x) { return ca::trapezoid(y, x, 1); }, S{2, 4}, S{4});
  check_layouts(
      "cumulative_prod", [](const auto& x) { return ca::cumulative_prod(x, 0, true); }, S{3, 2});
}
TEST_CASE("autograd: gradients of polynomials and angles") {
  check_layouts(
      "polyval", [](const auto& p, const auto& x) { return ca::polyval(p, x); }, S{4}, S{2, 3});
  const auto other = ca::array<double>({1.5, -2, 0.25});
  check_layouts(
      "polyval by coefficients", [&](const auto& p) { return ca::polyval(p, other); }, S{4});
  check_layouts(
      "polyval at a number", [](const auto& p) { return ca::polyval(p, 2); }, S{4});
  check_layouts(
      "polyval by points", [&](const auto& at) { return ca::polyval(other, at); }, S{2, 3});
  check_layouts(
      "polymul by one", [&](const auto& p) { return ca::polymul(p, other); }, S{4});
  check_layouts(
      "polydiv of one", [&](const auto& p) { return ca::polydiv(p, other).first; }, S{5});
  check_layouts(
      "polyadd", [](const auto& p, const auto& q) { return ca::polyadd(p, q); }, S{2}, S{4});
  check_layouts(
      "polysub", [](const auto& p, const auto& q) { return ca::polysub(p, q); }, S{4}, S{2});
  check_layouts(
      "polymul", [](const auto& p, const auto& q) { return ca::polymul(p, q); }, S{3}, S{4});
  check_layouts(
      "polydiv",
      [](const auto& u, const auto& v) {
        const auto [quotient, rest] = ca::polydiv(u, 3. + v);
        return ca::concatenate(std::tuple(quotient, rest));
      },
      S{5}, S{3});
  check_layouts(
      "polyder", [](const auto& p) { return ca::polyder(p * p, 2); }, S{5});
  check_layouts(
      "polyint",
      [](const auto& p) {
        return ca::polyint(p * p, 2, {1, 2});
      },
      S{3});
  check_layouts(
      "poly", [](const auto& z) { return ca::poly(z); }, S{4});
  check_layouts(
      "unwrap", [](const auto& x) { return ca::unwrap(5. * x, {.axis = 0}); }, S{4, 2});
}
TEST_CASE("autograd: gradients of what lies between points, and of what is picked") {
  check_layouts(
      "interp",
      [](const auto& x, const auto& y) {
        return ca::interp(x, ca::array<double>({-1.9, -0.5, 0.3, 1.1}), y, {.right = 3});
      },
      S{2, 3}, S{4});
  check_layouts(
      "interp by points",
      [](const auto& h, const auto& y) {
        return ca::interp(ca::array<double>({4, 11}), ca::cumsum(3. + h, 0), y);
      },
      S{4}, S{4});
  const ca::variable<double> at = ca::array<double>({1, 2, 4}), points = ca::array<double>({1, 2, 4});
  const ca::variable<double> between = ca::interp(at, points, ca::array<double>({1, 4, 16}));
  between.backward(ca::ones<double>({3}));
  CHECK(test::equal(at.grad(), {3}, test::numbers{3, 6, 6}));  // of the interval behind a point, the last before it
  CHECK(test::equal(points.grad(), {3}, test::numbers{-3, -6, -6}));
  check_layouts(
      "compress",
      [](const auto& x) {
        return ca::compress(ca::array<bool>({true, false, true}), x * x, 1);
      },
      S{2, 3});
  check_layouts(
      "extract",
      [](const auto& x) {
        return ca::extract(ca::array<bool>({true, false, true}), x * x);
      },
      S{3});
  check_layouts(
      "partition", [](const auto& x) { return ca::partition(x, 1); }, S{2, 3});
}
TEST_CASE("autograd: gradients of products") {
  check_layouts(
      "outer", [](const auto& x, const auto& y) { return ca::outer(x, y); }, S{2}, S{3});
  check_layouts(
      "vecdot", [](const auto& x, const auto& y) { return ca::vecdot(x, y, 0); }, S{3, 2}, S{3, 1});
  check_layouts(
      "tensordot",
      [](const auto& x, const auto& y) {
        return ca::tensordot(x, y, {0, 2}, {1, 0});
      },
      S{2, 3, 2}, S{2, 2, 2});
  check_layouts(
      "kron", [](const auto& x, const auto& y) { return ca::kron(x, y); }, S{2, 2}, S{3});
  check_layouts(
      "cross", [](const auto& x, const auto& y) { return ca::cross(x, y); }, S{2, 3}, S{3});
  check_layouts(
      "multi_dot", [](const auto& x, const auto& y) { return ca::multi_dot(std::tuple(x, y, x)); }, S{2, 3}, S{3, 2});
}
TEST_CASE("autograd: gradients of sums of products by a formula") {
  check_layouts(
      "batched", [](const auto& x, const auto& y) { return ca::einsum<"bij,bkj->bik">(x, y); }, S{2, 2, 3}, S{2, 1, 3});
  check_layouts(
      "three",
      [](const auto& x, const auto& y) {
        return ca::einsum("ij,jk,k->i", x, y, ca::array<double>({1, 2}));
      },
      S{2, 3}, S{3, 2});
  check_layouts(
      "diagonal", [](const auto& x, const auto& y) { return ca::einsum("ii,...i->...", x, y); }, S{3, 3}, S{2, 3});
  check_layouts(
      "rearrange",
      [](const auto& x) {
        return ca::rearrange<"a (b c) -> c (b a)">(x * x, {{"c", 2}});
      },
      S{2, 4});
}
