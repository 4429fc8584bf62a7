// 2-d convolution and its gradients: examples on paper, the definition in loops, slopes.
// SPDX-License-Identifier: MIT
#include "engine.hpp"
#include "reference.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using test::doubles;
using floats = std::vector<float>;

struct sizes : test::geometry {
  int64 k;

  ca::shape images() const { return {n, c, h, w}; }
  ca::shape filters() const { return {k, c, r, s}; }
  ca::shape results() const { return {n, k, p(), q()}; }
  nnet::conv_options options() const { return {stride, padding}; }
  std::size_t filter(int64 to, int64 from, int64 u, int64 v) const {
    return std::size_t(((to * c + from) * r + u) * s + v);
  }

  /// Calls `body(place in the result, in the images, in the filters)` for every product of the definition.
  template <class F>
  void products(const F& body) const {
    for (int64 image = 0; image < n; ++image)
      for (int64 to = 0; to < k; ++to)
        for (int64 from = 0; from < c; ++from)
          each([&](int64 i, int64 j, int64 u, int64 v, int64 y, int64 x) {
            body(result(k, image, to, i, j), pixel(image, from, y, x), filter(to, from, u, v));
          });
  }
};

std::string name(const sizes& z) {
  return z.images().str() + " with " + z.filters().str() + ", stride " + std::to_string(z.stride[0]) + ' ' +
         std::to_string(z.stride[1]) + ", padding " + std::to_string(z.padding[0]) + ' ' + std::to_string(z.padding[1]);
}

const std::vector<sizes> cases = {
    {{1, 1, 1, 1, 1, 1, 1, 0}, 1},            // one pixel
    {{2, 3, 1, 1, 3, 3, 1, 1}, 2},            // one pixel in a border
    {{2, 1, 5, 5, 3, 3, 1, 0}, 2},            //
    {{1, 2, 5, 6, 3, 2, 1, 0}, 3},            // nothing square
    {{2, 2, 5, 5, 3, 3, 1, 1}, 2},            // the same size
    {{1, 2, 7, 7, 3, 3, 2, 1}, 2},            // halved
    {{1, 1, 6, 6, 3, 3, 2, 0}, 1},            // a last row and column that no window reads
    {{2, 2, 5, 7, 2, 3, {2, 1}, {0, 2}}, 2},  // different along the axes
    {{1, 1, 4, 5, 2, 2, {3, 2}, {1, 0}}, 2},  // strides longer than the window
    {{1, 2, 3, 3, 3, 3, 1, 2}, 1},            // all of the correlation
    {{2, 3, 4, 4, 1, 1, 1, 0}, 2},            // 1 x 1 filters
    {{1, 1, 2, 3, 2, 3, 1, 0}, 4},            // a window as large as the image
    // enough for libraries and for several threads
    {{5, 7, 14, 11, 3, 5, {2, 1}, {1, 2}}, 9},  // more images than threads, no round numbers
    {{7, 17, 12, 12, 3, 3, 1, 1}, 16},
    {{1, 16, 16, 15, 5, 5, 1, 2}, 33},  // one image
    {{12, 1, 28, 28, 5, 5, 1, 2}, 8},   // one channel
    {{3, 8, 13, 13, 1, 1, 1, 0}, 64},
    {{2, 6, 17, 16, 4, 2, {3, 2}, {3, 1}}, 40},  // pixels that no window reads, much padding
    // few channels, odd numbers of filters, rows of many packs
    {{2, 3, 23, 50, 4, 5, {2, 3}, {1, 2}}, 13},
    {{3, 2, 9, 75, 3, 4, 1, {0, 3}}, 7},
    {{1, 4, 5, 3, 2, 3, 1, 1}, 27},
    {{1, 3, 240, 70, 3, 3, 1, 1}, 5},      // an image in several bands
    {{20, 1, 11, 9, 3, 3, 1, {5, 4}}, 3},  // more padding than a window
    // wide filters, by which Winograd's algorithm loses digits
    {{4, 16, 14, 14, 5, 5, 1, 2}, 16},
    {{16, 3, 20, 20, 5, 5, 1, 2}, 8},
    {{2, 4, 16, 16, 7, 7, 1, 3}, 8},
    {{2, 8, 12, 20, 1, 7, 1, {0, 3}}, 8},
};

