// Searching in sorted arrays, and what sets of elements are made by: what NumPy gives.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ints = std::vector<int>;
using reals = std::vector<double>;

const double none = std::nan(""), inf = HUGE_VAL;

/// The same elements, with a step between them.
const auto stepped = [](const auto& line) {
  using T = ca::value_type_t<decltype(line)>;
  const auto wide = ca::zeros<T>({line.size(), 2});
  wide(_, 1) = line;
  return wide(_, 1);
};

}  // namespace

TEST_CASE("searching: searchsorted") {
  const auto a = ca::array<double>({1, 2, 2, 3, none, none}), v = ca::array<double>({none, inf, 2, -inf, 4});
  CHECK(test::equal(ca::searchsorted(a, v), {5}, ints{4, 4, 1, 0, 4}));
  CHECK(test::equal(ca::searchsorted(a, v, ca::side::right), {5}, ints{6, 4, 3, 0, 4}));
  CHECK(test::equal(ca::searchsorted(stepped(a), stepped(v)), {5}, ints{4, 4, 1, 0, 4}));
  CHECK(test::equal(ca::searchsorted(a + 1, v(ca::slice(ca::none, 4)) + 1, ca::side::right), {4}, ints{6, 4, 3, 0}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::searchsorted(a, v))>, ca::int64>);
  const auto zeros = ca::array<float>({-1, -0.f, 0, 1});
  CHECK(test::equal(ca::searchsorted(zeros, ca::array<float>({0, -0.f})), {2}, ints{1, 1}));
  CHECK(test::equal(ca::searchsorted(zeros, ca::array<float>({0, -0.f}), ca::side::right), {2}, ints{3, 3}));
  const auto grid = ca::array<double>({{0, 1, 2}, {3, 4, 2.5}});
  CHECK(test::equal(ca::searchsorted(a, grid.t()), {3, 2}, ints{0, 3, 0, 4, 1, 3}));
  CHECK(test::equal(ca::searchsorted(a, ca::broadcast_to(grid(0), {2, 3})), {2, 3}, ints{0, 0, 1, 0, 0, 1}));
  CHECK(test::equal(ca::searchsorted(a, 2), {}, ints{1}));
  CHECK(test::equal(ca::searchsorted(a, 2.5f, ca::side::right), {}, ints{3}));
  CHECK(test::equal(ca::searchsorted(a, none, ca::side::right), {}, ints{6}));
  CHECK(test::equal(ca::searchsorted(a, a(3)), {}, ints{3}));
  for (int n = 0; n < 20; ++n) {
    const auto line = ca::arange<int>(n);
    const auto at = ca::arange<int>(-1, n + 2);
    CHECK(ca::all(ca::searchsorted(line, at) == ca::clip(at, 0, n)).item());
    CHECK(ca::all(ca::searchsorted(line, at, ca::side::right) == ca::clip(at + 1, 0, n)).item());
  }
  CHECK(ca::searchsorted(a, ca::zeros({0, 3})).shape() == ca::shape{0, 3});
  CHECK(test::equal(ca::searchsorted(ca::zeros({0}), ca::array<int>({1, 2})), {2}, ints{0, 0}));
}

TEST_CASE("searching: searchsorted of other dtypes than the array's, and of other shapes") {
  const auto line = ca::array<int>({1, 2, 3});
  CHECK(test::equal(ca::searchsorted(line, ca::array<double>({1.5, 2, 2.5, none, -inf, inf})), {6},
                    ints{1, 1, 2, 3, 0, 3}));
  const auto bytes = ca::array<ca::uint8>({0, 1, 255});
  const auto wide = ca::array<int>({-1, 256, 255, 0});
  CHECK(test::equal(ca::searchsorted(bytes, wide), {4}, ints{0, 3, 2, 0}));
  CHECK(test::equal(ca::searchsorted(bytes, wide, ca::side::right), {4}, ints{0, 3, 3, 1}));
  CHECK(test::equal(ca::searchsorted(bytes, -1, ca::side::right), {}, ints{0}));
  CHECK(test::equal(ca::searchsorted(bytes, 300), {}, ints{3}));
  CHECK(test::equal(ca::searchsorted(bytes, 0.5), {}, ints{1}));
  CHECK(
      test::equal(ca::searchsorted(ca::array<ca::int8>({-3, 0, 2}), ca::array<ca::uint8>({0, 200})), {2}, ints{1, 3}));
  CHECK(test::equal(ca::searchsorted(ca::array<bool>({false, true}), ca::array<bool>({true, false}), ca::side::right),
                    {2}, ints{2, 1}));
  CHECK(test::equal(ca::searchsorted(ca::array<float>({0.1f}), ca::array<double>({0.1})), {1}, ints{0}));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::searchsorted(ca::zeros({2, 3}), line);
        }) == "searchsorted: a sorted array of shape (2, 3), not of one axis");
  CHECK(test::thrown<ca::shape_error>([&] { ca::searchsorted(line(0), line); }) ==
        "searchsorted: a sorted array of shape (), not of one axis");
}

