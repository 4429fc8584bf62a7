// Scatters: indices that are there several times, any axis, layout and dtype; sums and extremes of segments.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using array = ca::ndarray<float>;
using numbers = std::vector<float>;

/// Numbers that look random and are the same everywhere.
struct sequence {
  unsigned state = 12345;
  int below(ca::int64 n) {
    state = state * 1664525u + 1013904223u;
    return int((state >> 8) % unsigned(n));
  }
};

/// Adds m rows of `width` to n with float32 sums of small integers, which are exact, and compares with a loop.
template <class T, class I>
bool adds(ca::int64 n, ca::int64 m, ca::int64 width, const I& pick) {
  std::vector<ca::int64> index(m);
  std::vector<T> values(m * width), to(n * width);
  sequence s;
  for (auto& k : index) k = pick(s);
  for (auto& v : values) v = T(float(s.below(7)));
  for (auto& v : to) v = T(float(s.below(5)));
  const auto a = ca::copy(ca::array(std::span<const T>(to), {n, width}));
  ca::scatter_add(a, ca::array(std::span<const ca::int64>(index), m),
                  ca::array(std::span<const T>(values), {m, width}));
  for (ca::int64 i = 0; i < m; ++i)
    for (ca::int64 j = 0; j < width; ++j) {
      T& t = to[(index[i] < 0 ? index[i] + n : index[i]) * width + j];
      t = T(float(t) + float(values[i * width + j]));
    }
  return test::equal(a, {n, width}, to);
}

}  // namespace

