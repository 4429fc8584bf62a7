// Counts, averages and covariances, and what leaves NaN out: as NumPy.
// SPDX-License-Identifier: MIT
#include "samples.hpp"

using namespace samples;

TEST_CASE("statistics: counts and ranges") {
  const auto a = ca::array<float>({{0, 1, 2}, {0, 0, NAN}});
  CHECK(test::equal(ca::count_nonzero(a), {}, ints{3}));
  CHECK(test::equal(ca::count_nonzero(a, 1, ca::keepdims), {2, 1}, ints{2, 1}));
  CHECK(test::equal(ca::count_nonzero(ca::array<bool>({true, false, true})), {}, ints{2}));
  CHECK(test::equal(ca::count_nonzero(ca::zeros<int>({0, 2}), 0), {2}, ints{0, 0}));
  CHECK(test::equal(ca::ptp(ca::array<int>({{3, 1, 7}, {-2, 5, 0}}), 1), {2}, ints{6, 7}));
  CHECK(test::equal(ca::ptp(ca::array<int>({{3, 1, 7}, {-2, 5, 0}}), 0, ca::keepdims), {1, 3}, ints{5, 4, 7}));
  CHECK(test::equal(ca::ptp(ca::array<ca::int8>({100, -100})), {}, ints{-56}));
  CHECK(test::equal(ca::ptp(a), {}, doubles{none}));
  CHECK_THROWS_AS(ca::ptp(ca::zeros({0})), ca::value_error);
  static_assert(is<decltype(ca::count_nonzero(line<float>())), ca::int64>);
  static_assert(is<decltype(ca::ptp(line<ca::int8>())), ca::int8>);
  static_assert(is<decltype(ca::ptp(line<float>())), float>);
}

TEST_CASE("statistics: sums and extremes without NaN") {
  const auto a = holes();
  CHECK(test::equal(ca::nansum(a), {}, ints{30}));
  CHECK(test::equal(ca::nansum(a, 0), {4}, ints{5, 5, 9, 11}));
  CHECK(test::equal(ca::nansum(a, 1, ca::keepdims), {3, 1}, ints{6, 24, 0}));
  CHECK(test::equal(ca::nanprod(a, 1), {3}, ints{6, 1080, 1}));
  CHECK(test::equal(ca::nanprod(a), {}, ints{6480}));
  CHECK(test::equal(ca::nanmax(a, 1), {3}, doubles{3, 9, none}));
  CHECK(test::equal(ca::nanmax(a, 0, ca::keepdims), {1, 4}, ints{4, 5, 6, 9}));
  CHECK(test::equal(ca::nanmin(a, 1, ca::keepdims), {3, 1}, doubles{1, 4, none}));
  CHECK(test::equal(ca::nanmin(a), {}, ints{1}));
  CHECK(test::equal(ca::nanmax(f64({-inf, none})), {}, doubles{-inf}));
  CHECK(test::equal(ca::nanmin(f64({inf, none})), {}, doubles{inf}));
  CHECK(test::equal(ca::nanmax(ca::array<int>({3, -1})), {}, ints{3}));
  CHECK(test::equal(ca::nanmax(ca::array<ca::float16>({1, NAN, 3})), {}, ints{3}));
  CHECK(test::equal(ca::nansum(f64({inf, -inf, none})), {}, doubles{none}));
  CHECK(test::equal(ca::nansum(f64({})), {}, ints{0}));
  CHECK(test::equal(ca::nanprod(ca::zeros({0, 2}), 0), {2}, ints{1, 1}));
  CHECK_THROWS_AS(ca::nanmax(f64({})), ca::value_error);
  CHECK_THROWS_AS(ca::nanmin(a, 2), ca::index_error);
  CHECK(test::equal(ca::nancumsum(a, 0), {3, 4}, ints{1, 0, 3, 2, 5, 5, 9, 11, 5, 5, 9, 11}));
  CHECK(test::equal(ca::nancumsum(a), {12}, ints{1, 1, 4, 6, 10, 15, 21, 30, 30, 30, 30, 30}));
  CHECK(test::equal(ca::nancumprod(a, 1), {3, 4}, ints{1, 1, 3, 6, 4, 20, 120, 1080, 1, 1, 1, 1}));
  static_assert(is<decltype(ca::nansum(line<float>())), float>);
  static_assert(is<decltype(ca::nansum(line<int>())), ca::int64>);
  static_assert(is<decltype(ca::nansum(line<ca::uint8>())), ca::uint64>);
  static_assert(is<decltype(ca::nanmax(line<int>())), int>);
  static_assert(is<decltype(ca::nanmax(line<ca::float16>())), ca::float16>);
}

