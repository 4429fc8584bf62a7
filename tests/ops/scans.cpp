// cumsum, cumprod, cummax and cummin: along any axis, of any length; expected values from NumPy, paper or a loop.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using ints = std::vector<int>;
using longs = std::vector<int64>;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };

/// Whole numbers from -100 to 100 in an order without a pattern.
template <class T>
std::vector<T> numbers(int64 n) {
  std::vector<T> v;
  ca::uint32 seed = 1;
  for (int64 i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    v.push_back(T(int((seed >> 8) % 201) - 100));
  }
  return v;
}

/// An array (outer, n, inner), and what a loop along its middle axis gives.
struct extents {
  int64 outer, n, inner;
  int64 elements() const { return outer * n * inner; }
  ca::shape dims() const { return {outer, n, inner}; }
};
template <class R, class T, class F>
std::vector<R> looped(const std::vector<T>& v, const extents& e, const F& f) {
  std::vector<R> r(v.begin(), v.end());
  for (int64 i = 0; i < e.elements(); ++i)
    if (i / e.inner % e.n > 0) r[std::size_t(i)] = f(r[std::size_t(i - e.inner)], r[std::size_t(i)]);
  return r;
}

const auto plus = [](auto a, auto b) { return a + b; };
const auto times = [](auto a, auto b) { return a * b; };
const auto larger = [](auto a, auto b) { return a > b ? a : b; };
const auto smaller = [](auto a, auto b) { return a < b ? a : b; };

std::vector<extents> sizes() {
  std::vector<extents> all;
  for (const int64 n : {1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 5000}) {
    for (const extents e : {extents{1, n, 1}, {n, 1, 1}, {1, 1, n}, {5, n, 3}, {3, n, 40}}) all.push_back(e);
    if (n <= 1025) all.push_back({2, n, 300});
  }
  for (const extents e : {extents{1, 70000, 1},
                          {1, 300000, 1},
                          {2, 70000, 1},
                          {1000, 3, 1},
                          {300, 64, 1},
                          {7, 1025, 1},
                          {64, 4097, 1},
                          {70000, 2, 1},
                          {1, 70000, 20},
                          {1, 3, 70000},
                          {1, 1100000, 1},
                          {500, 4099, 1},
                          {1, 140000, 17},
                          {100, 140, 257},
                          {200, 100, 16}})
    all.push_back(e);
  return all;
}

}  // namespace

TEST_CASE("scans: axes") {
  const auto a = make();
  CHECK(test::equal(ca::cumsum(a, 0), {2, 3}, ints{1, 2, 3, 5, 7, 9}));
  CHECK(test::equal(ca::cumsum(a, 1), {2, 3}, ints{1, 3, 6, 4, 9, 15}));
  CHECK(test::equal(ca::cumsum(a, -1), {2, 3}, ints{1, 3, 6, 4, 9, 15}));
  CHECK(test::equal(ca::cumsum(a, -2), {2, 3}, ints{1, 2, 3, 5, 7, 9}));
  CHECK(test::equal(ca::cumsum(a), {6}, ints{1, 3, 6, 10, 15, 21}));
  CHECK(test::equal(ca::cumprod(a, 0), {2, 3}, ints{1, 2, 3, 4, 10, 18}));
  CHECK(test::equal(ca::cumprod(a), {6}, ints{1, 2, 6, 24, 120, 720}));
  const auto b = ca::array<int>({{3, 1, 4}, {1, 5, 2}});
  CHECK(test::equal(ca::cummax(b, 0), {2, 3}, ints{3, 1, 4, 3, 5, 4}));
  CHECK(test::equal(ca::cummax(b, 1), {2, 3}, ints{3, 3, 4, 1, 5, 5}));
  CHECK(test::equal(ca::cummax(b), {6}, ints{3, 3, 4, 4, 5, 5}));
  CHECK(test::equal(ca::cummin(b, 0), {2, 3}, ints{3, 1, 4, 1, 1, 2}));
  CHECK(test::equal(ca::cummin(b, -1), {2, 3}, ints{3, 1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::cummin(b), {6}, ints{3, 1, 1, 1, 1, 1}));
  const auto c = ca::reshape(ca::arange(8), {2, 2, 2});
  CHECK(test::equal(ca::cumsum(c, 0), {2, 2, 2}, ints{0, 1, 2, 3, 4, 6, 8, 10}));
  CHECK(test::equal(ca::cumsum(c, 1), {2, 2, 2}, ints{0, 1, 2, 4, 4, 5, 10, 12}));
  CHECK(test::equal(ca::cumsum(c, 2), {2, 2, 2}, ints{0, 1, 2, 5, 4, 9, 6, 13}));
  CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));  // untouched
}

