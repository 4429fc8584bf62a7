// Convolutions with groups, gaps and one to three axes, from their definition and large enough for libraries; pooling
// without cases of PyTorch; what both refuse.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "orders.hpp"
#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::int64;
using floats = std::vector<float>;

/// One axis is the last of three.
struct geometry {
  int64 n, c, k, groups;
  int64 in[3], window[3], stride[3], padding[3], dilation[3];

  int64 out(int a) const { return (in[a] + 2 * padding[a] - dilation[a] * (window[a] - 1) - 1) / stride[a] + 1; }
  ca::shape images() const { return {n, c, in[0], in[1], in[2]}; }
  ca::shape filters() const { return {k, c / groups, window[0], window[1], window[2]}; }
  ca::shape results() const { return {n, k, out(0), out(1), out(2)}; }

  /// Calls `body(place in the result, in the images, in the filters)` for every product of the definition.
  template <class F>
  void products(const F& body) const {
    const int64 share = c / groups, own = k / groups;
    int64 y = 0;
    for (int64 image = 0; image < n; ++image)
      for (int64 to = 0; to < k; ++to)
        for (int64 o = 0; o < out(0); ++o)
          for (int64 p = 0; p < out(1); ++p)
            for (int64 q = 0; q < out(2); ++q, ++y)
              for (int64 from = 0; from < share; ++from)
                window_of({o, p, q}, [&](int64 pixel, int64 tap) {
                  const int64 channel = image * c + to / own * share + from;
                  body(std::size_t(y), std::size_t(channel * in[0] * in[1] * in[2] + pixel),
                       std::size_t((to * share + from) * window[0] * window[1] * window[2] + tap));
                });
  }
  template <class F>
  void window_of(const int64 (&at)[3], const F& body) const {
    for (int64 t = 0; t < window[0] * window[1] * window[2]; ++t) {
      const int64 digit[] = {t / (window[1] * window[2]), t / window[2] % window[1], t % window[2]};
      int64 pixel = 0;
      bool inside = true;
      for (int a = 0; a < 3; ++a) {
        const int64 i = at[a] * stride[a] - padding[a] + digit[a] * dilation[a];
        inside = inside && i >= 0 && i < in[a];
        pixel = pixel * in[a] + i;
      }
      if (inside) body(pixel, t);
    }
  }
};

