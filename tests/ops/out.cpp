// ca::out: results written into an array that is there already.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2}, {3, 4}}); };

}  // namespace

TEST_CASE("out: elementwise functions and reductions, without allocating") {
  const auto a = make(), c = ca::zeros({2, 2});
  const auto before = ca::stats();
  const auto r = ca::square(a, ca::out(c));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(c, {2, 2}, ints{1, 4, 9, 16}));
  c(0, 0) = 7;
  CHECK(r(0, 0).item() == 7);  // what is returned is c
  ca::add(a, 1, ca::out(c));
  CHECK(test::equal(c, {2, 2}, ints{2, 3, 4, 5}));
  ca::multiply(2, a, ca::out(c));
  CHECK(test::equal(c, {2, 2}, ints{2, 4, 6, 8}));
  ca::sum(a, 0, ca::out(c(1)));
  CHECK(test::equal(c, {2, 2}, ints{2, 4, 4, 6}));
  ca::max(a, {0, 1}, ca::out(c(0, 0)));
  CHECK(test::equal(c, {2, 2}, ints{4, 4, 4, 6}));
}

TEST_CASE("out: views, and operands that are written") {
  const auto a = make();
  ca::square(a, ca::out(a));
  CHECK(test::equal(a, {2, 2}, ints{1, 4, 9, 16}));
  ca::add(a, a.t(), ca::out(a));
  CHECK(test::equal(a, {2, 2}, ints{2, 13, 13, 32}));
  ca::negative(a(0), ca::out(a(_, 1)));
  CHECK(test::equal(a, {2, 2}, ints{2, -2, 13, -13}));
  ca::add(a(1), 0, ca::out(a(0, slice(none, none, -1))));
  CHECK(test::equal(a, {2, 2}, ints{-13, 13, 13, -13}));
  ca::sum(a * a, 0, ca::out(a(0)));
  CHECK(test::equal(a, {2, 2}, ints{338, 338, 13, -13}));
}

TEST_CASE("out: the dtype is the array's") {
  const auto d = ca::zeros<double>({2, 2});
  ca::sqrt(make()(_, slice(none, none, -1)), ca::out(d.t()));
  CHECK(test::close(d, {2, 2}, {1.4142135623730951, 2, 1, 1.7320508075688772}));
  const auto b = ca::zeros<bool>({2, 2});
  ca::greater(make(), 2, ca::out(b));
  CHECK(test::equal(b, {2, 2}, ints{0, 0, 1, 1}));
}

TEST_CASE("out: where") {
  const auto a = make(), c = ca::zeros({2, 2});
  const auto before = ca::stats();
  const auto r = ca::where(a > 2, a, 0, ca::out(c));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(r, {2, 2}, ints{0, 0, 3, 4}));
  CHECK(r.data() == c.data());
  ca::where(ca::array<bool>({true, false}), a.t(), a(0), ca::out(a));  // reads and writes a
  CHECK(test::equal(a, {2, 2}, ints{1, 2, 2, 2}));
  const auto wide = ca::zeros<double>({2, 4});
  ca::where(a > 1, 7, 0.5, ca::out(wide(_, slice(none, none, -2))));
  CHECK(test::equal(wide, {2, 4}, std::vector<double>{0, 7, 0, 0.5, 0, 7, 0, 7}));
}

TEST_CASE("out: clip") {
  const auto a = make(), c = ca::zeros({2, 2});
  const auto before = ca::stats();
  const auto r = ca::clip(a, 2, 3, ca::out(c));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(r, {2, 2}, ints{2, 2, 3, 3}));
  CHECK(r.data() == c.data());
  ca::clip(a.t(), a(0), 3, ca::out(a));  // reads and writes a
  CHECK(test::equal(a, {2, 2}, ints{1, 3, 2, 3}));
  const auto whole = ca::zeros<int>({2});
  ca::clip(a(0), 0, 2.5, ca::out(whole(slice(none, none, -1))));
  CHECK(test::equal(whole, {2}, ints{2, 1}));
}

// [[1 2] [3 4]] @ [[1 2] [3 4]] = [[7 10] [15 22]]

