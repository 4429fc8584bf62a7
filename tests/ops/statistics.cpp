// Counts, averages, covariances, quantiles, differences and histograms, and what leaves NaN out: as NumPy.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using method = ca::quantile_method;
using ints = std::vector<int>;
using doubles = std::vector<double>;

const double inf = HUGE_VAL, none = NAN;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;
template <class T>
using line = decltype(ca::ones<T>({2}));

const auto f64 = [](const doubles& v) { return ca::array<double>(v); };
const auto holes = [] { return ca::array<double>({{1, NAN, 3, 2}, {4, 5, 6, 9}, {NAN, NAN, NAN, NAN}}); };
const auto table = [] { return ca::array<double>({{1, 2, 3}, {4, 5, 6}}); };
const auto variables = [] { return ca::array<double>({{1, 2, 4, 8}, {3, 1, 0, -2}, {5, 5, 6, 7}}); };
const auto block = [] {
  return ca::array(doubles{0, 1, 4, 9, 16, 8, 2, 15, 13, 13, 15, 2, 8, 16, 9, 4, 1, 0, 1, 4, 9, 16, 8, 2}, {2, 3, 4});
};

const std::vector<method> methods{method::inverted_cdf,
                                  method::averaged_inverted_cdf,
                                  method::closest_observation,
                                  method::interpolated_inverted_cdf,
                                  method::hazen,
                                  method::weibull,
                                  method::linear,
                                  method::median_unbiased,
                                  method::normal_unbiased,
                                  method::lower,
                                  method::higher,
                                  method::midpoint,
                                  method::nearest};

