// Elementwise functions that round, repair, compare and take numbers apart: edges and dtypes, as NumPy and SciPy.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ints = std::vector<int>;
using doubles = std::vector<double>;

const double inf = HUGE_VAL, none = NAN;
const float largest = 3.4028234663852886e38F;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;
template <class P, class T, class U = T>
constexpr bool pair_is = is<typename P::first_type, T>&& is<typename P::second_type, U>;

const auto f64 = [](const doubles& v) { return ca::array<double>(v); };

template <class T>
using line = decltype(ca::ones<T>({2}));

}  // namespace

TEST_CASE("numbers: digamma") {
  const auto x = ca::array<double>({1, 0.5, 10, 1e-8, -0.5, -1.25, -20.75, 3.5, 1e10, -1e-8});
  const doubles values{-0.5772156649015329, -1.9635100260214235, 2.251752589066721,    -100000000.57721564,
                       0.03648997397857652, 3.714139120213528,   -0.08514352173418716, 1.103156640645243,
                       23.025850929890456,  99999999.42278431};
  CHECK(test::close(ca::digamma(x), {10}, values, 1e-14));
  CHECK(test::close(ca::digamma(ca::array<float>({1, -0.5, 10})), {3}, {values[0], values[4], values[2]}, 1e-7));
  CHECK(test::equal(ca::digamma(ca::array<double>({0, -0.0, -1, -300, inf, -inf, none})), {7},
                    doubles{-inf, inf, none, none, inf, none, none}));
  CHECK(ca::digamma(ca::full<double>({}, 1)).shape() == ca::shape{});
  CHECK(std::fabs(float(ca::eval(ca::digamma(ca::array<ca::float16>({10}))).item()) - 2.251752589F) < 1e-3F);
  static_assert(is<decltype(ca::digamma(line<int>())), double>);
  static_assert(is<decltype(ca::digamma(line<float>())), float>);
  static_assert(is<decltype(ca::digamma(line<ca::float16>())), ca::float16>);
  static_assert(is<decltype(ca::digamma(line<ca::bfloat16>())), ca::bfloat16>);
}

TEST_CASE("numbers: polygamma") {
  const auto x = ca::array<double>({1, 0.5, 12.25, -0.5, -1.25, -20.75, 1e-3});
  CHECK(test::close(ca::polygamma(1, x), {7},
                    {1.6449340668482264, 4.934802200544679, 0.0850551429881632, 8.934802200544679, 19.181879647671607,
                     19.6921586563725, 1000001.6425331958},
                    1e-14));
  CHECK(test::close(ca::polygamma(2, x), {7},
                    {-2.4041138063191885, -16.82879664423432, -0.007230035788993344, -0.82879664423432,
                     123.72136678366236, -124.02732002961224, -2000000002.3976321},
                    1e-14));
  CHECK(test::close(ca::polygamma(3, x), {7},
                    {6.493939402266829, 97.40909103400244, 0.0012284305869150693, 193.40909103400244,
                     1558.2209125348506, 1558.5452483477538, 6000000000006.469},
                    1e-14));
  CHECK(test::close(ca::polygamma(10, x), {7},
                    {-3630593.311606629, -7431824508.858769, -7.001555783984141e-06, -42108.85876897549,
                     15220204740174.338, -15220204740668.342, -3.628799999999999e+39},
                    1e-13));
  CHECK(test::equal(ca::polygamma(0, x), {7}, test::values(ca::digamma(x))));
  CHECK(test::close(ca::polygamma(ca::array<double>({1, 2, 0}), f64({1, 1, 1})), {3},
                    {1.6449340668482264, -2.4041138063191885, -0.5772156649015329}, 1e-14));
  CHECK(test::equal(ca::polygamma(1, f64({0, -3, none})), {3}, doubles{inf, inf, none}));
  CHECK(test::equal(ca::polygamma(2, f64({0, -3})), {2}, doubles{-inf, -inf}));
  CHECK(test::equal(ca::polygamma(ca::array<double>({-1, 1.5, none}), f64({2, 2, 2})), {3}, doubles{none, none, none}));
  static_assert(is<decltype(ca::polygamma(1, line<float>())), float>);
  static_assert(is<decltype(ca::polygamma(line<int>(), line<int>())), double>);
}