const std::vector<geometry> cases = {
    {2, 4, 6, 2, {1, 6, 7}, {1, 3, 2}, {1, 2, 1}, {0, 1, 2}, {1, 1, 2}},      // groups, and gaps along one axis
    {3, 8, 8, 8, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},      // depthwise
    {2, 3, 6, 3, {1, 11, 5}, {1, 2, 3}, {1, 1, 2}, {0, 0, 2}, {1, 3, 2}},     // two filters for each channel
    {2, 3, 4, 1, {5, 4, 6}, {2, 3, 1}, {1, 1, 2}, {1, 0, 0}, {2, 1, 1}},      // volumes
    {1, 4, 4, 2, {3, 5, 4}, {3, 2, 2}, {1, 2, 1}, {1, 1, 0}, {1, 2, 1}},      // in groups
    {3, 5, 7, 1, {1, 1, 31}, {1, 1, 5}, {1, 1, 3}, {0, 0, 4}, {1, 1, 2}},     // lines
    {8, 32, 32, 4, {1, 16, 16}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},  // enough for libraries
    {8, 64, 64, 64, {1, 28, 28}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},
    {4, 16, 24, 1, {1, 20, 20}, {1, 3, 3}, {1, 1, 1}, {0, 4, 2}, {1, 4, 2}},
    {2, 8, 16, 1, {8, 10, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {4, 32, 48, 1, {1, 1, 200}, {1, 1, 9}, {1, 1, 1}, {0, 0, 4}, {1, 1, 1}},
};

template <class T>
constexpr double epsilon = std::is_same_v<T, double>        ? 1e-15
                           : std::is_same_v<T, float>       ? 1.2e-7
                           : std::is_same_v<T, ca::float16> ? 0x1p-10
                                                            : 0x1p-7;

struct sum_of_products {
  std::vector<double> sum, size;
  explicit sum_of_products(std::size_t n) : sum(n), size(n) {}
  void add(std::size_t to, double product) {
    sum[to] += product;
    size[to] += std::fabs(product);
  }
  template <class T>
  bool near(const ca::ndarray<T>& x, const ca::shape& s) const {
    const auto v = test::values(ca::astype<double>(x));
    if (x.shape() != s || v.size() != sum.size()) return false;
    for (std::size_t i = 0; i < v.size(); ++i)
      if (!(std::fabs(v[i] - sum[i]) <= 32 * epsilon<T> * size[i])) return false;
    return true;
  }
};

/// The convolution of a case by the function of as many axes as it has.
template <class V>
V convolve(const geometry& z, const V& x, const V& w) {
  const auto &s = z.stride, &p = z.padding, &d = z.dilation;
  if (z.in[0] > 1)
    return nnet::conv3d(x, w,
                        {.stride = {s[0], s[1], s[2]},
                         .padding = {p[0], p[1], p[2]},
                         .dilation = {d[0], d[1], d[2]},
                         .groups = z.groups});
  if (z.in[1] > 1) {
    const nnet::conv_options o{
        .stride = {s[1], s[2]}, .padding = {p[1], p[2]}, .dilation = {d[1], d[2]}, .groups = z.groups};
    return ca::reshape(nnet::conv2d(ca::squeeze(x, 2), ca::squeeze(w, 2), o), z.results());
  }
  const nnet::conv_options o{.stride = s[2], .padding = p[2], .dilation = d[2], .groups = z.groups};
  return ca::reshape(nnet::conv1d(ca::squeeze(x, {2, 3}), ca::squeeze(w, {2, 3}), o), z.results());
}

}  // namespace

TEST_CASE("nnet: convolutions with groups, gaps and up to three axes are their definition", "[large]") {
  for (const geometry& z : cases) {
    INFO(z.images().str() << " with " << z.filters().str() << ", " << z.groups << " groups");
    const auto x = test::wave_of(z.images()), w = test::wave_of(z.filters(), 1), dy = test::wave_of(z.results(), 2);
    const auto hx = test::values(x), hw = test::values(w), hy = test::values(dy);
    sum_of_products y(hy.size()), dx(hx.size()), dw(hw.size());
    z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) {
      y.add(to, hx[pixel] * hw[filter]);
      dx.add(pixel, hy[to] * hw[filter]);
      dw.add(filter, hy[to] * hx[pixel]);
    });
    const auto check = [&]<class T>(T) {
      INFO(ca::dtype_name<T>);
      for (const bool last : {false, true}) {
        const auto in_order = [=](const ca::ndarray<T>& v) { return last ? nnet::channels_last(v) : v; };
        const ca::variable<T> a = in_order(ca::astype<T>(x)), b = in_order(ca::astype<T>(w));
        const ca::variable<T> r = convolve(z, a, b);
        CHECK(y.near(r.value(), z.results()));
        CHECK(test::is_channels_last(r.value()) == last);
        r.backward(ca::astype<T>(dy));
        CHECK(dx.near(a.grad(), z.images()));
        CHECK(test::is_channels_last(a.grad()) == last);
        CHECK(dw.near(b.grad(), z.filters()));
        CHECK(test::is_channels_last(b.grad()) == test::is_channels_last(b.value()));
      }
    };
    check(0.0);
    check(0.f);
  }
}

TEST_CASE("nnet: convolutions in half precision with groups and gaps") {
  const auto check = [&]<class T>(T) {
    INFO(ca::dtype_name<T>);
    for (const std::size_t k : {0u, 1u, 4u, 5u}) {
      const geometry& z = cases[k];
      const ca::variable<T> x = ca::astype<T>(test::wave_of(z.images())),
                            w = ca::astype<T>(test::wave_of(z.filters(), 1));
      const auto hx = test::values(ca::astype<double>(x.value())), hw = test::values(ca::astype<double>(w.value()));
      sum_of_products y(std::size_t(z.results().elements()));
      z.products([&](std::size_t to, std::size_t pixel, std::size_t filter) { y.add(to, hx[pixel] * hw[filter]); });
      CHECK(y.near(convolve(z, x, w).value(), z.results()));
    }
  };
  check(ca::float16(0));
  check(ca::bfloat16(0));
}