// NumPy's quantiles, a line for each method.
const std::vector<doubles> of_eight{
    {-2, -2, -2, 1, 1, 3.5, 5, 12, 18, 30, 30},                                   // inverted_cdf
    {-2, -2, -0.5, 1, 2.25, 3.5, 6, 12, 24, 30, 30},                              // averaged_inverted_cdf
    {-2, -2, -2, 1, 1, 1, 5, 12, 18, 30, 30},                                     // closest_observation
    {-2, -2, -2, -0.5, 1, 1.9999999999999998, 5, 9.999999999999998, 18, 24, 30},  // interpolated_inverted_cdf
    {-2, -2, -0.5, 1, 2.25, 3.25, 6, 12.599999999999998, 24, 30, 30},             // hazen
    {-2, -2, -1.625, 0.0625, 1.625, 2.749999999999999, 6, 13.799999999999999, 28.5, 30, 30},           // weibull
    {-2, -0.6875, 0.625, 1.78125, 2.875, 3.6500000000000004, 6, 11.499999999999996, 19.5, 24.75, 30},  // linear
    {-2, -2, -0.875, 0.6874999999999998, 2.041666666666666, 3.0833333333333326, 6, 12.999999999999996, 25.5, 30,
     30},                                                                                 // median_unbiased
    {-2, -2, -0.78125, 0.765625, 2.09375, 3.125, 6, 12.899999999999997, 25.125, 30, 30},  // normal_unbiased
    {-2, -2, -2, 1, 1, 3.5, 5, 7, 18, 18, 30},                                            // lower
    {-2, 1, 1, 3.5, 3.5, 5, 7, 12, 30, 30, 30},                                           // higher
    {-2, -0.5, -0.5, 2.25, 2.25, 4.25, 6, 9.5, 24, 24, 30},                               // midpoint
    {-2, -2, 1, 1, 3.5, 3.5, 7, 12, 18, 30, 30},                                          // nearest
};
const std::vector<doubles> of_five{
    {-1, -1, -1, 2.5, 2.5, 4, 6, 9, 9},           // inverted_cdf
    {-1, -1, 0.75, 2.5, 2.5, 4, 6, 9, 9},         // averaged_inverted_cdf
    {-1, -1, -1, 2.5, 2.5, 2.5, 6, 6, 9},         // closest_observation
    {-1, -1, -1, 0.75, 2.0625, 3.25, 5, 7.5, 9},  // interpolated_inverted_cdf
    {-1, -1, 0.75, 2.5, 3.0625, 4, 6, 9, 9},      // hazen
    {-1, -1, -0.30000000000000016, 1.8000000000000003, 2.875, 4, 6.6000000000000005, 9, 9},    // weibull
    {-1, 0.40000000000000013, 1.8000000000000003, 2.8, 3.25, 4, 5.6, 7.800000000000001, 9},    // linear
    {-1, -1, 0.3999999999999997, 2.2666666666666666, 3, 4, 6.199999999999999, 9, 9},           // median_unbiased
    {-1, -1, 0.48750000000000027, 2.3249999999999997, 3.015625, 4, 6.1499999999999995, 9, 9},  // normal_unbiased
    {-1, -1, -1, 2.5, 2.5, 4, 4, 6, 9},                                                        // lower
    {-1, 2.5, 2.5, 4, 4, 4, 6, 9, 9},                                                          // higher
    {-1, 0.75, 0.75, 3.25, 3.25, 4, 5, 7.5, 9},                                                // midpoint
    {-1, -1, 2.5, 2.5, 4, 4, 6, 9, 9},                                                         // nearest
};
const std::vector<doubles> of_seven{
    {-2, -2, 1, 5, 7, 12, 30, 30},                                                       // inverted_cdf
    {-2, -2, 1, 5, 7, 12, 30, 30},                                                       // averaged_inverted_cdf
    {-2, -2, 1, 5, 5, 7, 30, 30},                                                        // closest_observation
    {-2, -2, 0.25, 4.25, 5.4, 8.25, 23.69999999999999, 30},                              // interpolated_inverted_cdf
    {-2, -2, 1.625, 5, 6.4, 10.75, 30, 30},                                              // hazen
    {-2, -2, 1, 5, 6.6, 12, 30, 30},                                                     // weibull
    {-2, -1.0999999999999999, 2.25, 5, 6.199999999999999, 9.5, 24.599999999999987, 30},  // linear
    {-2, -2, 1.4166666666666663, 5, 6.466666666666667, 11.166666666666664, 30, 30},      // median_unbiased
    {-2, -2, 1.46875, 5, 6.450000000000001, 11.0625, 30, 30},                            // normal_unbiased
    {-2, -2, 1, 5, 5, 7, 12, 30},                                                        // lower
    {-2, 1, 3.5, 5, 7, 12, 30, 30},                                                      // higher
    {-2, -0.5, 2.25, 5, 6, 9.5, 21, 30},                                                 // midpoint
    {-2, -2, 3.5, 5, 7, 7, 30, 30},                                                      // nearest
};
const std::vector<doubles> of_four{
    {-2, -2, 3.5, 3.5, 7, 12},                                                   // inverted_cdf
    {-2, 0.75, 3.5, 5.25, 9.5, 12},                                              // averaged_inverted_cdf
    {-2, -2, -2, 3.5, 7, 12},                                                    // closest_observation
    {-2, -2, -0.9000000000000004, 3.5, 7, 12},                                   // interpolated_inverted_cdf
    {-2, 0.75, 1.8499999999999996, 5.25, 9.5, 12},                               // hazen
    {-2, -0.625, 0.75, 5.25, 10.75, 12},                                         // weibull
    {-2, 2.125, 2.9499999999999993, 5.25, 8.25, 12},                             // linear
    {-2, 0.29166666666666696, 1.4833333333333334, 5.25, 9.916666666666668, 12},  // median_unbiased
    {-2, 0.40625, 1.5749999999999995, 5.25, 9.8125, 12},                         // normal_unbiased
    {-2, -2, -2, 3.5, 7, 12},                                                    // lower
    {-2, 3.5, 3.5, 7, 12, 12},                                                   // higher
    {-2, 0.75, 0.75, 5.25, 9.5, 12},                                             // midpoint
    {-2, 3.5, 3.5, 7, 7, 12},                                                    // nearest
};
const doubles eight_at{0, 0.0625, 0.125, 0.1875, 0.25, 0.3, 0.5, 0.7, 0.875, 0.9375, 1};
const doubles seven_at{0, 0.05, 0.25, 0.5, 0.6, 0.75, 0.95, 1};
const doubles five_at{0, 0.1, 0.2, 0.3, 0.375, 0.5, 0.7, 0.9, 1};
const doubles four_at{0, 0.25, 0.3, 0.5, 0.75, 1};

// Each method with several q at once, and with each of them alone.
template <class F, class X>
void check_methods(const F& quantile, const X& x, const doubles& q, const std::vector<doubles>& expected) {
  for (std::size_t i = 0; i < methods.size(); ++i) {
    INFO("method " << i);
    CHECK(test::close(quantile(x, std::span<const double>(q), methods[i]), {ca::int64(q.size())}, expected[i], 1e-14));
    for (std::size_t k = 0; k < q.size(); ++k) {
      INFO("q " << q[k]);
      CHECK(test::close(quantile(x, q[k], methods[i]), {}, {expected[i][k]}, 1e-14));
    }
  }
}

