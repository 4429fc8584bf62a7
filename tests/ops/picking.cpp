// Elements picked and put by conditions, choices and indices; flat indices: what NumPy gives.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ints = std::vector<int>;
using reals = std::vector<double>;

const auto make = [] { return ca::array<int>({{1, 2, 3}, {4, 5, 6}}); };
const auto row = [] { return ca::array<int>({1, 2, 3, 4}); };
/// As row, between other elements.
const auto stepped = [](const ca::ndarray<int>& all_elements) {
  all_elements(_, 1) = row();
  return all_elements(_, 1);
};
/// An index of an element that is not there, found by the call or by the next that waits.
template <class F>
std::string wrong_index(const F& f) {
  return test::thrown<ca::index_error>([&] {
    f();
    ca::ones({1}).item();
  });
}

}  // namespace

TEST_CASE("picking: argwhere, compress, extract") {
  const auto a = make();
  CHECK(test::equal(ca::argwhere(ca::array<int>({{0, 1}, {2, 0}})), {2, 2}, ints{0, 1, 1, 0}));
  CHECK(test::equal(ca::argwhere(a.t() > 3), {3, 2}, ints{0, 1, 1, 1, 2, 1}));
  CHECK(test::equal(ca::argwhere(ca::array<float>({NAN, -0.f, 0})), {1, 1}, ints{0}));
  CHECK(ca::argwhere(ca::ones({})).shape() == ca::shape{1, 0});
  CHECK(ca::argwhere(ca::zeros({})).shape() == ca::shape{0, 0});
  CHECK(ca::argwhere(ca::zeros({0, 2})).shape() == ca::shape{0, 2});
  const auto keep = ca::array<bool>({true, false, true});
  CHECK(test::equal(ca::compress(keep, a, 1), {2, 2}, ints{1, 3, 4, 6}));
  CHECK(test::equal(ca::compress(keep, a.t() * 2, 0), {2, 2}, ints{2, 8, 6, 12}));
  CHECK(test::equal(ca::compress(ca::array<int>({0, 2}), a, -1), {2, 1}, ints{2, 5}));
  CHECK(test::equal(ca::compress(ca::array<int>({0, 1, 0, 0}), a, 1), {2, 1}, ints{2, 5}));
  CHECK(ca::compress(ca::zeros({0}), a, 1).shape() == ca::shape{2, 0});
  CHECK(wrong_index([&] { ca::compress(ca::array<int>({0, 0, 0, 1}), a, 1); }).find("index 3") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { ca::compress(a, a, 1); }) ==
        "compress: a condition of shape (2, 3), not of one axis");
  CHECK_THROWS_AS(ca::compress(keep, a, 2), ca::index_error);
  CHECK(test::equal(ca::extract(a > 2, a), {4}, ints{3, 4, 5, 6}));
  CHECK(test::equal(ca::extract(ca::array<float>({{1, 0}, {NAN, 1}, {0, 1}}), a.t() + 1), {4}, ints{2, 3, 6, 7}));
  CHECK(test::equal(ca::extract(ca::array<int>({0, 1, 0, 0, 0, 1}), a), {2}, ints{2, 6}));
  CHECK(test::equal(ca::extract(ca::ones({}), a(1, 1)), {1}, ints{5}));
  CHECK(test::equal(ca::extract(a > 9, a), {0}, ints{}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::extract(keep, a); }) ==
        "extract: a condition of shape (3,) for 6 elements");
  const ca::ndarray<int> taken = ca::extract(a > 0, a);
  taken(ca::ellipsis) = 0;
  CHECK(a(1, 2).item() == 6);
}

