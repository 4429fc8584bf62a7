// Elementwise functions; expected values from NumPy 1.24 on float64.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;
using doubles = std::vector<double>;
using floats = std::vector<float>;
using ints = std::vector<int>;

/// As test::close, and NaN is near NaN.
template <class T>
bool near(const ca::ndarray<T>& x, const ca::shape& s, const doubles& expected, double relative = 2e-6) {
  const auto v = test::values(x);
  if (x.shape() != s || v.size() != expected.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double a = double(v[i]), b = expected[i];
    if (a == b || (a != a && b != b)) continue;
    if (!(std::fabs(a - b) <= relative * std::fmax(std::fabs(b), 1e-3))) return false;
  }
  return true;
}

array_t input() {
  return ca::array(floats{-2.5f, -1, -0.5f, 0, 0.5f, 1, 2.5f, float(NAN), float(INFINITY), -float(INFINITY)});
}

/// A function of floats at the ten places of input(): contiguous, every other one backwards, as a column, 0-d and
/// empty.
template <class F>
bool unary(const F& f, const doubles& expected) {
  const array_t x = input();
  const doubles backwards{expected[9], expected[7], expected[5], expected[3], expected[1]};
  return near(ca::eval(f(x)), {10}, expected) && near(ca::eval(f(x(slice(none, none, -2)))), {5}, backwards) &&
         near(ca::eval(f(ca::reshape(x, {2, 5}).t()(slice(0, 1)))), {1, 2}, {expected[0], expected[5]}) &&
         near(ca::eval(f(x(6))), {}, {expected[6]}) && ca::eval(f(ca::zeros<float>({2, 0}))).shape() == ca::shape{2, 0};
}

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;

}  // namespace

#define CHECK_UNARY(name, ...) CHECK(unary([](const array_t& x) { return ca::name(x); }, doubles{__VA_ARGS__}))

TEST_CASE("math: rounding and signs") {
  CHECK_UNARY(absolute, 2.5, 1, 0.5, 0, 0.5, 1, 2.5, NAN, INFINITY, INFINITY);
  CHECK_UNARY(negative, 2.5, 1, 0.5, 0, -0.5, -1, -2.5, NAN, -INFINITY, INFINITY);
  CHECK_UNARY(sign, -1, -1, -1, 0, 1, 1, 1, NAN, 1, -1);
  CHECK_UNARY(square, 6.25, 1, 0.25, 0, 0.25, 1, 6.25, NAN, INFINITY, INFINITY);
  CHECK_UNARY(floor, -3, -1, -1, 0, 0, 1, 2, NAN, INFINITY, -INFINITY);
  CHECK_UNARY(ceil, -2, -1, 0, 0, 1, 1, 3, NAN, INFINITY, -INFINITY);
  CHECK_UNARY(trunc, -2, -1, 0, 0, 0, 1, 2, NAN, INFINITY, -INFINITY);
  CHECK_UNARY(rint, -2, -1, 0, 0, 0, 1, 2, NAN, INFINITY, -INFINITY);
  CHECK(test::equal(ca::rint(ca::array(floats{1.5f, 3.5f, -1.5f, 8388609.f})), {4}, floats{2, 4, -2, 8388609.f}));
  // the sign of zero: 1 / -0
  const auto z = ca::array(floats{-0.f, -0.25f, 0.25f});
  CHECK(test::equal(1 / ca::rint(z), {3}, doubles{-INFINITY, -INFINITY, INFINITY}));
  CHECK(test::equal(1 / ca::negative(z(slice(0, 1))), {1}, doubles{INFINITY}));
}

