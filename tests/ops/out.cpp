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
  CHECK(test::equal(c, {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(row, {2}, ints{0, 0}));
}