TEST_CASE("nnet: a convolution of padding `same` has as many results as pixels, or one for each stride") {
  const auto x = ca::ones({1, 1, 7, 6}), w = ca::ones({1, 1, 2, 3});
  CHECK(nnet::conv2d(x, w, {.padding = nnet::same}).shape() == ca::shape{1, 1, 7, 6});
  CHECK(nnet::conv2d(x, w, {.stride = {2, 4}, .padding = nnet::same}).shape() == ca::shape{1, 1, 4, 2});
  // the end has the more
  CHECK(
      test::equal(nnet::conv1d(ca::array<float>({{{1, 2, 3}}}), ca::array<float>({{{1, 10}}}), {.padding = nnet::same}),
                  {1, 1, 3}, floats{21, 32, 3}));
  // JAX: windows begin at pixels 0, 2, 4 of 5
  CHECK(test::equal(nnet::conv1d(ca::array<float>({{{1, 2, 3, 4, 5}}}), ca::array<float>({{{1, 10}}}),
                                 {.stride = 2, .padding = nnet::same}),
                    {1, 1, 3}, floats{21, 43, 5}));
}

TEST_CASE("nnet: convolutions of expressions, of other dtypes' filters, with a bias that is a variable") {
  const auto x = ca::array<float>({{{1, 2, 3}}}), w = ca::array<float>({{{1, -1}}});
  CHECK(test::equal(nnet::conv1d(x + 1, 2 * w), {1, 1, 2}, floats{-2, -2}));
  CHECK(test::equal(nnet::conv1d(ca::astype<double>(x), w), {1, 1, 2}, std::vector<double>{-1, -1}));
  const ca::variable<float> b = ca::array<float>({0.5});
  const ca::variable y = nnet::conv1d(x, w, b, {.activation = nnet::activation::relu});
  y.backward(ca::ones({1, 1, 2}));
  CHECK(test::equal(y.value(), {1, 1, 2}, floats{0, 0}));
  CHECK(test::equal(b.grad(), {1}, floats{0}));
  const ca::variable z = nnet::conv1d(x, w, b);
  z.backward(ca::ones({1, 1, 2}));
  CHECK(test::equal(b.grad(), {1}, floats{2}));
}

TEST_CASE("nnet: convolutions and pooling without images or channels") {
  const nnet::conv_options o{.padding = 1, .groups = 2};
  CHECK(nnet::conv1d(ca::zeros({0, 4, 5}), ca::zeros({6, 2, 3}), o).shape() == ca::shape{0, 6, 5});
  CHECK(nnet::conv_transpose2d(ca::zeros({0, 4, 2, 2}), ca::zeros({4, 3, 2, 2})).shape() == ca::shape{0, 3, 3, 3});
  CHECK(test::equal(nnet::conv3d(ca::zeros({1, 0, 1, 1, 2}), ca::zeros({2, 0, 1, 1, 1})), {1, 2, 1, 1, 2}, floats(4)));
  CHECK(nnet::max_pool3d(ca::zeros({0, 2, 4, 4, 4})).shape() == ca::shape{0, 2, 2, 2, 2});
  CHECK(nnet::adaptive_avg_pool2d(ca::zeros({0, 2, 4, 4}), 3).shape() == ca::shape{0, 2, 3, 3});
  CHECK(nnet::adaptive_max_pool1d(ca::zeros({2, 0, 4}), 3).shape() == ca::shape{2, 0, 3});
  CHECK(nnet::max_pool2d_with_indices(ca::zeros({0, 1, 4, 4})).indices.shape() == ca::shape{0, 1, 2, 2});
}

TEST_CASE("nnet: means of volumes in half types are rounded once") {
  const auto x = ca::astype<ca::float16>(ca::reshape(ca::arange<float>(0, 24, 1), {1, 1, 2, 3, 4}));
  CHECK(test::equal(ca::astype<float>(nnet::avg_pool3d(x, {.window = {2, 3, 4}})), {1, 1, 1, 1, 1}, floats{11.5}));
}