TEST_CASE("searching: digitize") {
  const auto x = ca::array<double>({0, 1, 1.5, 2, 3, 4, none});
  const auto up = ca::array<int>({1, 2, 3});
  CHECK(test::equal(ca::digitize(x, up), {7}, ints{0, 1, 1, 2, 3, 3, 3}));
  CHECK(test::equal(ca::digitize(x, up, true), {7}, ints{0, 0, 1, 1, 2, 3, 3}));
  CHECK(test::equal(ca::digitize(x, ca::flip(up)), {7}, ints{3, 2, 2, 1, 0, 0, 0}));
  CHECK(test::equal(ca::digitize(x, ca::flip(up), true), {7}, ints{3, 3, 2, 2, 1, 0, 0}));
  CHECK(test::equal(ca::digitize(stepped(x) + 1, stepped(up) + 1), {7}, ints{0, 1, 1, 2, 3, 3, 3}));
  CHECK(test::equal(ca::digitize(x(3), up), {}, ints{2}));
  CHECK(test::equal(ca::digitize(ca::array<int>({{0, 1}, {2, 9}}).t(), up), {2, 2}, ints{0, 2, 1, 3}));
  CHECK(test::equal(ca::digitize(up - 1, ca::array<int>({1, 1})), {3}, ints{0, 2, 2}));
  CHECK(test::equal(ca::digitize(up, ca::zeros({0})), {3}, ints{0, 0, 0}));
  CHECK(test::equal(ca::digitize(up, ca::array<float>({2})), {3}, ints{0, 1, 1}));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::digitize(x, ca::zeros({1, 2}));
        }) == "digitize: edges of shape (1, 2), not of one axis");
}

TEST_CASE("searching: edges of digitize that neither ascend nor descend") {
  const auto x = ca::array<double>({0, 1});
  CHECK(test::thrown<ca::value_error>([&] { ca::digitize(x, ca::array<int>({1, 3, 2})); }).find("digitize") == 0);
}

