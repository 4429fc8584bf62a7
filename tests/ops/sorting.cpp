// sort and argsort: along any axis, stable, NaN last, any layout and dtype.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <numeric>

#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using order = std::vector<int64>;
using floats = std::vector<float>;

constexpr float nan_ = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

ca::ndarray<float> vec(std::initializer_list<float> v) { return ca::array(std::vector<float>(v)); }

/// Whole numbers, 201 different ones, in an order without a pattern.
template <class T>
std::vector<T> numbers(int64 n, T step = T(1), ca::uint32 seed = 1) {
  std::vector<T> v;
  for (int64 i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const int k = int((seed >> 8) % 201);
    v.push_back(T(T(std::is_unsigned_v<T> ? k : k - 100) * step));
  }
  return v;
}

/// An array (outer, n, inner), and what sorting it along its middle axis gives.
struct extents {
  int64 outer, n, inner;
};
template <class T>
struct sorted {
  std::vector<T> values;
  order positions;
  sorted(const std::vector<T>& v, const extents& e) : values(v.size()), positions(v.size()) {
    order at(static_cast<std::size_t>(e.n));
    for (int64 s = 0; s < e.outer * e.inner; ++s) {
      const auto place = [&](int64 i) { return std::size_t((s / e.inner * e.n + i) * e.inner + s % e.inner); };
      std::iota(at.begin(), at.end(), int64(0));
      std::stable_sort(at.begin(), at.end(), [&](int64 i, int64 j) {
        const double x = double(v[place(i)]), y = double(v[place(j)]);
        return x == x && (y != y || x < y);
      });
      for (int64 i = 0; i < e.n; ++i) {
        positions[place(i)] = at[std::size_t(i)];
        values[place(i)] = v[place(at[std::size_t(i)])];
      }
    }
  }
};

template <class T>
bool sorts(const ca::ndarray<T>& a, const extents& e) {
  const auto v = test::values(a);
  const sorted<T> right(v, e);
  const ca::shape s{e.outer, e.n, e.inner};
  const auto x = ca::reshape(a, s);
  return test::equal(ca::sort(x, 1), s, right.values) && test::equal(ca::argsort(x, -2), s, right.positions) &&
         test::equal(x, s, v);
}
template <class T>
bool sorts(const extents& e) {
  return sorts(ca::array(numbers<T>(e.outer * e.n * e.inner)), e);
}

}  // namespace

TEST_CASE("sort: along each axis") {
  const auto a = ca::array<float>({{3, 9, 1}, {2, 8, 7}});
  CHECK(test::equal(ca::sort(a), {2, 3}, floats{1, 3, 9, 2, 7, 8}));
  CHECK(test::equal(ca::sort(a, 1), {2, 3}, floats{1, 3, 9, 2, 7, 8}));
  CHECK(test::equal(ca::sort(a, 0), {2, 3}, floats{2, 8, 1, 3, 9, 7}));
  CHECK(test::equal(ca::sort(a, -2), {2, 3}, floats{2, 8, 1, 3, 9, 7}));
  CHECK(test::equal(ca::sort(ca::ravel(a)), {6}, floats{1, 2, 3, 7, 8, 9}));
  CHECK(test::equal(ca::argsort(a), {2, 3}, order{2, 0, 1, 0, 2, 1}));
  CHECK(test::equal(ca::argsort(a, 0), {2, 3}, order{1, 1, 0, 0, 0, 1}));
  CHECK(test::equal(ca::argsort(a, -2), {2, 3}, order{1, 1, 0, 0, 0, 1}));
  const auto c = ca::array<int>({{{4, 1}, {2, 3}}, {{0, 5}, {7, 6}}});
  CHECK(test::equal(ca::sort(c, 0), {2, 2, 2}, order{0, 1, 2, 3, 4, 5, 7, 6}));
  CHECK(test::equal(ca::sort(c, 1), {2, 2, 2}, order{2, 1, 4, 3, 0, 5, 7, 6}));
  CHECK(test::equal(ca::sort(c, 2), {2, 2, 2}, order{1, 4, 2, 3, 0, 5, 6, 7}));
  CHECK(test::equal(ca::argsort(c, 0), {2, 2, 2}, order{1, 0, 0, 0, 0, 1, 1, 1}));
  CHECK(test::equal(ca::argsort(c, 1), {2, 2, 2}, order{1, 0, 0, 1, 0, 0, 1, 1}));
  CHECK(test::equal(a, {2, 3}, floats{3, 9, 1, 2, 8, 7}));  // untouched
}

