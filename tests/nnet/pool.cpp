// 2-d pooling and its gradients: examples on paper, the definition in loops, ties, NaN and infinities, slopes.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "reference.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using test::doubles;
using test::geometry;
using floats = std::vector<float>;

constexpr float nan_ = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

ca::shape images(const geometry& z) { return {z.n, z.c, z.h, z.w}; }
ca::shape results(const geometry& z) { return {z.n, z.c, z.p(), z.q()}; }
nnet::pool_options options(const geometry& z, bool count_include_pad = false) {
  return {{z.r, z.s}, z.stride, z.padding, count_include_pad};
}
std::string name(const geometry& z) {
  return images(z).str() + ", window " + std::to_string(z.r) + ' ' + std::to_string(z.s) + ", stride " +
         std::to_string(z.stride[0]) + ' ' + std::to_string(z.stride[1]) + ", padding " + std::to_string(z.padding[0]) +
         ' ' + std::to_string(z.padding[1]);
}

const std::vector<geometry> cases = {
    {1, 1, 1, 1, 1, 1, 1, 0},            // one pixel
    {1, 1, 1, 1, 2, 2, 1, 1},            // one pixel in a border
    {2, 3, 4, 4, 2, 2, 2, 0},            // side by side
    {1, 2, 5, 5, 2, 2, 2, 0},            // a last row and column that no window reads
    {1, 2, 5, 5, 3, 3, 1, 0},            // overlapping
    {1, 2, 5, 6, 3, 3, 2, 1},            // overlapping, with a border
    {1, 1, 6, 5, 2, 3, {1, 2}, {1, 0}},  // different along the axes
    {1, 1, 5, 7, 2, 2, 3, 0},            // apart
    {1, 1, 4, 4, 4, 4, 4, 2},            // a border of half a window
    {1, 2, 6, 6, 3, 2, 2, {1, 0}},       // side by side along one axis, overlapping along the other
    {1, 2, 7, 7, 2, 2, {3, 2}, {1, 0}},  // side by side along one axis, apart along the other
};

/// Longer than packs and lines of them; too many pixels for slopes.
const std::vector<geometry> large_cases = {
    {3, 2, 40, 37, 2, 2, 2, 0},            // side by side, the last column cut off
    {2, 3, 31, 75, 3, 2, {3, 2}, {1, 0}},  // side by side, under a border
    {2, 3, 30, 75, 3, 2, {3, 2}, {1, 0}},  // as many rows as strides of windows have, a border on top
    {2, 3, 23, 70, 3, 3, 2, 1},            // overlapping
    {1, 2, 37, 41, 3, 5, 1, {1, 2}},       // every pixel begins a window
    {2, 1, 19, 200, 2, 3, 3, 0},           // apart
    {1, 1, 3, 5001, 3, 4, 4, 0},           // one long row
    {2, 2, 64, 33, 33, 33, {31, 1}, 0},    // as wide as the image
    {80, 9, 14, 14, 2, 2, 2, 0},           // for several threads
    {80, 9, 15, 15, 3, 3, 2, 1},           // these as well
    {3, 5, 33, 70, 2, 2, {3, 2}, 0},       // apart, up to the bottom
    {5, 3, 9, 46, 1, 2, {1, 2}, 0},        // of one row
};

/// The mean of each window and, for gradients, what it divides by.
std::vector<double> divisors(const geometry& z, bool count_include_pad) {
  std::vector<double> d(std::size_t(z.p() * z.q()));
  z.each([&](int64 i, int64 j, int64, int64, int64, int64) { d[std::size_t(i * z.q() + j)] += 1; }, count_include_pad);
  return d;
}

}  // namespace

