// Activations and their derivatives: values of NumPy in float64, ends of the range, slopes.
// SPDX-License-Identifier: MIT
#include <limits>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::_;
using ca::none;
using ca::slice;
using test::doubles;
using floats = std::vector<float>;

constexpr double inf = std::numeric_limits<double>::infinity(), nan_ = std::numeric_limits<double>::quiet_NaN();

doubles points() { return ca::array<double>({-30, -2, -0.5, 0, 0.5, 2, 30}); }
doubles ends() { return ca::array<double>({-inf, -1000, 1000, inf}); }
doubles nan_array() { return ca::array<double>({nan_}); }

template <class X>
bool is_nan(const X& x) {
  const double v = x.item();
  return v != v;
}

}  // namespace

// s = 1 / (1 + exp(-x)); np.exp(-abs(x)) / (1 + np.exp(-abs(x))) ** 2; np.tanh(x); 1 / np.cosh(x) ** 2; np.logaddexp(0,
// x)

TEST_CASE("nnet: relu") {
  CHECK(test::equal(nnet::relu(points()), {7}, std::vector<double>{0, 0, 0, 0, 0.5, 2, 30}));
  CHECK(test::equal(nnet::relu(ends()), {4}, std::vector<double>{0, 0, 1000, inf}));
  CHECK(is_nan(nnet::relu(nan_array())));
}

TEST_CASE("nnet: relu_d is 1 at 0, relu_backward 0") {
  CHECK(test::equal(nnet::relu_d(points()), {7}, std::vector<double>{0, 0, 0, 1, 1, 1, 1}));
  CHECK(test::equal(nnet::relu_d(ca::array<float>({-0.f})), {1}, floats{1}));
  const doubles dy = ca::array<double>({1, 2, 3, 4, 5, 6, 7});
  CHECK(test::equal(nnet::relu_backward(dy, points()), {7}, std::vector<double>{0, 0, 0, 0, 5, 6, 7}));
  // what does not pass is left out, not multiplied by 0
  CHECK(test::equal(nnet::relu_backward(ca::array<double>({nan_, inf, 1}), ca::array<double>({-1, 0, 1})), {3},
                    std::vector<double>{0, 0, 1}));
  CHECK(test::equal(nnet::relu_backward(ca::array<float>({1, 2}), ca::array<float>({{1}, {-1}})), {2, 2},
                    floats{1, 2, 0, 0}));
  CHECK(test::thrown<ca::shape_error>([] { nnet::relu_backward(ca::zeros({2}), ca::zeros({3})); }) ==
        "nnet::relu_backward: shapes (3,) and (2,) differ at axis 0");
}

TEST_CASE("nnet: sigmoid") {
  CHECK(test::close(nnet::sigmoid(points()), {7},
                    {9.357622968839299e-14, 0.11920292202211755, 0.3775406687981454, 0.5, 0.6224593312018546,
                     0.8807970779778823, 0.9999999999999065},
                    1e-14));
  CHECK(test::equal(nnet::sigmoid(ends()), {4}, std::vector<double>{0, 0, 1, 1}));
  CHECK(is_nan(nnet::sigmoid(nan_array())));
  CHECK(test::close(nnet::sigmoid_d(points()), {7},
                    {9.357622968838425e-14, 0.1049935854035065, 0.2350037122015945, 0.25, 0.2350037122015945,
                     0.1049935854035065, 9.357622968838425e-14},
                    1e-14));
  CHECK(test::equal(nnet::sigmoid_d(ends()), {4}, std::vector<double>{0, 0, 0, 0}));
}

TEST_CASE("nnet: tanh") {
  CHECK(test::close(nnet::tanh(points()), {7},
                    {-1, -0.9640275800758169, -0.46211715726000974, 0, 0.46211715726000974, 0.9640275800758169, 1},
                    1e-14));
  CHECK(test::close(nnet::tanh_d(points()), {7},
                    {3.502604305078608e-26, 0.07065082485316447, 0.7864477329659275, 1, 0.7864477329659275,
                     0.07065082485316447, 3.502604305078608e-26},
                    1e-14));
  CHECK(test::equal(nnet::tanh_d(ends()), {4}, std::vector<double>{0, 0, 0, 0}));
}

