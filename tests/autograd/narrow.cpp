// Gradients in float32 and half types, against those of the same numbers in float64.
#include <cudarray/nnet.hpp>

#include "differences.hpp"
#include "operands.hpp"

namespace {

namespace op = ca::op;

/// The gradient of operand K of a function at x, of a value with the gradient x[3].
template <class Op, int K, class T>
T gradient_at(const T* x) {
  using rule = ca::detail::derivative<Op, K>;
  constexpr ca::detail::unread none;
  if constexpr (test::operands_of<Op> == 1) return T(rule::of(Op{}, x[3], T(Op{}(x[0])), x[0], none, none));
  else if constexpr (test::operands_of<Op> == 2) return T(rule::of(Op{}, x[3], T(Op{}(x[0], x[1])), x[0], x[1], none));
  else if constexpr (std::is_same_v<Op, op::where_op>) return T(rule::of(Op{}, x[3], none, x[0] > T(0.5), x[1], x[2]));
  else return T(rule::of(Op{}, x[3], T(Op{}(x[0], x[1], x[2])), x[0], x[1], x[2]));
}
/// Whether a line of the table is within four units in float32, scaled by its condition: how much it changes where its
/// operands do.
template <class Op, int K>
void check_line(const char* name) {
  using d = ca::dual<double>;
  const double points[][4] = {{0.25, 0.625, 0.875, 1.5}, {0.6875, 0.375, 0.8125, -0.5}, {0.9375, 0.125, 0.5, 2}};
  for (const auto& given : points) {
    const double p[] = {test::first_operand<Op>(given[0]), given[1], given[2], given[3]};
    const float x[] = {float(p[0]), float(p[1]), float(p[2]), float(p[3])};
    const double exact = gradient_at<Op, K>(p);
    double scale = std::fabs(exact);
    if constexpr (!std::is_same_v<Op, op::where_op>)
      for (int i = 0; i < 4; ++i) {
        d moved[] = {p[0], p[1], p[2], p[3]};
        moved[i].tangent = p[i];
        scale += std::fabs(gradient_at<Op, K>(moved).tangent);
      }
    INFO(name << ", operand " << K << ", at " << p[0] << ", " << p[1]);
    CHECK(std::fabs(double(gradient_at<Op, K>(x)) - exact) <= 4 * std::ldexp(scale, -24));
  }
}

/// Whether all gradients of `f(x...)` in T are within two units of T, of the largest of each, scaled by a condition.
template <class T, class F, int... K>
void check_half(const char* name, double condition, const F& f, const std::vector<ca::shape>& of,
                std::integer_sequence<int, K...>) {
  test::random_numbers random(5);
  const auto numbers_of = [&](const ca::shape& s) {
    test::numbers v;
    for (ca::int64 i = 0; i < s.elements(); ++i) v.push_back((random.below(112) + 16) / 128.);  // exact in T
    return v;
  };
  const test::numbers values[] = {numbers_of(of[K])...};
  const test::doubles arrays[] = {ca::array(values[K], of[K])...};
  const ca::variable<double> wide[] = {arrays[K]...};
  const ca::variable<T> narrow[] = {ca::ndarray<T>(ca::astype<T>(arrays[K]))...};
  const ca::variable<double> y = f(wide[K]...);
  const test::doubles g = ca::array(numbers_of(y.shape()), y.shape());
  y.backward(g);
  ca::variable<T>(f(narrow[K]...)).backward(ca::ndarray<T>(ca::astype<T>(g)));
  const double unit = std::is_same_v<T, ca::bfloat16> ? 0x1p-8 : 0x1p-11;
  for (int k = 0; k < int(sizeof...(K)); ++k) {
    INFO(name << " of " << ca::dtype_name<T> << ", operand " << k);
    const double largest = ca::max(ca::abs(wide[k].grad())).item();
    const test::doubles found = ca::astype<double>(narrow[k].grad());
    CHECK(ca::max(ca::abs(found - wide[k].grad())).item() <= 2 * condition * unit * largest);
  }
}
template <class T>
void check_halves() {
  const auto check = [](const char* name, double condition, const auto& f, auto... of) {
    check_half<T>(name, condition, f, {of...}, std::make_integer_sequence<int, int(sizeof...(of))>{});
  };
  const ca::shape whole{6, 40}, row{40}, column{6, 1};
  check(
      "statement", 1, [](const auto& x, const auto& a, const auto& b) { return ca::tanh(x * a) * x / (b + 1); }, whole,
      row, column);
  check(
      "sum of a square", 1, [](const auto& x) { return ca::sum(ca::square(x), 0); }, whole);
  check(
      "mean of an exponential", 1, [](const auto& x) { return ca::mean(ca::exp(x)); }, whole);
  check(
      "matmul", 1, [](const auto& x, const auto& y) { return ca::matmul(x, y); }, whole, ca::shape{40, 5});
  // its gradient takes exp of the value, about -4, which is rounded
  check(
      "log_softmax", 4, [](const auto& x) { return ca::nnet::log_softmax(x); }, whole);
  check(
      "maximum", 1, [](const auto& x, const auto& a) { return ca::maximum(x, a) * x; }, whole, row);
}

}  // namespace

TEST_CASE("autograd: each line of the table in float32 is that in float64") {
#define CUDARRAY_DERIVATIVE(name, operand, reads, value) check_line<op::name##_op, operand>(#name);
#include <cudarray/expr/derivatives.inc>
#undef CUDARRAY_DERIVATIVE
}
TEST_CASE("autograd: gradients of half types are those of float64, rounded") {
  check_halves<ca::float16>();
  check_halves<ca::bfloat16>();
}