TEST_CASE("numbers: zeta") {
  CHECK(test::close(ca::zeta(f64({2, 3, 1.5, 20, 2, 4}), f64({1, 1, 0.25, 3, -1.5, -2.25})), {6},
                    {1.6449340668482266, 1.202056903159594, 10.213055360466601, 2.8771746654611316e-10,
                     9.379246644989124, 259.74250386478576},
                    1e-14));
  CHECK(test::equal(ca::zeta(f64({1, 0.5, 3, 2.5, none, 2, inf}), f64({2, 1, 0, -0.5, 1, none, 1})), {7},
                    doubles{inf, none, inf, none, none, none, 1}));
  CHECK(test::close(ca::zeta(2, ca::array<float>({1})), {1}, {1.6449340668482266}, 1e-7));
}

TEST_CASE("numbers: Bessel functions") {
  const auto x = f64({0, 1e-3, 1, -2.5, 10, 24.9, 25.1, 60, -100, 700});
  // of mpmath
  CHECK(
      test::close(ca::i0(x), {10},
                  {1, 1.0000002500000156, 1.2660658777520084, 3.289839144050123, 2815.7166284662544, 5235629675.804422,
                   6369018573.803503, 5.894077055609801e+24, 1.0737517071310738e+42, 1.5295933476718737e+302},
                  4e-15));
  CHECK(test::close(
      ca::i1(x), {10},
      {0, 0.0005000000625000026, 0.565159103992485, -2.5167162452886984, 2670.9883037012546, 5129395695.925742,
       6240828249.87398, 5.844751588390468e+24, -1.0683693903381625e+42, 1.5285003902339006e+302},
      4e-15));
  CHECK(test::equal(ca::i0(f64({inf, -inf, none, 1e300})), {4}, doubles{inf, inf, none, inf}));
  CHECK(test::equal(ca::i1(f64({inf, -inf, none, -1e308})), {4}, doubles{inf, -inf, none, -inf}));
  CHECK(test::close(ca::i0(ca::array<float>({1, 80})), {2}, {1.2660658777520084, 2.4751784043341704e+33}, 2e-7));
  static_assert(is<decltype(ca::i0(line<int>())), double>);
}

TEST_CASE("numbers: frexp and ldexp") {
  const auto x = f64({0, 1, -3.5, 1e-320, inf, none, -inf, 1e308});
  const auto [m, n] = ca::frexp(x);
  CHECK(test::equal(m, {8}, doubles{0, 0.5, -0.875, 0.98828125, inf, none, -inf, 0.5562684646268004}));
  CHECK(test::equal(n, {8}, ints{0, 1, 2, -1063, 0, 0, 0, 1024}));
  CHECK(test::equal(ca::ldexp(m, n), {8}, test::values(x)));
  const float tiny = 1.401298464324817e-45F;
  CHECK(test::equal(ca::ldexp(ca::array<float>({1, 3, -1, 1}), ca::array<int>({-149, 126, 200, -151})), {4},
                    std::vector<float>{tiny, 2.5521177519070385e+38F, -HUGE_VALF, 0}));
  CHECK(test::equal(ca::ldexp(ca::arange(4), 3), {4}, ints{0, 8, 16, 24}));
  static_assert(pair_is<decltype(ca::frexp(line<float>())), float, ca::int32>);
  static_assert(pair_is<decltype(ca::frexp(line<ca::float16>())), ca::float16, ca::int32>);
  static_assert(is<decltype(ca::ldexp(line<float>(), line<ca::int64>())), float>);
  const auto small = ca::astype<ca::bfloat16>(ca::array<float>({0x1p-133f}));
  CHECK(float(ca::eval(ca::ldexp(small, ca::array<int>({257}))).item()) == 0x1p124f);
  CHECK(float(ca::eval(ca::ldexp(small, 257)).item()) == 0x1p124f);
  CHECK(test::equal(ca::ldexp(2.5, ca::array<int>({1, -1})), {2}, doubles{5, 1.25}));
  const auto [h, k] = ca::frexp(ca::array<ca::float16>({6e-8f, 3}));
  CHECK(test::equal(h, {2}, std::vector<float>{0.5f, 0.75f}));
  CHECK(test::equal(k, {2}, ints{-23, 2}));
}

