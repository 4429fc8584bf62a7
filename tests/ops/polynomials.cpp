// Polynomials; expected values from NumPy.
// SPDX-License-Identifier: MIT
#include "samples.hpp"

using namespace samples;

TEST_CASE("polynomials: values") {
  const auto p = ca::array<int>({3, 0, 1});
  CHECK(ca::polyval(p, 5).item() == 76);
  CHECK(test::equal(ca::polyval(p, f64({1, 2})), {2}, ints{4, 13}));
  CHECK(test::equal(ca::polyval(p + 0, table().t()), {3, 2}, ints{4, 49, 13, 76, 28, 109}));
  CHECK(test::equal(ca::polyval(f64({}), f64({1, 2})), {2}, ints{0, 0}));
  CHECK(ca::polyval(p, f64({})).shape() == ca::shape{0});
  const auto z = ca::eval(ca::polyval(f64({1, 0, 1}), ca::array<ca::complex128>({ca::complex128(0, 2)})));
  CHECK(test::values(z)[0] == ca::complex128(-3, 0));
  static_assert(is<decltype(ca::polyval(p, 5)), ca::int32>);
  static_assert(is<decltype(ca::polyval(line<float>(), line<float>())), float>);
  static_assert(is<decltype(ca::polyval(line<ca::int8>(), line<ca::int8>())), ca::int8>);
}

TEST_CASE("polynomials: sums, products, quotients") {
  CHECK(test::equal(ca::polyadd(f64({1, 2}), f64({9, 5, 4})), {3}, ints{9, 6, 6}));
  CHECK(test::equal(ca::polysub(f64({2, 10, -2}), f64({3, 10, -4})), {3}, ints{-1, 0, 2}));
  CHECK(test::equal(ca::polysub(f64({2}), f64({3, 10, -4})), {3}, ints{-3, -10, 6}));
  CHECK(test::equal(ca::polymul(f64({1, 2, 3}), f64({9, 5, 1})), {5}, ints{9, 23, 38, 17, 3}));
  const auto divides = [](const doubles& u, const doubles& v, const doubles& q, const doubles& r) {
    const auto [quotient, rest] = ca::polydiv(f64(u), f64(v));
    return test::equal(quotient, {ca::int64(q.size())}, q) && test::equal(rest, {ca::int64(r.size())}, r);
  };
  CHECK(divides({3, 5, 2}, {2, 1}, {1.5, 1.75}, {0.25}));
  CHECK(divides({1, 2}, {1, 2, 3}, {0}, {1, 2}));
  CHECK(divides({1, 2, 1}, {1, 1}, {1, 1}, {0}));
  CHECK(divides({0, 0, 1}, {1}, {0, 0, 1}, {0}));
  CHECK(divides({1, 0, 0, -1, 2}, {2, 1, 1}, {0.5, -0.25, -0.125}, {-0.625, 2.125}));
  static_assert(is<decltype(ca::polydiv(line<int>(), line<int>()).first), double>);
  static_assert(is<decltype(ca::polydiv(line<float>(), line<float>()).second), float>);
}

TEST_CASE("polynomials: derivatives, antiderivatives, zeros") {
  const auto p = ca::array<int>({1, 2, 3, 4});
  CHECK(test::equal(ca::polyder(p), {3}, ints{3, 4, 3}));
  CHECK(test::equal(ca::polyder(p, 2), {2}, ints{6, 4}));
  CHECK(test::equal(ca::polyder(p, 0), {4}, ints{1, 2, 3, 4}));
  CHECK(ca::polyder(f64({1, 2}), 3).shape() == ca::shape{0});
  CHECK(test::equal(ca::polyint(ca::array<int>({1, 1, 1})), {4}, doubles{1 / 3., 0.5, 1, 0}));
  CHECK(test::equal(ca::polyint(f64({6, 2}), 2, {5, 7}), {4}, ints{1, 1, 5, 7}));
  CHECK(test::equal(ca::polyint(f64({6, 2}), 2, {4}), {4}, ints{1, 1, 4, 4}));
  CHECK(test::equal(ca::poly(ca::array<int>({2, 3, -1})), {4}, ints{1, -4, 1, 6}));
  CHECK(test::equal(ca::poly(f64({})), {1}, ints{1}));
  const auto z = ca::poly(ca::array<ca::complex128>({ca::complex128(0, 1), ca::complex128(0, -1)}));
  CHECK(test::values(z)[2] == ca::complex128(1, 0));
  static_assert(is<decltype(ca::polyder(line<float>())), float>);
  static_assert(is<decltype(ca::polyint(line<ca::complex64>())), ca::complex64>);
}

TEST_CASE("polynomials: what does not fit") {
  CHECK(test::thrown<ca::shape_error>([&] { ca::polyval(table(), 1); }) ==
        "polyval: coefficients of shape (2, 3), not of one axis");
  CHECK(test::thrown<ca::shape_error>([&] { ca::polyadd(f64({1}), ca::full({}, 1)); }) ==
        "polyadd: coefficients of shape (), not of one axis");
  CHECK(test::thrown<ca::value_error>([&] { ca::polyder(f64({1}), -1); }) == "polyder: -1 times");
  CHECK(test::thrown<ca::value_error>([&] { ca::polyint(f64({1}), -1); }) == "polyint: -1 times");
  CHECK(test::thrown<ca::value_error>([&] { ca::polyint(f64({1}), 3, {1, 2}); }) == "polyint: 2 constants for 3 times");
  CHECK(test::thrown<ca::value_error>([&] { ca::polymul(f64({}), f64({1})); }) ==
        "convolve: a sequence without elements");
  CHECK(test::thrown<ca::value_error>([&] { ca::polydiv(f64({1}), f64({})); }) == "polydiv: no coefficients");
  CHECK(test::thrown<ca::value_error>([&] { ca::polydiv(f64({}), f64({1})); }) == "polydiv: no coefficients");
}