TEST_CASE("scans: empty, one element, 0 axes") {
  CHECK(test::equal(ca::cumsum(ca::ndarray<float>()), {0}, ints{}));
  for (const int axis : {0, 1, 2, -1}) {
    CHECK(test::equal(ca::cumsum(ca::zeros({2, 0, 3}), axis), {2, 0, 3}, ints{}));
    CHECK(test::equal(ca::cummax(ca::zeros({2, 0, 3}), axis), {2, 0, 3}, ints{}));
    CHECK(test::equal(ca::cumsum(ca::full({1, 1, 1}, 7), axis), {1, 1, 1}, ints{7}));
  }
  CHECK(test::equal(ca::cumprod(ca::zeros({2, 0, 3})), {0}, ints{}));
  CHECK(test::equal(ca::cumsum(ca::full({}, 7)), {1}, ints{7}));
  CHECK(test::equal(ca::cummin(ca::full({}, 7)), {1}, ints{7}));
  CHECK(test::thrown<ca::index_error>([] { ca::cumsum(ca::full({}, 7), 0); }) ==
        "cumsum: axis 0 is out of bounds for an array of 0 axes");
  CHECK(test::thrown<ca::index_error>([] {
          ca::cummin(ca::zeros({2, 3}), -3);
        }) == "cummin: axis -3 is out of bounds for an array of 2 axes");
}