TEST_CASE("numbers: polygamma of large numbers") {
  CHECK(test::close(ca::polygamma(1, f64({1e10})) * 1e10, {1}, {1.00000000005}, 1e-14));
  CHECK(test::close(ca::polygamma(1, f64({1e100})) * 1e100, {1}, {1}, 1e-14));
  CHECK(test::equal(ca::polygamma(1, f64({inf})), {1}, ints{0}));
  CHECK(test::equal(ca::polygamma(1, ca::array<float>({inf})), {1}, ints{0}));
  CHECK(test::close(ca::polygamma(1, f64({1e200})) * 1e200, {1}, {1}, 1e-14));
}

TEST_CASE("numbers: round") {
  const auto a = f64({0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.4, -0.4});
  CHECK(test::equal(ca::round(a), {8}, ints{0, 2, 2, 0, -2, -2, 0, 0}));
  CHECK(test::equal(ca::signbit(ca::round(a)), {8}, ints{0, 0, 0, 1, 1, 1, 0, 1}));
  CHECK(test::equal(ca::round(f64({1.005, 2.675, -1.115, 0.125, 0.375, 123.456}), 2), {6},
                    doubles{1, 2.68, -1.12, 0.12, 0.38, 123.46}));
  CHECK(test::equal(ca::round(f64({15, 25, 35, -15, -25, 1234.5, 4.9}), -1), {7}, ints{20, 20, 40, -20, -20, 1230, 0}));
  CHECK(test::equal(ca::round(f64({1249, 1250, 1350}), -2), {3}, ints{1200, 1200, 1400}));
  CHECK(test::equal(ca::round(ca::array<float>({1.005, 2.675, 0.125, 0.375}), 2), {4},
                    std::vector<float>{1, 2.68F, 0.12F, 0.38F}));
  CHECK(test::equal(ca::round(f64({inf, -inf, none}), 2), {3}, doubles{inf, -inf, none}));
  CHECK(test::equal(ca::round(f64({inf, none}), -2), {2}, doubles{inf, none}));
  const auto i = ca::array<int>({15, 25, 35, -15, -25, 1234, 4});
  CHECK(test::equal(ca::round(i, -1), {7}, ints{20, 20, 40, -20, -20, 1230, 0}));
  CHECK(test::equal(ca::round(i), {7}, test::values(i)));
  CHECK(test::equal(ca::round(i, 3), {7}, test::values(i)));
  CHECK(test::equal(ca::round(ca::array<ca::uint8>({15, 25, 250}), -1), {3}, ints{20, 20, 250}));
  CHECK(test::equal(ca::round(ca::array<ca::int64>({49, 50, 51, 150}), -2), {4}, ints{0, 0, 100, 200}));
  CHECK(test::equal(ca::round(ca::array<ca::float16>({2.5, 3.5, -0.75})), {3}, ints{2, 4, -1}));
  CHECK(ca::eval(ca::round(ca::full<double>({}, 1.26), 1)).item() == 1.3);
  static_assert(is<decltype(ca::round(line<int>(), -1)), int>);
  static_assert(is<decltype(ca::round(line<ca::uint8>())), ca::uint8>);
  static_assert(is<decltype(ca::round(line<float>(), 1)), float>);
  static_assert(is<decltype(ca::round(line<ca::float16>())), ca::float16>);
}

