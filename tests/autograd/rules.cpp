// Gradients of eager functions: reductions that are no sums, what picks and joins elements, and neural networks.
#include <limits>

#include "differences.hpp"

namespace {

using ca::_;
using S = ca::shape;
using test::check_layouts;
using test::numbers;
namespace nnet = ca::nnet;

/// The gradient of the sum of f(x).
template <class F>
numbers gradient_of(const F& f, const numbers& x) {
  const ca::variable<double> v = ca::array(x);
  ca::variable<double>(ca::sum(f(v))).backward();
  return test::values(v.grad());
}

}  // namespace

TEST_CASE("autograd: gradients of extremes, products and variances") {
  check_layouts(
      "max", [](const auto& x) { return ca::max(x, 1); }, S{2, 3, 2});
  check_layouts(
      "max of all", [](const auto& x) { return ca::max(x * x); }, S{2, 3});
  check_layouts(
      "min",
      [](const auto& x) {
        return ca::min(x * 2., {0, 2}, ca::keepdims);
      },
      S{2, 3, 2});
  check_layouts(
      "prod", [](const auto& x) { return ca::prod(x, 1); }, S{2, 3, 2});
  check_layouts(
      "var", [](const auto& x) { return ca::var(x, -1); }, S{2, 4});
  check_layouts(
      "std", [](const auto& x) { return ca::std(x, 0, ca::ddof{1}); }, S{5, 2});
}
TEST_CASE("autograd: gradients of reductions at ties and zeros") {
  const auto max = [](const auto& x) { return ca::max(x); };
  const auto prod = [](const auto& x) { return ca::prod(x); };
  CHECK(gradient_of(max, {1, 3, 3, 2}) == numbers{0, 0.5, 0.5, 0});
  CHECK(gradient_of(max, {1, std::numeric_limits<double>::infinity()}) == numbers{0, 1});
  CHECK(gradient_of(prod, {2, 3, 4}) == numbers{12, 8, 6});
  CHECK(gradient_of(prod, {2, 0, 4}) == numbers{0, 8, 0});
  CHECK(gradient_of(prod, {0, 0, 4}) == numbers{0, 0, 0});
}
TEST_CASE("autograd: gradients of normalisations in NumPy's notation") {
  check_layouts(
      "layer norm",
      [](const auto& x, const auto& g, const auto& b) {
        return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5) * g + b;
      },
      S{3, 4}, S{4}, S{4});
  check_layouts(
      "softmax",
      [](const auto& x) {
        const auto e = ca::exp(x - ca::max(x, -1, ca::keepdims));
        return e / ca::sum(e, -1, ca::keepdims);
      },
      S{3, 4});
}
TEST_CASE("autograd: gradients of what picks elements") {
  const ca::ndarray<int> picks = ca::array<int>({0, 2, 2, -1}), of_each = ca::array<int>({{0, 2}, {-1, 1}});
  check_layouts(
      "take", [&](const auto& x) { return ca::take(x, picks, 1); }, S{2, 3, 2});
  check_layouts(
      "take_along_axis", [&](const auto& x) { return ca::take_along_axis(x, of_each, 1); }, S{2, 3});
  check_layouts(
      "take_along_axis", [&](const auto& x) { return ca::take_along_axis(x, of_each, 0); }, S{3, 2});
  check_layouts(
      "slices", [](const auto& x) { return x(_, ca::slice(0, 3, 2)); }, S{2, 3, 2});
  check_layouts(
      "integers", [](const auto& x) { return x(1, -1); }, S{2, 3, 2});
  check_layouts(
      "newaxis", [](const auto& x) { return x(ca::newaxis, ca::ellipsis, ca::slice(ca::none, ca::none, -1)); },
      S{2, 3});
  check_layouts(
      "the same twice", [](const auto& x) { return x(ca::slice(0, 2)) * x(ca::slice(1, 3)); }, S{3, 2});
  check_layouts(
      "t", [](const auto& x) { return x.t(); }, S{2, 3});
  const ca::variable<float> x = ca::ones({3});
  CHECK_THROWS_AS(x(3), ca::index_error);
  CHECK(test::equal(ca::take(x, ca::array<int>({0}), 0).value(), {1}, numbers{1}));
}
TEST_CASE("autograd: gradients of what is joined") {
  check_layouts(
      "concatenate",
      [](const auto& x, const auto& y) {
        using X = std::remove_cvref_t<decltype(x)>;
        return ca::concatenate({x, y, X(x * y)}, 1);
      },
      S{2, 3}, S{2, 3});
  check_layouts(
      "stack",
      [](const auto& x, const auto& y) {
        using X = std::remove_cvref_t<decltype(x)>;
        return ca::stack({x, X(y * 2.)}, -1);
      },
      S{2, 3}, S{2, 3});
  const std::vector<ca::variable<float>> none;
  CHECK(test::thrown<ca::value_error>([&] { ca::concatenate(none); }) == "concatenate: no arrays given");
}
TEST_CASE("autograd: gradients of convolution and pooling") {
  check_layouts(
      "conv2d",
      [](const auto& x, const auto& w) {
        return nnet::conv2d(x, w, {.stride = {1, 2}, .padding = 1});
      },
      S{2, 2, 3, 3}, S{2, 2, 2, 3});
  check_layouts(
      "max_pool2d", [](const auto& x) { return nnet::max_pool2d(x, {.window = 2}); }, S{1, 2, 4, 4});
  check_layouts(
      "avg_pool2d", [](const auto& x) { return nnet::avg_pool2d(x, {.window = 3, .stride = 1, .padding = 1}); },
      S{1, 2, 3, 3});
}
TEST_CASE("autograd: gradients of glu and cross_entropy of class numbers") {
  check_layouts(
      "glu", [](const auto& x) { return nnet::glu(x, 1); }, S{2, 4, 3});
  const ca::ndarray<int> labels = ca::array<int>({2, 0, -100});
  check_layouts(
      "cross_entropy", [&](const auto& x) { return nnet::cross_entropy(x, labels, {.label_smoothing = 0.25}); },
      S{3, 4});
  check_layouts(
      "cross_entropy of each row",
      [&](const auto& x) { return nnet::cross_entropy<nnet::reduction::none>(x, labels, {.axis = 0}); }, S{4, 3});
}
TEST_CASE("autograd: gradients of softmax and its family") {
  check_layouts(
      "softmax", [](const auto& x) { return nnet::softmax(x, 0); }, S{3, 2});
  check_layouts(
      "log_softmax", [](const auto& x) { return nnet::log_softmax(x); }, S{3, 2});
  check_layouts(
      "logsumexp", [](const auto& x) { return nnet::logsumexp(x, 1); }, S{3, 2});
  check_layouts(
      "logsumexp, kept", [](const auto& x) { return nnet::logsumexp(x, 0, true); }, S{3, 2});
  check_layouts(
      "softmax_cross_entropy", [](const auto& x, const auto& t) { return nnet::softmax_cross_entropy(x, t); }, S{3, 4},
      S{3, 4});
}
TEST_CASE("autograd: gradients of layers") {
  check_layouts(
      "linear",
      [](const auto& x, const auto& w, const auto& b) {
        return nnet::linear(x, w, b, {.activation = nnet::activation::relu});
      },
      S{3, 4}, S{4, 2}, S{2});
  // the mask of dropout is made again
  const ca::variable<float> x = ca::ones({1000});
  ca::random::seed(3);
  const ca::variable<float> y = nnet::dropout(x, 0.4);
  y.backward(ca::ones({1000}));
  CHECK(test::equal(x.grad(), {1000}, test::values(y.value())));
  CHECK(ca::sum(y.value() == 0.f).item() > 300);
}
TEST_CASE("autograd: half types") {
  const ca::variable<ca::bfloat16> logits = ca::full<ca::bfloat16>({3}, ca::bfloat16(100.f));
  nnet::logsumexp(logits).backward();
  CHECK(test::close(logits.grad(), {3}, numbers(3, 1 / 3.), 4e-3));
  const ca::variable<ca::bfloat16> x = ca::astype<ca::bfloat16>(ca::array<float>({0.5f, 1, 2}));
  const ca::variable<float> w = ca::array<float>({1, 2, 4});
  const ca::variable loss = ca::sum(ca::square(x * ca::astype<ca::bfloat16>(w)));
  static_assert(std::is_same_v<decltype(loss), const ca::variable<ca::bfloat16>>);
  loss.backward();
  CHECK(test::equal(x.grad(), {3}, numbers{1, 8, 64}));
  CHECK(test::equal(w.grad(), {3}, numbers{0.5, 4, 32}));
}