TEST_CASE("nnet: where pixels were is told of infinities and NaN, and never of padding") {
  const float inf = std::numeric_limits<float>::infinity(), nan_ = std::numeric_limits<float>::quiet_NaN();
  const auto x = ca::array<float>({{{{-inf, -inf, 1, nan_}, {-inf, -inf, nan_, 2}}}});
  const auto [values, places] = nnet::max_pool2d_with_indices(x, {.window = 2});
  CHECK(test::equal(places, {1, 1, 1, 2}, std::vector<int64>{0, 3}));
  const auto v = test::values(values);
  CHECK((v[0] == -inf && v[1] != v[1]));
  const auto lowest = ca::full({1, 1, 3, 3}, -inf);
  const auto at = nnet::max_pool2d_with_indices(lowest, {.window = 3, .stride = 2, .padding = 1}).indices;
  CHECK(test::equal(at, {1, 1, 2, 2}, std::vector<int64>{0, 1, 3, 4}));
}

TEST_CASE("nnet: unpooling brings pixels back, and refuses places outside") {
  const auto x = ca::array<float>({{{{5, 6}, {7, 8}}}});
  const auto largest = nnet::max_pool2d_with_indices(x, {.window = {1, 2}});
  const auto& values = largest.values;
  const auto& places = largest.indices;
  CHECK(test::equal(nnet::max_unpool(values, places, {2, 2}), {1, 1, 2, 2}, floats{0, 6, 0, 8}));
  const auto outside = ca::array<int>({{{{1}, {4}}}});
  const auto run = [&](const auto& i) {
    const ca::ndarray<float> y = nnet::max_unpool(values, i, {2, 2});
    ca::synchronize();
  };
  CHECK(test::thrown<ca::index_error>([&] { run(outside); }) ==
        "nnet::max_unpool: index 4 is out of bounds for axis 0 with size 4");
  CHECK_THROWS_AS(run(ca::array<int>({{{{-5}, {0}}}})), ca::index_error);
  CHECK_THROWS_AS(nnet::max_unpool(values, places, {-2, 2}), ca::value_error);
  const auto none = ca::zeros<int>({0, 1, 2, 2});
  CHECK(nnet::max_unpool(ca::astype<float>(none), none, {4, 4}).shape() == ca::shape{0, 1, 4, 4});
  CHECK_THROWS_AS(nnet::max_unpool(values, ca::array<int>({1, 2}), {2, 2}), ca::shape_error);
}

TEST_CASE("nnet: one infinite pixel reaches only the windows that it is in") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto x = ca::array<float>({{{1, 2, inf, 4, 5, 6, 8}}});
  CHECK(test::equal(nnet::adaptive_avg_pool1d(x, 3), {1, 1, 3}, floats{inf, inf, 19.f / 3}));
  CHECK(test::equal(nnet::adaptive_avg_pool1d(x(ca::_, ca::_, ca::slice(0, 6)), 3), {1, 1, 3}, floats{1.5, inf, 5.5}));
}

TEST_CASE("nnet: results are new arrays") {
  const auto x = ca::broadcast_to(ca::ones({1, 1, 1, 3}), {1, 1, 2, 3});
  const auto writable = [&](ca::ndarray<float> y) {
    y.fill(7);
    return test::equal(x, {1, 1, 2, 3}, floats(6, 1));
  };
  CHECK(writable(nnet::adaptive_avg_pool2d(x, {2, 3})));
  CHECK(writable(nnet::adaptive_max_pool2d(x, {2, 3})));
  CHECK(writable(nnet::interpolate(x, {2, 3})));
  CHECK(writable(nnet::interpolate(x, {2, 3}, {.mode = nnet::interpolation::area})));
  CHECK(writable(nnet::pixel_shuffle(x, 1)));
  CHECK(writable(nnet::pixel_unshuffle(x, 1)));
  CHECK(writable(ca::pad(x, 0)));
  CHECK(writable(ca::pad(x, 0, {.mode = ca::pad_mode::edge})));
}