TEST_CASE("numbers: nan_to_num") {
  const doubles odd{none, inf, -inf, 1};
  CHECK(test::equal(ca::nan_to_num(f64(odd)), {4}, doubles{0, 1.7976931348623157e308, -1.7976931348623157e308, 1}));
  CHECK(test::equal(ca::nan_to_num(ca::astype<float>(f64(odd))), {4}, std::vector<float>{0, largest, -largest, 1}));
  CHECK(test::equal(ca::nan_to_num(ca::astype<ca::float16>(f64(odd))), {4}, ints{0, 65504, -65504, 1}));
  CHECK(test::equal(ca::nan_to_num(ca::astype<ca::bfloat16>(f64(odd))), {4}, doubles{0, 0x1.fep127, -0x1.fep127, 1}));
  CHECK(test::equal(ca::nan_to_num(f64(odd), {.nan = 7, .posinf = 8, .neginf = -9}), {4}, ints{7, 8, -9, 1}));
  CHECK(test::equal(ca::nan_to_num(ca::astype<float>(f64(odd)), {.nan = -1}), {4},
                    std::vector<float>{-1, largest, -largest, 1}));
  CHECK(test::equal(ca::nan_to_num(f64(odd), {.nan = none, .posinf = 1, .neginf = 2}), {4}, doubles{none, 1, 2, 1}));
  CHECK(test::equal(ca::nan_to_num(ca::array<int>({1, -2})), {2}, ints{1, -2}));
  CHECK(test::equal(ca::nan_to_num(ca::array<bool>({true, false})), {2}, ints{1, 0}));
  CHECK(ca::nan_to_num(ca::zeros<float>({0, 2})).shape() == ca::shape{0, 2});
  static_assert(is<decltype(ca::nan_to_num(line<int>())), int>);
  static_assert(is<decltype(ca::nan_to_num(line<bool>())), bool>);
  static_assert(is<decltype(ca::nan_to_num(line<float>())), float>);
  static_assert(is<decltype(ca::nan_to_num(line<ca::float16>())), ca::float16>);
}

TEST_CASE("numbers: divmod and fmod of integers") {
  const auto x = ca::array<int>({7, -7, 7, -7, 5, 0}), y = ca::array<int>({3, 3, -3, -3, 0, 0});
  const auto [quotient, left] = ca::divmod(x, y);
  CHECK(test::equal(quotient, {6}, ints{2, -3, -3, 2, 0, 0}));
  CHECK(test::equal(left, {6}, ints{1, 2, -2, -1, 0, 0}));
  CHECK(test::equal(ca::fmod(x, y), {6}, ints{1, -1, 1, -1, 0, 0}));
  const int lowest = -2147483647 - 1;
  CHECK(test::equal(ca::fmod(ca::array<int>({lowest}), -1), {1}, ints{0}));
  CHECK(test::equal(ca::divmod(17, ca::array<int>({5, -5})).second, {2}, ints{2, -3}));
  CHECK(test::equal(ca::divmod(ca::array<int>({{7}, {8}}), ca::array<int>({2, 3})).first, {2, 2}, ints{3, 2, 4, 2}));
  static_assert(pair_is<decltype(ca::divmod(line<int>(), line<int>())), int>);
  static_assert(pair_is<decltype(ca::divmod(line<ca::uint8>(), line<ca::uint8>())), ca::uint8>);
  static_assert(pair_is<decltype(ca::divmod(line<bool>(), line<bool>())), ca::int8>);
  static_assert(pair_is<decltype(ca::divmod(line<float>(), 2)), float>);
  static_assert(is<decltype(ca::fmod(line<bool>(), line<bool>())), ca::int8>);
  static_assert(is<decltype(ca::fmod(line<int>(), line<float>())), double>);
}

