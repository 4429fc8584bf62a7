// Integers, slices, masks and index arrays side by side, read and written; expected values from NumPy.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using array = ca::ndarray<int>;
using ints = std::vector<int>;

array numbers(const ca::shape& s) { return ca::reshape(ca::arange<int>(int(s.elements())), s); }
array at(std::initializer_list<int> i) { return ca::array(ints(i)); }
ca::ndarray<bool> bools(std::initializer_list<bool> b) { return ca::array<bool>(b); }

/// Where the device finds wrong indices late, the next synchronising call throws.
template <class F>
std::string out_of_range(const F& f) {
  return test::thrown<ca::index_error>([&] {
    f();
    ca::synchronize();
  });
}

}  // namespace

TEST_CASE("selection: where the axes of the index go") {
  const array x = numbers({2, 3, 4});
  CHECK(test::equal(x(at({1, 0}), at({2, -1})), {2, 4}, ints{20, 21, 22, 23, 8, 9, 10, 11}));
  CHECK(test::equal(x(_, at({2, 0}), at({1, -1})), {2, 2}, ints{9, 3, 21, 15}));
  CHECK(test::equal(x(at({1, 0}), _, at({2, 1})), {2, 3}, ints{14, 18, 22, 1, 5, 9}));
  CHECK(test::equal(x(0, _, at({2, 0})), {2, 3}, ints{2, 6, 10, 0, 4, 8}));
  CHECK(test::equal(x(at({1, 0}), slice(1, none), 0), {2, 2}, ints{16, 20, 4, 8}));
  CHECK(test::equal(x(slice(1, 2), at({2, 0}), slice(3)), {1, 2, 3}, ints{20, 21, 22, 12, 13, 14}));
  CHECK(test::equal(x(ca::ellipsis, at({3, 0}))(1), {3, 2}, ints{15, 12, 19, 16, 23, 20}));
  CHECK(test::equal(x(at({1}), ca::ellipsis, at({3})), {1, 3}, ints{15, 19, 23}));
  CHECK(test::equal(x(0, at({2, 0}), ca::ellipsis, at({1, 3})), {2}, ints{9, 3}));
  CHECK(test::equal(x(at({1, 0}), ca::newaxis, 0, slice(2)), {2, 1, 2}, ints{12, 13, 0, 1}));
  CHECK(test::equal(x(1, at({0, 2}), ca::newaxis, slice(1, 3)), {2, 1, 2}, ints{13, 14, 21, 22}));
  const array y = numbers({1, 2, 1, 1, 3, 1, 1, 2});  // as many axes as there can be
  CHECK(test::equal(y(_, at({1, 0}), ca::ellipsis, at({0, 1})), {2, 1, 1, 1, 3, 1, 1}, ints{6, 8, 10, 1, 3, 5}));
  CHECK(test::equal(y(0, 1, ca::ellipsis, at({2, 0}), 0, 0, _), {2, 1, 1, 2}, ints{10, 11, 6, 7}));
}

TEST_CASE("selection: index arrays broadcast") {
  const array x = numbers({2, 3, 4});
  CHECK(test::equal(x(ca::array<int>({{0}, {1}}), at({2, 0, 1}), 3), {2, 3}, ints{11, 3, 7, 23, 15, 19}));
  CHECK(test::equal(x(ca::array<int>({{0}, {1}}), _, at({3, 0})), {2, 2, 3},
                    ints{3, 7, 11, 0, 4, 8, 15, 19, 23, 12, 16, 20}));
  CHECK(test::equal(x(_, ca::array<int>({{2, 1}}), ca::array<int>({{0}, {-1}})), {2, 2, 2},
                    ints{8, 4, 11, 7, 20, 16, 23, 19}));
  CHECK(test::equal(x(at({1})(0), at({2, 0}), 1), {2}, ints{21, 13}));
  CHECK(test::equal(x(at({1})(0), _, at({2})(0)), {3}, ints{14, 18, 22}));
  // of any dtype, in any layout, and computed
  CHECK(test::equal(x(ca::array<ca::uint8>({1, 0}), ca::array<int64>({-1, 0}), ca::array<ca::int16>({3, -4})), {2},
                    ints{23, 0}));
  const ca::ndarray<int64> k = ca::reshape(ca::arange(6), {2, 3});
  CHECK(test::equal(x(1, k.t()(slice(2)) % int64(3), k(_, slice(none, none, -2)) % int64(4)), {2, 2},
                    ints{14, 12, 17, 19}));
  CHECK(test::equal(x(_, ca::broadcast_to(at({2, 0}), {2, 2}), 0), {2, 2, 2}, ints{8, 0, 8, 0, 20, 12, 20, 12}));
  CHECK(test::equal(x(0, k(slice(none, none, -1), 0) - int64(1), at({0, 1}) + 2), {2}, ints{10, 11}));
}