TEST_CASE("scans: dtypes") {
  const auto i8 = ca::array<ca::int8>({100, 100, -1});
  CHECK(test::equal(ca::cumsum(i8), {3}, ints{100, 200, 199}));
  CHECK(test::equal(ca::cumprod(i8), {3}, ints{100, 10000, -10000}));
  CHECK(test::equal(ca::cummax(i8), {3}, ints{100, 100, 100}));
  CHECK(test::equal(ca::cummin(i8), {3}, ints{100, 100, -1}));
  CHECK(is<decltype(ca::cumsum(i8)), int64>);
  CHECK(is<decltype(ca::cumprod(i8)), int64>);
  CHECK(is<decltype(ca::cummax(i8)), ca::int8>);
  const auto u8 = ca::array<ca::uint8>({255, 255, 2});
  CHECK(test::equal(ca::cumsum(u8), {3}, ints{255, 510, 512}));
  CHECK(test::equal(ca::cumprod(u8), {3}, ints{255, 65025, 130050}));
  CHECK(is<decltype(ca::cumsum(u8)), ca::uint64>);
  CHECK(is<decltype(ca::cumprod(u8)), ca::uint64>);
  CHECK(is<decltype(ca::cummin(u8)), ca::uint8>);
  const auto b = ca::array<bool>({{false, true, true}, {true, false, true}});
  CHECK(test::equal(ca::cumsum(b, 1), {2, 3}, ints{0, 1, 2, 1, 1, 2}));
  CHECK(test::equal(ca::cumprod(b, 1), {2, 3}, ints{0, 0, 0, 1, 0, 0}));
  CHECK(test::equal(ca::cummax(b, 1), {2, 3}, ints{0, 1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::cummin(b, 1), {2, 3}, ints{0, 0, 0, 1, 0, 0}));
  CHECK(is<decltype(ca::cumsum(b)), int64>);
  CHECK(is<decltype(ca::cummax(b)), bool>);
  const auto a = make();
  CHECK(is<decltype(ca::cumsum(a)), float>);
  CHECK(is<decltype(ca::cumprod(a, 0)), float>);
  CHECK(is<decltype(ca::cumsum(ca::ones<double>({1}))), double>);
  CHECK(is<decltype(ca::cumsum<double>(a, 1)), double>);
  CHECK(is<decltype(ca::cumsum<double>(a)), double>);
  CHECK(test::equal(ca::cumsum<double>(a, 1), {2, 3}, ints{1, 3, 6, 4, 9, 15}));
  CHECK(test::values(ca::cumsum<double>(ca::array<int64>({int64(1) << 53, 1, 2}))) ==
        doubles{9007199254740992., 9007199254740992., 9007199254740994.});
  CHECK(test::values(ca::cumsum(ca::array<int64>({INT64_MAX - 1, 1, -7}))) ==
        longs{INT64_MAX - 1, INT64_MAX, INT64_MAX - 7});
  CHECK(test::values(ca::cummax(ca::array<int64>({INT64_MIN, INT64_MAX - 1, INT64_MAX, 0}))) ==
        longs{INT64_MIN, INT64_MAX - 1, INT64_MAX, INT64_MAX});
  CHECK(test::values(ca::cummin(ca::array<ca::uint64>({UINT64_MAX, UINT64_MAX - 1, 3}))) ==
        std::vector<ca::uint64>{UINT64_MAX, UINT64_MAX - 1, 3});
  // what is added up is not rounded to 16 bits on the way: 2049 and 5000 are sums of ones
  const auto h = ca::cumsum(ca::ones<ca::float16>({5000}));
  CHECK(is<decltype(h), ca::float16>);
  CHECK(test::equal(h(ca::array<int>({0, 2047, 2048, 2049, 2050, 4999})), {6}, ints{1, 2048, 2048, 2050, 2052, 5000}));
  const auto bf = ca::cumsum(ca::ones<ca::bfloat16>({300}));
  CHECK(test::equal(bf(ca::array<int>({255, 256, 257, 258, 299})), {5}, ints{256, 256, 258, 260, 300}));
  const auto z = ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(3, -4), ca::complex64(0, 1)});
  const auto sums = test::values(ca::cumsum(z)), products = test::values(ca::cumprod(z));
  CHECK((sums[1].re == 4 && sums[1].im == -2 && sums[2].re == 4 && sums[2].im == -1));
  CHECK((products[1].re == 11 && products[1].im == 2 && products[2].re == -2 && products[2].im == 11));
}

TEST_CASE("scans: complex numbers, long") {
  const auto check = [](auto type, const extents& e) {
    using T = decltype(type);
    const auto re = numbers<double>(e.elements()), im = numbers<double>(e.elements() + 7);
    std::vector<T> v;
    for (std::size_t i = 0; i < re.size(); ++i) v.emplace_back(re[i], im[i + 7]);
    const auto sums = test::values(ca::cumsum(ca::array(v, e.dims()), 1));
    const auto expected = looped<T>(v, e, plus);
    bool same = true;
    for (std::size_t i = 0; i < sums.size(); ++i) same = same && sums[i] == expected[i];
    INFO("(" << e.outer << ", " << e.n << ", " << e.inner << ")");
    CHECK(same);
  };
  for (const extents e : {extents{1, 20000, 1}, {3, 5001, 1}, {500, 2050, 1}, {2, 3000, 5}, {1, 3000, 70}}) {
    check(ca::complex64(), e);
    check(ca::complex128(), e);
  }
}