const auto quantile = [](const auto& x, const auto& q, method m) { return ca::quantile(x, q, ca::axes::all(), m); };
const auto nanquantile = [](const auto& x, const auto& q, method m) {
  return ca::nanquantile(x, q, ca::axes::all(), m);
};

}  // namespace

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

TEST_CASE("statistics: every method of quantiles") {
  check_methods(quantile, f64({7, 1, 12, 3.5, 30, -2, 18, 5}), eight_at, of_eight);
  check_methods(quantile, f64({7, 1, 12, 3.5, 30, -2, 5}), seven_at, of_seven);
  check_methods(quantile, f64({4, -1, 9, 2.5, 6}), five_at, of_five);
  const std::vector<doubles> same(13, doubles{3, 3, 3});
  check_methods(quantile, f64({3}), {0, 0.5, 1}, same);
}

TEST_CASE("statistics: every method of quantiles without NaN") {
  check_methods(nanquantile, f64({7, none, 12, 3.5, none, -2}), four_at, of_four);
  check_methods(nanquantile, f64({7, 1, 12, 3.5, 30, -2, 18, 5}), eight_at, of_eight);
  check_methods(nanquantile, ca::array<int>({1, 1}), {0, 1}, std::vector<doubles>(13, doubles{1, 1}));
  check_methods(nanquantile, f64({none, none}), {0, 0.5, 1}, std::vector<doubles>(13, doubles{none, none, none}));
}

TEST_CASE("statistics: axes of quantiles") {
  const auto y = block();
  CHECK(test::close(ca::quantile(y, 0.3, {0, 2}), {3}, {4, 1.1, 8.1}, 1e-14));
  CHECK(test::close(ca::quantile(y, 0.3, {-1, 0}, ca::keepdims), {1, 3, 1}, {4, 1.1, 8.1}, 1e-14));
  CHECK(ca::quantile(y, {0.3, 0.5}, {0, 2}, ca::keepdims).shape() == ca::shape{2, 1, 3, 1});
  CHECK(test::equal(ca::quantile(y, {0.5}), {1}, ints{8}));
  CHECK(test::equal(ca::median(y, 1), {2, 4}, ints{13, 8, 4, 9, 8, 16, 8, 4}));
  CHECK(test::equal(ca::median(y, 1, ca::keepdims), {2, 1, 4}, ints{13, 8, 4, 9, 8, 16, 8, 4}));
  CHECK(test::equal(ca::median(y), {}, ints{8}));
  CHECK(test::close(ca::percentile(y, {25, 50, 90}), {3}, {2, 8, 15.7}, 1e-14));
  CHECK(test::close(ca::percentile(y, 90, ca::axes::all(), ca::keepdims, method::linear), {1, 1, 1}, {15.7}, 1e-14));
  CHECK(test::equal(ca::quantile(table().t() * 2, 1, 0), {2}, ints{6, 12}));
  CHECK(ca::quantile(ca::ones({0, 3}), 0.5, 1).shape() == ca::shape{0});
  CHECK(test::equal(ca::quantile(ca::full<double>({}, 5), 0.3), {}, ints{5}));
  CHECK(test::equal(ca::quantile(y, 0.3, ca::axes{}), {2, 3, 4}, test::values(y)));
}

TEST_CASE("statistics: quantiles of NaN, integers and halves") {
  const auto a = holes();
  CHECK(test::equal(ca::quantile(a, 0.5, 1), {3}, doubles{none, 5.5, none}));
  CHECK(test::equal(ca::median(a, 0), {4}, doubles{none, none, none, none}));
  CHECK(test::equal(ca::nanquantile(a, 0.5, 1), {3}, doubles{2, 5.5, none}));
  CHECK(test::equal(ca::nanmedian(a, 1, ca::keepdims), {3, 1}, doubles{2, 5.5, none}));
  CHECK(test::equal(ca::nanquantile(a, {0.25, 0.75}, 0), {2, 4}, doubles{1.75, 5, 3.75, 3.75, 3.25, 5, 5.25, 7.25}));
  CHECK(test::equal(ca::nanmedian(a), {}, ints{4}));
  CHECK(test::equal(ca::nanpercentile(a, 25), {}, doubles{2.5}));
  CHECK(test::close(ca::nanquantile(a, 0.3, 1, method::hazen), {3}, {1.4, 4.7, none}, 1e-14));
  CHECK(test::close(ca::quantile(ca::array<int>({3, 1, 2, 10}), 0.3), {}, {1.9}, 1e-14));
  CHECK(test::close(ca::nanquantile(ca::array<int>({3, 1, 2, 10}), 0.3), {}, {1.9}, 1e-14));
  CHECK(test::equal(ca::quantile(ca::array<ca::int8>({-128, 127}), 0.5), {}, doubles{-0.5}));
  CHECK(test::equal(ca::median(ca::array<bool>({true, false, true})), {}, ints{1}));
  CHECK(test::equal(ca::quantile(ca::array<ca::float16>({1, 2, 3, 10}), 0.25), {}, doubles{1.75}));
  CHECK(test::equal(ca::median(ca::array<ca::float16>({60000, 60000, 62000, 50000})), {}, ints{60000}));
  CHECK(test::equal(ca::median(ca::array<ca::float16>({-65504, 65504})), {}, ints{0}));
  static_assert(is<decltype(ca::quantile(line<int>(), 0.5)), double>);
  static_assert(is<decltype(ca::median(line<float>())), float>);
  static_assert(is<decltype(ca::nanmedian(line<ca::float16>())), ca::float16>);
}

