// The table of operands: elementwise functions, operators, comparisons of arrays.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

namespace {

using test::exactly;
using test::nearly;

template <class T>
using array = ca::ndarray<T>;

const auto numbers = [] { return ca::array<float>({{0.1f, 0.7f, 0.25f}, {0.9f, 0.5f, 0.375f}}); };
const auto others = [] { return ca::array<float>({{1.5f, 2.25f, 0.5f}, {3, 1.25f, 2}}); };
const auto integers = [] { return ca::array<int>({{6, 1, 9}, {4, 10, 3}}); };
const auto other_integers = [] { return ca::array<int>({{2, 3, 1}, {4, 2, 3}}); };
const auto truths = [] { return ca::array<bool>({{true, false, true}, {false, false, true}}); };

struct half_of {
  CUDARRAY_HD float operator()(float e) const { return e / 2; }
};
struct turned {
  CUDARRAY_HD void operator()(const ca::multi_index& at, ca::array_access<float> r,
                              ca::array_access<const float> a) const {
    r(at[0], at[1]) = a(at[1], at[0]);
  }
};
struct larger_of {
  static constexpr float identity = -1;
  CUDARRAY_HD float operator()(float a, float b) const { return a > b ? a : b; }
};
struct sum_of {
  CUDARRAY_HD float operator()(float d, float e) const { return d + e; }
};

}  // namespace

