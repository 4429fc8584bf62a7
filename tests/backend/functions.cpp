// The CPU's functions on packs: within their bounds of the C library's in long double, or bit by bit as on numbers.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "engine.hpp"

namespace {

template <class T>
std::vector<T> special_values() {
  using l = std::numeric_limits<T>;
  std::vector<T> v = {T(0),  T(1),  T(2),   T(0.5), l::infinity(), l::max(), l::min(), l::denorm_min(),
                      T(20), T(90), T(120), T(800)};
  for (std::size_t i = 0, n = v.size(); i < n; ++i)
    if (std::is_floating_point_v<T> || v[i] != l::min()) v.push_back(-v[i]);
  v.push_back(l::quiet_NaN());
  return v;
}

/// The distance from `got` to `exact`, in units of the last place of the nearest T.
template <class T>
double ulps(T got, long double exact) {
  const T near = T(exact);
  if (near != near || got != got) return near != near && got != got ? 0 : INFINITY;
  if (near == got) return near == 0 && std::signbit(near) != std::signbit(got) ? INFINITY : 0;
  if (std::isinf(near) || std::isinf(got)) return INFINITY;
  const T size = std::fabs(near), last = std::nextafter(size, T(INFINITY)) - size;
  return double(std::fabs((long double)got - exact) /
                (long double)(std::isinf(last) ? size - std::nextafter(size, T(0)) : last));
}

/// Within `most` units: 4 are what glibc promises of its functions for packs.
template <class T, class F, class G>
void check(const char* name, double most, T low, T high, const F& f, const G& exact) {
  std::mt19937_64 bits(7);
  std::vector<T> v = special_values<T>();
  for (std::uniform_real_distribution<T> between(low, high); v.size() < 3001;) v.push_back(between(bits));
  for (int e = -30; e < 8; ++e)
    for (const T sign : {T(1), T(-1)}) v.push_back(sign * std::ldexp(T(1.37), e));
  const array<T> a(ca::array<T>(v)), y = f(a);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!(ulps(y.data()[i], exact((long double)v[i])) <= most)) {
      CAPTURE(name, ca::dtype_name<T>, v[i], y.data()[i]);
      CHECK(false);
    }
  }
  SUCCEED();
}
template <class T>
void check_functions() {
#define CHECK_FUNCTION(name, c, most, low, high) \
  check<T>(                                      \
      #name, most, low, high, [](const auto& x) { return ca::name(x); }, [](long double x) { return std::c(x); });
  constexpr double of_exp = sizeof(T) == 4 || ca::this_build::vector_bytes == 64 ? 1.1 : 4;  // or glibc's
  CHECK_FUNCTION(exp, exp, of_exp, -90, 90)
  using l = std::numeric_limits<T>;
  constexpr T log_2 = T(0.6931471805599453);  // from what becomes zero to what becomes infinite
  CHECK_FUNCTION(exp, exp, of_exp, (l::min_exponent - l::digits - 2) * log_2, (l::max_exponent + 1) * log_2)
  CHECK_FUNCTION(exp2, exp2, 4, -130, 120)
  CHECK_FUNCTION(expm1, expm1, 4, -30, 80)
  CHECK_FUNCTION(log, log, 4, 0, 1000)
  CHECK_FUNCTION(log2, log2, 4, 0, 1000)
  CHECK_FUNCTION(log10, log10, 4, 0, 1000)
  CHECK_FUNCTION(log1p, log1p, 4, -1, 1000)
  CHECK_FUNCTION(cbrt, cbrt, 4, -1000, 1000)
  CHECK_FUNCTION(sin, sin, 4, -1e30f, 1e30f)
  CHECK_FUNCTION(cos, cos, 4, -1e30f, 1e30f)
  CHECK_FUNCTION(tan, tan, 4, -20, 20)
  CHECK_FUNCTION(arcsin, asin, 4, -1, 1)
  CHECK_FUNCTION(arccos, acos, 4, -1, 1)
  CHECK_FUNCTION(arctan, atan, 4, -20, 20)
  CHECK_FUNCTION(sinh, sinh, 4, -80, 80)
  CHECK_FUNCTION(cosh, cosh, 4, -80, 80)
  CHECK_FUNCTION(tanh, tanh, 4, -20, 20)
  CHECK_FUNCTION(erf, erf, 4, -6, 6)
  CHECK_FUNCTION(erfc, erfc, 4, -6, 9)
  CHECK_FUNCTION(sqrt, sqrt, 0.5001, 0, 1000)
  CHECK_FUNCTION(floor, floor, 0, -1000, 1000)
  CHECK_FUNCTION(ceil, ceil, 0, -1000, 1000)
  CHECK_FUNCTION(trunc, trunc, 0, -1000, 1000)
  CHECK_FUNCTION(rint, rint, 0, -1000, 1000)
#undef CHECK_FUNCTION
}

/// sin and cos of float32: of multiples of pi / 2, of what lies beside them and beside 131072, near 0, and of large
/// numbers among these: within bounds, never beyond 1, and the same bits wherever in an array they stand.
void check_waves() {
  std::vector<float> v;
  const auto add = [&v](float x) {
    for (const float y : {std::nextafter(x, 0.f), x, std::nextafter(x, float(INFINITY))})
      v.push_back(y), v.push_back(-y);
  };
  for (int k = 0; k < 3000; ++k)
    add(float(k * 1.5707963267948966)), add(float(k * k / 98304.)), add(float(std::ldexp(1.37, -k % 40)));
  for (int k = 83000; k < 83450; ++k) add(float(k * 1.5707963267948966));
  for (const float x : {131072.f, 140000.f, 1e30f, 3.f})
    for (int k = 0; k < 5; ++k) add(x), add(float(k));
  const array<float> a(ca::array<float>(v)), s = ca::sin(a), c = ca::cos(a);
  const double most = ca::this_build::fma ? 1.5 : 4;  // or glibc's
  const auto right = [most](float x, float got, long double exact) {
    const bool far = std::fabs(x) > 131072.f;
    return std::fabs(got) <= 1.f && ulps(got, exact) <= (far ? 4 : most);
  };
  for (std::size_t i = 0; i < v.size(); ++i) {
    const float x = v[i], of_s = s.data()[i], of_c = c.data()[i];
    if (right(x, of_s, std::sin((long double)x)) && right(x, of_c, std::cos((long double)x))) continue;
    CAPTURE(x, of_s, of_c);
    CHECK(false);
  }
  for (const int64 by : {1, 5, 16}) {
    const array<float> moved = ca::sin(a(slice(by, none)));
    CHECK(std::memcmp(moved.data(), s.data() + by, std::size_t(moved.size()) * sizeof(float)) == 0);
  }
}

/// Pairs of every size, with quotients at and beside whole numbers.
template <class T>
void fill_pairs(std::vector<T>& x, std::vector<T>& y) {
  std::mt19937_64 bits(9);
  const std::vector<T> special = special_values<T>();
  for (int i = 0; i < 40000; ++i) {
    T a, b;
    if constexpr (std::is_floating_point_v<T>) {
      const auto any = [&]() -> T {
        const auto u = T(double(bits() >> 11) * 0x1p-53 - 0.5);
        switch (bits() % 4) {
          case 0:
            return T(int(bits() % 41) - 20);
          case 1:
            return T(int(bits() % 2001) - 1000) * T(0.1);
          default:
            return u * T(std::pow(10.0, double(bits() % 12)));
        }
      };
      a = any(), b = any();
      if (i % 3 == 0) a = b * T(bits() % 5000);
      if (i % 64 == 0) (bits() % 2 ? a : b) = special[bits() % special.size()];
    } else {
      a = T(bits()), b = T(bits());
      if (i % 3 == 0) b = T(int(bits() % 9) - 4);
      if (i % 4 == 0) a = T(std::uint64_t(b) * (bits() % 100));
      if (i % 5 == 0) a = std::numeric_limits<T>::min();
    }
    x.push_back(a), y.push_back(b);
  }
}
template <class T, class F, class G>
void check_bits(const char* name, const std::vector<T>& x, const std::vector<T>& y, const F& f, const G& exact) {
  const array<T> a(ca::array<T>(x)), b(ca::array<T>(y)), r = f(a, b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T want = exact(x[i], y[i]), got = r.data()[i];
    if (std::memcmp(&want, &got, sizeof(T)) != 0 && !(want != want && got != got)) {
      CAPTURE(name, ca::dtype_name<T>, x[i], y[i], want, got);
      CHECK(false);
    }
  }
  SUCCEED();
}
template <class T>
void check_pairs() {
#define CHECK_BITS(name) \
  check_bits<T>(         \
      #name, x, y, [](const auto& a, const auto& b) { return ca::name(a, b); }, ca::math::name<T>);
  std::vector<T> x, y;
  fill_pairs(x, y);
  CHECK_BITS(remainder)
  CHECK_BITS(floor_divide)
  if constexpr (std::is_integral_v<T>) {
    for (T& b : y) b = T(b % 70);
    CHECK_BITS(left_shift)
    CHECK_BITS(right_shift)
  } else {
    const auto copysign = [](T a, T b) { return std::copysign(a, b); };
    check_bits<T>(
        "copysign", x, y, [](const auto& a, const auto& b) { return ca::copysign(a, b); }, copysign);
  }
#undef CHECK_BITS
}

template <class T>
void check_two(const char* name, const auto& f, const auto& exact, T low, T high) {
  std::mt19937_64 bits(11);
  std::uniform_real_distribution<T> between(low, high);
  std::vector<T> x, y;
  for (int i = 0; i < 3000; ++i) x.push_back(between(bits)), y.push_back(i % 5 == 0 ? T(2) : between(bits));
  const std::vector<T> special = special_values<T>();
  for (const T a : special)
    for (const T b : special) x.push_back(a), y.push_back(b);
  const array<T> a(ca::array<T>(x)), b(ca::array<T>(y)), r = f(a, b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(ulps(r.data()[i], exact((long double)x[i], (long double)y[i])) <= 4)) {
      CAPTURE(name, ca::dtype_name<T>, x[i], y[i], r.data()[i]);
      CHECK(false);
    }
  }
  SUCCEED();
}
template <class T>
void check_functions_of_two() {
  check_two<T>(
      "arctan2", [](const auto& a, const auto& b) { return ca::arctan2(a, b); },
      [](long double a, long double b) { return std::atan2(a, b); }, T(-50), T(50));
  check_two<T>(
      "hypot", [](const auto& a, const auto& b) { return ca::hypot(a, b); },
      [](long double a, long double b) { return std::hypot(a, b); }, T(-50), T(50));
  check_two<T>(
      "power", [](const auto& a, const auto& b) { return ca::power(a, b); },
      [](long double a, long double b) { return std::pow(a, b); }, T(0), T(20));
}

/// Functions of numbers that have an exact result.
template <class T>
void check_exact() {
  std::vector<T> tens, twos, cubes;
  for (int k = 0; k <= (sizeof(T) == 4 ? 10 : 22); ++k) tens.push_back(T(std::pow(10.0L, k)));
  for (int k = -60; k <= 60; ++k) twos.push_back(std::ldexp(T(1), k));
  for (int k = -250; k <= 250; ++k) cubes.push_back(T(k) * T(k) * T(k));
  const auto equal = [](const char* name, const auto& f, const std::vector<T>& x, const auto& want) {
    const array<T> a(ca::array<T>(x)), y = f(a);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(name, ca::dtype_name<T>, x[i], y.data()[i]);
      CHECK(y.data()[i] == T(want(int(i))));
    }
  };
  equal(
      "log10", [](const auto& x) { return ca::log10(x); }, tens, [](int i) { return i; });
  equal(
      "log2", [](const auto& x) { return ca::log2(x); }, twos, [](int i) { return i - 60; });
  equal(
      "power", [](const auto& x) { return ca::power(T(2), ca::log2(x)); }, twos,
      [](int i) { return std::ldexp(1.0, i - 60); });
  if (sizeof(T) == 4)
    equal(
        "cbrt", [](const auto& x) { return ca::cbrt(x); }, cubes, [](int i) { return i - 250; });
}

}  // namespace

