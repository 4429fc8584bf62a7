// The CPU's sorts, scans, masks, takes, softmax and random numbers across its boundaries: the same as plain loops.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine.hpp"

namespace {

unsigned hash(int64 p) { return (unsigned(p) * 2654435761u >> 7) * 2246822519u >> 9; }
template <class T>
bool alike(const T& x, const T& y) {
  return x == y || (x != x && y != y);
}

template <class T, class F>
array<T> filled(const ca::shape& s, const F& value) {
  const array<T> a = ca::empty<T>(s, host);
  for (int64 i = 0; i < a.size(); ++i) a.data()[i] = T(value(i));
  return a;
}
/// True if element i in C order is `right(i)`.
template <class X, class F>
bool holds(const X& x, const ca::shape& s, const F& right) {
  const array<ca::value_type_t<X>> a = ca::ascontiguousarray(ca::eval(x));
  if (a.shape() != s) return false;
  for (int64 i = 0; i < a.size(); ++i)
    if (!alike(a.data()[i], ca::value_type_t<X>(right(i)))) return false;
  return true;
}

/// Few and many different values, among them the extreme ones; NaN of either sign and both zeros for floats.
template <class T>
T any_value(int64 i, bool few) {
  const unsigned h = hash(i);
  if constexpr (std::is_same_v<T, bool>) {
    return h % 2 == 1;
  } else if constexpr (ca::kind_of<T> == ca::kind::floating) {
    const double special[] = {nan_, -nan_, inf, -inf, 0., -0., 1e-40, -1e-40};
    const double v = h % 16 < 2 ? special[h / 16 % 8] : few ? double(h / 16 % 9) - 4 : double(int(h) - (1 << 22)) / 64;
    if constexpr (sizeof(T) == 8) return v;
    else return T(float(v));
  } else {
    const ca::uint64 all = ca::uint64(h) * 0x9e3779b97f4a7c15u;
    if (h % 16 == 0) return h / 16 % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
    return few ? T(h / 16 % 9) : T(all >> 13);
  }
}

/// The places of some elements in their order.
template <class T>
std::vector<int64> stable_order(const array<T>& v) {
  std::vector<int64> order(at(v.size()));
  std::iota(order.begin(), order.end(), int64(0));
  const T* const p = v.data();
  std::stable_sort(order.begin(), order.end(),
                   [p](int64 i, int64 j) { return p[i] < p[j] || (p[i] == p[i] && p[j] != p[j]); });
  return order;
}

template <class T>
void check_sorts() {
  for (const int64 n : {0, 1, 2, 3, 31, 32, 33, 95, 96, 97, 1000, 5000, 40000, 300001})
    for (const bool few : {false, true}) {
      const auto v = filled<T>({n}, [few](int64 i) { return any_value<T>(i, few); });
      const std::vector<int64> order = stable_order(v);
      const T* const p = v.data();
      CAPTURE(ca::dtype_name<T>, n, few);
      CHECK(holds(ca::argsort(v), {n}, [&](int64 i) { return order[at(i)]; }));
      CHECK(holds(ca::sort(v), {n}, [&](int64 i) { return p[order[at(i)]]; }));
      if (n > 5000) continue;
      // three columns: the second backwards, the third with gaps in between
      const array<T> a = ca::zeros<T>({n, 6}, host);
      a(_, 0) = v;
      a(_, 2) = v(slice(none, none, -1));
      a(_, 4) = v;
      const array<T> s = ca::sort(a(_, slice(none, none, 2)), 0);
      CHECK(holds(s(_, 1), {n}, [&](int64 i) { return p[order[at(i)]]; }));
      CHECK(holds(s(_, 2), {n}, [&](int64 i) { return p[order[at(i)]]; }));
      CHECK(holds(ca::argsort(a, 0)(_, 4), {n}, [&](int64 i) { return order[at(i)]; }));
    }
}

/// Many short segments, which are sorted side by side; in some groups of them are values that need more care.
template <class T>
void check_short_sorts() {
  for (const int64 n : {2, 3, 5, 8, 16, 31, 64, 100, 129, 256, 257, 512, 513})
    for (const int64 rows : {3, 17, 70, 131}) {
      CAPTURE(ca::dtype_name<T>, n, rows);
      const auto v = filled<T>({rows, n}, [n](int64 i) {
        if constexpr (ca::kind_of<T> == ca::kind::floating)
          if (i == 40 * n + n / 2) return T(-float(nan_));  // alone in its group
        return i / n % 90 == 85 ? any_value<T>(i, n % 2 == 0)
                                : T(n % 2 == 0 ? int64(hash(i) % 97) - 48 : int64(hash(i) % 4000) - 2000);
      });
      std::vector<int64> order(at(rows * n));
      const T* const p = v.data();
      for (int64 r = 0; r < rows; ++r) {
        const auto first = order.begin() + std::ptrdiff_t(r * n);
        std::iota(first, first + std::ptrdiff_t(n), int64(0));
        const T* const q = p + r * n;
        std::stable_sort(first, first + std::ptrdiff_t(n),
                         [q](int64 i, int64 j) { return q[i] < q[j] || (q[i] == q[i] && q[j] != q[j]); });
      }
      CHECK(holds(ca::argsort(v, 1), {rows, n}, [&](int64 i) { return order[at(i)]; }));
      CHECK(holds(ca::sort(v, 1), {rows, n}, [&](int64 i) { return p[i / n * n + order[at(i)]]; }));
      CHECK(holds(ca::sort(v.t(), 0), {n, rows}, [&](int64 i) {
        const int64 row = i % rows * n;
        return p[row + order[at(row + i / rows)]];
      }));
      const int64 k = std::min<int64>(n, 7);
      CHECK(holds(ca::topk(v, k, {.axis = 1, .largest = false}).indices, {rows, k},
                  [&](int64 i) { return order[at(i / k * n + i % k)]; }));
      for (int64 r = 0; r < rows; ++r) {
        const auto first = order.begin() + std::ptrdiff_t(r * n);
        const T* const q = p + r * n;
        std::iota(first, first + std::ptrdiff_t(n), int64(0));
        std::stable_sort(first, first + std::ptrdiff_t(n),
                         [q](int64 i, int64 j) { return q[i] > q[j] || (q[i] != q[i] && q[j] == q[j]); });
      }
      const auto top = ca::topk(v, k, {.axis = 1});
      CHECK(holds(top.indices, {rows, k}, [&](int64 i) { return order[at(i / k * n + i % k)]; }));
      CHECK(holds(top.values, {rows, k}, [&](int64 i) { return p[i / k * n + order[at(i / k * n + i % k)]]; }));
    }
}

/// The scan of an (outer, n, inner) array along its middle axis: `step` goes from one total to the next.
template <class Total, class T, class X, class Step>
bool scans(const X& x, const array<T>& a, const Step& step) {
  const int64 outer = a.shape(0), n = a.shape(1), inner = a.shape(2);
  const array<ca::value_type_t<X>> got = x;
  for (int64 o = 0; o < outer; ++o)
    for (int64 j = 0; j < inner; ++j) {
      Total t{};
      for (int64 i = 0; i < n; ++i) {
        const int64 k = (o * n + i) * inner + j;
        t = i == 0 ? Total(a.data()[k]) : step(t, Total(a.data()[k]));
        if (!alike(got.data()[k], ca::value_type_t<X>(t))) return false;
      }
    }
  return got.shape() == a.shape();
}
const int64 scan_shapes[][3] = {{1, 1, 1},   {1, 7, 1},    {1, 4099, 1},  {3, 65, 1},    {1, 300001, 1}, {70, 513, 1},
                                {5, 17, 3},  {3, 33, 16},  {2, 9, 31},    {2, 129, 64},  {1, 301, 513},  {1, 5, 1025},
                                {4, 1, 130}, {2, 3, 9000}, {1, 20001, 8}, {300, 701, 1}, {0, 3, 2},      {3, 0, 2}};
template <class T, class Sum, class Extreme>
void check_scans() {
  for (const auto& s : scan_shapes) {
    CAPTURE(ca::dtype_name<T>, s[0], s[1], s[2]);
    const auto a = filled<T>({s[0], s[1], s[2]}, [](int64 i) { return T(hash(i) % 7); });
    const auto signs = filled<T>(a.shape(), [](int64 i) { return T(hash(i) % 20011 == 0 ? 2 : 1); });
    const auto gaps = ca::zeros<T>({s[0], s[1], 2 * s[2]}, host);
    gaps(_, _, slice(none, none, 2)) = a;
    const auto add = [](Sum x, Sum y) { return Sum(x + y); };
    CHECK(scans<Sum>(ca::cumsum(a, 1), a, add));
    CHECK(scans<Sum>(ca::cumsum(gaps(_, _, slice(none, none, 2)), 1), a, add));
    CHECK(scans<Sum>(ca::cumprod(signs, 1), signs, [](Sum x, Sum y) { return Sum(x * y); }));
    CHECK(scans<Extreme>(ca::cummax(a, 1), a, [](Extreme x, Extreme y) { return x > y ? x : y; }));
  }
}

}  // namespace

