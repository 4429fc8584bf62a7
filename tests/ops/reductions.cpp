// Reductions over any axes; expected values from NumPy or paper.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using ints = std::vector<int>;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };

/// Rows of `n` elements in rows of `pitch`, the first at element `from`: each begins elsewhere in a 16-byte access.
/// Most elements are equal; the extreme one stands near an edge or between, some rows have it twice.
template <class T>
void check_rows(ca::int64 rows, ca::int64 n, ca::int64 from, ca::int64 pitch) {
  CAPTURE(ca::dtype_name<T>, rows, n, from, pitch);
  const auto at = [&](ca::int64 i, ca::int64 j) { return std::size_t(i * pitch + from + j); };
  std::vector<int> elements(std::size_t(rows * pitch), 1);
  ints sums, places;
  for (ca::int64 i = 0; i < rows; ++i) {
    for (ca::int64 j = 0; j < from; ++j) elements[at(i, j - from)] = 9;  // of no row
    for (ca::int64 j = from + n; j < pitch; ++j) elements[at(i, j - from)] = 9;
    const ca::int64 candidates[] = {0, 1, n - 1, n - 2, n / 2, i * 7 % n, n - 1 - i % n};
    const ca::int64 p = candidates[i % 7], q = candidates[i % 5];
    elements[at(i, p)] = elements[at(i, q)] = 3;
    sums.push_back(int(n) + 2 + 2 * (p != q));
    places.push_back(int(p < q ? p : q));
  }
  const auto x =
      ca::eval(ca::astype<T>(ca::reshape(ca::array<int>(elements), {rows, pitch})))(_, slice(from, from + n));
  CHECK(test::equal(ca::sum(ca::astype<int>(x), 1), {rows}, sums));
  CHECK(test::equal(ca::argmax(x, 1), {rows}, places));
  CHECK(test::equal(ca::max(x, 1), {rows}, ints(std::size_t(rows), 3)));
}

/// Sums over every set of axes of a cut array of three, and the places of its largest elements, against plain loops.
template <class T>
void check_axes(ca::int64 outer, ca::int64 middle, ca::int64 n, ca::int64 from, ca::int64 pitch) {
  CAPTURE(ca::dtype_name<T>, outer, middle, n, from, pitch);
  std::vector<int> elements(std::size_t(outer * middle * pitch));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = int(i * 7919 % 1009 % 6);
  const auto x = ca::eval(ca::astype<T>(ca::reshape(ca::array<int>(elements), {outer, middle, pitch})))(
      _, _, slice(from, from + n));
  const ca::int64 extent[] = {outer, middle, n};
  for (int mask = 1; mask < 8; ++mask) {
    ca::int64 step[3] = {0, 0, 0}, results = 1, axis = -1;
    for (int d = 2; d >= 0; --d)
      if (!(mask >> d & 1)) step[d] = results, results *= extent[d];
      else axis = d;
    ints sums(std::size_t(results), 0), places(std::size_t(results), 0), largest(std::size_t(results), -1);
    for (ca::int64 i = 0; i < outer; ++i)
      for (ca::int64 j = 0; j < middle; ++j)
        for (ca::int64 k = 0; k < n; ++k) {
          const int v = elements[std::size_t((i * middle + j) * pitch + from + k)];
          const std::size_t r = std::size_t(i * step[0] + j * step[1] + k * step[2]);
          sums[r] += v;
          if (v > largest[r]) {
            largest[r] = v;
            places[r] = int(mask == 7 ? (i * middle + j) * n + k : axis == 0 ? i : axis == 1 ? j : k);
          }
        }
    CAPTURE(mask);
    const auto axes = [&] {
      switch (mask) {
        case 1:
          return ca::axes(0);
        case 2:
          return ca::axes(1);
        case 3:
          return ca::axes{0, 1};
        case 4:
          return ca::axes(2);
        case 5:
          return ca::axes{0, 2};
        case 6:
          return ca::axes{1, 2};
        default:
          return ca::axes{0, 1, 2};
      }
    }();
    const auto flat = [](const auto& a) { return ca::eval(ca::reshape(ca::eval(a), {-1})); };
    CHECK(test::equal(flat(ca::sum(ca::astype<int>(x), axes)), {results}, sums));
    CHECK(test::equal(flat(ca::max(x, axes)), {results}, largest));
    if ((mask & (mask - 1)) == 0) CHECK(test::equal(flat(ca::argmax(x, int(axis))), {results}, places));
    if (mask == 7) CHECK(test::equal(flat(ca::argmax(x)), {results}, places));
  }
}

