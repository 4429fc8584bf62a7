// Gradients of sorts, cumulative functions, masks, parts, and of what moves variables to other devices.
#include <limits>

#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;
using test::numbers;
using doubles = ca::ndarray<double>;
using variable = ca::variable<double>;

/// The gradient of the sum of `f(x) * g`.
template <class F>
numbers gradient_of(const F& f, const numbers& x, const numbers& g) {
  const variable v = ca::array(x);
  variable(f(v)).backward(ca::array(g));
  return test::values(v.grad());
}
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("autograd: gradients of sorted elements go back to where they were") {
  check_layouts(
      "sort", [](const auto& x) { return ca::sort(x, 1); }, S{2, 4, 3});
  check_layouts(
      "sort of an expression", [](const auto& x) { return ca::sort(ca::sin(x)); }, S{7});
  check_layouts(
      "topk", [](const auto& x) { return ca::topk(x, 2, {.axis = 0}).values; }, S{4, 3});
  check_layouts(
      "smallest", [](const auto& x) { return ca::topk(x, 3, {.largest = false}).values; }, S{2, 5});
  const auto sorted = [](const auto& x) { return ca::sort(x); };
  CHECK(gradient_of(sorted, {3, 1, not_a_number, 1}, {1, 2, 3, 4}) == numbers{3, 1, 4, 2});  // equals in their order
  const variable v = ca::array<double>({3, 1, 2});
  static_assert(!ca::variable_expression<decltype(ca::argsort(v))>);
  CHECK(test::equal(ca::argsort(v), {3}, numbers{1, 2, 0}));
  CHECK(test::equal(ca::topk(v, 2).indices, {2}, numbers{0, 2}));
  CHECK_THROWS_AS(ca::sort(v, 1), ca::index_error);
  CHECK_THROWS_AS(ca::topk(v, 4), ca::value_error);
}

TEST_CASE("autograd: gradients of segments") {
  const auto of = ca::array<int>({0, 3, 1, 0, 3});
  check_layouts(
      "segment_sum", [&](const auto& x) { return ca::segment_sum(x, of, 5); }, S{5, 3});
  check_layouts(
      "segment_mean", [&](const auto& x) { return ca::segment_mean(x, of, 5); }, S{5, 3});
  const auto present = ca::array<int>({0, 2, 1, 0, 2});
  check_layouts(
      "segment_max", [&](const auto& x) { return ca::segment_max(x, present); }, S{5, 3});
  check_layouts(
      "segment_min", [&](const auto& x) { return ca::segment_min(ca::sin(x), present); }, S{5});
  const auto largest = [](const auto& x) { return ca::segment_max(x, ca::array<int>({1, 1, 1, 3}), 4); };
  CHECK(gradient_of(largest, {2, 7, 7, 1}, {1, 2, 3, 4}) == numbers{0, 2, 0, 4});  // the first of equals
  const auto empty = [](const auto& x) { return ca::segment_max(x, ca::zeros<int>({0}), 1); };
  CHECK(test::values(ca::stop_gradient(empty(variable(ca::zeros<double>({0})))))[0] < -1e308);
}