TEST_CASE("nnet: strides and gaps longer than images are as long as they") {
  const auto x = ca::ones({1, 1, 4}), w = ca::ones({1, 1, 3}), one = ca::ones({1, 1, 1});
  const int64 far = int64(1) << 40;
  CHECK(test::equal(nnet::conv1d(x, w, {.stride = far, .padding = 1}), {1, 1, 1}, floats{2}));
  CHECK(test::equal(nnet::conv1d(x, w, {.stride = far, .padding = nnet::same}), {1, 1, 1}, floats{3}));
  CHECK(test::equal(nnet::conv1d(x, one, {.dilation = far}), {1, 1, 4}, floats(4, 1)));
  CHECK(test::equal(nnet::max_pool1d(x, {.window = 2, .stride = far}), {1, 1, 1}, floats{1}));
  CHECK(test::equal(nnet::conv_transpose1d(one, w, {.stride = far}), {1, 1, 3}, floats(3, 1)));
  CHECK_THROWS_AS(nnet::conv1d(x, w, {.stride = INT64_MAX}), ca::value_error);
  CHECK_THROWS_AS(nnet::conv1d(x, w, {.padding = nnet::same, .dilation = far}), ca::value_error);
  CHECK_THROWS_AS(nnet::conv_transpose1d(x, w, {.stride = far}), ca::value_error);
  CHECK_THROWS_AS(nnet::conv_transpose1d(x, w, {.groups = INT64_MAX / 2}), ca::value_error);
  // as much longer as the gaps allow: the last windows are not used
  CHECK(test::equal(nnet::conv_transpose1d(one, w, {.output_padding = 1, .dilation = 2}), {1, 1, 6},
                    floats{1, 0, 1, 0, 1, 0}));
}

TEST_CASE("nnet: convolutions in one direction, of filters of another dtype") {
  const auto x = ca::array<double>({{{1, 2, 3}}}), d = ca::array<double>({{{1, 0, 0}}});
  const auto w = ca::array<float>({{{2, 1}}});
  const auto along = [&](const auto& f) {
    const auto [y, dy] = ca::jvp(f)(x, d);
    return ca::ndarray<double>(dy);
  };
  CHECK(test::equal(along([&](const auto& a) { return nnet::conv1d(a, w); }), {1, 1, 2}, std::vector<double>{2, 0}));
  CHECK(test::equal(along([&](const auto& a) { return nnet::conv_transpose1d(a, w); }), {1, 1, 4},
                    std::vector<double>{2, 1, 0, 0}));
}

TEST_CASE("nnet: what functions of images refuse") {
  const auto x = ca::zeros({1, 3, 4, 6});
  CHECK(test::thrown<ca::value_error>([&] { nnet::pixel_shuffle(x, 2); }) ==
        "nnet::pixel_shuffle: 3 channels of images of shape (1, 3, 4, 6) are no squares of 2 x 2");
  CHECK(test::thrown<ca::value_error>([&] { nnet::pixel_unshuffle(x, 4); }) ==
        "nnet::pixel_unshuffle: images of shape (1, 3, 4, 6) are not made of squares of 4 x 4");
  CHECK(test::thrown<ca::shape_error>([&] { nnet::unfold(x, {.window = 5}); }) ==
        "nnet::unfold: a window of (5, 5) does not fit images of (1, 3, 4, 6) with padding (0, 0)");
  CHECK(test::thrown<ca::shape_error>([&] {
          nnet::fold(ca::zeros({1, 3, 4}), {1, 3, 4, 6});
        }) == "nnet::fold: columns of shape (1, 3, 4) for images of shape (1, 3, 4, 6): (1, 27, 8) is wanted");
  CHECK(test::thrown<ca::value_error>([&] {
          nnet::interpolate(x, {2, 0});
        }) == "nnet::interpolate: size (2, 0) is not positive");
  CHECK(test::thrown<ca::value_error>([&] { nnet::interpolate(x, 2, {.align_corners = true}); }) ==
        "nnet::interpolate: align_corners is of linear and cubic interpolation");
  CHECK(test::thrown<ca::shape_error>([&] {
          nnet::interpolate(ca::zeros({2, 3}), 2);
        }) == "nnet::interpolate: images of shape (2, 3), not (n, c, w)");
  CHECK(test::thrown<ca::shape_error>([&] {
          nnet::grid_sample(x, ca::zeros({1, 2, 2, 3}));
        }) ==
        "nnet::grid_sample: a grid of shape (1, 2, 2, 3) for images of shape (1, 3, 4, 6): (1, p, q, 2) is "
        "wanted");
  CHECK_THROWS_AS(nnet::grid_sample(x, ca::zeros({1, 2, 2, 2}), {.mode = nnet::interpolation::cubic}), ca::value_error);
  CHECK_THROWS_AS(nnet::grid_sample(ca::zeros({1, 1, 0, 2}), ca::zeros({1, 2, 2, 2})), ca::shape_error);
  CHECK(test::thrown<ca::value_error>([&] { nnet::max_pool2d(x, {.window = 0}); }) ==
        "nnet::max_pool2d: window (0, 0) is not positive");
  CHECK_THROWS_AS(ca::pad(ca::zeros<ca::uint8>({2}), 1, {.value = 300}), ca::value_error);
}