TEST_CASE("selection: masks beside other indices") {
  const array x = numbers({2, 3, 4});
  CHECK(test::equal(x(bools({false, true}), 0), {1, 4}, ints{12, 13, 14, 15}));
  CHECK(test::equal(x(_, bools({true, false, true}), 1), {2, 2}, ints{1, 9, 13, 21}));
  CHECK(test::equal(x(ca::ellipsis, bools({false, true, false, true}))(0), {3, 2}, ints{1, 3, 5, 7, 9, 11}));
  CHECK(test::equal(x(bools({true, true}), at({2, 0}), bools({false, true, true, false})), {2}, ints{9, 14}));
  const ca::ndarray<bool> grid = x(0) % 5 == 2;  // of two axes: (0, 2) and (1, 3)
  CHECK(test::equal(x(_, grid), {2, 2}, ints{2, 7, 14, 19}));
  CHECK(test::equal(x(ca::ellipsis, grid, ca::newaxis), {2, 2, 1}, ints{2, 7, 14, 19}));
  CHECK(test::equal(x(x(_, _, 0) > 3, at({3})), {5}, ints{7, 11, 15, 19, 23}));
  CHECK(test::equal(x(x(_, 0, 0) > 3, _, bools({true, false, false, false})), {1, 3}, ints{12, 16, 20}));
  const ca::ndarray<bool> yes = ca::full<bool>({}, true), no = ca::full<bool>({}, false);  // masks without axes
  CHECK(test::equal(x(1, yes, 0), {1, 4}, ints{12, 13, 14, 15}));
  CHECK(test::equal(x(no, 1, 0), {0, 4}, ints{}));
  CHECK(test::equal(x(yes, at({1, 0}), 2, 0), {2}, ints{20, 8}));
}

TEST_CASE("selection: arrays of any strides") {
  const array m = numbers({3, 4});
  CHECK(test::equal(m(slice(none, none, -1), slice(none, none, -2))(at({0, 2}), at({1, 0})), {2}, ints{9, 3}));
  CHECK(test::equal(m(slice(none, none, -1))(_, at({3, 0})), {3, 2}, ints{11, 8, 7, 4, 3, 0}));
  CHECK(test::equal(m(slice(none, none, -2)).t()(bools({true, false, false, true}), 1), {2}, ints{0, 3}));
  CHECK(test::equal(ca::broadcast_to(m(1), {3, 4})(at({2, 0}), at({3, 1})), {2}, ints{7, 5}));
  CHECK(test::equal(ca::broadcast_to(m(_, ca::newaxis, 0), {3, 5})(_, at({4, 1})), {3, 2}, ints{0, 0, 4, 4, 8, 8}));
  CHECK(test::equal((m * 2)(at({2, 0}), at({3, 1})), {2}, ints{22, 2}));
}

TEST_CASE("selection: nothing picked") {
  const array x = numbers({2, 3, 4});
  const ca::ndarray<int> none_of_them = ca::zeros<int>({0});
  CHECK(test::equal(x(_, none_of_them, 1), {2, 0}, ints{}));
  CHECK(test::equal(x(none_of_them, _, none_of_them), {0, 3}, ints{}));
  CHECK(test::equal(x(ca::zeros<int>({2, 0}), 1, ca::zeros<int>({2, 1})), {2, 0}, ints{}));
  CHECK(test::equal(x(_, ca::zeros<bool>({3}), 0), {2, 0}, ints{}));
  CHECK(test::equal(x(at({1, 0}), slice(0, 0), at({1, 0})), {2, 0}, ints{}));
  CHECK(test::equal(ca::zeros<int>({0, 3})(none_of_them, at({2})), {0}, ints{}));
  CHECK(test::equal(ca::zeros<int>({0, 3})(_, at({2, 0})), {0, 2}, ints{}));
  x(_, none_of_them) = 7;
  x(none_of_them, 0) += 7;
  x(_, ca::zeros<bool>({3}), 0) = at({1})(slice(0, 0));
  CHECK(test::equal(x, {2, 3, 4}, test::values(numbers({2, 3, 4}))));
}

