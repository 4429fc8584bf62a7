// The CPU's walks across every boundary of packs, folded rows, tiles, streams and threads: the same as plain loops.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <numeric>

#include "engine.hpp"

namespace {

using extents = std::vector<int64>;

ca::shape shape_of(const extents& n) {
  ca::shape s;
  for (const int64 e : n) s.push_back(e);
  return s;
}
int64 product(const extents& n) { return std::accumulate(n.begin(), n.end(), int64(1), std::multiplies<int64>()); }

unsigned hash(int64 p) { return unsigned(p) * 2654435761u >> 8; }
/// Numbers that a dtype has, and their sums: whole ones, quarters for floats.
template <class T>
T small(int64 p) {
  const int k = int(hash(p) % 97);
  if constexpr (std::is_same_v<T, bool>) return k % 2 == 1;
  else if constexpr (std::is_unsigned_v<T>) return T(k);
  else if constexpr (ca::kind_of<T> == ca::kind::complex_) return T(float(k - 48), float(k % 7));
  else if constexpr (ca::kind_of<T> == ca::kind::floating) return T(float(k - 48) / 4);
  else return T(k - 48);
}

template <class T>
bool alike(const T& x, const T& y) {
  return x == y || (x != x && y != y);
}
template <class T>
bool same(const array<T>& a, const std::vector<T>& right) {
  if (!a.is_contiguous() || a.size() != int64(right.size())) return false;
  for (int64 i = 0; i < a.size(); ++i)
    if (!alike(a.data()[i], T(right[at(i)]))) return false;
  return true;
}
template <class T>
std::vector<T> contents(const array<T>& a) {
  return std::vector<T>(a.data(), a.data() + a.size());
}

/// A view of a contiguous array, and where its elements lie there by arithmetic of its own.
template <class T>
struct view {
  array<T> base, a;
  extents n, s;
  int64 first = 0;
  explicit view(const extents& e, int64 salt) : base(ca::empty<T>(shape_of(e), host)), a(base) {
    for (int64 i = 0; i < product(e); ++i) base.data()[i] = small<T>(i + salt);
    steps(e);
  }
  void steps(const extents& e) {
    n = s = e;
    int64 step = 1;
    for (auto d = e.size(); d-- > 0; step *= e[d]) s[d] = step;
  }
  view& turned() {
    a = a.t();
    std::reverse(n.begin(), n.end());
    std::reverse(s.begin(), s.end());
    return *this;
  }
  view& swapped(std::size_t i, std::size_t j) {
    a = ca::swapaxes(a, int(i), int(j));
    std::swap(n[i], n[j]);
    std::swap(s[i], s[j]);
    return *this;
  }
  /// Along the first or last axis: from the second element on, every second one, or backwards.
  view& from_second(bool last) { return cut(last, slice(1, none), 1, n[last ? n.size() - 1 : 0] - 1, 1); }
  view& every_second(bool last) { return cut(last, slice(none, none, 2), 0, (n[last ? n.size() - 1 : 0] + 1) / 2, 2); }
  view& backwards(bool last) {
    const int64 e = n[last ? n.size() - 1 : 0];
    return cut(last, slice(none, none, -1), e - 1, e, -1);
  }
  view& cut(bool last, const slice& c, int64 begin, int64 extent, int64 step) {
    if (last) a = a(ca::ellipsis, c);
    else a = a(c);
    const std::size_t d = last ? n.size() - 1 : 0;
    first += begin * s[d];
    s[d] *= step;
    n[d] = extent;
    return *this;
  }
  /// Where the elements lie, in C order, broadcast to a shape.
  extents places(const extents& to) const {
    extents r{first};
    for (std::size_t d = 0; d < to.size(); ++d) {
      const std::size_t lead = to.size() - n.size();
      const int64 step = d < lead || n[d - lead] == 1 ? 0 : s[d - lead];
      extents next;
      next.reserve(r.size() * at(to[d]));
      for (const int64 p : r)
        for (int64 i = 0; i < to[d]; ++i) next.push_back(p + i * step);
      r = std::move(next);
    }
    return r;
  }
};

/// A view of shape n; the last four are broadcast to it.
constexpr int targets = 10, forms = 14;
template <class T>
view<T> form(int k, extents n, int64 salt) {
  const extents turned(n.rbegin(), n.rend());
  const std::size_t rank = n.size();
  if (k == 1) return view<T>(turned, salt).turned();
  if (k == 2) return view<T>(n, salt).backwards(true);
  if (k == 3) return n.back() *= 2, view<T>(n, salt).every_second(true);
  if (k == 4) return n.back() += 1, view<T>(n, salt).from_second(true);
  if (k == 5) {
    auto v = view<T>({product(n) + 1}, salt).from_second(true);
    v.a = ca::reshape(v.a, shape_of(n));
    return v.steps(n), v;
  }
  if (k == 6) return view<T>(n, salt).backwards(false);
  if (k == 7) return view<T>(turned, salt).turned().backwards(true).backwards(false);
  if (k == 8) return n.front() *= 2, view<T>(n, salt).every_second(false);
  if (k == 9 && rank > 1) return std::swap(n[0], n[rank - 2]), view<T>(n, salt).swapped(0, rank - 2);
  if (k == 10) return view<T>({n.back()}, salt);
  if (k == 11) return n.back() = 1, view<T>(n, salt);
  if (k == 12) return view<T>({}, salt);
  if (k == 13) {
    const ca::shape s = shape_of(n);
    n.front() = 1;
    view<T> v(n, salt);
    v.a = ca::broadcast_to(v.a, s);
    return v;
  }
  return view<T>(n, salt);
}

/// A map of two operands, into a new array and through a view, of which nothing else may change.
template <class R, class A, class B, class Make, class Plain>
bool maps(const extents& n, int fa, int fb, int ft, const Make& make, const Plain& plain) {
  const view<A> a = form<A>(fa, n, 1);
  const view<B> b = form<B>(fb, n, 50);
  const view<R> t = form<R>(ft, n, 7);
  const extents pa = a.places(n), pb = b.places(n), pt = t.places(n);
  std::vector<R> right = contents(t.base), fresh(pa.size());
  for (std::size_t i = 0; i < pa.size(); ++i)
    right[at(pt[i])] = fresh[i] = plain(a.base.data()[pa[i]], b.base.data()[pb[i]]);
  const array<R> c = make(a.a, b.a);
  t.a(ca::ellipsis) = make(a.a, b.a);
  return same(t.base, right) && (c.size() != product(n) || same(ca::ascontiguousarray(c), fresh));
}

std::vector<extents> map_shapes() {
  std::vector<extents> r;
  for (const int64 inner : {1, 2, 3, 5, 8, 17, 29, 63, 64, 65})
    for (const int64 rows : {1, 3, 70}) r.push_back({rows, inner});
  for (const extents& n : std::vector<extents>{{1},         {67},           {65, 257},         {130, 513},
                                               {4099, 3},   {3, 4099},      {2, 1030},         {4, 1030},
                                               {7, 1030},   {21, 515},      {3, 70, 65},       {5, 64, 3},
                                               {2, 3, 257}, {33, 2, 5, 17}, {3, 2, 5, 4, 7},   {2, 3, 4, 5, 64},
                                               {401, 337},  {3, 50021},     {6, 5, 9, 8, 66},  {70001, 2},
                                               {140001},    {17, 29, 301},  {2, 300, 4, 1, 67}})
    r.push_back(n);
  return r;
}

/// All shapes and forms of the first operand, with some of the others; with `all`, all pairs for small shapes.
template <class R, class A, class B, class Make, class Plain>
void all_maps(bool all, const Make& make, const Plain& plain) {
  static int turn = 0;  // goes on from one dtype to the next
  for (const extents& n : map_shapes()) {
    const bool large = product(n) > 20000;
    for (int fa = large ? ++turn % 7 : 0; fa < forms; fa += large ? 7 : 1)
      for (int k = 0; k < (all && product(n) < 5000 ? forms : 1); ++k) {
        const int fb = (fa * 5 + turn / forms + k) % forms, ft = ++turn % targets;
        if (!maps<R, A, B>(n, fa, fb, ft, make, plain)) {
          CAPTURE(ca::dtype_name<A>, shape_of(n).str(), fa, fb, ft);
          CHECK(false);
        }
      }
  }
}

template <class T>
T plus(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) return x || y;
  else if constexpr (ca::kind_of<T> == ca::kind::complex_) return T(x.re + y.re, x.im + y.im);
  else if constexpr (ca::kind_of<T> == ca::kind::floating && sizeof(T) == 2) return T(float(x) + float(y));
  else return T(x + y);
}
template <class T>
void maps_of(bool all = false) {
  all_maps<T, T, T>(
      all, [](const auto& x, const auto& y) { return x + y; }, plus<T>);
  all_maps<T, bool, T>(
      false, [](const auto& c, const auto& x) { return ca::where(c, x, small<T>(3)); },
      [](bool c, T x) { return c ? x : small<T>(3); });
  if constexpr (ca::kind_of<T> != ca::kind::complex_)
    all_maps<bool, T, T>(
        false, [](const auto& x, const auto& y) { return x < y; }, [](T x, T y) { return x < y; });
}

}  // namespace