TEST_CASE("scans: NaN and infinity") {
  CHECK(test::equal(ca::cummax(ca::array<float>({1, 3, NAN, 7, INFINITY})), {5}, doubles{1, 3, NAN, NAN, NAN}));
  CHECK(test::equal(ca::cummin(ca::array<float>({1, -3, NAN, -7})), {4}, doubles{1, -3, NAN, NAN}));
  CHECK(test::equal(ca::cummax(ca::array<float>({-INFINITY, -INFINITY, -5})), {3}, doubles{-INFINITY, -INFINITY, -5}));
  CHECK(test::equal(ca::cummin(ca::array<float>({INFINITY, INFINITY, 5})), {3}, doubles{INFINITY, INFINITY, 5}));
  CHECK(test::equal(ca::cumsum(ca::array<float>({1, INFINITY, 1, -INFINITY, 1})), {5},
                    doubles{1, INFINITY, INFINITY, NAN, NAN}));
  CHECK(test::equal(ca::cumprod(ca::array<float>({2, INFINITY, -1, 0, 1})), {5},
                    doubles{2, INFINITY, -INFINITY, NAN, NAN}));
  for (const extents e : {extents{1, 100, 1}, {2, 900, 1}, {1, 5000, 1}, {1, 300000, 1}, {2, 5000, 40}})
    for (const int64 at : {int64(0), int64(40), e.n / 2 + 1, e.n - 1}) {
      INFO("(" << e.outer << ", " << e.n << ", " << e.inner << "), NaN at " << at);
      auto v = numbers<float>(e.elements());
      for (int64 j = 0; j < e.inner; ++j) v[std::size_t(at * e.inner + j)] = j % 2 ? NAN : -NAN;
      const auto x = ca::array(v, e.dims());
      const auto from_nan = [](const auto& f) {
        return [&f](float a, float b) { return a != a ? a : b != b ? b : f(a, b); };
      };
      CHECK(test::equal(ca::cummax(x, 1), e.dims(), looped<float>(v, e, from_nan(larger))));
      CHECK(test::equal(ca::cummin(x, 1), e.dims(), looped<float>(v, e, from_nan(smaller))));
      CHECK(test::equal(ca::cumsum(x, 1), e.dims(), looped<double>(v, e, plus)));
    }
}

TEST_CASE("scans: as many elements as blocks of a device take, more and fewer", "[large]") {
  for (const extents& e : sizes()) {
    INFO("(" << e.outer << ", " << e.n << ", " << e.inner << ")");
    const auto v = numbers<float>(e.elements());
    const auto k = numbers<int>(e.elements());
    const auto x = ca::array(v, e.dims());
    const auto i = ca::array(k, e.dims());
    CHECK(test::equal(ca::cumsum(x, 1), e.dims(), looped<double>(v, e, plus)));
    CHECK(test::equal(ca::cummax(x, -2), e.dims(), looped<float>(v, e, larger)));
    CHECK(test::equal(ca::cumsum(i, 1), e.dims(), looped<int64>(k, e, plus)));
    CHECK(test::equal(ca::cummin(i, 1), e.dims(), looped<int>(k, e, smaller)));
    const extents flat{1, e.elements(), 1};
    if (flat.n < 70000) CHECK(test::equal(ca::cumsum(i), {flat.n}, looped<int64>(k, flat, plus)));
  }
}