TEST_CASE("autograd: gradients of cumulative functions") {
  check_layouts(
      "cumsum", [](const auto& x) { return ca::cumsum(x, 1); }, S{2, 4, 3});
  check_layouts(
      "cumsum of all", [](const auto& x) { return ca::cumsum(x * x); }, S{2, 3});
  check_layouts(
      "cumprod", [](const auto& x) { return ca::cumprod(x, 0); }, S{4, 3});
  check_layouts(
      "cumprod of all", [](const auto& x) { return ca::cumprod(x); }, S{2, 3});
  check_layouts(
      "cummax", [](const auto& x) { return ca::cummax(x, -1); }, S{3, 6});
  check_layouts(
      "cummin", [](const auto& x) { return ca::cummin(x, 0); }, S{6, 3});
  const auto product = [](const auto& x) { return ca::cumprod(x, 0); };
  // y = (x0, x0 x1, x0 x1 x2, ...): at zeros the products of the others
  CHECK(gradient_of(product, {2, 0, 3, 5}, {1, 1, 1, 1}) == numbers{1, 2 + 6 + 30, 0, 0});
  CHECK(gradient_of(product, {2, 0, 3, 0, 7}, {1, 1, 1, 1, 1}) == numbers{1, 2 + 6, 0, 0, 0});
  CHECK(gradient_of(product, {0, 0}, {1, 1}) == numbers{1, 0});
  const auto largest = [](const auto& x) { return ca::cummax(x, 0); };
  CHECK(gradient_of(largest, {1, 3, 2, 3, 1}, {1, 10, 100, 1000, 10000}) == numbers{1, 110, 0, 11000, 0});
  CHECK(gradient_of(largest, {1, not_a_number, 2, not_a_number}, {1, 10, 100, 1000}) == numbers{1, 110, 0, 1000});
  const ca::variable<float> f = ca::array<float>({1, 2});
  static_assert(std::is_same_v<decltype(ca::cumsum<double>(f)), variable>);
  variable(ca::cumsum<double>(f)).backward(ca::array<double>({1, 2}));
  CHECK(test::equal(f.grad(), {2}, numbers{3, 2}));
  CHECK(ca::cumsum(variable(ca::zeros<double>({0, 2})), 0).shape() == S{0, 2});
  CHECK_THROWS_AS(ca::cumsum(f, 1), ca::index_error);
}

TEST_CASE("autograd: gradients of parts, masks and index arrays") {
  check_layouts(
      "flip",
      [](const auto& x) {
        return ca::flip(x, {0, 2});
      },
      S{2, 3, 2});
  check_layouts(
      "parts", [](const auto& x) { return ca::split(x, 2, 1)[1] * ca::split(x, {2}, 1)[0]; }, S{3, 4});
  check_layouts(
      "contiguous", [](const auto& x) { return ca::ascontiguousarray(ca::eval(x * 2.)); }, S{2, 3});
  check_layouts(
      "dot", [](const auto& x, const auto& y) { return ca::dot(x, y); }, S{2, 3}, S{3, 2});
  check_layouts(
      "inner", [](const auto& x, const auto& y) { return ca::inner(x, y); }, S{2, 3}, S{4, 3});
  check_layouts(
      "inner of rows", [](const auto& x, const auto& y) { return ca::inner(x, y); }, S{3}, S{3});
  check_layouts(
      "mean_var",
      [](const auto& x) {
        const auto r = ca::mean_var(x, 1, ca::ddof{1}, ca::keepdims);
        return (x - r.mean) / r.var;
      },
      S{2, 4});
  const variable v = ca::array<double>({{1, 2, 3}, {4, 5, 6}});
  const ca::ndarray<bool> mask = ca::array<bool>({{true, false, true}, {false, false, true}});
  const variable chosen = v(mask);
  CHECK(test::equal(chosen.value(), {3}, numbers{1, 3, 6}));
  chosen.backward(ca::array<double>({10, 20, 30}));
  CHECK(test::equal(v.grad(), {2, 3}, numbers{10, 0, 20, 0, 0, 30}));
  v.zero_grad();
  const variable rows = v(ca::array<int>({1, 0, 1}));
  rows.backward(ca::array<double>({{1, 1, 1}, {2, 2, 2}, {3, 3, 4}}));
  CHECK(test::equal(v.grad(), {2, 3}, numbers{2, 2, 2, 4, 4, 5}));
  CHECK(test::equal(v(ca::array<bool>({false, true})).value(), {1, 3}, numbers{4, 5, 6}));
  CHECK_THROWS_AS(v(ca::array<bool>({true, true, true})), ca::index_error);
  CHECK_THROWS_AS(ca::split(v, 2, 1), ca::value_error);
  CHECK(test::equal(ca::zeros_like(v), {2, 3}, numbers(6, 0.)));
  CHECK(test::equal(ca::full_like<int>(v, 7), {2, 3}, numbers(6, 7.)));
  CHECK(ca::empty_like(v).shape() == v.shape());
  CHECK(test::equal(ca::ones_like(v), {2, 3}, numbers(6, 1.)));
  CHECK(ca::item(ca::sum(v)) == 21);
  CHECK(ca::to_string(v(0)) == "[1. 2. 3.]");
}