template <class T>
constexpr double epsilon = double(std::numeric_limits<T>::epsilon());
template <>
constexpr double epsilon<ca::float16> = 0x1p-10;
template <>
constexpr double epsilon<ca::bfloat16> = 0x1p-7;

/// Sums of products, up to 16,800 of them: the error of adding up grows as the root of their number.
struct sum_of_products {
  std::vector<long double> sum, size;
  explicit sum_of_products(std::size_t n) : sum(n), size(n) {}
  void add(std::size_t to, long double product) {
    sum[to] += product;
    size[to] += std::fabs(product);
  }
  template <class T>
  bool near(const ca::ndarray<T>& x, const ca::shape& s, double ulps = 32) const {
    const auto v = test::values(ca::astype<double>(x));
    if (x.shape() != s || v.size() != sum.size()) return false;
    for (std::size_t i = 0; i < v.size(); ++i)
      if (!(std::fabs(v[i] - sum[i]) <= ulps * epsilon<T> * size[i])) return false;
    return true;
  }
};

double weighted(const doubles& y, const doubles& weights) { return ca::sum(y * weights).item(); }

}  // namespace

TEST_CASE("nnet: conv2d on paper") {
  const auto x = ca::array<float>({{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}});
  const auto w = ca::array<float>({{{{1, 0}, {0, -1}}}});  // cross-correlation: the filter is not turned
  CHECK(test::equal(nnet::conv2d(x, w), {1, 1, 2, 2}, floats{-4, -4, -4, -4}));
  const auto corner = ca::array<float>({{{{10, 1}, {0, 0}}}});
  CHECK(test::equal(nnet::conv2d(x, corner), {1, 1, 2, 2}, floats{12, 23, 45, 56}));
  CHECK(test::equal(nnet::conv2d(x, corner, {.stride = 2, .padding = 1}), {1, 1, 2, 2}, floats{0, 0, 4, 56}));
  CHECK(
      test::equal(nnet::conv2d(x, corner, {.stride = {1, 2}, .padding = {0, 1}}), {1, 1, 2, 2}, floats{1, 23, 4, 56}));
}

TEST_CASE("nnet: conv2d is its definition") {
  for (const sizes& z : cases) {
    INFO(name(z));
    const auto x = test::wave_of(z.images()), w = test::wave_of(z.filters(), 1);
    const auto hx = test::values(x), hw = test::values(w);
    sum_of_products y(std::size_t(z.results().elements()));
    z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) { y.add(to, hx[pixel] * hw[filter]); });
    CHECK(y.near(nnet::conv2d(x, w, z.options()), z.results()));
    const ca::ndarray<float> xf = ca::astype<float>(x), wf = ca::astype<float>(w);
    CHECK(y.near(nnet::conv2d(xf, wf, z.options()), z.results()));
  }
}

TEST_CASE("nnet: the gradients of conv2d are those of its definition, and its slopes", "[large]") {
  for (const sizes& z : cases) {
    INFO(name(z));
    const auto x = test::wave_of(z.images()), w = test::wave_of(z.filters(), 1), dy = test::wave_of(z.results(), 2);
    const auto hx = test::values(x), hw = test::values(w), hy = test::values(dy);
    sum_of_products dx(hx.size()), dw(hw.size());
    z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) {
      dx.add(pixel, hy[to] * hw[filter]);
      dw.add(filter, hy[to] * hx[pixel]);
    });
    const auto by_images = nnet::conv2d_backward_data(dy, w, z.images(), z.options());
    const auto by_filters = nnet::conv2d_backward_weights(x, dy, z.filters(), z.options());
    CHECK(dx.near(by_images, z.images()));
    CHECK(dw.near(by_filters, z.filters()));
    const ca::ndarray<float> xf = ca::astype<float>(x), wf = ca::astype<float>(w), dyf = ca::astype<float>(dy);
    CHECK(dx.near(nnet::conv2d_backward_data(dyf, wf, z.images(), z.options()), z.images()));
    CHECK(dw.near(nnet::conv2d_backward_weights(xf, dyf, z.filters(), z.options()), z.filters()));
    if (hx.size() + hw.size() > 60) continue;  // slopes evaluate twice for each number
    const auto along_x =
        test::slope([&](const doubles& v) { return weighted(nnet::conv2d(v, w, z.options()), dy); }, x);
    const auto along_w =
        test::slope([&](const doubles& v) { return weighted(nnet::conv2d(x, v, z.options()), dy); }, w);
    CHECK(test::close(by_images, z.images(), along_x, 1e-8));
    CHECK(test::close(by_filters, z.filters(), along_w, 1e-8));
  }
}

