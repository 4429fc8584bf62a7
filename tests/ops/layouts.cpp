// Maps and reductions over sizes and layouts that cross the boundaries of blocks, tiles, rows and lanes: the elements
// are small integers, so that every order of adding gives the same, and loops on the host say what is right.
// SPDX-License-Identifier: MIT
#include <limits>

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

/// What a transposed array of n elements 0, 1, ... % 101 holds, in C order, by loops over the axes in that order.
std::vector<double> turned(const std::vector<int64>& extents, const std::vector<int>& order) {
  std::vector<int64> step(extents.size(), 1), at(extents.size(), 0);
  for (std::size_t d = extents.size() - 1; d-- > 0;) step[d] = step[d + 1] * extents[d + 1];
  std::vector<double> r;
  for (bool more = true; more;) {
    int64 from = 0;
    for (const int d : order) from += at[std::size_t(d)] * step[std::size_t(d)];
    r.push_back(double(from % 101));
    more = false;
    for (std::size_t i = order.size(); i-- > 0 && !more;) {
      const auto d = std::size_t(order[i]);
      more = ++at[d] < extents[d];
      if (!more) at[d] = 0;
    }
  }
  return r;
}

/// The same of an array on the device: copied, in an expression with operands that lie along the result and with a
/// second turned one, in place, into memory off alignment and from it.
template <class T>
void check_turned(const std::vector<int64>& extents, const std::vector<int>& order) {
  CAPTURE(ca::dtype_name<T>, extents, order);
  const ca::shape s(extents.data(), int(extents.size()));
  const ca::axes axes(order.data(), int(order.size()));
  const auto expected = turned(extents, order);
  const auto times = [&](double factor) {
    std::vector<double> r;
    for (std::size_t i = 0; i < expected.size(); ++i) r.push_back(double(T(factor * expected[i] + double(i % 7))));
    return r;
  };
  const ca::ndarray<T> flat = ca::astype<T>(ca::arange(s.elements()) % 101);
  const ca::ndarray<T> x = ca::reshape(flat, s), view = ca::transpose(x, axes);
  const ca::ndarray<T> along = ca::reshape(ca::eval(ca::astype<T>(ca::arange(s.elements()) % 7)), view.shape());
  ca::ndarray<T> y = ca::full<T>(view.shape(), T(102));
  y(ca::ellipsis) = view;
  CHECK(same<T>(y, expected));
  y(ca::ellipsis) = along + view;
  CHECK(same<T>(y, times(1)));
  y += view;
  CHECK(same<T>(y, times(2)));
  const ca::ndarray<T> twin = ca::transpose(ca::reshape(ca::eval(flat * T(1)), s), axes);
  y(ca::ellipsis) = twin * T(1) + along + view;
  CHECK(same<T>(y, times(2)));
  const ca::ndarray<T> column = ca::copy(along(ca::ellipsis, slice(0, 1)));
  y(ca::ellipsis) = view + column;
  std::vector<double> sums;
  for (std::size_t i = 0, last = std::size_t(view.shape()[view.ndim() - 1]); i < expected.size(); ++i)
    sums.push_back(double(T(expected[i] + double(i / last * last % 7))));
  CHECK(same<T>(y, sums));
  std::vector<double> more;
  for (std::size_t i = 0; i < expected.size(); ++i) more.push_back(expected[i] > double(i % 7));
  CHECK(same<bool>(ca::eval(view > along), more));
  ca::ndarray<T> longer = ca::zeros<T>({s.elements() + 3});
  ca::ndarray<T> off = ca::reshape(longer(slice(3, ca::none)), view.shape());
  off(ca::ellipsis) = view;
  CHECK(same<T>(off, expected));
  ca::reshape(longer(slice(1, -2)), s)(ca::ellipsis) = x;
  CHECK(same<T>(ca::eval(ca::copy(ca::transpose(ca::reshape(longer(slice(1, -2)), s), axes))), expected));
  CHECK(double(longer(0).item()) == 0);
}