TEST_CASE("nnet: pooling on paper") {
  const auto x = ca::array<float>({{{{1, 2, 3, 4}, {8, 7, 6, 5}, {9, 10, 11, 12}, {16, 15, 14, 13}}}});
  CHECK(test::equal(nnet::max_pool2d(x), {1, 1, 2, 2}, floats{8, 6, 16, 14}));
  CHECK(test::equal(nnet::avg_pool2d(x), {1, 1, 2, 2}, floats{4.5, 4.5, 12.5, 12.5}));
  CHECK(test::equal(nnet::max_pool2d(x, {.window = {1, 4}}), {1, 1, 4, 1}, floats{4, 8, 12, 16}));
  CHECK(test::equal(nnet::max_pool2d(x, {.window = 3, .stride = 1}), {1, 1, 2, 2}, floats{11, 12, 16, 15}));
  CHECK(test::equal(nnet::max_pool2d(x, {.window = 2, .stride = 2, .padding = 1}), {1, 1, 3, 3},
                    floats{1, 3, 4, 9, 11, 12, 16, 15, 13}));
  CHECK(test::equal(nnet::avg_pool2d(x, {.window = 2, .stride = 2, .padding = 1}), {1, 1, 3, 3},
                    floats{1, 2.5, 4, 8.5, 8.5, 8.5, 16, 14.5, 13}));
  CHECK(test::equal(nnet::avg_pool2d(x, {.window = 2, .stride = 2, .padding = 1, .count_include_pad = true}),
                    {1, 1, 3, 3}, floats{0.25, 1.25, 1, 4.25, 8.5, 4.25, 4, 7.25, 3.25}));
  CHECK(test::equal(nnet::avg_pool2d(x, {.count_include_pad = true}), {1, 1, 2, 2}, floats{4.5, 4.5, 12.5, 12.5}));
}

TEST_CASE("nnet: max_pool2d is its definition") {
  const test::threads t(4);
  const auto check = [](const geometry& z, bool slope) {
    INFO(name(z));
    const auto x = test::wave_of(images(z)), dy = test::wave_of(results(z), 2);
    const auto hx = test::values(x), hy = test::values(dy);
    const std::size_t n = hy.size();
    std::vector<double> y(n, -1e300), dx(hx.size());
    std::vector<std::size_t> from(n);
    for (int64 image = 0; image < z.n; ++image)
      for (int64 channel = 0; channel < z.c; ++channel)
        z.each([&](int64 i, int64 j, int64, int64, int64 row, int64 column) {
          const std::size_t to = z.result(z.c, image, channel, i, j), pixel = z.pixel(image, channel, row, column);
          if (hx[pixel] > y[to]) y[to] = hx[pixel], from[to] = pixel;
        });
    for (std::size_t i = 0; i < n; ++i) dx[from[i]] += hy[i];
    CHECK(test::equal(nnet::max_pool2d(x, options(z)), results(z), y));
    const auto given = nnet::max_pool2d_backward(dy, x, options(z));
    CHECK(test::close(given, images(z), dx, 1e-14));
    const auto pooled = [&](const doubles& v) { return ca::sum(nnet::max_pool2d(v, options(z)) * dy).item(); };
    if (slope) CHECK(test::close(given, images(z), test::slope(pooled, x, 1e-6), 1e-7));
  };
  for (const geometry& z : cases) check(z, true);
  for (const geometry& z : large_cases) check(z, false);
}

TEST_CASE("nnet: avg_pool2d is its definition") {
  const test::threads t(4);
  const auto check = [](const geometry& z, bool count_include_pad, bool slope) {
    INFO(name(z) << ", count_include_pad " << count_include_pad);
    const auto o = options(z, count_include_pad);
    const auto x = test::wave_of(images(z)), dy = test::wave_of(results(z), 2);
    const auto hx = test::values(x), hy = test::values(dy), d = divisors(z, count_include_pad);
    std::vector<double> y(hy.size()), dx(hx.size());
    for (int64 image = 0; image < z.n; ++image)
      for (int64 channel = 0; channel < z.c; ++channel)
        z.each([&](int64 i, int64 j, int64, int64, int64 row, int64 column) {
          const std::size_t to = z.result(z.c, image, channel, i, j), pixel = z.pixel(image, channel, row, column);
          const double by = d[std::size_t(i * z.q() + j)];
          y[to] += hx[pixel] / by;
          dx[pixel] += hy[to] / by;
        });
    CHECK(test::close(nnet::avg_pool2d(x, o), results(z), y, 1e-14));
    const auto given = nnet::avg_pool2d_backward(dy, images(z), o);
    CHECK(test::close(given, images(z), dx, 1e-14));
    const auto pooled = [&](const doubles& v) { return ca::sum(nnet::avg_pool2d(v, o) * dy).item(); };
    if (slope) CHECK(test::close(given, images(z), test::slope(pooled, x), 1e-8));
  };
  for (const bool count_include_pad : {false, true}) {
    for (const geometry& z : cases) check(z, count_include_pad, true);
    for (const geometry& z : large_cases) check(z, count_include_pad, false);
  }
}

