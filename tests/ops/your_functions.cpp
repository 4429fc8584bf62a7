// Functions of one's own: for each index, as a function of arrays, as a reduction.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

namespace {

using ca::_;
using floats = std::vector<float>;
using ints = std::vector<int>;

struct xor_of {
  static constexpr int identity = 0;
  CUDARRAY_HD int operator()(int a, int b) const { return a ^ b; }
};
struct larger {
  static constexpr float identity = -1e30f;
  template <class T>
  CUDARRAY_HD T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
/// The Game of Life on a torus.
struct life {
  ca::int64 rows, columns;
  CUDARRAY_HD void operator()(const ca::multi_index& at, ca::array_access<int> next,
                              ca::array_access<const int> now) const {
    int around = 0;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i != 0 || j != 0) around += now((at[0] + i + rows) % rows, (at[1] + j + columns) % columns);
    next(at[0], at[1]) = around == 3 || (around == 2 && now(at[0], at[1]) == 1);
  }
};
struct own_index {
  CUDARRAY_HD void operator()(const ca::multi_index& at, ca::array_access<ca::int64> a) const {
    a(at[0], at[1], at[2]) = at[0] * 100 + at[1] * 10 + at[2];
  }
};
struct turn {
  CUDARRAY_HD void operator()(const ca::multi_index& at, ca::array_access<float> a,
                              ca::array_access<const float> b) const {
    a(at[0], at[1]) = b(at[1], at[0]);
  }
};
struct sum_and_difference {
  CUDARRAY_HD void operator()(const ca::multi_index& at, ca::array_access<float> s, ca::array_access<const float> a,
                              ca::array_access<double> d, ca::array_access<const int> b) const {
    s(at[0]) = a(at[0]) + float(b(at[0]));
    d(at[0]) = a(at[0]) - float(b(at[0]));
  }
};

}  // namespace

TEST_CASE("your functions: for each index") {
  const auto a = ca::zeros<ca::int64>({2, 3, 4});
  ca::for_each_index(a.shape(), own_index{}, ca::out(a));
  CHECK(a(1, 2, 3).item() == 123);
  CHECK(a(0, 1, 0).item() == 10);
  CHECK(test::equal(a(1, 0), {4}, ints{100, 101, 102, 103}));
  // views of any strides, an expression, and several arrays of several dtypes
  const auto b = ca::reshape(ca::arange<float>(6), {2, 3}), c = ca::zeros<float>({3, 4});
  ca::for_each_index({3, 2}, turn{}, ca::out(c(_, ca::slice(ca::none, ca::none, -2))), b + 1);
  CHECK(test::equal(c, {3, 4}, floats{0, 4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3}));
  const auto s = ca::zeros<float>({3});
  const auto d = ca::zeros<double>({3});
  ca::for_each_index(3, sum_and_difference{}, ca::out(s), ca::array<float>({1, 2, 3}), ca::out(d),
                     ca::array<int>({10, 20, 30}));
  CHECK(test::equal(s, {3}, floats{11, 22, 33}));
  CHECK(test::equal(d, {3}, ints{-9, -18, -27}));
  // a glider comes back moved by one after four steps
  auto now = ca::zeros<int>({8, 8});
  now(ca::array<int>({0, 1, 2, 2, 2}), ca::array<int>({1, 2, 0, 1, 2})) = 1;
  const auto moved = ca::roll(now, {1, 1}, {0, 1});
  for (int step = 0; step < 4; ++step) {
    const auto next = ca::empty<int>({8, 8});
    ca::for_each_index({8, 8}, life{8, 8}, ca::out(next), now);
    now = next;
  }
  CHECK(ca::array_equal(now, moved));
}

TEST_CASE("your functions: for each index of no shape, of none, and of many") {
  const auto one = ca::zeros<float>({1});
  ca::for_each_index(
      {}, [] CUDARRAY_HD(const ca::multi_index&, ca::array_access<float> a) { a(0) += 7; }, ca::out(one));
  CHECK(test::equal(one, {1}, floats{7}));
  ca::for_each_index(
      {0, 3}, [] CUDARRAY_HD(const ca::multi_index&, ca::array_access<float> a) { a(0) = 1; }, ca::out(one));
  CHECK(test::equal(one, {1}, floats{7}));
  const auto many = ca::zeros<ca::int64>({300001});
  ca::for_each_index(
      300001, [] CUDARRAY_HD(const ca::multi_index& at, ca::array_access<ca::int64> a) { a(at[0]) = at[0]; },
      ca::out(many));
  CHECK(ca::array_equal(many, ca::arange(300001)));
}

TEST_CASE("your functions: what for_each_index writes is noticed, and checked") {
  const auto a = ca::zeros<float>({3, 2}), b = ca::ones<float>({2, 3});
  const auto before = a + 1;
  ca::for_each_index({3, 2}, turn{}, ca::out(a), b);
  CHECK_THROWS_AS(ca::eval(before), ca::stale_error);
  const auto fixed = ca::broadcast_to(a(0), {3, 2});
  CHECK_THROWS_AS(ca::for_each_index({3, 2}, turn{}, ca::out(fixed), b), ca::value_error);
  CHECK_THROWS_AS(ca::for_each_index({-1, 2}, turn{}, ca::out(a), b), ca::shape_error);
  const auto stale = b * 2;
  b(0, 0) = 5;
  CHECK_THROWS_AS(ca::for_each_index({3, 2}, turn{}, ca::out(a), stale), ca::stale_error);
  CHECK(test::equal(a, {3, 2}, floats{1, 1, 1, 1, 1, 1}));
}

TEST_CASE("your functions: vectorize") {
  const auto f = ca::vectorize([] CUDARRAY_HD(float x, float y) { return x > y ? x - y : 0.0f; });
  const auto x = ca::array<float>({{1, 5}, {3, 2}});
  CHECK(test::equal(f(x, 2), {2, 2}, floats{0, 3, 1, 0}));
  CHECK(test::equal(f(x(0), x), {2, 2}, floats{0, 0, 0, 3}));
}

TEST_CASE("your functions: a reduction") {
  const auto n = ca::array<int>({{1, 2, 3}, {4, 5, 6}});
  CHECK(test::equal(ca::reduce(xor_of{}, n, 0), {3}, ints{5, 7, 5}));
  CHECK(test::equal(ca::reduce(xor_of{}, n, -1, ca::keepdims), {2, 1}, ints{0, 7}));
  CHECK(ca::reduce(xor_of{}, n).item() == 7);
  CHECK(test::equal(ca::reduce(xor_of{}, n + 0, {0, 1}), {}, ints{7}));
  CHECK(ca::reduce(xor_of{}, ca::astype<int>(ca::arange(100003))).item() == 100003);
  CHECK(test::equal(ca::reduce(xor_of{}, ca::zeros<int>({0, 2}), 0), {2}, ints{0, 0}));
  const auto x = ca::sin(ca::arange<float>(5000));
  CHECK(ca::array_equal(ca::reduce(larger{}, ca::reshape(x, {50, 100}), 0), ca::max(ca::reshape(x, {50, 100}), 0)));
  CHECK(ca::array_equal(ca::reduce(larger{}, ca::reshape(x, {50, 100}), 1), ca::max(ca::reshape(x, {50, 100}), 1)));
  CHECK(float(ca::reduce(larger{}, ca::astype<ca::float16>(ca::arange(1000))).item()) == 999);
  CHECK(test::equal(1 + ca::reduce(larger{}, x(ca::slice(3)) * 0), {}, floats{1}));
  CHECK_THROWS_AS(ca::reduce(xor_of{}, n, 2), ca::index_error);
}