template <class T>
void check_orders() {
  for (const int64 n : {2, 3, 7, 8, 12, 16, 20, 31, 32, 33, 48, 63, 64, 65, 100, 513}) {
    check_turned<T>({n, 37}, {1, 0});
    check_turned<T>({37, n}, {1, 0});
    check_turned<T>({n, 300}, {1, 0});
    check_turned<T>({300, n}, {1, 0});
    check_turned<T>({n, 1000}, {1, 0});
    check_turned<T>({1000, n}, {1, 0});
    if (n <= 33) check_turned<T>({9001, n}, {1, 0});
    check_turned<T>({5, n, n}, {0, 2, 1});
    check_turned<T>({3, n, 49}, {0, 2, 1});
    check_turned<T>({3, 5, n, 40}, {0, 3, 1, 2});
    check_turned<T>({3, n, 4, 72}, {2, 0, 3, 1});
  }
  for (const std::vector<int>& order :
       {std::vector<int>{4, 2, 0, 3, 1}, {4, 3, 2, 1, 0}, {0, 4, 1, 3, 2}, {3, 0, 4, 2, 1}}) {
    check_turned<T>({3, 32, 4, 16, 16}, order);
    check_turned<T>({5, 7, 3, 11, 13}, order);
    check_turned<T>({2, 16, 3, 8, 24}, order);
    check_turned<T>({1, 40, 2, 5, 65}, order);
  }
}

/// Sums, and places of the first of the largest, of values in C order over the axes that `mask` has bits of.
struct reduced_axes {
  std::vector<double> sums, largest, places;
  reduced_axes(const std::vector<double>& values, const ca::shape& s, unsigned mask) {
    int64 results = 1;
    for (int d = 0; d < s.ndim(); ++d) results *= mask >> d & 1 ? 1 : s[d];
    sums.assign(std::size_t(results), 0);
    places = largest = sums;
    std::vector<int64> count(std::size_t(results), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      int64 rest = int64(i), result = 0, step = 1;
      for (int d = s.ndim(); d-- > 0; rest /= s[d])
        if (!(mask >> d & 1)) result += rest % s[d] * step, step *= s[d];
      const auto r = std::size_t(result);
      sums[r] += values[i];
      if (count[r] == 0 || values[i] > largest[r]) largest[r] = values[i], places[r] = double(count[r]);
      ++count[r];
    }
    for (double& v : sums) v = float(v);
  }
};

/// Reductions, over all choices of axes, of an array whose axes are in another order, and of its products with one
/// whose are not.
void check_reduced_orders(const std::vector<int64>& extents, const std::vector<int>& order) {
  const ca::shape s(extents.data(), int(extents.size()));
  const auto values = turned(extents, order);
  auto products = values;
  for (std::size_t i = 0; i < products.size(); ++i) products[i] *= double(i % 7) - 3;
  const ca::ndarray<float> x =
      ca::transpose(ca::reshape(ca::eval(ca::astype<float>(ca::arange(s.elements()) % 101)), s),
                    ca::axes(order.data(), int(order.size())));
  const ca::ndarray<float> y = ca::reshape(ca::eval(ca::astype<float>(ca::arange(s.elements()) % 7) - 3.f), x.shape());
  for (unsigned mask = 1; mask < 1u << order.size(); ++mask) {
    CAPTURE(extents, order, mask);
    std::vector<int> list;
    for (int d = 0; d < x.ndim(); ++d)
      if (mask >> d & 1) list.push_back(d);
    const ca::axes over(list.data(), int(list.size()));
    const reduced_axes one(values, x.shape(), mask), both(products, x.shape(), mask);
    CHECK(same<float>(ca::sum(x, over), one.sums));
    CHECK(same<float>(ca::argmax(x, over), one.places));
    CHECK(same<float>(ca::sum(x * y, over), both.sums));
    CHECK(same<float>(ca::max(x * y, over), both.largest));
    CHECK(same<float>(ca::argmax(y * x, over), both.places));
  }
}

}  // namespace

TEST_CASE("layouts: maps of float") { check_maps<float>(); }
TEST_CASE("layouts: maps of double") { check_maps<double>(); }
TEST_CASE("layouts: maps of int8") { check_maps<ca::int8>(); }
TEST_CASE("layouts: reductions of float") { check_reductions<float>(); }
TEST_CASE("layouts: reductions of double", "[large]") { check_reductions<double>(); }
TEST_CASE("layouts: reductions of int8") { check_reductions<ca::int8>(); }