TEST_CASE("argsort: ascending, int64") {
  const auto a = vec({3, 1, 2, -5});
  const auto i = ca::argsort(a);
  static_assert(std::is_same_v<ca::value_type_t<decltype(i)>, ca::int64>);
  CHECK(test::values(i) == order{3, 1, 2, 0});
  CHECK(test::equal(ca::take(a, i), {4}, floats{-5, 1, 2, 3}));
}

TEST_CASE("argsort: equal elements stay in order") {
  CHECK(test::values(ca::argsort(vec({2, 1, 2, 1, 2, 1}))) == order{1, 3, 5, 0, 2, 4});
  CHECK(test::values(ca::argsort(vec({0, -0.f, 0, -0.f}))) == order{0, 1, 2, 3});
  CHECK(test::values(ca::argsort(ca::array<bool>({true, false, true, false}))) == order{1, 3, 0, 2});
}

TEST_CASE("sort and argsort: NaN comes last, after infinity; of argsort in order") {
  const auto a = vec({nan_, inf, 1, -nan_, -inf, nan_});
  CHECK(test::values(ca::argsort(a)) == order{4, 2, 1, 0, 3, 5});
  CHECK(test::equal(ca::sort(a), {6}, floats{-inf, 1, inf, nan_, nan_, nan_}));
  CHECK(test::values(ca::argsort(vec({nan_, nan_}))) == order{0, 1});
  CHECK(test::equal(ca::sort(vec({-nan_, nan_})), {2}, floats{nan_, nan_}));
  CHECK(test::equal(ca::sort(vec({-nan_, 1, inf, -inf})), {4}, floats{-inf, 1, inf, nan_}));
}

TEST_CASE("sort and argsort: special values in few and many elements") {
  struct share {
    int negative, positive;  // NaN, of 100 elements
  };
  for (const share s : {share{0, 0}, {1, 1}, {1, 80}, {80, 1}, {45, 45}, {0, 100}, {100, 0}, {60, 40}})
    for (const extents e : {extents{1, 6, 1},
                            {1, 200, 1},
                            {1, 3000, 1},
                            {1, 5000, 1},
                            {1, 70000, 1},
                            {50, 40, 1},
                            {3, 300, 1},
                            {2, 5000, 1},
                            {2, 50, 20}}) {
      INFO(s.negative << "% -NaN, " << s.positive << "% NaN, (" << e.outer << ", " << e.n << ", " << e.inner << ")");
      auto v = numbers<float>(e.outer * e.n * e.inner);
      const auto chance = numbers<float>(int64(v.size()), 1, 77);
      for (std::size_t i = 0; i < v.size(); ++i) {
        const float c = (chance[i] + 100) / 2;  // 0 to 100
        if (c < float(s.negative)) v[i] = -nan_;
        else if (c < float(s.negative + s.positive)) v[i] = nan_;
        else if (v[i] > 90) v[i] = inf;
        else if (v[i] < -90) v[i] = -inf;
        else if (v[i] < 20 && v[i] > -20) v[i] = i % 2 ? -0.f : 0.f;
      }
      CHECK(sorts(ca::array(v), e));
    }
}

TEST_CASE("sort: both zeros are kept") {
  for (const int64 n : {8, 1000, 4000, 50000}) {
    floats v;
    for (int64 i = 0; i < n; ++i) v.push_back(i % 4 == 0 ? 1.f : i % 4 == 1 ? 0.f : -0.f);
    const auto r = test::values(ca::sort(ca::array(v)));
    CHECK(std::count_if(r.begin(), r.end(), [](float x) { return x == 0 && std::signbit(x); }) == n / 2);
    CHECK(std::count(r.begin(), r.end(), 1.f) == n / 4);
  }
}