/// Products are added up in float32, and rounded once; without a library, partial sums of gradients are rounded, too.
template <class T>
void check_half(const sizes& z) {
  INFO(name(z) << ca::dtype_name<T>);
  const ca::ndarray<T> x = ca::astype<T>(test::wave_of(z.images())), w = ca::astype<T>(test::wave_of(z.filters(), 1)),
                       dy = ca::astype<T>(test::wave_of(z.results(), 2));
  const auto hx = test::values(ca::astype<double>(x)), hw = test::values(ca::astype<double>(w)),
             hy = test::values(ca::astype<double>(dy));
  sum_of_products y(hy.size()), dx(hx.size()), dw(hw.size());
  z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) {
    y.add(to, hx[pixel] * hw[filter]);
    dx.add(pixel, hy[to] * hw[filter]);
    dw.add(filter, hy[to] * hx[pixel]);
  });
  CHECK(y.near(nnet::conv2d(x, w, z.options()), z.results(), 0.6));
  CHECK(dx.near(nnet::conv2d_backward_data(dy, w, z.images(), z.options()), z.images(), 2));
  CHECK(dw.near(nnet::conv2d_backward_weights(x, dy, z.filters(), z.options()), z.filters(), 2));
}
TEST_CASE("nnet: conv2d and its gradients in half precision", "[large]") {
  for (const sizes& z : cases) {
    check_half<ca::float16>(z);
    check_half<ca::bfloat16>(z);
  }
}

TEST_CASE("nnet: convolutions of several shapes in turn, from where memory is not aligned") {
  for (int round = 0; round < 2; ++round)
    for (const sizes& z : {sizes{{2, 8, 6, 6, 3, 3, 1, 1}, 8}, sizes{{3, 4, 9, 7, 5, 2, {2, 1}, 1}, 6}})
      for (const int64 skip : {0, 1, 2}) {
        CAPTURE(round, skip, name(z));
        const int64 n = z.images().elements();
        const ca::ndarray<float> all = ca::astype<float>(test::wave_of({n + skip})),
                                 w = ca::astype<float>(test::wave_of(z.filters(), 1));
        const auto x = ca::reshape(all(slice(skip, n + skip)), z.images());
        const auto hx = test::values(x), hw = test::values(w);
        sum_of_products y(std::size_t(z.results().elements()));
        z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) { y.add(to, hx[pixel] * hw[filter]); });
        CHECK(y.near(nnet::conv2d(x, w, z.options()), z.results()));
      }
}

TEST_CASE("nnet: the gradients of conv2d in float32") {
  const sizes z = {{2, 2, 7, 6, 3, 3, 2, 1}, 3};
  const auto x = test::wave_of(z.images()), w = test::wave_of(z.filters(), 1), dy = test::wave_of(z.results(), 2);
  const ca::ndarray<float> xf = ca::astype<float>(x), wf = ca::astype<float>(w), yf = ca::astype<float>(dy);
  const auto dx = test::values(nnet::conv2d_backward_data(dy, w, z.images(), z.options()));
  const auto dw = test::values(nnet::conv2d_backward_weights(x, dy, z.filters(), z.options()));
  CHECK(test::close(nnet::conv2d_backward_data(yf, wf, z.images(), z.options()), z.images(), dx, 5e-6));
  CHECK(test::close(nnet::conv2d_backward_weights(xf, yf, z.filters(), z.options()), z.filters(), dw, 5e-6));
}