TEST_CASE("walks: maps of any layout into any layout") {
  const threads t(4);
  maps_of<float>(true);
  maps_of<double>();
  maps_of<ca::int32>();
  maps_of<int64>();
  maps_of<ca::uint8>(true);
  maps_of<ca::int8>();
  maps_of<ca::float16>();
  maps_of<ca::bfloat16>();
  maps_of<bool>();
  maps_of<ca::complex64>();
  // operands of several sizes, and a selection by an array
  all_maps<double, ca::uint8, double>(
      false, [](const auto& x, const auto& y) { return x * y; }, [](ca::uint8 x, double y) { return x * y; });
  all_maps<float, ca::int8, ca::float16>(
      false, [](const auto& x, const auto& y) { return ca::where(x < 3, ca::astype<float>(y), 2.f); },
      [](ca::int8 x, ca::float16 y) { return x < 3 ? float(y) : 2.f; });
}

TEST_CASE("walks: in place") {
  const threads t(4);
  const auto in_place = [](const extents& n, const auto& write, const auto& plain) {
    using T = float;
    for (int k = 0; k < targets; ++k) {
      const view<T> v = form<T>(k, n, 3);
      const auto p = v.places(n);
      std::vector<T> right = contents(v.base), old;
      for (const int64 i : p) old.push_back(right[at(i)]);
      for (std::size_t i = 0; i < p.size(); ++i) right[at(p[i])] = plain(old, int64(i));
      write(v.a);
      CAPTURE(shape_of(n).str(), k);
      CHECK(same(v.base, right));
    }
  };
  using floats = std::vector<float>;
  for (const int64 n : {1, 2, 17, 63, 64, 65, 257, 401}) {
    in_place(
        {n, n}, [](const auto& a) { a(_) = a.t() + a; },
        [n](const floats& v, int64 i) { return v[at(i)] + v[at(i % n * n + i / n)]; });
    in_place(
        {n, n}, [](const auto& a) { a(_) = a.t(); },
        [n](const floats& v, int64 i) { return v[at(i % n * n + i / n)]; });
    in_place(
        {n, 3}, [](const auto& a) { a(slice(1, none)) = a(slice(none, -1)) * 2; },
        [](const floats& v, int64 i) { return i < 3 ? v[at(i)] : v[at(i - 3)] * 2; });
    in_place(
        {2, n}, [](const auto& a) { a(_, slice(none, -1)) = a(_, slice(1, none)) - a(_, slice(none, -1)); },
        [n](const floats& v, int64 i) { return i % n == n - 1 ? v[at(i)] : v[at(i + 1)] - v[at(i)]; });
  }
  for (const int64 n : {1, 2, 5, 64, 1001, 4096, 200001}) {
    in_place(
        {n}, [](const auto& a) { a(_) = a(slice(none, none, -1)) + a; },
        [n](const floats& v, int64 i) { return v[at(i)] + v[at(n - 1 - i)]; });
    in_place(
        {n}, [](const auto& a) { a(_) = a + 1; }, [](const floats& v, int64 i) { return v[at(i)] + 1; });
    in_place(
        {n}, [](auto a) { a += a; }, [](const floats& v, int64 i) { return v[at(i)] + v[at(i)]; });
    in_place(
        {n}, [](const auto& a) { a(slice(1, none)) = a(slice(none, -1)); },
        [](const floats& v, int64 i) { return v[at(i < 1 ? 0 : i - 1)]; });
    in_place(
        {2 * n}, [](const auto& a) { a(slice(0, none, 2)) = a(slice(1, none, 2)) - a(slice(0, none, 2)); },
        [](const floats& v, int64 i) { return i % 2 == 1 ? v[at(i)] : v[at(i + 1)] - v[at(i)]; });
    array<ca::uint8> a = form<ca::uint8>(0, {n}, 0).a;
    a = a + 1;
    a = a + a;
    bool right = true;
    for (int64 i = 0; i < n; ++i) right = right && a.data()[i] == ca::uint8(2 * (small<ca::uint8>(i) + 1));
    CHECK(right);
  }
}