TEST_CASE("selection: written") {
  const array a = numbers({3, 4});
  SECTION("a scalar") {
    a(at({0, 2}), at({1, -1})) = -1;
    a(_, at({0})) = -2;
    a(bools({false, true, true}), slice(2, none, 5)) = -3;
    CHECK(test::equal(a, {3, 4}, ints{-2, -1, 2, 3, -2, 5, -3, 7, -2, 9, -3, -1}));
  }
  SECTION("arrays, as they broadcast") {
    a(ca::newaxis)(0, _, at({3, 0})) = ca::array<int>({{20, 21, 22}, {23, 24, 25}});
    a(at({0, 2}), at({1, 3})) = at({-1, -2});
    a(slice(2), at({3, 0})) = at({-3, -4});
    a(_, at({2})) = ca::array<int>({{-5}, {-6}, {-7}});
    a(bools({false, false, true}), at({0, 1})) = ca::array<int>({{{-8, -9}}});
    CHECK(test::equal(a, {3, 4}, ints{-4, -1, -5, -3, -4, 5, -6, -3, -8, -9, -7, -2}));
  }
  SECTION("expressions and what has other dtypes and strides") {
    a(at({2, 0, 1}), 0) = a(_, 1) * 10 + 1;
    a(ca::array<int>({{0}, {2}}), at({3, 2})) = ca::array<double>({{1.5, 2.75}, {-3, 4}}).t();
    a(1, at({3, 1})) = ca::sum(a(_, slice(2)), 0);
    CHECK(test::equal(a, {3, 4}, ints{51, 1, -3, 1, 91, 15, 6, 153, 11, 9, 4, 2}));
  }
  SECTION("views") {
    a.t()(at({0, 3}), at({2, 0})) = at({-1, -2});
    a(slice(none, none, -1), slice(none, none, -2))(_, at({1})) = -3;
    a(slice(1, none), slice(1, 3))(bools({false, true}), at({0, 1})) *= 10;
    CHECK(test::equal(a, {3, 4}, ints{0, -3, 2, -2, 4, -3, 6, 7, -1, -30, 100, 11}));
  }
  SECTION("in place; what is named twice is updated once") {
    a(at({0, 2, 0}), at({1, 3, 1})) += 100;
    a(_, at({0})) -= ca::array<int>({{1}, {2}, {3}});
    a(bools({false, true, false}), at({1, 2})) *= at({2, 3});
    a(1, at({-1})) -= a(0, at({1})) * 2;
    CHECK(test::equal(a, {3, 4}, ints{-1, 101, 2, 3, 2, 10, 18, -195, 5, 9, 10, 111}));
  }
  SECTION("what it reads is what was there") {
    a(at({0, 1, 2}), at({2, 0, 1})) = a(at({2, 0, 1}), at({0, 1, 2}));
    a(_, at({1, 2, 3, 0})) = a;
    a(at({2, 0, 1}), slice(3)) = a(_, slice(3)).t();
    a(at({0, 1, 2}), at({0, 1, 2})) += a(0, slice(1, none));
    a(bools({true, true, false}), slice(2)) = a(slice(1, none), slice(2, none)) + a(slice(2), slice(1, 3));
    CHECK(test::equal(a, {3, 4}, ints{7, 14, 8, 8, 32, 16, 6, 6, 3, 7, 19, 10}));
  }
}

TEST_CASE("selection: an index that is what is written") {
  const auto i = ca::array<int64>({{1, 0}, {0, 1}});
  i(i(0), i(1)) = 9;
  CHECK(test::equal(i, {2, 2}, ints{1, 9, 9, 1}));
  const auto k = ca::array<int64>({{1, 0}, {0, 1}});
  k(k(_, 0)) = ca::array<int>({{5, 6}, {7, 8}});
  CHECK(test::equal(k, {2, 2}, ints{7, 8, 5, 6}));
  const auto b = ca::array<bool>({{true, false}, {true, true}});
  b(b(_, 0), 0) = false;
  CHECK(test::equal(b, {2, 2}, ints{0, 0, 0, 1}));
}

TEST_CASE("selection: many elements") {
  const array x = numbers({300, 70});
  for (const int64 n : {1, 33, 1000, 20000}) {
    CAPTURE(n);
    const ca::ndarray<int64> k = ca::arange(n), i = k * int64(37) % int64(600) - int64(300);
    const ca::ndarray<int> j = ca::astype<int>(k * int64(11) % int64(70)), row = j(slice(none, none, -1));
    ints pairs, columns, written(300 * 70, -1);
    for (int64 e = 0; e < n; ++e) {
      const int place = int(e * 37 % 300 * 70 + e * 11 % 70);
      pairs.push_back(place);
      written[std::size_t(place)] = place + 1;
    }
    for (int r = 0; r < 3; ++r)
      for (int64 e = n; e-- > 0;) columns.push_back((2 - r) * 100 * 70 + int(e * 11 % 70));
    CHECK(test::equal(x(i, j), {n}, pairs));
    CHECK(test::equal(x.t()(j, i), {n}, pairs));
    CHECK(test::equal(x(slice(200, none, -100), row), {3, n}, columns));
    const array y = ca::full<int>({300, 70}, -1), z = y.copy();
    y(i, j) = x(i, j);
    y(i, j) += 1;  // once, however often
    CHECK(test::equal(y, {300, 70}, written));
    z(slice(none, none, -1))(int64(-1) - i, j) = x(i, j) + 1;
    CHECK(test::equal(z, {300, 70}, written));
  }
}