TEST_CASE("numbers: divmod and fmod of floats") {
  const auto x = f64({7.5, -7.5, 7.5, -7.5, 1, -1, 0, inf, 2, -0.0, none, -1});
  const auto y = f64({2, 2, -2, -2, 0, 0, 0, 2, inf, 3, 1, inf});
  const auto [quotient, left] = ca::divmod(x, y);
  CHECK(test::equal(quotient, {12}, doubles{3, -4, -4, 3, inf, -inf, none, none, 0, 0, none, -1}));
  CHECK(test::equal(left, {12}, doubles{1.5, 0.5, -0.5, -1.5, none, none, none, none, 2, 0, none, inf}));
  CHECK(ca::eval(ca::signbit(quotient))(9).item());
  CHECK(!ca::eval(ca::signbit(left))(9).item());
  CHECK(test::equal(ca::fmod(x, y), {12}, doubles{1.5, -1.5, 1.5, -1.5, none, none, none, none, 2, 0, none, -1}));
  CHECK(ca::eval(ca::signbit(ca::fmod(x, y)))(9).item());
  CHECK(
      test::equal(ca::fmod(ca::array<ca::float16>({5.5, -5.5}), ca::array<ca::float16>({2})), {2}, doubles{1.5, -1.5}));
  static_assert(is<decltype(ca::fmod(line<ca::float16>(), line<ca::float16>())), ca::float16>);
}

TEST_CASE("numbers: modf") {
  const auto [fraction, whole] = ca::modf(f64({1.5, -2.25, inf, -inf, none, -0.0, -3, 0.25}));
  CHECK(test::equal(fraction, {8}, doubles{0.5, -0.25, 0, 0, none, 0, 0, 0.25}));
  CHECK(test::equal(whole, {8}, doubles{1, -2, inf, -inf, none, 0, -3, 0}));
  const auto finite = f64({2, -0.0, -3, inf, -inf, -0.5});
  CHECK(test::equal(ca::signbit(ca::modf(finite).first), {6}, ints{0, 1, 1, 0, 1, 1}));
  CHECK(test::equal(ca::signbit(ca::modf(finite).second), {6}, ints{0, 1, 1, 0, 1, 1}));
  CHECK(test::equal(ca::modf(ca::array<ca::float16>({-1.75})).first, {1}, doubles{-0.75}));
  CHECK(test::equal(ca::modf(ca::array<int>({3, -4})).first, {2}, ints{0, 0}));
  CHECK(test::equal(ca::modf(ca::array<int>({3, -4})).second, {2}, ints{3, -4}));
  CHECK(ca::eval(ca::modf(ca::full<double>({}, 1.5)).first).item() == 0.5);
  static_assert(pair_is<decltype(ca::modf(line<float>())), float>);
  static_assert(pair_is<decltype(ca::modf(line<double>())), double>);
  static_assert(pair_is<decltype(ca::modf(line<ca::float16>())), ca::float16>);
  CHECK((pair_is<decltype(ca::modf(line<int>())), double>));
  CHECK((pair_is<decltype(ca::modf(line<ca::int8>())), ca::float16>));
}