TEST_CASE("statistics: means and variances without NaN") {
  const auto a = holes();
  CHECK(test::close(ca::nanmean(a), {}, {4.285714285714286}, 1e-15));
  CHECK(test::equal(ca::nanmean(a, 0), {4}, doubles{2.5, 5, 4.5, 5.5}));
  CHECK(test::equal(ca::nanmean(a, 1, ca::keepdims), {3, 1}, doubles{2, 6, none}));
  CHECK(test::close(ca::nanvar(a), {}, {6.204081632653062}, 1e-15));
  CHECK(test::equal(ca::nanvar(a, 0), {4}, doubles{2.25, 0, 2.25, 12.25}));
  CHECK(test::close(ca::nanvar(a, 1, ca::keepdims), {3, 1}, {0.6666666666666666, 3.5, none}, 1e-15));
  CHECK(test::equal(ca::nanvar(a, 0, ca::ddof{1}), {4}, doubles{4.5, none, 4.5, 24.5}));
  CHECK(test::equal(ca::nanvar(a, 0, ca::ddof{2}), {4}, doubles{none, none, none, none}));
  CHECK(test::equal(ca::nanvar(a, 1, ca::keepdims, ca::ddof{2}), {3, 1}, doubles{2, 7, none}));
  CHECK(test::close(ca::nanstd(a, ca::ddof{1}), {}, {2.690370836538197}, 1e-15));
  CHECK(test::equal(ca::nanstd(a, 0), {4}, doubles{1.5, 0, 1.5, 3.5}));
  CHECK(test::equal(ca::nanmean(f64({inf, none, 1})), {}, doubles{inf}));
  CHECK(test::equal(ca::nanvar(f64({inf, none, 1})), {}, doubles{none}));
  CHECK(test::equal(ca::nanmean(f64({})), {}, doubles{none}));
  CHECK(test::equal(ca::nanvar(f64({})), {}, doubles{none}));
  CHECK(test::equal(ca::nanmean(ca::array<int>({1, 2})), {}, doubles{1.5}));
  CHECK(test::equal(ca::nanstd(ca::array<int>({1, 3})), {}, ints{1}));
  CHECK(test::equal(ca::nanmean(ca::array<ca::float16>({60000, 60000, NAN})), {}, ints{60000}));
  CHECK(test::equal(ca::nanvar(ca::array<ca::float16>({300, 100, NAN})), {}, ints{10000}));
  CHECK(test::equal(ca::nanmean(ca::full<double>({}, 2)), {}, ints{2}));
  static_assert(is<decltype(ca::nanmean(line<int>())), double>);
  static_assert(is<decltype(ca::nanvar(line<float>())), float>);
  static_assert(is<decltype(ca::nanstd(line<ca::float16>())), ca::float16>);
}

TEST_CASE("statistics: positions without NaN") {
  const auto a = holes();
  CHECK(test::equal(ca::nanargmax(a), {}, ints{7}));
  CHECK(test::equal(ca::nanargmin(a, 0), {4}, ints{0, 1, 0, 0}));
  CHECK(test::equal(ca::nanargmin(a, 0, ca::keepdims), {1, 4}, ints{0, 1, 0, 0}));
  CHECK(test::equal(ca::nanargmin(f64({none, inf, 1})), {}, ints{2}));
  CHECK(test::equal(ca::nanargmax(ca::array<int>({1, 5, 5})), {}, ints{1}));
  CHECK(test::thrown<ca::value_error>([&] { ca::nanargmax(a, 1); }) == "nanargmax: elements that are all NaN");
  CHECK(test::thrown<ca::value_error>([&] { ca::nanargmin(a, -1); }) == "nanargmin: elements that are all NaN");
  CHECK_THROWS_AS(ca::nanargmax(f64({})), ca::value_error);
  CHECK_THROWS_AS(ca::nanargmax(ca::zeros<int>({0})), ca::value_error);
  CHECK(ca::nanargmax(ca::zeros({0, 3}), 1).shape() == ca::shape{0});
  static_assert(is<decltype(ca::nanargmax(line<float>())), ca::int64>);
}