namespace {

/// v to `bits` bits of mantissa, ties to even; infinite beyond `most`, and subnormal below 2^(low + bits).
double rounded(double v, int bits, int low, double most) {
  if (v == 0 || v != v || std::fabs(v) == inf) return v;
  int e = 0;
  std::frexp(v, &e);
  const double unit = std::ldexp(1, std::max(e - bits, low)), r = std::nearbyint(v / unit) * unit;
  return std::fabs(r) > most ? std::copysign(inf, v) : r;
}
/// Floats saturate, integers wrap.
template <class T, class From = double>
double as(double v) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else if constexpr (std::is_same_v<T, ca::float16>) return rounded(v, 11, -24, 65504);
  else if constexpr (std::is_same_v<T, ca::bfloat16>) return rounded(v, 8, -133, 3.3895313892515355e38);
  else if constexpr (std::is_same_v<T, float>) return rounded(v, 24, -149, 3.4028234663852886e38);
  else if constexpr (std::is_same_v<T, double>) return v;
  else if constexpr (std::is_integral_v<From>) return T(int64(v));
  else return v != v ? 0 : std::trunc(std::fmin(std::fmax(v, double(limits::lowest())), double(limits::max())));
}

template <class From, class To>
void casts() {
  std::vector<From> values;
  for (const double v :
       {0.,        -0.,         1.,          -1.,         2.,           3.,     0.25,   0.5,     -0.5,    0.99,
        1.5,       -1.5,        2.5,         6.1e-5,      3e-8,         5e-8,   0.1,    -1. / 3, 126.,    127.,
        127.5,     128.,        -127.,       -128.,       -128.5,       -129.,  200.,   254.,    255.,    255.5,
        256.,      257.,        1000.,       2047.,       2049.,        65504., 65519., 65520.,  -65536., 99999.,
        16777215., 2147483520., 2147483647., 2147483648., -2147483648., -3e9,   1e10,   3.38e38, 3.4e38,  1e39,
        -1e300,    1e-40,       1e-300,      nan_,        inf,          -inf})
    if (ca::kind_of<From> == ca::kind::floating || as<From>(v) == v) {
      if constexpr (std::is_same_v<From, double>) values.push_back(v);
      else if constexpr (ca::kind_of<From> == ca::kind::floating) values.push_back(From(float(as<From>(v))));
      else values.push_back(From(v));
    }
  for (const extents& n : std::vector<extents>{{3, 65}, {70, 90}, {29, 17}, {4999, 28}})
    for (const int k : {0, 1, 2, 3, 5, 11}) {
      const view<From> a = form<From>(k, n, 0);
      for (int64 i = 0; i < a.base.size(); ++i) a.base.data()[i] = values[at(i) % values.size()];
      const view<To> d = form<To>(k % 4, n, 0);
      d.a(_) = ca::astype<To>(a.a);
      const array<To> c = ca::ascontiguousarray(ca::eval(ca::astype<To>(a.a)));
      const auto pa = a.places(n), pd = d.places(n);
      bool right = true;
      for (std::size_t i = 0; i < pa.size(); ++i) {
        const double v = as<To, From>(double(a.base.data()[pa[i]]));
        right = right && alike(double(d.base.data()[pd[i]]), v);
        if (k != 11) right = right && alike(double(c.data()[i]), v);
      }
      CAPTURE(ca::dtype_name<From>, ca::dtype_name<To>, shape_of(n).str(), k);
      CHECK(right);
    }
}
template <class From>
void casts_from() {
  casts<From, ca::uint8>();
  casts<From, ca::int8>();
  casts<From, ca::int32>();
  casts<From, float>();
  casts<From, double>();
  casts<From, ca::float16>();
  casts<From, ca::bfloat16>();
  casts<From, bool>();
}

}  // namespace