TEST_CASE("sort and argsort: empty and one element") {
  CHECK(ca::argsort(ca::ndarray<float>()).shape() == ca::shape{0});
  CHECK(ca::sort(ca::ndarray<float>()).shape() == ca::shape{0});
  CHECK(ca::argsort(ca::zeros<int>({0})).size() == 0);
  for (const int axis : {0, 1, 2, -1}) {
    CHECK(ca::sort(ca::zeros<int>({2, 0, 3}), axis).shape() == ca::shape{2, 0, 3});
    CHECK(ca::argsort(ca::zeros<int>({2, 0, 3}), axis).shape() == ca::shape{2, 0, 3});
    CHECK(test::equal(ca::sort(ca::full<int>({1, 1, 1}, 7), axis), {1, 1, 1}, order{7}));
    CHECK(test::equal(ca::argsort(ca::full<int>({1, 1, 1}, 7), axis), {1, 1, 1}, order{0}));
  }
  CHECK(test::values(ca::argsort(vec({7}))) == order{0});
  CHECK(test::equal(ca::sort(vec({nan_})), {1}, floats{nan_}));
  const auto a = ca::array<int>({{2, 1, 3}});
  CHECK(test::equal(ca::sort(a, 0), {1, 3}, order{2, 1, 3}));
  CHECK(test::equal(ca::argsort(a, 0), {1, 3}, order{0, 0, 0}));
}

// uint8 and int64 are left to the golden suite.
TEST_CASE("sort and argsort: the ends of the dtypes") {
  const auto check = []<class T>(const std::vector<T>& v, const order& positions) {
    const auto a = ca::array(v);
    std::vector<T> right;
    for (const int64 i : positions) right.push_back(v[std::size_t(i)]);
    static_assert(std::is_same_v<ca::value_type_t<decltype(ca::sort(a))>, T>);
    return test::values(ca::argsort(a)) == positions && test::values(ca::sort(a)) == right;
  };
  CHECK(check(std::vector<ca::int8>{127, -128, 0, -1}, {1, 3, 2, 0}));
  CHECK(check(std::vector<int>{INT32_MAX, INT32_MIN, 0, -1}, {1, 3, 2, 0}));
  CHECK(check(std::vector<ca::uint64>{UINT64_MAX, 0, UINT64_MAX - 1, 1}, {1, 3, 2, 0}));
  CHECK(check(std::vector<double>{1 + 1e-15, 1, 1 - 1e-15, -1e308, 1e308, 5e-324}, {3, 5, 2, 1, 0, 4}));
  CHECK(check(floats{1e-45f, -1e-45f, 0, 3e38f, -3e38f}, {4, 1, 2, 0, 3}));
  CHECK(test::equal(ca::sort(ca::array<bool>({true, false, true, false})), {4}, order{0, 0, 1, 1}));
  const auto special = vec({nan_, 2, -1, 2, -nan_, -inf, inf, 0});
  CHECK(test::values(ca::argsort(ca::astype<ca::float16>(special))) == order{5, 2, 7, 1, 3, 6, 0, 4});
  CHECK(test::equal(ca::sort(ca::astype<ca::float16>(special)), {8}, floats{-inf, -1, 0, 2, 2, inf, nan_, nan_}));
  CHECK(test::values(ca::argsort(ca::astype<ca::bfloat16>(special))) == order{5, 2, 7, 1, 3, 6, 0, 4});
  CHECK(test::equal(ca::sort(ca::astype<ca::bfloat16>(special)), {8}, floats{-inf, -1, 0, 2, 2, inf, nan_, nan_}));
}

TEST_CASE("sort and argsort: dtypes, of one segment, short ones, long ones") {
  for (const extents e : {extents{1, 900, 1}, {1, 9000, 1}, {90, 40, 1}, {5, 700, 1}, {2, 9000, 1}}) {
    const int64 n = e.outer * e.n;
    INFO("(" << e.outer << ", " << e.n << ")");
    CHECK(sorts<ca::int8>(e));
    CHECK(sorts(ca::array(numbers<int>(n, 20000003)), e));
    CHECK(sorts(ca::array(numbers<ca::uint64>(n, ca::uint64(1) << 56)), e));
    CHECK(sorts(ca::array(numbers<double>(n, 1e-300)), e));
    CHECK(sorts(ca::eval(ca::astype<bool>(ca::array(numbers<ca::uint8>(n)) % 2)), e));
    CHECK(sorts(ca::eval(ca::astype<ca::float16>(ca::array(numbers<float>(n, 512)))), e));
    CHECK(sorts(ca::eval(ca::astype<ca::bfloat16>(ca::array(numbers<float>(n, 1e35f)))), e));
  }
}

