// Images with their channels innermost: statements, pooling and norms compute what they do in C order, and keep theirs.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "orders.hpp"
#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::int64;
using floats = std::vector<float>;

/// Compares a function of images, of (T) and back, and its gradient in both orders, which it is to keep: what is wrong.
/// Numbers may differ so far as sums that are added up in another order do.
template <class T, class F>
std::string between_orders(const ca::shape& s, double tolerance, const F& f) {
  const ca::ndarray<T> images = ca::astype<T>(test::wave_of(s));
  const ca::variable<T> x = images, z = nnet::channels_last(images);
  const ca::variable<T> y = f(x), r = f(z);
  const ca::ndarray<T> dy = ca::astype<T>(test::wave_of(y.shape(), 1));
  y.backward(dy);
  r.backward(nnet::channels_last(dy));
  std::string wrong;
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    const double far =
        a.shape() == b.shape() ? ca::max(ca::abs(ca::astype<double>(a) - ca::astype<double>(b))).item() : 1;
    if (!(far <= tolerance)) wrong += std::string(what) + " differs by " + std::to_string(far) + ". ";
    if (!a.is_contiguous()) wrong += std::string(what) + " is not in C order. ";
    if (!test::is_channels_last(b)) wrong += std::string(what) + " does not have channels last. ";
  };
  compare("value", y.value(), r.value());
  compare("gradient", x.grad(), z.grad());
  return wrong;
}
template <class T, class F>
std::string exactly(const ca::shape& s, const F& f) {
  return between_orders<T>(s, 0, f);
}
template <class F>
std::string nearly(const ca::shape& s, const F& f) {
  return between_orders<double>(s, 1e-13, f);
}

}  // namespace

TEST_CASE("nnet: channels_last changes the order in memory alone") {
  const auto x = ca::reshape(ca::arange<float>(0, 12, 1), {1, 3, 2, 2});
  const ca::ndarray<float> y = nnet::channels_last(x);
  CHECK(test::equal(y, {1, 3, 2, 2}, test::values(x)));
  CHECK((y.stride(0) == 12 && y.stride(1) == 1 && y.stride(2) == 6 && y.stride(3) == 3));
  CHECK(nnet::channels_last(y).data() == y.data());
  CHECK(nnet::channels_last(x + 1).stride(1) == 1);
  CHECK(nnet::channels_last(ca::zeros({2, 3, 4})).stride(1) == 1);
  CHECK(nnet::channels_last(ca::zeros({2, 3, 4, 5, 6})).stride(1) == 1);
  CHECK(nnet::channels_last(ca::zeros({0, 3, 4})).shape() == ca::shape{0, 3, 4});
  CHECK(test::thrown<ca::shape_error>([] {
          nnet::channels_last(ca::zeros({2, 3}));
        }) == "nnet::channels_last: images of shape (2, 3): 3 to 5 axes are wanted");
  const ca::variable<float> v = x;
  const ca::variable<float> last = nnet::channels_last(v);
  CHECK(test::is_channels_last(last.value()));
  last.backward(y * 2);
  CHECK(test::equal(v.grad(), {1, 3, 2, 2}, test::values(ca::eval(x * 2))));
}

TEST_CASE("nnet: statements keep the order of channels_last") {
  const auto c = ca::reshape(ca::arange<float>(0, 24, 1), {2, 3, 2, 2});
  const ca::ndarray<float> x = nnet::channels_last(c), bias = ca::reshape(ca::array<float>({1, 2, 3}), {3, 1, 1});
  CHECK(test::is_channels_last(ca::eval(nnet::relu(x - 3) * 2 + bias)));
  CHECK(test::is_channels_last(ca::eval(ca::where(x > 4, x, 0))));
  CHECK(test::is_channels_last(ca::eval(ca::astype<ca::float16>(x))));
  CHECK(test::is_channels_last(ca::eval(x - ca::mean(x, 1, ca::keepdims))));
  CHECK(test::is_channels_last(ca::eval(nnet::softmax(x, 1))));
  CHECK(ca::eval(x + c).is_contiguous());  // of two orders, C order
  CHECK(x.copy().is_contiguous());
  ca::ndarray<float> y = ca::eval(x + 1);
  const float* const place = y.data();
  y = y * 2;
  CHECK((y.data() == place && test::is_channels_last(y)));
  CHECK(test::equal(y, {2, 3, 2, 2}, test::values(ca::eval((c + 1) * 2))));
  CHECK(exactly<float>({2, 3, 4, 5}, [](const auto& v) { return nnet::gelu(v) * v + 1; }) == "");
  CHECK(nearly({2, 3, 4, 5}, [](const auto& v) { return nnet::softmax(v, 1); }) == "");
}