TEST_CASE("statistics: quantiles of infinities") {
  const auto a = f64({1, 2, inf});
  CHECK(test::equal(ca::median(a), {}, ints{2}));
  CHECK(test::equal(ca::nanmedian(a), {}, ints{2}));
  for (const auto m : {method::lower, method::higher, method::nearest, method::inverted_cdf}) {
    CHECK(test::equal(ca::quantile(a, 0.5, ca::axes::all(), m), {}, ints{2}));
    CHECK(test::equal(ca::quantile(f64({-inf, 1, 2}), 0, ca::axes::all(), m), {}, doubles{-inf}));
    CHECK(test::equal(ca::quantile(f64({-inf, inf}), 1, ca::axes::all(), m), {}, doubles{inf}));
  }
  CHECK(test::equal(ca::median(f64({1, 2, inf, inf})), {}, doubles{inf}));
  CHECK(test::equal(ca::median(f64({inf, inf, 1})), {}, doubles{inf}));
  CHECK(test::equal(ca::median(f64({-inf, inf})), {}, doubles{none}));
  CHECK(test::equal(ca::quantile(f64({-inf, 1, 2}), 0.25), {}, doubles{-inf}));
}

TEST_CASE("statistics: errors of quantiles") {
  const auto a = table(), nothing = f64({});
  const auto says = [](const auto& f) { return test::thrown<ca::value_error>(f); };
  CHECK(says([&] { ca::quantile(a, 1.5); }) == "quantile: 1.5 is not in [0, 1]");
  CHECK(says([&] { ca::quantile(a, {0.5, -0.25}, 0); }) == "quantile: -0.25 is not in [0, 1]");
  CHECK(says([&] { ca::nanquantile(a, none); }) == "nanquantile: nan is not in [0, 1]");
  CHECK(says([&] { ca::percentile(a, 101); }) == "percentile: 101 is not in [0, 100]");
  CHECK(says([&] { ca::nanpercentile(a, -1, 0); }) == "nanpercentile: -1 is not in [0, 100]");
  CHECK(says([&] { ca::quantile(nothing, 0.5); }) == "quantile: no elements along the reduced axes of shape (0,)");
  CHECK(says([&] { ca::median(nothing); }) == "median: no elements along the reduced axes of shape (0,)");
  CHECK(says([&] { ca::quantile(a, std::span<const double>(), 0); }) == "quantile: no quantiles are asked for");
  CHECK(test::thrown<ca::index_error>([&] { ca::quantile(a, 0.5, 2); }) ==
        "quantile: axis 2 is out of bounds for an array of 2 axes");
  CHECK(test::thrown<ca::index_error>([&] { ca::nanmedian(a, 2); }) ==
        "nanmedian: axis 2 is out of bounds for an array of 2 axes");
}