TEST_CASE("math: exponentials, logarithms, roots") {
  CHECK_UNARY(exp, 0.0820849986238988, 0.3678794411714424, 0.6065306597126334, 1, 1.6487212707001282, 2.718281828459045,
              12.182493960703473, NAN, INFINITY, 0);
  CHECK_UNARY(exp2, 0.1767766952966369, 0.5, 0.7071067811865476, 1, 1.4142135623730951, 2, 5.656854249492381, NAN,
              INFINITY, 0);
  CHECK_UNARY(expm1, -0.9179150013761012, -0.6321205588285577, -0.3934693402873666, 0, 0.6487212707001282,
              1.7182818284590453, 11.182493960703473, NAN, INFINITY, -1);
  CHECK_UNARY(log, NAN, NAN, NAN, -INFINITY, -0.6931471805599453, 0, 0.916290731874155, NAN, INFINITY, NAN);
  CHECK_UNARY(log2, NAN, NAN, NAN, -INFINITY, -1, 0, 1.3219280948873624, NAN, INFINITY, NAN);
  CHECK_UNARY(log10, NAN, NAN, NAN, -INFINITY, -0.3010299956639812, 0, 0.3979400086720376, NAN, INFINITY, NAN);
  CHECK_UNARY(log1p, NAN, -INFINITY, -0.6931471805599453, 0, 0.4054651081081644, 0.6931471805599453, 1.252762968495368,
              NAN, INFINITY, NAN);
  CHECK_UNARY(sqrt, NAN, NAN, NAN, 0, 0.7071067811865476, 1, 1.5811388300841898, NAN, INFINITY, NAN);
  CHECK_UNARY(cbrt, -1.3572088082974534, -1, -0.7937005259840998, 0, 0.7937005259840998, 1, 1.3572088082974534, NAN,
              INFINITY, -INFINITY);
  // small arguments keep their digits
  CHECK(near(ca::eval(ca::expm1(ca::array(floats{1e-10f}))), {1}, {1.00000001335e-10}, 1e-3));
  CHECK(test::close(ca::log1p(ca::array(floats{1e-10f})) * 1e10, {1}, {1}));
  // the limits of float32
  CHECK(near(ca::eval(ca::exp(ca::array(floats{88.f, 89.f, -87.f, -110.f}))), {4},
             {1.6516362549940018e+38, INFINITY, 1.6458114310822737e-38, 0}, 4e-6));
}

TEST_CASE("math: trigonometric and hyperbolic functions") {
  CHECK_UNARY(sin, -0.5984721441039564, -0.8414709848078965, -0.47942553860420295, 0, 0.47942553860420295,
              0.8414709848078965, 0.5984721441039564, NAN, NAN, NAN);
  CHECK_UNARY(cos, -0.8011436155469338, 0.5403023058681397, 0.8775825618903725, 1, 0.8775825618903725,
              0.5403023058681397, -0.8011436155469338, NAN, NAN, NAN);
  CHECK_UNARY(tan, 0.7470222972386602, -1.557407724654902, -0.5463024898437905, 0, 0.5463024898437905,
              1.557407724654902, -0.7470222972386602, NAN, NAN, NAN);
  CHECK_UNARY(arcsin, NAN, -1.5707963267948966, -0.5235987755982989, 0, 0.5235987755982989, 1.5707963267948966, NAN,
              NAN, NAN, NAN);
  CHECK_UNARY(arccos, NAN, 3.141592653589793, 2.0943951023931957, 1.5707963267948966, 1.0471975511965976, 0, NAN, NAN,
              NAN, NAN);
  CHECK_UNARY(arctan, -1.1902899496825317, -0.7853981633974483, -0.4636476090008061, 0, 0.4636476090008061,
              0.7853981633974483, 1.1902899496825317, NAN, 1.5707963267948966, -1.5707963267948966);
  CHECK_UNARY(sinh, -6.0502044810397875, -1.1752011936438014, -0.5210953054937474, 0, 0.5210953054937474,
              1.1752011936438014, 6.0502044810397875, NAN, INFINITY, -INFINITY);
  CHECK_UNARY(cosh, 6.132289479663686, 1.5430806348152437, 1.1276259652063807, 1, 1.1276259652063807,
              1.5430806348152437, 6.132289479663686, NAN, INFINITY, INFINITY);
  CHECK_UNARY(tanh, -0.9866142981514303, -0.7615941559557649, -0.46211715726000974, 0, 0.46211715726000974,
              0.7615941559557649, 0.9866142981514303, NAN, 1, -1);
}

