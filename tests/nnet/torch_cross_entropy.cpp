// cross_entropy of class numbers against PyTorch, its edges, and how many kernels it takes.
// SPDX-License-Identifier: MIT
#include <limits>

#include "nnet/slope.hpp"
#include "nnet/torch.hpp"

namespace {

namespace nnet = ca::nnet;
using nnet::reduction;
using torch::of;
using floats = std::vector<float>;

/// The labels of a case, which holds numbers.
template <class V>
ca::ndarray<int> labels_of(const V& v) {
  return ca::astype<int>(v.value());
}

template <reduction R, class Check>
void check_losses(Check& check, const std::string& of_reduction) {
  const auto with = [&](const char* name, const nnet::cross_entropy_options& o) {
    check(of<2>, name + of_reduction,
          [&o](const auto& x, const auto& y) { return nnet::cross_entropy<R>(x, labels_of(y), o); });
  };
  const auto weighted = [&](const char* name, const nnet::cross_entropy_options& o) {
    check(of<3>, name + of_reduction, [&o](const auto& x, const auto& y, const auto& w) {
      return nnet::cross_entropy<R>(x, labels_of(y), w.value(), o);
    });
  };
  with("plain", {});
  with("smoothing", {.label_smoothing = 0.125});
  with("ignored", {});
  with("ignored smoothing", {.label_smoothing = 0.25});
  with("axis 1", {.axis = 1});
  weighted("weights", {});
  weighted("weights smoothing", {.label_smoothing = 0.25});
  weighted("axis 1 weights", {.axis = 1});
  check(of<2>, "soft" + of_reduction,
        [](const auto& x, const auto& y) { return nnet::cross_entropy<R>(x, y.value()); });
  check.finish();
}

}  // namespace

TEST_CASE("nnet: means of cross_entropy are PyTorch's") {
  torch::checker<float, ca::float16> check("cross_entropy.txt", " mean");
  check_losses<reduction::mean>(check, " mean");
}
TEST_CASE("nnet: sums of cross_entropy are PyTorch's") {
  torch::checker<double> check("cross_entropy.txt", " sum");
  check_losses<reduction::sum>(check, " sum");
}
TEST_CASE("nnet: cross_entropy of each row is PyTorch's") {
  torch::checker<double> check("cross_entropy.txt", " none");
  check_losses<reduction::none>(check, " none");
}