/// (outer, m, n) elements that fill memory from element `lead` on, reduced along rows and down columns, against loops.
template <class T>
void check_filled(ca::int64 outer, ca::int64 m, ca::int64 n, ca::int64 lead) {
  CAPTURE(ca::dtype_name<T>, outer, m, n, lead);
  std::vector<int> elements(std::size_t(lead + outer * m * n));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = int(i * 7919 % 100003 % 11);
  const auto flat = ca::eval(ca::astype<T>(ca::array<int>(elements)))(slice(lead, none));
  const auto check = [&](const ca::ndarray<T>& x, ca::int64 along, ca::int64 groups, ca::int64 inner) {
    const auto axis = inner == 1 ? 1 : x.ndim() - 2;
    CAPTURE(axis, along);
    const auto results = std::size_t(groups * inner);
    ints sums(results, 0), largest(results, -1), places(results), tens(results, 0), has_ten(results, 0);
    doubles squares(results, 0);
    for (ca::int64 g = 0; g < groups; ++g)
      for (ca::int64 a = 0; a < along; ++a)
        for (ca::int64 i = 0; i < inner; ++i) {
          const int v = elements[std::size_t(lead + (g * along + a) * inner + i)];
          const auto r = std::size_t(g * inner + i);
          sums[r] += v, squares[r] += v * v, tens[r] += v == 10, has_ten[r] |= v == 10;
          if (v > largest[r]) largest[r] = v, places[r] = int(a);
        }
    doubles variances;
    for (std::size_t r = 0; r < results; ++r) {
      const double mean = double(sums[r]) / double(along);
      variances.push_back(squares[r] / double(along) - mean * mean);
    }
    const auto all = [](const auto& y) { return ca::eval(ca::reshape(ca::eval(y), {-1})); };
    const ca::shape shape{groups * inner};
    CHECK(test::equal(all(ca::sum<double>(x, axis)), shape, sums));
    CHECK(test::equal(all(ca::max(x, axis)), shape, largest));
    CHECK(test::equal(all(ca::argmax(x, axis)), shape, places));
    CHECK(test::equal(all(ca::any(x == T(10), axis)), shape, has_ten));
    const auto apart = ca::zeros<double>(x.ndim() == 2 ? ca::shape{groups, 3} : ca::shape{groups, inner, 3});
    ca::sum<double>(x, axis, ca::out(apart(ca::ellipsis, 1)));
    CHECK(test::equal(all(apart(ca::ellipsis, 1)), shape, sums));
    CHECK(test::equal(all(ca::sum<double>(ca::where(x == T(10), x, x + x) - x, axis)), shape, [&] {  // four loads
      ints lower;
      for (std::size_t r = 0; r < results; ++r) lower.push_back(sums[r] - 10 * tens[r]);
      return lower;
    }()));
    CHECK(test::close(all(ca::var(x, axis)), shape, variances, sizeof(T) == 2 ? 2e-3 : 1e-5));
    const auto less_first = ca::astype<double>(x) - ca::astype<double>(flat(0));
    CHECK(test::equal(all(ca::sum(less_first, axis)), shape, [&] {
      doubles less;
      for (const int sum : sums) less.push_back(sum - double(elements[std::size_t(lead)]) * double(along));
      return less;
    }()));
  };
  check(ca::reshape(flat, {outer * m, n}), n, outer * m, 1);
  check(ca::reshape(flat, {outer, m, n}), m, outer, n);
}