TEST_CASE("picking: select") {
  const auto x = ca::array<int>({1, 2, 3}), y = ca::array<int>({10, 20, 30});
  const auto first = ca::array<bool>({true, false, false}), second = ca::array<bool>({true, true, false});
  const std::vector both{first, second};
  CHECK(test::equal(ca::select(both, std::vector{x, y}, -1), {3}, ints{1, 20, -1}));
  CHECK(test::equal(ca::select(both, std::vector{x, y}, x + 4), {3}, ints{1, 20, 7}));
  CHECK(test::equal(ca::select(std::tuple(x < 0, 1 < x), std::tuple(x, y * 0.5), 7), {3}, reals{7, 10, 15}));
  const auto grid =
      ca::select(std::vector{first(ca::slice(2))}, std::vector{ca::array<int>({{1}, {2}})}, ca::array<int>({7, 8}));
  CHECK(test::equal(grid, {2, 2}, ints{1, 8, 2, 8}));
  CHECK(
      test::equal(ca::select(std::vector{make().t() > 3}, std::vector{make().t()}, 0), {3, 2}, ints{0, 4, 0, 5, 0, 6}));
  CHECK(test::equal(ca::select(std::vector{x(0) > 0}, std::vector{x(1)}, 0), {}, ints{2}));
  CHECK(test::equal(ca::select(std::vector{x(ca::slice(0)) > 0}, std::vector{x(ca::slice(0))}, 0), {0}, ints{}));
  CHECK(test::thrown<ca::value_error>([&] { ca::select(both, std::vector{x}, 0); }) ==
        "select: 2 conditions and 1 choices");
  CHECK_THROWS_AS(ca::select(both, std::vector{x, make().t()}, 0), ca::shape_error);
  // the arrays are as they were, and the result is another
  const auto rest = ca::array<int>({5, 6, 7});
  const ca::ndarray<int> r = ca::select(std::vector{first}, std::vector{x}, rest);
  r(ca::ellipsis) = 0;
  CHECK(test::equal(rest, {3}, ints{5, 6, 7}));
}

TEST_CASE("picking: select of no conditions, and of another dtype for the rest") {
  const auto x = ca::array<int>({1, 2});
  const std::vector<ca::ndarray<bool>> no;
  CHECK(test::thrown<ca::value_error>([&] { ca::select(no, std::vector<ca::ndarray<int>>{}, x); }).find("select") == 0);
  CHECK(test::equal(ca::select(std::vector{x > 1}, std::vector{x}, ca::array<double>({0.5, 0.5})), {2}, reals{.5, 2}));
  CHECK(test::equal(ca::select(std::vector{x > 1}, std::vector{x}, 0.5), {2}, reals{.5, 2}));
}

TEST_CASE("picking: choose") {
  const auto a = ca::array<int>({1, 2, 3}), b = ca::array<int>({4, 5, 6}), c = ca::array<int>({7, 8, 9});
  const std::vector choices{a, b, c};
  CHECK(test::equal(ca::choose(ca::array<int>({0, 1, 2}), choices), {3}, ints{1, 5, 9}));
  CHECK(test::equal(ca::choose(a - 1, std::tuple(a * 2, b, c)), {3}, ints{2, 5, 9}));
  CHECK(test::equal(ca::choose(ca::array<ca::uint8>({{0}, {1}}), std::tuple(a, ca::full({}, 9.5))), {2, 3},
                    reals{1, 2, 3, 9.5, 9.5, 9.5}));
  CHECK(test::equal(ca::choose(a(0), choices), {3}, ints{4, 5, 6}));
  CHECK(
      test::equal(ca::choose(make().t() % 2, std::tuple(make().t(), -make().t())), {3, 2}, ints{-1, 4, 2, -5, -3, 6}));
  CHECK(test::equal(ca::choose(ca::zeros<int>({0, 3}), choices), {0, 3}, ints{}));
  CHECK(test::thrown<ca::index_error>([&] {
          ca::choose(ca::array<int>({0, 3, 0}), choices)(0).item();
        }).find("index 3") != std::string::npos);
  CHECK_THROWS_AS(ca::choose(ca::array<int>({0, 1}), choices), ca::shape_error);
  CHECK_THROWS_AS(ca::choose(ca::array<int>({0}), std::vector<ca::ndarray<int>>{}), ca::value_error);
}