TEST_CASE("packs: functions are within 4 units of the last place, for special values too") {
  check_functions<float>();
  check_functions<double>();
  check_functions_of_two<float>();
  check_functions_of_two<double>();
  check_exact<float>();
  check_exact<double>();
}

TEST_CASE("packs: sin and cos beside multiples of pi / 2 and of large numbers") { check_waves(); }

TEST_CASE("packs: division and shifts are as on numbers, bit by bit") {
  check_pairs<float>();
  check_pairs<double>();
  check_pairs<ca::int8>();
  check_pairs<ca::uint8>();
  check_pairs<ca::int16>();
  check_pairs<ca::uint16>();
  check_pairs<ca::int32>();
  check_pairs<ca::uint32>();
  check_pairs<ca::int64>();
  check_pairs<ca::uint64>();
}

TEST_CASE("functions: one of the user's sees each element once, and each result of a reduction") {
  for (const int64 n : {1, 3, 16, 300}) {
    int calls = 0;
    const auto counted = [&calls](float v) { return ++calls, v; };
    const array<float> a = ca::ones<float>({n, 5}, host);
    const array<float> sums = ca::map(counted, ca::sum(a, 1)) + 1.f;
    CHECK(calls == n);
    CHECK(ca::all(sums == 6.f).item());
    calls = 0;
    const array<float> same = ca::map(counted, a);
    CHECK(calls == 5 * n);
  }
  const threads alone(1);
  constexpr int64 many = (1 << 22) + 5;  // results that go past the caches
  const array<float> a = ca::ones<float>({many}, host), to = ca::zeros<float>({many + 1}, host);
  for (const int64 first : {0, 1}) {
    int calls = 0;
    to(ca::slice(first, first + many)) = ca::map([&calls](float v) { return ++calls, v; }, a);
    CHECK(calls == many);
  }
  CHECK(ca::sum(to).item() == float(many + 1));
}
