// Operators: values, promotion, weak scalars, broadcasting, and what throws when it is built.
// SPDX-License-Identifier: MIT
#include <sstream>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using ints = std::vector<int>;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;
template <class A, class B>
using sum_t = ca::value_type_t<decltype(ca::ndarray<A>() + ca::ndarray<B>())>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };

}  // namespace

TEST_CASE("operators: arithmetic") {
  const auto a = make(), b = ca::array<float>({{-2, 2, 4}, {0.5, -1, 3}});
  CHECK(test::equal(a + b, {2, 3}, doubles{-1, 4, 7, 4.5, 4, 9}));
  CHECK(test::equal(a - b, {2, 3}, doubles{3, 0, -1, 3.5, 6, 3}));
  CHECK(test::equal(a * b, {2, 3}, doubles{-2, 4, 12, 2, -5, 18}));
  CHECK(test::equal(a / b, {2, 3}, doubles{-0.5, 1, 0.75, 8, -5, 2}));
  CHECK(test::equal(a % b, {2, 3}, doubles{-1, 0, 3, 0, 0, 0}));
  CHECK(test::equal(-a, {2, 3}, ints{-1, -2, -3, -4, -5, -6}));
  CHECK(test::equal(+a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(10 - a, {2, 3}, ints{9, 8, 7, 6, 5, 4}));
  CHECK(test::equal(a - 1, {2, 3}, ints{0, 1, 2, 3, 4, 5}));
  CHECK(test::equal(12 / a, {2, 3}, doubles{12, 6, 4, 3, 2.4f, 2}));
  CHECK(test::equal(-7 % a, {2, 3}, ints{0, 1, 2, 1, 3, 5}));
  CHECK(test::equal((a + b) * (a - b) / 2, {2, 3}, doubles{-1.5, 0, -3.5, 7.875, 12, 13.5}));
}

TEST_CASE("operators: comparisons, with NaN") {
  const auto a = ca::array<float>({1, 2, NAN, 4}), b = ca::array<float>({2, 2, NAN, 3});
  CHECK(test::equal(a == b, {4}, ints{0, 1, 0, 0}));
  CHECK(test::equal(a != b, {4}, ints{1, 0, 1, 1}));
  CHECK(test::equal(a < b, {4}, ints{1, 0, 0, 0}));
  CHECK(test::equal(a <= b, {4}, ints{1, 1, 0, 0}));
  CHECK(test::equal(a > b, {4}, ints{0, 0, 0, 1}));
  CHECK(test::equal(a >= b, {4}, ints{0, 1, 0, 1}));
  CHECK(test::equal(2 < a, {4}, ints{0, 0, 0, 1}));
  CHECK(test::equal(a == 2, {4}, ints{0, 1, 0, 0}));
  CHECK(test::equal(2 != a, {4}, ints{1, 0, 1, 1}));
  CHECK(is<decltype(a == b), bool>);
}

TEST_CASE("operators: bits, shifts and truth") {
  const auto i = ca::array<int>({12, -7, 0}), j = ca::array<int>({10, 3, 5});
  CHECK(test::equal(i & j, {3}, ints{8, 1, 0}));
  CHECK(test::equal(i | j, {3}, ints{14, -5, 5}));
  CHECK(test::equal(i ^ j, {3}, ints{6, -6, 5}));
  CHECK(test::equal(~i, {3}, ints{-13, 6, -1}));
  CHECK(test::equal(!i, {3}, ints{0, 0, 1}));
  CHECK(test::equal(i << 2, {3}, ints{48, -28, 0}));
  CHECK(test::equal(i >> 1, {3}, ints{6, -4, 0}));
  CHECK(test::equal(1 << j, {3}, ints{1024, 8, 32}));
  CHECK(test::equal(i << ca::array<int>({32, 33, 1}), {3}, ints{0, 0, 0}));
  CHECK(test::equal(i >> 40, {3}, ints{0, -1, 0}));
  const auto t = ca::array<bool>({true, true, false}), f = ca::array<bool>({true, false, false});
  CHECK(test::equal(t & f, {3}, ints{1, 0, 0}));
  CHECK(test::equal(t | f, {3}, ints{1, 1, 0}));
  CHECK(test::equal(t ^ f, {3}, ints{0, 1, 0}));
  CHECK(test::equal(t + f, {3}, ints{1, 1, 0}));  // bool + bool is "or"
  CHECK(test::equal(t * f, {3}, ints{1, 0, 0}));
  CHECK(test::equal(~t, {3}, ints{0, 0, 1}));
  CHECK(is<decltype(t + f), bool>);
  CHECK(is<decltype(t + 1), ca::int64>);
  const auto x = make();
  CHECK(test::equal((x > 1) & (x < 5), {2, 3}, ints{0, 1, 1, 1, 0, 0}));
}

TEST_CASE("operators: integers wrap, / is true division") {
  const auto i = ca::array<int>({INT32_MAX, INT32_MIN, 7});
  CHECK(test::equal(i + 1, {3}, ints{INT32_MIN, INT32_MIN + 1, 8}));
  CHECK(test::equal(i - 1, {3}, ints{INT32_MAX - 1, INT32_MAX, 6}));
  CHECK(test::equal(-i, {3}, ints{-INT32_MAX, INT32_MIN, -7}));
  CHECK(test::equal(i * i, {3}, ints{1, 0, 49}));
  CHECK(test::equal(ca::array<ca::uint8>({200, 3}) + ca::array<ca::uint8>({100, 4}), {2}, ints{44, 7}));
  CHECK(test::equal(i(2) / 2, {}, doubles{3.5}));
  CHECK(test::equal(ca::array<int>({1, -1, 0}) / 0, {3}, doubles{INFINITY, -INFINITY, NAN}));
  CHECK(test::equal(i % 0, {3}, ints{0, 0, 0}));
  CHECK(test::equal(i % -4, {3}, ints{-1, 0, -1}));
}

TEST_CASE("operators: promotion is NumPy's") {
  CHECK(std::is_same_v<sum_t<float, double>, double>);
  CHECK(std::is_same_v<sum_t<int, float>, double>);
  CHECK(std::is_same_v<sum_t<ca::int16, float>, float>);
  CHECK(std::is_same_v<sum_t<ca::int8, ca::float16>, ca::float16>);
  CHECK(std::is_same_v<sum_t<ca::int16, ca::float16>, float>);
  CHECK(std::is_same_v<sum_t<ca::uint8, ca::int8>, ca::int16>);
  CHECK(std::is_same_v<sum_t<ca::uint32, ca::int32>, ca::int64>);
  CHECK(std::is_same_v<sum_t<ca::uint64, ca::int64>, double>);
  CHECK(std::is_same_v<sum_t<bool, ca::uint8>, ca::uint8>);
  CHECK(std::is_same_v<sum_t<ca::float16, ca::bfloat16>, float>);
  CHECK(std::is_same_v<sum_t<double, ca::complex64>, ca::complex128>);
  const auto f = ca::ones<float>({1});
  const auto i8 = ca::ones<ca::int8>({1});
  CHECK(is<decltype(f * 2.0), float>);
  CHECK(is<decltype(f + 1LL), float>);
  CHECK(is<decltype(i8 + 1), ca::int8>);
  CHECK(is<decltype(i8 + 1.5f), double>);
  CHECK(is<decltype(i8 + true), ca::int8>);
  CHECK(is<decltype(i8 / i8), double>);
  CHECK(is<decltype(ca::ones<ca::float16>({1}) * 2.0), ca::float16>);
  CHECK(test::equal(i8 + 1.5, {1}, doubles{2.5}));
  CHECK(test::equal(ca::array<ca::uint8>({200}) + ca::array<ca::int8>({-100}), {1}, ints{100}));
  CHECK(test::equal(ca::array<int>({16777217}) + ca::array<float>({0}), {1}, doubles{16777217}));
  CHECK(test::equal(ca::array<ca::uint8>({3}) < ca::array<ca::int8>({-1}), {1}, ints{0}));
}

TEST_CASE("operators: a scalar that does not fit throws where it is written") {
  const auto i8 = ca::ones<ca::int8>({1});
  CHECK(test::thrown<ca::value_error>([&] { i8 + 128; }) == "+: the scalar 128 does not fit int8");
  CHECK(test::thrown<ca::value_error>([&] { -129 * i8; }).find("-129") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::ones<ca::uint8>({1}) - (-1); }).find("uint8") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::ones<int>({1}) + 3000000000u; }).find("3000000000") !=
        std::string::npos);
  CHECK(test::equal(i8 + -128, {1}, ints{-127}));
  CHECK(test::equal(i8 + 127, {1}, ints{-128}));
}