TEST_CASE("segments: sort and argsort of all dtypes and lengths") {
  const threads t(4);
  check_sorts<bool>();
  check_sorts<ca::uint8>();
  check_sorts<ca::int8>();
  check_sorts<ca::int32>();
  check_sorts<ca::uint32>();
  check_sorts<int64>();
  check_sorts<float>();
  check_sorts<double>();
  check_sorts<ca::float16>();
  check_sorts<ca::bfloat16>();
}

TEST_CASE("segments: argsort of 64 bits, of which several elements share the upper half") {
  for (const int count : {1, 4})
    for (const int64 n : {1000, 300001})
      for (const int64 sharing : {int64(1), int64(3), int64(90), int64(110), int64(3000), n}) {
        const threads t(count);
        const int64 groups = n / sharing + 1;
        CAPTURE(count, n, sharing);
        const auto v = filled<int64>({n}, [=](int64 i) {
          return (int64(hash(i)) % groups - groups / 2) * (int64(1) << 32) + int64(hash(i + n)) % 70 * 61356675;
        });
        const std::vector<int64> order = stable_order(v);
        CHECK(holds(ca::argsort(v), {n}, [&](int64 i) { return order[at(i)]; }));
      }
}

TEST_CASE("segments: many short ones are sorted") {
  const threads t(4);
  check_short_sorts<bool>();
  check_short_sorts<ca::uint8>();
  check_short_sorts<ca::int16>();
  check_short_sorts<ca::int32>();
  check_short_sorts<ca::uint32>();
  check_short_sorts<int64>();
  check_short_sorts<ca::uint64>();
  check_short_sorts<float>();
  check_short_sorts<double>();
  check_short_sorts<ca::float16>();
  check_short_sorts<ca::bfloat16>();
}