TEST_CASE("math: truth values") {
  CHECK_UNARY(isnan, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0);
  CHECK_UNARY(isinf, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1);
  CHECK_UNARY(isfinite, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0);
  CHECK_UNARY(logical_not, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  const auto i = ca::array<int>({-1, 0});
  CHECK(test::equal(ca::isnan(i), {2}, ints{0, 0}));
  CHECK(test::equal(ca::isfinite(i), {2}, ints{1, 1}));
  const auto a = ca::array<int>({0, 0, 2, 2});
  const auto b = ca::array<float>({0, 1, 0, NAN});
  CHECK(test::equal(ca::logical_and(a, b), {4}, ints{0, 0, 0, 1}));
  CHECK(test::equal(ca::logical_or(a, b), {4}, ints{0, 1, 1, 1}));
  CHECK(test::equal(ca::logical_xor(a, b), {4}, ints{0, 1, 1, 0}));
  CHECK(test::equal(ca::invert(ca::array<bool>({true, false})), {2}, ints{0, 1}));
  CHECK(test::equal(ca::invert(i), {2}, ints{0, -1}));
}
#undef CHECK_UNARY

TEST_CASE("math: binary functions at the edges, over a column and a row") {
  const auto a = ca::array<float>({{-7}, {-2.5f}, {0}, {2}, {7}, {INFINITY}, {-INFINITY}, {NAN}});
  const auto b = ca::array<float>({-3, 0, 2, INFINITY, -INFINITY, NAN});
  CHECK(near(ca::eval(ca::floor_divide(a, b)), {8, 6},
             {2,   -INFINITY, -4,  -1,  0,   NAN, 0,   -INFINITY, -2,  -1,  0,   NAN, 0,   NAN,      0,   0,   0,   NAN,
              -1,  INFINITY,  1,   0,   -1,  NAN, -3,  INFINITY,  3,   0,   -1,  NAN, NAN, INFINITY, NAN, NAN, NAN, NAN,
              NAN, -INFINITY, NAN, NAN, NAN, NAN, NAN, NAN,       NAN, NAN, NAN, NAN}));
  CHECK(near(ca::eval(ca::remainder(a, b)), {8, 6},
             {-1,  NAN, 1,   INFINITY, -7,  NAN, -2.5,      NAN, 1.5, INFINITY, -2.5, NAN, 0,         NAN, 0,   0,
              0,   NAN, -1,  NAN,      0,   2,   -INFINITY, NAN, -2,  NAN,      1,    7,   -INFINITY, NAN, NAN, NAN,
              NAN, NAN, NAN, NAN,      NAN, NAN, NAN,       NAN, NAN, NAN,      NAN,  NAN, NAN,       NAN, NAN, NAN}));
  CHECK(near(ca::eval(ca::maximum(a, b)), {8, 6},
             {-3, 0, 2, INFINITY, -7,        NAN, -2.5,     0,        2,        INFINITY, -2.5,     NAN,
              0,  0, 2, INFINITY, 0,         NAN, 2,        2,        2,        INFINITY, 2,        NAN,
              7,  7, 7, INFINITY, 7,         NAN, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, NAN,
              -3, 0, 2, INFINITY, -INFINITY, NAN, NAN,      NAN,      NAN,      NAN,      NAN,      NAN}));
  CHECK(near(ca::eval(ca::minimum(a, b)), {8, 6},
             {-7,        -7,        -7,        -7,        -INFINITY, NAN, -3,  -2.5, -2.5, -2.5,     -INFINITY, NAN,
              -3,        0,         0,         0,         -INFINITY, NAN, -3,  0,    2,    2,        -INFINITY, NAN,
              -3,        0,         2,         7,         -INFINITY, NAN, -3,  0,    2,    INFINITY, -INFINITY, NAN,
              -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, NAN, NAN, NAN,  NAN,  NAN,      NAN,       NAN}));
  CHECK(near(ca::eval(ca::hypot(a(slice(3, none)), b)), {5, 6},
             {3.605551242828369,
              2,
              2.8284270763397217,
              INFINITY,
              INFINITY,
              NAN,
              7.6157732009887695,
              7,
              7.280109882354736,
              INFINITY,
              INFINITY,
              NAN,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              INFINITY,
              NAN,
              NAN,
              NAN,
              INFINITY,
              INFINITY,
              NAN}));
  CHECK(near(ca::eval(ca::arctan2(a(slice(3, 7)), b)), {4, 6}, {2.5535902976989746,  1.5707963705062866,
                                                                0.7853981256484985,  0,
                                                                3.1415927410125732,  NAN,
                                                                1.9756882190704346,  1.5707963705062866,
                                                                1.292496681213379,   0,
                                                                3.1415927410125732,  NAN,
                                                                1.5707963705062866,  1.5707963705062866,
                                                                1.5707963705062866,  0.7853981852531433,
                                                                2.356194496154785,   NAN,
                                                                -1.5707963705062866, -1.5707963705062866,
                                                                -1.5707963705062866, -0.7853981852531433,
                                                                -2.356194496154785,  NAN}));
  CHECK(near(ca::eval(ca::copysign(a(_, 0), ca::array<float>(floats{-1, 1, 1, -1, -0.f, -1, 1, 1}))), {8},
             {-7, 2.5, 0, -2, -7, -INFINITY, INFINITY, NAN}));
  CHECK(near(ca::eval(ca::power(ca::array<float>({{0.25}, {2}, {-3}}), ca::array<float>({-1, 0, 0.5, 2, 3}))), {3, 5},
             {4, 1, 0.5, 0.0625, 0.015625, 0.5, 1, 1.4142135623730951, 4, 8, -1. / 3, 1, NAN, 9, -27}));
  CHECK(near(ca::eval(ca::divide(a(slice(0, 5), 0), b(slice(1, 2)))), {5},
             {-INFINITY, -INFINITY, NAN, INFINITY, INFINITY}));
}

TEST_CASE("math: integers as settled: x // 0 and x % 0 are 0, the rest wraps") {
  const auto i = ca::array<int>({{-7}, {-1}, {0}, {1}, {7}, {INT32_MIN}}), j = ca::array<int>({-3, -1, 0, 2});
  CHECK(test::equal(
      ca::floor_divide(i, j), {6, 4},
      ints{2, 7, 0, -4, 0, 1, 0, -1, 0, 0, 0, 0, -1, -1, 0, 0, -3, -7, 0, 3, 715827882, INT32_MIN, 0, -1073741824}));
  CHECK(test::equal(ca::remainder(i, j), {6, 4},
                    ints{-1, 0, 0, 1, -1, 0, 0, 1, 0, 0, 0, 0, -2, 0, 0, 1, -2, 0, 0, 1, -2, 0, 0, 0}));
  CHECK(test::equal(ca::maximum(i, j), {6, 4},
                    ints{-3, -1, 0, 2, -1, -1, 0, 2, 0, 0, 0, 2, 1, 1, 1, 2, 7, 7, 7, 7, -3, -1, 0, 2}));
  CHECK(test::equal(ca::power(ca::array<int>({-2, 3, 0}), ca::array<int>({3, 4, 0})), {3}, ints{-8, 81, 1}));
  CHECK(test::equal(ca::power(ca::array<ca::int8>({2, 3}), 7), {2}, ints{-128, -117}));  // 2187 % 256 - 256
  CHECK(test::equal(ca::absolute(ca::array<ca::int8>({-128, -5})), {2}, ints{-128, 5}));
  CHECK(test::equal(ca::negative(ca::array<ca::uint8>({1, 0})), {2}, ints{255, 0}));
  CHECK(test::equal(ca::sign(ca::array<int>({-9, 0, 9})), {3}, ints{-1, 0, 1}));
  CHECK(test::equal(ca::floor_divide(ca::array<ca::uint8>({200, 7}), ca::array<ca::uint8>({0, 2})), {2}, ints{0, 3}));
}

TEST_CASE("math: dtypes of functions") {
  const auto i8 = ca::array<ca::int8>({4, 9});
  const auto b = ca::array<bool>({false, true});
  const auto i16 = ca::ones<ca::int16>({1});
  const auto i32 = ca::array<int>({4, 9});
  const auto f16 = ca::array<ca::float16>({4, 9});
  CHECK(is<decltype(ca::sqrt(i8)), ca::float16>);
  CHECK(is<decltype(ca::sqrt(i16)), float>);
  CHECK(is<decltype(ca::sqrt(i32)), double>);
  CHECK(is<decltype(ca::sqrt(f16)), ca::float16>);
  CHECK(is<decltype(ca::floor(i32)), int>);
  CHECK(is<decltype(ca::isnan(i32)), bool>);
  CHECK(is<decltype(ca::divide(i8, i8)), double>);
  CHECK(is<decltype(ca::hypot(i16, i16)), float>);
  CHECK(test::equal(ca::sqrt(i8), {2}, ints{2, 3}));
  CHECK(test::equal(ca::sqrt(i32), {2}, ints{2, 3}));
  CHECK(test::equal(ca::sqrt(f16), {2}, ints{2, 3}));
  CHECK(test::equal(ca::abs(i32 - 6), {2}, ints{2, 3}));
  CHECK(test::equal(ca::fabs(b), {2}, ints{0, 1}));
  CHECK(test::equal(ca::mod(i32, 5), {2}, ints{4, 4}));
}

TEST_CASE("math: where") {
  const auto a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
  CHECK(test::equal(ca::where(a > 2, a, 0), {2, 3}, ints{0, 0, 3, 4, 5, 6}));
  CHECK(test::equal(ca::where(a > 2, 0.5, a), {2, 3}, doubles{1, 2, 0.5, 0.5, 0.5, 0.5}));
  CHECK(test::equal(ca::where(a(_, slice(0, 1)) > 2, a(0), -a(0, slice(none, none, -1))), {2, 3},
                    ints{-3, -2, -1, 1, 2, 3}));
  CHECK(test::equal(ca::where(a > 2, 1, -1), {2, 3}, ints{-1, -1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::where(ca::array<int>({0, 2}), ca::array<int>({1, 2}), 7), {2}, ints{7, 2}));
  CHECK(test::equal(ca::where(ca::array<float>({NAN, 0}), 1.f, 2.f), {2}, ints{1, 2}));  // NaN is not 0
  CHECK(test::equal(ca::where(ca::zeros<bool>({0}), a(0, 0), 1), {0}, ints{}));
  CHECK(is<decltype(ca::where(a > 2, a, 0.5)), float>);
  CHECK(is<decltype(ca::where(a > 2, a, ca::zeros<double>({}))), double>);
  CHECK(test::thrown<ca::shape_error>([&] { ca::where(a > 2, a(0), a.t()); }).find("where") == 0);
}

TEST_CASE("math: clip") {
  const auto a = ca::array<float>({-2, 0.5, 3, NAN, INFINITY, -INFINITY});
  CHECK(near(ca::eval(ca::clip(a, -1, 1)), {6}, {-1, 0.5, 1, NAN, 1, -1}));
  CHECK(near(ca::eval(ca::clip(a, 2, 1)), {6}, {1, 1, 1, NAN, 1, 1}));
  CHECK(near(ca::eval(ca::clip(a(slice(0, 3)), NAN, 1)), {3}, {NAN, NAN, NAN}));
  CHECK(near(ca::eval(ca::clip(a(slice(0, 2)), ca::array<float>({{-1}, {1}}), ca::array<float>({2, 0.75}))), {2, 2},
             {-1, 0.5, 1, 0.75}));
  CHECK(test::equal(ca::clip(ca::array<int>({-5, 5}), -2, 2), {2}, ints{-2, 2}));
  CHECK(test::thrown<ca::value_error>([] { ca::clip(ca::zeros<ca::uint8>({2}), -2, -1); }) ==
        "clip: the scalar -1 does not fit uint8");
}

TEST_CASE("math: clip of integers by scalars beyond their dtype") {
  const auto u = ca::array<ca::uint8>({0, 7, 255});
  CHECK(test::equal(ca::clip(u, -5, 100), {3}, ints{0, 7, 100}));
  CHECK(test::equal(ca::clip(u, 3, 300), {3}, ints{3, 7, 255}));
  CHECK(test::equal(ca::clip(u, -5, 300), {3}, ints{0, 7, 255}));
  CHECK(test::equal(ca::clip(u, ca::array<ca::uint8>({1, 1, 1}), 1000), {3}, ints{1, 7, 255}));
  CHECK(test::equal(ca::clip(ca::array<int>({INT_MIN, 0, INT_MAX}), INT64_MIN, INT64_MAX), {3},
                    ints{INT_MIN, 0, INT_MAX}));
}

TEST_CASE("math: integers to integer powers") {
  CHECK(test::equal(ca::power(ca::array<int>({-2, 3}), ca::array<ca::int8>({3, 2})), {2}, ints{-8, 9}));
  CHECK(test::equal(ca::power(ca::array<int>({-2, 3}), ca::array<ca::uint8>({3, 2})), {2}, ints{-8, 9}));
  CHECK(test::equal(ca::power(ca::array<int>({2, 4}), -1.), {2}, std::vector<double>{0.5, 0.25}));
  CHECK(test::equal(ca::power(ca::array<float>({2, 4}), ca::array<ca::int8>({-1, -2})), {2},
                    std::vector<double>{0.5, 0.0625}));
  CHECK(ca::eval(ca::power(ca::zeros<int>({0}), ca::zeros<int>({0}))).size() == 0);
  // exponents are computed once
  const auto base = ca::array<int>({3, 3}), exponents = ca::array<int>({1, 2});
  const auto before = ca::stats();
  const ca::ndarray<int> powers = ca::power(base, exponents + 1);
  CHECK((ca::stats() - before).kernels == 2);
  CHECK(test::equal(powers, {2}, ints{9, 27}));
  // nothing is written where an exponent is wrong, as far as the host can know
  ca::ndarray<int> x = ca::array<int>({2, 3});
  CHECK(test::thrown<ca::value_error>([&] {
          ca::eval(ca::power(x, ca::array<int>({1, 1, -4})(slice(ca::none, ca::none, -2))));
          ca::synchronize();
        }) == "power: an integer to the negative power -4");
  CHECK(test::equal(ca::power(x, 2), {2}, ints{4, 9}));
}

TEST_CASE("math: astype") {
  const auto a = ca::array<float>({-2.7, 2.7, 300, 1e20, -1e20, NAN, INFINITY});
  CHECK(test::equal(ca::astype<int>(a), {7}, ints{-2, 2, 300, INT32_MAX, INT32_MIN, 0, INT32_MAX}));
  CHECK(test::equal(ca::astype<ca::uint8>(a), {7}, ints{0, 2, 255, 255, 0, 0, 255}));
  CHECK(test::equal(ca::astype<ca::int8>(ca::array<int>({200, -129})), {2}, ints{-56, 127}));  // integers wrap
  CHECK(test::equal(ca::astype<bool>(a(slice(none, none, -3))), {3}, ints{1, 1, 1}));
  CHECK(test::equal(ca::astype<bool>(ca::array<float>({0, -0.5, NAN})), {3}, ints{0, 1, 1}));
  CHECK(test::equal(ca::astype<float>(ca::astype<ca::float16>(ca::array<float>({1.0009765625, 65504, 1e6, 2049}))), {4},
                    doubles{1.0009765625, 65504, INFINITY, 2048}));
  CHECK(test::equal(ca::astype<float>(ca::astype<ca::bfloat16>(ca::array<float>({1, 3.140625, 257}))), {3},
                    doubles{1, 3.140625, 256}));
  CHECK(test::equal(ca::astype<float>(a), {7}, test::values(a)));
  CHECK(ca::eval(ca::astype<int>(ca::zeros<float>({0, 2}))).shape() == ca::shape{0, 2});
}

namespace {

struct huber {
  CUDARRAY_HD float operator()(float e) const { return e < 1 ? e * e / 2 : e - 0.5f; }
};
struct scaled_sum {
  float scale;
  CUDARRAY_HD float operator()(float a, int b) const { return scale * (a + float(b)); }
};
struct is_even {
  CUDARRAY_HD bool operator()(int a) const { return a % 2 == 0; }
};

}  // namespace

TEST_CASE("math: a function of one's own") {
  const auto a = ca::array<float>({0.5, -2, 3});
  CHECK(test::equal(ca::map(huber{}, ca::abs(a)), {3}, doubles{0.125, 1.5, 2.5}));
  CHECK(test::equal(ca::map(scaled_sum{2}, a, ca::array<int>({{1}, {2}})), {2, 3}, floats{3, -2, 8, 5, 0, 10}));
  CHECK(test::equal(ca::map(is_even{}, ca::array<int>({1, 2})(slice(none, none, -1))), {2}, ints{1, 0}));
  CHECK(is<decltype(ca::map(is_even{}, ca::array<int>({1}))), bool>);
  CHECK(test::equal(1 + ca::map(huber{}, a(0)) * 8, {}, ints{2}));
  CHECK(test::equal(ca::map(scaled_sum{2}, a, 3), {3}, floats{7, 2, 12}));  // numbers beside arrays
  CHECK(ca::eval(ca::map(huber{}, ca::zeros<float>({0}))).size() == 0);
}

TEST_CASE("math: a lambda of one's own") {
  const auto a = ca::array({0.5, -2, 3});
  const float scale = 2;
  CHECK(test::equal(ca::map([] CUDARRAY_HD(float e) { return e * e; }, a), {3}, doubles{0.25, 4, 9}));
  CHECK(test::equal(
      ca::map([scale] CUDARRAY_HD(float e, int k) { return scale * e + float(k); }, a, ca::array<int>({{1}, {2}})),
      {2, 3}, floats{2, -3, 7, 3, -2, 8}));
  const auto host = ca::array<float, ca::cpu>({0.5, -2, 3});
  CHECK(test::equal(ca::map([scale](float e) { return scale * e; }, host), {3}, floats{1, -4, 6}));
}

TEST_CASE("math: shapes that do not fit") {
  const auto a = ca::zeros<float>({2, 3});
  CHECK(test::thrown<ca::shape_error>([&] { ca::maximum(a, ca::zeros<float>({2})); }) ==
        "maximum: shapes (2, 3) and (2,) differ at axis 1");
  CHECK(test::thrown<ca::shape_error>([&] { ca::clip(a, ca::zeros<float>({2}), 1); }).find("clip") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::map(scaled_sum{1}, a, ca::zeros<int>({4})); }).find("map") == 0);
}