TEST_CASE("operators: broadcasting and layouts") {
  const auto a = make();
  CHECK(test::equal(a + ca::array<float>({10, 20, 30}), {2, 3}, ints{11, 22, 33, 14, 25, 36}));
  CHECK(test::equal(a + ca::array<float>({{10}, {20}}), {2, 3}, ints{11, 12, 13, 24, 25, 26}));
  CHECK(test::equal(a(0)(_, ca::newaxis) - a(1), {3, 3}, ints{-3, -4, -5, -2, -3, -4, -1, -2, -3}));
  CHECK(test::equal(a + a(0, 0), {2, 3}, ints{2, 3, 4, 5, 6, 7}));
  CHECK(test::equal(a.t() + a.t(), {3, 2}, ints{2, 8, 4, 10, 6, 12}));
  CHECK(test::equal(a.t() + ca::array<float>({0, 1}), {3, 2}, ints{1, 5, 2, 6, 3, 7}));
  CHECK(test::equal(a + a(_, slice(none, none, -1)), {2, 3}, ints{4, 4, 4, 10, 10, 10}));
  CHECK(test::equal(a(_, slice(none, none, 2)) * a(slice(none, none, -1), slice(0, 2)), {2, 2}, ints{4, 15, 4, 12}));
  CHECK(test::equal(a(slice(0, 0)) + a(0), {0, 3}, ints{}));
  CHECK(test::equal(ca::zeros<float>({0}) + ca::zeros<float>({2, 1}), {2, 0}, ints{}));
  CHECK(test::equal(a(0, 1) * a(1, 1), {}, ints{10}));
  CHECK((a + ca::zeros<float>({4, 1, 1})).shape() == ca::shape{4, 2, 3});
  // enough elements for whole packs, rests and several blocks
  const auto n = ca::arange(5003);
  CHECK(ca::all(n + n(slice(none, none, -1)) == 5002).item());
  CHECK(ca::sum(n(slice(3, none, 7)) * 2 == ca::arange(6, 10006, 14)).item() == 715);
  // all eight axes
  const auto deep = ca::reshape(ca::arange(256), {2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(ca::all(ca::ravel(deep.t().copy().t() - deep) == 0).item());
  CHECK(ca::eval(deep.t() + deep)(1, 0, 0, 0, 0, 0, 0, 0).item() == 129);
}

TEST_CASE("operators: shapes that do not fit") {
  const auto a = make();
  CHECK(test::thrown<ca::shape_error>([&] { a + ca::zeros<float>({2}); }) ==
        "+: shapes (2, 3) and (2,) differ at axis 1");
  CHECK(test::thrown<ca::shape_error>([&] { a* a.t(); }).find("axis 0") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { a == ca::zeros<int>({0, 3}); }).find("==") == 0);
}

TEST_CASE("operators: complex numbers") {
  const auto z = ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(0, -1)});
  const auto p = test::values(z * z + 1);  // (1 + 2i)^2 + 1 = -2 + 4i, (-i)^2 + 1 = 0
  CHECK((p[0].re == -2 && p[0].im == 4 && p[1].re == 0 && p[1].im == 0));
  CHECK(test::equal(z == ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(0, 1)}), {2}, ints{1, 0}));
}

TEST_CASE("operators: streams keep their <<") {
  std::ostringstream s;
  s << 1 << ca::array<int>({1, 2}) << "x";
  CHECK(s.str() == "1[1 2]x");
}