TEST_CASE("segments: scans along each axis") {
  const threads t(4);
  check_scans<float, double, float>();
  check_scans<double, double, double>();
  check_scans<ca::int32, int64, ca::int32>();
  check_scans<ca::uint8, ca::uint64, ca::uint8>();
}

TEST_CASE("segments: sums of float32 up to each are rounded once") {
  const threads t(4);
  for (const auto& s : scan_shapes) {
    CAPTURE(s[0], s[1], s[2]);
    // numbers of 24 bits, whose sums float64 holds exactly
    const auto a =
        filled<float>({s[0], s[1], s[2]}, [](int64 i) { return float(2 * (hash(i) % 8388593) + 1) / 16777216.f; });
    CHECK(scans<double>(ca::cumsum(a, 1), a, [](double x, double y) { return x + y; }));
    const auto b = filled<float>(a.shape(), [](int64 i) { return 1 + float(hash(i) % 4001) * 1e-7f; });
    const array<float> p = ca::cumprod(b, 1);
    double worst = 0;
    for (int64 o = 0; o < s[0] * s[2]; ++o) {
      double e = 1;
      for (int64 i = 0; i < s[1]; ++i) {
        const int64 k = (o / s[2] * s[1] + i) * s[2] + o % s[2];
        e *= double(b.data()[k]);
        worst = std::fmax(worst, std::fabs(double(p.data()[k]) - e) / e);
      }
    }
    CHECK(worst <= 6e-8);
  }
}

TEST_CASE("segments: NaN in scans goes on") {
  for (const int64 n : {1, 5, 16, 65, 1000})
    for (const int64 p : {int64(0), n / 2, n - 1}) {
      const auto a = filled<float>({n, 20}, [&](int64 i) { return i / 20 == p ? nan_ : double(hash(i) % 50); });
      const auto b = array<float>(ca::ascontiguousarray(a.t()));
      const auto later = [&](const array<float>& x, bool rows) {
        bool right = true;
        for (int64 i = 0; i < n; ++i)
          for (int64 j = 0; j < 20; ++j) {
            const float v = x.data()[rows ? j * n + i : i * 20 + j];
            right = right && (v != v) == (i >= p);
          }
        return right;
      };
      CHECK(later(ca::cummax(a, 0), false));
      CHECK(later(ca::cummin(a, 0), false));
      CHECK(later(ca::cummax(b, 1), true));
      CHECK(later(ca::cummin(b, 1), true));
    }
}