TEST_CASE("numbers: signs and infinities") {
  const auto x = f64({inf, -inf, none, 0, -0.0, 1, -1e-310});
  CHECK(test::equal(ca::isposinf(x), {7}, ints{1, 0, 0, 0, 0, 0, 0}));
  CHECK(test::equal(ca::isneginf(x), {7}, ints{0, 1, 0, 0, 0, 0, 0}));
  CHECK(test::equal(ca::signbit(x), {7}, ints{0, 1, std::signbit(none) ? 1 : 0, 0, 1, 0, 1}));
  CHECK(test::equal(ca::signbit(ca::array<float>({-0.0, 0, -inf})), {3}, ints{1, 0, 1}));
  CHECK(test::equal(ca::signbit(ca::array<ca::float16>({-0.0, 0, -2})), {3}, ints{1, 0, 1}));
  CHECK(test::equal(ca::signbit(ca::array<ca::bfloat16>({-0.0, 0, -2})), {3}, ints{1, 0, 1}));
  CHECK(test::equal(ca::signbit(ca::array<int>({-1, 0, 1})), {3}, ints{1, 0, 0}));
  CHECK(test::equal(ca::signbit(ca::array<ca::uint64>({1, 0})) | ca::signbit(ca::array<bool>({true, false})), {2},
                    ints{0, 0}));
  CHECK(test::equal(ca::isposinf(ca::array<int>({1, -1})) | ca::isneginf(ca::array<int>({1, -1})), {2}, ints{0, 0}));
  CHECK(test::equal(ca::isposinf(ca::array<ca::float16>({inf, -inf, 65504})), {3}, ints{1, 0, 0}));
  CHECK(test::equal(ca::isneginf(ca::array<ca::bfloat16>({inf, -inf, 65504})), {3}, ints{0, 1, 0}));
  CHECK(test::equal(ca::isposinf(ca::array<bool>({true})), {1}, ints{0}));
  static_assert(is<decltype(ca::isposinf(line<float>())), bool>);
  static_assert(is<decltype(ca::isneginf(line<int>())), bool>);
  static_assert(is<decltype(ca::signbit(line<ca::float16>())), bool>);
}

TEST_CASE("numbers: angles, expit, heaviside") {
  CHECK(test::equal(ca::deg2rad(f64({180, -90, 1})), {3},
                    doubles{3.141592653589793, -1.5707963267948966, 0.017453292519943295}));
  CHECK(test::equal(ca::rad2deg(f64({1, 3.141592653589793})), {2}, doubles{57.29577951308232, 180}));
  CHECK(test::close(ca::expit(f64({-1000, -2, 0, 2, 40, inf, -inf, none})), {8},
                    {0, 0.11920292202211756, 0.5, 0.8807970779778824, 1, 1, 0, none}, 1e-15));
  CHECK(test::close(ca::expit(f64({-100})) * 1e44, {1}, {3.720075976020836}, 1e-15));
  CHECK(test::close(ca::expit(ca::array<float>({-80})) * 1e35F, {1}, {1.8048513878454153}, 1e-6));
  CHECK(test::equal(ca::heaviside(f64({-1, 0, 2, none, inf, -inf, -0.0}), 0.5), {7},
                    doubles{0, 0.5, 1, none, 1, 0, 0.5}));
  CHECK(test::equal(ca::heaviside(f64({0, 1, -1}), none), {3}, doubles{none, 1, 0}));
  CHECK(test::equal(ca::heaviside(ca::array<int>({-1, 0, 1}), ca::array<int>({7, 8, 9})), {3}, ints{0, 8, 1}));
  static_assert(is<decltype(ca::deg2rad(line<int>())), double>);
  static_assert(is<decltype(ca::rad2deg(line<ca::int8>())), ca::float16>);
  static_assert(is<decltype(ca::rad2deg(line<bool>())), ca::float16>);
  static_assert(is<decltype(ca::expit(line<int>())), double>);
  static_assert(is<decltype(ca::expit(line<float>())), float>);
  static_assert(is<decltype(ca::expit(line<ca::float16>())), ca::float16>);
  static_assert(is<decltype(ca::heaviside(line<int>(), line<int>())), double>);
  static_assert(is<decltype(ca::heaviside(line<float>(), 0.5)), float>);
  static_assert(is<decltype(ca::heaviside(line<ca::uint8>(), line<ca::uint8>())), ca::float16>);
}