TEST_CASE("scatter_add: repeated and negative indices") {
  const array a = ca::zeros({4, 3});
  ca::scatter_add(a, ca::array<int>({1, -1, 1}), ca::array<float>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  CHECK(test::equal(a, {4, 3}, numbers{0, 0, 0, 8, 10, 12, 0, 0, 0, 4, 5, 6}));
  const auto counts = ca::zeros<ca::int64>(5);
  ca::scatter_add(counts, ca::array<int>({1, 1, 0, 4}), 1);
  CHECK(test::values(counts) == std::vector<ca::int64>{1, 2, 0, 0, 1});
}

TEST_CASE("scatter_add: axes, views, broadcast values, index of two axes") {
  const array c = ca::zeros({3, 4});
  ca::scatter_add(c.t(), ca::array<int>({{1, 1}, {0, 3}}), ca::array<float>({1, 2, 3}));
  CHECK(test::equal(c, {3, 4}, numbers{1, 2, 0, 1, 2, 4, 0, 2, 3, 6, 0, 3}));
  ca::scatter_add(c, ca::array<int>({{1, 1}, {0, 3}}), 1.f, -1);
  CHECK(test::equal(c, {3, 4}, numbers{2, 4, 0, 2, 3, 6, 0, 3, 4, 8, 0, 4}));
  const array d = ca::zeros({2, 3, 2}), part = d(_, ca::slice(1, ca::none));
  ca::scatter_add(part, ca::array<int>({0, 0}), ca::ones({2, 2, 2}), 1);
  CHECK(test::equal(d, {2, 3, 2}, numbers{0, 0, 2, 2, 0, 0, 0, 0, 2, 2, 0, 0}));
  ca::scatter_add(d, ca::array<int>({1}), d(_, ca::slice(1, 2)) * 2.f, 1);  // reads what it writes
  CHECK(test::equal(d, {2, 3, 2}, numbers{0, 0, 6, 6, 0, 0, 0, 0, 6, 6, 0, 0}));
}

TEST_CASE("scatter_add: sizes across runs and blocks") {
  for (const ca::int64 m : {1, 3, 4, 31, 32, 33, 64, 65, 257, 3000})
    for (const ca::int64 width : {1, 2, 3, 4, 20, 129}) {
      CAPTURE(m, width);
      CHECK(adds<float>(37, m, width, [](sequence& s) { return s.below(74) - 37; }));
      CHECK(adds<float>(5, m, width, [](sequence& s) { return s.below(100) ? 2 : 4; }));  // long runs
    }
  CHECK(adds<float>(100000, 70000, 8, [](sequence& s) { return s.below(100000); }));
  CHECK(adds<float>(3, 70000, 1, [](sequence&) { return 1; }));
}

TEST_CASE("scatter_add: dtypes") {
  const auto few = [](sequence& s) { return s.below(9); };
  CHECK(adds<double>(9, 100, 4, few));
  CHECK(adds<ca::int32>(9, 100, 4, few));
  CHECK(adds<ca::int32>(100000, 70000, 8, [](sequence& s) { return s.below(200000) - 100000; }));
  CHECK(adds<ca::uint64>(3, 70000, 1, [](sequence&) { return 1; }));
  const auto two = ca::zeros<ca::int64>({2, 3, 2});
  ca::scatter_add(two, ca::array<int>({-1, 0, 2, 2}), -ca::reshape(ca::arange<ca::int64>(16), {2, 4, 2}), 1);
  CHECK(test::equal(two, {2, 3, 2}, numbers{-2, -3, 0, 0, -10, -13, -10, -11, 0, 0, -34, -37}));
  ca::scatter_add(two, ca::arange<int>(90) % 3, ca::array<ca::int64>({1, 2}), 1);
  CHECK(test::equal(two, {2, 3, 2}, numbers{28, 57, 30, 60, 20, 47, 20, 49, 30, 60, -4, 23}));
  CHECK(adds<ca::uint8>(9, 40, 16, few));
  CHECK(adds<ca::float16>(9, 100, 8, few));
  const auto z = ca::zeros<ca::complex64>(2);
  ca::scatter_add(z, ca::array<int>({1, 1}), ca::complex64(1, 2));
  CHECK(test::values(z)[1] == ca::complex64(2, 4));
  const auto b = ca::zeros<bool>(3);
  ca::scatter_add(b, ca::array<int>({2, 2}), true);
  CHECK(test::values(b) == std::vector<bool>{false, false, true});
}

namespace {
/// A scatter of small numbers, some of them NaN, and the loop that says what it gives.
template <class T, class F, class G>
bool combines(ca::int64 n, ca::int64 m, ca::int64 width, const F& scatter, const G& combine) {
  std::vector<ca::int64> index(m);
  std::vector<T> values(m * width), to(n * width);
  sequence s;
  for (auto& k : index) k = s.below(2 * n) - n;
  for (auto& v : values) v = T(float(s.below(7) - 2));
  for (auto& v : to) v = T(float(s.below(5) - 1));
  const auto a = ca::copy(ca::array(std::span<const T>(to), {n, width}));
  scatter(a, ca::array(std::span<const ca::int64>(index), m), ca::array(std::span<const T>(values), {m, width}));
  for (ca::int64 i = 0; i < m; ++i)
    for (ca::int64 j = 0; j < width; ++j) {
      T& t = to[(index[i] < 0 ? index[i] + n : index[i]) * width + j];
      t = T(combine(float(t), float(values[i * width + j])));
    }
  return test::equal(a, {n, width}, to);
}
const auto largest = [](const auto& a, const auto& i, const auto& v) { ca::scatter_max(a, i, v); };
const auto smallest = [](const auto& a, const auto& i, const auto& v) { ca::scatter_min(a, i, v); };
float larger(float a, float b) { return a > b ? a : b; }
float smaller(float a, float b) { return a < b ? a : b; }
}  // namespace

TEST_CASE("scatter: largest, smallest, products, as numpy.maximum.at") {
  const float none = std::nanf("");
  const auto start = [] { return array(ca::array<float>({{1, 5, 2}, {4, 0, 3}, {9, 9, 9}})); };
  const auto rows = ca::array<int>({0, -2, 0, 1});
  const auto values = ca::array<float>({{3, 3, 3}, {7, -1, none}, {2, 8, 1}, {5, 5, 5}});
  const auto columns = ca::array<int>({2, 2, 0});
  const auto more = ca::array<float>({2, -4, 6});
  const array a = start(), b = start(), c = start(), d = start(), e = start(), f = start();
  ca::scatter_max(a, rows, values);
  CHECK(test::equal(a, {3, 3}, numbers{3, 8, 3, 7, 5, none, 9, 9, 9}));
  ca::scatter_min(b, rows, values);
  CHECK(test::equal(b, {3, 3}, numbers{1, 3, 1, 4, -1, none, 9, 9, 9}));
  ca::scatter_mul(c, rows, values);
  CHECK(test::equal(c, {3, 3}, numbers{6, 120, 6, 140, 0, none, 9, 9, 9}));
  ca::scatter_max(d, columns, more, 1);
  CHECK(test::equal(d, {3, 3}, numbers{6, 5, 2, 6, 0, 3, 9, 9, 9}));
  ca::scatter_min(e, columns, more, 1);
  CHECK(test::equal(e, {3, 3}, numbers{1, 5, -4, 4, 0, -4, 6, 9, -4}));
  ca::scatter_mul(f, columns, more, 1);
  CHECK(test::equal(f, {3, 3}, numbers{6, 5, -16, 24, 0, -24, 54, 9, -72}));
  const auto z = ca::copy(ca::ones<ca::complex64>(2));
  ca::scatter_mul(z, ca::array<int>({1, 1}), ca::complex64(0, 1));
  CHECK(test::values(z)[1] == ca::complex64(-1, 0));
}

TEST_CASE("scatter: largest and smallest of all sizes and dtypes") {
  for (const ca::int64 m : {1, 33, 257, 3000})
    for (const ca::int64 width : {1, 4, 20, 129}) {
      CAPTURE(m, width);
      CHECK(combines<float>(37, m, width, largest, larger));
      CHECK(combines<float>(5, m, width, smallest, smaller));
    }
  CHECK(combines<double>(9, 100, 4, largest, larger));
  CHECK(combines<ca::int64>(9, 100, 4, smallest, smaller));
  CHECK(combines<ca::int32>(100000, 70000, 8, largest, larger));
  CHECK(combines<ca::int8>(9, 100, 16, smallest, smaller));
  CHECK(combines<ca::float16>(9, 100, 8, largest, larger));
  const auto b = ca::copy(ca::array<bool>({true, false, true}));
  ca::scatter_max(b, ca::array<int>({1}), true);
  ca::scatter_min(b, ca::array<int>({2, 2}), ca::array<bool>({true, false}));
  CHECK(test::values(b) == std::vector<bool>{true, true, false});
}

TEST_CASE("segments: sums, means, extremes") {
  using halves = ca::ndarray<ca::float16>;
  const float inf = HUGE_VALF, none = std::nanf("");
  const auto x = ca::array<float>({{1, 5}, {4, 0}, {9, none}, {2, -3}, {8, 1}});
  const auto of = ca::array<int>({0, 3, 1, 0, 3});
  CHECK(test::equal(ca::segment_sum(x, of), {4, 2}, numbers{3, 2, 9, none, 0, 0, 12, 1}));
  CHECK(test::equal(ca::segment_sum(x, of, 5)(4), {2}, numbers{0, 0}));
  CHECK(test::equal(ca::segment_mean(x, of), {4, 2}, numbers{1.5f, 1, 9, none, 0, 0, 6, 0.5f}));
  CHECK(test::equal(ca::segment_max(x, of), {4, 2}, numbers{2, 5, 9, none, -inf, -inf, 8, 1}));
  CHECK(test::equal(ca::segment_min(x, of), {4, 2}, numbers{1, -3, 9, none, inf, inf, 4, 0}));
  // integers, truth values, half types: 3000 ones in float16 are not 2048
  const auto many = ca::zeros<int>(3000);
  const auto small = ca::array<ca::int8>({100, 100, 3});
  CHECK(test::equal(ca::segment_sum(small, ca::array<int>({0, 0, 1})), {2}, numbers{200, 3}));
  CHECK(test::equal(ca::segment_mean(small, ca::array<int>({0, 0, 1})), {2}, numbers{100, 3}));
  CHECK(test::equal(ca::segment_max(small, ca::array<int>({1, 1, 1}), 2), {2}, numbers{-128, 100}));
  CHECK(test::equal(ca::segment_sum(small > 5, ca::array<int>({0, 0, 1})), {2}, numbers{2, 0}));
  CHECK(test::values(ca::segment_sum(halves(ca::ones<ca::float16>(3000)), many))[0] == ca::float16(3000.f));
  CHECK(test::values(ca::segment_mean(halves(ca::ones<ca::float16>(3000)), many))[0] == ca::float16(1.f));
  static_assert(std::is_same_v<ca::value_type_t<decltype(ca::segment_sum(small, of))>, ca::int64>);
  static_assert(std::is_same_v<ca::value_type_t<decltype(ca::segment_mean(small, of))>, double>);
  static_assert(std::is_same_v<ca::value_type_t<decltype(ca::segment_mean(x, of))>, float>);
  // nothing
  CHECK(test::equal(ca::segment_sum(ca::zeros({0, 2}), ca::zeros<int>({0})), {0, 2}, numbers{}));
  CHECK(test::equal(ca::segment_max(ca::zeros({0, 2}), ca::zeros<int>({0}), 1), {1, 2}, numbers{-inf, -inf}));
}

TEST_CASE("segments: numbers that do not fit") {
  const array x = ca::ones({3, 2});
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::segment_sum(x, ca::array<int>({0, 1}));
        }) == "segment_sum: numbers of shape (2,) for the rows of shape (3, 2)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::segment_max(ca::full({}, 1), ca::array<int>({0})); }) ==
        "segment_max: numbers of shape (1,) for the rows of shape ()");
  CHECK(test::thrown<ca::value_error>([&] {
          ca::segment_mean(x, ca::array<int>({0, 1, 2}), -2);
        }) == "segment_mean: -2 segments");
  CHECK(test::thrown<ca::index_error>([&] {
          ca::eval(ca::segment_min(x, ca::array<int>({0, 1, 2}), 2));
          ca::synchronize();
        }) == "segment_min: index 2 is out of bounds for axis 0 with size 2");
  CHECK(test::thrown<ca::index_error>([&] {
          ca::segment_sum(x, ca::array<ca::int64>({0, 1, INT64_MAX}));
        }) == "segment_sum: the number 9223372036854775807 of a segment");
}