TEST_CASE("walks: conversions between all pairs of dtypes") {
  const threads t(4);
  casts_from<ca::uint8>();
  casts_from<ca::int8>();
  casts_from<ca::int32>();
  casts_from<float>();
  casts_from<double>();
  casts_from<ca::float16>();
  casts_from<ca::bfloat16>();
  casts_from<bool>();
}

TEST_CASE("walks: results larger than the last cache") {
  const threads t(4);
  const int64 elements = (16 << 20) / 8 + 100000, columns = 4099, rows = elements / columns;
  const view<double> row = form<double>(0, {columns}, 0), column = form<double>(0, {rows, 1}, 5);
  const auto right = [&](const double* p, int64 pitch) {
    for (int64 i = 0; i < rows; ++i)
      for (int64 j = 0; j < columns; ++j)
        if (p[i * pitch + j] != row.base.data()[j] + column.base.data()[i]) return false;
    return true;
  };
  {
    const array<double> c = row.a + column.a;
    CHECK(right(c.data(), columns));
  }
  const array<double> d = ca::zeros<double>({rows, columns + 2}, host);
  d(_, slice(1, columns + 1)) = row.a + column.a;
  CHECK(right(d.data() + 1, columns + 2));
  bool untouched = true;
  for (int64 i = 0; i < rows; ++i) {
    const double* const p = d.data() + i * (columns + 2);
    untouched = untouched && p[0] == 0 && p[columns + 1] == 0;
  }
  CHECK(untouched);
  // by way of tiles: copies and sums of what lies backwards, apart or the other way round
  const array<double> c = row.a + column.a, turned = c.t().copy(), wide = ca::zeros<double>({rows, 2 * columns}, host);
  const auto backwards = [](const array<double>& a) { return a(_, slice(none, none, -1)); };
  const auto apart = [&] { return wide(_, slice(none, none, 2)); };
  const array<double> mirror = backwards(c).copy();
  apart()(_) = c;
  const auto check = [&](const auto& write) {
    for (const int64 begin : {0, 1, 2}) {
      array<double> whole = d, to = d(_, slice(begin, begin + columns));
      whole.fill(0);
      write(to);
      CHECK(right(to.data(), columns + 2));
      for (int64 i = 0; i < rows; ++i)
        for (int64 j = 0; j < columns + 2; ++j)
          if (j < begin || j >= begin + columns) untouched = untouched && d.data()[i * (columns + 2) + j] == 0;
    }
  };
  check([&](array<double>& to) { to(_) = turned.t(); });
  check([&](array<double>& to) { to(_) = turned.t() * 1 + 0; });
  check([&](array<double>& to) { to(_) = backwards(mirror); });
  check([&](array<double>& to) { to(_) = backwards(mirror) + 0; });
  check([&](array<double>& to) { to(_) = apart(); });
  check([&](array<double>& to) { to(_) = apart() + row.a * 0; });
  CHECK(untouched);
  const array<double> flat = ca::reshape(d, {-1})(slice(3, none));  // one row, unaligned
  flat(_) = flat * 0 + 7;
  bool sevens = true;
  for (int64 i = 0; i < d.size(); ++i) sevens = sevens && (i < 3 || d.data()[i] == 7);
  CHECK(sevens);
}