TEST_CASE("picking: place") {
  const auto wide = ca::zeros<int>({4, 2});
  for (const ca::ndarray<int>& a : {ca::ndarray<int>(row()), ca::ndarray<int>(stepped(wide))}) {
    ca::place(a, ca::array<int>({1, 0, 1, 1}), ca::array<int>({7, 8}));
    CHECK(test::equal(a, {4}, ints{7, 2, 8, 7}));
    ca::place(a, a == 7, 0);
    CHECK(test::equal(a, {4}, ints{0, 2, 8, 0}));
    ca::place(a, a < 9, ca::flip(a) + 1);
    CHECK(test::equal(a, {4}, ints{1, 9, 3, 1}));
    ca::place(a, a != 9, a);
    CHECK(test::equal(a, {4}, ints{1, 9, 9, 3}));
    ca::place(a, a > 0, ca::flip(a));
    CHECK(test::equal(a, {4}, ints{3, 9, 9, 1}));
    ca::place(a, a > 9, ca::zeros<int>({0}));
    CHECK(test::equal(a, {4}, ints{3, 9, 9, 1}));
    CHECK(test::thrown<ca::value_error>([&] { ca::place(a, a == 9, ca::zeros<int>({0})); }) ==
          "place: no values for 2 elements");
  }
  CHECK(test::equal(wide, {4, 2}, ints{0, 3, 0, 9, 0, 9, 0, 1}));
  const auto a = make();
  ca::place(a.t(), a.t() > 2, ca::array<int>({{-1, -2, -3}}));
  CHECK(test::equal(a, {2, 3}, ints{1, 2, -3, -1, -2, -1}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::place(a, a.t() > 0, 1); }) ==
        "place: a mask of shape (3, 2) for an array of shape (2, 3)");
  const auto flags = ca::array<bool>({true, false, true});
  ca::place(flags, flags, ca::array<bool>({false, true}));
  CHECK(test::equal(flags, {3}, ints{0, 0, 1}));
  const auto point = ca::ones<int>({});
  ca::place(point, point == 1, 5);
  CHECK(point.item() == 5);
  const auto real = ca::zeros<double>({2});
  ca::place(real, real == 0, ca::array<int>({3}));
  CHECK(test::equal(real, {2}, ints{3, 3}));
  ca::place(ca::zeros<int>({0}), ca::zeros<bool>({0}), ca::zeros<int>({0}));
}

TEST_CASE("picking: put") {
  const auto wide = ca::zeros<int>({4, 2});
  for (const ca::ndarray<int>& a : {ca::ndarray<int>(row()), ca::ndarray<int>(stepped(wide))}) {
    ca::put(a, ca::array<int>({0, -1}), ca::array<double>({5.7, 6.7}));
    CHECK(test::equal(a, {4}, ints{5, 2, 3, 6}));
    ca::put(a, ca::array<int>({{1, 2, -1}}), ca::array<int>({7, 8}));
    CHECK(test::equal(a, {4}, ints{5, 7, 8, 7}));
    ca::put(a, ca::array<ca::uint8>({3, 2, 1, 0}), a);
    CHECK(test::equal(a, {4}, ints{7, 8, 7, 5}));
    ca::put(a, ca::array<int>({1, 2, 3}), a);
    CHECK(test::equal(a, {4}, ints{7, 7, 8, 7}));
    ca::put(a, ca::array<int>({0, 1, 2, 3}), a(ca::slice(2, 3)));
    CHECK(test::equal(a, {4}, ints{8, 8, 8, 8}));
    ca::put(a, ca::zeros<int>({0}), ca::zeros<int>({0}));
    ca::put(a, ca::zeros<int>({}) + 2, 1);
    CHECK(test::equal(a, {4}, ints{8, 8, 1, 8}));
    CHECK(wrong_index([&] { ca::put(a, ca::array<int>({4}), 9); }).find("index 4 is out of bounds") !=
          std::string::npos);
    CHECK(wrong_index([&] { ca::put(a, ca::array<int>({-5}), 9); }).find("index -5 is out of bounds") !=
          std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] {
            ca::put(a, ca::array<int>({0, 1}), ca::zeros<int>({0}));
          }) == "put: no values for 2 elements");
    CHECK(test::equal(a, {4}, ints{8, 8, 1, 8}));
  }
  CHECK(test::equal(wide, {4, 2}, ints{0, 8, 0, 8, 0, 1, 0, 8}));
  const auto a = make();
  ca::put(a.t(), ca::array<int>({1, 4}), ca::array<int>({-1, -2}));
  CHECK(test::equal(a, {2, 3}, ints{1, 2, -2, -1, 5, 6}));
  const auto turned = ca::array<ca::int64>({2, 0, 1});
  ca::put(turned, turned, ca::array<int>({10, 20, 30}));
  CHECK(test::equal(turned, {3}, ints{20, 30, 10}));
  const auto bytes = ca::zeros<ca::uint8>({2});
  CHECK_THROWS_AS(ca::put(bytes, ca::array<int>({0}), 300), ca::value_error);
  CHECK(test::equal(bytes, {2}, ints{0, 0}));
}