/// The axes 0, 2 and 4 of elements that fill memory from element `lead` on, against loops.
template <class T>
void check_every_other(const ca::shape& s, ca::int64 lead = 0) {
  CAPTURE(ca::dtype_name<T>, s, lead);
  std::vector<int> elements(std::size_t(lead + s.elements()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = int(i * 7919 % 100003 % 11);
  const ca::ndarray<T> x =
      ca::reshape(ca::eval(ca::astype<T>(ca::array<int>(elements)))(slice(lead, none)), {s[0], s[1], s[2], s[3], s[4]});
  const auto results = std::size_t(s[1] * s[3]);
  ints sums(results, 0), more(results, 0), largest(results, -1), has_ten(results, 0);
  doubles means;
  std::size_t at = std::size_t(lead);
  for (ca::int64 i = 0; i < s[0] * s[1]; ++i)
    for (ca::int64 j = 0; j < s[2] * s[3]; ++j)
      for (ca::int64 k = 0; k < s[4]; ++k) {
        const int v = elements[at++];
        const auto r = std::size_t(i % s[1] * s[3] + j % s[3]);
        sums[r] += v, more[r] += v * v - v, has_ten[r] |= v == 10;
        if (v > largest[r]) largest[r] = v;
      }
  for (const int sum : sums) means.push_back(double(sum) / double(s[0] * s[2] * s[4]));
  const ca::shape kept{s[1], s[3]};
  CHECK(test::equal(ca::sum<double>(x, {0, 2, 4}), kept, sums));
  CHECK(test::equal(ca::sum<double>(x * x - x, {0, 2, 4}), kept, more));
  CHECK(test::equal(ca::max(x, {0, 2, 4}), kept, largest));
  CHECK(test::equal(ca::any(x == T(10), {0, 2, 4}), kept, has_ten));
  CHECK(test::close(ca::mean<double>(x, {0, 2, 4}), kept, means, 1e-12));
  const auto apart = ca::zeros<double>({s[1], s[3], 3});
  ca::sum<double>(x, {0, 2, 4}, ca::out(apart(ca::ellipsis, 1)));
  CHECK(test::equal(ca::eval(ca::sum(apart, 2)), kept, sums));
  const auto turned = ca::eval(ca::sum<double>(ca::transpose(x, {0, 3, 2, 1, 4}), {0, 2, 4}));
  CHECK(test::equal(ca::eval(ca::copy(turned.t())), kept, sums));
}

/// Reductions over {1, 3} of five axes, by a loop in C order.
template <class T>
void check_side_by_side(const ca::shape& s) {
  CAPTURE(ca::dtype_name<T>, s);
  std::vector<int> elements(std::size_t(s.elements()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = int(i * 7919 % 100003 % 11);
  const ca::ndarray<T> x = ca::reshape(ca::eval(ca::astype<T>(ca::array<int>(elements))), s);
  ints sums(std::size_t(s[0] * s[2] * s[4]), 0), more = sums, least(sums.size(), 11);
  for (std::size_t at = 0; at < elements.size(); ++at) {
    const auto i = ca::int64(at);
    const ca::int64 last = i % s[4], third = i / (s[4] * s[3]) % s[2], first = i / (s[4] * s[3] * s[2] * s[1]);
    const auto r = std::size_t((first * s[2] + third) * s[4] + last);
    sums[r] += elements[at], more[r] += elements[at] * elements[at] - elements[at];
    if (elements[at] < least[r]) least[r] = elements[at];
  }
  const ca::shape kept{s[0], s[2], s[4]};
  CHECK(test::equal(ca::sum<double>(x, {1, 3}), kept, sums));
  CHECK(test::equal(ca::sum<double>(x * x - x, {1, 3}), kept, more));
  CHECK(test::equal(ca::min(x, {1, 3}), kept, least));
  const auto apart = ca::zeros<double>({s[0], s[2], s[4], 2});
  ca::sum<double>(x, {1, 3}, ca::out(apart(ca::ellipsis, 1)));
  CHECK(test::equal(ca::eval(ca::sum(apart, 3)), kept, sums));
}

}  // namespace

TEST_CASE("reductions: axes") {
  const auto a = make();
  CHECK(test::equal(ca::sum(a), {}, ints{21}));
  CHECK(test::equal(ca::sum(a, 0), {3}, ints{5, 7, 9}));
  CHECK(test::equal(ca::sum(a, -1), {2}, ints{6, 15}));
  CHECK(test::equal(ca::sum(a, {0, 1}), {}, ints{21}));
  CHECK(test::equal(ca::sum(a, {}), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::sum(a, ca::keepdims), {1, 1}, ints{21}));
  CHECK(test::equal(ca::sum(a, 0, ca::keepdims), {1, 3}, ints{5, 7, 9}));
  CHECK(test::equal(ca::sum(a, 1, ca::keepdims), {2, 1}, ints{6, 15}));
  CHECK(test::equal(ca::sum(a(0, 1)), {}, ints{2}));
  const auto c = ca::reshape(ca::arange(24), {2, 3, 4});
  CHECK(test::equal(ca::sum(c, {0, 2}), {3}, ints{60, 92, 124}));
  CHECK(test::equal(ca::sum(c, 1), {2, 4}, ints{12, 15, 18, 21, 48, 51, 54, 57}));
  CHECK(test::equal(ca::sum(c, {-3, -2}, ca::keepdims), {1, 1, 4}, ints{60, 66, 72, 78}));
  CHECK(test::thrown<ca::index_error>([&] { ca::sum(a, 2); }) == "sum: axis 2 is out of bounds for an array of 2 axes");
  CHECK(test::thrown<ca::index_error>([&] { ca::max(a(0, 0), 0); }).find("max: axis 0") == 0);
  CHECK(test::thrown<ca::value_error>([&] { ca::sum(a, {1, -1}); }).find("named twice") != std::string::npos);
  const ca::int64 n = 1;
  const std::size_t m = 0;
  CHECK(test::equal(ca::sum(make(), {m, n}), {}, ints{21}));
  CHECK(test::equal(ca::sum(make(), {n}), {2}, ints{6, 15}));
  CHECK(test::equal(ca::sum(make(), {-2, short(1)}, ca::keepdims), {1, 1}, ints{21}));
}

TEST_CASE("reductions: layouts and fused operands") {
  const auto a = make();
  CHECK(test::equal(ca::sum(a.t(), 0), {2}, ints{6, 15}));
  CHECK(test::equal(ca::sum(a(_, slice(none, none, -1)) * ca::array<float>({1, 10, 100}), 1), {2}, ints{123, 456}));
  CHECK(test::equal(ca::sum(a(_, slice(none, none, 2)), 0), {2}, ints{5, 9}));
  CHECK(test::equal(ca::sum(ca::broadcast_to(a, {2, 2, 3}), 0), {2, 3}, ints{2, 4, 6, 8, 10, 12}));
  CHECK(test::equal(ca::sum(a(_, slice(0, 1)) + a(0), 0), {3}, ints{7, 9, 11}));
  CHECK(test::equal(ca::sum((a - ca::mean(a, 0)) * 2, 1), {2}, ints{-9, 9}));
  CHECK(test::equal(ca::max(ca::sum(a, 0)), {}, ints{9}));
  CHECK(test::equal(ca::sum(ca::array<float>({{1}, {2}}), 1), {2}, ints{1, 2}));
  CHECK(test::equal(ca::argmax(a.t(), 0), {2}, ints{2, 2}));
  CHECK(test::equal(ca::argmax(a.t()), {}, ints{5}));
  CHECK(test::equal(ca::argmin(a(slice(none, none, -1), slice(none, none, -1))), {}, ints{5}));
  // long rows, many rows, a long leading axis
  const auto n = ca::arange(100000);
  CHECK(ca::sum(n).item() == 4999950000);
  CHECK(ca::all(ca::sum(ca::reshape(n, {1000, 100}), 1) == ca::arange(4950, 10000000, 10000)).item());
  CHECK(ca::all(ca::sum(ca::reshape(n, {1000, 100}), 0) == ca::arange(49950000, 50049001, 1000)).item());
  CHECK(ca::argmax(-n).item() == 0);
  CHECK(ca::argmax(n % 1000).item() == 999);
}

TEST_CASE("reductions: very many rows", "[large]") {
  const ca::int64 rows = 70001;
  for (const ca::int64 n : {128, 192}) {
    const auto a = ca::eval(ca::astype<float>(ca::reshape(ca::arange(rows * n) % 1009, {rows, n})));
    const auto sums = test::values(ca::sum(a, 1)), tops = test::values(ca::max(a, 1));
    const auto places = test::values(ca::argmax(a, 1));
    int wrong = 0;
    for (ca::int64 i = 0; i < rows; ++i) {
      ca::int64 sum = 0, at = 0;
      for (ca::int64 j = 0; j < n; ++j) {
        sum += (i * n + j) % 1009;
        if ((i * n + j) % 1009 > (i * n + at) % 1009) at = j;
      }
      const auto k = std::size_t(i);
      wrong += sums[k] != float(sum) || tops[k] != float((i * n + at) % 1009) || places[k] != at;
    }
    CHECK(wrong == 0);
  }
  for (const ca::int64 n : {48, 96, 136, 256})  // of a type of two bytes
    CHECK(ca::all(ca::sum(ca::ones<ca::float16>({rows * 4, n}), 1) == float(n)).item());
}

template <class T>
void sum_extremes(T value) {
  CAPTURE(ca::dtype_name<T>);
  using shape = std::pair<ca::int64, ca::int64>;
  for (const auto& [r, c] : {shape{3, 70001}, {70001, 3}, {300, 300}, {40000, 16}, {5, 40000}}) {
    const auto a = ca::eval(ca::full<T>({r, c}, value));
    for (const int axis : {0, 1}) {
      const ca::int64 n = axis == 0 ? r : c;
      const doubles sums(std::size_t(r * c / n), double(value) * double(n)), means(sums.size(), double(value));
      CHECK(test::equal(ca::sum(a, axis), {r * c / n}, sums));
      CHECK(test::equal(ca::sum(ca::flip(a, 1), axis), {r * c / n}, sums));
      CHECK(test::equal(ca::mean(a, axis), {r * c / n}, means));
    }
    CHECK(test::equal(ca::sum(a), {}, doubles{double(value) * double(r * c)}));
    CHECK(test::equal(ca::var(a), {}, doubles{0}));
    CHECK(test::equal(ca::var(a, 1), {r}, doubles(std::size_t(r), 0)));
  }
}
TEST_CASE("reductions: many small integers of the largest magnitude", "[large]") {
  sum_extremes<ca::uint8>(255);
  sum_extremes<ca::int8>(-128);
  sum_extremes<ca::uint16>(65535);
  sum_extremes<ca::int16>(-32768);
  sum_extremes<bool>(true);
  const auto far = ca::eval(ca::full<ca::int32>({2, 50000}, -2147483647 - 1));
  CHECK(test::equal(ca::sum(far), {}, doubles{-214748364800000}));
  CHECK(test::equal(ca::mean(far, 1), {2}, doubles{-2147483648.0, -2147483648.0}));
}

TEST_CASE("reductions: sum, prod and mean, and their dtypes") {
  const auto a = make();
  const auto i8 = ca::array<ca::int8>({100, 100, -1});
  CHECK(test::equal(ca::sum(i8), {}, ints{199}));
  CHECK(test::equal(ca::prod(i8), {}, ints{-10000}));
  CHECK(test::equal(ca::mean(i8(slice(0, 2))), {}, ints{100}));
  CHECK(test::equal(ca::sum(ca::array<bool>({true, true, false})), {}, ints{2}));
  CHECK(test::equal(ca::sum(ca::array<ca::uint8>({255, 255})), {}, ints{510}));
  CHECK(is<decltype(ca::sum(i8)), ca::int64>);
  CHECK(is<decltype(ca::sum(ca::ones<bool>({1}))), ca::int64>);
  CHECK(is<decltype(ca::sum(ca::ones<ca::uint8>({1}))), ca::uint64>);
  CHECK(is<decltype(ca::sum(a)), float>);
  CHECK(is<decltype(ca::mean(i8)), double>);
  CHECK(is<decltype(ca::mean(ca::ones<ca::float16>({1}))), ca::float16>);
  CHECK(is<decltype(ca::var(i8)), double>);
  CHECK(is<decltype(ca::std(ca::ones<ca::float16>({1}))), ca::float16>);
  CHECK(is<decltype(ca::max(i8)), ca::int8>);
  CHECK(is<decltype(ca::any(a)), bool>);
  CHECK(is<decltype(ca::argmax(a)), ca::int64>);
  CHECK(is<decltype(ca::sum<double>(a, 1)), double>);
  CHECK(test::equal(ca::sum<double>(a, 1), {2}, ints{6, 15}));
  CHECK(test::equal(ca::prod(a, 0), {3}, ints{4, 10, 18}));
  CHECK(test::equal(ca::mean(a, 1), {2}, ints{2, 5}));
  // half types add up in float32: 4096 + 1 is not a float16
  CHECK(test::equal(ca::sum(ca::ones<ca::float16>({5000})), {}, ints{5000}));
  // float32 keeps its digits: a running sum of 0.1 would be off by 1 %
  CHECK(test::close(ca::sum(ca::full({1000000}, 0.1f)), {}, {100000.0015}, 1e-6));
  CHECK(test::equal(ca::sum(ca::array<float>({1, NAN})), {}, doubles{NAN}));
  CHECK(test::equal(ca::sum(ca::array<float>({INFINITY, -INFINITY})), {}, doubles{NAN}));
  const auto z = test::values(ca::mean(ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(3, -4)})));
  CHECK((z[0].re == 2 && z[0].im == -1));
}

TEST_CASE("reductions: extremes hand on NaN, positions point at the first") {
  const auto a = ca::array<float>({{1, NAN, 3}, {5, 4, 5}, {NAN, NAN, -INFINITY}});
  CHECK(test::equal(ca::max(a, 1), {3}, doubles{NAN, 5, NAN}));
  CHECK(test::equal(ca::min(a, 1), {3}, doubles{NAN, 4, NAN}));
  CHECK(test::equal(ca::argmax(a, 1), {3}, ints{1, 0, 0}));
  CHECK(test::equal(ca::argmin(a, 1), {3}, ints{1, 1, 0}));
  CHECK(test::equal(ca::argmax(a), {}, ints{1}));
  CHECK(test::equal(ca::argmax(a, 0, ca::keepdims), {1, 3}, ints{2, 0, 1}));
  CHECK(test::equal(ca::argmin(a(slice(1, 2), slice(none, none, 2))), {}, ints{0}));  // the first of equals
  CHECK(test::equal(ca::amax(a, 1), {3}, doubles{NAN, 5, NAN}));
  CHECK(test::equal(ca::amin(a(1)), {}, ints{4}));
  CHECK(test::equal(ca::amax(a(1), {0}, ca::keepdims), {1}, ints{5}));
  CHECK(test::equal(ca::max(ca::array<float>({-INFINITY, -INFINITY})), {}, doubles{-INFINITY}));
  CHECK(test::equal(ca::max(ca::array<int>({INT32_MIN, INT32_MIN})), {}, ints{INT32_MIN}));
  CHECK(test::equal(ca::max(ca::array<bool>({false, true})), {}, ints{1}));
  CHECK(test::equal(ca::argmax(ca::array<int>({3, 7, 7, 1})(slice(none, none, -1))), {}, ints{1}));
}

TEST_CASE("reductions: rows off alignment") {
  for (const ca::int64 n : {5, 31, 64, 127, 260, 1023, 4099})
    for (const ca::int64 from : {0, 1, 3, 6}) {
      check_rows<float>(70, n, from, n + 8 + from % 2);
      check_rows<ca::float16>(9, n, from, n + 8 + from % 2);
      check_rows<ca::int8>(2, n, from, n + 9);
    }
  for (const ca::int64 n : {9, 12, 13, 14})  // many short ones
    for (const ca::int64 from : {0, 1}) {
      check_rows<float>(1500, n, from, n + from);
      check_rows<double>(1027, n, from, n + 2);
      check_rows<ca::float16>(2300, n, from, n + from);
      check_rows<ca::int8>(1100, n, from, n + from);
    }
  check_rows<float>(3, 40001, 1, 40004);
  check_rows<ca::int8>(1, 100003, 5, 100009);
  // two operands that are off by as much, and not
  const auto a = ca::eval(ca::reshape(ca::arange<float>(9 * 1030), {9, 1030}) % 8), b = ca::eval(a + 1);
  const auto squares = [&](ca::int64 from) {
    const auto d = a(_, slice(1, 1020)) - b(_, slice(from, 1019 + from));
    return ca::eval(ca::sum(d * d, 1));
  };
  CHECK(test::equal(squares(1), {9}, ints(9, 1019)));
  CHECK(test::equal(squares(9), {9}, ints(9, 1019)));
  CHECK(ca::sum(squares(2)).item() == 73388);
}

TEST_CASE("reductions: short rows and few columns that fill memory", "[large]") {
  for (const ca::int64 n : {2, 3, 5, 7, 8, 10, 16, 33, 50, 64, 100, 127, 257}) {
    const ca::int64 lead = n % 5, m = 4111 / n + 2;
    check_filled<float>(2, m, n, lead);
    check_filled<double>(1, m, n, 0);
    check_filled<ca::float16>(1, 2 * m, n, 0);
    check_filled<ca::float16>(3, m, n, lead);
    check_filled<ca::uint8>(1, 4 * m, n, lead);
    check_filled<ca::uint8>(2, m, n, 0);
    check_filled<ca::int16>(1, m, n, 3 * lead);
  }
  for (const ca::int64 n : {2, 3, 5, 13}) {
    check_filled<float>(1, 30001, n, n % 2);
    check_filled<ca::float16>(1, 40003, n, n % 3);
    check_filled<ca::int8>(2, 66001, n, n % 2 * 7);
  }
}

TEST_CASE("reductions: short runs around kept axes", "[large]") {
  const auto check = [](const ca::shape& s) {
    check_every_other<float>(s);
    check_every_other<double>(s);
    check_every_other<ca::float16>(s);
    check_every_other<ca::uint8>(s);
    check_every_other<ca::int16>(s);
  };
  check({30, 3, 5, 16, 16});
  check({7, 2, 12, 96, 4});
  check({67, 1, 1, 48, 49});
  check({5, 4, 33, 24, 3});
  check({90, 5, 1, 32, 32});
  check({64, 3, 2, 5, 8});
  check({130, 1, 1, 64, 2});
  check({33, 2, 3, 6, 40});
  check_every_other<float>({40, 3, 5, 16, 16}, 1);
  check_every_other<ca::float16>({40, 3, 5, 16, 12}, 3);
}

TEST_CASE("reductions: few results side by side") {
  const auto check = [](const ca::shape& s) {
    check_side_by_side<float>(s);
    check_side_by_side<double>(s);
    check_side_by_side<ca::float16>(s);
    check_side_by_side<ca::uint8>(s);
    check_side_by_side<ca::int16>(s);
  };
  check({30, 5, 7, 16, 8});
  check({3, 40, 2, 14, 3});
  check({5, 32, 3, 48, 6});
  check({2, 9, 4, 224, 3});
  check({4, 33, 1, 10, 12});
  check({1, 64, 2, 6, 100});
  check({9, 100, 2, 16, 1});
  check({2, 70, 600, 4, 2});
  check({1, 40, 90, 16, 3});
  check({3, 70, 34, 3, 4});
  check({2, 130, 7, 5, 16});
}

TEST_CASE("reductions: any axes of cut arrays, columns off alignment", "[large]") {
  for (const ca::int64 n : {3, 16, 49, 63, 250})
    for (const ca::int64 from : {0, 1, 6}) {
      check_axes<float>(5, 70, n, from, n + 7);
      check_axes<float>(40, 3, n, from, n + 8 + (n + 1) % 4);
      check_axes<ca::float16>(3, 150, n, from, n + 9);
      check_axes<ca::int8>(2, 97, n, from, n + 10);
    }
  check_axes<float>(1, 2000, 67, 1, 69);
  check_axes<double>(3, 301, 131, 1, 133);
  check_axes<ca::int8>(300, 5, 33, 1, 40);
}

TEST_CASE("reductions: one element that an index picks") {
  const ca::ndarray<float> x = ca::ones({1, 1});
  CHECK(ca::sum(ca::take(x, ca::array<int>({0}), 0) + x).item() == 2);
}

TEST_CASE("reductions: any and all") {
  const auto a = ca::array<float>({{0, 0, 0.5}, {0, 0, 0}, {NAN, 1, 2}});
  CHECK(test::equal(ca::any(a, 1), {3}, ints{1, 0, 1}));
  CHECK(test::equal(ca::all(a, 1), {3}, ints{0, 0, 1}));
  CHECK(ca::any(a).item());
  CHECK_FALSE(ca::all(a).item());
  CHECK(test::equal(ca::all(a > -1, 0, ca::keepdims), {1, 3}, ints{0, 1, 1}));
}

TEST_CASE("reductions: var and std") {
  const auto a = ca::array<float>({{1, 2, 4}, {0, 0, 3}});
  CHECK(test::close(ca::var(a, 1), {2}, {14. / 9, 2}));
  CHECK(test::close(ca::std(a, 1), {2}, {1.247219128924647, 1.4142135623730951}));
  CHECK(test::close(ca::var(a, 0, ca::keepdims), {1, 3}, {0.25, 1, 0.25}));
  CHECK(test::close(ca::var(a, -1, ca::ddof{1}), {2}, {7. / 3, 3}));
  CHECK(test::close(ca::var(a), {}, {20. / 9}));
  CHECK(test::close(ca::std(ca::array<int>({1, 3})), {}, {1}));
  CHECK(test::equal(ca::var(a(0, slice(0, 1)), ca::ddof{1}), {}, doubles{NAN}));
  CHECK(test::equal(ca::var(ca::array<float>({1, NAN})), {}, doubles{NAN}));
  CHECK(test::equal(ca::var(ca::array<float>({7, 7})), {}, doubles{0}));
  // far from zero the two passes keep the digits
  CHECK(test::close(ca::var(ca::array<double>({1e9 + 1, 1e9 + 2, 1e9 + 3})), {}, {2. / 3}));
}

// What float64 does not square exactly keeps its digits, too, in one pass as in two.
template <class T>
void variances_far_from_zero(T around, T step) {
  constexpr int n = 1009;  // of each row: around + step * (0, 1, ... 15), but for the last
  std::vector<T> x;
  for (int i = 0; i < 3 * n; ++i) x.push_back(T(around + step * T(i % n % 16)));
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += i % 16, squares += double(i % 16) * (i % 16);
  const double variance = (squares - sum * (sum / n)) / n * double(step) * double(step);
  const ca::ndarray<T> a = ca::array(x, {3, n});
  CHECK(test::close(ca::var(a, 1), {3}, doubles(3, variance), 1e-12));
  CHECK(test::close(ca::var(ca::copy(a.t()), 0), {3}, doubles(3, variance), 1e-12));
  CHECK(test::close(ca::var(a), {}, {variance}, 1e-12));
}
TEST_CASE("reductions: variances far from zero") {
  variances_far_from_zero<double>(1e9, 0.125);
  variances_far_from_zero<ca::int64>(ca::int64(1) << 36, 3);
  variances_far_from_zero<ca::int32>(INT32_MAX - 15, 1);
  variances_far_from_zero<ca::int32>(INT32_MIN, 1 << 27);
  variances_far_from_zero<ca::uint16>(65520, 1);
  const double inf = std::numeric_limits<double>::infinity();
  const auto [m, v] = ca::mean_var(ca::array<double>({{1, inf, 2}, {1e9, 1e9 + 1, 1e9 + 2}}), 1);
  CHECK(test::close(m, {2}, {inf, 1e9 + 1}));
  CHECK(test::close(v, {2}, {NAN, 2. / 3}, 1e-12));
  const auto large = ca::array<double>({{1e200, 1e200, 1e200}, {1e6, 0, 0}});  // squares overflow, the first is far
  CHECK(test::equal(ca::var(large(0)), {}, doubles{0}));
  CHECK(test::close(ca::var(large(1)), {}, {2e12 / 9}, 1e-12));
}
TEST_CASE("reductions: variances of equal numbers are zero") {
  for (const ca::int64 n : {1, 2, 3, 49, 98, 1000, 4999}) {
    CHECK(test::equal(ca::std(ca::full<ca::uint8>({2, n}, 201), 1), {2}, doubles{0, 0}));
    CHECK(test::equal(ca::std(ca::full<ca::int16>({n, 2}, -32767), 0), {2}, doubles{0, 0}));
    CHECK(test::equal(ca::std(ca::full<bool>({n}, true)), {}, doubles{0}));
  }
}

TEST_CASE("reductions: mean_var gives both, over the same axes") {
  const auto a = ca::array<float>({{1, 2, 4}, {0, 0, 3}});
  const auto [m, v] = ca::mean_var(a, 1);
  CHECK(test::close(m, {2}, {7. / 3, 1}));
  CHECK(test::close(v, {2}, {14. / 9, 2}));
  const auto kept = ca::mean_var(a, 0, ca::keepdims, ca::ddof{1});
  CHECK(test::close(kept.mean, {1, 3}, {0.5, 1, 3.5}));
  CHECK(test::close(kept.var, {1, 3}, {0.5, 2, 0.5}));
  const auto all = ca::mean_var(ca::astype<double>(a));
  CHECK(test::close(all.mean, {}, {10. / 6}));
  CHECK(test::close(all.var, {}, {20. / 9}));
  const auto half = ca::astype<ca::float16>(a);
  CHECK(test::close(ca::mean_var(half, 1).var, {2}, {14. / 9, 2}, 1e-3));
  CHECK(test::values(ca::mean_var(half, 1, ca::ddof{1}).var) == test::values(ca::var(half, 1, ca::ddof{1})));
  const auto none = ca::mean_var(ca::zeros<float>({2, 0}), 1);
  CHECK(test::equal(none.mean, {2}, doubles{NAN, NAN}));
  CHECK(test::equal(none.var, {2}, doubles{NAN, NAN}));
  CHECK(test::equal(ca::mean_var(ca::array<float>({1, NAN})).var, {}, doubles{NAN}));
  CHECK(test::thrown<ca::index_error>([&] { ca::mean_var(a, 2); }) ==
        "mean_var: axis 2 is out of bounds for an array of 2 axes");
  // rows far from zero: the distances keep their digits
  std::vector<float> far;
  for (int i = 0; i < 3 * 5000; ++i) far.push_back(16384.f + float(i * 7919 % 17) / 16);
  const ca::ndarray<float> x = ca::array(far, {3, 5000});
  std::vector<double> means, variances;
  for (int r = 0; r < 3; ++r) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 5000; ++i) sum += double(far[std::size_t(r * 5000 + i)]);
    for (int i = 0; i < 5000; ++i) {
      const double d = double(far[std::size_t(r * 5000 + i)]) - sum / 5000;
      squares += d * d;
    }
    means.push_back(sum / 5000);
    variances.push_back(squares / 5000);
  }
  const auto rows = ca::mean_var(x, 1);
  CHECK(test::close(rows.mean, {3}, means, 1e-7));
  CHECK(test::close(rows.var, {3}, variances, 1e-5));
  CHECK(test::close(ca::var(x, 1), {3}, variances, 1e-5));
}