namespace {

/// All that is said of the elements that are reduced to one, in C order.
struct totals {
  double sum = 0, squares = 0, prod = 1, max = -inf, min = inf;
  int64 count = 0, argmax = -1, argmin = -1, nan = -1;
  bool any = false, all = true;
  void add(double v) {
    sum += v, squares += v * v, prod *= v;
    any = any || v != 0, all = all && v != 0;
    if (v != v && nan < 0) nan = count;
    if (argmax < 0 || v > max) max = v, argmax = count;
    if (argmin < 0 || v < min) min = v, argmin = count;
    ++count;
  }
  double variance() const { return (squares - sum * sum / double(count)) / double(count); }
};
/// Of values of shape n, where bit d of `axes` says that axis d is reduced.
template <class F>
std::vector<totals> reduced(const extents& n, unsigned axes, const F& value) {
  extents places{0};  // of the results, an axis at a time
  for (std::size_t d = 0; d < n.size(); ++d) {
    extents next;
    for (const int64 p : places)
      for (int64 i = 0; i < n[d]; ++i) next.push_back(axes >> d & 1 ? p : p * n[d] + i);
    places = std::move(next);
  }
  int64 results = 1;
  for (std::size_t d = 0; d < n.size(); ++d) results *= axes >> d & 1 ? 1 : n[d];
  std::vector<totals> r(at(results));
  for (std::size_t i = 0; i < places.size(); ++i) r[at(places[i])].add(value(int64(i)));
  return r;
}
ca::axes axes_of(unsigned mask) {
  int list[8], n = 0;
  for (int d = 0; d < 8; ++d)
    if (mask >> d & 1) list[n++] = d;
  return ca::axes(list, n);
}

/// True if x holds what `right` says of each group, rounded to its dtype, within `relative`.
template <class X, class F>
bool gives(const X& x, const std::vector<totals>& groups, const F& right, double relative = 0) {
  using R = ca::value_type_t<X>;
  const array<R> a = x;
  if (a.size() != int64(groups.size())) return false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double v = double(a.data()[i]), e = double(as<R>(double(right(groups[i]))));
    if (!alike(v, e) && !(std::fabs(v - e) <= relative * std::fabs(e))) return false;
  }
  return true;
}

