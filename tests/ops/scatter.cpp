// scatter_add: indices that are there several times, any axis, layout and dtype.
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