TEST_CASE("reductions: what is computed of a result and scalars") {
  const auto a = ca::array<float>({{1, 2, 2}, {0, 3, 4}});
  CHECK(test::equal(ca::sqrt(ca::sum(a * a, 1)), {2}, ints{3, 5}));
  CHECK(test::equal(10.f - ca::max(a, 0) * 2.f, {3}, ints{8, 4, 2}));
  CHECK(test::equal(ca::argmax(a, 1) + 1, {2}, ints{2, 3}));
  CHECK(test::equal(!ca::any(a == 0, 1), {2}, ints{1, 0}));
  CHECK(test::equal(ca::astype<int>(ca::mean(a) * 6), {}, ints{12}));
  CHECK((ca::sum(a) / 2).item() == 6);
  const auto h = ca::astype<ca::float16>(a);
  CHECK(test::equal(ca::sum(h, 1) * 2, {2}, ints{10, 14}));
  // rounded to 16 bits on the way, as where each is a statement
  const ca::ndarray<ca::float16> ones = ca::ones<ca::float16>({2049});
  CHECK(test::equal(ca::astype<float>(ca::sum(ones)) + 0.5f, {}, doubles{2048.5}));
  const auto z = ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(3, -1)});
  CHECK((ca::sum(z) * ca::complex64(0, 1)).item() == ca::complex64(-1, 4));
  // kept axes, steps of the target, more places than results
  CHECK(test::equal(-ca::sum(a, 1, ca::keepdims), {2, 1}, ints{-5, -7}));
  ca::ndarray<double> d = ca::zeros<double>({4, 3});
  d(ca::slice(ca::none, ca::none, -3), 1) = ca::sum(a, 1) + 0.5f;
  CHECK(test::equal(d, {4, 3}, doubles{0, 7.5, 0, 0, 0, 0, 0, 0, 0, 0, 5.5, 0}));
  d(ca::_) = ca::sum(a, 0) * 2.f;
  CHECK(test::equal(d(3), {3}, ints{2, 10, 12}));
  // what it writes is what it reads
  ca::ndarray<float> b = ca::copy(a);
  b(0) = ca::sum(b, 0) * 2.f;
  CHECK(test::equal(b, {2, 3}, ints{2, 10, 12, 0, 3, 4}));
  ca::ndarray<float> one = ca::full({1}, 3.f);
  one(ca::_) = ca::sum(one) * one + 1.f;
  CHECK(test::equal(one, {1}, ints{10}));
  // another reduction below, and beside
  CHECK(test::equal(ca::sum(a - ca::max(a, 0) * 2.f, 1) + 1.f, {2}, ints{-10, -8}));
  CHECK(test::equal(ca::sum(a, 1) * 2.f - ca::max(a, 1) * 3.f, {2}, ints{4, 2}));
  const auto index = ca::array<int>({1, 7});
  CHECK(test::thrown<ca::index_error>([&] {
          ca::ndarray<float> s = ca::sum(ca::take(a, index, 0)) * 2.f;
          ca::synchronize();
        }) == "take: index 7 is out of bounds for axis 0 with size 2");
  // any number of results along any axes: as by two statements, whose functions are within 4 units of the last place
  for (const ca::shape& dims : {ca::shape{3, 5}, {1, 1000}, {257, 3}, {1000, 17}, {5, 4097}, {70000, 4}})
    for (const int axis : {0, 1}) {
      INFO("(" << dims[0] << ", " << dims[1] << "), axis " << axis);
      const ca::ndarray<float> x = ca::random::uniform(dims);
      const ca::ndarray<float> sums = ca::sum(x, axis), squares = ca::var(x, axis);
      std::vector<double> logs, roots;
      for (const float v : test::values(sums)) logs.push_back(std::log(double(v)) * 3 - 1);
      for (const float v : test::values(squares)) roots.push_back(std::sqrt(double(v)));
      CHECK(test::close(ca::log(ca::sum(x, axis)) * 3.f - 1.f, {sums.size()}, logs, 1e-5));
      CHECK(test::close(ca::std(x, axis), {sums.size()}, roots, 1e-6));
    }
}

