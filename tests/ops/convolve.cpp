// Convolution and correlation of sequences; expected values from NumPy.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

namespace {

using mode = ca::convolution_mode;
using doubles = std::vector<double>;
using ints = std::vector<int>;

template <class X>
doubles parts(const X& x) {
  doubles r;
  for (const auto z : test::values(x)) r.push_back(z.re), r.push_back(z.im);
  return r;
}

}  // namespace

TEST_CASE("convolve: modes, and sequences of which either is longer") {
  const auto a = ca::array<double>({1, 3, 5, 7, 9}), v = ca::array<double>({-2, -1, 2});
  CHECK(test::equal(ca::convolve(a, v), {7}, ints{-2, -7, -11, -13, -15, 5, 18}));
  CHECK(test::equal(ca::convolve(v, a), {7}, ints{-2, -7, -11, -13, -15, 5, 18}));
  CHECK(test::equal(ca::convolve(a, v, mode::same), {5}, ints{-7, -11, -13, -15, 5}));
  CHECK(test::equal(ca::convolve(v, a, mode::same), {5}, ints{-7, -11, -13, -15, 5}));
  CHECK(test::equal(ca::convolve(a, v, mode::valid), {3}, ints{-11, -13, -15}));
  CHECK(test::equal(ca::correlate(a, v), {3}, ints{5, 3, 1}));
  CHECK(test::equal(ca::correlate(v, a), {3}, ints{1, 3, 5}));
  CHECK(test::equal(ca::correlate(a, v, mode::full), {7}, ints{2, 5, 5, 3, 1, -23, -18}));
  CHECK(test::equal(ca::correlate(v, a, mode::full), {7}, ints{-18, -23, 1, 3, 5, 5, 2}));
  CHECK(test::equal(ca::correlate(a, v, mode::same), {5}, ints{5, 5, 3, 1, -23}));
  CHECK(test::equal(ca::correlate(a, ca::array<double>({1, 2}), mode::same), {5}, ints{2, 7, 13, 19, 25}));
  // an expression, a view, integers, and numbers beside floats
  CHECK(test::equal(ca::convolve(a + 0, ca::flip(v)), {7}, ints{2, 5, 5, 3, 1, -23, -18}));
  CHECK(test::equal(ca::convolve(ca::arange(3), ca::array<int>({1, 2})), {4}, ints{0, 1, 4, 4}));
  static_assert(std::is_same_v<ca::value_type_t<decltype(ca::convolve(ca::arange(3), ca::ones({2})))>, double>);
  CHECK(test::equal(ca::convolve(ca::array<float>({2}), ca::array<float>({3})), {1}, ints{6}));
}

TEST_CASE("convolve: complex numbers") {
  const auto z = ca::to_complex(ca::arange<double>(3), 1.0), w = ca::to_complex(ca::arange<double>(2), -2.0);
  CHECK(parts(ca::convolve(z, w)) == doubles{2, 0, 4, -1, 5, -5, 4, -3});
  CHECK(parts(ca::correlate(z, w, mode::full)) == doubles{-2, 1, -3, 3, -2, 7, -2, 4});
  CHECK(parts(ca::correlate(w, z, mode::full)) == doubles{-2, -4, -2, -7, -3, -3, -2, -1});
}

TEST_CASE("convolve: infinities and NaN count only where they meet an element") {
  const double inf = HUGE_VAL, none = std::nan("");
  CHECK(test::equal(ca::convolve(ca::array<double>({1, 2}), ca::array<double>({inf, 1})), {3}, doubles{inf, inf, 2}));
  CHECK(test::equal(ca::correlate(ca::array<double>({1, 2}), ca::array<double>({inf, 1}), mode::full), {3},
                    doubles{1, inf, inf}));
  CHECK(test::equal(ca::convolve(ca::array<double>({1, 2, 3}), ca::array<double>({none, 1}), mode::same), {3},
                    doubles{none, none, none}));
}

TEST_CASE("convolve: long sequences, as the sums by loops") {
  const int m = 3000, n = 1100;
  const auto a = ca::astype<double>((ca::arange(m) * 7) % 11 - 5), v = ca::astype<double>((ca::arange(n) * 5) % 13 - 6);
  const auto x = test::values(a), y = test::values(v);
  doubles all(m + n - 1);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) all[i + j] += x[i] * y[j];
  const auto part = [&](int begin, int count) { return doubles(all.begin() + begin, all.begin() + begin + count); };
  CHECK(test::equal(ca::convolve(a, v), {m + n - 1}, all));
  CHECK(test::equal(ca::convolve(v, a), {m + n - 1}, all));
  CHECK(test::equal(ca::correlate(a, ca::flip(v), mode::full), {m + n - 1}, all));
  CHECK(test::equal(ca::convolve(a, v, mode::same), {m}, part((n - 1) / 2, m)));
  CHECK(test::equal(ca::convolve(a, v, mode::valid), {m - n + 1}, part(n - 1, m - n + 1)));
  doubles square(2 * n - 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) square[i + j] += y[i] * y[j];
  CHECK(test::equal(ca::convolve(v, v), {2 * n - 1}, square));
}

TEST_CASE("convolve: half types are summed in float32") {
  const auto a = ca::full<ca::float16>({1400}, 100);
  const auto v = ca::concatenate({ca::full<ca::float16>({700}, 1), ca::full<ca::float16>({700}, -1)});
  const auto c = ca::convolve(a, v);
  const auto right = ca::eval(ca::astype<ca::float16>(ca::convolve(ca::astype<float>(a), ca::astype<float>(v))));
  CHECK(ca::array_equal(c, right));
  CHECK(ca::sum(ca::isinf(c)).item() == 178);
}

TEST_CASE("convolve: what is no sequence") {
  const auto a = ca::array<float>({1, 2});
  CHECK(test::thrown<ca::value_error>([&] { ca::convolve(a, ca::zeros({0})); }) ==
        "convolve: a sequence without elements");
  CHECK(test::thrown<ca::value_error>([&] { ca::correlate(ca::zeros({0}), a); }) ==
        "correlate: a sequence without elements");
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::convolve(a, ca::ones({1, 2}));
        }) == "convolve: an array of shape (1, 2), not of one axis");
  CHECK_THROWS_AS(ca::correlate(ca::full({}, 1), a), ca::shape_error);
}