TEST_CASE("segments: what masks select") {
  const threads t(4);
  const auto check = [](int64 n, const auto& picked) {
    const auto m = filled<bool>({n}, picked);
    const auto a = filled<float>({n}, [](int64 i) { return float(i); });
    const auto wide = filled<ca::uint8>({n, 3}, [](int64 i) { return i % 251; });
    std::vector<int64> p;
    for (int64 i = 0; i < n; ++i)
      if (picked(i)) p.push_back(i);
    const int64 k = int64(p.size());
    const auto place = [&](int64 i) { return p[at(i)]; };
    CAPTURE(n, k);
    CHECK(holds(ca::eval(a(m)), {k}, place));
    CHECK(holds(ca::flatnonzero(m), {k}, place));
    CHECK(holds(ca::eval(wide(m)), {k, 3}, [&](int64 i) { return (p[at(i / 3)] * 3 + i % 3) % 251; }));
    CHECK(holds(ca::eval(a(slice(none, none, -1))(m)), {k}, [&](int64 i) { return n - 1 - p[at(i)]; }));
    const array<bool> gaps = ca::zeros<bool>({2 * n}, host);
    gaps(slice(none, none, 2)) = m;
    CHECK(holds(ca::eval(a(gaps(slice(none, none, 2)))), {k}, place));
    array<float> b = a.copy();
    b(m) = -1;
    CHECK(holds(b, {n}, [&](int64 i) { return picked(i) ? -1 : i; }));
    b(m) = ca::astype<float>(ca::flatnonzero(m)) + 5;
    CHECK(holds(b, {n}, [&](int64 i) { return picked(i) ? i + 5 : i; }));
    b(m) += 1;
    CHECK(holds(b, {n}, [&](int64 i) { return picked(i) ? i + 6 : i; }));
    if (n % 3 == 1) {
      const auto square = [n](const auto& x) { return ca::reshape(x(slice(1, none)), {3, n / 3}); };
      CHECK(holds(ca::eval(square(a)(square(m))), {k - picked(0)}, [&](int64 i) { return p[at(i) + picked(0)]; }));
    }
  };
  for (const int64 n : {0, 1, 2, 7, 8, 64, 255, 256, 257, 1000, 32767, 65537, 300001, 300004}) {
    check(n, [](int64) { return false; });
    check(n, [](int64) { return true; });
    check(n, [](int64 i) { return hash(i) % 2 == 1; });
    check(n, [](int64 i) { return hash(i) % 1000 == 1; });
    check(n, [n](int64 i) { return i == n - 1; });
  }
}