TEST_CASE("nnet: pooling keeps the order of channels_last") {
  const std::vector<nnet::pool_options> options = {
      {.window = 2},
      {.window = 3, .stride = 2, .padding = 1},
      {.window = 3, .stride = 1, .padding = 1, .count_include_pad = true},
      {.window = 2, .stride = 3},
      {.window = 3, .stride = 2, .ceil_mode = true},
  };
  const auto check = [&]<class T>(T) {
    INFO(ca::dtype_name<T>);
    for (const auto& o : options) {
      CHECK(exactly<T>({2, 5, 9}, [&](const auto& x) { return nnet::max_pool1d(x, o); }) == "");
      CHECK(exactly<T>({2, 5, 9}, [&](const auto& x) { return nnet::avg_pool1d(x, o); }) == "");
      CHECK(exactly<T>({2, 19, 7, 6}, [&](const auto& x) { return nnet::max_pool2d(x, o); }) == "");
      CHECK(exactly<T>({2, 19, 7, 6}, [&](const auto& x) { return nnet::avg_pool2d(x, o); }) == "");
      CHECK(exactly<T>({2, 3, 5, 7, 6}, [&](const auto& x) { return nnet::max_pool3d(x, o); }) == "");
      CHECK(exactly<T>({2, 3, 5, 7, 6}, [&](const auto& x) { return nnet::avg_pool3d(x, o); }) == "");
    }
  };
  check(0.f);
  check(0.0);
  check(ca::bfloat16(0));
  CHECK(exactly<float>({2, 3, 6, 4}, [](const auto& x) { return nnet::adaptive_avg_pool2d(x, {3, 2}); }) == "");
  CHECK(exactly<float>({2, 3, 6, 4}, [](const auto& x) { return nnet::adaptive_max_pool2d(x, {3, 2}); }) == "");
  const ca::ndarray<float> odd = nnet::channels_last(ca::ones({2, 3, 5, 4}));
  CHECK(test::is_channels_last(nnet::adaptive_avg_pool2d(odd, {3, 3})));
  CHECK(test::is_channels_last(nnet::adaptive_max_pool2d(odd, {3, 3})));
  CHECK(test::is_channels_last(nnet::max_pool2d_with_indices(odd).values));
}

TEST_CASE("nnet: pooling of channels_last: ties, NaN, integers, gradients written out, directions") {
  const float nan_ = std::numeric_limits<float>::quiet_NaN();
  // two channels, of which the second has the first's pixels backwards
  const auto c = ca::array<float>({{{{1, 5, 5, nan_}, {5, 2, nan_, 7}}, {{7, nan_, 2, 5}, {nan_, 5, 5, 1}}}});
  const ca::ndarray<float> x = nnet::channels_last(c), dy = ca::array<float>({{{{1, 2}}, {{3, 4}}}});
  const ca::ndarray<float> back = nnet::max_pool2d_backward(dy, x, {.window = 2});
  CHECK(test::is_channels_last(back));
  CHECK(test::equal(back, {1, 2, 2, 4}, floats{0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0}));
  const ca::ndarray<float> shares = nnet::avg_pool2d_backward(nnet::channels_last(dy), x.shape(), {.window = 2});
  CHECK(test::is_channels_last(shares));
  CHECK(test::equal(shares, {1, 2, 2, 4}, floats{.25, .25, .5, .5, .25, .25, .5, .5, .75, .75, 1, 1, .75, .75, 1, 1}));
  const ca::ndarray<int> whole = nnet::channels_last(ca::reshape(ca::arange<int>(0, 16, 1), {1, 2, 2, 4}));
  CHECK(test::equal(nnet::max_pool2d(whole, {.window = 2}), {1, 2, 1, 2}, std::vector<int>{5, 7, 13, 15}));
  // more elements than are counted in that order are pooled in C order
  CHECK(test::thrown<ca::shape_error>([] {
          nnet::avg_pool2d_backward(nnet::channels_last(ca::zeros({1, 2, 2, 2})), {1, 1 << 20, 64, 32}, {.window = 2});
        }) ==
        "nnet::avg_pool2d_backward: the gradient has shape (1, 2, 2, 2), the pooling's result (1, 1048576, 32, 16)");
  const ca::ndarray<double> v = test::wave_of({2, 3, 4, 5, 6}), d = test::wave_of({2, 3, 4, 5, 6}, 1);
  const auto along = [](const ca::ndarray<double>& a, const ca::ndarray<double>& b) {
    const auto [y, t] = ca::jvp([](const auto& z) { return nnet::max_pool3d(z, {.window = 2}); })(a, b);
    CHECK(test::is_channels_last(ca::ndarray<double>(y)) == test::is_channels_last(a));
    return ca::ndarray<double>(t);
  };
  CHECK(test::equal(along(nnet::channels_last(v), nnet::channels_last(d)), {2, 3, 2, 2, 3}, test::values(along(v, d))));
}