TEST_CASE("numbers: bits and divisors") {
  CHECK(test::equal(ca::bitwise_count(ca::array<ca::int8>({-128, 127, -1, 0, 5})), {5}, ints{1, 7, 1, 0, 2}));
  CHECK(test::equal(ca::bitwise_count(ca::array<ca::uint64>({18446744073709551615U, 9223372036854775808U})), {2},
                    ints{64, 1}));
  const ca::int64 lowest = -9223372036854775807 - 1;
  CHECK(test::equal(ca::bitwise_count(ca::array<ca::int64>({lowest, -1})), {2}, ints{1, 1}));
  CHECK(test::equal(ca::bitwise_count(ca::array<bool>({true, false})), {2}, ints{1, 0}));
  CHECK(test::equal(ca::gcd(ca::array<int>({12, -18, 0, -7, 2147483647}), ca::array<int>({18, -12, -5, 0, 2})), {5},
                    ints{6, 6, 5, 7, 1}));
  CHECK(test::equal(ca::lcm(ca::array<int>({4, -6, 0, 7}), ca::array<int>({6, -4, 5, -7})), {4}, ints{12, 12, 0, 7}));
  CHECK(test::equal(ca::lcm(ca::array<ca::int8>({-128, -128, 100}), ca::array<ca::int8>({-128, 3, 99})), {3},
                    ints{-128, -128, -84}));
  CHECK(test::equal(ca::gcd(ca::array<ca::int8>({-128}), ca::array<ca::int8>({0})), {1}, ints{-128}));
  CHECK(test::equal(ca::lcm(ca::array<int>({2147483647}), 2147483646), {1}, ints{-2147483646}));
  CHECK(test::equal(ca::gcd(ca::array<int>({{12}, {9}}), ca::array<int>({8, 6})), {2, 2}, ints{4, 6, 1, 3}));
  static_assert(is<decltype(ca::bitwise_count(line<ca::int64>())), ca::uint8>);
  static_assert(is<decltype(ca::bitwise_count(line<bool>())), ca::uint8>);
  static_assert(is<decltype(ca::gcd(line<ca::int8>(), line<ca::uint8>())), ca::int16>);
  static_assert(is<decltype(ca::lcm(line<int>(), line<ca::uint32>())), ca::int64>);
  static_assert(is<decltype(ca::gcd(line<ca::uint8>(), 4)), ca::uint8>);
}

TEST_CASE("numbers: isclose") {
  const auto a = f64({1, 1e10, 1e-9, inf, -inf, none, inf, 1, none});
  const auto b = f64({1.00001, 1.00001e10, 2e-8, inf, inf, none, 1, inf, 1});
  CHECK(test::equal(ca::isclose(a, b), {9}, ints{1, 1, 0, 1, 0, 0, 0, 0, 0}));
  CHECK(test::equal(ca::isclose(a, b, {.equal_nan = true}), {9}, ints{1, 1, 0, 1, 0, 1, 0, 0, 0}));
  const auto c = f64({100}), d = f64({101});
  CHECK(!ca::allclose(c, d, {.rtol = 0.0099}));
  CHECK(!ca::allclose(d, c, {.rtol = 0.0099}));
  CHECK(ca::allclose(c, d, {.rtol = 0.00995}));
  CHECK(!ca::allclose(d, c, {.rtol = 0.00995}));
  CHECK(ca::allclose(d, c, {.rtol = 0, .atol = 1}));
  CHECK(!ca::allclose(d, c, {.rtol = 0, .atol = 0.999}));
  CHECK(ca::allclose(c, c, {.rtol = 0, .atol = 0}));
  CHECK(test::equal(ca::isclose(ca::array<int>({3, 4}), ca::array<int>({3, 5})), {2}, ints{1, 0}));
  CHECK(test::equal(ca::isclose(ca::array<ca::uint8>({1}), ca::array<ca::uint8>({2}), {.atol = 1}), {1}, ints{1}));
  CHECK(test::equal(ca::isclose(ca::array<bool>({true, false}), ca::array<bool>({true, true})), {2}, ints{1, 0}));
  CHECK(test::equal(ca::isclose(ca::array<ca::float16>({1, 2}), 1), {2}, ints{1, 0}));
  CHECK(test::equal(ca::isclose(1, ca::array<float>({1, 2})), {2}, ints{1, 0}));
  CHECK(test::equal(ca::isclose(ca::array<double>({{1}, {2}}), ca::array<double>({1, 2})), {2, 2}, ints{1, 0, 0, 1}));
  CHECK(ca::allclose(ca::zeros({0}), ca::ones({0})));
  CHECK(!ca::allclose(f64({none}), none));
  CHECK(ca::allclose(f64({none}), none, {.equal_nan = true}));
  static_assert(is<decltype(ca::isclose(line<int>(), line<float>())), bool>);
}