TEST_CASE("nnet: of equal pixels the first has the gradient") {
  const auto dy = ca::array<float>({{{{1, 10}, {100, 1000}}}});
  CHECK(test::equal(nnet::max_pool2d_backward(dy, ca::zeros({1, 1, 4, 4})), {1, 1, 4, 4},
                    floats{1, 0, 10, 0, 0, 0, 0, 0, 100, 0, 1000, 0, 0, 0, 0, 0}));
  const auto x = ca::array<float>({{{{1, 3, 2}, {0, 3, 3}, {3, 1, 1}}}});
  CHECK(test::equal(nnet::max_pool2d_backward(dy, x, {.window = 2, .stride = 1}), {1, 1, 3, 3},
                    floats{0, 11, 0, 0, 1100, 0, 0, 0, 0}));
}

TEST_CASE("nnet: max_pool2d hands on NaN, and gives it the gradient") {
  const auto x = ca::array<float>({{{{nan_, 5, 1, 2}, {1, 2, nan_, nan_}}}});
  CHECK(test::equal(nnet::max_pool2d(x), {1, 1, 1, 2}, floats{nan_, nan_}));
  CHECK(test::equal(nnet::max_pool2d_backward(ca::array<float>({{{{3, 4}}}}), x), {1, 1, 2, 4},
                    floats{3, 0, 0, 0, 0, 0, 4, 0}));
}

TEST_CASE("nnet: where windows share NaN or the largest pixel, the first of each window has the gradient") {
  for (const float high : {nan_, inf, 7.f}) {  // in columns 2 and 20, and twice in row 1
    floats pixels(3 * 40, 1), expected(pixels.size());
    for (const int at : {2, 20, 40 + 5, 40 + 6}) pixels[std::size_t(at)] = high;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 39; ++j) {
        int first = i * 40 + j;
        for (const int at : {i * 40 + j + 41, i * 40 + j + 40, i * 40 + j + 1, i * 40 + j})
          if (!(pixels[std::size_t(at)] == 1)) first = at;
        expected[std::size_t(first)] += float(1 + i + j);
      }
    const auto x = ca::reshape(ca::array(pixels), {1, 1, 3, 40});
    const auto dy = 1 + ca::reshape(ca::arange(2.f), {1, 1, 2, 1}) + ca::arange(39.f);
    CHECK(test::equal(nnet::max_pool2d_backward(dy, x, {.window = 2, .stride = 1}), {1, 1, 3, 40}, expected));
  }
}

