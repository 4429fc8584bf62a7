// Index arrays and masks, read and written; expected values from NumPy or paper.
// SPDX-License-Identifier: MIT
#include <cudarray/threads.hpp>

#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;
using ints = std::vector<int>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };
ca::ndarray<int> at(std::initializer_list<int> i) { return ca::array(std::vector<int>(i)); }

/// Where the device finds wrong indices late, the next synchronising call throws.
template <class F>
std::string out_of_range(const F& f) {
  return test::thrown<ca::index_error>([&] {
    f();
    ca::synchronize();
  });
}

enum class flags_set { nothing, all, last, first, half, few };

/// a(mask) and flatnonzero(mask) of n elements, `offset` and more behind the start of their memory.
template <class T>
bool selects(int64 n, flags_set which, int64 offset) {
  std::vector<ca::uint8> flags(std::size_t(offset + n), 1), elements(std::size_t(2 * offset + n));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = ca::uint8(i * 7 % 251);
  std::vector<int64> positions;
  for (int64 i = 0; i < n; ++i) {
    const ca::uint32 chance = (ca::uint32(i) * 2654435761u) >> 16;
    const bool set = which == flags_set::all || (which == flags_set::last && i == n - 1) ||
                     (which == flags_set::first && i == 0) || (which == flags_set::half && chance % 2 == 1) ||
                     (which == flags_set::few && chance % 500 == 0);
    flags[std::size_t(offset + i)] = set;
    if (set) positions.push_back(i);
  }
  const ca::ndarray<bool> mask = ca::eval(ca::astype<bool>(ca::array(flags)))(slice(offset, none));
  ca::ndarray<T> all = ca::astype<T>(ca::array(elements));
  if constexpr (ca::kind_of<T> == ca::kind::complex_) all = all * T(1, -3);
  const ca::ndarray<T> b = all(slice(2 * offset, none))(mask);
  std::vector<double> right, got;
  for (int64 i : positions) right.push_back(elements[std::size_t(2 * offset + i)]);
  for (const T v : test::values(b)) {
    if constexpr (ca::kind_of<T> == ca::kind::complex_) got.push_back(double(v.re + (v.im + 3 * v.re)));
    else got.push_back(double(v));
  }
  if constexpr (std::is_same_v<T, bool>)
    for (double& v : right) v = v != 0;
  return b.shape() == ca::shape{int64(positions.size())} && got == right &&
         test::values(ca::flatnonzero(mask)) == positions;
}

}  // namespace

TEST_CASE("indexing: one column taken of rows of many lengths") {
  for (const ca::int64 rows : {1, 2, 3, 4, 8, 17, 256, 1000})
    for (const ca::int64 columns : {1, 2, 3, 4, 7, 64}) {
      CAPTURE(rows, columns);
      const ca::ndarray<ca::int64> x = ca::reshape(ca::arange(rows * columns), {rows, columns});
      const ca::ndarray<float> y = ca::astype<float>(x);
      std::vector<double> last;
      for (ca::int64 i = 0; i < rows; ++i) last.push_back(double((i + 1) * columns - 1));
      const ca::ndarray<int> at = ca::array<int>({-1})(0);
      CHECK(test::equal(ca::take(x, at, 1), {rows}, last));
      CHECK(test::equal(ca::take(y, at, -1) + 0.f, {rows}, last));
    }
}

