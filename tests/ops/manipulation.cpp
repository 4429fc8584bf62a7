// Shapes, order of axes, joining and splitting; which results are views.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };
const auto cube = [] { return ca::reshape(ca::arange<float>(24), {2, 3, 4}); };

/// True if what is written into `view` reaches `a`.
bool writes_into(const array_t& view, const array_t& a) {
  const array_t before = ca::copy(a);
  array_t v = view;
  v += 1;
  const bool seen = ca::any(before != a).item();
  v -= 1;
  return seen;
}

}  // namespace

TEST_CASE("manipulation: reshape and ravel") {
  const auto a = make();
  CHECK(test::equal(ca::reshape(a, {3, 2}), {3, 2}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::reshape(a, {-1, 2}), {3, 2}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::reshape(a, -1), {6}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::reshape(a.t(), {2, 3}), {2, 3}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(test::equal(ca::ravel(a(_, slice(none, none, -1))), {6}, ints{3, 2, 1, 6, 5, 4}));
  CHECK(test::equal(ca::reshape(a(0, 0), {1, 1}), {1, 1}, ints{1}));
  CHECK(test::equal(ca::reshape(a(slice(0, 1), slice(0, 1)), {}), {}, ints{1}));
  CHECK(test::equal(ca::ravel(a(1, 1)), {1}, ints{5}));
  CHECK(test::equal(ca::reshape(ca::zeros({0, 3}), {3, -1}), {3, 0}, ints{}));
  CHECK(test::equal(ca::reshape(a * 2, {6}), {6}, ints{2, 4, 6, 8, 10, 12}));
  CHECK(writes_into(ca::reshape(a, {3, 2}), a));
  CHECK(writes_into(ca::ravel(a(0, slice(none, none, -1))), a));
  CHECK_FALSE(writes_into(ca::ravel(a.t()), a));
  CHECK(test::thrown<ca::shape_error>([&] { ca::reshape(a, {4}); }) ==
        "reshape: cannot reshape (2, 3) (6 elements) to (4,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::reshape(a, {-1, -1}); }).find("reshape") == 0);
}

TEST_CASE("manipulation: transpose and swapaxes") {
  const auto a = make();
  const auto c = cube();
  CHECK(test::equal(ca::transpose(a), {3, 2}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(test::equal(ca::transpose(a, {1, 0}), {3, 2}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(test::equal(ca::transpose(a, {0, -1}), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::transpose(a(0)), {3}, ints{1, 2, 3}));
  CHECK(test::equal(ca::transpose(a(0, 0)), {}, ints{1}));
  CHECK(ca::transpose(c, {2, 0, 1}).shape() == ca::shape{4, 2, 3});
  CHECK(ca::transpose(c, {2, 0, 1})(3, 1, 2).item() == 23);
  CHECK(ca::transpose(c, {2, 0, 1})(1, 0, 2).item() == 9);
  CHECK(test::equal(ca::transpose(a + 1)(0), {2}, ints{2, 5}));
  CHECK(test::equal(ca::swapaxes(c, 0, -1)(1), {3, 2}, ints{1, 13, 5, 17, 9, 21}));
  CHECK(test::equal(ca::swapaxes(a, 1, 1), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(writes_into(ca::transpose(a), a));
  CHECK(ca::transpose(ca::zeros({0, 3})).shape() == ca::shape{3, 0});
  CHECK(test::thrown<ca::value_error>([&] { ca::transpose(a, {0}); }).find("1 axes given") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::transpose(a, {0, 0}); }).find("named twice") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { ca::transpose(a, {0, 2}); }).find("axis 2") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { ca::swapaxes(a, 0, 2); }).find("axis 2") != std::string::npos);
}

TEST_CASE("manipulation: expand_dims and squeeze") {
  const auto a = make();
  CHECK(ca::expand_dims(a, 0).shape() == ca::shape{1, 2, 3});
  CHECK(ca::expand_dims(a, -1).shape() == ca::shape{2, 3, 1});
  CHECK(ca::expand_dims(a, -2).shape() == ca::shape{2, 1, 3});
  CHECK(ca::expand_dims(a(0, 0), 0).shape() == ca::shape{1});
  CHECK(writes_into(ca::expand_dims(a, 1), a));
  CHECK(test::thrown<ca::index_error>([&] { ca::expand_dims(a, 3); }).find("axis 3") != std::string::npos);
  const auto s = ca::zeros({1, 2, 1});
  CHECK(ca::squeeze(s).shape() == ca::shape{2});
  CHECK(ca::squeeze(s, 0).shape() == ca::shape{2, 1});
  CHECK(ca::squeeze(s, {0, -1}).shape() == ca::shape{2});
  CHECK(ca::squeeze(s, {}).shape() == ca::shape{1, 2, 1});
  CHECK(ca::squeeze(ca::zeros({1, 0})).shape() == ca::shape{0});
  CHECK(test::equal(ca::squeeze(a(slice(1, 2), slice(2, 3))), {}, ints{6}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::squeeze(s, 1); }) == "squeeze: axis 1 of shape (1, 2, 1) is not 1");
}

TEST_CASE("manipulation: broadcast_to") {
  const auto a = ca::array<float>({1, 2});
  CHECK(test::equal(ca::broadcast_to(a, {2, 2}), {2, 2}, ints{1, 2, 1, 2}));
  CHECK(test::equal(ca::broadcast_to(ca::expand_dims(a, 1), {2, 3}), {2, 3}, ints{1, 1, 1, 2, 2, 2}));
  CHECK(test::equal(ca::broadcast_to(a(0), {3}), {3}, ints{1, 1, 1}));
  CHECK(test::equal(ca::broadcast_to(a(slice(0, 1)), {0}), {0}, ints{}));
  CHECK(test::equal(ca::broadcast_to(a(slice(none, none, -1)) * 2, {1, 2}), {1, 2}, ints{4, 2}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::broadcast_to(a, {3}); }) ==
        "broadcast_to: shape (2,) does not broadcast to (3,)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::broadcast_to(a, {}); }).find("(2,)") != std::string::npos);
}

TEST_CASE("manipulation: flip") {
  const auto a = make();
  CHECK(test::equal(ca::flip(a), {2, 3}, ints{6, 5, 4, 3, 2, 1}));
  CHECK(test::equal(ca::flip(a, 0), {2, 3}, ints{4, 5, 6, 1, 2, 3}));
  CHECK(test::equal(ca::flip(a, -1), {2, 3}, ints{3, 2, 1, 6, 5, 4}));
  CHECK(test::equal(ca::flip(ca::flip(a, {0, 1})), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::flip(a(0, 0)), {}, ints{1}));
  CHECK(ca::flip(ca::zeros({0, 2})).shape() == ca::shape{0, 2});
  CHECK(writes_into(ca::flip(a), a));
  CHECK(test::thrown<ca::index_error>([&] { ca::flip(a, 2); }).find("flip: axis 2") == 0);
}

TEST_CASE("manipulation: concatenate and stack") {
  const auto a = make();
  const array_t b = ca::array<float>({{7, 8, 9}});
  CHECK(test::equal(ca::concatenate({array_t(a), b}), {3, 3}, ints{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK(test::equal(ca::concatenate({a(_, slice(none, none, -1)), a(_, slice(0, 1))}, 1), {2, 4},
                    ints{3, 2, 1, 1, 6, 5, 4, 4}));
  CHECK(test::equal(ca::concatenate({a.t(), a.t()}, -1), {3, 4}, ints{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6}));
  CHECK(test::equal(ca::concatenate({a(slice(0, 0)), b}), {1, 3}, ints{7, 8, 9}));
  CHECK(test::equal(ca::concatenate(std::vector<array_t>{b}), {1, 3}, ints{7, 8, 9}));
  CHECK(test::equal(ca::stack({a(0), a(1)}), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::stack({a(0), a(1)}, 1), {3, 2}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(test::equal(ca::stack({a(0), a(1)}, -1), {3, 2}, ints{1, 4, 2, 5, 3, 6}));
  CHECK(test::equal(ca::stack({a(0, 0), a(1, 1)}), {2}, ints{1, 5}));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::concatenate({array_t(a), b}, 1);
        }) == "concatenate: shapes (2, 3) and (1, 3) along axis 1");
  CHECK(test::thrown<ca::shape_error>([&] { ca::concatenate({array_t(a), b(0)}); }).find("(3,)") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] {
          ca::concatenate({array_t(a), b}, 2);
        }).find("axis 2") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::concatenate(std::vector<array_t>{}); }).find("no arrays") !=
        std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { ca::stack({array_t(a), b}); }).find("stack") == 0);
  CHECK(test::thrown<ca::value_error>([&] { ca::stack(std::vector<array_t>{}); }).find("stack") == 0);
}

TEST_CASE("manipulation: split") {
  const auto a = ca::arange<float>(6);
  const auto halves = ca::split(a, 2);
  REQUIRE(halves.size() == 2);
  CHECK(test::equal(halves[1], {3}, ints{3, 4, 5}));
  CHECK(writes_into(halves[0], a));
  const auto parts = ca::split(a, {2, 5, 9});
  REQUIRE(parts.size() == 4);
  CHECK(test::equal(parts[0], {2}, ints{0, 1}));
  CHECK(test::equal(parts[1], {3}, ints{2, 3, 4}));
  CHECK(test::equal(parts[2], {1}, ints{5}));
  CHECK(test::equal(parts[3], {0}, ints{}));
  const auto columns = ca::split(make()(slice(none, none, -1)), 3, -1);
  REQUIRE(columns.size() == 3);
  CHECK(test::equal(columns[2], {2, 1}, ints{6, 3}));
  CHECK(test::thrown<ca::value_error>([&] { ca::split(a, 4); }) ==
        "split: axis of 6 does not divide into 4 equal parts");
  CHECK(test::thrown<ca::value_error>([&] { ca::split(a, 0); }).find("split") == 0);
  CHECK(test::thrown<ca::index_error>([&] { ca::split(a, 2, 1); }).find("axis 1") != std::string::npos);
}