TEST_CASE("searching: interp") {
  const auto xp = ca::array<double>({0, 1, 2}), fp = ca::array<double>({4, 1, 3});
  const auto x = ca::array<double>({-1, 0, .5, 1, 1.5, 2, 3, none, inf, -inf});
  CHECK(test::equal(ca::interp(x, xp, fp), {10}, reals{4, 4, 2.5, 1, 2, 3, 3, none, 3, 4}));
  CHECK(test::equal(ca::interp(x, xp, fp, {.left = -7}), {10}, reals{-7, 4, 2.5, 1, 2, 3, 3, none, 3, -7}));
  CHECK(test::equal(ca::interp(x, xp, fp, {.left = 0, .right = 9}), {10}, reals{0, 4, 2.5, 1, 2, 3, 9, none, 9, 0}));
  CHECK(test::equal(ca::interp(stepped(x) + 1, stepped(xp) + 1, stepped(fp) * 2), {10},
                    reals{8, 8, 5, 2, 4, 6, 6, none, 6, 8}));
  CHECK(test::equal(ca::interp(x(4), xp, fp), {}, reals{2}));
  CHECK(test::equal(ca::interp(ca::array<double>({{0, 1}, {.5, 2}}).t(), xp, fp), {2, 2}, reals{4, 2.5, 1, 3}));
  CHECK(ca::interp(ca::zeros({0, 2}), xp, fp).shape() == ca::shape{0, 2});
  const auto whole = ca::interp(ca::array<int>({1, 3}), ca::array<int>({0, 2, 4}), ca::array<int>({1, 2, 5}));
  CHECK(test::equal(whole, {2}, reals{1.5, 3.5}));
  CHECK(test::equal(ca::interp(ca::array<float>({.5f}), ca::array<float>({0, 1}), ca::array<float>({1, 2})), {1},
                    reals{1.5}));
  const auto twice = ca::interp(ca::array<double>({-1, 0, .5, 1, 1.5, 2, 3}), ca::array<int>({0, 1, 1, 2}),
                                ca::array<int>({0, 10, 20, 30}));
  CHECK(test::equal(twice, {7}, reals{0, 0, 5, 20, 25, 30, 30}));
  const auto same = ca::interp(ca::array<double>({-1, 0, 1}), ca::array<int>({0, 0}), ca::array<int>({3, 4}));
  CHECK(test::equal(same, {3}, reals{3, 4, 4}));
  CHECK(test::equal(ca::interp(ca::array<double>({0, 1, 2}), ca::array<int>({1}), ca::array<int>({5})), {3},
                    reals{5, 5, 5}));
  CHECK(test::thrown<ca::value_error>([&] { ca::interp(x, ca::zeros({0}), ca::zeros({0})); }) == "interp: no points");
  CHECK(test::thrown<ca::shape_error>([&] { ca::interp(x, xp, ca::zeros({2})); }) ==
        "interp: points of shapes (3,) and (2,): of one axis, and equal");
  CHECK_THROWS_AS(ca::interp(x, ca::zeros({2, 2}), ca::zeros({2, 2})), ca::shape_error);
}

TEST_CASE("searching: interp of values and points that are not finite") {
  const auto x = ca::array<double>({.5, 1.5, 0, 1, 2}), xp = ca::array<double>({0, 1, 2});
  CHECK(test::equal(ca::interp(x, xp, ca::array<double>({inf, 1, -inf})), {5}, reals{inf, -inf, inf, 1, -inf}));
  CHECK(test::equal(ca::interp(x, xp, ca::array<double>({none, 1, 3})), {5}, reals{none, 2, none, 1, 3}));
  const auto flat = ca::array<double>({inf, inf, 3});
  CHECK(test::equal(ca::interp(ca::array<double>({.5}), xp, flat), {1}, reals{inf}));
  const auto up = ca::array<double>({1, 2});
  CHECK(test::equal(ca::interp(ca::array<double>({1, inf, 5, 0}), ca::array<double>({0, inf}), up), {4},
                    reals{1, 2, 1, 1}));
  CHECK(test::equal(ca::interp(ca::array<double>({-1, -inf, 0, 3}), ca::array<double>({-inf, 0}), up), {4},
                    reals{2, 1, 2, 2}));
}

TEST_CASE("searching: unique") {
  const auto x = ca::array<double>({none, 1, none, -inf, inf, 1, -0., 0});
  CHECK(test::equal(ca::unique(x), {5}, reals{-inf, 0, 1, inf, none}));
  CHECK(test::equal(ca::unique(stepped(x) * 2, false), {6}, reals{-inf, 0, 2, inf, none, none}));
  CHECK(test::equal(ca::unique_values(ca::array<float>({NAN, NAN, 1})), {3}, reals{1, none, none}));
  CHECK(test::equal(ca::unique(ca::array<bool>({true, false, true})), {2}, ints{0, 1}));
  CHECK(test::equal(ca::unique(ca::array<ca::uint8>({{255, 0}, {0, 7}}).t()), {3}, ints{0, 7, 255}));
  CHECK(test::equal(ca::unique(ca::broadcast_to(ca::array<int>({2, 1}), {3, 2})), {2}, ints{1, 2}));
  CHECK(test::equal(ca::unique(x(1)), {1}, ints{1}));
  CHECK(ca::unique(ca::zeros({0, 3})).shape() == ca::shape{0});
  const auto one = ca::array<int>({4});
  const ca::ndarray<int> written = ca::unique(one);
  written(ca::ellipsis) = 9;
  CHECK(one(0).item() == 4);
}

