// Dual numbers: each line of the table of derivatives, and its own derivative, against differences.
#include "differences.hpp"
#include "operands.hpp"

namespace {

using d = ca::dual<double>;
namespace op = ca::op;

/// Whether the tangent of `f(x...)`, x moving along `by`, is the difference of fourth order.
template <class F>
void check_moving(const char* name, const F& f, const double* x, const double* by) {
  const double h = 1e-3;
  const auto at = [&](double t) { return f(x[0] + t * by[0], x[1] + t * by[1], x[2] + t * by[2], x[3] + t * by[3]); };
  const double difference = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
  const d r = f(d(x[0], by[0]), d(x[1], by[1]), d(x[2], by[2]), d(x[3], by[3]));
  INFO(name << " at " << x[0] << ", " << x[1] << ", " << x[2]);
  CHECK(r.primal == at(0));
  CHECK(std::fabs(r.tangent - difference) <= 1e-8 * (1 + std::fabs(difference)));
}

/// A function of the table, and the gradient of its operand K.
template <class Op, int K>
void check_line(const char* name) {
  constexpr int n = test::operands_of<Op>;
  using rule = ca::detail::derivative<Op, K>;
  constexpr ca::detail::unread none;
  const double points[][4] = {{0.3, 0.6, 0.9, 1.5}, {0.7, 0.4, 0.8, -0.5}, {0.9, 0.2, 0.5, 2}};
  const double by[4] = {0.7, -0.4, 0.3, 0.9};
  const auto value = [](auto first, auto y, auto z, auto) {
    const auto x = test::first_operand<Op>(first);
    if constexpr (n == 1) return Op{}(x);
    else if constexpr (n == 2) return Op{}(x, y);
    else return Op{}(x, y, z);
  };
  const auto gradient = [&](auto first, auto y, auto z, auto g) {
    const auto r = value(first, y, z, g);
    const auto x = test::first_operand<Op>(first);
    if constexpr (n == 1) return decltype(r)(rule::of(Op{}, g, r, x, none, none));
    else if constexpr (n == 2) return decltype(r)(rule::of(Op{}, g, r, x, y, none));
    else return decltype(r)(rule::of(Op{}, g, r, x, y, z));
  };
  for (const auto& x : points) {
    check_moving(name, value, x, by);
    check_moving(name, gradient, x, by);
  }
}
template <>
void check_line<op::where_op, 1>(const char*) {}
template <>
void check_line<op::where_op, 2>(const char*) {}

}  // namespace

TEST_CASE("autograd: dual numbers go through every line of the table") {
#define CUDARRAY_DERIVATIVE(name, operand, reads, value) check_line<op::name##_op, operand>(#name);
#include <cudarray/expr/derivatives.inc>
#undef CUDARRAY_DERIVATIVE
}
TEST_CASE("autograd: constants beside dual numbers have no derivative") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(power(d(-3, 1), 2.).tangent == -6);
  CHECK(power(-2., d(2, 0)).primal == 4);
  CHECK((d(infinity, 1) * 2.).tangent == 2);
  CHECK((2. / d(4, 1)).tangent == -0.125);
  CHECK(maximum(d(1, 4), 1.).tangent == 2);  // ties share
  CHECK(maximum(d(1, 4), d(1, 2)).tangent == 3);
  CHECK(op::relu_op{}(d(0, 1)).tangent == 0);
  CHECK(op::where_op{}(true, d(1, 2), 5.).tangent == 2);
  CHECK(op::where_op{}(false, d(1, 2), 5.).tangent == 0);
  CHECK(op::clip_op{}(d(1, 2), 0., 3.).tangent == 2);
  CHECK(floor(d(1.5, 2)).tangent == 0);
  CHECK((d(1, 5) < d(2, 0) && d(1, 5) == d(1, 0) && ca::detail::is_nan(d(0. / 0., 1))));
}
TEST_CASE("autograd: the dtypes of dual numbers") {
  using f = ca::dual<float>;
  static_assert(std::is_same_v<ca::result_type_t<f, float>, f>);
  static_assert(std::is_same_v<ca::result_type_t<f, double>, d>);
  static_assert(std::is_same_v<ca::result_type_t<f, ca::int8>, f>);
  static_assert(std::is_same_v<ca::result_type_t<ca::int64, f>, d>);
  static_assert(std::is_same_v<ca::result_type_t<f, d>, d>);
  static_assert(std::is_same_v<ca::result_type_t<ca::dual<ca::float16>, ca::dual<ca::bfloat16>>, f>);
  static_assert(std::is_same_v<ca::result_type_t<f, ca::weak<ca::kind::weak_float>>, f>);
  static_assert(std::is_void_v<ca::result_type_t<f, ca::complex64>>);
  const ca::ndarray<float> x = ca::array<float>({1, -2, 3}), dx = ca::array<float>({1, 1, 0});
  const ca::ndarray<f> both = ca::detail::dual_of(x, dx);
  const ca::ndarray<d> wide = ca::astype<double>(both) * ca::array<double>({2, 2, 2});
  CHECK(test::equal(ca::detail::part_of<1>(wide), {3}, std::vector<double>{2, 2, 0}));
  CHECK(test::equal(ca::ndarray<ca::int32>(ca::astype<ca::int32>(both)), {3}, std::vector<double>{1, -2, 3}));
  CHECK(test::equal(ca::ndarray<bool>(both > 0), {3}, std::vector<double>{1, 0, 1}));
  CHECK(ca::argmax(both).item() == 2);
  const ca::ndarray<f> ties = ca::detail::dual_of(ca::array<float>({3, 1, 3, 3}), ca::array<float>({6, 1, 2, 1}));
  CHECK(ca::max(ties).item().tangent == 3);
  CHECK(ca::min(ties).item().tangent == 1);
}