TEST_CASE("statistics: differences") {
  CHECK(test::equal(ca::diff(ca::array<int>({1, 4, 9, 16}), 2), {2}, ints{2, 2}));
  CHECK(test::equal(ca::diff(table(), 1, 0), {1, 3}, ints{3, 3, 3}));
  CHECK(test::equal(ca::diff(table().t()), {3, 1}, ints{3, 3, 3}));
  CHECK(test::equal(ca::diff(table(), 0), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::diff(ca::array<ca::uint8>({1, 0, 3})), {2}, ints{255, 3}));
  CHECK(test::equal(ca::diff(ca::array<bool>({true, false, false})), {2}, ints{1, 0}));
  CHECK(ca::diff(f64({1, 2}), 3).shape() == ca::shape{0});
  CHECK(ca::diff(ca::ones({2, 0})).shape() == ca::shape{2, 0});
  CHECK(test::equal(ca::ediff1d(table() * 2), {5}, ints{2, 2, 2, 2, 2}));
  CHECK(ca::ediff1d(f64({})).shape() == ca::shape{0});
  CHECK(test::thrown<ca::value_error>([&] { ca::diff(table(), -1); }) == "diff: -1 times");
  CHECK(test::thrown<ca::index_error>([&] { ca::diff(table(), 1, 2); }) ==
        "diff: axis 2 is out of bounds for an array of 2 axes");
  CHECK_THROWS_AS(ca::diff(ca::full<double>({}, 1)), ca::index_error);
  static_assert(is<decltype(ca::diff(line<bool>())), bool>);
  static_assert(is<decltype(ca::diff(line<ca::uint8>())), ca::uint8>);
}

TEST_CASE("statistics: gradient") {
  const auto y = f64({1, 4, 9, 16, 30}), x = f64({0, 1, 1.5, 3.5, 4});
  CHECK(test::close(ca::gradient(y), {5}, {3, 4, 6, 10.5, 14}, 1e-15));
  CHECK(test::close(ca::gradient(y, 0.5), {5}, {6, 8, 12, 21, 28}, 1e-15));
  CHECK(test::close(ca::gradient(y, x), {5}, {3, 7.666666666666667, 8.7, 23.1, 28}, 1e-14));
  CHECK(test::close(ca::gradient(y, 1, {.edge_order = 2}), {5}, {2, 4, 6, 10.5, 17.5}, 1e-15));
  CHECK(test::close(ca::gradient(y, 0.5, {.edge_order = 2}), {5}, {4, 8, 12, 21, 35}, 1e-15));
  CHECK(test::close(ca::gradient(y, x, {.edge_order = 2}), {5},
                    {-1.666666666666666, 7.666666666666667, 8.7, 23.1, 32.9}, 1e-14));
  CHECK(test::equal(ca::gradient(table(), 1, {.axis = 1}), {2, 3}, ints{1, 1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::gradient(table(), 2), {2, 3}, doubles{1.5, 1.5, 1.5, 1.5, 1.5, 1.5}));
  const auto w = ca::array<double>({{1, 2, 4, 8}, {1, 0, 5, 6}});
  CHECK(test::close(ca::gradient(w, ca::array<int>({0, 1, 3, 4}), {.axis = -1, .edge_order = 2}), {2, 4},
                    {1, 1, 3, 5, -2.1666666666666665, 0.16666666666666663, 1.5, 0.5}, 1e-14));
  CHECK(test::close(ca::gradient(w, f64({2, 0.5})), {2, 4}, {0, 4 / 3., -2 / 3., 4 / 3., 0, 4 / 3., -2 / 3., 4 / 3.},
                    1e-14));
  CHECK(test::equal(ca::gradient(ca::array<int>({1, 3, 8})), {3}, doubles{2, 3.5, 5}));
  static_assert(is<decltype(ca::gradient(line<int>())), double>);
  static_assert(is<decltype(ca::gradient(line<float>())), float>);
  static_assert(is<decltype(ca::gradient(line<float>(), line<double>())), double>);
}

TEST_CASE("statistics: gradient beside NaN and infinities") {
  CHECK(test::equal(ca::gradient(f64({1, 2, 4, none, 8, 9})), {6}, doubles{1, 1.5, none, 2, none, 1}));
  CHECK(test::equal(ca::gradient(f64({1, 2, inf, 4, 8, 9})), {6}, doubles{1, inf, 1, -inf, 2.5, 1}));
  CHECK(test::equal(ca::gradient(f64({1, 2, inf, 4, 8, 9}), 1, {.edge_order = 2}), {6},
                    doubles{-inf, inf, 1, -inf, 2.5, -0.5}));
  CHECK(
      test::equal(ca::gradient(f64({1, 2, 4, none, 8}), f64({0, 2, 4, 6, 8})), {5}, doubles{0.5, 0.75, none, 1, none}));
}

TEST_CASE("statistics: errors of gradient") {
  const auto one = f64({1}), two = f64({1, 2});
  const auto says = [](const auto& f) { return test::thrown<ca::value_error>(f); };
  CHECK(says([&] { ca::gradient(one); }) == "gradient: an axis of 1 elements: 2 at least are wanted");
  CHECK(says([&] { ca::gradient(two, 1, {.edge_order = 2}); }) ==
        "gradient: an axis of 2 elements: 3 at least are wanted");
  CHECK(says([&] { ca::gradient(two, 1, {.edge_order = 3}); }) == "gradient: an edge order of 3: 1 or 2");
  CHECK(test::thrown<ca::shape_error>([&] { ca::gradient(two, one); }) ==
        "gradient: coordinates of shape (1,) along axis 0 of shape (2,)");
  CHECK(test::thrown<ca::index_error>([&] { ca::gradient(two, 1, {.axis = 1}); }) ==
        "gradient: axis 1 is out of bounds for an array of 1 axes");
}

TEST_CASE("statistics: trapezoid") {
  const auto y = f64({1, 4, 9, 16, 30}), x = f64({0, 1, 1.5, 3.5, 4});
  CHECK(test::equal(ca::trapezoid(y), {}, doubles{44.5}));
  CHECK(test::equal(ca::trapezoid(y, 0.5), {}, doubles{22.25}));
  CHECK(test::equal(ca::trapezoid(y, x), {}, doubles{42.25}));
  CHECK(test::equal(ca::trapezoid(table(), 1, 0), {3}, doubles{2.5, 3.5, 4.5}));
  CHECK(test::equal(ca::trapezoid(table(), f64({0, 1, 4})), {2}, ints{9, 21}));
  CHECK(test::equal(ca::trapezoid(table(), f64({0, 3}), 0), {3}, doubles{7.5, 10.5, 13.5}));
  CHECK(test::equal(ca::trapezoid(f64({3})), {}, ints{0}));
  CHECK(test::equal(ca::trapezoid(f64({})), {}, ints{0}));
  CHECK(test::equal(ca::trapezoid(ca::array<int>({1, 2})), {}, doubles{1.5}));
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::trapezoid(table(), f64({1, 2}));
        }) == "trapezoid: coordinates of shape (2,) along axis 1 of shape (2, 3)");
  CHECK_THROWS_AS(ca::trapezoid(y, 1, 1), ca::index_error);
  static_assert(is<decltype(ca::trapezoid(line<int>())), double>);
  static_assert(is<decltype(ca::trapezoid(line<float>())), float>);
}