TEST_CASE("numbers: errors of isclose") {
  const auto a = ca::ones({3}), b = ca::ones({2});
  CHECK(test::thrown<ca::shape_error>([&] { ca::isclose(a, b); }) == "isclose: shapes (3,) and (2,) differ at axis 0");
  CHECK_THROWS_AS(ca::allclose(a, b), ca::shape_error);
  CHECK(test::thrown<ca::value_error>([&] { ca::isclose(a, a, {.rtol = -1}); }) ==
        "isclose: tolerances -1 and 1e-08 are not 0 or above");
  CHECK(test::thrown<ca::value_error>([&] { ca::allclose(a, a, {.atol = none}); }) ==
        "isclose: tolerances 1e-05 and nan are not 0 or above");
}

TEST_CASE("numbers: array_equal and array_equiv") {
  const auto a = ca::array<int>({1, 2}), wide = ca::array<int>({{1, 2}, {1, 2}});
  CHECK(ca::array_equal(a, a));
  CHECK(ca::array_equal(a, ca::array<float>({1, 2})));
  CHECK(ca::array_equal(a + 1, ca::array<int>({2, 3})));
  CHECK(!ca::array_equal(a, wide));
  CHECK(!ca::array_equal(a, ca::array<int>({1, 3})));
  CHECK(!ca::array_equal(a, ca::array<int>({1, 2, 3})));
  const auto odd = ca::array<float>({1, none}), other = ca::array<float>({none, none});
  CHECK(!ca::array_equal(odd, odd));
  CHECK(ca::array_equal(odd, odd, true));
  CHECK(!ca::array_equal(odd, other, true));
  CHECK(ca::array_equal(a, a, true));
  CHECK(ca::array_equal(ca::full<int>({}, 3), ca::full<double>({}, 3)));
  CHECK(!ca::array_equal(ca::zeros({0, 2}), ca::zeros({0, 3})));
  CHECK(ca::array_equal(ca::zeros({0, 2}), ca::zeros({0, 2})));
  CHECK(!ca::array_equal(ca::array<ca::int64>({9007199254740993}), ca::array<ca::uint64>({9007199254740992U})));
  CHECK(ca::array_equiv(a, wide));
  CHECK(ca::array_equiv(wide, a));
  CHECK(ca::array_equiv(ca::ones({2, 1}), ca::ones({1, 3})));
  CHECK(ca::array_equiv(ca::full<int>({}, 1), ca::ones({2, 2})));
  CHECK(!ca::array_equiv(a, ca::array<int>({{1, 2, 1}, {1, 2, 1}})));
  CHECK(!ca::array_equiv(a, ca::array<int>({{1, 2}, {1, 3}})));
  CHECK(!ca::array_equiv(wide, ca::ones({3, 2})));
  CHECK(ca::array_equiv(ca::zeros({0}), ca::zeros({3, 1})));
  CHECK(!ca::array_equiv(ca::zeros({0}), ca::zeros({3, 2})));
  CHECK(!ca::array_equiv(odd, odd));
}