TEST_CASE("layouts: axes of float in another order", "[large]") { check_orders<float>(); }
TEST_CASE("layouts: axes of double in another order", "[large]") { check_orders<double>(); }
TEST_CASE("layouts: axes of uint8 in another order", "[large]") { check_orders<ca::uint8>(); }
TEST_CASE("layouts: axes of float16 in another order", "[large]") { check_orders<ca::float16>(); }

TEST_CASE("layouts: reductions over any axes in another order", "[large]") {
  for (const int64 n : {33, 130, 513}) {
    check_reduced_orders({n, 257}, {1, 0});
    check_reduced_orders({257, n}, {1, 0});
    check_reduced_orders({3, n, 140}, {0, 2, 1});
    check_reduced_orders({140, n, 5}, {2, 1, 0});
  }
  for (const std::vector<int>& order : {std::vector<int>{3, 2, 1, 0}, {2, 0, 3, 1}, {0, 2, 1, 3}, {3, 0, 1, 2}}) {
    check_reduced_orders({5, 6, 8, 150}, order);
    check_reduced_orders({40, 9, 3, 33}, order);
  }
}

TEST_CASE("layouts: reductions of more than a cache's lines in another order", "[large]") {
  check_reduced_orders({1447, 1451}, {1, 0});
  check_reduced_orders({1024, 2050}, {1, 0});
  check_reduced_orders({9, 487, 479}, {0, 2, 1});
  check_reduced_orders({12, 64, 57, 53}, {0, 3, 1, 2});
  check_reduced_orders({65, 70, 3, 160}, {3, 1, 0, 2});
}

TEST_CASE("layouts: the first of the largest, which threads come to after later ones") {
  const int64 rows = 4096, columns = 2304;
  ca::ndarray<float> a = ca::zeros({rows, columns}), b = ca::zeros({columns, rows});
  a(slice(1000, ca::none), slice(0, 512)) = 1;
  a(5, 2000) = 1;
  CHECK(ca::argmax(a + b.t()).item() == 5 * columns + 2000);
  CHECK(ca::argmin(b.t() - a).item() == 5 * columns + 2000);
  a(7, 1999) = std::numeric_limits<float>::quiet_NaN();
  a(slice(1000, ca::none), slice(0, 512)) = std::numeric_limits<float>::quiet_NaN();
  CHECK(ca::argmax(a + b.t()).item() == 7 * columns + 1999);
}

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
  const auto same_bits = [](const char* name, const auto& reduce) {
    CAPTURE(name);
    const auto first = test::values(reduce());
    int differ = 0;
    for (int i = 0; i < 100; ++i) differ += test::values(reduce()) != first;
    CHECK(differ == 0);
  };
  const ca::ndarray<float> x = ca::random::normal({300, 70001});
  same_bits("all", [&] { return ca::sum(x); });
  same_bits("rows", [&] { return ca::sum(x, 1); });
  same_bits("columns", [&] { return ca::sum(x, 0); });
  same_bits("fused", [&] { return ca::sum(ca::exp(x) * x); });
  same_bits("mean", [&] { return ca::mean_var(x, 0).mean; });
  same_bits("var", [&] { return ca::mean_var(x, 1).var; });
  same_bits("logsumexp", [&] { return ca::nnet::logsumexp(x, 1); });
  const ca::ndarray<float> deep = ca::random::normal({40, 999, 256});
  same_bits("middle axis", [&] { return ca::sum(deep, 1); });
  same_bits("around an axis", [&] { return ca::sum(deep, {0, 2}); });
  same_bits("few columns", [&] { return ca::sum(ca::reshape(deep, {-1, 12}), 0); });
  same_bits("short rows", [&] { return ca::sum(ca::reshape(deep, {-1, 12}), 1); });
  same_bits("turned", [&] { return ca::sum(ca::swapaxes(deep, 1, 2) * ca::reshape(deep, {40, 256, 999})); });
  same_bits("half precision", [&] { return ca::sum(ca::astype<ca::float16>(deep), 0); });
}