TEST_CASE("statistics: sums and products with what they begin with") {
  CHECK(test::equal(ca::cumulative_sum(ca::array<int>({1, 2, 3}), 0, true), {4}, ints{0, 1, 3, 6}));
  CHECK(test::equal(ca::cumulative_sum(ca::array<int>({1, 2, 3}), 0), {3}, ints{1, 3, 6}));
  CHECK(test::equal(ca::cumulative_prod(table(), -1, true), {2, 4}, ints{1, 1, 2, 6, 1, 4, 20, 120}));
  CHECK(test::equal(ca::cumulative_sum(table(), 0, true), {3, 3}, ints{0, 0, 0, 1, 2, 3, 5, 7, 9}));
  CHECK(test::equal(ca::cumulative_prod(f64({}), 0, true), {1}, ints{1}));
  CHECK_THROWS_AS(ca::cumulative_sum(table(), 2, true), ca::index_error);
  static_assert(is<decltype(ca::cumulative_sum(line<int>(), 0, true)), ca::int64>);
  static_assert(is<decltype(ca::cumulative_prod(line<float>(), 0)), float>);
}

TEST_CASE("statistics: bincount") {
  CHECK(test::equal(ca::bincount(ca::array<int>({3, 1, 1, 7})), {8}, ints{0, 2, 0, 1, 0, 0, 0, 1}));
  CHECK(test::equal(ca::bincount(ca::array<int>({3}), 6), {6}, ints{0, 0, 0, 1, 0, 0}));
  CHECK(test::equal(ca::bincount(ca::array<ca::uint8>({2, 0}), 1), {3}, ints{1, 0, 1}));
  CHECK(test::equal(ca::bincount(ca::zeros<int>({0}), 2), {2}, ints{0, 0}));
  CHECK(ca::bincount(ca::zeros<int>({0})).shape() == ca::shape{0});
  CHECK(test::equal(ca::bincount(ca::array<int>({1, 1, 0}), f64({0.5, 1, 2}), 4), {4}, doubles{2, 1.5, 0, 0}));
  CHECK(test::equal(ca::bincount(ca::array<int>({1, 1, 0}), ca::array<int>({5, 6, 7})), {2}, ints{7, 11}));
  CHECK(test::equal(ca::bincount(ca::zeros<int>({0}), f64({}), 2), {2}, ints{0, 0}));
  CHECK(test::thrown<ca::value_error>([&] { ca::bincount(ca::array<int>({1, -2})); }) == "bincount: -2 is negative");
  CHECK(test::thrown<ca::value_error>([&] { ca::bincount(ca::array<int>({1}), -1); }) ==
        "bincount: -1 counts at least");
  CHECK_THROWS_AS(ca::bincount(ca::zeros<int>({2, 2})), ca::shape_error);
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::bincount(ca::array<int>({1}), f64({1, 2}));
        }) == "bincount: weights of shape (2,) for integers of shape (1,)");
  static_assert(is<decltype(ca::bincount(line<int>())), ca::int64>);
  static_assert(is<decltype(ca::bincount(line<int>(), line<float>())), double>);
}