TEST_CASE("out: matmul, without allocating") {
  const auto a = make(), c = ca::zeros({2, 2}), wide = ca::full({3, 5}, 9);
  const auto before = ca::stats();
  const auto r = ca::matmul(a, a, ca::out(c));
  ca::matmul(a, a.t(), ca::out(wide(slice(1, none), slice(2, 4))));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(r, {2, 2}, ints{7, 10, 15, 22}));
  CHECK(r.data() == c.data());
  CHECK(test::equal(wide, {3, 5}, ints{9, 9, 9, 9, 9, 9, 9, 5, 11, 9, 9, 9, 11, 25, 9}));
  ca::matmul(a, ca::zeros({2, 0}), ca::out(ca::zeros({2, 0})));
  ca::matmul(ca::zeros({2, 0}), ca::zeros({0, 2}), ca::out(wide(slice(2), slice(2))));  // sums of nothing
  CHECK(test::equal(wide, {3, 5}, ints{0, 0, 9, 9, 9, 0, 0, 5, 11, 9, 9, 9, 11, 25, 9}));
}

TEST_CASE("out: matmul with vectors") {
  const auto a = make(), c = ca::full({2, 3}, 9);
  const auto v = ca::array<float>({1, -1});
  const auto before = ca::stats();
  ca::matmul(a, v, ca::out(c(_, 1)));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(c, {2, 3}, ints{9, -1, 9, 9, -1, 9}));
  ca::matmul(v, a, ca::out(c(0, slice(0, 2))));
  CHECK(test::equal(c, {2, 3}, ints{-2, -2, 9, 9, -1, 9}));
  ca::matmul(v, a, ca::out(c(1, slice(none, none, -2))));
  CHECK(test::equal(c, {2, 3}, ints{-2, -2, 9, -2, -1, -2}));
  ca::matmul(v, v, ca::out(c(1, 2)));
  CHECK(test::equal(c, {2, 3}, ints{-2, -2, 9, -2, -1, 2}));
  ca::matmul(v, v * 3, ca::out(v(0)));
  CHECK(test::equal(v, {2}, ints{6, -1}));
}

TEST_CASE("out: matmul into what it reads") {
  const auto left = make(), right = make(), both = make(), turned = make();
  ca::matmul(left, make(), ca::out(left));
  CHECK(test::equal(left, {2, 2}, ints{7, 10, 15, 22}));
  ca::matmul(make(), right, ca::out(right));
  CHECK(test::equal(right, {2, 2}, ints{7, 10, 15, 22}));
  ca::matmul(both, both.t(), ca::out(both));
  CHECK(test::equal(both, {2, 2}, ints{5, 11, 11, 25}));
  ca::matmul(turned, make(), ca::out(turned.t()));
  CHECK(test::equal(turned, {2, 2}, ints{7, 15, 10, 22}));
  // a part of it: rows 0 and 1 are multiplied, rows 1 and 2 written
  const auto rows = ca::array<float>({{1, 2}, {3, 4}, {5, 6}});
  ca::matmul(rows(slice(0, 2)), make(), ca::out(rows(slice(1, 3))));
  CHECK(test::equal(rows, {3, 2}, ints{1, 2, 7, 10, 15, 22}));
  // beside it
  const auto halves = ca::array<float>({{1, 2, 0, 0}, {3, 4, 0, 0}});
  ca::matmul(halves(_, slice(2)), make(), ca::out(halves(_, slice(2, none))));
  CHECK(test::equal(halves, {2, 4}, ints{1, 2, 7, 10, 3, 4, 15, 22}));
  // an expression of it has its value already
  const auto e = make();
  ca::matmul(e + 0, e * 1, ca::out(e));
  CHECK(test::equal(e, {2, 2}, ints{7, 10, 15, 22}));
}

TEST_CASE("out: matmul into views") {
  const auto a = make(), c = ca::zeros({2, 2}), wide = ca::full({4, 4}, 9);
  ca::matmul(a, a, ca::out(c.t()));
  CHECK(test::equal(c, {2, 2}, ints{7, 15, 10, 22}));
  ca::matmul(a, a, ca::out(c(slice(none, none, -1))));
  CHECK(test::equal(c, {2, 2}, ints{15, 22, 7, 10}));
  ca::matmul(a, a, ca::out(c(_, slice(none, none, -1))));
  CHECK(test::equal(c, {2, 2}, ints{10, 7, 22, 15}));
  ca::matmul(a, a, ca::out(wide(slice(0, none, 2), slice(1, none, 2))));
  CHECK(test::equal(wide, {4, 4}, ints{9, 7, 9, 10, 9, 9, 9, 9, 9, 15, 9, 22, 9, 9, 9, 9}));
}