/// The reductions of the view over some axes. `Few`: those that are not much like another.
template <bool Few, class T>
void check_reductions(const view<T>& v, const extents& n, unsigned mask) {
  const auto p = v.places(n);
  const array<T> a = ca::broadcast_to(v.a, shape_of(n));
  const auto g = reduced(n, mask, [&](int64 i) { return double(v.base.data()[p[at(i)]]); });
  const ca::axes axes = axes_of(mask);
  CAPTURE(ca::dtype_name<T>, shape_of(n).str(), mask);
  // sums of quarters are exact in any order
  CHECK(gives(ca::sum(a, axes), g, [](const totals& t) { return t.sum; }));
  CHECK(gives(ca::max(a, axes), g, [](const totals& t) { return t.max; }));
  CHECK(gives(ca::argmax(a, axes), g, [](const totals& t) { return t.argmax; }));
  if constexpr (!Few) {
    CHECK(gives(ca::min(a, axes), g, [](const totals& t) { return t.min; }));
    CHECK(gives(ca::argmin(a, axes), g, [](const totals& t) { return t.argmin; }));
    CHECK(gives(ca::any(a, axes), g, [](const totals& t) { return t.any; }));
    CHECK(gives(ca::all(a, axes), g, [](const totals& t) { return t.all; }));
    CHECK(gives(
        ca::mean(a, axes), g, [](const totals& t) { return t.sum / double(t.count); }, 1e-6));
    CHECK(gives(
        ca::var(a, axes), g, [](const totals& t) { return t.variance(); }, 1e-6));
    for (int64 i = 0; i < v.base.size(); ++i) v.base.data()[i] = T(i % 20011 == 7 ? 2 : hash(i) % 2 ? 1 : -1);
    const auto h = reduced(n, mask, [&](int64 i) { return double(v.base.data()[p[at(i)]]); });
    if constexpr (ca::kind_of<T> == ca::kind::floating)
      CHECK(gives(ca::prod(a, axes), h, [](const totals& t) { return t.prod; }));
  }
}
template <bool Few, class T>
void all_reductions() {
  int turn = 0;
  for (const extents& n : std::vector<extents>{{100003, 1},
                                               {100003, 2},
                                               {100003, 3},
                                               {100003, 5},
                                               {50001, 16},
                                               {50001, 17},
                                               {3, 100003},
                                               {1031, 517},
                                               {65, 64},
                                               {64, 65},
                                               {17, 63},
                                               {5, 3},
                                               {1, 70},
                                               {70, 1},
                                               {1, 1}})
    for (unsigned mask = 1; mask < 4; ++mask)
      for (int k = 0; k < (product(n) < 20000 ? forms : 2); ++k, ++turn)
        check_reductions<Few>(form<T>(product(n) < 20000 ? k : turn % forms, n, 0), n, mask);
  for (const extents& n : std::vector<extents>{{5, 1, 7}, {33, 65, 9}, {3, 129, 130}, {70, 5, 301}, {400, 3, 200}})
    for (unsigned mask = 1; mask < 8; ++mask)
      for (int k = 0; k < 2; ++k, turn += 5) check_reductions<Few>(form<T>(turn % forms, n, 0), n, mask);
  for (const int64 k : {2, 3, 4, 7, 8, 9, 12, 15, 16, 18, 31, 32, 33, 48, 63, 64, 65, 100, 127, 200, 511})
    for (const int64 rows : {16, 70, 300, 5003}) {  // short rows, in memory as they follow each other and otherwise
      check_reductions<Few>(form<T>(0, {rows, k}, 0), {rows, k}, 2);
      check_reductions<Few>(form<T>(++turn % forms, {rows, k}, 0), {rows, k}, 2);
    }
  const extents n{3, 5, 17, 2, 9};
  for (unsigned mask = 1; mask < 32; ++mask, ++turn) check_reductions<Few>(form<T>(turn % forms, n, 0), n, mask);
}

}  // namespace

TEST_CASE("walks: reductions over any axes of any layout") {
  const threads t(4);
  all_reductions<false, float>();
  all_reductions<false, ca::int32>();
  all_reductions<true, double>();
  all_reductions<true, ca::uint8>();
  all_reductions<true, ca::float16>();
  all_reductions<true, bool>();
}