TEST_CASE("segments: rows and columns that indices pick") {
  const threads t(4);
  for (const int64 width : {1, 2, 3, 8, 17, 64, 100, 1000}) {
    constexpr int64 rows = 1009;
    const auto a = filled<float>({rows, width}, [](int64 i) { return float(i); });
    const int64 n = 300000 / width;
    const auto place = [](int64 i) { return int64(hash(i) % rows); };
    const auto signed_place = [&](int64 i) { return i % 3 ? place(i) : place(i) - rows; };
    const auto index = filled<int64>({n}, signed_place);
    const auto few = filled<ca::int32>({2 * n}, [&](int64 i) { return i % 2 ? 1 << 30 : signed_place(i / 2); });
    const auto right = [&](int64 i) { return place(i / width) * width + i % width; };
    CAPTURE(width);
    CHECK(holds(ca::take(a, index), {n, width}, right));
    CHECK(holds(ca::take(a, few(slice(none, none, 2))), {n, width}, right));
    CHECK(holds(ca::eval(a(index)), {n, width}, right));
    CHECK(holds(ca::flip(ca::take(a, index(slice(none, none, -1))), 0), {n, width}, right));
    CHECK(holds(ca::take(a, index) + 1, {n, width}, [&](int64 i) { return right(i) + 1; }));
    const array<float> turned = ca::ascontiguousarray(a.t());
    CHECK(holds(ca::take(turned, index, 1), {width, n}, [&](int64 i) { return place(i % n) * width + i / n; }));
    CHECK(holds(ca::take(turned.t(), index), {n, width}, right));
    if (width <= 100)  // float32 holds the sums exactly
      CHECK(holds(ca::sum(ca::take(a, index), 1), {n}, [&](int64 i) {
        double sum = 0;
        for (int64 j = 0; j < width; ++j) sum += double(place(i) * width + j);
        return sum;
      }));
    const array<float> low = ca::astype<float>(ca::astype<int64>(a) % 13);
    const auto column_sum = [&](int64 j, const auto& of) {
      double sum = 0;
      for (int64 i = 0; i < n; ++i) sum += of(place(i) * width + j);
      return sum;
    };
    const auto is_odd = [](int64 i) { return double(i % 13 % 2); };
    CHECK(holds(ca::sum(ca::take(low, index), 0), {width},
                [&](int64 j) { return column_sum(j, [](int64 i) { return double(i % 13); }); }));
    CHECK(holds(ca::sum(ca::take(low.t(), index, 1), 1), {width},
                [&](int64 j) { return column_sum(j, [](int64 i) { return double(i % 13); }); }));
    CHECK(holds(ca::sum(ca::take(ca::eval(low % 2 == 1), index), 0), {width},
                [&](int64 j) { return column_sum(j, is_odd); }));
    const array<ca::float16> half = ca::astype<ca::float16>(low);
    CHECK(holds(ca::astype<float>(ca::take(half, index)), {n, width}, [&](int64 i) { return right(i) % 13; }));
    CHECK(holds(ca::argmax(ca::take(low, index), 1), {n}, [&](int64 i) {
      int64 best = 0;
      for (int64 j = 1; j < width; ++j)
        if ((place(i) * width + j) % 13 > (place(i) * width + best) % 13) best = j;
      return best;
    }));
    const array<float> target = ca::zeros<float>({rows, width}, host);
    const auto once = filled<int64>({rows / 2}, [](int64 i) { return 2 * i - rows; });
    target(once) = a(slice(0, rows / 2));
    CHECK(holds(target, {rows, width}, [&](int64 i) {
      const int64 r = i / width;
      return r % 2 == 0 && r / 2 < rows / 2 ? r / 2 * width + i % width : 0;
    }));
    for (const int64 p : {int64(0), n / 2, n - 1})
      for (const int64 wrong : {rows, -rows - 1, int64(1) << 40}) {
        const array<int64> bad = index.copy();
        bad(p) = wrong;
        const std::string text = "take: index " + std::to_string(wrong) + " is out of bounds for axis 0 with size 1009";
        CHECK(test::thrown<ca::index_error>([&] { ca::eval(ca::take(a, bad)); }) == text);
        CHECK(test::thrown<ca::index_error>([&] { ca::eval(ca::sum(ca::take(a, bad))); }) == text);
      }
  }
}