TEST_CASE("scans: products, exact") {
  for (const extents e :
       {extents{1, 33, 1}, {7, 1025, 1}, {1, 5000, 1}, {1, 300000, 1}, {5, 4097, 3}, {2, 1000, 300}}) {
    INFO("(" << e.outer << ", " << e.n << ", " << e.inner << ")");
    // odd numbers, whose products wrap as those of uint64 do
    auto odd = numbers<int>(e.elements());
    for (int& k : odd) k |= 1;
    const std::vector<ca::uint64> wrapping = looped<ca::uint64>(odd, e, times);
    CHECK((test::values(ca::cumprod(ca::array(odd, e.dims()), 1)) == longs(wrapping.begin(), wrapping.end())));
    // powers of two whose products stay between 2^-3 and 2^4: element i is 2^(h(i) - h(i - 1))
    floats v;
    for (int64 i = 0; i < e.elements(); ++i) {
      const auto h = [&](int64 at) { return at / e.inner % e.n * 7 % 8 - 3; };
      v.push_back(float(std::exp2(double(i / e.inner % e.n > 0 ? h(i) - h(i - e.inner) : h(i)))));
    }
    CHECK(test::equal(ca::cumprod(ca::array(v, e.dims()), 1), e.dims(), looped<double>(v, e, times)));
  }
}

TEST_CASE("scans: float32 is added up in float64") {
  constexpr int64 n = 1000000;
  const auto accurate = [](const floats& got, int64 step) {
    double sum = 0;
    for (int64 i = 0; i < n; ++i) {
      sum += double(0.1f);
      const float right = float(sum), x = got[std::size_t(i * step)];
      if (!(x >= std::nextafter(right, 0.f) && x <= std::nextafter(right, INFINITY))) return false;
    }
    return true;
  };
  CHECK(accurate(test::values(ca::cumsum(ca::full({n}, 0.1f))), 1));
  CHECK(accurate(test::values(ca::cumsum(ca::full({n, 16}, 0.1f), 0)), 16));
  CHECK(accurate(test::values(ca::cumsum(ca::full({n, 2}, 0.1f), 0)), 2));
}

TEST_CASE("scans: the same bits in every run", "[large]") {
  for (const extents e : {extents{1, 300000, 1}, {5, 5000, 3}, {3, 20000, 40}, {500, 4099, 1}, {100, 140, 257}}) {
    INFO("(" << e.outer << ", " << e.n << ", " << e.inner << ")");
    const auto x = ca::random::normal(e.dims());
    const auto d = ca::eval(ca::astype<double>(x));
    const auto once = test::values(ca::cumsum(x, 1));
    const auto once_double = test::values(ca::cumsum(d, 1));
    for (int run = 0; run < 3; ++run) {
      CHECK((test::values(ca::cumsum(x, 1)) == once));
      CHECK((test::values(ca::cumsum(d, 1)) == once_double));
    }
  }
}

TEST_CASE("scans: off alignment, narrow and wide elements", "[large]") {
  const auto check = [](auto type, int64 lead, const extents& e) {
    using T = decltype(type);
    INFO(sizeof(T) << " bytes, " << lead << " before (" << e.outer << ", " << e.n << ", " << e.inner << ")");
    const auto all = numbers<T>(lead + e.elements());
    const std::vector<T> v(all.begin() + lead, all.end());
    const ca::ndarray<T> from = ca::array(all, {lead + e.elements()});
    const auto x = ca::reshape(from(slice(lead, none)), e.dims());
    using sums = ca::value_type_t<decltype(ca::cumsum(x, 1))>;
    using wide = std::conditional_t<std::is_integral_v<sums>, sums, double>;
    CHECK(test::equal(ca::cumsum(x, 1), e.dims(), looped<wide>(v, e, plus)));
    CHECK(test::equal(ca::cummax(x, 1), e.dims(), looped<T>(v, e, larger)));
  };
  for (const int64 lead : {1, 2, 3})
    for (const extents e : {extents{1, 40000, 1}, {7, 9001, 1}, {500, 4111, 1}, {1, 3000, 33}}) {
      check(float(), lead, e);
      check(double(), lead, e);
      check(ca::int8(), lead, e);
      check(ca::int16(), lead, e);
    }
  for (const int64 lead : {0, 1})
    for (const int64 n : {8185, 8191, 8192, 8193, 16384, 24583}) {
      check(ca::int8(), lead, {5, n, 1});
      check(ca::int16(), lead, {5, n, 1});
    }
}