TEST_CASE("picking: put_along_axis") {
  const auto a = make();
  ca::put_along_axis(a, ca::argmax(a, 1, ca::keepdims), 0, 1);
  CHECK(test::equal(a, {2, 3}, ints{1, 2, 0, 4, 5, 0}));
  ca::put_along_axis(a, ca::array<int>({{0}, {-1}}), ca::array<int>({{7}, {8}}), -1);
  CHECK(test::equal(a, {2, 3}, ints{7, 2, 0, 4, 5, 8}));
  ca::put_along_axis(a.t(), ca::array<int>({{1, 0}}), ca::array<int>({-1, -2}), 0);
  CHECK(test::equal(a, {2, 3}, ints{7, -1, 0, -2, 5, 8}));
  ca::put_along_axis(a, ca::array<int>({{0, 1, 0}}), ca::array<int>({{9}}), 0);
  CHECK(test::equal(a, {2, 3}, ints{9, -1, 9, -2, 9, 8}));
  ca::put_along_axis(a, ca::array<int>({{2, 1, 0}}), a, 1);
  CHECK(test::equal(a, {2, 3}, ints{9, -1, 9, 8, 9, -2}));
  const auto one = ca::array<int>({{1, 2, 3}});
  ca::put_along_axis(one, ca::array<int>({{0}, {1}}), ca::array<int>({{7}, {8}}), 1);
  CHECK(test::equal(one, {1, 3}, ints{7, 8, 3}));
  const auto turned = ca::array<ca::int64>({{2, 0, 1}, {0, 1, 2}});
  ca::put_along_axis(turned, turned, ca::array<ca::int64>({{5, 6, 7}, {8, 9, 10}}), 1);
  CHECK(test::equal(turned, {2, 3}, ints{6, 7, 5, 8, 9, 10}));
  const auto line = row();
  ca::put_along_axis(line, ca::array<int>({-1, 0}) + 0, line(ca::slice(2)) * 10, 0);
  CHECK(test::equal(line, {4}, ints{20, 2, 3, 10}));
  ca::put_along_axis(line, ca::zeros<int>({0}), 5, 0);
  ca::put_along_axis(ca::zeros<int>({2, 0}), ca::zeros<int>({1, 0}), 5, 0);
  CHECK(wrong_index([&] {
          ca::put_along_axis(a, ca::array<int>({{0}, {3}}), 1, 1);
        }).find("index 3 is out of bounds") != std::string::npos);
  CHECK(wrong_index([&] { ca::put_along_axis(line, ca::array<int>({-5}), 1, 0); }).find("index -5 is out of bounds") !=
        std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { ca::put_along_axis(a, line, 1, 1); }).find("put_along_axis: ") == 0);
  CHECK_THROWS_AS(ca::put_along_axis(a, ca::zeros<int>({2, 1}), 1, 2), ca::index_error);
  CHECK_THROWS_AS(ca::put_along_axis(a, ca::zeros<int>({2, 1}), ca::array<int>({1, 2}), 1), ca::shape_error);
  CHECK_THROWS_AS(ca::put_along_axis(a, ca::zeros<int>({3, 1}), 1, 1), ca::shape_error);
  CHECK(test::equal(a, {2, 3}, ints{9, -1, 9, 8, 9, -2}));
}

TEST_CASE("picking: what is read-only is not written") {
  const auto source = ca::array<int>({1, 2, 3});
  const auto a = ca::broadcast_to(source, {2, 3});
  CHECK(test::thrown<ca::value_error>([&] { ca::place(a, a > 1, 0); }).find("read-only") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::put(a, ca::array<int>({0}), 0); }).find("read-only") !=
        std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::put(a.t(), ca::array<int>({0}), 0); }).find("read-only") !=
        std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] {
          ca::put_along_axis(a, ca::zeros<int>({2, 1}), 0, 1);
        }).find("read-only") != std::string::npos);
  CHECK(test::equal(source, {3}, ints{1, 2, 3}));
}