TEST_CASE("searching: unique_all, unique_counts, unique_inverse") {
  const auto x = ca::array<double>({3, 1, none, 1, none, 2});
  const auto [values, indices, inverse, counts] = ca::unique_all(x);
  CHECK(test::equal(values, {5}, reals{1, 2, 3, none, none}));
  CHECK(test::equal(indices, {5}, ints{1, 5, 0, 2, 4}));
  CHECK(test::equal(inverse, {6}, ints{2, 0, 3, 0, 4, 1}));
  CHECK(test::equal(counts, {5}, ints{2, 1, 1, 1, 1}));
  const auto as_one = ca::unique_all(x, true);
  CHECK(test::equal(as_one.inverse_indices, {6}, ints{2, 0, 3, 0, 3, 1}));
  CHECK(test::equal(as_one.counts, {4}, ints{2, 1, 1, 2}));
  const auto grid = ca::array<int>({{2, 1}, {1, 3}}).t();
  const auto g = ca::unique_all(grid);
  CHECK(test::equal(g.indices, {3}, ints{1, 0, 3}));
  CHECK(test::equal(g.inverse_indices, {2, 2}, ints{1, 0, 0, 2}));
  CHECK(test::equal(ca::take(g.values, g.inverse_indices), {2, 2}, ints{2, 1, 1, 3}));
  const auto [v, c] = ca::unique_counts(grid + 1);
  CHECK(test::equal(v, {3}, ints{2, 3, 4}));
  CHECK(test::equal(c, {3}, ints{2, 1, 1}));
  const auto [w, i] = ca::unique_inverse(ca::array<bool>({true, false, true}));
  CHECK(test::equal(w, {2}, ints{0, 1}));
  CHECK(test::equal(i, {3}, ints{1, 0, 1}));
  const auto point = ca::unique_all(x(0));
  CHECK(test::equal(point.values, {1}, ints{3}));
  CHECK(test::equal(point.inverse_indices, {}, ints{0}));
  CHECK(test::equal(point.counts, {1}, ints{1}));
  const auto no = ca::unique_all(ca::zeros<int>({0, 3}));
  CHECK(test::equal(no.values, {0}, ints{}));
  CHECK(test::equal(no.indices, {0}, ints{}));
  CHECK(test::equal(no.inverse_indices, {0, 3}, ints{}));
  CHECK(test::equal(no.counts, {0}, ints{}));
  const auto many = ca::arange<int>(10000) % 7;
  CHECK(test::equal(ca::unique_all(many).indices, {7}, ints{0, 1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::unique_all(many).counts, {7}, ints{1429, 1429, 1429, 1429, 1428, 1428, 1428}));
}

TEST_CASE("searching: unique_along") {
  const auto a = ca::array<int>({{1, 0, 1}, {0, 2, 0}, {1, 0, 1}});
  CHECK(test::equal(ca::unique_along(a, 0), {2, 3}, ints{0, 2, 0, 1, 0, 1}));
  CHECK(test::equal(ca::unique_along(a, -1), {3, 2}, ints{0, 1, 2, 0, 0, 1}));
  CHECK(test::equal(ca::unique_along(a.t() + 1, 1), {3, 2}, ints{1, 2, 3, 1, 1, 2}));
  CHECK(test::equal(ca::unique_along(ca::array<int>({3, 1, 3}), 0), {2}, ints{1, 3}));
  const auto cube = ca::array<int>({{{1, 2}, {1, 2}}, {{3, 4}, {3, 4}}});
  CHECK(test::equal(ca::unique_along(cube, 1), {2, 1, 2}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::unique_along(cube, 2), {2, 2, 2}, ints{1, 2, 1, 2, 3, 4, 3, 4}));
  const auto gaps = ca::array<double>({{none, 1}, {none, 1}, {0, 1}});
  CHECK(test::equal(ca::unique_along(gaps, 0), {3, 2}, reals{0, 1, none, 1, none, 1}));
  CHECK(ca::unique_along(ca::zeros({0, 3}), 0).shape() == ca::shape{0, 3});
  CHECK(ca::unique_along(ca::zeros({3, 0}), 1).shape() == ca::shape{3, 0});
  CHECK(ca::unique_along(ca::zeros({3, 0}), 0).shape() == ca::shape{1, 0});
  CHECK_THROWS_AS(ca::unique_along(a, 2), ca::index_error);
  CHECK_THROWS_AS(ca::unique_along(a(0, 0), 0), ca::index_error);
}

TEST_CASE("searching: lexsort") {
  const auto low = ca::array<int>({1, 2, 3, 4});
  const auto high = ca::array<ca::uint8>({2, 1, 2, 1});
  CHECK(test::equal(ca::lexsort(std::tuple(low, high)), {4}, ints{1, 3, 0, 2}));
  CHECK(test::equal(ca::lexsort(std::tuple(high, low * 1.5)), {4}, ints{0, 1, 2, 3}));
  CHECK(test::equal(ca::lexsort(std::vector{low * 0, stepped(low) * 0}), {4}, ints{0, 1, 2, 3}));
  const auto key = ca::array<double>({none, 1, 0, none});
  CHECK(test::equal(ca::lexsort(std::tuple(key, ca::array<bool>({true, true, false, false}))), {4}, ints{2, 3, 1, 0}));
  CHECK(test::equal(ca::lexsort(std::vector{ca::zeros({0}), ca::zeros({0})}), {0}, ints{}));
  CHECK(test::thrown<ca::value_error>([] { ca::lexsort(std::vector<ca::ndarray<int>>{}); }) == "lexsort: no keys");
  CHECK(test::thrown<ca::shape_error>([&] { ca::lexsort(std::tuple(low, key(ca::slice(2)))); }) ==
        "lexsort: keys of 4 and 2 elements");
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::lexsort(std::vector{ca::zeros({2, 2})});
        }) == "lexsort: a key of shape (2, 2), not of one axis");
}