TEST_CASE("scans: long rows of half types", "[large]") {
  const auto check = [](auto type, int64 lead, const extents& e) {
    using T = decltype(type);
    INFO(ca::dtype_name<T> << ", " << lead << " before (" << e.outer << ", " << e.n << ", " << e.inner << ")");
    // sums that stay between 0 and 6
    ints v(std::size_t(lead), 9);
    for (int64 i = 0; i < e.elements(); ++i) {
      const int k = int(i / e.inner % e.n % 4);
      v.push_back(k == 3 ? -6 : k + 1);
    }
    const ca::ndarray<T> from = ca::astype<T>(ca::array(v));
    v.erase(v.begin(), v.begin() + lead);
    const ca::ndarray<T> x = ca::reshape(from(slice(lead, none)), e.dims());
    CHECK(test::equal(ca::astype<float>(ca::cumsum(x, 1)), e.dims(), looped<int>(v, e, plus)));
    CHECK(test::equal(ca::astype<float>(ca::cummin(x, 1)), e.dims(), looped<int>(v, e, smaller)));
  };
  for (const int64 lead : {0, 1})
    for (const extents e : {extents{1, 100000, 1}, {5, 8191, 1}, {5, 8192, 1}, {300, 8200, 1}, {2, 3000, 40}}) {
      check(ca::float16(), lead, e);
      check(ca::bfloat16(), lead, e);
    }
}

TEST_CASE("scans: views and expressions") {
  const auto a = make();
  CHECK(test::equal(ca::cumsum(a.t(), 0), {3, 2}, ints{1, 4, 3, 9, 6, 15}));
  CHECK(test::equal(ca::cumsum(a.t(), 1), {3, 2}, ints{1, 5, 2, 7, 3, 9}));
  CHECK(test::equal(ca::cumsum(a.t()), {6}, ints{1, 5, 7, 12, 15, 21}));
  CHECK(test::equal(ca::cumsum(a(_, 1)), {2}, ints{2, 7}));
  CHECK(test::equal(ca::cumsum(a(_, slice(1, none)), 1), {2, 2}, ints{2, 5, 5, 11}));
  CHECK(test::equal(ca::cumsum(a(_, slice(none, none, -1)), 1), {2, 3}, ints{3, 5, 6, 6, 11, 15}));
  CHECK(test::equal(ca::cummax(a(slice(none, none, -1)), 0), {2, 3}, ints{4, 5, 6, 4, 5, 6}));
  CHECK(test::equal(ca::cumsum(ca::broadcast_to(a(0), {2, 3}), 0), {2, 3}, ints{1, 2, 3, 2, 4, 6}));
  CHECK(test::equal(ca::cumsum(ca::full({5}, 2)), {5}, ints{2, 4, 6, 8, 10}));
  CHECK(test::equal(ca::cumsum(a * 2 - 1, 1), {2, 3}, ints{1, 4, 9, 7, 16, 27}));
  CHECK(test::equal(ca::cumsum(a > 2, 1), {2, 3}, ints{0, 0, 1, 1, 2, 3}));
  CHECK(test::equal(ca::cumsum(a(a > 2)), {4}, ints{3, 7, 12, 18}));
  CHECK(test::equal(ca::cumsum(ca::sum(a, 0)), {3}, ints{5, 12, 21}));
  CHECK(test::equal(ca::cumsum(a, 1) + 1, {2, 3}, ints{2, 4, 7, 5, 10, 16}));
  auto b = ca::eval(a + 0);
  b = ca::cumsum(b, 0);
  CHECK(test::equal(b, {2, 3}, ints{1, 2, 3, 5, 7, 9}));
  // a large one, transposed
  const auto v = numbers<int>(300 * 700);
  CHECK(test::equal(ca::cumsum(ca::array(v, {300, 700}).t(), 1), {700, 300},
                    test::values(ca::array(looped<int64>(v, {1, 300, 700}, plus), {300, 700}).t())));
}