TEST_CASE("sort and argsort: views and expressions") {
  const auto a = ca::array<float>({{3, 9, 1}, {2, 8, 7}});
  CHECK(test::values(ca::argsort(a(_, 1))) == order{1, 0});
  CHECK(test::values(ca::argsort(a(0)(slice(none, none, -1)))) == order{0, 2, 1});  // of 1, 9, 3
  CHECK(test::values(ca::argsort(-a(0))) == order{1, 0, 2});
  CHECK(test::values(ca::argsort(ca::broadcast_to(vec({1}), {3}))) == order{0, 1, 2});
  CHECK(test::equal(ca::sort(a(1)), {3}, floats{2, 7, 8}));
  CHECK(test::equal(ca::sort(a(_, slice(1, none))), {2, 2}, floats{1, 9, 7, 8}));
  CHECK(test::equal(ca::sort(a(_, slice(none, none, -2)), 0), {2, 2}, floats{1, 2, 7, 3}));
  CHECK(test::equal(ca::sort(a.t()), {3, 2}, floats{2, 3, 8, 9, 1, 7}));
  CHECK(test::equal(ca::sort(a.t(), 0), {3, 2}, floats{1, 2, 3, 7, 9, 8}));
  CHECK(test::equal(ca::argsort(a.t(), 0), {3, 2}, order{2, 0, 0, 2, 1, 1}));
  CHECK(test::equal(ca::sort(ca::broadcast_to(a(0), {2, 3})), {2, 3}, floats{1, 3, 9, 1, 3, 9}));
  CHECK(test::equal(ca::sort(a * -1 + a(1)), {2, 3}, floats{-1, -1, 6, 0, 0, 0}));
  CHECK(test::equal(ca::sort(a(a > 2)), {4}, floats{3, 7, 8, 9}));
  CHECK(test::equal(a, {2, 3}, floats{3, 9, 1, 2, 8, 7}));  // untouched
  auto b = ca::eval(a + 0);
  b = ca::sort(b, 0);
  CHECK(test::equal(b, {2, 3}, floats{2, 8, 1, 3, 9, 7}));
}

TEST_CASE("sort and argsort: as many elements as blocks of a device take, more and fewer") {
  for (const int64 n : {1,    2,    31,   32,   33,   127,  128,  129,  255,  256,  257,
                        1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 5000, 70000}) {
    INFO(n);
    CHECK(sorts<float>({1, n, 1}));
    CHECK(sorts<int>({1, n, 1}));
    if (n > 5000) continue;
    CHECK(sorts<float>({7, n, 1}));
    CHECK(sorts<float>({1, n, 3}));
    CHECK(sorts<float>({2, n, 2}));
  }
  for (const extents e :
       {extents{1000, 3, 1}, {300, 64, 1}, {3, 5000, 1}, {2, 70000, 1}, {64, 4097, 1}, {70000, 2, 1}, {2, 3, 20000}}) {
    INFO("(" << e.outer << ", " << e.n << ", " << e.inner << ")");
    CHECK(sorts<float>(e));
    CHECK(sorts<int>(e));
  }
}

TEST_CASE("sort and argsort: an axis that is not there") {
  CHECK(test::thrown<ca::index_error>([] { ca::sort(ca::zeros({})); }) ==
        "sort: axis -1 is out of bounds for an array of 0 axes");
  CHECK(test::thrown<ca::index_error>([] { ca::argsort(ca::zeros({})); }) ==
        "argsort: axis -1 is out of bounds for an array of 0 axes");
  CHECK(test::thrown<ca::index_error>([] {
          ca::sort(ca::zeros({2, 3}), 2);
        }) == "sort: axis 2 is out of bounds for an array of 2 axes");
}