namespace {

template <class T>
void check_softmax(double relative) {
  for (const int64 n : {1, 15, 16, 17, 1000, 4099})
    for (const int64 rows : {1, 7, 60})
      for (const bool turned : {false, true}) {
        auto a = filled<T>({rows, n}, [](int64 i) { return T(float(int(hash(i) % 160) - 100) / 4); });
        if (turned) a = array<T>(ca::ascontiguousarray(a.t())).t();
        if (rows > 4) {
          a(1, n / 2) = -inf;
          a(2) = -inf;
          a(3, n - 1) = inf;
          a(4, 0) = nan_;
        }
        const array<T> p = ca::nnet::softmax(a), l = ca::nnet::log_softmax(a), s = ca::nnet::logsumexp(a);
        const auto near = [&](double x, double y) {
          return alike(x, y) || std::fabs(x - y) <= relative * std::fmax(1, std::fabs(y));
        };
        bool right = true;
        for (int64 i = 0; i < rows; ++i) {
          double top = -inf, sum = 0;
          bool nan = false;
          for (int64 j = 0; j < n; ++j) {
            top = std::fmax(top, double(a.at(i, j)));
            nan = nan || double(a.at(i, j)) != double(a.at(i, j));
          }
          for (int64 j = 0; j < n; ++j) sum += std::exp(double(a.at(i, j)) - top);
          const bool defined = sum == sum;  // neither NaN nor +infinity among them, nor nothing but -infinity
          const double log_sum = defined ? std::log(sum) + top : nan ? nan_ : top;
          right = right && near(double(s.at(i)), log_sum);
          for (int64 j = 0; j < n; ++j) {
            const double v = double(a.at(i, j)), e = defined ? std::exp(v - top) / sum : nan_;
            // within the error of the largest exponent's rounding
            right = right && (alike(double(p.at(i, j)), e) || std::fabs(double(p.at(i, j)) - e) <= relative * e);
            right = right && near(double(l.at(i, j)), v - log_sum);
          }
        }
        CAPTURE(ca::dtype_name<T>, n, rows, turned);
        CHECK(right);
      }
}

/// Numbers by the large call against the same ones by calls for `group`, of one block each.
template <class Draw>
void check_numbers(int group, const Draw& draw) {
  using T = ca::value_type_t<decltype(draw(ca::shape{1}, std::declval<ca::random::generator&>()))>;
  const int64 most = 300007;
  ca::random::generator blocks(17, 3);
  std::vector<T> right;
  while (int64(right.size()) < most) {
    const array<T> few = draw(ca::shape{group}, blocks);
    right.insert(right.end(), few.data(), few.data() + group);
  }
  const auto number = [&](int64 i) { return right[at(i)]; };
  for (const int64 n : {1, 2, 3, 5, 31, 63, 64, 65, 67, 1000, 4099, 70001, 300004, 300007}) {
    CAPTURE(n);
    ca::random::generator g(17, 3);
    CHECK(holds(draw(ca::shape{n}, g), {n}, number));
    CHECK(g.offset() == ca::uint64((n + group - 1) / group));
    ca::random::generator ahead(17, 3);
    ahead.skip(5);
    if (n + 5 * group <= most)
      CHECK(holds(draw(ca::shape{n}, ahead), {n}, [&](int64 i) { return number(i + 5 * group); }));
  }
  for (const ca::shape& s :
       std::vector<ca::shape>{{3, 5}, {401, 403}, {17, 1001}, {1001, 17}, {3, 5, 1031}, {60001, 1, 5}}) {
    ca::random::generator g(17, 3);
    CHECK(holds(draw(s, g), s, number));
  }
}

}  // namespace

TEST_CASE("segments: softmax, log_softmax and logsumexp of rows") {
  const threads t(4);
  check_softmax<float>(1e-6);
  check_softmax<double>(1e-13);
}

TEST_CASE("segments: random numbers do not depend on shapes") {
  const threads t(4);
  using ca::random::generator;
  check_numbers(4, [](const ca::shape& s, generator& g) { return ca::random::bits(s, g, host); });
  check_numbers(4, [](const ca::shape& s, generator& g) { return ca::random::uniform<float>(s, -1, 3, g, host); });
  check_numbers(4, [](const ca::shape& s, generator& g) { return ca::random::normal<float>(s, 1, 2, g, host); });
  check_numbers(2, [](const ca::shape& s, generator& g) { return ca::random::uniform<double>(s, -1, 3, g, host); });
  check_numbers(2, [](const ca::shape& s, generator& g) { return ca::random::normal<double>(s, 1, 2, g, host); });
  check_numbers(2, [](const ca::shape& s, generator& g) { return ca::random::integers(s, -9, 1000, g, host); });
  // into views: unaligned, with gaps, backwards, transposed
  const int64 n = 401;
  generator first(4);
  const array<float> right = ca::random::uniform<float>({n, n}, 0, 1, first, host);
  const auto number = [&](int64 i) { return right.data()[i]; };
  for (int k = 0; k < 5; ++k) {
    const array<float> space = ca::zeros<float>({n + 1, 2 * n}, host);
    const array<float> v = k == 0   ? space(slice(1, none), slice(1, n + 1))
                           : k == 1 ? space(slice(1, none), slice(none, none, 2))
                           : k == 2 ? space(slice(n), slice(n, none))(_, slice(none, none, -1))
                           : k == 3 ? space(slice(1, none), slice(3, n + 3)).t()
                                    : ca::reshape(ca::reshape(space, {-1})(slice(1, n * n + 1)), {n, n});
    generator g(4);
    ca::random::uniform(0, 1, ca::out(v), g);
    CAPTURE(k);
    CHECK(holds(v, {n, n}, number));
    CHECK(ca::sum(space != 0.f).item() == n * n - ca::sum(right == 0.f).item());
  }
}
