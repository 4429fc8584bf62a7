// Differences, derivatives, integrals and histograms: as NumPy.
// SPDX-License-Identifier: MIT
#include "samples.hpp"

using namespace samples;

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

TEST_CASE("statistics: histograms with weights, densities, of points") {
  const auto x = f64({1, 2, 1, 3, 4}), w = f64({.5, 2, 1, 4, 3});
  CHECK(test::equal(ca::histogram(x, 3, {}, w).counts, {3}, doubles{1.5, 2, 7}));
  CHECK(test::close(ca::histogram(x, 3, {}, ca::density).counts, {3}, {0.4, 0.2, 0.4}, 1e-15));
  CHECK(test::close(ca::histogram(x, 3, {}, w, ca::density).counts, {3},
                    {0.14285714285714285, 0.19047619047619047, 0.6666666666666666}, 1e-15));
  CHECK(test::close(ca::histogram(x, f64({1, 2, 4}), ca::density).counts, {2}, {0.4, 0.3}, 1e-15));
  CHECK(test::equal(ca::histogram(x, f64({1, 2, 4}), ca::array<int>({1, 2, 3, 4, 5})).counts, {2}, ints{4, 11}));
  CHECK(test::equal(ca::histogram(f64({}), 2, {}, f64({})).counts, {2}, ints{0, 0}));
  CHECK(test::close(ca::histogram2d(x, x * x, 2, {}, {}, w, ca::density).counts, {2, 2},
                    {0.02962962962962963, 0, 0, 0.05925925925925926}, 1e-15));
  static_assert(is<decltype(ca::histogram(x, 3, {}, w).counts), double>);
  static_assert(is<decltype(ca::histogram(x, 3, {}, ca::density).counts), double>);

  const auto p = ca::astype<double>(ca::reshape(ca::arange(60), {20, 3}) * 7 % 11);
  const auto h = ca::histogramdd(p, {2, 3, 2});
  CHECK(test::equal(h.counts, {2, 3, 2}, ints{0, 2, 0, 0, 3, 3, 0, 6, 6, 0, 0, 0}));
  CHECK(test::close(h.edges.at(1), {4}, {0, 3.3333333333333335, 6.666666666666667, 10}, 1e-15));
  CHECK(test::equal(ca::histogramdd(p, 2).counts, {2, 2, 2}, ints{0, 2, 3, 3, 2, 6, 4, 0}));
  CHECK(ca::histogramdd(p).counts.shape() == ca::shape{10, 10, 10});
  const auto d = ca::histogramdd(p, 2, {{0, 5}, {}, {2, 9}}, ca::density, ca::arange(20) * 0.5);
  CHECK(test::close(d.counts, {2, 2, 2},
                    {0, 0, 0.006530612244897959, 0, 0, 0.010448979591836735, 0, 0.005877551020408164}, 1e-14));
  CHECK(test::equal(d.edges.at(0), {3}, doubles{0, 2.5, 5}));
  static_assert(is<decltype(h.counts), ca::int64>);

  const auto bytes = ca::histogram(ca::array<int>({-5, 5, 6}), ca::array<ca::int8>({-128, 0, 127}), ca::density);
  CHECK(test::close(bytes.counts, {2}, {1 / 384., 2 / 381.}, 1e-15));  // NumPy's widths wrap

  CHECK(test::thrown<ca::shape_error>([&] {
          ca::histogram(x, 3, {}, f64({1, 2}));
        }) == "histogram: weights of shape (2,) for elements of shape (5,)");
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::histogramdd(p, {2, 3});
        }) == "histogramdd: an array of shape (20, 3) for bins (2, 3)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::histogramdd(x); }) ==
        "histogramdd: an array of shape (5,) for bins (10,)");
  CHECK(test::thrown<ca::value_error>([&] { ca::histogramdd(p, 2, {{0, 1}}); }) == "histogramdd: 1 ranges for 3 axes");
  CHECK(test::thrown<ca::value_error>([&] { ca::histogramdd(p, {2, 0, 2}); }) == "histogramdd: 0 bins");
  CHECK_THROWS_AS(ca::histogramdd(ca::zeros({4, 9}), 2), ca::shape_error);
}

TEST_CASE("statistics: equal bins, beside edges and far apart") {
  // 20,000 elements on and next to the edges of 1000 bins: as a search finds them
  for (const double low : {0., -3.7, 1e6}) {
    const auto edges = ca::linspace<double>(low, low + 0.3, 1001);
    const auto x = ca::concatenate({edges, ca::eval(ca::nextafter(edges, -1e9)), ca::eval(ca::nextafter(edges, 1e9))});
    const auto h = ca::histogram(x, 1000, {.low = low, .high = low + 0.3});
    CHECK(ca::array_equal(h.counts, ca::histogram(x, h.edges).counts));
    const auto f = ca::eval(ca::astype<float>(x));
    if (low == 0)
      CHECK(ca::array_equal(ca::histogram(f, 1000).counts, ca::histogram(f, ca::histogram(f, 1000).edges).counts));
  }
  // far apart, and so near that the width has no inverse
  CHECK(test::equal(ca::histogram(f64({-8e307, 0, 8e307}), 2).counts, {2}, ints{1, 2}));
  CHECK(test::equal(ca::histogram(f64({0, 5e-324}), 1).counts, {1}, ints{2}));
}

TEST_CASE("statistics: unwrap") {
  const auto p = f64({0, 2, 5.5, -3, 9, 20, 13});
  CHECK(test::close(ca::unwrap(p), {7},
                    {0, 2, -0.7831853071795862, -3, -3.5663706143591725, -5.132741228718345, -5.849555921538759},
                    1e-14));
  CHECK(test::close(ca::unwrap(p, {.discont = 8}), {7},
                    {0, 2, 5.5, 3.2831853071795862, 2.7168146928204138, 1.1504440784612413, -5.849555921538759},
                    1e-14));
  CHECK(test::equal(ca::unwrap(p, {.period = 5}), {7}, doubles{0, 2, 0.5, 2, 4, 5, 3}));
  CHECK(test::close(ca::unwrap(ca::array<double>({{0, 3, 7}, {8, -1, 2}}), {.axis = 0}), {2, 3},
                    {0, 3, 7, 1.7168146928204138, 5.283185307179586, 8.283185307179586}, 1e-14));
  CHECK(test::equal(ca::unwrap(ca::array<int>({0, 4, 9, 2}), {.period = 6}), {4}, ints{0, -2, -3, -4}));
  CHECK(
      test::equal(ca::unwrap(f64({0, 3, 0, -3}), {.period = 6}), {4}, ints{0, 3, 0, -3}));  // half a period either way
  CHECK(ca::unwrap(f64({})).shape() == ca::shape{0});
  static_assert(is<decltype(ca::unwrap(line<float>())), float>);
  static_assert(is<decltype(ca::unwrap(line<int>())), double>);
  CHECK(test::thrown<ca::value_error>([&] { ca::unwrap(p, {.period = 0}); }) == "unwrap: a period of 0");
  CHECK_THROWS_AS(ca::unwrap(p, {.axis = 1}), ca::index_error);
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
