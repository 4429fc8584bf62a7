// Repeating, rolling, inserting, leaving out, and turning: what NumPy gives.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };
const auto line = [] { return ca::array<int>({1, 2, 3}); };

}  // namespace

TEST_CASE("repeating: repeat") {
  const auto a = make();
  CHECK(test::equal(ca::repeat(line(), 2), {6}, ints{1, 1, 2, 2, 3, 3}));
  CHECK(test::equal(ca::repeat(a, 2, 0), {4, 3}, ints{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  CHECK(test::equal(ca::repeat(a.t(), 2, -1), {3, 4}, ints{1, 1, 4, 4, 2, 2, 5, 5, 3, 3, 6, 6}));
  CHECK(test::equal(ca::repeat(a * 2, 0, 1), {2, 0}, ints{}));
  CHECK(test::equal(ca::repeat(a, {2, 0, 1}, 1), {2, 3}, ints{1, 1, 3, 4, 4, 6}));
  CHECK(test::equal(ca::repeat(line(), {0, 3, 1}), {4}, ints{2, 2, 2, 3}));
  CHECK(test::equal(ca::repeat(a, {2}, 0), {4, 3}, ints{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  CHECK(test::equal(ca::repeat(a, line() - 1, 1), {2, 3}, ints{2, 3, 3, 5, 6, 6}));
  CHECK(test::equal(ca::repeat(line(), line()), {6}, ints{1, 2, 2, 3, 3, 3}));
  CHECK(test::thrown<ca::value_error>([&] { ca::repeat(a, -1, 0); }) == "repeat: -1 copies");
  CHECK(test::thrown<ca::value_error>([&] { ca::repeat(line(), {1, -2, 0}); }) == "repeat: -2 copies");
  CHECK(test::thrown<ca::shape_error>([&] { ca::repeat(a, {1, 2}, 1); }) == "repeat: 2 counts for an axis of 3");
  CHECK_THROWS_AS(ca::repeat(a, 2, 2), ca::index_error);
}

TEST_CASE("repeating: tile and resize") {
  const auto a = make();
  CHECK(test::equal(ca::tile(line(), {2}), {6}, ints{1, 2, 3, 1, 2, 3}));
  CHECK(test::equal(ca::tile(line(), {2, 1}), {2, 3}, ints{1, 2, 3, 1, 2, 3}));
  CHECK(test::equal(ca::tile(a.t(), {2}), {3, 4}, ints{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6}));
  CHECK(test::equal(ca::tile(a + 1, {2, 1, 2}), {2, 2, 6},
                    ints{2, 3, 4, 2, 3, 4, 5, 6, 7, 5, 6, 7, 2, 3, 4, 2, 3, 4, 5, 6, 7, 5, 6, 7}));
  CHECK(ca::tile(a, {0, 2}).shape() == ca::shape{0, 6});
  ca::ndarray<float> copied = ca::tile(a, {1, 1});
  copied.fill(0);
  CHECK(a(0, 0).item() == 1);
  CHECK(ca::tile(ca::zeros({1, 1, 1, 1, 1, 1, 1, 2}), {3, 1, 1, 1, 1, 1, 1, 2}).shape() ==
        ca::shape{3, 1, 1, 1, 1, 1, 1, 4});
  CHECK(test::thrown<ca::value_error>([&] { ca::tile(a, {2, -1}); }) == "tile: -1 copies");
  CHECK(test::equal(ca::resize(a, {2, 4}), {2, 4}, ints{1, 2, 3, 4, 5, 6, 1, 2}));
  CHECK(test::equal(ca::resize(a, {2}), {2}, ints{1, 2}));
  CHECK(test::equal(ca::resize(ca::zeros<int>({0}), {2}), {2}, ints{0, 0}));
  CHECK(ca::resize(a, {0, 3}).shape() == ca::shape{0, 3});
  CHECK_THROWS_AS(ca::resize(a, {-1, 3}), ca::shape_error);
}

TEST_CASE("repeating: results are new arrays that can be written") {
  const auto w = ca::array<float>({1, 2}), one = ca::array<float>({7});
  for (ca::ndarray<float> r :
       {ca::ndarray<float>(ca::repeat(w, 1)), ca::ndarray<float>(ca::repeat(one, 3)),
        ca::ndarray<float>(ca::repeat(ca::reshape(w, {1, 2}), 4, 0)), ca::ndarray<float>(ca::tile(w, {3, 1})),
        ca::ndarray<float>(ca::tile(w, {1})), ca::ndarray<float>(ca::tile(one, {3})),
        ca::ndarray<float>(ca::resize(one, {3})), ca::ndarray<float>(ca::resize(w, {1})),
        ca::ndarray<float>(ca::resize(w, {3})), ca::ndarray<float>(ca::roll(w, 0)),
        ca::ndarray<float>(ca::roll(w, {}, ca::axes{})), ca::ndarray<float>(ca::insert(w, {}, 0, 0)),
        ca::ndarray<float>(ca::delete_(w, {}, 0))}) {
    r(ca::ellipsis) = 9;
    CHECK(ca::all(r == 9).item());
    r += 1;
  }
  CHECK(test::equal(w, {2}, ints{1, 2}));
  CHECK(one.item() == 7);
  ca::ndarray<float> source = ca::array<float>({1, 2});
  const auto tiled = ca::tile(source, {3, 1});
  source.fill(0);
  CHECK(test::equal(tiled, {3, 2}, ints{1, 2, 1, 2, 1, 2}));
}

TEST_CASE("repeating: sizes that no array has") {
  const auto a = ca::ones({4});
  CHECK(test::thrown<ca::shape_error>([&] { ca::repeat(a, ca::int64(1) << 62, 0); }).find("repeat: shape") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::tile(a, {ca::int64(1) << 60}); }).find("tile: shape") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::repeat(a, {ca::int64(1) << 61}, 0); }).find("repeat: shape") == 0);
  const std::vector<ca::ndarray<float>> many(300, ca::broadcast_to(ca::zeros({1}), {ca::int64(1) << 54}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::concatenate(many); }).find("concatenate: shape") == 0);
}

TEST_CASE("repeating: roll") {
  const auto a = make();
  CHECK(test::equal(ca::roll(line(), 1), {3}, ints{3, 1, 2}));
  CHECK(test::equal(ca::roll(a, 2), {2, 3}, ints{5, 6, 1, 2, 3, 4}));
  CHECK(test::equal(ca::roll(a, -1, 1), {2, 3}, ints{2, 3, 1, 5, 6, 4}));
  CHECK(test::equal(ca::roll(a * 2, 7, -1), {2, 3}, ints{6, 2, 4, 12, 8, 10}));
  CHECK(test::equal(ca::roll(a, {1, 1}, {0, 1}), {2, 3}, ints{6, 4, 5, 3, 1, 2}));
  CHECK(test::equal(ca::roll(a, {1, 1}, {1, 1}), {2, 3}, ints{2, 3, 1, 5, 6, 4}));
  CHECK(ca::roll(ca::zeros({0, 3}), 2, 0).shape() == ca::shape{0, 3});
  CHECK(test::equal(ca::roll(a, 1, {0, 1}), {2, 3}, ints{6, 4, 5, 3, 1, 2}));
  CHECK(test::equal(ca::roll(a, {1, 1}, 1), {2, 3}, ints{2, 3, 1, 5, 6, 4}));
  CHECK(test::thrown<ca::value_error>([&] { ca::roll(a, {1, 2, 3}, {0, 1}); }) == "roll: 3 shifts of 2 axes");
  CHECK_THROWS_AS(ca::roll(a, 1, 2), ca::index_error);
}

TEST_CASE("repeating: insert") {
  const auto a = make();
  CHECK(test::equal(ca::insert(line(), 1, 9, 0), {4}, ints{1, 9, 2, 3}));
  CHECK(test::equal(ca::insert(line(), -1, 9.7, 0), {4}, ints{1, 2, 9, 3}));
  CHECK(test::equal(ca::insert(line(), 3, ca::array<int>({7, 8}), 0), {5}, ints{1, 2, 3, 7, 8}));
  CHECK(test::equal(ca::insert(a, 1, ca::array<int>({7, 8}), 1), {2, 4}, ints{1, 7, 2, 3, 4, 8, 5, 6}));
  CHECK(test::equal(ca::insert(a, 0, ca::array<float>({{7, 8}}), 1), {2, 4}, ints{7, 1, 2, 3, 8, 4, 5, 6}));
  CHECK(test::equal(ca::insert(a + 0, {2, 0}, ca::array<float>({{7, 8}}), 1), {2, 5},
                    ints{8, 1, 2, 7, 3, 8, 4, 5, 7, 6}));
  CHECK(test::equal(ca::insert(a, {1, 1}, 0, 0), {4, 3}, ints{1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 5, 6}));
  CHECK(test::equal(ca::insert(line(), {1}, ca::array<int>({7, 8}), 0), {5}, ints{1, 7, 8, 2, 3}));
  CHECK(test::equal(ca::insert(a, {1}, ca::array<float>({{7, 9}, {8, 9}}), 1), {2, 5},
                    ints{1, 7, 9, 2, 3, 4, 8, 9, 5, 6}));
  CHECK(test::equal(ca::insert(a, {1}, ca::array<float>({{7}, {8}}), 1), {2, 4}, ints{1, 7, 2, 3, 4, 8, 5, 6}));
  CHECK(test::thrown<ca::value_error>([] { ca::insert(ca::zeros<ca::uint8>({2}), 0, 300, 0); }).find("insert") == 0);
  CHECK(test::thrown<ca::index_error>([&] { ca::insert(line(), 4, 0, 0); }) ==
        "insert: index 4 is out of bounds for an axis of 3");
  CHECK(test::thrown<ca::index_error>([&] {
          ca::insert(a, {0, -4}, 0, 1);
        }) == "insert: index -4 is out of bounds for an axis of 3");
  CHECK_THROWS_AS(ca::insert(a, 1, ca::array<float>({1, 2, 3}), 1), ca::shape_error);
}

TEST_CASE("repeating: delete_ and trim_zeros") {
  const auto a = make();
  CHECK(test::equal(ca::delete_(line(), 1, 0), {2}, ints{1, 3}));
  CHECK(test::equal(ca::delete_(a, -1, 1), {2, 2}, ints{1, 2, 4, 5}));
  CHECK(test::equal(ca::delete_(a, {0, 2, -1}, 1), {2, 1}, ints{2, 5}));
  CHECK(test::equal(ca::delete_(a * 2, ca::slice(ca::none, ca::none, 2), 1), {2, 1}, ints{4, 10}));
  CHECK(test::equal(ca::delete_(a, ca::slice(5, 9), 1), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::delete_(a, ca::slice(ca::none, ca::none, -2), 1), {2, 1}, ints{2, 5}));
  CHECK(test::thrown<ca::index_error>([&] { ca::delete_(a, 3, 1); }) ==
        "delete_: index 3 is out of bounds for an axis of 3");
  CHECK(test::thrown<ca::index_error>([&] {
          ca::delete_(a, {0, 3}, 1);
        }) == "delete_: index 3 is out of bounds for an axis of 3");
  const auto z = ca::array<int>({0, 0, 1, 0, 2, 0});
  CHECK(test::equal(ca::trim_zeros(z), {3}, ints{1, 0, 2}));
  CHECK(test::equal(ca::trim_zeros(z, ca::trim_ends::front), {4}, ints{1, 0, 2, 0}));
  CHECK(test::equal(ca::trim_zeros(z, ca::trim_ends::back), {5}, ints{0, 0, 1, 0, 2}));
  for (const auto ends : {ca::trim_ends::both, ca::trim_ends::front, ca::trim_ends::back})
    CHECK(ca::trim_zeros(ca::zeros({4}), ends).size() == 0);
  CHECK(test::equal(ca::trim_zeros(ca::array<int>({{0, 0, 0}, {0, 1, 0}, {0, 0, 2}})), {2, 2}, ints{1, 0, 0, 2}));
}

TEST_CASE("manipulation: axes moved, turned and added") {
  const auto a = make();
  const auto c = ca::reshape(ca::arange<float>(24), {2, 3, 4});
  CHECK(ca::moveaxis(c, 0, -1).shape() == ca::shape{3, 4, 2});
  CHECK(ca::moveaxis(c, {0, 1}, {2, 0}).shape() == ca::shape{3, 4, 2});
  CHECK(ca::moveaxis(c, {2, 0}, {0, 1})(3, 1, 2).item() == 23);
  CHECK(ca::moveaxis(c, {2, 0}, {0, 1})(1, 0, 2).item() == 9);
  CHECK(test::thrown<ca::value_error>([&] { ca::moveaxis(c, {0, 1}, 2); }) == "moveaxis: 2 axes to 1 places");
  CHECK_THROWS_AS(ca::moveaxis(c, {0, 0}, {1, 2}), ca::value_error);
  CHECK_THROWS_AS(ca::moveaxis(c, 0, 3), ca::index_error);
  CHECK(test::equal(ca::matrix_transpose(c)(1), {4, 3}, ints{12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}));
  CHECK_THROWS_AS(ca::matrix_transpose(line()), ca::shape_error);
  CHECK(test::equal(ca::rot90(a), {3, 2}, ints{3, 6, 2, 5, 1, 4}));
  CHECK(test::equal(ca::rot90(a, 2), {2, 3}, ints{6, 5, 4, 3, 2, 1}));
  CHECK(test::equal(ca::rot90(a, -1), {3, 2}, ints{4, 1, 5, 2, 6, 3}));
  CHECK(test::equal(ca::rot90(a, 4), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::rot90(c, 1, {1, 2})(0), {4, 3}, ints{3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8}));
  CHECK(test::equal(ca::rot90(a, 1, {1, 0}), {3, 2}, ints{4, 1, 5, 2, 6, 3}));
  CHECK(test::thrown<ca::value_error>([&] { ca::rot90(a, 1, {0}); }) == "rot90: 1 axes, not two");
  CHECK(test::equal(ca::fliplr(a), {2, 3}, ints{3, 2, 1, 6, 5, 4}));
  CHECK(test::equal(ca::flipud(a), {2, 3}, ints{4, 5, 6, 1, 2, 3}));
  CHECK_THROWS_AS(ca::fliplr(line()), ca::shape_error);
  CHECK_THROWS_AS(ca::flipud(a(0, 0)), ca::shape_error);
  CHECK(ca::atleast_1d(a(0, 0)).shape() == ca::shape{1});
  CHECK(ca::atleast_2d(line()).shape() == ca::shape{1, 3});
  CHECK(ca::atleast_2d(a(0, 0) + 1).shape() == ca::shape{1, 1});
  CHECK(ca::atleast_3d(a(0, 0)).shape() == ca::shape{1, 1, 1});
  CHECK(ca::atleast_3d(line()).shape() == ca::shape{1, 3, 1});
  CHECK(ca::atleast_3d(a).shape() == ca::shape{2, 3, 1});
  CHECK(ca::atleast_3d(c).shape() == ca::shape{2, 3, 4});
}

TEST_CASE("manipulation: shapes that broadcast, and grids") {
  const auto a = make();
  CHECK(ca::broadcast_shapes(ca::shape{3}, ca::shape{2, 1}, ca::shape{}) == ca::shape{2, 3});
  CHECK_THROWS_AS(ca::broadcast_shapes(ca::shape{3}, ca::shape{2}), ca::shape_error);
  const auto [u, v] = ca::broadcast_arrays(line(), a(_, ca::slice(1)));
  CHECK(test::equal(u, {2, 3}, ints{1, 2, 3, 1, 2, 3}));
  CHECK(test::equal(v, {2, 3}, ints{1, 1, 1, 4, 4, 4}));
  CHECK_THROWS_AS(ca::ndarray<int>(u).fill(0), ca::value_error);
  const auto [x, y] = ca::meshgrid(line(), ca::array<float>({5, 6}));
  CHECK(test::equal(x, {2, 3}, ints{1, 2, 3, 1, 2, 3}));
  CHECK(test::equal(y, {2, 3}, ints{5, 5, 5, 6, 6, 6}));
  const auto [i, j, k] = ca::meshgrid(ca::indexing::ij, line(), ca::arange(2), ca::arange(4));
  CHECK(
      (i.shape() == ca::shape{3, 2, 4} && j(0, 1, 0).item() == 1 && k(0, 0, 3).item() == 3 && i(2, 0, 0).item() == 3));
  const auto [p, q, r] = ca::meshgrid(line(), ca::arange(2), ca::arange(4));
  CHECK(
      (p.shape() == ca::shape{2, 3, 4} && p(0, 2, 0).item() == 3 && q(1, 0, 0).item() == 1 && r(0, 0, 3).item() == 3));
  const auto [one] = ca::meshgrid(line() + 1);
  CHECK(test::equal(one, {3}, ints{2, 3, 4}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::meshgrid(line(), a); }) == "meshgrid: array 1 has 2 axes");
}
