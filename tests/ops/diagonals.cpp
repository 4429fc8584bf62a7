// Diagonals and triangles, and arrays made of formulas: what NumPy gives.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ints = std::vector<int>;

const auto make = [] { return ca::reshape(ca::arange<float>(12), {3, 4}); };
const auto cube = [] { return ca::reshape(ca::arange<int>(24), {2, 3, 4}); };

}  // namespace

TEST_CASE("diagonals: views of them, and their sums") {
  const auto a = make();
  CHECK(test::equal(ca::diagonal(a), {3}, ints{0, 5, 10}));
  CHECK(test::equal(ca::diagonal(a, 1), {3}, ints{1, 6, 11}));
  CHECK(test::equal(ca::diagonal(a, 3), {1}, ints{3}));
  CHECK(test::equal(ca::diagonal(a, 4), {0}, ints{}));
  CHECK(test::equal(ca::diagonal(a, -2), {1}, ints{8}));
  CHECK(test::equal(ca::diagonal(a, -9), {0}, ints{}));
  CHECK(test::equal(ca::diagonal(a.t(), -1), {3}, ints{1, 6, 11}));
  CHECK(test::equal(ca::diagonal(a * 2), {3}, ints{0, 10, 20}));
  CHECK(test::equal(ca::diagonal(cube(), 0, 1, 2), {2, 3}, ints{0, 5, 10, 12, 17, 22}));
  CHECK(test::equal(ca::diagonal(cube(), 1, -1, 0), {3, 1}, ints{12, 16, 20}));
  CHECK(ca::diagonal(ca::zeros({0, 3})).shape() == ca::shape{0});
  ca::ndarray<float> b = a.copy();
  ca::diagonal(b, 1)(_) = 100;
  CHECK(test::equal(b, {3, 4}, ints{0, 100, 2, 3, 4, 5, 100, 7, 8, 9, 10, 100}));
  CHECK(ca::trace(a).item() == 15);
  CHECK(ca::trace(a, -1).item() == 13);
  CHECK(test::equal(ca::trace(cube(), 0, 1, 2), {2}, ints{15, 51}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::trace(cube()))>, ca::int64>);
  CHECK(test::thrown<ca::shape_error>([] { ca::diagonal(ca::arange(3)); }) ==
        "diagonal: an array of shape (3,), not of two axes at least");
  CHECK(test::thrown<ca::value_error>([&] { ca::trace(a, 0, 1, -1); }) == "trace: axis 1 twice");
  CHECK_THROWS_AS(ca::diagonal(a, 0, 0, 2), ca::index_error);
}