TEST_CASE("statistics: average") {
  const auto a = table();
  CHECK(test::close(ca::average(a, f64({1, 2, 3}), 1), {2}, {7 / 3., 16 / 3.}, 1e-15));
  CHECK(test::equal(ca::average(a, f64({1, 3}), 0), {3}, doubles{3.25, 4.25, 5.25}));
  CHECK(test::equal(ca::average(a, f64({1, 3}), -2), {3}, doubles{3.25, 4.25, 5.25}));
  const auto w = ca::array<double>({{1, 0, 2}, {3, 1, 1}});
  CHECK(test::equal(ca::average(a, w), {}, doubles{3.75}));
  CHECK(test::equal(ca::average(a, w, 0), {3}, doubles{3.25, 5, 4}));
  CHECK(test::equal(ca::average(a, 0), {3}, doubles{2.5, 3.5, 4.5}));
  CHECK(test::equal(ca::average(a), {}, doubles{3.5}));
  CHECK(test::equal(ca::average(f64({1, 2}), f64({1, -1})), {}, doubles{-inf}));
  CHECK(test::equal(ca::average(f64({1, 2}), f64({0, 0})), {}, doubles{none}));
  CHECK(test::equal(ca::average(ca::array<int>({1, 2}), ca::array<int>({1, 3})), {}, doubles{1.75}));
  CHECK(test::equal(ca::average(ca::array<ca::int8>({100, 50}), ca::array<ca::int8>({2, 3})), {}, ints{70}));
  CHECK(test::equal(
      ca::average(ca::array<ca::int64>({1000000, 5000000000}), ca::array<ca::int64>({4000000000, 4000000000})), {},
      doubles{2500500000}));
  CHECK(test::equal(ca::average(ca::array<bool>({true, false}), ca::array<bool>({true, true})), {}, doubles{0.5}));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::average(a, f64({1, 2}), 1);
        }) == "average: weights of shape (2,) along axis 1 of shape (2, 3)");
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::average(a, f64({1, 2, 3}));
        }) ==
        "average: weights of shape (3,) for an array of shape (2, 3): of its shape, or of one axis, with the axis they "
        "lie along");
  CHECK_THROWS_AS(ca::average(a, ca::ones({1, 3}), 1), ca::shape_error);
  CHECK_THROWS_AS(ca::average(a, f64({1, 2, 3}), 2), ca::index_error);
  static_assert(is<decltype(ca::average(line<int>(), line<int>())), double>);
  static_assert(is<decltype(ca::average(line<float>(), line<float>())), float>);
  static_assert(is<decltype(ca::average(line<float>(), line<double>())), double>);
}

TEST_CASE("statistics: cov") {
  const auto d = variables();
  const double a = 9.583333333333332, b = -6.166666666666666, c = 2.9166666666666665, e = 4.333333333333333,
               f = -1.8333333333333333, g = 0.9166666666666666;
  const doubles all_three{a, b, c, b, e, f, c, f, g};
  CHECK(test::close(ca::cov(d), {3, 3}, all_three, 1e-14));
  CHECK(test::close(ca::cov(d.t(), {.rowvar = false}), {3, 3}, all_three, 1e-14));
  CHECK(test::close(ca::cov(d, {.ddof = 0}), {3, 3},
                    {7.1875, -4.625, 2.1875, -4.625, 3.25, -1.375, 2.1875, -1.375, 0.6875}, 1e-14));
  CHECK(test::close(ca::cov(d(0)), {}, {a}, 1e-14));
  CHECK(test::close(ca::cov(d(0), {.rowvar = false}), {}, {a}, 1e-14));
  CHECK(test::close(ca::cov(d(0), d(1)), {2, 2}, {a, b, b, e}, 1e-14));
  CHECK(test::close(ca::cov(d(ca::slice(0, 2)), d(2)), {3, 3}, all_three, 1e-14));
  CHECK(test::close(ca::cov(d(ca::slice(0, 2)).t(), d(2), {.rowvar = false, .ddof = 0})(0), {3},
                    {7.1875, -4.625, 2.1875}, 1e-14));
  CHECK(test::equal(ca::cov(d(0), {.ddof = 4}), {}, doubles{inf}));
  CHECK(test::equal(ca::cov(d(0), {.ddof = 5}), {}, doubles{inf}));
  CHECK(test::equal(ca::cov(ca::array<double>({{1, 2}}), {.rowvar = false}), {2, 2}, doubles{none, none, none, none}));
  CHECK(test::equal(ca::cov(ca::array<int>({{1, 2}, {3, 5}})), {2, 2}, doubles{0.5, 1, 1, 2}));
  CHECK_THROWS_AS(ca::cov(d(0), ca::ones<double>({3})), ca::shape_error);
  CHECK(test::thrown<ca::shape_error>([&] { ca::cov(block()); }) ==
        "cov: an array of shape (2, 3, 4), not of 1 or 2 axes");
  static_assert(is<decltype(ca::cov(line<int>())), double>);
}