TEST_CASE("indexing: rows of many lengths taken") {
  for (const int64 taken : {1, 2, 7, 8, 9, 300})
    for (const int64 columns : {1, 3, 16, 33, 1000}) {
      CAPTURE(taken, columns);
      const ca::ndarray<int64> x = ca::reshape(ca::arange(50 * columns), {50, columns});
      const ca::ndarray<int64> row = (ca::arange(taken) * int64(7)) % int64(100) - int64(50);  // negative ones too
      std::vector<int64> right;
      for (int64 i = 0; i < taken; ++i)
        for (int64 j = 0; j < columns; ++j) right.push_back((i * 7 % 100 - 50 + 50) % 50 * columns + j);
      CHECK(test::equal(ca::take(x, row), {taken, columns}, right));
      const ca::ndarray<float> single = ca::astype<float>(x);
      const ca::ndarray<ca::uint16> few = ca::astype<ca::uint16>(x);
      CHECK(test::equal(ca::take(single, ca::eval(ca::astype<ca::int8>(row))), {taken, columns}, right));
      CHECK(test::equal(ca::take(few, row), {taken, columns}, right));
      const ca::ndarray<int64> into = ca::zeros<int64>({taken, columns + 2});
      into(_, slice(1, -1)) = ca::take(x, row);
      CHECK(test::equal(into(_, slice(1, -1)), {taken, columns}, right));
      CHECK(ca::sum(into(_, slice(none, none, columns + 1))).item() == 0);
      const ca::ndarray<int64> turned = ca::take(x(_, slice(none, none, -1)), row);
      CHECK(test::equal(turned(_, slice(none, none, -1)), {taken, columns}, right));
      if (taken == 300)
        CHECK(out_of_range([&] { ca::eval(ca::take(x(slice(0, 49)), row)); }).find("size 49") != std::string::npos);
    }
}

TEST_CASE("indexing: rows of many lengths written") {
  for (const int64 written : {1, 8, 9, 150})
    for (const int64 columns : {1, 3, 4, 16, 33, 128, 1000, 1100}) {
      CAPTURE(written, columns);
      // every other row of 300, in another order, some counted from the end
      const ca::ndarray<int64> row = (ca::arange(written) * int64(14)) % int64(300) - int64(150);
      const ca::ndarray<int64> v = ca::reshape(ca::arange(1, written * columns + 1), {written, columns});
      std::vector<int64> right(std::size_t(300 * columns), 0), tens = right, same = right;
      for (int64 i = 0; i < written; ++i)
        for (int64 j = 0; j < columns; ++j) {
          const auto to = std::size_t((i * 14 % 300 + 150) % 300 * columns + j);
          right[to] = i * columns + j + 1, tens[to] = 10, same[to] = j + 1;
        }
      const ca::ndarray<int64> x = ca::zeros<int64>({300, columns}), y = x.copy(), z = x.copy(), u = x.copy();
      x(row) = v;
      CHECK(test::equal(x, x.shape(), right));
      y(row) = 10;
      CHECK(test::equal(y, x.shape(), tens));
      z(row) = v(0);
      CHECK(test::equal(z, x.shape(), same));
      u(_, slice(none, none, -1))(row) = v(_, slice(none, none, -1));
      CHECK(test::equal(u, x.shape(), right));
      const ca::ndarray<float> wide = ca::zeros<float>({301, columns + 2});  // rows off alignment
      wide(slice(1, none), slice(1, -1))(ca::astype<ca::int16>(row)) = ca::astype<float>(v);
      CHECK(test::equal(wide(slice(1, none), slice(1, -1)), x.shape(), right));
      CHECK(ca::sum(wide).item() == ca::sum(v).item());
      const ca::ndarray<ca::uint8> bytes = ca::zeros<ca::uint8>({300, columns});
      bytes(ca::reshape(row, {1, written})) = v % int64(100);  // an index of two axes
      CHECK(test::equal(bytes % ca::uint8(100), x.shape(), test::values(x % int64(100))));
      // a wrong index changes nothing on the CPU, and on CUDA leaves its own row out
      const ca::ndarray<int64> wrong = ca::where(ca::arange(written) == 0, int64(300), row), w = x.copy();
      CHECK(out_of_range([&] { w(wrong) = -1; }).find("index 300 is out of bounds") != std::string::npos);
      const bool late = !ca::device_type_t<decltype(w)>::synchronous;
      CHECK(ca::sum(w == x).item() >= (late ? 301 - written : 300) * columns);
    }
}

TEST_CASE("indexing: of rows written to one place the last one stays, with any number of threads") {
  using array = ca::ndarray<float, ca::cpu>;
  const ca::ndarray<int64, ca::cpu> row = ca::arange<int64, ca::cpu>(0, 4000) % int64(70);
  const array v = ca::broadcast_to(ca::reshape(ca::arange<float, ca::cpu>(0, 4000), {4000, 1}), {4000, 200});
  std::vector<float> last;
  for (int place = 0; place < 70; ++place) last.insert(last.end(), 200, float((place < 10 ? 3990 : 3920) + place));
  for (int n : {1, 3, 8}) {
    INFO(n << " threads");
    const test::threads t(n);
    const array x = ca::zeros<float, ca::cpu>({70, 200});
    x(row) = v;
    CHECK(test::values(x) == last);
  }
}