TEST_CASE("math: the names of the array API standard") {
  const auto x = ca::array<double>({0.25, 0.5}), y = ca::array<double>({1.25, 1.5});
  const auto same = [](const auto& a, const auto& b) { return ca::array_equal(a, b); };
  CHECK(same(ca::acos(x), ca::arccos(x)));
  CHECK(same(ca::asin(x), ca::arcsin(x)));
  CHECK(same(ca::atan(x), ca::arctan(x)));
  CHECK(same(ca::acosh(y), ca::arccosh(y)));
  CHECK(same(ca::asinh(x), ca::arcsinh(x)));
  CHECK(same(ca::atanh(x), ca::arctanh(x)));
  CHECK(same(ca::atan2(x, 2), ca::arctan2(x, 2)));
  CHECK(same(ca::pow(2, x), ca::power(2, x)));
  const auto n = ca::array<int>({1, 6});
  CHECK(test::equal(ca::bitwise_invert(n), {2}, ints{-2, -7}));
  CHECK(test::equal(ca::bitwise_not(n), {2}, ints{-2, -7}));
  CHECK(test::equal(ca::bitwise_left_shift(n, 2), {2}, ints{4, 24}));
  CHECK(test::equal(ca::bitwise_right_shift(n, n), {2}, ints{0, 0}));
  CHECK(test::equal(ca::pow(n, ca::array<int>({3, 2})), {2}, ints{1, 36}));
  CHECK_THROWS_AS(ca::eval(ca::pow(n, -1)), ca::value_error);
  const auto r = ca::zeros<double>({2});
  ca::asin(x, ca::out(r));
  CHECK(same(r, ca::arcsin(x)));
  ca::pow(x, 2, ca::out(r));
  CHECK(test::equal(r, {2}, doubles{0.0625, 0.25}));
  CHECK(test::equal(ca::concat({x, y}), {4}, doubles{0.25, 0.5, 1.25, 1.5}));
  CHECK(ca::concat(std::tuple(ca::ones<int>({2, 1}), ca::ones<float>({2, 2})), 1).shape() == ca::shape{2, 3});
  CHECK(ca::permute_dims(ca::zeros({2, 3, 4}), {2, 0, 1}).shape() == ca::shape{4, 2, 3});
  CHECK(test::equal(ca::top_k(x, 1).values, {1}, doubles{0.5}));
  CHECK(test::equal(ca::top_k(x, 1, {.largest = false}).indices, {1}, ints{0}));
}
