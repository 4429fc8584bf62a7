// ca::assign_together: several arrays written by one statement.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::slice;

/// Numbers that differ from place to place.
template <class T = float>
ca::ndarray<T> numbers(const ca::shape& s, int seed) {
  return ca::astype<T>(
      ca::reshape((ca::arange(s.elements()) * ca::int64(seed) + ca::int64(seed)) % ca::int64(37) - ca::int64(18), s));
}
/// What a statement cost.
template <class F>
ca::statistics cost(const F& f) {
  const auto before = ca::stats();
  f();
  return ca::stats() - before;
}
template <class T>
bool same(const ca::ndarray<T>& a, const ca::ndarray<T>& b) {
  return test::equal(a, b.shape(), test::values(b));
}

/// AdamW's step on arrays of a shape, in place: one kernel, and the same numbers as one statement after the other.
void check_adam(const ca::shape& s) {
  INFO(ca::detail::cat(s));
  const ca::ndarray<float> p = numbers(s, 3) / 8.f, m = numbers(s, 5) / 16.f, v = ca::square(numbers(s, 7)) / 64.f,
                           g = numbers(s, 11) / 4.f;
  const auto mean = [&] { return 0.9f * m + 0.1f * g; };
  const auto square = [&] { return 0.99f * v + 0.01f * (g * g); };
  const auto next = [&] { return p * 0.999f - 0.01f * mean() / (ca::sqrt(square()) + 1e-8f); };
  const ca::ndarray<float> p2 = next(), m2 = mean(), v2 = square();
  const auto c = cost([&] { ca::assign_together(ca::out(p) = next(), ca::out(m) = mean(), ca::out(v) = square()); });
  CHECK(c.kernels == (s.elements() > 0));
  CHECK(c.allocations == 0);
  // a contraction of products and sums may differ from one kernel to the other
  CHECK(test::compare(p, s, test::values(p2), 1e-6));
  CHECK(test::compare(m, s, test::values(m2), 1e-6));
  CHECK(test::compare(v, s, test::values(v2), 1e-6));
}

}  // namespace

TEST_CASE("together: elements, in one pass and in place") {
  for (const ca::int64 n : {1, 2, 3, 5, 17, 64, 1000, 4097, 100003}) check_adam({n});
  check_adam({0});
  check_adam({7, 33});
  check_adam({});
}

TEST_CASE("together: layouts") {
  for (const ca::int64 n : {3, 8, 40, 130}) {
    const ca::ndarray<float> a = numbers({n, n}, 3), b = numbers({n, n}, 5), row = numbers({n}, 7);
    const ca::ndarray<float> sum = a + b.t(), difference = a - row;
    const ca::ndarray<float> wide = ca::zeros({n, n + 3}), turned = ca::zeros({n, n});
    const auto c = cost(
        [&] { ca::assign_together(ca::out(wide(_, slice(1, n + 1))) = a + b.t(), ca::out(turned.t()) = a - row); });
    CHECK(c.kernels == 1);
    CHECK(same<float>(ca::copy(wide(_, slice(1, n + 1))), sum));
    CHECK(same<float>(ca::copy(turned.t()), difference));
    CHECK(ca::all(wide(_, 0) == 0.f).item());
    CHECK(ca::all(wide(_, slice(n + 1, n + 3)) == 0.f).item());
  }
}

TEST_CASE("together: dtypes, broadcasts and numbers") {
  const ca::ndarray<float> a = numbers({6, 50}, 3);
  const ca::ndarray<double> d = ca::zeros<double>({6, 50});
  const ca::ndarray<bool> positive = ca::zeros<bool>({6, 50});
  const ca::ndarray<ca::bfloat16> h = ca::zeros<ca::bfloat16>({6, 50});
  const ca::ndarray<ca::complex64> z = ca::zeros<ca::complex64>({6, 50});
  const ca::ndarray<int> seven = ca::zeros<int>({6, 50});
  const auto c = cost([&] {
    ca::assign_together(ca::out(d) = ca::astype<double>(a) / 2.0, ca::out(positive) = a > 0.f,
                        ca::out(h) = ca::astype<ca::bfloat16>(a(0)), ca::out(seven) = 7);
  });
  CHECK(c.kernels == 1);
  CHECK(test::equal(d, {6, 50}, test::values(ca::astype<double>(a) / 2.0)));
  CHECK(test::equal(positive, {6, 50}, test::values(a > 0.f)));
  CHECK(test::equal(h, {6, 50}, test::values(ca::broadcast_to(ca::eval(ca::astype<ca::bfloat16>(a(0))), {6, 50}))));
  CHECK(ca::all(seven == 7).item());
  ca::assign_together(ca::out(z) = ca::astype<ca::complex64>(a), ca::out(d) = 1.0);
  CHECK(ca::all(z == ca::astype<ca::complex64>(a)).item());
  CHECK(ca::all(d == 1.0).item());
}