TEST_CASE("indexing: the last one stays for an index of two axes and values of any strides") {
  using array = ca::ndarray<float, ca::cpu>;
  const ca::ndarray<int64, ca::cpu> at = ca::array<int64, ca::cpu>({{0, 1}, {1, 0}});
  const array v = ca::reshape(ca::arange<float, ca::cpu>(0, 16), {2, 2, 4});
  const auto written = [&](const array& value) {
    const array b = ca::zeros<float, ca::cpu>({2, 4});
    b(at) = value;
    return test::values(b(_, 0));
  };
  CHECK(written(v) == std::vector<float>{12, 8});
  CHECK(written(ca::swapaxes(v, 0, 1)) == std::vector<float>{12, 4});
  CHECK(written(v(slice(none, none, -1))) == std::vector<float>{4, 0});
  CHECK(written(v(_, slice(0, 1))) == std::vector<float>{8, 8});
  CHECK(written(v(slice(1, 2))) == std::vector<float>{12, 8});
}

TEST_CASE("indexing: take_along_axis") {
  const auto a = ca::array<int>({{10, 20, 30}, {40, 50, 60}});
  CHECK(test::equal(ca::take_along_axis(a, ca::array<int>({{2}, {0}})), {2, 1}, ints{30, 40}));
  CHECK(test::equal(ca::take_along_axis(a, ca::array<ca::int8>({{-1, 0, 0, 1}, {1, 1, -3, 2}}), 1), {2, 4},
                    ints{30, 10, 10, 20, 50, 50, 40, 60}));
  CHECK(test::equal(ca::take_along_axis(a, ca::array<int>({{0, 1, 0}}), 0), {1, 3}, ints{10, 50, 30}));
  CHECK(test::equal(ca::take_along_axis(a, ca::array<int>({{0}, {1}, {-1}}), 0), {3, 3},
                    ints{10, 20, 30, 40, 50, 60, 40, 50, 60}));  // the other axis broadcasts
  CHECK(test::equal(ca::take_along_axis(a(slice(0, 1)), ca::array<int>({{0}, {2}})), {2, 1}, ints{10, 30}));
  CHECK(test::equal(ca::take_along_axis(a.t(), ca::array<int>({{1, 0}}), 0), {1, 2}, ints{20, 40}));
  CHECK(test::equal(ca::take_along_axis(a, ca::zeros<int>({2, 0})), {2, 0}, ints{}));
  CHECK(test::equal(ca::take_along_axis(a * 2, ca::array<int>({{2}, {0}})) + 1, {2, 1}, ints{61, 81}));
  // what sorts an array
  const ca::ndarray<int> x = (ca::arange<int>(3 * 500) * 7919) % 1009, rows = ca::reshape(x, {3, 500});
  CHECK(test::equal(ca::take_along_axis(rows, ca::argsort(rows, 1), 1), {3, 500}, test::values(ca::sort(rows, 1))));
  const ca::ndarray<int> columns = ca::reshape(x, {500, 3});
  CHECK(test::equal(ca::take_along_axis(columns, ca::argsort(columns, 0), 0), {500, 3},
                    test::values(ca::sort(columns, 0))));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::take_along_axis(a, ca::array<int>({0, 1}));
        }) ==
        "take_along_axis: indices of shape (2,) for an array of shape (2, 3): they must have as many axes "
        "(ca::expand_dims adds one)");
  CHECK_THROWS_AS(ca::take_along_axis(a, ca::zeros<int>({3, 1})), ca::shape_error);
  CHECK_THROWS_AS(ca::take_along_axis(a, ca::zeros<int>({2, 1}), 2), ca::index_error);
  const auto outside = [&] {
    const ca::ndarray<int> y = ca::take_along_axis(a, ca::array<int>({{0, 1}, {-4, 0}}));
    ca::synchronize();
  };
  CHECK(test::thrown<ca::index_error>(outside) == "take_along_axis: index -4 is out of bounds for axis 1 with size 3");
}