TEST_CASE("out: matmul of batches") {
  const auto a = ca::array<float>({{{1, 2}, {3, 4}}, {{0, 1}, {1, 0}}}), b = make();
  const ints expected = {7, 10, 15, 22, 3, 4, 1, 2};
  const auto c = ca::zeros({2, 2, 2}), rows = ca::zeros({2, 2, 2}), outer = ca::full({2, 3, 2, 2}, 9);
  const auto before = ca::stats();
  ca::matmul(a, b, ca::out(c));
  ca::matmul(a, b, ca::out(ca::swapaxes(rows, 0, 1)));  // the rows of the products in turn
  ca::matmul(a, b, ca::out(outer(_, 1)));
  CHECK((ca::stats() - before).allocations == 0);
  CHECK(test::equal(c, {2, 2, 2}, expected));
  CHECK(test::equal(rows, {2, 2, 2}, ints{7, 10, 3, 4, 15, 22, 1, 2}));
  CHECK(test::equal(outer(_, 1), {2, 2, 2}, expected));
  CHECK(test::equal(outer(_, slice(none, none, 2)), {2, 2, 2, 2}, ints(16, 9)));
  ca::matmul(a, b, ca::out(c(slice(none, none, -1))));
  CHECK(test::equal(c, {2, 2, 2}, ints{3, 4, 1, 2, 7, 10, 15, 22}));
  ca::matmul(a, a(0), ca::out(a));  // what every product reads
  CHECK(test::equal(a, {2, 2, 2}, expected));
}

TEST_CASE("out: matmul of other dtypes") {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const ca::ndarray<T> a = ca::astype<T>(make()), c = ca::full<T>({2, 4}, 1);
    ca::matmul(a, a, ca::out(c(_, slice(0, none, 2))));
    CHECK(test::equal(ca::astype<double>(c), {2, 4}, std::vector<double>{7, 1, 10, 1, 15, 1, 22, 1}));
    ca::matmul(a, a, ca::out(a));
    CHECK(test::equal(ca::astype<double>(a), {2, 2}, std::vector<double>{7, 10, 15, 22}));
  };
  check(double{}), check(ca::float16{}), check(ca::int64{}), check(ca::uint8{});
  const ca::ndarray<ca::complex64> z = ca::astype<ca::complex64>(make());
  ca::matmul(z, z, ca::out(z));
  CHECK(z(1, 1).item() == ca::complex64(22));
  const auto t = ca::array<bool>({{true, false}, {true, true}});
  ca::matmul(t, t.t(), ca::out(t));
  CHECK(test::equal(t, {2, 2}, ints{1, 1, 1, 1}));
  const auto d = ca::zeros<double>({2, 2});
  ca::matmul(make(), ca::astype<int>(make()), ca::out(d));  // float32 and int32 give float64
  CHECK(test::equal(d, {2, 2}, ints{7, 10, 15, 22}));
}

TEST_CASE("out: empty and 0-d") {
  const auto e = ca::zeros({0, 2}), z = ca::zeros({});
  ca::exp(e, ca::out(e));
  ca::sum(e, ca::axes::all(), ca::out(z));
  CHECK(z.item() == 0);
  ca::add(z, 3, ca::out(z));
  CHECK(z.item() == 3);
}

TEST_CASE("out: a wrong shape throws and nothing is written") {
  const auto a = make(), c = ca::zeros({2, 2}), row = ca::zeros({2});
  CHECK(test::thrown<ca::shape_error>([&] { ca::exp(a, ca::out(row)); }) ==
        "exp: the result has shape (2, 2), out has (2,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::add(row, 1, ca::out(c)); }).find("add") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::sum(a, 0, ca::out(c)); }).find("sum") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::add(a, ca::zeros({3}), ca::out(c)); }).find("axis 1") !=
        std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { ca::where(a > 2, row, 0, ca::out(row)); }) ==
        "where: the result has shape (2, 2), out has (2,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::clip(row, 0, 1, ca::out(c)); }) ==
        "clip: the result has shape (2,), out has (2, 2)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(a, a, ca::out(row)); }) ==
        "matmul: the result has shape (2, 2), out has (2,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(row, row, ca::out(row)); }) ==
        "matmul: the result has shape (), out has (2,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(row, a, ca::out(ca::zeros({}))); }) ==
        "matmul: the result has shape (2,), out has ()");
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::matmul(a, ca::ones({3, 2}), ca::out(c));
        }) == "matmul: shapes (2, 2) and (3, 2) do not fit: 2 columns, 3 rows");
  CHECK(test::equal(c, {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(row, {2}, ints{0, 0}));
  const auto wide = ca::broadcast_to(row, {2, 2});
  CHECK(test::thrown<ca::value_error>([&] { ca::matmul(a, a, ca::out(wide)); }) ==
        "assignment: the array of shape (2, 2) is read-only, a view of a broadcast array: write into a .copy()");
}