TEST_CASE("together: results of rows") {
  for (const ca::int64 n : {1, 5, 64, 100, 1024, 5000}) {
    const ca::ndarray<float> x = numbers({21, n}, 5) / 4.f, mean = ca::mean(x, -1, ca::keepdims),
                             by = ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f), expected = (x - mean) / by;
    const ca::ndarray<float> y = ca::zeros({21, n}), m = ca::zeros({21, 1}), r = ca::zeros({21});
    const auto normalised = [&] {
      return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5f);
    };
    auto c = cost([&] {
      ca::assign_together(ca::out(y) = normalised(), ca::out(m) = ca::mean(x, -1, ca::keepdims),
                          ca::out(r) = ca::sqrt(ca::var(x, -1) + 1e-5f));
    });
    // without and with keepdims are reductions of one type: they have one value, and different shapes
    CHECK(test::compare(y, {21, n}, test::values(expected), 2e-6));
    CHECK(test::compare(m, {21, 1}, test::values(mean), 1e-6));
    CHECK(test::compare(r, {21}, test::values(by), 1e-6));
    if (std::is_same_v<ca::default_device, ca::cuda> || n >= 64) CHECK(c.kernels == 1);
    c = cost([&] { ca::assign_together(ca::out(m) = ca::mean(x, -1, ca::keepdims), ca::out(r) = ca::var(x, -1)); });
    CHECK(test::compare(m, {21, 1}, test::values(mean), 1e-6));
    CHECK(test::compare(r, {21}, test::values(ca::var(x, -1)), 2e-6));
    if (std::is_same_v<ca::default_device, ca::cuda> || n >= 64) CHECK(c.kernels == 1);
  }
}

TEST_CASE("together: results of elements, two of them, in place") {
  for (const ca::int64 n : {3, 64, 257, 1000}) {
    const ca::ndarray<ca::bfloat16> y = numbers<ca::bfloat16>({9, n}, 5), d = numbers<ca::bfloat16>({9, n}, 3);
    const auto sum = [&] { return ca::sum(y * d, -1, ca::keepdims); };
    const ca::ndarray<ca::bfloat16> first = y * (d - sum()), second = d + sum();
    const auto c = cost([&] { ca::assign_together(ca::out(d) = y * (d - sum()), ca::out(y) = d + sum()); });
    CHECK(same(d, first));
    CHECK(same(y, second));
    if (std::is_same_v<ca::default_device, ca::cuda> || n >= 64) CHECK(c.kernels == 1);
  }
}

TEST_CASE("together: what one kernel does not have") {
  const ca::ndarray<float> a = numbers({8, 9}, 3), b = numbers({8, 9}, 5), before = ca::copy(a);
  const ca::ndarray<float> total = ca::zeros({9}), swapped = ca::copy(b);
  // shapes that differ, and what is written is read by the other
  ca::assign_together(ca::out(a) = b - ca::sum(a, 0), ca::out(total) = ca::sum(a, 0));
  CHECK(test::equal(a, {8, 9}, test::values(b - ca::ndarray<float>(ca::sum(before, 0)))));
  CHECK(test::equal(total, {9}, test::values(ca::sum(before, 0))));
  // other places of the same memory
  const ca::ndarray<float> all = ca::concatenate({before, b}, 0);
  ca::assign_together(ca::out(all(slice(0, 8))) = all(slice(8, 16)), ca::out(all(slice(8, 16))) = all(slice(0, 8)));
  CHECK(test::equal(all(slice(0, 8)), {8, 9}, test::values(b)));
  CHECK(test::equal(all(slice(8, 16)), {8, 9}, test::values(before)));
  ca::assign_together(ca::out(swapped) = swapped(slice(ca::none, ca::none, -1)), ca::out(total) = 1.f);
  CHECK(test::equal(swapped, {8, 9}, test::values(b(slice(ca::none, ca::none, -1)))));
  ca::assign_together(ca::out(total) = total + 1.f);  // one array
  CHECK(ca::all(total == 2.f).item());
  ca::assign_together(ca::out(a) = 3.f, ca::out(total) = ca::sum(a, 0));
  CHECK(ca::all(a == 3.f).item());
  CHECK(test::equal(total, {9}, test::values(ca::sum(b - ca::ndarray<float>(ca::sum(before, 0)), 0))));
}