TEST_CASE("nnet: cross_entropy and its gradient are one pass") {
  const ca::ndarray<float> logits = ca::astype<float>(test::wave_of({64, 1000}, 1) * 3.), copy = logits.copy();
  const ca::ndarray<int> labels = ca::arange<int>(64) * 7;
  const auto before = ca::stats();
  const auto both = nnet::cross_entropy_and_gradient(logits, labels);
  CHECK((ca::stats() - before).kernels <= 6);  // labels, how many count, the rows, the gradients at labels, the mean
  const ca::variable<float> v = logits;
  const ca::variable loss = nnet::cross_entropy(v, labels);
  CHECK(test::values(loss.value()) == test::values(both.loss));
  loss.backward();
  CHECK(test::values(v.grad()) == test::values(both.gradient));
  // softmax(x) - one_hot, by 64
  const ca::ndarray<float> expected = (nnet::softmax(logits) - nnet::one_hot_encode(labels, 1000)) / 64.f;
  CHECK(ca::max(ca::abs(expected - both.gradient)).item() < 1e-8f);
  // in place
  const auto same = nnet::cross_entropy_and_gradient(copy, labels, {}, ca::out(copy));
  CHECK(test::values(same) == test::values(both.loss));
  CHECK(test::values(copy) == test::values(both.gradient));
}
TEST_CASE("nnet: cross_entropy of labels of any integers, ignored rows of NaN, classes that cannot be") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const ca::variable<float> x = ca::array<float>({{0, 0, -inf}, {nan, nan, inf}, {-inf, 1, -inf}});
  const auto labels = ca::array<ca::uint8>({1, 255, 1});
  const ca::variable loss = nnet::cross_entropy<reduction::none>(x, labels, {.ignore_index = 255});
  CHECK(test::close(loss.value(), {3}, {0.6931471805599453, 0, 0}, 1e-6));
  loss.backward(ca::ones({3}));
  CHECK(test::close(x.grad(), {3, 3}, {0.5, -0.5, 0, 0, 0, 0, 0, 0, 0}, 1e-6));
  const auto all = nnet::cross_entropy(x.value(), ca::array<ca::int64>({-100, -100, -100})).item();
  CHECK(all != all);
  CHECK(nnet::cross_entropy<reduction::none>(ca::zeros({0, 3}), ca::zeros<int>({0})).shape() == ca::shape{0});
  CHECK(nnet::cross_entropy<reduction::sum>(ca::zeros({0, 3}), ca::zeros<int>({0})).item() == 0);
}
TEST_CASE("nnet: a scaled loss of float16 has the gradients that float16 holds") {
  const ca::variable<ca::float16> x = ca::zeros<ca::float16>({2048, 50});
  ca::variable<ca::float16>(nnet::cross_entropy(x, ca::zeros<int>({2048})) * 2048.f).backward();
  CHECK(test::close(ca::astype<float>(x.grad()(5, ca::slice(0, 2))), {2}, {-0.98, 0.02}, 1e-3));
}
TEST_CASE("nnet: gradients of cross_entropy in arrays of any strides, also those of the logits") {
  for (const ca::int64 n : {3, 70, 300}) {
    for (const double smoothing : {0., .25}) {
      INFO(n << " " << smoothing);
      const ca::ndarray<float> wide = ca::astype<float>(test::wave_of({n, 8}, 1) * 3.),
                               x = wide(ca::_, ca::slice(1, 6));
      const ca::ndarray<int> labels = ca::arange<int>(5) * 7 % int(n);
      const nnet::cross_entropy_options o{.label_smoothing = smoothing, .axis = 0};
      const auto right = nnet::cross_entropy_and_gradient(x.copy(), labels, o);
      const auto beside = test::values(wide(ca::_, 0));
      const auto loss = nnet::cross_entropy_and_gradient(x, labels, o, ca::out(x));
      CHECK(test::close(loss, {}, test::values(ca::astype<double>(right.loss)), 1e-6));
      CHECK(test::close(x, {n, 5}, test::values(ca::astype<double>(right.gradient)), 1e-6));
      CHECK(test::values(wide(ca::_, 0)) == beside);
    }
  }
}
TEST_CASE("nnet: cross_entropy does not read a label that is no class") {
  const auto wrong = [](int label) {
    return test::thrown<ca::index_error>([&] {
      nnet::cross_entropy(ca::zeros({2, 3}), ca::array<int>({0, label}));
      ca::synchronize();
    });
  };
  CHECK(wrong(3) == "nnet::cross_entropy: index 3 is out of bounds for axis 1 with size 3");
  CHECK(wrong(-1) == "nnet::cross_entropy: index -1 is out of bounds for axis 1 with size 3");
  CHECK(wrong(2) == "nothing was thrown");
  CHECK_THROWS_AS((nnet::cross_entropy(ca::zeros({1, 3}), ca::array<ca::uint64>({~ca::uint64(99)})), ca::synchronize()),
                  ca::index_error);
}
TEST_CASE("nnet: cross_entropy of wrong shapes and options") {
  const auto x = ca::zeros({2, 3});
  const auto y = ca::zeros<int>({2});
  CHECK(test::thrown<ca::shape_error>([&] { nnet::cross_entropy(x, ca::zeros<int>({3})); }) ==
        "nnet::cross_entropy: logits of shape (2, 3), labels of shape (3,): (2,) is wanted");
  CHECK(test::thrown<ca::shape_error>([&] {
          nnet::cross_entropy(ca::zeros({2, 0}), y);
        }) == "nnet::cross_entropy: logits of shape (2, 0) have 0 classes");
  CHECK(test::thrown<ca::shape_error>([&] { nnet::cross_entropy(x, y, ca::ones({2})); }) ==
        "nnet::cross_entropy: logits of shape (2, 3), weights of shape (2,): (3,) is wanted");
  CHECK(test::thrown<ca::value_error>([&] { nnet::cross_entropy(x, y, {.label_smoothing = 1.5}); }) ==
        "nnet::cross_entropy: label_smoothing 1.5 is not in [0, 1]");
  CHECK_THROWS_AS(nnet::cross_entropy(x, y, {.axis = 2}), ca::index_error);
  CHECK_THROWS_AS(nnet::cross_entropy(ca::zeros({}), ca::zeros<int>({})), ca::index_error);
  CHECK_THROWS_AS(nnet::cross_entropy_and_gradient(x, y, {}, ca::out(ca::zeros({3, 2}))), ca::shape_error);
}
TEST_CASE("nnet: second derivatives of cross_entropy") {
  const auto labels = ca::array<int>({2, 0});
  const auto loss = [&](const auto& x) { return nnet::cross_entropy(x, labels, {.label_smoothing = 0.25}); };
  const ca::ndarray<double> x = ca::array<double>({{0.5, -1, 2}, {1, 0, 0.25}}),
                            v = ca::array<double>({{1, 2, -1}, {0.5, 1, 3}});
  // (p v - p (p . v)) / 2 for each row
  const ca::ndarray<double> p = nnet::softmax(x);
  const ca::ndarray<double> expected = (p * v - p * ca::sum(p * v, 1, ca::keepdims)) / 2.;
  CHECK(test::close(ca::hvp(loss)(x, v), {2, 3}, test::values(expected), 1e-12));
}
