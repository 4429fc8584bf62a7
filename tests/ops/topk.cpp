// topk: along any axis, both ends of the order, equal elements in order, NaN, any layout and dtype.
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

/// Whole numbers without a pattern, so many different ones.
template <class T>
std::vector<T> numbers(int64 n, int different = 201, T step = T(1), ca::uint32 seed = 1) {
  std::vector<T> v;
  for (int64 i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const int k = int((seed >> 8) % ca::uint32(different));
    v.push_back(T(T(std::is_unsigned_v<T> ? k : k - different / 2) * step));
  }
  return v;
}

/// Whether both ends are found in the rows of an array (outer, n), by sorting all of a row stably.
template <class T>
bool finds(const ca::ndarray<T>& a, int64 k) {
  const auto v = test::values(a);
  const int64 outer = a.shape()[0], n = a.shape()[1];
  for (const bool largest : {true, false}) {
    std::vector<T> values;
    order positions, at(static_cast<std::size_t>(n));
    for (int64 o = 0; o < outer; ++o) {
      const auto of = [&](int64 i) { return double(v[std::size_t(o * n + i)]); };
      const auto above = [](double x, double y) { return y == y && (x != x || x > y); };
      std::iota(at.begin(), at.end(), int64(0));
      std::stable_sort(at.begin(), at.end(),
                       [&](int64 i, int64 j) { return largest ? above(of(i), of(j)) : above(of(j), of(i)); });
      for (int64 i = 0; i < k; ++i) {
        positions.push_back(at[std::size_t(i)]);
        values.push_back(v[std::size_t(o * n + at[std::size_t(i)])]);
      }
    }
    const auto r = ca::topk(a, k, {.largest = largest});
    if (!test::equal(r.values, {outer, k}, values) || !test::equal(r.indices, {outer, k}, positions)) return false;
  }
  return test::equal(a, {outer, n}, v);  // untouched
}
template <class T>
bool finds(int64 outer, int64 n, int64 k, int different = 201, T step = T(1)) {
  return finds<T>(ca::reshape(ca::array(numbers<T>(outer * n, different, step)), {outer, n}), k);
}

}  // namespace

TEST_CASE("topk: the largest or the smallest along each axis") {
  const auto a = ca::array<float>({{3, 9, 1}, {2, 8, 7}});
  const auto [v, i] = ca::topk(a, 2);
  static_assert(std::is_same_v<ca::value_type_t<decltype(v)>, float>);
  static_assert(std::is_same_v<ca::value_type_t<decltype(i)>, int64>);
  CHECK(test::equal(v, {2, 2}, floats{9, 3, 8, 7}));
  CHECK(test::equal(i, {2, 2}, order{1, 0, 1, 2}));
  const auto columns = ca::topk(a, 1, {.axis = 0});
  CHECK(test::equal(columns.values, {1, 3}, floats{3, 9, 7}));
  CHECK(test::equal(columns.indices, {1, 3}, order{0, 0, 1}));
  const auto smallest = ca::topk(a, 2, {.axis = -2, .largest = false});
  CHECK(test::equal(smallest.values, {2, 3}, floats{2, 8, 1, 3, 9, 7}));
  CHECK(test::equal(smallest.indices, {2, 3}, order{1, 1, 0, 0, 0, 1}));
  const auto middle = ca::topk(ca::array<int>({{{4, 1}, {2, 3}}, {{0, 5}, {7, 6}}}), 1, {.axis = 1});
  CHECK(test::equal(middle.values, {2, 1, 2}, order{4, 3, 7, 6}));
  CHECK(test::equal(middle.indices, {2, 1, 2}, order{0, 1, 1, 1}));
  CHECK(middle.values.is_contiguous());
}

TEST_CASE("topk: the first of equal elements comes first") {
  const auto a = vec({2, 5, 2, 5, 2, 5});
  CHECK(test::values(ca::topk(a, 4).indices) == order{1, 3, 5, 0});
  CHECK(test::values(ca::topk(a, 4, {.largest = false}).indices) == order{0, 2, 4, 1});
  CHECK(test::values(ca::topk(vec({0, -0.f, 0, -0.f}), 3).indices) == order{0, 1, 2});
  CHECK(test::values(ca::topk(ca::array<bool>({false, true, false, true}), 3).indices) == order{1, 3, 0});
  for (const int64 n : {100, 3000, 70000, 600000}) {
    INFO(n);
    for (const int64 k : {int64(1), int64(7), int64(99)}) {
      order first(static_cast<std::size_t>(k));
      std::iota(first.begin(), first.end(), int64(0));
      CHECK(test::equal(ca::topk(ca::full<float>({n}, 3), k).indices, {k}, first));
      CHECK(test::equal(ca::topk(ca::zeros<double>({n}), k, {.largest = false}).indices, {k}, first));
    }
  }
}