TEST_CASE("together: arrays of one storage, and shared elements") {
  const ca::ndarray<float> w = ca::zeros({4, 6}), x = numbers({4, 3}, 5);
  ca::assign_together(ca::out(w(_, slice(0, 3))) = x, ca::out(w(_, slice(3, 6))) = x * 2.f);
  CHECK(test::equal(w, {4, 6}, test::values(ca::concatenate({x, ca::eval(x * 2.f)}, 1))));
  // the last value is what is there
  const ca::ndarray<float> total = ca::sum(w, 0);
  ca::assign_together(ca::out(w) = 1.f, ca::out(w(0)) = ca::sum(w, 0), ca::out(w(0, 0)) = 7.f);
  CHECK(ca::all(w(slice(1, 4)) == 1.f).item());
  CHECK(test::equal(w(0, slice(1, 6)), {5}, test::values(total(slice(1, 6)))));
  CHECK(w(0, 0).item() == 7);
}

TEST_CASE("together: columns of one array beside each other, in one pass") {
  const ca::ndarray<float> a = ca::zeros({5, 6}), x = numbers({5, 3}, 5);
  const auto c =
      cost([&] { ca::assign_together(ca::out(a(_, slice(0, 3))) = x + 1, ca::out(a(_, slice(3, 6))) = x * 2); });
  CHECK(c.kernels == 1);
  CHECK(same(a, ca::concatenate({ca::eval(x + 1), ca::eval(x * 2)}, 1)));
  // the last value is that of elements that they share
  ca::assign_together(ca::out(a(_, slice(0, 3))) = x, ca::out(a(_, slice(2, 5))) = -x);
  CHECK(same(ca::copy(a(_, slice(2, 5))), ca::eval(-x)));
  CHECK(same(ca::copy(a(_, slice(0, 2))), ca::copy(x(_, slice(0, 2)))));
}

TEST_CASE("together: a user's function sees each element once") {
  if (!ca::default_device::synchronous) return;
  const ca::ndarray<float> x = numbers({4, 128}, 5), y = ca::zeros({4, 128}), m = ca::zeros({4}), n = ca::zeros({4, 1});
  int calls = 0;
  int* const counter = &calls;
  const auto f = [counter] CUDARRAY_HD(float e) { return ++*counter, 2 * e; };
  const test::threads one(1);
  ca::assign_together(ca::out(y) = ca::map(f, x) - ca::sum(x, -1, ca::keepdims), ca::out(m) = ca::sum(x, -1),
                      ca::out(n) = ca::sum(x, -1, ca::keepdims));
  CHECK(calls == 512);
  calls = 0;
  ca::assign_together(ca::out(y) = x - ca::sum(x, -1, ca::keepdims), ca::out(n) = ca::map(f, x(_, slice(0, 1))),
                      ca::out(m) = ca::sum(x, -1));
  CHECK(calls == 4);
}

TEST_CASE("together: what is written by a statement that throws has been written") {
  const ca::ndarray<float> a = ca::zeros({3}), b = ca::ones({3}), from = ca::ones({4});
  const auto late = a + b;
  const ca::ndarray<int> index = ca::array<int>({0, 9, 1});
  const auto fails = [&] {
    ca::assign_together(ca::out(a) = ca::take(from, index), ca::out(b) = 7.f);
    ca::synchronize();
  };
  CHECK_THROWS_AS(fails(), ca::index_error);
  CHECK(test::equal(a, {3}, std::vector<int>{1, 0, 1}));
  CHECK(ca::all(b == 7.f).item());
  CHECK_THROWS_AS(ca::eval(late), ca::stale_error);
}

TEST_CASE("together: wrong statements write nothing") {
  const ca::ndarray<float> a = ca::ones({4, 4}), b = ca::ones({4, 4}), c = ca::ones({3});
  CHECK(test::thrown<ca::shape_error>([&] { ca::assign_together(ca::out(a) = b * 2.f, ca::out(c) = b); }) ==
        "assignment: shapes (3,) and (4, 4) differ at axis 1");
  CHECK(test::thrown<ca::value_error>([&] {
          ca::assign_together(ca::out(a) = b * 2.f, ca::out(ca::broadcast_to(c, {4, 3})) = 1.f);
        }).find("read-only") != std::string::npos);
  const auto late = b * 2.f;
  b(0, 0) = 1;
  CHECK_THROWS_AS(ca::assign_together(ca::out(a) = late, ca::out(c) = 1.f), ca::stale_error);
  CHECK(ca::all(a == 1.f).item());
  CHECK(ca::all(c == 1.f).item());
}