TEST_CASE("reductions: no elements") {
  const auto e = ca::zeros<float>({2, 0, 3});
  CHECK(test::equal(ca::sum(e, 1), {2, 3}, ints{0, 0, 0, 0, 0, 0}));
  CHECK(test::equal(ca::prod(e, 1), {2, 3}, ints{1, 1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::mean(e, 1), {2, 3}, doubles{NAN, NAN, NAN, NAN, NAN, NAN}));
  CHECK(test::equal(ca::mean(e), {}, doubles{NAN}));
  CHECK(test::equal(ca::var(e), {}, doubles{NAN}));
  CHECK(test::equal(ca::any(e), {}, ints{0}));
  CHECK(test::equal(ca::all(e), {}, ints{1}));
  CHECK(test::equal(ca::sum(e, 0), {0, 3}, ints{}));
  CHECK(test::equal(ca::max(e, 0), {0, 3}, ints{}));
  CHECK(test::equal(ca::argmin(e, -1), {2, 0}, ints{}));
  CHECK(test::thrown<ca::value_error>([&] { ca::max(e, 1); }).find("max: no elements") == 0);
  CHECK(test::thrown<ca::value_error>([&] { ca::min(e); }).find("(2, 0, 3)") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([&] { ca::argmax(e, 1); }).find("argmax") == 0);
}