TEST_CASE("topk: NaN is above all numbers, values are kept bit by bit", "[large]") {
  const auto a = vec({nan_, inf, 1, -nan_, -inf, nan_});
  CHECK(test::equal(ca::topk(a, 5).values, {5}, floats{nan_, nan_, nan_, inf, 1}));
  CHECK(test::values(ca::topk(a, 5).indices) == order{0, 3, 5, 1, 2});
  CHECK(test::values(ca::topk(a, 5, {.largest = false}).indices) == order{4, 2, 1, 0, 3});
  const auto zeros = test::values(ca::topk(vec({-0.f, -1, 0.f}), 2).values);
  CHECK((std::signbit(zeros[0]) && !std::signbit(zeros[1])));
  for (const auto& [outer, n] : {std::pair<int64, int64>{1, 500}, {1, 9000}, {3, 70000}, {40, 60}, {1, 700000}}) {
    auto v = numbers<float>(outer * n, 20011);
    for (std::size_t i = 0; i < v.size(); ++i)
      if (i % 7 == 3) v[i] = i % 2 ? nan_ : -nan_;
      else if (i % 11 == 5) v[i] = i % 2 ? inf : -inf;
      else if (v[i] < 20 && v[i] > -20) v[i] = i % 2 ? -0.f : 0.f;
    INFO("(" << outer << ", " << n << ")");
    for (const int64 k : {int64(1), int64(5), n / 9, n / 2, n})
      CHECK(finds<float>(ca::reshape(ca::array(v), {outer, n}), k));
  }
}

TEST_CASE("topk: nothing, and one of one") {
  CHECK(ca::topk(ca::ndarray<float>(), 0).values.shape() == ca::shape{0});
  CHECK(ca::topk(vec({3, 1}), 0).indices.shape() == ca::shape{0});
  CHECK(ca::topk(ca::zeros<int>({2, 0, 3}), 2).values.shape() == ca::shape{2, 0, 2});
  CHECK(ca::topk(ca::zeros<int>({2, 0, 3}), 0, {.axis = 1}).values.shape() == ca::shape{2, 0, 3});
  CHECK(ca::topk(ca::zeros<int>({0, 5}), 2, {.axis = -2 + 1}).indices.shape() == ca::shape{0, 2});
  const auto one = ca::topk(ca::full<int>({1, 1, 1}, 7), 1, {.axis = 1});
  CHECK(test::equal(one.values, {1, 1, 1}, order{7}));
  CHECK(test::equal(one.indices, {1, 1, 1}, order{0}));
}

TEST_CASE("topk: dtypes, of one segment, short ones, long ones", "[large]") {
  for (const auto& [outer, n] : {std::pair<int64, int64>{1, 900}, {1, 9000}, {90, 40}, {5, 700}, {2, 9000}})
    for (const int64 k : {int64(1), int64(8), int64(33), n}) {
      if (k > n) continue;
      INFO("(" << outer << ", " << n << "), " << k);
      CHECK(finds<ca::int8>(outer, n, k));
      CHECK(finds<ca::uint8>(outer, n, k));
      CHECK(finds<ca::int16>(outer, n, k, 20001));
      CHECK(finds<int>(outer, n, k, 201, 20000003));
      CHECK(finds<ca::uint32>(outer, n, k, 201, 20000003u));
      CHECK(finds<int64>(outer, n, k, 201, int64(1) << 50));
      CHECK(finds<ca::uint64>(outer, n, k, 201, ca::uint64(1) << 52));
      CHECK(finds<double>(outer, n, k, 100003, 1e-300));
      CHECK(finds<bool>(ca::reshape(ca::astype<bool>(ca::array(numbers<ca::uint8>(outer * n)) % 2), {outer, n}), k));
      CHECK(finds<ca::float16>(ca::reshape(ca::astype<ca::float16>(ca::array(numbers<float>(outer * n))), {outer, n}),
                               k));
      CHECK(finds<ca::bfloat16>(
          ca::reshape(ca::astype<ca::bfloat16>(ca::array(numbers<float>(outer * n, 201, 1e35f))), {outer, n}), k));
    }
  CHECK(test::values(ca::topk(ca::array(std::vector<ca::uint64>{UINT64_MAX, 0, UINT64_MAX - 1, 1}), 3).values) ==
        std::vector<ca::uint64>{UINT64_MAX, UINT64_MAX - 1, 1});
  CHECK(
      test::values(ca::topk(ca::array(std::vector<int>{INT32_MAX, INT32_MIN, 0, -1}), 2, {.largest = false}).values) ==
      std::vector<int>{INT32_MIN, -1});
}

