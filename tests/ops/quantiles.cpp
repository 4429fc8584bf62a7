// Quantiles, percentiles and medians by every method: as NumPy.
// SPDX-License-Identifier: MIT
#include "samples.hpp"

using namespace samples;

namespace {

using method = ca::quantile_method;

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