TEST_CASE("nnet: in packs of windows side by side, NaN and the first of equal pixels win too") {
  for (const geometry& z : {geometry{3, 2, 6, 46, 2, 2, 2, 0}, geometry{2, 2, 6, 46, 2, 2, 2, {1, 0}},
                            geometry{3, 2, 6, 46, 1, 2, {1, 2}, 0}, geometry{3, 2, 6, 7, 2, 2, {3, 2}, 0}}) {
    INFO(name(z));
    floats pixels(std::size_t(z.n * z.c * z.h * z.w)), largest(std::size_t(z.n * z.c * z.p() * z.q()), -inf),
        gradient(largest.size()), expected(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = i * i % 11 == 5 ? nan_ : float(i * 7 % 13 % 4);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = float(i + 1);
    std::vector<std::size_t> first(largest.size());
    for (int64 image = 0; image < z.n; ++image)
      for (int64 channel = 0; channel < z.c; ++channel)
        z.each([&](int64 i, int64 j, int64, int64, int64 row, int64 column) {
          const std::size_t to = z.result(z.c, image, channel, i, j), at = z.pixel(image, channel, row, column);
          if (pixels[at] > largest[to] || (std::isnan(pixels[at]) && !std::isnan(largest[to])))
            largest[to] = pixels[at], first[to] = at;
        });
    for (std::size_t i = 0; i < first.size(); ++i) expected[first[i]] += gradient[i];
    const auto x = ca::reshape(ca::array(pixels), images(z)), dy = ca::reshape(ca::array(gradient), results(z));
    CHECK(test::equal(nnet::max_pool2d(x, options(z)), results(z), largest));
    CHECK(test::equal(nnet::max_pool2d_backward(dy, x, options(z)), images(z), expected));
  }
}

TEST_CASE("nnet: pooling of other dtypes") {
  const doubles whole = ca::floor(test::wave_of({2, 3, 21, 39}) * 20 + 45);
  const auto check = [&]<class T>(T, double step) {  // integers from 0 to 127; `step` of the dtype there
    for (const nnet::pool_options& o :
         {nnet::pool_options{.window = 3, .stride = 2, .padding = 1}, nnet::pool_options{.window = 2}}) {
      const doubles y = nnet::max_pool2d(whole, o), dy = ca::floor(test::wave_of(y.shape()) * 5 + 12);
      const auto x = ca::eval(ca::astype<T>(whole)), g = ca::eval(ca::astype<T>(dy));
      CHECK(test::close(nnet::max_pool2d(x, o), y.shape(), test::values(y), 0));
      CHECK(test::close(nnet::max_pool2d_backward(g, x, o), whole.shape(),
                        test::values(nnet::max_pool2d_backward(dy, whole, o)), 0));
      const doubles mean = ca::astype<double>(nnet::avg_pool2d(x, o)), exact = nnet::avg_pool2d(whole, o);
      CHECK(ca::max(ca::abs(mean - exact)).item() <= step);
    }
  };
  check(float(), 1e-5);
  check(ca::float16(), 0.5 / 16);
  check(ca::bfloat16(), 0.5 / 2);
  check(std::int32_t(), 1);
  check(std::int8_t(), 1);
  check(std::uint8_t(), 1);
  CHECK(test::equal(nnet::avg_pool2d(ca::array<int>({{{{1, 2}, {3, 5}}}})), {1, 1, 1, 1}, floats{2}));
}

TEST_CASE("nnet: max_pool2d of infinities") {
  const auto x = ca::array<float>({{{{-inf, -inf, inf, 2}, {-inf, -7, 1, inf}}}});
  CHECK(test::equal(nnet::max_pool2d(x), {1, 1, 1, 2}, floats{-7, inf}));
  CHECK(test::equal(nnet::max_pool2d_backward(ca::array<float>({{{{3, 4}}}}), x), {1, 1, 2, 4},
                    floats{0, 0, 4, 0, 0, 3, 0, 0}));
  const auto low = ca::full({1, 1, 2, 2}, -inf);
  CHECK(test::equal(nnet::max_pool2d(low), {1, 1, 1, 1}, floats{-inf}));
  CHECK(test::equal(nnet::max_pool2d_backward(ca::ones({1, 1, 1, 1}), low), {1, 1, 2, 2}, floats{1, 0, 0, 0}));
}

TEST_CASE("nnet: the padding of max_pool2d never has the gradient") {
  // -inf ties with the padding: the first pixel of the image counts
  const auto low = ca::full({1, 1, 2, 2}, -inf);
  CHECK(test::equal(nnet::max_pool2d(low, {.padding = 1}), {1, 1, 2, 2}, floats(4, -inf)));
  CHECK(
      test::equal(nnet::max_pool2d_backward(ca::ones({1, 1, 2, 2}), low, {.padding = 1}), {1, 1, 2, 2}, floats(4, 1)));
}

TEST_CASE("nnet: pooling of negative pixels, padding is not 0") {
  const auto x = ca::full({1, 1, 2, 2}, -3.f);
  CHECK(test::equal(nnet::max_pool2d(x, {.padding = 1}), {1, 1, 2, 2}, floats(4, -3)));
  CHECK(test::equal(nnet::avg_pool2d(x, {.padding = 1}), {1, 1, 2, 2}, floats(4, -3)));
}

TEST_CASE("nnet: pooling of views, expressions and nothing") {
  const auto wide = test::wave_of({2, 6, 4, 3});
  const doubles x = ca::transpose(wide, {0, 3, 1, 2})(_, _, slice(none, none, -1)), xc = x.copy();
  const nnet::pool_options o{.window = 3, .stride = 2, .padding = 1};
  CHECK(test::equal(nnet::max_pool2d(x, o), {2, 3, 3, 2}, test::values(nnet::max_pool2d(xc, o))));
  CHECK(test::close(nnet::avg_pool2d(x, o), {2, 3, 3, 2}, test::values(nnet::avg_pool2d(xc, o)), 1e-14));
  CHECK(test::equal(nnet::max_pool2d(xc + 0, o), {2, 3, 3, 2}, test::values(nnet::max_pool2d(xc, o))));
  const doubles dy = test::wave_of({2, 3, 2, 3})(_, _, slice(none, none, -1)), turned = ca::swapaxes(dy, 2, 3),
                dyc = turned.copy();
  CHECK(test::equal(nnet::max_pool2d_backward(turned, x, o), x.shape(),
                    test::values(nnet::max_pool2d_backward(dyc, xc, o))));
  CHECK(test::close(nnet::avg_pool2d_backward(turned, x.shape(), o), x.shape(),
                    test::values(nnet::avg_pool2d_backward(dyc, x.shape(), o)), 1e-14));
  CHECK(nnet::max_pool2d(ca::zeros({0, 3, 4, 4})).shape() == ca::shape{0, 3, 2, 2});
  CHECK(nnet::avg_pool2d(ca::zeros({2, 0, 4, 4})).shape() == ca::shape{2, 0, 2, 2});
  CHECK(nnet::max_pool2d_backward(ca::zeros({0, 3, 2, 2}), ca::zeros({0, 3, 4, 4})).shape() == ca::shape{0, 3, 4, 4});
  CHECK(nnet::avg_pool2d_backward(ca::zeros({0, 3, 2, 2}), {0, 3, 4, 4}).shape() == ca::shape{0, 3, 4, 4});
}

TEST_CASE("nnet: images without pixels are not pooled, however much padding they have") {
  CHECK(test::thrown<ca::shape_error>([] {
          nnet::max_pool2d(ca::zeros({1, 1, 0, 4}), {.window = 2, .padding = {1, 0}});
        }) == "nnet::max_pool2d: images of (1, 1, 0, 4) have no pixels, only padding");
  CHECK(test::thrown<ca::shape_error>([] {
          nnet::avg_pool2d_backward(ca::zeros({1, 1, 2, 1}), {1, 1, 4, 0}, {.window = 2, .padding = {0, 1}});
        }) == "nnet::avg_pool2d_backward: images of (1, 1, 4, 0) have no pixels, only padding");
}

TEST_CASE("nnet: one window, however long the stride; no images of 2^31 pixels") {
  const auto x = test::wave_of({1, 2, 3, 4});
  const nnet::pool_options far{.window = 2, .stride = int64(1) << 40}, near{.window = 2, .stride = 4};
  const doubles dy = ca::ones<double>({1, 2, 1, 1});
  CHECK(test::equal(nnet::max_pool2d(x, far), {1, 2, 1, 1}, test::values(nnet::max_pool2d(x, near))));
  CHECK(test::equal(nnet::max_pool2d_backward(dy, x, far), x.shape(),
                    test::values(nnet::max_pool2d_backward(dy, x, near))));
  CHECK(test::equal(nnet::avg_pool2d_backward(dy, x.shape(), far), x.shape(),
                    test::values(nnet::avg_pool2d_backward(dy, x.shape(), near))));
  CHECK(test::thrown<ca::value_error>([&] {
          nnet::avg_pool2d_backward(dy, {1, 2, 65534, 32768}, {.window = 2, .padding = 1});
        }) ==
        "nnet::avg_pool2d_backward: images of 65536 x 32770 pixels with their padding: at most 2147483647 can be "
        "pooled");
}

TEST_CASE("nnet: pooling without padding hands out a new array, and leaves its operand alone") {
  const auto x = test::wave_of({1, 1, 2, 2});
  const auto before = test::values(x);
  doubles y = nnet::max_pool2d(x, {.window = 1});
  CHECK(test::values(y) == before);
  y(_) = 0;
  CHECK(test::values(x) == before);
}