TEST_CASE("topk: as many elements as threads and blocks of a device take, more and fewer", "[large]") {
  for (const int64 n :
       {1,    2,    31,   32,   33,   63,   64,   65,   127,  128,  129,   255,   256,   257,    1023,   1024,
        1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 32768, 32769, 70000, 262143, 262144, 600001})
    for (const int64 k : {1, 2, 3, 8, 31, 32, 33, 64, 65, 255, 256, 257, 1000, 1024, 1025, 2048, 2049, 5000}) {
      if (k > n || (n > 10000 && k % 4 != 1)) continue;
      INFO(n << ", " << k);
      CHECK(finds<float>(1, n, k, 100003));
      if (n <= 4097) CHECK(finds<float>(7, n, k));
    }
  CHECK(finds<float>(1, 2000000, 100, 1000003));
  CHECK(finds<float>(1, 2000000, 70000, 1000003));
  CHECK(finds<double>(1, 400000, 1500, 1000003));
  CHECK(finds<float>(300, 64, 4));
  CHECK(finds<float>(20000, 10, 3));
  CHECK(finds<float>(150, 5000, 20));
  CHECK(finds<float>(2, 300000, 20000, 1000003));
}

TEST_CASE("topk: ascending and descending segments, in which all or none is an improvement", "[large]") {
  for (const int64 n : {5000, 300000}) {
    const auto up = ca::eval(ca::reshape(ca::arange<float>(n), {1, n}));
    const auto down = ca::eval(ca::reshape(ca::arange<float>(n, 0, -1), {1, n}));
    for (const int64 k : {1, 10, 400, 3000}) {
      CHECK(finds<float>(up, k));
      CHECK(finds<float>(down, k));
    }
  }
}

TEST_CASE("topk: views and expressions") {
  const auto a = ca::array<float>({{3, 9, 1}, {2, 8, 7}});
  CHECK(test::values(ca::topk(a(_, 1), 1).values) == floats{9});
  CHECK(test::values(ca::topk(a(0)(slice(none, none, -1)), 2).indices) == order{1, 2});  // of 1, 9, 3
  CHECK(test::values(ca::topk(-a(0), 1).values) == floats{-1});
  CHECK(test::equal(ca::topk(a(_, slice(1, none)), 1).values, {2, 1}, floats{9, 8}));
  CHECK(test::equal(ca::topk(a.t(), 1).indices, {3, 1}, order{0, 0, 1}));
  CHECK(test::equal(ca::topk(ca::broadcast_to(a(0), {2, 3}), 1).values, {2, 1}, floats{9, 9}));
  CHECK(test::equal(ca::topk(a * -1 + a(1), 2).values, {2, 2}, floats{6, -1, 0, 0}));
  CHECK(test::equal(a, {2, 3}, floats{3, 9, 1, 2, 8, 7}));
}

TEST_CASE("topk: wrong calls say what is wrong") {
  CHECK(test::thrown<ca::value_error>([] {
          ca::topk(ca::zeros({2, 3}), 4);
        }) == "topk: k = 4 of an axis of 3 elements");
  CHECK(test::thrown<ca::value_error>([] {
          ca::topk(ca::zeros({2, 3}), -1);
        }) == "topk: k = -1 of an axis of 3 elements");
  CHECK(test::thrown<ca::value_error>([] {
          ca::topk(ca::zeros({2, 0, 3}), 1, {.axis = 1});
        }) == "topk: k = 1 of an axis of 0 elements");
  CHECK(test::thrown<ca::index_error>([] { ca::topk(ca::zeros({}), 1); }) ==
        "topk: axis -1 is out of bounds for an array of 0 axes");
  CHECK(test::thrown<ca::index_error>([] {
          ca::topk(ca::zeros({2, 3}), 1, {.axis = 2});
        }) == "topk: axis 2 is out of bounds for an array of 2 axes");
}
