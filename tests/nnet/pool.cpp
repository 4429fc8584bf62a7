// 2-d pooling and its gradients: examples on paper, the definition in loops, ties, NaN and infinities, slopes.
// SPDX-License-Identifier: MIT
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
         std::to_string(z.stride.h) + ' ' + std::to_string(z.stride.w) + ", padding " + std::to_string(z.padding.h) +
         ' ' + std::to_string(z.padding.w);
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
  for (const geometry& z : cases) {
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
    CHECK(test::close(given, images(z), test::slope(pooled, x, 1e-6), 1e-7));
  }
}

TEST_CASE("nnet: avg_pool2d is its definition") {
  for (const bool count_include_pad : {false, true})
    for (const geometry& z : cases) {
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
      CHECK(test::close(given, images(z), test::slope(pooled, x), 1e-8));
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

TEST_CASE("nnet: pooling without padding hands out a new array, and leaves its operand alone") {
  const auto x = test::wave_of({1, 1, 2, 2});
  const auto before = test::values(x);
  doubles y = nnet::max_pool2d(x, {.window = 1});
  CHECK(test::values(y) == before);
  y(_) = 0;
  CHECK(test::values(x) == before);
}