TEST_CASE("picking: unravel_index and ravel_multi_index") {
  const auto at = ca::unravel_index(ca::array<int>({0, 5, 3}), {2, 3});
  REQUIRE(at.size() == 2);
  CHECK(test::equal(at[0], {3}, ints{0, 1, 1}));
  CHECK(test::equal(at[1], {3}, ints{0, 2, 0}));
  const auto grid = ca::unravel_index(ca::array<ca::uint8>({{0, 23}, {7, 12}}).t() + 0, {2, 3, 4});
  CHECK(test::equal(grid[0], {2, 2}, ints{0, 0, 1, 1}));
  CHECK(test::equal(grid[1], {2, 2}, ints{0, 1, 2, 0}));
  CHECK(test::equal(grid[2], {2, 2}, ints{0, 3, 3, 0}));
  CHECK(test::equal(ca::ravel_multi_index(grid, {2, 3, 4}), {2, 2}, ints{0, 7, 23, 12}));
  CHECK(test::equal(ca::unravel_index(ca::argmax(make()), {2, 3})[1], {}, ints{2}));
  CHECK(ca::unravel_index(ca::zeros<int>({}), {}).empty());
  CHECK(test::equal(ca::unravel_index(ca::zeros<int>({0}), {0, 3})[1], {0}, ints{}));
  CHECK(test::thrown<ca::index_error>([&] {
          ca::unravel_index(ca::array<int>({0, 6}), {2, 3});
        }) == "unravel_index: an index is out of bounds for shape (2, 3)");
  CHECK_THROWS_AS(ca::unravel_index(ca::array<int>({-7}), {2, 3}), ca::index_error);
  CHECK_THROWS_AS(ca::unravel_index(ca::array<int>({0}), {0, 3}), ca::index_error);
  CHECK_THROWS_AS(ca::unravel_index(ca::array<int>({1}), {}), ca::index_error);
  const auto i = ca::array<int>({{0}, {1}}), j = ca::array<int>({2, 1});
  CHECK(test::equal(ca::ravel_multi_index(std::vector{i, j}, {2, 3}), {2, 2}, ints{2, 1, 5, 4}));
  CHECK(test::equal(ca::ravel_multi_index(std::tuple(ca::array<ca::uint8>({0, 1}), j - 0), {2, 3}), {2}, ints{2, 4}));
  CHECK(test::thrown<ca::index_error>([&] {
          ca::ravel_multi_index(std::vector{j, j}, {2, 3});
        }) == "ravel_multi_index: an index is out of bounds for axis 0 of shape (2, 3)");
  CHECK(test::thrown<ca::index_error>([&] {
          ca::ravel_multi_index(std::vector{j - 1, j - 2}, {2, 3});
        }) == "ravel_multi_index: an index is out of bounds for axis 1 of shape (2, 3)");
  CHECK(test::thrown<ca::value_error>([&] {
          ca::ravel_multi_index(std::vector{j}, {2, 3});
        }) == "ravel_multi_index: 1 indices for a shape of 2 axes");
}

TEST_CASE("picking: flat indices are another array than the indices; of shapes that no array has") {
  const auto j = ca::array<ca::int64>({2, 1});
  const ca::ndarray<ca::int64> flat = ca::ravel_multi_index(std::vector{j}, {3});
  flat(ca::ellipsis) = 0;
  CHECK(test::equal(j, {2}, ints{2, 1}));
  const ca::int64 large = ca::int64(1) << 40;
  CHECK(test::thrown<ca::shape_error>([&] { ca::unravel_index(j, {large, large}); }).find("unravel_index: ") == 0);
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::ravel_multi_index(std::vector{j, j}, {large, large});
        }).find("ravel_multi_index: ") == 0);
}

TEST_CASE("picking: ix_") {
  const auto a = ca::reshape(ca::arange(12), {3, 4});
  const auto [rows, columns] = ca::ix_(ca::array<int>({0, -1}), ca::array<bool>({false, true, false, true}));
  CHECK(rows.shape() == ca::shape{2, 1});
  CHECK(columns.shape() == ca::shape{1, 2});
  CHECK(test::equal(a(rows, columns), {2, 2}, ints{1, 3, 9, 11}));
  a(rows, columns) = 0;
  CHECK(test::equal(a, {3, 4}, ints{0, 0, 2, 0, 4, 5, 6, 7, 8, 0, 10, 0}));
  CHECK(std::get<0>(ca::ix_(ca::zeros<int>({0}))).shape() == ca::shape{0});
  CHECK(test::thrown<ca::shape_error>([] {
          (void)ca::ix_(ca::zeros<int>({2, 2}));
        }) == "ix_: an index of shape (2, 2), not of one axis");
}
