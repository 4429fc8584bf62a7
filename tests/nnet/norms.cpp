// Norms: running statistics, folding, spectral norm, dtypes, fusion, empty batches.
// SPDX-License-Identifier: MIT
#include <cudarray/autograd.hpp>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using array = ca::ndarray<float>;
using ca::_;

array wave(const ca::shape& s) { return ca::astype<float>(test::wave_of(s)); }

/// Largest difference.
template <class A, class B>
double off(const A& a, const B& b) {
  return double(ca::max(ca::abs(ca::astype<double>(a) - ca::astype<double>(b))).item());
}

}  // namespace

TEST_CASE("nnet: layer and RMS norm are one kernel") {
  const array x = wave({64, 96}), g = wave({96}), b = wave({96});
  const auto kernels = [](const auto& e) {
    const auto before = ca::stats();
    const ca::ndarray<ca::value_type_t<decltype(e)>> y = e;
    const auto c = ca::stats() - before;
    CHECK(c.temporaries == 0);
    return c.kernels;
  };
  if (ca::backend::row_programs<ca::default_device>) {
    CHECK(kernels(nnet::layer_norm(x, g, b)) == 1);
    CHECK(kernels(ca::tanh(nnet::rms_norm(x + 1, g)) + x) == 1);
    CHECK(kernels(nnet::layer_norm(ca::astype<ca::bfloat16>(x), g, b)) == 1);
  }
}
TEST_CASE("nnet: norms of half types are computed in float32") {
  // squares of these are beyond float16
  const array x = wave({8, 96}) * 300 + 500, g = wave({96}) + 2, b = wave({96});
  const auto check = [&]<class T>(std::type_identity<T>) {
    const ca::ndarray<T> h = ca::astype<T>(x);
    const array wide = ca::astype<float>(h);
    const auto same = [](const auto& narrow, const array& expected) {
      static_assert(std::is_same_v<ca::value_type_t<decltype(narrow)>, T>);
      const array unit = ca::abs(expected) * (std::is_same_v<T, ca::float16> ? 0x1p-10f : 0x1p-7f);
      CHECK(ca::all(ca::abs(ca::astype<float>(narrow) - expected) <= unit + 1e-6f).item());
    };
    same(nnet::layer_norm(h, g, b), nnet::layer_norm(wide, g, b));
    same(nnet::rms_norm(h, g), nnet::rms_norm(wide, g));
    const ca::shape s{2, 6, 8, 8};
    const ca::ndarray<T> image = ca::reshape(h, s);
    const array wide_image = ca::reshape(wide, s), of = wave({6});
    same(nnet::batch_norm(image, of, of), nnet::batch_norm(wide_image, of, of));
    same(nnet::group_norm(image, 3, of, of), nnet::group_norm(wide_image, 3, of, of));
    same(nnet::local_response_norm(image), nnet::local_response_norm(wide_image));
    // gains in float32 have gradients in float32
    const ca::variable<T> v = image;
    const ca::variable<float> gain = of, bias = of;
    ca::variable y = nnet::batch_norm(v, gain, bias);
    static_assert(std::is_same_v<decltype(y), ca::variable<T>>);
    y.backward(ca::astype<T>(ca::ones(s)));
    CHECK(off(bias.grad(), ca::full({6}, 2 * 64)) == 0);
    CHECK(v.grad().shape() == s);
  };
  check(std::type_identity<ca::float16>{});
  check(std::type_identity<ca::bfloat16>{});
}
TEST_CASE("nnet: batch_norm moves the running statistics") {
  const ca::ndarray<double> x = ca::array<double>({{1, 10}, {3, 10}, {5, 16}}), one = ca::ones<double>({2});
  const array mean = ca::array<float>({1, 0}), var = ca::ones({2});
  const ca::ndarray<double> y = nnet::batch_norm(x, one, 0 * one, mean, var, {.momentum = 0.25, .eps = 0});
  // means 3, 12; biased variances 8/3, 8; unbiased ones 4, 12
  const double a = std::sqrt(1.5), b = std::sqrt(0.5);
  CHECK(test::close(y, {3, 2}, {-a, -b, 0, -b, a, 2 * b}, 1e-12));
  CHECK(test::equal(mean, {2}, std::vector<float>{1.5, 3}));
  CHECK(test::equal(var, {2}, std::vector<float>{1.75, 3.75}));
  // and so it does of variables, and along another axis
  const ca::variable<double> v = x.t(), gain = one;
  ca::variable z = nnet::batch_norm(v, gain, 0 * one, mean, var, {.momentum = 1, .eps = 0, .axis = 0});
  CHECK(test::equal(mean, {2}, std::vector<float>{3, 12}));
  CHECK(test::equal(var, {2}, std::vector<float>{4, 12}));
  CHECK(off(z.value(), y.t()) < 1e-12);
  z.backward(ca::ones<double>({2, 3}));
  CHECK(off(v.grad(), 0 * x.t()) < 1e-12);
  // inference with the batch's own statistics is the same
  const ca::ndarray<double> again = nnet::batch_norm_inference(x, one, 0 * one, ca::array<double>({3, 12}),
                                                               ca::array<double>({8. / 3, 8}), {.eps = 0});
  CHECK(off(again, y) < 1e-12);
}
TEST_CASE("nnet: a wrong batch_norm moves nothing") {
  const array mean = ca::zeros({4}), var = ca::ones({4}), g = ca::ones({4});
  const auto unchanged = [&] { return off(mean, ca::zeros({4})) == 0 && off(var, ca::ones({4})) == 0; };
  const auto text = [&]<class E>(std::type_identity<E>, const auto& f) {
    const std::string t = test::thrown<E>(f);
    CHECK(unchanged());
    return t;
  };
  constexpr std::type_identity<ca::shape_error> shape;
  constexpr std::type_identity<ca::value_error> value;
  const array x = wave({5, 4, 3});
  CHECK(text(shape, [&] { nnet::batch_norm(x, g(ca::slice(3)), g, mean, var); }) ==
        "nnet::batch_norm: a gain of shape (3,) for 4 channels: (4,) is wanted");
  CHECK(text(shape, [&] { nnet::batch_norm(x, g, g, mean, ca::ones({3})); }) ==
        "nnet::batch_norm: x of shape (5, 4, 3), running statistics of shapes (4,) and (3,): (4,) is wanted");
  CHECK(text(value, [&] { nnet::batch_norm(x, g, g, mean, var, {.momentum = 1.5}); }) ==
        "nnet::batch_norm: momentum 1.5 is not in [0, 1]");
  CHECK(text(value, [&] { nnet::batch_norm(x, g, g, mean, var, {.eps = -1}); }) ==
        "nnet::batch_norm: eps -1 is negative or no number");
  CHECK(text(value, [&] {
          nnet::batch_norm(wave({1, 4}), g, g, mean, var);
        }) == "nnet::batch_norm: x of shape (1, 4) has one element for each channel: they have no variance");
  CHECK(text(shape, [&] { nnet::batch_norm(g, g, g, mean, var); }) ==
        "nnet::batch_norm: x of shape (4,): a batch and channels are wanted");
  CHECK(text(value, [&] { nnet::group_norm(x, 3, g, g); }) ==
        "nnet::group_norm: the 4 channels of x of shape (5, 4, 3) are not 3 groups");
  CHECK(text(shape, [&] { nnet::layer_norm(x, g); }) ==
        "nnet::layer_norm: a gain of shape (4,) does not broadcast to x of shape (5, 4, 3)");
  CHECK(text(value, [&] { nnet::rms_norm(x, {.eps = std::nan("")}); }) ==
        "nnet::rms_norm: eps nan is negative or no number");
  CHECK(text(shape, [&] { nnet::weight_norm(x, g); }) ==
        "nnet::weight_norm: weights of shape (5, 4, 3), lengths of shape (4,): (5,) is wanted");
  CHECK(text(shape, [&] { nnet::spectral_norm(x, g); }) ==
        "nnet::spectral_norm: weights of shape (5, 4, 3), a vector of shape (4,)");
  CHECK(text(value, [&] { nnet::local_response_norm(x, {.size = 0}); }) ==
        "nnet::local_response_norm: size 0 is not positive, or too large");
  CHECK(test::thrown<ca::index_error>([&] { nnet::layer_norm(x, {.axes = 3}); }) ==
        "nnet::layer_norm: axis 3 is out of bounds for an array of 3 axes");
  // an empty batch is no error
  const array none = nnet::batch_norm(ca::zeros({0, 4, 3}), g, g, mean, var);
  CHECK(none.shape() == ca::shape{0, 4, 3});
  CHECK(unchanged());
}
TEST_CASE("nnet: statistics that share the gain's memory are seen to be written") {
  const ca::variable<float> x = wave({3, 2}), gain = ca::ones({2});
  const array var = ca::ones({2});
  ca::variable y = nnet::batch_norm(x, gain, ca::zeros({2}), gain.value(), var);
  CHECK_THROWS_AS(y.backward(ca::ones({3, 2})), ca::stale_error);
}
TEST_CASE("nnet: norms of nothing") {
  const ca::variable<float> x = ca::zeros({0, 4, 3}), g = ca::ones({4});
  const auto empty = [&](const auto& e) {
    ca::variable<float> y = e;
    CHECK(y.shape() == ca::shape{0, 4, 3});
    x.zero_grad();
    g.zero_grad();
    y.backward(ca::zeros({0, 4, 3}));
    CHECK(x.grad().shape() == ca::shape{0, 4, 3});
    if (g.has_grad()) CHECK(off(g.grad(), ca::zeros({4})) == 0);
  };
  empty(nnet::batch_norm(x, g, g));
  empty(nnet::group_norm(x, 2, g, g));
  empty(nnet::instance_norm(x, g, g));
  empty(nnet::layer_norm(x));
  empty(nnet::rms_norm(x, ca::reshape(g, {4, 1})));
  empty(nnet::local_response_norm(x));
  CHECK(array(nnet::layer_norm(ca::zeros({3, 0}))).shape() == ca::shape{3, 0});
}
TEST_CASE("nnet: a norm folded into the layer before it") {
  const array x = wave({2, 3, 6, 6}), w = wave({4, 3, 3, 3}), b = wave({4}), g = wave({4}) + 2, beta = wave({4}) * 3,
              mean = wave({4}) * 2, var = wave({4}) + 2;
  const auto along = [](const array& a) { return ca::reshape(a, {4, 1, 1}); };
  const array y = nnet::batch_norm_inference(nnet::conv2d(x, w) + along(b), g, beta, mean, var);
  const auto [weights, bias] = nnet::fold_batch_norm(w, b, g, beta, mean, var);
  CHECK(off(nnet::conv2d(x, weights) + along(bias), y) < 1e-5);
}
TEST_CASE("nnet: spectral_norm divides by the largest singular value") {
  // singular values 5 and 3
  const ca::ndarray<double> w = ca::array<double>({{4, 1}, {1, 4}}), u = ca::array<double>({0.9, 0.1});
  for (int i = 0; i < 20; ++i) nnet::spectral_norm(w, u);
  CHECK(off(nnet::spectral_norm(w, u), w / 5.) < 1e-9);
  CHECK(off(u, ca::full<double>({2}, std::sqrt(0.5))) < 1e-9);
  // what computes in half types overflows nowhere
  const ca::ndarray<ca::float16> narrow =
      ca::astype<ca::float16>(ca::array<float>({{100, 200, 400}, {300, 900, -100}}));
  const ca::ndarray<ca::float16> v16 = ca::ones<ca::float16>({2});
  for (int i = 0; i < 20; ++i) nnet::spectral_norm(narrow, v16);
  CHECK(test::close(ca::astype<double>(nnet::spectral_norm(narrow, v16)), {2, 3},
                    {0.1026, 0.2053, 0.4106, 0.3079, 0.9238, -0.1026}, 2e-3));
  CHECK(test::thrown<ca::value_error>([&] { nnet::spectral_norm(w, u, {.eps = -1}); }) ==
        "nnet::spectral_norm: eps -1 is negative or no number");
  // of w / s(w) the gradient of sum(g w / s): g / s - sum(g w) / s^2 u v'
  const ca::variable<double> v = w;
  const ca::ndarray<double> g = ca::array<double>({{1, 2}, {0, -1}});
  ca::variable y = nnet::spectral_norm(v, u, {.iterations = 3});
  y.backward(g);
  CHECK(off(v.grad(), g / 5. - 2 / 25. * 0.5) < 1e-9);
}
