// Maps and reductions over sizes and layouts that cross the boundaries of blocks, tiles, rows and lanes: the elements
// are small integers, so that every order of adding gives the same, and loops on the host say what is right.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

namespace {

using ca::int64;
using ca::slice;

/// A matrix on the host, and what the device made of the same elements.
struct matrix {
  int64 rows, columns;
  std::vector<float> v;
  float at(int64 i, int64 j) const { return v[std::size_t(i * columns + j)]; }
};

matrix pattern(int64 rows, int64 columns, int64 salt) {
  matrix m{rows, columns, std::vector<float>(std::size_t(rows * columns))};
  for (int64 k = 0; k < rows * columns; ++k) m.v[std::size_t(k)] = float((k * 7919 + salt) % 1009 % 23) - 7.f;
  return m;
}

/// The matrix as a view of each layout: contiguous, off alignment, with a pitch, transposed, backwards, with gaps.
constexpr int layouts = 6;
template <class T>
ca::ndarray<T> lay_out(const matrix& m, int layout) {
  using A = ca::ndarray<T>;
  const A a = ca::astype<T>(ca::ndarray<float>(ca::array(m.v, {m.rows, m.columns})));
  const auto into = [&](const A& view) {
    A target = view;
    target(ca::ellipsis) = a;
    return target;
  };
  switch (layout) {
    case 0:
      return a;
    case 1:
      return into(ca::reshape(ca::zeros<T>({m.rows * m.columns + 1})(slice(1, ca::none)), {m.rows, m.columns}));
    case 2:
      return into(ca::zeros<T>({m.rows, m.columns + 3})(ca::_, slice(0, m.columns)));
    case 3:
      return into(A(ca::zeros<T>({m.columns, m.rows})).t());
    case 4:
      return into(ca::zeros<T>({m.rows, m.columns})(slice(ca::none, ca::none, -1), slice(ca::none, ca::none, -1)));
    default:
      return into(ca::zeros<T>({m.rows, 2 * m.columns})(ca::_, slice(ca::none, ca::none, 2)));
  }
}

const int64 shapes[][2] = {{1, 1},     {3, 1000},  {1000, 3},  {33, 65},   {64, 64},    {128, 256}, {257, 129},
                           {1, 40003}, {40003, 1}, {5, 10001}, {10001, 5}, {1025, 130}, {17, 4096}, {4096, 16}};

template <class T, class X>
bool same(const X& x, const std::vector<double>& expected) {
  const auto v = test::values(x);
  if (v.size() != expected.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (double(v[i]) != expected[i]) return false;
  return true;
}

/// f(i, j) for all elements in C order.
template <class F>
std::vector<double> elements(int64 rows, int64 columns, const F& f) {
  std::vector<double> r;
  for (int64 i = 0; i < rows; ++i)
    for (int64 j = 0; j < columns; ++j) r.push_back(f(i, j));
  return r;
}

template <class T>
void check_maps() {
  for (const auto& s : shapes) {
    const matrix a = pattern(s[0], s[1], 3), b = pattern(s[0], s[1], 11), row = pattern(1, s[1], 5),
                 column = pattern(s[0], 1, 6);
    const auto sum = elements(s[0], s[1], [&](int64 i, int64 j) { return a.at(i, j) + 2 * b.at(i, j); });
    const auto broadcast = elements(s[0], s[1], [&](int64 i, int64 j) {
      return double(T(int(a.at(i, j) * row.at(0, j) + column.at(i, 0))));  // integers wrap
    });
    for (int la = 0; la < layouts; ++la) {
      const int lb = (la * 5 + 3) % layouts, lc = (la + 1) % layouts;
      INFO("shape " << s[0] << ", " << s[1] << "; layouts " << la << ", " << lb << " into " << lc);
      const auto x = lay_out<T>(a, la), y = lay_out<T>(b, lb), z = lay_out<T>(a, lc);
      z(ca::_) = x + y * T(2);
      CHECK(same<T>(z, sum));
      CHECK(same<T>(x + y * T(2), sum));
      CHECK(same<T>(x * lay_out<T>(row, 0) + lay_out<T>(column, lb), broadcast));
    }
  }
}

template <class T>
void check_reductions() {
  for (const auto& s : shapes) {
    const matrix m = pattern(s[0], s[1], 2);
    std::vector<double> by_row, by_column, arg_row, arg_column, most_row;
    double all = 0;
    for (int64 i = 0; i < s[0]; ++i) {
      double sum = 0;
      int64 best = 0;
      for (int64 j = 0; j < s[1]; ++j) {
        sum += m.at(i, j);
        if (m.at(i, j) > m.at(i, best)) best = j;
      }
      by_row.push_back(sum);
      arg_row.push_back(double(best));
      most_row.push_back(m.at(i, best));
      all += sum;
    }
    for (int64 j = 0; j < s[1]; ++j) {
      double sum = 0;
      int64 best = 0;
      for (int64 i = 0; i < s[0]; ++i) {
        sum += m.at(i, j);
        if (m.at(i, j) < m.at(best, j)) best = i;
      }
      by_column.push_back(sum);
      arg_column.push_back(double(best));
    }
    for (int l = 0; l < layouts; ++l) {
      INFO("shape " << s[0] << ", " << s[1] << "; layout " << l);
      const auto x = lay_out<T>(m, l);
      CHECK(same<T>(ca::sum(x, 1), by_row));
      CHECK(same<T>(ca::sum(x, 0), by_column));
      CHECK(same<T>(ca::sum(x), {all}));
      CHECK(same<T>(ca::argmax(x, 1), arg_row));
      CHECK(same<T>(ca::argmin(x, 0), arg_column));
      CHECK(same<T>(ca::max(x, 1), most_row));
      CHECK(same<T>(ca::sum(x - x * T(0), 1), by_row));
      CHECK(same<T>(ca::sum(x + ca::max(x) * T(0), 1), by_row));  // an operand that stands still
    }
  }
}

}  // namespace

TEST_CASE("layouts: maps of float") { check_maps<float>(); }
TEST_CASE("layouts: maps of double") { check_maps<double>(); }
TEST_CASE("layouts: maps of int8") { check_maps<ca::int8>(); }
TEST_CASE("layouts: reductions of float") { check_reductions<float>(); }
TEST_CASE("layouts: reductions of double") { check_reductions<double>(); }
TEST_CASE("layouts: reductions of int8") { check_reductions<ca::int8>(); }

TEST_CASE("layouts: three axes, reduced in the middle, outside, and around the middle") {
  for (const auto& s : {ca::shape{7, 33, 65}, ca::shape{64, 40, 256}, ca::shape{3, 1000, 5}, ca::shape{70, 3, 130}}) {
    const matrix m = pattern(s[0] * s[1], s[2], 4);
    const auto at = [&](int64 i, int64 j, int64 k) { return double(m.at(i * s[1] + j, k)); };
    const ca::ndarray<float> x = ca::reshape(lay_out<float>(m, 0), s);
    std::vector<double> middle, outer, around;
    for (int64 i = 0; i < s[0]; ++i)
      for (int64 k = 0; k < s[2]; ++k) {
        double sum = 0;
        for (int64 j = 0; j < s[1]; ++j) sum += at(i, j, k);
        middle.push_back(sum);
      }
    for (int64 k = 0; k < s[2]; ++k) {
      double sum = 0;
      for (int64 i = 0; i < s[0]; ++i)
        for (int64 j = 0; j < s[1]; ++j) sum += at(i, j, k);
      outer.push_back(sum);
    }
    for (int64 j = 0; j < s[1]; ++j) {
      double sum = 0;
      for (int64 i = 0; i < s[0]; ++i)
        for (int64 k = 0; k < s[2]; ++k) sum += at(i, j, k);
      around.push_back(sum);
    }
    CHECK(same<float>(ca::sum(x, 1), middle));
    CHECK(same<float>(ca::sum(x, {0, 1}), outer));
    CHECK(same<float>(ca::sum(x, {0, 2}), around));
    const ca::ndarray<float> turned = ca::copy(ca::transpose(x, {2, 0, 1}));
    CHECK(same<float>(ca::sum(turned, {0, 1}), around));
    CHECK(same<float>(ca::transpose(turned, {1, 2, 0}) + x - x,
                      elements(s[0] * s[1], s[2], [&](int64 i, int64 k) { return double(m.at(i, k)); })));
  }
}

TEST_CASE("layouts: a reduction gives the same bits every time", "[slow]") {
  const ca::ndarray<float> x = ca::random::normal({300, 70001});
  const auto all = test::values(ca::sum(x)), rows = test::values(ca::sum(x, 1)), columns = test::values(ca::sum(x, 0));
  for (int i = 0; i < 100; ++i) {
    CHECK(test::values(ca::sum(x)) == all);
    CHECK(test::values(ca::sum(x, 1)) == rows);
    if (i % 10 == 0) CHECK(test::values(ca::sum(x, 0)) == columns);
  }
}