namespace {
template <class H>
void check_histogram(const H& h, const ints& counts, const doubles& edges) {
  CHECK(test::equal(h.counts, {ca::int64(counts.size())}, counts));
  CHECK(test::equal(h.edges, {ca::int64(edges.size())}, edges));
}
}  // namespace

TEST_CASE("statistics: histogram in equal bins") {
  check_histogram(ca::histogram(ca::array<int>({1, 2, 1, 3, 4}), 3), {2, 1, 2}, {1, 2, 3, 4});
  check_histogram(ca::histogram(f64({0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1})), {1, 1, 2, 0, 1, 2, 1, 0, 1, 2},
                  {0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6000000000000001, 0.7000000000000001, 0.8, 0.9, 1});
  check_histogram(
      ca::histogram(f64({0.3, 0.1, 0.7, 0.2, 0.6}), 7, {.low = 0, .high = 0.7}), {0, 1, 1, 1, 0, 0, 2},
      {0, 0.09999999999999999, 0.19999999999999998, 0.3, 0.39999999999999997, 0.49999999999999994, 0.6, 0.7});
  check_histogram(ca::histogram(f64({1, 2, 5, 9}), 4, {.low = 0, .high = 8}), {1, 1, 1, 0}, {0, 2, 4, 6, 8});
  check_histogram(ca::histogram(f64({2, 2, 2}), 4), {0, 0, 3, 0}, {1.5, 1.75, 2, 2.25, 2.5});
  check_histogram(ca::histogram(f64({}), 2), {0, 0}, {0, 0.5, 1});
  check_histogram(ca::histogram(f64({}), 2, {.low = 3, .high = 5}), {0, 0}, {3, 4, 5});
  check_histogram(ca::histogram(f64({1, none, 2, 0.5}), 2, {.low = 0, .high = 2}), {1, 2}, {0, 1, 2});
  check_histogram(ca::histogram(f64({inf, 1, -inf}), 2, {.low = 0, .high = 2}), {0, 1}, {0, 1, 2});
  check_histogram(ca::histogram(ca::array<float>({1, 2, 4}), 3), {1, 1, 1}, {1, 2, 3, 4});
  check_histogram(ca::histogram(ca::array<bool>({true, false, true}), 2), {1, 2}, {0, 0.5, 1});
  check_histogram(ca::histogram(table(), 1), {6}, {1, 6});
  check_histogram(ca::histogram(ca::array<ca::float16>({1, 2, 4}), 3), {1, 1, 1}, {1, 2, 3, 4});
  const auto grid = ca::histogram(ca::arange<double>(1, 100) / 100, 33, {.low = 0, .high = 1});
  CHECK(test::equal(grid.counts, {33}, ints(33, 3)));
  static_assert(is<decltype(grid.counts), ca::int64>);
  static_assert(is<decltype(grid.edges), double>);
  static_assert(is<decltype(ca::histogram(line<float>()).edges), float>);
  static_assert(is<decltype(ca::histogram(line<int>()).edges), double>);
}