TEST_CASE("selection: an index out of range names its axis, and nothing is written") {
  const array x = numbers({2, 3, 4});
  const auto axis = [](int index, int named, int size) {
    return ca::detail::cat("index: index ", index, " is out of bounds for axis ", named, " with size ", size);
  };
  CHECK(out_of_range([&] { ca::eval(x(at({0, 1}), at({0, 3}))); }) == axis(3, 1, 3));
  CHECK(out_of_range([&] { ca::eval(x(ca::ellipsis, at({-5}))); }) == axis(-5, 2, 4));
  CHECK(out_of_range([&] { ca::eval(x(ca::newaxis, 0, ca::newaxis, at({3}))); }) == axis(3, 1, 3));
  CHECK(out_of_range([&] { ca::eval(x(ca::ones<bool>({2, 3}), at({4}))); }) == axis(4, 2, 4));
  CHECK(out_of_range([&] { ca::eval(x.t()(at({1}), _, at({2}))); }) == axis(2, 2, 2));
  CHECK(out_of_range([&] { x(_, at({0, 1, 3})) = -1; }) == axis(3, 1, 3));
  CHECK(out_of_range([&] { x(at({0, 1}), 0, at({-5, 0})) = at({-1, -2}); }) == axis(-5, 2, 4));
  CHECK(out_of_range([&] { x(at({0, 2}), slice(1)) += 1; }) == axis(2, 0, 2));
  CHECK(out_of_range([&] { x(at({0, 1}), at({0, 3})) = x(at({1, 0}), at({0, 1})) * 2; }) == axis(3, 1, 3));
  CHECK_THROWS_AS(x(at({0}), 3) = -1, ca::index_error);
  if constexpr (ca::default_device::synchronous) CHECK(test::equal(x, x.shape(), test::values(numbers({2, 3, 4}))));
}

TEST_CASE("selection: shapes that do not fit, and nothing is written") {
  const array x = numbers({2, 3});
  const auto index = [](const auto& f, const char* text) { return test::thrown<ca::index_error>(f) == text; };
  const auto shape = [](const auto& f, const char* text) { return test::thrown<ca::shape_error>(f) == text; };
  CHECK(shape([&] { x(at({0, 1}), at({0, 1, 2})) = 7; }, "index: shapes (2,) and (3,) differ at axis 0"));
  CHECK(shape([&] { x(bools({true, true}), at({0, 1, 2})) = 7; }, "index: shapes (2,) and (3,) differ at axis 0"));
  CHECK(index([&] { x(at({0}), 0, at({0})) = 7; }, "index: 3 indices for an array of 2 axes, shape (2, 3)"));
  CHECK(index([&] { x(at({0}), bools({true})) = 7; },
              "index: a mask of shape (1,) for an array of shape (2, 3), from axis 1 on"));
  CHECK_THROWS_AS(x(bools({true, true, true}), 0) = 7, ca::index_error);
  CHECK_THROWS_AS(x(0, ca::ones<bool>({3, 1})) = 7, ca::index_error);
  CHECK_THROWS_AS(x(ca::ellipsis, at({0}), ca::ellipsis) = 7, ca::index_error);
  CHECK(shape([&] { x(at({0, 1}), 0) += at({7, 7, 7}); }, "+=: shapes (2,) and (3,) differ at axis 0"));
  CHECK_THROWS_AS(x(at({0, 1}), at({0, 2})) += ca::ones<int>({2, 2}), ca::shape_error);
  CHECK_THROWS_AS(x(_, at({0, 2})) = ca::ones<int>({3, 1}), ca::shape_error);
  CHECK_THROWS_AS(x(at({0, 1}), at({0, 2})) = at({7, 7, 7}), ca::shape_error);
  CHECK_THROWS_AS(x(bools({true, true}), 0) = at({7, 7, 7}), ca::shape_error);
  const array most = numbers({1, 1, 1, 1, 1, 1, 1, 1});
  CHECK_THROWS_AS(ca::eval(most(_, ca::zeros<int>({1, 1}))), ca::shape_error);  // nine axes
  const auto few = ca::zeros<ca::int8>({2, 3});
  CHECK_THROWS_AS(few(_, at({0})) = 300, ca::value_error);
  CHECK(ca::sum(few).item() == 0);
  const array same = ca::broadcast_to(x(0), {2, 3});
  CHECK_THROWS_AS(same(at({0}), at({1})) = 7, ca::value_error);
  CHECK_THROWS_AS(same(bools({true, false}), 0) += 7, ca::value_error);
  CHECK_THROWS_AS(same(_, ca::zeros<int>({0})) = 7, ca::value_error);
  CHECK(test::equal(x, {2, 3}, ints{0, 1, 2, 3, 4, 5}));
}