#define OF_ONE(name) \
  nearly(            \
      #name, [](const auto& a) { return ca::name(a); }, x)
#define OF_TWO(name) \
  nearly(            \
      #name, [](const auto& a, const auto& b) { return ca::name(a, b); }, x, y)

TEST_CASE("operand kinds: functions of one number") {
  const array<float> x = numbers();
  OF_ONE(absolute);
  OF_ONE(abs);
  OF_ONE(fabs);
  OF_ONE(negative);
  OF_ONE(positive);
  OF_ONE(sign);
  OF_ONE(square);
  OF_ONE(exp);
  OF_ONE(exp2);
  OF_ONE(expm1);
  OF_ONE(log);
  OF_ONE(log2);
  OF_ONE(log10);
  OF_ONE(log1p);
  OF_ONE(sqrt);
  OF_ONE(cbrt);
  OF_ONE(sin);
  OF_ONE(cos);
  OF_ONE(tan);
  OF_ONE(arcsin);
  OF_ONE(arccos);
  OF_ONE(arctan);
  OF_ONE(sinh);
  OF_ONE(cosh);
  OF_ONE(tanh);
  OF_ONE(erf);
  OF_ONE(erfc);
  OF_ONE(arcsinh);
  OF_ONE(arctanh);
  OF_ONE(reciprocal);
  OF_ONE(radians);
  OF_ONE(degrees);
  OF_ONE(deg2rad);
  OF_ONE(rad2deg);
  OF_ONE(sinc);
  OF_ONE(gamma);
  OF_ONE(lgamma);
  OF_ONE(digamma);
  OF_ONE(i0);
  OF_ONE(i1);
  OF_ONE(logit);
  OF_ONE(expit);
  OF_ONE(floor);
  OF_ONE(ceil);
  OF_ONE(trunc);
  OF_ONE(rint);
  OF_ONE(isnan);
  OF_ONE(isinf);
  OF_ONE(isfinite);
  OF_ONE(isposinf);
  OF_ONE(isneginf);
  OF_ONE(signbit);
  OF_ONE(logical_not);
  OF_ONE(nan_to_num);
  OF_ONE(modf);
  exactly(
      "round", [](const auto& a) { return ca::round(a, 1); }, x);
  exactly(
      "astype", [](const auto& a) { return ca::astype<ca::float16>(a); }, x);
  exactly(
      "clip", [](const auto& a) { return ca::clip(a, 0.2, 0.6); }, x);
  exactly(
      "map", [](const auto& a) { return ca::map(half_of{}, a); }, x);
  exactly(
      "vectorize", [](const auto& a) { return ca::vectorize(half_of{})(a); }, x);
  exactly(
      "for_each_index",
      [](const auto& a) {
        const array<float> r = ca::zeros({3, 2});
        ca::for_each_index({3, 2}, turned{}, ca::out(r), a);
        return r;
      },
      x);
  exactly(
      "reduce", [](const auto& a) { return ca::reduce(larger_of{}, a, 1); }, x);
  nearly(
      "arccosh", [](const auto& a) { return ca::arccosh(a); }, array<float>(others()));
}
TEST_CASE("operand kinds: functions of one integer or truth value") {
  const array<int> x = integers();
  OF_ONE(invert);
  OF_ONE(bitwise_count);
  exactly(
      "logical_not", [](const auto& a) { return ca::logical_not(a); }, array<bool>(truths()));
  exactly(
      "invert", [](const auto& a) { return ca::invert(a); }, array<bool>(truths()));
}
TEST_CASE("operand kinds: functions of two numbers") {
  const array<float> x = numbers(), y = others();
  OF_TWO(add);
  OF_TWO(subtract);
  OF_TWO(multiply);
  OF_TWO(divide);
  OF_TWO(floor_divide);
  OF_TWO(remainder);
  OF_TWO(mod);
  OF_TWO(divmod);
  OF_TWO(fmod);
  OF_TWO(power);
  OF_TWO(maximum);
  OF_TWO(minimum);
  OF_TWO(fmax);
  OF_TWO(fmin);
  OF_TWO(arctan2);
  OF_TWO(hypot);
  OF_TWO(copysign);
  OF_TWO(heaviside);
  OF_TWO(logaddexp);
  OF_TWO(logaddexp2);
  OF_TWO(equal);
  OF_TWO(not_equal);
  OF_TWO(less);
  OF_TWO(less_equal);
  OF_TWO(greater);
  OF_TWO(greater_equal);
  OF_TWO(logical_and);
  OF_TWO(logical_or);
  OF_TWO(logical_xor);
  OF_TWO(isclose);
  OF_TWO(allclose);
  OF_TWO(array_equal);
  OF_TWO(array_equiv);
  exactly(
      "map", [](const auto& a, const auto& b) { return ca::map(sum_of{}, a, b); }, x, y);
  nearly(
      "polygamma", [](const auto& n, const auto& a) { return ca::polygamma(n, a); },
      array<float>(ca::astype<float>(other_integers())), y);
  nearly(
      "zeta", [](const auto& s, const auto& q) { return ca::zeta(s, q); }, array<float>(ca::astype<float>(y) + 2), y);
  exactly(
      "ldexp", [](const auto& a, const auto& n) { return ca::ldexp(a, n); }, x, other_integers());
  exactly(
      "frexp",
      [](const auto& a) {
        const auto [m, n] = ca::frexp(a);
        return std::tuple(m, n);
      },
      x);
  exactly(
      "array_equal", [](const auto& a, const auto& b) { return ca::array_equal(a, b, true); }, x, x);
  exactly(
      "where", [](const auto& c, const auto& a, const auto& b) { return ca::where(c, a, b); }, array<bool>(truths()), x,
      y);
  exactly(
      "clip", [](const auto& a, const auto& l, const auto& h) { return ca::clip(a, l, h); }, y, x, array<float>(x + 1));
}
TEST_CASE("operand kinds: functions of two integers") {
  const array<int> x = integers(), y = other_integers();
  OF_TWO(gcd);
  OF_TWO(lcm);
  OF_TWO(power);
  OF_TWO(bitwise_and);
  OF_TWO(bitwise_or);
  OF_TWO(bitwise_xor);
  OF_TWO(left_shift);
  OF_TWO(right_shift);
}
TEST_CASE("operand kinds: functions that write their result") {
  const array<float> x = numbers(), y = others();
  const auto into = [](const auto& f) {
    const array<float> c = ca::zeros({2, 3});
    f(ca::out(c));
    return c;
  };
  nearly(
      "sin", [&](const auto& a) { return into([&](const auto& c) { ca::sin(a, c); }); }, x);
  exactly(
      "add", [&](const auto& a, const auto& b) { return into([&](const auto& c) { ca::add(a, b, c); }); }, x, y);
  exactly(
      "where",
      [&](const auto& i, const auto& a, const auto& b) { return into([&](const auto& c) { ca::where(i, a, b, c); }); },
      array<bool>(truths()), x, y);
  exactly(
      "clip", [&](const auto& a) { return into([&](const auto& c) { ca::clip(a, 0, 1, c); }); }, y);
  exactly(
      "assign_together",
      [](const auto& a, const auto& b) {
        const array<float> c = ca::zeros({2, 3}), d = ca::zeros({2, 3});
        ca::assign_together(ca::out(c) = a, ca::out(d) = b);
        return std::tuple(c, d);
      },
      x, y);
}
TEST_CASE("operand kinds: operators") {
  const array<float> x = numbers(), y = others();
  nearly(
      "operators", [](const auto& a, const auto& b) { return std::tuple(a + b, a - b, a * b, a / b, a % b); }, x, y);
  exactly(
      "comparisons", [](const auto& a, const auto& b) { return std::tuple(a == b, a != b, a<b, a <= b, a> b, a >= b); },
      x, y);
  exactly(
      "signs", [](const auto& a) { return std::tuple(-a, +a, !a, a + 1, 1 - a); }, x);
  exactly(
      "operators of integers",
      [](const auto& a, const auto& b) { return std::tuple(a & b, a | b, a ^ b, a << b, a >> b, ~a, a + b, a % b); },
      array<int>(integers()), array<int>(other_integers()));
  exactly(
      "updates",
      [](const auto& a, const auto& b) {
        array<float> c = ca::ones({2, 3});
        c += a;
        c *= b;
        c -= a;
        c /= b;
        return c;
      },
      x, y);
  exactly(
      "mixed dtypes", [](const auto& a, const auto& b) { return a + b; }, x, array<int>(integers()));
}
TEST_CASE("operand kinds: names of the array API standard") {
  const array<float> x = numbers(), y = others();
  OF_ONE(acos);
  OF_ONE(asin);
  OF_ONE(atan);
  OF_ONE(asinh);
  OF_ONE(atanh);
  nearly(
      "acosh", [](const auto& a) { return ca::acosh(a); }, y);
  OF_TWO(atan2);
  OF_TWO(pow);
  OF_TWO(nextafter);
  const array<int> n = integers(), k = other_integers();
  exactly(
      "bitwise_invert", [](const auto& a) { return ca::bitwise_invert(a); }, n);
  exactly(
      "bitwise_not", [](const auto& a) { return ca::bitwise_not(a); }, n);
  exactly(
      "bitwise_left_shift", [](const auto& a, const auto& b) { return ca::bitwise_left_shift(a, b); }, n, k);
  exactly(
      "bitwise_right_shift", [](const auto& a, const auto& b) { return ca::bitwise_right_shift(a, b); }, n, k);
}
TEST_CASE("operand kinds: complex numbers") {
  const array<float> p = numbers(), q = others();
  exactly(
      "to_complex", [](const auto& a, const auto& b) { return ca::to_complex(a, b); }, p, q);
  nearly(
      "polar", [](const auto& a, const auto& b) { return ca::polar(a, b); }, p, q);
  const array<ca::complex64> x = ca::to_complex(p, q);
  OF_ONE(real);
  OF_ONE(imag);
  OF_ONE(conj);
  OF_ONE(conjugate);
  OF_ONE(angle);
  OF_ONE(isreal);
  OF_ONE(iscomplex);
  OF_ONE(exp);
  OF_ONE(absolute);
}