TEST_CASE("indexing: take") {
  const auto a = make();
  CHECK(test::equal(ca::take(a, at({1, 0, 1})), {3, 3}, ints{4, 5, 6, 1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::take(a, at({2, 0}), 1), {2, 2}, ints{3, 1, 6, 4}));
  CHECK(test::equal(ca::take(a, at({-1, -3}), -1), {2, 2}, ints{3, 1, 6, 4}));
  CHECK(test::equal(ca::take(a, ca::array<int>({{0, 1}, {2, 0}}), 1), {2, 2, 2}, ints{1, 2, 3, 1, 4, 5, 6, 4}));
  CHECK(test::equal(ca::take(a, at({1})(0)), {3}, ints{4, 5, 6}));
  CHECK(test::equal(ca::take(a, ca::zeros<int>({0})), {0, 3}, ints{}));
  CHECK(test::equal(ca::take(a, ca::zeros<int>({2, 0}), 1), {2, 2, 0}, ints{}));
  CHECK(test::equal(ca::take(a(slice(0, 0)), at({0, 2}), 1), {0, 2}, ints{}));
  CHECK(test::equal(ca::take(a.t(), at({2, 0})), {2, 2}, ints{3, 6, 1, 4}));
  CHECK(test::equal(ca::take(a(_, slice(none, none, -1)), at({0, 2})(slice(none, none, -1)), 1), {2, 2},
                    ints{1, 3, 4, 6}));
  CHECK(test::equal(ca::take(a * 2, at({1})) + 1, {1, 3}, ints{9, 11, 13}));
  CHECK(test::equal(ca::sum(ca::take(a, at({0, 0, 1}), 1), 0), {3}, ints{5, 5, 7}));
  CHECK(test::equal(ca::take(a, ca::array<ca::uint8>({1})), {1, 3}, ints{4, 5, 6}));
  CHECK(test::thrown<ca::index_error>([&] { ca::take(a, at({0}), 2); }).find("axis 2") != std::string::npos);
}

TEST_CASE("indexing: indices out of range throw") {
  const auto a = make();
  CHECK(out_of_range([&] {
          ca::eval(ca::take(a, at({0, 2})));
        }) == "take: index 2 is out of bounds for axis 0 with size 2");
  CHECK(out_of_range([&] { ca::eval(ca::take(a, at({-4}), 1)); }).find("-4") != std::string::npos);
  CHECK(out_of_range([&] { array_t r = a(at({5})); }).find("5") != std::string::npos);
  CHECK(out_of_range([&] { ca::eval(ca::take(ca::zeros<float>({0}), at({0}))); }).find("size 0") != std::string::npos);
  CHECK(out_of_range([&] { a(at({0, -3})) = 0; }).find("-3") != std::string::npos);
  if constexpr (ca::default_device::synchronous) CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(out_of_range([] {}) == "nothing was thrown");
}

TEST_CASE("indexing: nonzero") {
  const auto a = ca::array<float>({{0, 3, NAN}, {-1, 0, 0}});
  CHECK(test::equal(ca::flatnonzero(a), {3}, ints{1, 2, 3}));
  CHECK(test::equal(ca::flatnonzero(a.t()), {3}, ints{1, 2, 4}));
  CHECK(test::equal(ca::flatnonzero(a > 5), {0}, ints{}));
  CHECK(test::equal(ca::flatnonzero(ca::zeros<float>({0, 2})), {0}, ints{}));
  const auto n = ca::nonzero(a);
  REQUIRE(n.size() == 2);
  CHECK(test::equal(n[0], {3}, ints{0, 0, 1}));
  CHECK(test::equal(n[1], {3}, ints{1, 2, 0}));
  CHECK(ca::nonzero(ca::zeros<int>({2, 0})).size() == 2);
  const auto many = ca::arange(10000);
  CHECK(ca::all(ca::flatnonzero(many % 3 == 0) == ca::arange(0, 10000, 3)).item());
}

TEST_CASE("indexing: reading through a mask or an index array") {
  const auto a = make();
  const array_t picked = a(a > 2), rows = a(at({1, -2, 1}));
  CHECK(test::equal(picked, {4}, ints{3, 4, 5, 6}));
  CHECK(test::equal(rows, {3, 3}, ints{4, 5, 6, 1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(a(ca::array<bool>({false, true})), {1, 3}, ints{4, 5, 6}));
  CHECK(test::equal(a(a > 9), {0}, ints{}));
  CHECK(test::equal(a(ca::zeros<bool>({2})), {0, 3}, ints{}));
  CHECK(test::equal(a.t()(a.t() > 2), {4}, ints{4, 5, 3, 6}));
  CHECK(test::equal(a(_, slice(none, none, -1))(a < 3), {2}, ints{3, 2}));
  CHECK(test::equal(a(a > 4) * 10, {2}, ints{50, 60}));
  CHECK(test::equal(ca::sum(a(at({0}))), {}, ints{6}));
  CHECK(test::equal(a(ca::array<int>({{0}, {1}})), {2, 1, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(a(a > 2).shape() == ca::shape{4});
  CHECK(test::thrown<ca::index_error>([&] { a(ca::zeros<bool>({3})); }) ==
        "index: a mask of shape (3,) for an array of shape (2, 3)");
  CHECK(test::thrown<ca::index_error>([&] { a(ca::zeros<bool>({2, 3, 1})); }).find("(2, 3, 1)") != std::string::npos);
  CHECK(test::thrown<ca::index_error>([&] { a(0, 0)(at({0})); }).find("0 axes") != std::string::npos);
}

TEST_CASE("indexing: a mask of all axes") {
  array_t a = make();
  CHECK(test::equal(a(_, slice(none, none, -1))(ca::eval(a > 2)(_, slice(none, none, -1))), {4}, ints{3, 6, 5, 4}));
  CHECK(test::equal(a(ca::broadcast_to(ca::array<bool>({true, false, true}), {2, 3})), {4}, ints{1, 3, 4, 6}));
  CHECK(test::equal(ca::broadcast_to(a(0), {2, 3})(a > 3), {3}, ints{1, 2, 3}));
  CHECK(test::equal(a(1, 2)(ca::full<bool>({}, true)), {1}, ints{6}));
  CHECK(test::equal(a(1, 2)(ca::full<bool>({}, false)), {0}, ints{}));
  CHECK(test::equal(array_t()(ca::ndarray<bool>()), {0}, ints{}));
  CHECK(test::equal(array_t()(ca::zeros<bool>({0})), {0}, ints{}));
  CHECK(test::equal(ca::zeros({0, 3})(ca::zeros<bool>({0, 3})), {0}, ints{}));
  const array_t b = a(a > 2);
  a(_) = 0;
  CHECK(test::equal(b, {4}, ints{3, 4, 5, 6}));  // elements of its own
  a = b(b > 3);
  a = a(a < 6);
  CHECK(test::equal(a, {2}, ints{4, 5}));
  const auto flags = ca::array<bool>({true, false, true});
  CHECK(test::equal(flags(flags), {2}, ints{1, 1}));
}

TEST_CASE("indexing: masks of many elements, at any offset", "[large]") {
  for (const int64 n : {1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 5000, 70000, 1000003})
    for (const flags_set which :
         {flags_set::nothing, flags_set::all, flags_set::last, flags_set::first, flags_set::half, flags_set::few})
      for (const int64 offset : {0, 1, 13}) {
        INFO(n << " elements, offset " << offset << ", mask " << int(which));
        CHECK(selects<float>(n, which, offset));
        if (n != 1025 && n != 70000) continue;
        CHECK(selects<bool>(n, which, offset));
        CHECK(selects<ca::uint8>(n, which, offset));
        CHECK(selects<double>(n, which, offset));
        CHECK(selects<ca::complex64>(n, which, offset));
        if (n == 1025) CHECK(selects<ca::complex128>(n, which, offset));
        if (n == 1025) CHECK(selects<ca::float16>(n, which, offset));
      }
}

TEST_CASE("indexing: writing through a mask") {
  const auto a = make();
  SECTION("a scalar") {
    a(a > 4) = 0.f;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 0, 0}));
    a(a > 100) = 7;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 0, 0}));
  }
  SECTION("an array, in C order") {
    a((a > 1) & (a < 5)) = ca::array<float>({10, 20, 30});
    CHECK(test::equal(a, {2, 3}, ints{1, 10, 20, 30, 5, 6}));
  }
  SECTION("a mask of rows") {
    a(ca::array<bool>({false, true})) = 0;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 0, 0, 0}));
    a(ca::array<bool>({true, true})) = ca::array<float>({7, 8, 9});
    CHECK(test::equal(a, {2, 3}, ints{7, 8, 9, 7, 8, 9}));
    a(ca::array<bool>({true, false})) += 1;
    CHECK(test::equal(a, {2, 3}, ints{8, 9, 10, 7, 8, 9}));
  }
  SECTION("in place") {
    a(a > 4) += 10;
    a(a < 2) -= 1;
    a(a == 3) *= ca::array<float>({5});
    a(a == 4) /= 8;
    CHECK(test::equal(a, {2, 3}, std::vector<double>{0, 2, 15, 0.5, 15, 16}));
  }
  SECTION("a view, also one that cannot be flattened") {
    a.t()(a.t() > 4) = 0;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 0, 0}));
    a.t()(a.t() == 0) = ca::array<float>({8, 9});
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 8, 9}));
    a(_, slice(none, none, -2))(ca::array<bool>({{true, false}, {false, true}})) = ca::array<float>({-1, -2});
    CHECK(test::equal(a, {2, 3}, ints{1, 2, -1, -2, 8, 9}));
  }
  SECTION("with what is being written") {
    a(a > 2) = a(a > 2) * 2;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 6, 8, 10, 12}));
    a(a > 6) = ca::sum(a);
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 6, 39, 39, 39}));
  }
  SECTION("wrong counts and scalars change nothing") {
    CHECK(test::thrown<ca::shape_error>([&] {
            a(a > 4) = ca::array<float>({1, 2, 3});
          }).find("(3,)") != std::string::npos);
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
    const auto i = ca::zeros<ca::int8>({2});
    CHECK(test::thrown<ca::value_error>([&] { i(i == 0) = 300; }).find("300") != std::string::npos);
    CHECK(test::equal(i, {2}, ints{0, 0}));
  }
}

