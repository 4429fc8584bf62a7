// Gradients of statements in which reductions meet their rows, against differences.
// SPDX-License-Identifier: MIT
#include "rows.hpp"

namespace {

using test::check_rows;
using test::layer_norm;
using test::operand;
using test::softmax;
using test::waves;
using test::weighted;

}  // namespace

TEST_CASE("autograd: gradients of rows") {
  for (const ca::int64 n : {64, 67})
    for (const auto layout : {operand::plain, operand::reversed}) {
      const operand x{{3, n}, layout}, row{{n}}, column{{3, 1}};
      check_rows("layer norm", layer_norm, x, row, row);
      check_rows("softmax", softmax, x);
      check_rows("weighted", weighted, x, operand{{3, n}});
      check_rows("weighted by a row", weighted, x, row);
      check_rows(
          "scaled by a column", [](const auto& v, const auto& c) { return softmax(v) * c; }, x, column);
    }
}
TEST_CASE("autograd: gradients of rows of every reduction") {
  const operand x{{2, 65}};
  check_rows(
      "log softmax",
      [](const auto& v) {
        const auto off = v - ca::max(v, -1, ca::keepdims);
        return off - ca::log(ca::sum(ca::exp(off), -1, ca::keepdims));
      },
      x);
  check_rows(
      "range",
      [](const auto& v) {
        const auto low = ca::min(v, -1, ca::keepdims);
        return (v - low) / (ca::max(v, -1, ca::keepdims) - low);
      },
      x);
  check_rows(
      "standard deviation", [](const auto& v) { return v / ca::std(v, -1, ca::keepdims, ca::ddof{1}); }, x);
  check_rows(
      "variance of a function", [](const auto& v) { return v * ca::var(ca::tanh(v), -1, ca::keepdims); }, x);
  check_rows(
      "extreme of a function", [](const auto& v) { return v * ca::max(v * v, -1, ca::keepdims); }, x);
  check_rows(
      "within another",
      [](const auto& v) { return v / ca::sum(ca::square(v - ca::mean(v, -1, ca::keepdims)), -1, ca::keepdims); }, x);
  check_rows(
      "around it", [](const auto& v) { return ca::tanh(softmax(v) * 8) + v; }, x);
}
TEST_CASE("autograd: gradients of rows along other axes") {
  check_rows(
      "all but the first",
      [](const auto& x, const auto& g) {
        return x / ca::sqrt(ca::mean(x * x, {1, 2}, ca::keepdims) + .1) * g;
      },
      operand{{2, 5, 13}}, operand{{5, 13}});
  check_rows(
      "the middle one", [](const auto& x) { return x * ca::sum(x, 1, ca::keepdims); }, operand{{2, 9, 3}});
  check_rows(
      "the first one", [](const auto& x) { return x - ca::mean(x, 0); }, operand{{9, 7}});
  check_rows(
      "all", [](const auto& x) { return x / ca::sum(x * x); }, operand{{9, 8}});
  check_rows("rows of a transposed array", softmax, operand{{3, 64}, operand::transposed});
  check_rows("rows of every second element", softmax, operand{{3, 64}, operand::spread});
  check_rows("short rows", layer_norm, operand{{5, 3}}, operand{{3}}, operand{{3}});
  check_rows("rows of one element", softmax, operand{{4, 1}});
}
TEST_CASE("autograd: gradients of reductions that are not of the same rows") {
  const operand x{{6, 66}};
  check_rows(
      "two axes",
      [](const auto& v) { return v * ca::sum(v, 0, ca::keepdims) / (ca::sum(v * v, 1, ca::keepdims) + 1.); }, x);
  check_rows(
      "two variables",
      [](const auto& v, const auto& w) {
        return (v - ca::mean(w, -1, ca::keepdims)) / ca::sqrt(ca::var(v, -1, ca::keepdims) + .1) + w;
      },
      x, x);
  check_rows(
      "two scalars",
      [](const auto& v) {
        return v / ca::sqrt(ca::var(v, -1, ca::keepdims) + .1) + v * ca::sqrt(ca::var(v, -1, ca::keepdims) + 2.);
      },
      x);
  check_rows(
      "another shape", [](const auto& v, const auto& w) { return v * ca::sum(w, -1, ca::keepdims); }, x,
      operand{{1, 9}});
}
TEST_CASE("autograd: rows within a chain") {
  const test::doubles m = waves({4, 70});
  const auto f = [&](const auto& x, const auto& w) {
    const auto h = ca::eval(ca::tanh(x * w));
    const auto n = ca::eval(layer_norm(h, w, w));
    return ca::eval(ca::mean(softmax(n + h) * m, -1));
  };
  check_rows("chain", f, operand{{4, 70}}, operand{{70}});
}