TEST_CASE("searching: isin") {
  const auto x = ca::array<double>({1, 2.5, none, -0., inf}), y = ca::array<double>({none, 0, inf, 2});
  CHECK(test::equal(ca::isin(x, y), {5}, ints{0, 0, 0, 1, 1}));
  CHECK(test::equal(ca::isin(stepped(x) + 1, ca::reshape(y, {2, 2}).t() + 1), {5}, ints{0, 0, 0, 1, 1}));
  const auto bytes = ca::array<ca::uint8>({{0, 1}, {255, 3}});
  CHECK(test::equal(ca::isin(bytes.t(), ca::array<int>({-1, 255, 256, 0})), {2, 2}, ints{1, 1, 0, 0}));
  CHECK(test::equal(ca::isin(ca::array<int>({1, 2, 3}), ca::array<double>({2, 2.5})), {3}, ints{0, 1, 0}));
  CHECK(test::equal(ca::isin(ca::array<bool>({true, false}), ca::array<int>({1, 2})), {2}, ints{1, 0}));
  CHECK(test::equal(ca::isin(x(0), ca::ones<int>({})), {}, ints{1}));
  CHECK(test::equal(ca::isin(x, ca::zeros({0})), {5}, ints{0, 0, 0, 0, 0}));
  CHECK(test::equal(ca::isin(ca::zeros({0, 2}), x), {0, 2}, ints{}));
}