TEST_CASE("indexing: writing through an index array") {
  const auto a = make();
  SECTION("scalars, rows, whole blocks") {
    a(at({1})) = 0;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 0, 0, 0}));
    a(at({-1, 0})) = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
    CHECK(test::equal(a, {2, 3}, ints{4, 5, 6, 1, 2, 3}));
    a(at({0, 1})) = ca::array<float>({7, 8, 9});
    CHECK(test::equal(a, {2, 3}, ints{7, 8, 9, 7, 8, 9}));
    a(ca::zeros<int>({0})) = 1;
    CHECK(test::equal(a, {2, 3}, ints{7, 8, 9, 7, 8, 9}));
  }
  SECTION("what it reads is what was there") {
    a(at({0, 1})) = a(slice(none, none, -1));
    CHECK(test::equal(a, {2, 3}, ints{4, 5, 6, 1, 2, 3}));
    a(at({0, 1})) = a(at({1, 0}));
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  }
  SECTION("in place; a row named twice is updated once, as in NumPy") {
    a(at({1, 1})) += 10;
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 14, 15, 16}));
    a(at({0})) *= a(slice(0, 1));
    CHECK(test::equal(a, {2, 3}, ints{1, 4, 9, 14, 15, 16}));
  }
  SECTION("a view") {
    a.t()(at({2, 0})) = ca::array<float>({{1, 2}, {3, 4}});
    CHECK(test::equal(a, {2, 3}, ints{3, 2, 1, 4, 5, 2}));
    a(0, slice(none, none, -1))(at({0})) = 9;
    CHECK(test::equal(a, {2, 3}, ints{3, 2, 9, 4, 5, 2}));
  }
  SECTION("an index that shares what is written") {
    const auto i = ca::array<int>({2, 0, 1, 3});
    i(i(slice(0, 3))) = ca::array<int>({10, 20, 30});
    CHECK(test::equal(i, {4}, ints{20, 30, 10, 3}));
  }
  SECTION("a shape that does not fit changes nothing") {
    CHECK(test::thrown<ca::shape_error>([&] {
            a(at({0, 1})) = ca::array<float>({1, 2});
          }).find("(2,)") != std::string::npos);
    CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  }
}