TEST_CASE("walks: reductions of what is computed") {
  const threads t(4);
  int turn = 0;
  for (const extents& n : std::vector<extents>{{7, 9}, {64, 65}, {100003, 3}, {3, 100003}, {16, 20001}, {401, 403}})
    for (unsigned mask = 1; mask < 4; ++mask)
      for (int k = 0; k < 4; ++k, turn += 3) {
        const view<float> a = form<float>(turn % forms, n, 0), b = form<float>(turn / 3 % forms, n, 9),
                          c = form<float>(0, {n[1], n[0]}, 20);
        const auto pa = a.places(n), pb = b.places(n);
        const auto x = [&](int64 i) { return double(a.base.data()[pa[at(i)]]); };
        const auto y = [&](int64 i) { return double(b.base.data()[pb[at(i)]]); };
        const auto z = [&](int64 i) { return double(c.base.data()[i % n[1] * n[0] + i / n[1]]); };
        const array<float> whole = ca::broadcast_to(a.a, shape_of(n)), other = ca::broadcast_to(b.a, shape_of(n));
        const ca::axes axes = axes_of(mask);
        CAPTURE(shape_of(n).str(), mask, turn);
        CHECK(gives(
            ca::sum((whole - other) * (whole - other), axes),
            reduced(n, mask, [&](int64 i) { return (x(i) - y(i)) * (x(i) - y(i)); }),
            [](const totals& s) { return s.sum; }, 1e-6));
        CHECK(gives(
            ca::sum(ca::abs(whole * c.a.t()), axes), reduced(n, mask, [&](int64 i) { return std::fabs(x(i) * z(i)); }),
            [](const totals& s) { return s.sum; }, 1e-6));
        // without packs
        const array<ca::complex64> first = ca::astype<ca::complex64>(whole), turned = ca::astype<ca::complex64>(c.a);
        const auto real = [](const array<ca::complex64>& v) {
          const array<double> r = ca::zeros<double>(v.shape());
          for (int64 i = 0; i < v.size(); ++i) r.data()[i] = double(v.data()[i].re);
          return r;
        };
        const auto sum_of = [&](const auto& value) { return reduced(n, mask, value); };
        CHECK(gives(
            real(ca::sum(first * turned.t(), axes)), sum_of([&](int64 i) { return x(i) * z(i); }),
            [](const totals& s) { return s.sum; }, 1e-6));
        CHECK(gives(
            real(ca::sum(turned.t(), axes)), sum_of(z), [](const totals& s) { return s.sum; }, 1e-6));
        CHECK(gives(
            real(ca::sum(first, axes)), sum_of(x), [](const totals& s) { return s.sum; }, 1e-6));
        const auto g = reduced(n, mask, [&](int64 i) { return x(i) - z(i); });
        CHECK(gives(ca::max(whole - c.a.t(), axes), g, [](const totals& s) { return s.max; }));
        CHECK(gives(ca::argmin(whole - c.a.t(), axes), g, [](const totals& s) { return s.argmin; }));
        CHECK(gives(ca::any(whole < c.a.t() - 23, axes), g, [](const totals& s) { return s.min < -23; }));
        CHECK(gives(
            ca::var(whole - c.a.t(), axes), g, [](const totals& s) { return s.variance(); }, 1e-6));
      }
  // the fastest axis of an operand is one of several reduced ones
  for (const extents& n : std::vector<extents>{{3, 130, 401}, {130, 3, 401}, {257, 5, 70}, {70, 300, 2}, {2, 2, 9}})
    for (unsigned mask = 1; mask < 8; ++mask)
      for (const auto& [i, j] : {std::pair(1, 2), std::pair(0, 2)}) {
        extents turned = n;
        std::swap(turned[at(i)], turned[at(j)]);
        view<float> a(n, 0), b(turned, 9);
        b.swapped(at(i), at(j));
        const auto pb = b.places(n);
        const auto g = reduced(n, mask, [&](int64 k) { return double(a.base.data()[k]) * b.base.data()[pb[at(k)]]; });
        CAPTURE(shape_of(n).str(), mask, i, j);
        CHECK(gives(
            ca::sum(a.a * b.a, axes_of(mask)), g, [](const totals& s) { return s.sum; }, 1e-6));
        CHECK(gives(
            ca::var(a.a * b.a, axes_of(mask)), g, [](const totals& s) { return s.variance(); }, 1e-6));
        CHECK(gives(ca::max(a.a * b.a, axes_of(mask)), g, [](const totals& s) { return s.max; }));
        CHECK(gives(ca::argmax(a.a * b.a, axes_of(mask)), g, [](const totals& s) { return s.argmax; }));
      }
}