TEST_CASE("nnet: conv2d of operands that are not contiguous, and of expressions") {
  const nnet::conv_options o{.stride = 2, .padding = 1};
  const auto x = test::wave_of({2, 5, 6, 3}), w = test::wave_of({3, 3, 4, 2}, 1);  // channels last
  const doubles xv = ca::transpose(x, {0, 3, 1, 2}), wv = ca::transpose(w, {2, 3, 0, 1})(_, slice(none, none, -1));
  const doubles xc = xv.copy();
  doubles wc = wv.copy();
  REQUIRE(xv.shape() == ca::shape{2, 3, 5, 6});
  REQUIRE(wv.shape() == ca::shape{4, 2, 3, 3});
  const doubles two = xv(_, slice(0, 2)), two_c = two.copy();
  const auto y = nnet::conv2d(two_c, wc, o);
  const auto expected = test::values(y);
  CHECK(test::close(nnet::conv2d(two, wv, o), y.shape(), expected, 1e-13));
  CHECK(test::close(nnet::conv2d(two_c + 0, wc * 1, o), y.shape(), expected, 1e-13));
  const doubles dy = test::wave_of({4, y.shape(1), y.shape(2), y.shape(3)}, 2)(slice(none, none, 2)), dyc = dy.copy();
  REQUIRE(!dy.is_contiguous());
  CHECK(test::close(nnet::conv2d_backward_data(dy, wv, two.shape(), o), two.shape(),
                    test::values(nnet::conv2d_backward_data(dyc, wc, two.shape(), o)), 1e-13));
  CHECK(test::close(nnet::conv2d_backward_weights(two, dy, wv.shape(), o), wv.shape(),
                    test::values(nnet::conv2d_backward_weights(two_c, dyc, wv.shape(), o)), 1e-13));
}

TEST_CASE("nnet: conv2d of more images than are unfolded at once") {
  // 40 images of 64 x 64 with 5 x 5 windows in float64: 800 KB of windows each
  const auto x = test::wave_of({1, 1, 64, 64}), w = test::wave_of({2, 1, 5, 5}, 1);
  const nnet::conv_options o{.padding = 2};
  const auto one = test::values(nnet::conv2d(x, w, o));
  const auto many = test::values(nnet::conv2d(ca::broadcast_to(x, {40, 1, 64, 64}), w, o));
  REQUIRE(many.size() == 40 * one.size());
  double difference = 0;
  for (std::size_t i = 0; i < many.size(); ++i)
    difference = std::fmax(difference, std::fabs(many[i] - one[i % one.size()]));
  CHECK(difference < 1e-12);
  const auto dy = test::wave_of({1, 2, 64, 64}, 2);
  const doubles dys = ca::broadcast_to(dy, {40, 2, 64, 64});
  const doubles dw = nnet::conv2d_backward_weights(x, dy, w.shape(), o) * 40;
  CHECK(test::close(nnet::conv2d_backward_weights(ca::broadcast_to(x, {40, 1, 64, 64}), dys, w.shape(), o), w.shape(),
                    test::values(dw), 1e-11));
  const auto dx = test::values(nnet::conv2d_backward_data(dy, w, x.shape(), o));
  const auto dxs = test::values(nnet::conv2d_backward_data(dys, w, {40, 1, 64, 64}, o));
  difference = 0;
  for (std::size_t i = 0; i < dxs.size(); ++i)
    difference = std::fmax(difference, std::fabs(dxs[i] - dx[i % dx.size()]));
  CHECK(difference < 1e-12);
}