TEST_CASE("diagonals: matrices with them") {
  const auto v = ca::array<int>({1, 2});
  CHECK(test::equal(ca::diag(v), {2, 2}, ints{1, 0, 0, 2}));
  CHECK(test::equal(ca::diag(v + 1, 1), {3, 3}, ints{0, 2, 0, 0, 0, 3, 0, 0, 0}));
  CHECK(test::equal(ca::diag(v, -1), {3, 3}, ints{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  CHECK(test::equal(ca::diag(make(), -1), {2}, ints{4, 9}));
  CHECK(test::equal(ca::diagflat(ca::array<bool>({{true, false}})), {2, 2}, ints{1, 0, 0, 0}));
  CHECK(ca::diag(ca::zeros({0})).shape() == ca::shape{0, 0});
  CHECK(test::equal(ca::diag(ca::zeros<int>({0}), 1), {1, 1}, ints{0}));
  CHECK(test::thrown<ca::shape_error>([] { ca::diag(cube()); }) ==
        "diag: an array of shape (2, 3, 4), not of 1 or 2 axes");
  ca::ndarray<float> a = make();
  ca::fill_diagonal(a, -1);
  CHECK(test::equal(a, {3, 4}, ints{-1, 1, 2, 3, 4, -1, 6, 7, 8, 9, -1, 11}));
  ca::fill_diagonal(a.t(), ca::array<int>({7, 8, 9}));
  CHECK(test::equal(ca::diagonal(a), {3}, ints{7, 8, 9}));
  ca::ndarray<int> c = ca::zeros<int>({2, 2, 2});
  ca::fill_diagonal(c, 1);
  CHECK(test::equal(c, {2, 2, 2}, ints{1, 0, 0, 0, 0, 0, 0, 1}));
  CHECK(test::thrown<ca::shape_error>([] { ca::fill_diagonal(cube(), 1); }) ==
        "fill_diagonal: an array of shape (2, 3, 4), whose extents differ");
  CHECK_THROWS_AS(ca::fill_diagonal(v, 1), ca::shape_error);
  CHECK_THROWS_AS(ca::fill_diagonal(ca::broadcast_to(v, {2, 2}), 1), ca::value_error);
}

TEST_CASE("diagonals: triangles") {
  const auto a = make();
  CHECK(test::equal(ca::tril(a), {3, 4}, ints{0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0}));
  CHECK(test::equal(ca::triu(a, 1), {3, 4}, ints{0, 1, 2, 3, 0, 0, 6, 7, 0, 0, 0, 11}));
  CHECK(test::equal(ca::tril(a + 1, -1), {3, 4}, ints{0, 0, 0, 0, 5, 0, 0, 0, 9, 10, 0, 0}));
  CHECK(test::equal(ca::triu(ca::array<int>({1, 2, 3})), {3, 3}, ints{1, 2, 3, 0, 2, 3, 0, 0, 3}));
  CHECK(ca::all(ca::tril(cube()) + ca::triu(cube(), 1) == cube()).item());
  const auto truths = ca::tril(a >= 0, 9);
  CHECK(std::is_same_v<ca::value_type_t<decltype(truths)>, bool>);
  CHECK(ca::all(truths).item());
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::tril(ca::zeros<ca::float16>({2, 2})))>, ca::float16>);
  CHECK_THROWS_AS(ca::tril(a(0, 0)), ca::shape_error);
  CHECK(test::equal(ca::tri<int>(3), {3, 3}, ints{1, 0, 0, 1, 1, 0, 1, 1, 1}));
  CHECK(test::equal(ca::tri<int>(2, 4, 1), {2, 4}, ints{1, 1, 0, 0, 1, 1, 1, 0}));
  CHECK(ca::tri(0, 3).shape() == ca::shape{0, 3});
  CHECK_THROWS_AS(ca::tri(-2), ca::shape_error);
  for (const ca::int64 far : {INT64_MAX, INT64_MIN}) {
    INFO(far);
    CHECK(ca::sum(ca::tri<int>(2, 3, far)).item() == (far > 0 ? 6 : 0));
    CHECK(ca::sum(ca::tril(a, far)).item() == (far > 0 ? 66 : 0));
    CHECK(ca::sum(ca::triu(a, far)).item() == (far > 0 ? 0 : 66));
    CHECK(ca::diagonal(a, far).size() == 0);
    CHECK_THROWS_AS(ca::diag(ca::ones({2}), far), ca::shape_error);
  }
  const auto low = ca::tril_indices(3, -1), high = ca::triu_indices(2, 0, 3);
  CHECK(test::equal(low[0], {3}, ints{1, 2, 2}));
  CHECK(test::equal(low[1], {3}, ints{0, 0, 1}));
  CHECK(test::equal(high[0], {5}, ints{0, 0, 0, 1, 1}));
  CHECK(test::equal(high[1], {5}, ints{0, 1, 2, 1, 2}));
}

TEST_CASE("creation: sequences, coordinates and functions of them") {
  CHECK(test::equal(ca::logspace(0, 3, 4), {4}, ints{1, 10, 100, 1000}));
  CHECK(test::equal(ca::logspace<int>(0, 4, 5, 2), {5}, ints{1, 2, 4, 8, 16}));
  CHECK(ca::logspace(0, 1).size() == 50);
  CHECK(test::equal(ca::geomspace(1, 8, 4), {4}, ints{1, 2, 4, 8}));
  CHECK(test::equal(ca::geomspace(-1000, -1, 4), {4}, ints{-1000, -100, -10, -1}));
  CHECK(ca::geomspace<double>(3, 7, 9)(-1).item() == 7);
  CHECK(ca::geomspace<double>(3, 7, 9)(0).item() == 3);
  CHECK(test::equal(ca::geomspace(5, 8, 1), {1}, ints{5}));
  CHECK(ca::abs(ca::geomspace<double>(1e-200, 1e-150, 3)(1) / 1e-175 - 1).item() < 1e-12);
  CHECK(test::equal(ca::fromfunction([](const auto&, const auto&) { return 7; }, {1, 2}), {1, 2}, ints{7, 7}));
  CHECK(ca::geomspace(5, 8, 0).size() == 0);
  CHECK(test::thrown<ca::value_error>([] { ca::geomspace(-1, 8); }) == "geomspace: from -1 to 8: of one sign, not 0");
  CHECK(test::thrown<ca::value_error>([] { ca::logspace(0, 1, -2); }) == "logspace: -2 values");
  CHECK(test::equal(ca::identity<int>(2), {2, 2}, ints{1, 0, 0, 1}));
  CHECK(test::equal(ca::indices({2, 3}), {2, 2, 3}, ints{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
  CHECK(ca::indices({}).shape() == ca::shape{0});
  CHECK(test::equal(ca::fromfunction([](const auto& i, const auto& j) { return i * 10 + j; }, {2, 3}), {2, 3},
                    ints{0, 1, 2, 10, 11, 12}));
  CHECK(test::equal(ca::fromfunction([](const auto& i, const auto&) { return i == 1; }, {2, 2}), {2, 2},
                    ints{0, 0, 1, 1}));
  CHECK(test::thrown<ca::value_error>([] {
          ca::fromfunction([](const auto& i) { return i; }, {2, 2});
        }) == "fromfunction: a function of 1 coordinates for an array of 2 axes");
  CHECK(test::equal(ca::vander(ca::array<float>({1, 2, 3})), {3, 3}, ints{1, 1, 1, 4, 2, 1, 9, 3, 1}));
  CHECK(test::equal(ca::vander(ca::array<int>({2, 3}), 3, true), {2, 3}, ints{1, 2, 4, 1, 3, 9}));
  CHECK(ca::vander(ca::array<float>({2, 3}), 0).shape() == ca::shape{2, 0});
  CHECK_THROWS_AS(ca::vander(make()), ca::shape_error);
  CHECK_THROWS_AS(ca::vander(ca::arange(3), -2), ca::value_error);
}