TEST_CASE("statistics: corrcoef") {
  const auto d = variables();
  const double a = -0.9569321102069627, b = 0.9840627249521833, c = -0.9198662110077999;
  const doubles three{1, a, b, a, 1, c, b, c, 1};
  CHECK(test::close(ca::corrcoef(d), {3, 3}, three, 1e-14));
  CHECK(test::close(ca::corrcoef(d.t(), {.rowvar = false}), {3, 3}, three, 1e-14));
  CHECK(test::close(ca::corrcoef(d(0), d(1)), {2, 2}, {1, a, a, 1}, 1e-14));
  CHECK(test::close(ca::corrcoef(d(0)), {}, {1}, 1e-14));
  CHECK(test::equal(ca::corrcoef(f64({1, 1, 1})), {}, doubles{none}));
  CHECK(test::close(ca::corrcoef(ca::array<int>({{1, 1, 1}, {1, 2, 3}})), {2, 2}, {none, none, none, 1}, 1e-14));
  CHECK(
      !ca::any(ca::abs(ca::corrcoef(ca::matmul(ca::array<double>({{1}, {3}, {-7}}), d(ca::slice(0, 1))))) > 1).item());
  CHECK(test::thrown<ca::shape_error>([&] { ca::corrcoef(block()); }) ==
        "corrcoef: an array of shape (2, 3, 4), not of 1 or 2 axes");
}

TEST_CASE("statistics: what leaves a dtype's range on the way") {
  const auto y = ca::array<float>({1, 2, 4});
  CHECK(test::close(ca::gradient(y, 1e-25), {3}, std::vector<double>{1e25, 1.5e25, 2e25}, 1e-6));
  CHECK(test::close(ca::gradient(y, 2e19, {.edge_order = 2}), {3}, std::vector<double>{2.5e-20, 7.5e-20, 1.25e-19},
                    1e-6));
  const auto a = ca::array<float>({1e20f, 2e20f, 7e20f}), b = ca::array<float>({1, 3, 8});
  CHECK(test::close(ca::corrcoef(a, b), {2, 2}, std::vector<double>{1, 0.9922153, 0.9922153, 1}, 1e-6));
  const auto h = ca::array<ca::float16>({100, 200, 700});
  CHECK(std::fabs(float(ca::corrcoef(h, ca::array<ca::float16>({100, 300, 800}))(0, 1).item()) - 0.9922153f) < 1e-3f);
  CHECK(ca::median(ca::array<float>({-3e38f, 3e38f})).item() == 0);
  CHECK(test::close(ca::nanmedian(ca::array<double>({-1.5e308, 1.6e308})), {}, std::vector<double>{5e306}, 1e-14));
}
TEST_CASE("statistics: quantiles of a span, average's dtype, eager sums") {
  const auto x = ca::array<double>({4, 1, 3});
  const std::vector<double> q{0, 1};
  CHECK(test::equal(ca::quantile(x, q), {2}, std::vector<double>{1, 4}));
  const auto n = ca::array<ca::int8>({1, 2});
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::average(n, ca::ones<float>({2})))>, double>);
  const auto sum = ca::nansum(x);
  x(0) = 100.;
  CHECK(ca::eval(sum).item() == 8);
}