TEST_CASE("nnet: conv2d of more images than are unfolded at once, in a half type", "[large]") {
  using halves = ca::ndarray<ca::float16>;
  const halves x = ca::astype<ca::float16>(test::wave_of({1, 1, 64, 64})),
               w = ca::astype<ca::float16>(test::wave_of({2, 1, 5, 5}, 1)),
               dy = ca::astype<ca::float16>(test::wave_of({1, 2, 64, 64}, 2));
  const nnet::conv_options o{.padding = 2};
  const halves xs = ca::broadcast_to(x, {90, 1, 64, 64}), dys = ca::broadcast_to(dy, {90, 2, 64, 64});
  // libraries take other ways for other numbers of images: any of 25 numbers that are rounded may differ by a bit
  const auto alike = [](const halves& many, const halves& one) {
    const ca::ndarray<float> a = ca::astype<float>(many), b = ca::astype<float>(one);
    return ca::all(ca::abs(a - b) <= ca::abs(b) * 2e-3f + 1e-3f).item();
  };
  CHECK(alike(nnet::conv2d(xs, w, o), nnet::conv2d(x, w, o)));
  CHECK(alike(nnet::conv2d_backward_data(dys, w, xs.shape(), o), nnet::conv2d_backward_data(dy, w, x.shape(), o)));
}

TEST_CASE("nnet: the gradient of conv2d's filters is the same with any number of threads") {
  const array<float> x = ca::astype<float>(ca::to<ca::cpu>(test::wave_of({70, 3, 20, 21}))),
                     dy = ca::astype<float>(ca::to<ca::cpu>(test::wave_of({70, 9, 18, 19}, 1)));
  const threads one(1);
  const array<float> expected = nnet::conv2d_backward_weights(x, dy, {9, 3, 3, 3});
  for (int n : {2, 5, 16}) {
    INFO(n << " threads");
    const threads some(n);
    CHECK(ca::all(nnet::conv2d_backward_weights(x, dy, {9, 3, 3, 3}) == expected).item());
  }
}

TEST_CASE("nnet: a pixel reaches only what its windows make, on the CPU") {
  for (int64 width : {5, 18, 40}) {
    INFO(width << " pixels across");
    array<float> x = ca::ones<float, ca::cpu>({2, 1, 6, width});
    x(1, 0, 5, width - 1) = float(inf);
    const array<float> w = ca::ones<float, ca::cpu>({5, 1, 3, 3}), y = nnet::conv2d(x, w),
                       dw = nnet::conv2d_backward_weights(x, ca::ones<float, ca::cpu>(y.shape()), w.shape());
    CHECK(ca::sum(ca::isfinite(y)).item() == y.size() - 5);
    CHECK(ca::sum(ca::isfinite(dw)).item() == dw.size() - 5);
    CHECK(!ca::any(ca::isfinite(dw(_, 0, 2, 2))).item());
  }
}

TEST_CASE("nnet: conv2d without images, channels or filters") {
  const auto none_of = [](const ca::shape& s) { return ca::zeros<double>(s); };
  CHECK(nnet::conv2d(none_of({0, 1, 4, 4}), none_of({2, 1, 3, 3})).shape() == ca::shape{0, 2, 2, 2});
  CHECK(nnet::conv2d_backward_data(none_of({0, 2, 2, 2}), none_of({2, 1, 3, 3}), {0, 1, 4, 4}).shape() ==
        ca::shape{0, 1, 4, 4});
  CHECK(test::equal(nnet::conv2d_backward_weights(none_of({0, 1, 3, 3}), none_of({0, 2, 2, 2}), {2, 1, 2, 2}),
                    {2, 1, 2, 2}, floats(8, 0)));
  CHECK(test::equal(nnet::conv2d(none_of({1, 0, 3, 3}), none_of({2, 0, 3, 3})), {1, 2, 1, 1}, floats{0, 0}));
  CHECK(nnet::conv2d(none_of({1, 1, 3, 3}), none_of({0, 1, 3, 3})).shape() == ca::shape{1, 0, 1, 1});
  CHECK(test::equal(nnet::conv2d_backward_data(none_of({1, 0, 2, 2}), none_of({0, 1, 2, 2}), {1, 1, 3, 3}),
                    {1, 1, 3, 3}, floats(9, 0)));
}

TEST_CASE("nnet: conv2d leaves its operands alone, and its result is a new array") {
  const auto x = test::wave_of({1, 1, 3, 3}), w = ca::ones<double>({1, 1, 1, 1});
  doubles y = nnet::conv2d(x, w);
  const auto before = test::values(x);
  CHECK(test::values(y) == before);
  y(_) = 0;
  CHECK(test::values(x) == before);
}