TEST_CASE("nnet: norms keep the order of channels_last") {
  const ca::ndarray<double> gain = test::wave_of({6}), bias = test::wave_of({6}, 1);
  CHECK(nearly({3, 6, 4, 5}, [&](const auto& x) { return nnet::group_norm(x, 3, gain, bias); }) == "");
  CHECK(nearly({3, 6, 4, 5}, [&](const auto& x) { return nnet::instance_norm(x, gain, bias); }) == "");
  CHECK(nearly({3, 6, 4, 5}, [&](const auto& x) {
          ca::ndarray<double> mean = ca::zeros<double>(6), var = ca::ones<double>(6);
          return nnet::batch_norm(x, gain, bias, mean, var);
        }) == "");
  CHECK(nearly({3, 6, 4, 5}, [&](const auto& x) {
          return nnet::batch_norm_inference(x, gain, bias, bias, ca::ndarray<double>(gain + 2));
        }) == "");
  CHECK(nearly({3, 6, 4, 5}, [&](const auto& x) { return nnet::layer_norm(x, {.axes = {1, 2, 3}}); }) == "");
}

TEST_CASE("nnet: a network of channels_last keeps the order forwards and backwards") {
  const ca::ndarray<double> w1 = test::wave_of({8, 3, 3, 3}, 1), w2 = test::wave_of({4, 8, 3, 3}, 2),
                            b1 = test::wave_of({8}, 3), gain = test::wave_of({8}, 4);
  CHECK(nearly({2, 3, 10, 12}, [&](const auto& x) {
          ca::ndarray<double> mean = ca::zeros<double>(8), var = ca::ones<double>(8);
          const ca::variable<double> h = nnet::conv2d(x, w1, b1, {.padding = 1});
          const ca::variable<double> n = nnet::relu(nnet::batch_norm(h, gain, b1, mean, var));
          const ca::variable<double> p = nnet::max_pool2d(n + h, {.window = 2});
          return nnet::conv2d(p, w2, {.padding = 1, .activation = nnet::activation::relu});
        }) == "");
  const ca::ndarray<double> t = test::wave_of({3, 2, 2, 2}, 1);
  CHECK(nearly({2, 3, 4, 5}, [&](const auto& x) { return nnet::conv_transpose2d(x, t, {.stride = 2}); }) == "");
}

TEST_CASE("autograd: one pass adds to gradients in two orders") {
  using V = ca::variable<float>;
  const V a = ca::reshape(ca::arange<float>(0, 6, 1), {3, 2}).t(), b = ca::ones({2, 3});
  const V v = ca::sum(a * b * b), p = ca::sum(a * a), q = ca::sum(b * b);
  V(v + p + q).backward();
  CHECK((a.grad().stride(0) == 1 && b.grad().stride(0) == 3));
  CHECK(test::equal(a.grad(), {2, 3}, floats{1, 5, 9, 3, 7, 11}));
  CHECK(test::equal(b.grad(), {2, 3}, floats{2, 6, 10, 4, 8, 12}));
  // memory that is there keeps its order
  a.zero_grad(), b.zero_grad();
  V(ca::sum(a * b * 2)).backward();
  CHECK(test::equal(a.grad(), {2, 3}, floats(6, 2)));
  CHECK(test::equal(b.grad(), {2, 3}, floats{0, 4, 8, 2, 6, 10}));
  CHECK((a.grad().stride(0) == 1 && b.grad().stride(0) == 3));
}
