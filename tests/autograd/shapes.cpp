// Gradients of functions that join, split, repeat and turn arrays.
// SPDX-License-Identifier: MIT
#include "differences.hpp"

namespace {

using S = ca::shape;
using test::check_layouts;

}  // namespace

TEST_CASE("autograd: gradients of what joins") {
  check_layouts(
      "tuple",
      [](const auto& x, const auto& y) {
        return ca::concatenate(std::tuple(x * y, y, ca::eval(x(0) * 2.)(ca::newaxis)));
      },
      S{2, 3}, S{2, 3});
  check_layouts(
      "stack", [](const auto& x, const auto& y) { return ca::stack(std::tuple(x, y * x), 1); }, S{2, 3}, S{2, 3});
  check_layouts(
      "hstack", [](const auto& x, const auto& y) { return ca::hstack(std::tuple(x, y, x)); }, S{2, 3}, S{2, 1});
  check_layouts(
      "vstack", [](const auto& x, const auto& y) { return ca::vstack(std::tuple(x, y)); }, S{2, 3}, S{3});
  check_layouts(
      "dstack", [](const auto& x, const auto& y) { return ca::dstack(std::tuple(x, y)); }, S{2, 3}, S{2, 3});
  check_layouts(
      "column_stack", [](const auto& x, const auto& y) { return ca::column_stack(std::tuple(x, y)); }, S{2, 3}, S{2});
  check_layouts(
      "append", [](const auto& x, const auto& y) { return ca::append(x, y); }, S{2, 3}, S{2});
}
TEST_CASE("autograd: arrays and variables of other dtypes are joined to a variable") {
  const ca::variable<float> x = ca::array<float>({1, 2});
  const ca::variable<double> y = ca::concatenate(std::tuple(x, ca::arange<double>(2), x * 3));
  y.backward(ca::arange<double>(6));
  CHECK(test::values(x.grad()) == std::vector<float>{12, 16});
  const auto constant = ca::concatenate(std::tuple(x.value(), ca::zeros({1})));
  CHECK(std::is_same_v<decltype(constant), const ca::ndarray<float>>);
  CHECK(test::values(constant) == std::vector<float>{1, 2, 0});
  const ca::variable<float> both = ca::concatenate({x * 2, x * 4});
  x.zero_grad();
  both.backward(ca::array<float>({1, 1, 1, 2}));
  CHECK(test::values(x.grad()) == std::vector<float>{6, 10});
}
TEST_CASE("autograd: gradients of what splits") {
  check_layouts(
      "array_split", [](const auto& x) { return ca::array_split(x, 2, 1)[0] * ca::array_split(x * 2., 2, 1)[0]; },
      S{2, 3});
  check_layouts(
      "unstack", [](const auto& x) { return ca::unstack(x)[1] * ca::unstack(x)[0]; }, S{2, 3});
  check_layouts(
      "hsplit", [](const auto& x) { return ca::hsplit(x, {1})[1]; }, S{2, 3});
}
TEST_CASE("autograd: gradients of what repeats and moves") {
  check_layouts(
      "repeat", [](const auto& x) { return ca::repeat(x, 3, 1); }, S{2, 3});
  check_layouts(
      "repeat by counts",
      [](const auto& x) {
        return ca::repeat(x, {2, 0, 1}, 1);
      },
      S{2, 3});
  check_layouts(
      "tile",
      [](const auto& x) {
        return ca::tile(x, {2, 1, 2});
      },
      S{2, 3});
  check_layouts(
      "resize",
      [](const auto& x) {
        return ca::resize(x, {2, 4});
      },
      S{2, 3});
  check_layouts(
      "roll",
      [](const auto& x) {
        return ca::roll(x, {1, 2}, {0, 1}) * x;
      },
      S{2, 3});
  check_layouts(
      "roll of all", [](const auto& x) { return ca::roll(x, 2) * x; }, S{2, 3});
  check_layouts(
      "insert", [](const auto& x, const auto& y) { return ca::insert(x, 1, y, 1); }, S{2, 3}, S{2});
  check_layouts(
      "insert at several",
      [](const auto& x) {
        return ca::insert(x, {0, 2}, 5, 1);
      },
      S{2, 3});
  check_layouts(
      "delete_", [](const auto& x) { return ca::delete_(x, {0}, 1); }, S{2, 3});
  check_layouts(
      "moveaxis", [](const auto& x) { return ca::moveaxis(x, 0, -1); }, S{2, 3, 2});
  check_layouts(
      "rot90", [](const auto& x) { return ca::rot90(x); }, S{2, 3});
  check_layouts(
      "meshgrid",
      [](const auto& x, const auto& y) { return std::get<0>(ca::meshgrid(x, y)) * std::get<1>(ca::meshgrid(x, y)); },
      S{3}, S{2});
}
TEST_CASE("autograd: gradients of diagonals and triangles") {
  check_layouts(
      "diagonal", [](const auto& x) { return ca::diagonal(x, 1, 0, 2); }, S{2, 3, 4});
  check_layouts(
      "trace", [](const auto& x) { return ca::trace(x * x, -1); }, S{3, 3});
  check_layouts(
      "diag", [](const auto& x) { return ca::diag(x, -1) + ca::diagflat(x * x, 1); }, S{3});
  check_layouts(
      "tril", [](const auto& x) { return ca::tril(x) * ca::triu(x, -1); }, S{3, 4});
  check_layouts(
      "vander", [](const auto& x) { return ca::vander(x, 3); }, S{4});
}
