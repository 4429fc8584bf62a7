// Joining: lists of arrays, of expressions, tuples of several dtypes; stacks and blocks.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using array_t = ca::ndarray<float>;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };
template <class T, class X>
constexpr bool has_dtype(const X&) {
  return std::is_same_v<ca::value_type_t<X>, T>;
}

}  // namespace

TEST_CASE("joining: lists of expressions, selections and views, vectors and spans") {
  const auto a = make();
  CHECK(test::equal(ca::concatenate({a + 1, a + 2}), {4, 3}, ints{2, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 8}));
  CHECK(test::equal(ca::concatenate({a(a > 4), a(a < 2)}), {3}, ints{5, 6, 1}));
  const std::vector<array_t> list{a, a(_, ca::slice(1))};
  CHECK(test::equal(ca::concatenate(std::span<const array_t>(list), 1), {2, 4}, ints{1, 2, 3, 1, 4, 5, 6, 4}));
  CHECK(test::equal(ca::stack({a(0) * 2, a(1) * 2}, 1), {3, 2}, ints{2, 8, 4, 10, 6, 12}));
}

TEST_CASE("joining: a tuple of several kinds and dtypes, which are promoted") {
  const auto a = make();
  const ca::ndarray<ca::int64> n = ca::array<ca::int64>({{7, 8, 9}});
  const auto wide = ca::concatenate(std::tuple(a + 1, n, a(ca::slice(1), _) > 1));
  CHECK(has_dtype<double>(wide));
  CHECK(test::equal(wide, {4, 3}, ints{2, 3, 4, 5, 6, 7, 7, 8, 9, 0, 1, 1}));
  const auto truths = ca::concatenate(std::tuple(a(0) > 1, a(1) > 5));
  CHECK(has_dtype<bool>(truths));
  CHECK(test::equal(truths, {6}, std::vector<bool>{false, true, true, false, false, true}));
  CHECK(has_dtype<float>(ca::concatenate(std::tie(a, a))));
  CHECK(has_dtype<ca::float16>(ca::stack(std::tuple(ca::astype<ca::float16>(a), ca::astype<bool>(a)))));
  CHECK(test::equal(ca::stack(std::tuple(a(0), n(0)), 1), {3, 2}, ints{1, 7, 2, 8, 3, 9}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::concatenate(std::tuple(a, n), 1); }) ==
        "concatenate: shapes (2, 3) and (1, 3) along axis 1");
  CHECK(test::thrown<ca::shape_error>([&] { ca::stack(std::tuple(a, n)); }) == "stack: shapes (2, 3) and (1, 3)");
}

TEST_CASE("joining: hstack, vstack, dstack, column_stack") {
  const auto a = make();
  const array_t r = ca::array<float>({7, 8});
  CHECK(test::equal(ca::hstack({r, r}), {4}, ints{7, 8, 7, 8}));
  CHECK(test::equal(ca::hstack(std::tuple(a, ca::expand_dims(r, 1))), {2, 4}, ints{1, 2, 3, 7, 4, 5, 6, 8}));
  CHECK(test::equal(ca::hstack({r(0), r(1)}), {2}, ints{7, 8}));
  CHECK(test::equal(ca::vstack({r, r}), {2, 2}, ints{7, 8, 7, 8}));
  CHECK(test::equal(ca::vstack(std::tuple(a, a(0) + 1)), {3, 3}, ints{1, 2, 3, 4, 5, 6, 2, 3, 4}));
  CHECK(test::equal(ca::dstack({r, r}), {1, 2, 2}, ints{7, 7, 8, 8}));
  CHECK(test::equal(ca::dstack({a, a}), {2, 3, 2}, ints{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  CHECK(test::equal(ca::column_stack({r, r}), {2, 2}, ints{7, 7, 8, 8}));
  CHECK(test::equal(ca::column_stack(std::tuple(r, a)), {2, 4}, ints{7, 1, 2, 3, 8, 4, 5, 6}));
  CHECK(test::thrown<ca::value_error>([] { ca::hstack(std::vector<array_t>{}); }) == "concatenate: no arrays given");
  CHECK_THROWS_AS(ca::vstack({array_t(a), r}), ca::shape_error);
}

TEST_CASE("joining: blocks and append") {
  const auto a = make();
  const array_t column = ca::array<float>({{7}, {8}});
  CHECK(test::equal(ca::block({{array_t(a), column}, {column, array_t(a)}}), {4, 4},
                    ints{1, 2, 3, 7, 4, 5, 6, 8, 7, 1, 2, 3, 8, 4, 5, 6}));
  CHECK(test::equal(ca::block({{a(0), a(1)}}), {1, 6}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::block({a(0) + 1, a(1) + 1}), {6}, ints{2, 3, 4, 5, 6, 7}));
  CHECK_THROWS_AS(ca::block({{array_t(a), column}, {array_t(a)}}), ca::shape_error);
  CHECK(test::equal(ca::append(a, ca::array<int>({7})), {7}, ints{1, 2, 3, 4, 5, 6, 7}));
  CHECK(test::equal(ca::append(a, a(ca::slice(1), _) * 2, 0), {3, 3}, ints{1, 2, 3, 4, 5, 6, 2, 4, 6}));
  CHECK_THROWS_AS(ca::append(a, column, 0), ca::shape_error);
}

TEST_CASE("joining: parts of other sizes, and what they become when split") {
  const auto a = ca::reshape(ca::arange<float>(24), {2, 3, 4});
  const auto parts = ca::array_split(a + 0, 3, 2);
  REQUIRE(parts.size() == 3);
  CHECK((parts[0].shape() == ca::shape{2, 3, 2} && parts[2].shape() == ca::shape{2, 3, 1}));
  CHECK(ca::all(ca::concatenate(parts, 2) == a).item());
  CHECK(ca::array_split(ca::arange(2), 4).size() == 4);
  CHECK(ca::array_split(ca::arange(2), 4)[3].size() == 0);
  CHECK(test::equal(ca::array_split(ca::arange(5), {1, 3})[1], {2}, ints{1, 2}));
  CHECK(ca::hsplit(a, 3)[1].shape() == ca::shape{2, 1, 4});
  CHECK(test::equal(ca::hsplit(ca::arange(4), 2)[1], {2}, ints{2, 3}));
  CHECK(ca::vsplit(a, {1})[0].shape() == ca::shape{1, 3, 4});
  CHECK(ca::dsplit(a, 2)[0].shape() == ca::shape{2, 3, 2});
  CHECK(test::thrown<ca::shape_error>([] { ca::vsplit(ca::arange(4), 2); }) ==
        "vsplit: an array of shape (4,), not of 2 axes at least");
  CHECK(test::thrown<ca::value_error>([] { ca::array_split(ca::arange(4), 0); }) ==
        "array_split: axis of 4 does not divide into 0 parts");
  const auto rows = ca::unstack(ca::array<int>({{1, 2}, {3, 4}}));
  REQUIRE(rows.size() == 2);
  CHECK(test::equal(rows[1], {2}, ints{3, 4}));
  CHECK(test::equal(ca::unstack(a, -1)[3], {2, 3}, ints{3, 7, 11, 15, 19, 23}));
  CHECK(ca::unstack(ca::zeros({0, 2})).empty());
  CHECK_THROWS_AS(ca::unstack(ca::zeros({})), ca::index_error);
}
