// Gradients of functions of one operand, and which functions have none.
#include <cudarray/nnet.hpp>
#include <string_view>

#include "differences.hpp"

namespace {

using test::check_gradients;

const test::range wide{-2, 2}, positive{0.2, 3}, inside{-0.9, 0.9};

}  // namespace

#define CHECK_FUNCTION(name, range) \
  check_gradients(                  \
      #name, [](const auto& x) { return ca::name(x); }, range)

TEST_CASE("autograd: gradients of exponentials and logarithms") {
  CHECK_FUNCTION(exp, wide);
  CHECK_FUNCTION(exp2, wide);
  CHECK_FUNCTION(expm1, wide);
  CHECK_FUNCTION(log, positive);
  CHECK_FUNCTION(log2, positive);
  CHECK_FUNCTION(log10, positive);
  CHECK_FUNCTION(log1p, positive);
}
TEST_CASE("autograd: gradients of powers and signs") {
  CHECK_FUNCTION(sqrt, positive);
  CHECK_FUNCTION(cbrt, positive);
  CHECK_FUNCTION(square, wide);
  CHECK_FUNCTION(absolute, positive);
  check_gradients(
      "absolute", [](const auto& x) { return ca::abs(x); }, test::range{-3, -0.1});
  CHECK_FUNCTION(negative, wide);
}
TEST_CASE("autograd: gradients of trigonometric functions") {
  CHECK_FUNCTION(sin, wide);
  CHECK_FUNCTION(cos, wide);
  CHECK_FUNCTION(tan, inside);
  CHECK_FUNCTION(arcsin, inside);
  CHECK_FUNCTION(arccos, inside);
  CHECK_FUNCTION(arctan, wide);
}
TEST_CASE("autograd: gradients of hyperbolic functions") {
  CHECK_FUNCTION(sinh, wide);
  CHECK_FUNCTION(cosh, wide);
  CHECK_FUNCTION(tanh, wide);
  CHECK_FUNCTION(erf, wide);
  CHECK_FUNCTION(erfc, wide);
}
TEST_CASE("autograd: gradients of activations") {
  check_gradients(
      "relu", [](const auto& x) { return ca::nnet::relu(x); }, positive);
  check_gradients(
      "relu", [](const auto& x) { return ca::nnet::relu(x); }, test::range{-3, -0.1});
  CHECK_FUNCTION(nnet::sigmoid, wide);
  CHECK_FUNCTION(nnet::softplus, wide);
}
namespace {

struct softsign {
  template <class T>
  CUDARRAY_HD T operator()(T x) const {
    return x / (1 + (x < 0 ? -x : x));
  }
  template <class T>
  CUDARRAY_HD T derivative(T, T r) const {
    return (1 - (r < 0 ? -r : r)) * (1 - (r < 0 ? -r : r));
  }
};
struct weighted {
  double by;
  template <class T>
  CUDARRAY_HD T operator()(T x, T y) const {
    return T(by) * x * x * y;
  }
  template <int K, class T>
  CUDARRAY_HD T derivative(T x, T y, T) const {
    return K == 0 ? T(by) * 2 * x * y : T(by) * x * x;
  }
};

}  // namespace

TEST_CASE("autograd: gradients of functions of one's own") {
  check_gradients(
      "softsign", [](const auto& x) { return ca::map(softsign{}, x) * x; }, wide);
  check_gradients(
      "weighted", [](const auto& x, const auto& y) { return ca::map(weighted{3}, x + y, y); }, wide, wide);
}
TEST_CASE("autograd: gradients of conversions") {
  check_gradients(
      "astype", [](const auto& x) { return ca::astype<double>(x); }, wide);
  const ca::variable<float> x = ca::array<float>({1, 2, 3});
  const ca::variable<double> y = ca::square(ca::astype<double>(x));
  y.backward(ca::ones<double>({3}));
  CHECK(test::equal(x.grad(), {3}, test::numbers{2, 4, 6}));
}

namespace {

struct function {
  std::string_view name;
  int operands;  ///< that have a gradient
};

}  // namespace

TEST_CASE("autograd: every elementwise function has a gradient or is constant nearly everywhere") {
  const function table[] = {
#define CUDARRAY_FUNCTION(name, ...) {#name, ca::detail::derivative<ca::op::name##_op, 0>::exists},
#include <cudarray/expr/activation_functions.inc>
#include <cudarray/expr/special_functions.inc>
#include <cudarray/expr/unary_functions.inc>
#undef CUDARRAY_FUNCTION
#define CUDARRAY_FUNCTION(name, ...) \
  {#name, ca::detail::derivative<ca::op::name##_op, 0>::exists + ca::detail::derivative<ca::op::name##_op, 1>::exists},
#include <cudarray/expr/binary_functions.inc>
#include <cudarray/expr/parametric_functions.inc>
#include <cudarray/expr/special_binary_functions.inc>
#undef CUDARRAY_FUNCTION
  };
  std::vector<std::string_view> constant, of_one;
  for (const function& f : table) {
    if (f.operands == 0) constant.push_back(f.name);
    if (f.name == "copysign" || f.name == "polygamma") CHECK(f.operands == 1);  // of the other it is constant
  }
  CHECK(constant == std::vector<std::string_view>{
                        "signbit",       "bitwise_count", "sign",        "floor",       "ceil",        "trunc",
                        "rint",          "isnan",         "isinf",       "isfinite",    "logical_not", "invert",
                        "floor_divide",  "equal",         "not_equal",   "less",        "less_equal",  "greater",
                        "greater_equal", "logical_and",   "logical_or",  "logical_xor", "bitwise_and", "bitwise_or",
                        "bitwise_xor",   "left_shift",    "right_shift", "nextafter",   "gcd",         "lcm"});
}