TEST_CASE("autograd: gradients of indices side by side") {
  const ca::ndarray<int> i = ca::array<int>({1, 0, 1}), j = ca::array<int>({-1, 0, 2});
  const ca::ndarray<bool> mask = ca::array<bool>({true, false, true});
  check_layouts(
      "pairs, one of them twice", [&](const auto& x) { return x(i, j) * x(0, j); }, S{2, 3});
  check_layouts(
      "columns", [&](const auto& x) { return x(ca::_, j) * x(mask(ca::slice(2)), 1); }, S{2, 3});
  check_layouts(
      "axes apart", [&](const auto& x) { return x(i, ca::slice(1, ca::none), j) * x(0, ca::newaxis, 1, mask)(0, 0); },
      S{2, 3, 3});
  check_layouts(
      "of an expression", [&](const auto& x) { return ca::eval(x * x)(ca::ellipsis, mask, 0); }, S{2, 3, 2});
  // what NumPy's add.at makes of zeros
  const ca::variable<float> v = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
  const ca::ndarray<float> w = ca::array<float>({10, 20, 30});
  const ca::variable<float> loss = ca::sum(v(i, j) * w);
  CHECK(loss.item() == 60 + 20 + 180);
  loss.backward();
  CHECK(test::equal(v.grad(), {2, 3}, numbers{20, 0, 0, 0, 0, 40}));
  v.zero_grad();
  const ca::variable<float> columns = v(ca::_, ca::array<ca::uint8>({{2}, {0}}));
  columns.backward(ca::reshape(ca::arange<float>(4), {2, 2, 1}));
  CHECK(test::equal(v.grad(), {2, 3}, numbers{1, 0, 0, 3, 0, 2}));
  const ca::variable<float> x = ca::zeros<float>({3, 4});
  const ca::variable<float> some = x(mask, ca::array<int>({{0, 1}, {0, 3}}));
  some.backward(ca::array<float>({{1, 2}, {3, 4}}));
  CHECK(test::equal(x.grad(), {3, 4}, numbers{4, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4}));
  const ca::variable<float> y = ca::zeros<float>({2, 3, 4});
  const ca::variable<float> apart = y(ca::array<int>({1, 1}), ca::_, ca::array<int>({3, -1}));
  apart.backward(ca::reshape(ca::arange<float>(6), {2, 3}));
  CHECK(test::equal(y.grad()(1, ca::_, 3), {3}, numbers{3, 5, 7}));
  CHECK(ca::sum(y.grad()).item() == 15);
  CHECK_THROWS_AS(v(ca::array<int>({0, 1}), ca::array<int>({0, 1, 2})), ca::shape_error);
  CHECK_THROWS_AS(v(i, j, 0), ca::index_error);
}

TEST_CASE("autograd: the gradient of a loss of probabilities") {
  const doubles labels = ca::array<double>({{0, 1, 0}, {0.5, 0, 0.5}});
  check_layouts(
      "categorical_cross_entropy",
      [&](const auto& x) { return ca::nnet::categorical_cross_entropy(ca::exp(x) * 0.05, labels); }, S{2, 3});
  const variable p = ca::array<double>({{0.5, 0.5, 0}, {0.25, 0, 0.75}});
  variable(ca::nnet::categorical_cross_entropy(p, labels, 0)).backward(ca::ones<double>({2}));
  // -y / p + 1 / sum(p), and 0 where a class counts nothing and p is at the bound
  CHECK(test::close(p.grad(), {2, 3}, numbers{1, -1, 1, -1, 1, 1. / 3}, 1e-12));
  CHECK_THROWS_AS(ca::nnet::categorical_cross_entropy(p, doubles(labels(0))), ca::shape_error);
}

TEST_CASE("autograd: a gradient comes back from another device") {
  const ca::variable<float> v = ca::array<float>({1, 2, 3});
  const ca::variable<float, ca::cpu> there = ca::to<ca::cpu>(v * 2.f);
  const ca::variable<float, ca::cpu> y = ca::sum(there * there);
  y.backward();
  CHECK(test::equal(v.grad(), {3}, numbers{8, 16, 24}));
  const ca::no_grad guard;
  CHECK(!ca::to<ca::cpu>(v).requires_grad());
}