TEST_CASE("scatter_add: an array that picks its own places") {
  const auto a = ca::array<ca::int64>({1, 0, 3, 3});
  ca::scatter_add(a, a, ca::array<ca::int64>({2, 1, 1, 1}));
  CHECK(test::values(a) == std::vector<ca::int64>{2, 2, 3, 5});
}

TEST_CASE("scatter_add: no indices, no width") {
  const array a = ca::ones({2, 3});
  ca::scatter_add(a, ca::zeros<int>({0}), ca::zeros({0, 3}));
  ca::scatter_add(ca::zeros({2, 0}), ca::array<int>({1}), 1.f);
  CHECK(test::equal(a, {2, 3}, numbers(6, 1)));
}

TEST_CASE("scatter_add: the same bits in every run") {
  const array v = ca::random::normal({5000, 20});
  const auto i = ca::random::integers({5000}, 0, 50);
  const auto once = [&] {
    const array a = ca::zeros({50, 20});
    ca::scatter_add(a, i, v);
    return test::values(a);
  };
  const auto first = once();
  for (int k = 0; k < 5; ++k) CHECK(once() == first);
}

TEST_CASE("scatter_add: a wrong index adds nothing") {
  const array a = ca::zeros(4);
  const std::string text = test::thrown<ca::index_error>([&] {
    ca::scatter_add(a, ca::array<int>({0, 4, 1}), 1.f);
    ca::synchronize();
  });
  CHECK(text == "scatter_add: index 4 is out of bounds for axis 0 with size 4");
  CHECK(ca::sum(a).item() <= 2);
}