/// Whole numbers, so that sums are exact in any order.
template <class T>
void check_far_columns() {
  for (const int64 columns : {7, 64, 100, 257, 1024, 1025, 3000}) {
    const int64 rows = (int64(18) << 20) / int64(sizeof(T)) / columns + 3;
    CAPTURE(ca::dtype_name<T>, columns);
    const array<T> a = ca::empty<T>({rows, columns}, host);
    std::vector<double> sums(at(columns)), squares(at(columns));
    for (int64 i = 0; i < rows; ++i)
      for (int64 j = 0; j < columns; ++j) {
        const auto v = double((i * 31 + j * 17) % 5);
        a.data()[i * columns + j] = T(v);
        sums[at(j)] += v;
        squares[at(j)] += v * v;
      }
    const array<double> s = ca::astype<double>(ca::eval(ca::sum(a, 0))),
                        q = ca::sum(ca::astype<double>(a) * ca::astype<double>(a), 0);
    CHECK(std::vector<double>(s.data(), s.data() + columns) == sums);
    CHECK(std::vector<double>(q.data(), q.data() + columns) == squares);
  }
}
TEST_CASE("walks: columns of what is larger than the caches") {
  check_far_columns<ca::uint8>();
  check_far_columns<float>();
  check_far_columns<double>();
}

TEST_CASE("walks: the first NaN, the first of equals, nothing at all") {
  const threads t(4);
  for (const int64 n : {1, 2, 15, 16, 17, 63, 64, 65, 1000, 4097, 16385, 300001})
    for (const int64 p : {int64(0), int64(1), n / 3, n / 2, n - 2, n - 1})
      for (int k = 0; k < 3 && p >= 0 && p < n; ++k) {
        // along a row, down columns of which the second has none, along a transposed axis
        const extents e = k == 0 ? extents{1, n} : k == 1 ? extents{n, 3} : extents{3, n};
        view<float> v(e, 0);
        if (k == 2) v = view<float>({n, 3}, 0).turned();
        const unsigned mask = k == 1 ? 1 : 2;
        const auto places = v.places(e);
        const auto put = [&](int64 i, double x) { v.base.data()[places[at(k == 1 ? i * 3 : i)]] = float(x); };
        const auto g = [&] { return reduced(e, mask, [&](int64 i) { return double(v.base.data()[places[at(i)]]); }); };
        const ca::axes axes = axes_of(mask);
        CAPTURE(n, p, k);
        put(p, 1000);
        put(n - 1, 1000);
        CHECK(gives(ca::argmax(v.a, axes), g(), [](const totals& s) { return s.argmax; }));
        put(n - 1, nan_);
        put(p, nan_);
        const auto first = [](int64 other, const totals& s) { return s.nan < 0 ? other : s.nan; };
        CHECK(gives(ca::argmax(v.a, axes), g(), [&](const totals& s) { return first(s.argmax, s); }));
        CHECK(gives(ca::argmin(v.a, axes), g(), [&](const totals& s) { return first(s.argmin, s); }));
        CHECK(gives(ca::max(v.a, axes), g(), [](const totals& s) { return s.nan < 0 ? s.max : nan_; }));
        CHECK(gives(ca::min(v.a, axes), g(), [](const totals& s) { return s.nan < 0 ? s.min : nan_; }));
      }
  for (const extents& n : std::vector<extents>{{0, 5}, {5, 0}, {0, 0}, {3, 0, 4}})
    for (unsigned mask = 1; mask < 1u << n.size(); ++mask) {
      const array<float> a = ca::empty<float>(shape_of(n), host);
      const auto g = reduced(n, mask, [](int64) { return 0.; });
      CHECK(gives(ca::sum(a, axes_of(mask)), g, [](const totals&) { return 0.; }));
      CHECK(gives(ca::prod(a, axes_of(mask)), g, [](const totals&) { return 1.; }));
      CHECK(gives(ca::all(a, axes_of(mask)), g, [](const totals&) { return 1.; }));
      if (!g.empty()) CHECK_THROWS_AS(ca::eval(ca::max(a, axes_of(mask))), ca::value_error);
    }
}