TEST_CASE("searching: union1d, intersect1d, setdiff1d, setxor1d") {
  const auto x = ca::array<double>({3, 1, 1, none}), y = ca::array<double>({none, 1, 4, 3});
  CHECK(test::equal(ca::union1d(x, y), {4}, reals{1, 3, 4, none}));
  CHECK(test::equal(ca::intersect1d(x, y), {2}, ints{1, 3}));
  CHECK(test::equal(ca::setdiff1d(x, ca::array<double>({none, 1})), {2}, reals{3, none}));
  CHECK(test::equal(ca::setxor1d(x, y), {3}, reals{4, none, none}));
  const auto wide = ca::union1d(ca::array<ca::uint8>({255}), ca::array<ca::int8>({-1}));
  CHECK(test::equal(wide, {2}, ints{-1, 255}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(wide)>, ca::int16>);
  const auto grid = ca::array<int>({{1, 2}, {2, 3}});
  CHECK(test::equal(ca::intersect1d(grid.t(), ca::array<double>({2, 2.5, 3})), {2}, ints{2, 3}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::intersect1d(grid, x))>, double>);
  CHECK(test::equal(ca::setdiff1d(grid, ca::zeros({0})), {3}, ints{1, 2, 3}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::setdiff1d(grid, x))>, int>);
  CHECK(test::equal(ca::setdiff1d(ca::array<ca::uint8>({255, 3}), ca::array<int>({-1, 3})), {1}, ints{255}));
  CHECK(test::equal(ca::setxor1d(grid(0), ca::array<double>({2, 2.5})), {2}, reals{1, 2.5}));
  CHECK(test::equal(ca::setxor1d(grid, grid), {0}, ints{}));
  const auto nothing = ca::zeros<int>({0});
  CHECK(test::equal(ca::union1d(nothing, nothing), {0}, ints{}));
  CHECK(test::equal(ca::intersect1d(nothing, grid), {0}, ints{}));
  CHECK(test::equal(ca::setdiff1d(nothing, grid), {0}, ints{}));
  CHECK(test::equal(ca::union1d(grid(0, 0), nothing + 1), {1}, ints{1}));
}

TEST_CASE("searching: partition and argpartition") {
  const auto a = ca::array<int>({{3, 1, 2, 0}, {7, 9, 6, 8}});
  const auto p = ca::partition(a, 2), q = ca::partition(a.t() * 1, -2, 0);
  CHECK(test::equal(p(_, 2), {2}, ints{2, 8}));
  CHECK(ca::max(p(_, ca::slice(2)) - p(_, ca::slice(2, 3))).item() <= 0);
  CHECK(ca::min(p(_, ca::slice(3, 4)) - p(_, ca::slice(2, 3))).item() >= 0);
  CHECK(test::equal(q(2), {2}, ints{2, 8}));
  CHECK(test::equal(ca::sort(p), {2, 4}, ints{0, 1, 2, 3, 6, 7, 8, 9}));
  const auto order = ca::argpartition(a, 1);
  CHECK(test::equal(ca::eval(ca::take_along_axis(a, order, 1))(_, 1), {2}, ints{1, 7}));
  CHECK(test::equal(ca::sort(order), {2, 4}, ints{0, 1, 2, 3, 0, 1, 2, 3}));
  CHECK(test::equal(ca::partition(ca::array<double>({none, 1, 0}), 2)(2), {}, reals{none}));
  CHECK(test::equal(a, {2, 4}, ints{3, 1, 2, 0, 7, 9, 6, 8}));
  CHECK(test::thrown<ca::value_error>([&] { ca::partition(a, 4); }) == "partition: element 4 of an axis of 4");
  CHECK(test::thrown<ca::value_error>([&] { ca::argpartition(a, -3, 0); }) ==
        "argpartition: element -3 of an axis of 2");
  CHECK_THROWS_AS(ca::partition(a, 0, 2), ca::index_error);
  CHECK_THROWS_AS(ca::argpartition(a(0, 0), 0), ca::index_error);
  CHECK(ca::partition(ca::zeros({2, 0}), 1, 0).shape() == ca::shape{2, 0});
  CHECK(ca::partition(ca::zeros({0}), 0).shape() == ca::shape{0});
}

TEST_CASE("searching: complex numbers") {
  const auto parts = [](const auto& x) {
    std::vector<double> r;
    for (const auto z : test::values(x)) r.push_back(z.re), r.push_back(z.im);
    return r;
  };
  const auto z = ca::to_complex(ca::array<double>({{1, 0, 1}, {1, NAN, 0}}), ca::array<double>({{2, 1, 0}, {2, 0, 1}}));
  const auto [values, indices, inverse, counts] = ca::unique_all(z);
  CHECK(parts(ca::take(values, ca::arange(3))) == std::vector<double>{0, 1, 1, 0, 1, 2});
  CHECK(test::equal(indices, {4}, ints{1, 2, 0, 4}));
  CHECK(test::equal(inverse, {2, 3}, ints{2, 0, 1, 2, 3, 0}));
  CHECK(test::equal(counts, {4}, ints{2, 1, 2, 1}));
  CHECK(ca::unique(ca::concatenate({z, z})).size() == 4);  // NaN is equal to NaN
  CHECK(ca::unique_values(ca::concatenate({z, z})).size() == 5);
  CHECK(test::equal(ca::isin(z, ca::to_complex(ca::array<double>({1, NAN}), ca::array<double>({2, 0}))), {2, 3},
                    ints{1, 0, 0, 1, 0, 0}));
}