TEST_CASE("statistics: histogram between edges") {
  const auto five = ca::array<int>({1, 2, 3, 4, 5});
  check_histogram(ca::histogram(five, ca::array<int>({1, 2, 2, 4, 5})), {1, 0, 2, 2}, {1, 2, 2, 4, 5});
  check_histogram(ca::histogram(five - 1, f64({1, 3})), {3}, {1, 3});
  check_histogram(ca::histogram(ca::array<int>({1, 2, 2, 2}), ca::array<int>({1, 2, 2})), {1, 3}, {1, 2, 2});
  check_histogram(ca::histogram(ca::array<float>({1, 2, 4}), f64({1, 2, 4})), {1, 2}, {1, 2, 4});
  check_histogram(ca::histogram(f64({inf, 1, none, 3}), f64({0, 2, inf})), {1, 2}, {0, 2, inf});
  check_histogram(ca::histogram(f64({}), f64({0, 1})), {0}, {0, 1});
  check_histogram(ca::histogram(ca::array<int>({1, 2}), ca::array<ca::int8>({-100, 100})), {2}, {-100, 100});
  check_histogram(ca::histogram(f64({0.5, 1.5}), ca::array<int>({0, 1, 2})), {1, 1}, {0, 1, 2});
  const ca::uint64 top = 18446744073709551615U;
  const auto wide = ca::array<ca::uint64>({0, 9223372036854775808U, top});
  CHECK(test::equal(ca::histogram(wide, wide).counts, {2}, ints{1, 2}));
  CHECK(test::equal(ca::histogram(wide, wide).edges, {3}, test::values(wide)));
  CHECK(test::equal(ca::histogram(wide, ca::array<ca::uint64>({1, top - 1})).counts, {1}, ints{1}));
}

TEST_CASE("statistics: errors of histogram") {
  const auto a = f64({1, 2});
  const auto says = [](const auto& f) { return test::thrown<ca::value_error>(f); };
  CHECK(says([&] { ca::histogram(a, 0); }) == "histogram: 0 bins");
  CHECK(says([&] { ca::histogram(a, -1); }) == "histogram: -1 bins");
  CHECK(says([&] { ca::histogram(a, 2, {.low = 2, .high = 1}); }) == "histogram: a range from 2 to 1");
  CHECK(says([&] { ca::histogram(a, 2, {.low = 2, .high = inf}); }) ==
        "histogram: a range from 2 to inf is not finite");
  CHECK(says([&] { ca::histogram(f64({1, none})); }) == "histogram: a range from nan to nan is not finite");
  CHECK(says([&] { ca::histogram(f64({1, inf})); }) == "histogram: a range from 1 to inf is not finite");
  CHECK(says([&] { ca::histogram(a, f64({3, 1})); }) == "histogram: the edges do not ascend");
  CHECK(says([&] { ca::histogram(a, ca::array<ca::uint8>({3, 1})); }) == "histogram: the edges do not ascend");
  CHECK(says([&] { ca::histogram(a, ca::array<ca::uint64>({3, 1})); }) == "histogram: the edges do not ascend");
  CHECK(says([&] { ca::histogram(a, f64({3})); }) == "histogram: 1 edges: 2 at least are wanted");
  CHECK_THROWS_AS(ca::histogram(a, table()), ca::shape_error);
  // bins that float64 cannot tell apart, or whose width is infinite
  CHECK_THROWS_AS(ca::histogram(f64({1e20, 1e20}), 3), ca::value_error);
  CHECK_THROWS_AS(ca::histogram(f64({1e308, -1e308}), 3), ca::value_error);
}

TEST_CASE("statistics: histogram2d") {
  const auto x = f64({0, 1, 2, 3, 3}), y = f64({1, 1, 2, 2, 5});
  const auto h = ca::histogram2d(x, y, 2);
  CHECK(test::equal(h.counts, {2, 2}, ints{2, 0, 2, 1}));
  CHECK(test::equal(h.x_edges, {3}, doubles{0, 1.5, 3}));
  CHECK(test::equal(h.y_edges, {3}, ints{1, 3, 5}));
  const auto [counts, at_x, at_y] = ca::histogram2d(x, y, 3, {.low = 0, .high = 2}, {.low = 1, .high = 4});
  CHECK(test::equal(counts, {3, 3}, ints{1, 0, 0, 1, 0, 0, 0, 1, 0}));
  CHECK(test::close(at_x, {4}, {0, 2 / 3., 4 / 3., 2}, 1e-15));
  CHECK(test::equal(at_y, {4}, ints{1, 2, 3, 4}));
  const auto none_there = ca::histogram2d(f64({}), f64({}), 2);
  CHECK(test::equal(none_there.counts, {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(none_there.y_edges, {3}, doubles{0, 0.5, 1}));
  const auto odd =
      ca::histogram2d(f64({0, none, 1}), f64({none, 0, 1}), 1, {.low = 0, .high = 1}, {.low = 0, .high = 1});
  CHECK(test::equal(odd.counts, {1, 1}, ints{1}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::histogram2d(x, f64({1})); }) ==
        "histogram2d: arrays of shapes (5,) and (1,)");
  CHECK_THROWS_AS(ca::histogram2d(x, y, 0), ca::value_error);
  static_assert(is<decltype(ca::histogram2d(line<float>(), line<int>()).y_edges), double>);
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