TEST_CASE("nnet: softplus") {
  CHECK(test::close(nnet::softplus(points()), {7},
                    {9.357622968839737e-14, 0.1269280110429725, 0.4740769841801067, 0.6931471805599453,
                     0.9740769841801067, 2.1269280110429727, 30.000000000000092},
                    1e-14));
  CHECK(test::equal(nnet::softplus(ends()), {4}, std::vector<double>{0, 0, 1000, inf}));
  CHECK(is_nan(nnet::softplus(nan_array())));
  CHECK(test::close(nnet::softplus_d(points()), {7},
                    {9.357622968839299e-14, 0.11920292202211755, 0.3775406687981454, 0.5, 0.6224593312018546,
                     0.8807970779778823, 0.9999999999999065},
                    1e-14));
  CHECK(
      test::close(nnet::softplus(ca::array<float>({-100, 24, 25, 26, 100})), {5}, {3.7835e-44, 24, 25, 26, 100}, 1e-7));
}

TEST_CASE("nnet: derivatives are slopes") {
  const doubles x = ca::array<double>({-3, -1.25, -0.5, 0.25, 1, 4});
  CHECK(test::close(nnet::relu_d(x), {6},
                    test::slope([](const doubles& v) { return ca::sum(nnet::relu(v)).item(); }, x), 1e-8));
  CHECK(test::close(nnet::sigmoid_d(x), {6},
                    test::slope([](const doubles& v) { return ca::sum(nnet::sigmoid(v)).item(); }, x), 1e-8));
  CHECK(test::close(nnet::tanh_d(x), {6},
                    test::slope([](const doubles& v) { return ca::sum(nnet::tanh(v)).item(); }, x), 1e-8));
  CHECK(test::close(nnet::softplus_d(x), {6},
                    test::slope([](const doubles& v) { return ca::sum(nnet::softplus(v)).item(); }, x), 1e-8));
}

TEST_CASE("nnet: activations of any shape and dtype") {
  const auto a = ca::array<float>({{-1, 2, -3}, {4, -5, 6}});
  CHECK(test::equal(nnet::relu(a.t()), {3, 2}, floats{0, 4, 2, 0, 0, 6}));
  CHECK(test::equal(nnet::relu(a(_, slice(none, none, -2))), {2, 2}, floats{0, 0, 6, 4}));
  CHECK(test::equal(nnet::relu(a + a), {2, 3}, floats{0, 4, 0, 8, 0, 12}));
  CHECK(nnet::relu(a(0, 0)).item() == 0);
  CHECK(nnet::softplus(ca::zeros({0, 3})).shape() == ca::shape{0, 3});
  CHECK(test::equal(nnet::sigmoid(ca::zeros({0})), {0}, floats{}));
  CHECK(test::equal(nnet::relu(ca::array<int>({-7, 7})), {2}, std::vector<int>{0, 7}));
  CHECK(test::equal(nnet::sigmoid(ca::eval(ca::astype<ca::float16>(ca::array<float>({0, 100})))), {2}, floats{0.5, 1}));
  static_assert(std::is_same_v<ca::value_type_t<decltype(nnet::relu_d(a))>, float>);
  static_assert(std::is_same_v<ca::value_type_t<decltype(nnet::softplus(a))>, float>);
}

TEST_CASE("nnet: activations into out") {
  const auto a = ca::array<float>({-1, 0, 2});
  ca::ndarray<float> c = ca::zeros({3});
  const auto before = c.storage().get();
  nnet::relu(a, ca::out(c));
  CHECK(test::equal(c, {3}, floats{0, 0, 2}));
  CHECK(c.storage().get() == before);
  nnet::relu_d(c, ca::out(c));
  CHECK(test::equal(c, {3}, floats{1, 1, 1}));
  CHECK(test::thrown<ca::shape_error>([&] { nnet::sigmoid(ca::zeros({2}), ca::out(c)); }) ==
        "nnet::sigmoid: the result has shape (2,), out has (3,)");
}