TEST_CASE("nnet: functions of images without images, of half types, of expressions") {
  const auto none = ca::zeros({0, 4, 4, 6});
  CHECK(nnet::pixel_shuffle(none, 2).shape() == ca::shape{0, 1, 8, 12});
  CHECK(nnet::unfold(none).shape() == ca::shape{0, 36, 8});
  CHECK(nnet::fold(ca::zeros({0, 36, 8}), {0, 4, 4, 6}).shape() == ca::shape{0, 4, 4, 6});
  CHECK(nnet::interpolate(none, {3, 9}, {.mode = nnet::interpolation::linear}).shape() == ca::shape{0, 4, 3, 9});
  CHECK(nnet::grid_sample(none, ca::zeros({0, 2, 3, 2})).shape() == ca::shape{0, 4, 2, 3});
  const auto x = ca::reshape(ca::arange<float>(0, 4, 1), {1, 1, 2, 2});
  const ca::ndarray<ca::float16> half = ca::astype<ca::float16>(x);
  const ca::ndarray<ca::float16> y = nnet::interpolate(half, 4, {.mode = nnet::interpolation::linear});
  CHECK(test::equal(ca::astype<float>(y), {1, 1, 4, 4},
                    floats{0, .25, .75, 1, .5, .75, 1.25, 1.5, 1.5, 1.75, 2.25, 2.5, 2, 2.25, 2.75, 3}));
  CHECK(test::equal(nnet::interpolate(x + 1, {1, 1}, {.mode = nnet::interpolation::area}), {1, 1, 1, 1}, floats{2.5}));
  const ca::ndarray<ca::float16> at = nnet::grid_sample(half, ca::zeros({1, 1, 1, 2}));
  CHECK(test::equal(ca::astype<float>(at), {1, 1, 1, 1}, floats{1.5}));
}

TEST_CASE("pad: modes as NumPy has them") {
  const auto x = ca::array<int>({1, 2, 3});
  const auto padded = [&](ca::pad_mode mode) { return ca::pad(x, {{2, 3}}, {.mode = mode, .value = 9}); };
  const auto is = [](const auto& a, const std::vector<int>& v) { return test::equal(a, {int64(v.size())}, v); };
  CHECK(is(padded(ca::pad_mode::constant), {9, 9, 1, 2, 3, 9, 9, 9}));
  CHECK(is(padded(ca::pad_mode::edge), {1, 1, 1, 2, 3, 3, 3, 3}));
  CHECK(is(padded(ca::pad_mode::reflect), {3, 2, 1, 2, 3, 2, 1, 2}));
  CHECK(is(padded(ca::pad_mode::symmetric), {2, 1, 1, 2, 3, 3, 2, 1}));
  CHECK(is(padded(ca::pad_mode::wrap), {2, 3, 1, 2, 3, 1, 2, 3}));
  // further than the array is long
  CHECK(is(ca::pad(x, {{5, 0}}, {.mode = ca::pad_mode::reflect}), {2, 1, 2, 3, 2, 1, 2, 3}));
  CHECK(is(ca::pad(x, {{7, 1}}, {.mode = ca::pad_mode::symmetric}), {1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3}));
  CHECK(is(ca::pad(ca::array<int>({4}), 2, {.mode = ca::pad_mode::reflect}), {4, 4, 4, 4, 4}));
  CHECK(test::equal(ca::pad(ca::zeros<int>({0, 1}), {{1, 0}, {0, 1}}, {.value = 7}), {1, 2}, std::vector<int>{7, 7}));
  CHECK(test::equal(ca::pad(ca::full<int>(ca::shape{}, 5), 3), {}, std::vector<int>{5}));
  CHECK_THROWS_AS(ca::pad(ca::zeros({0, 2}), {{1, 0}, {0, 0}}, {.mode = ca::pad_mode::edge}), ca::value_error);
  CHECK(ca::pad(x + x, 0).shape() == ca::shape{3});
}
