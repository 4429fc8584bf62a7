// Complex numbers: their functions at the edges, what they are made of and taken apart to.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

#include <complex>
#include <limits>

namespace {

using c64 = ca::complex64;
using c128 = ca::complex128;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using ints = std::vector<int>;
using bools = std::vector<bool>;

template <class X>
using dtype_of = ca::value_type_t<X>;

ca::ndarray<c128> numbers(const std::vector<std::complex<double>>& v) { return ca::array(v); }

/// Both parts, as rows.
template <class X>
std::vector<double> parts(const X& x) {
  std::vector<double> r;
  for (const auto z : test::values(x)) r.push_back(double(z.re)), r.push_back(double(z.im));
  return r;
}
bool near_to(double got, double expected, double scale) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return expected != 0 || std::signbit(got) == std::signbit(expected);
  return std::isfinite(expected) && std::fabs(got - expected) <= 1e-12 * scale;
}
bool near_to(const std::vector<double>& got, const std::vector<double>& expected) {
  bool all = got.size() == expected.size();
  for (std::size_t i = 0; all && i < got.size(); ++i) all = near_to(got[i], expected[i], std::fabs(expected[i]) + 1);
  return all;
}

struct edge {
  const char* function;
  double re, im;
  double expected_re, expected_im;
};

std::vector<double> call(const std::string& f, const ca::ndarray<c128>& z) {
#define CUDARRAY_CALL(name) \
  if (f == #name) return parts(ca::name(z));
  CUDARRAY_CALL(exp)
  CUDARRAY_CALL(log)
  CUDARRAY_CALL(sqrt)
  CUDARRAY_CALL(sinh)
  CUDARRAY_CALL(cosh)
  CUDARRAY_CALL(tanh)
  CUDARRAY_CALL(sin)
  CUDARRAY_CALL(cos)
  CUDARRAY_CALL(tan)
  CUDARRAY_CALL(arcsin)
  CUDARRAY_CALL(arccos)
  CUDARRAY_CALL(arctan)
  CUDARRAY_CALL(arcsinh)
  CUDARRAY_CALL(arccosh)
  CUDARRAY_CALL(arctanh)
  CUDARRAY_CALL(sign)
  CUDARRAY_CALL(log1p)
  CUDARRAY_CALL(expm1)
  CUDARRAY_CALL(reciprocal)
#undef CUDARRAY_CALL
  return {};
}

}  // namespace

// what NumPy 2.4 gives, signs of zeros where its standard says them
TEST_CASE("complex: branch cuts, infinities, NaN and what alone would overflow") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const edge edges[] = {
      {"exp", inf, 0, inf, 0},
      {"exp", -inf, 1.0, 0, 0},
      {"exp", -inf, inf, 0, 0},
      {"exp", 1.0, inf, nan, nan},
      {"exp", 0, nan, nan, nan},
      {"log", 0, 0, -inf, 0},
      {"log", -0.0, 0, -inf, 3.141592653589793},
      {"log", -1.0, -0.0, 0, -3.141592653589793},
      {"log", inf, 1.0, inf, 0},
      {"log", -inf, -1.0, inf, -3.141592653589793},
      {"log", inf, nan, inf, nan},
      {"sqrt", -1.0, 0, 0, 1.0},
      {"sqrt", -1.0, -0.0, 0, -1.0},
      {"sqrt", inf, 1.0, inf, 0},
      {"sqrt", -inf, 1.0, 0, inf},
      {"sqrt", 1.0, inf, inf, inf},
      {"sqrt", nan, inf, inf, inf},
      {"sqrt", 0, -0.0, 0, -0.0},
      {"sqrt", 1e+300, 1e+300, 1.09868411346781e+150, 4.550898605622274e+149},
      {"sqrt", -2e-310, 0, 0, 1.414213562373093e-155},
      {"sinh", 0, inf, 0, nan},
      {"sinh", 710.5, 1.0, 9.95030097923166e+307, 1.549667560769662e+308},
      {"sinh", -710.5, 1.0, -9.95030097923166e+307, 1.549667560769662e+308},
      {"cosh", 0, 2.0, -0.4161468365471424, 0},
      {"cosh", 710.5, 1.0, 9.95030097923166e+307, 1.549667560769662e+308},
      {"tanh", 0, inf, 0, nan},
      {"tanh", 30.0, 1.0, 1.0, 1.5924545408982667e-26},
      {"tanh", inf, 1.0, 1.0, 0},
      {"tanh", 1.0, inf, nan, nan},
      {"sin", 1.0, -0.0, 0.8414709848078965, -0.0},
      {"sin", 0, inf, 0, inf},
      {"cos", 0, inf, inf, -0.0},
      {"tan", 1.0, 30.0, 1.5924545408982667e-26, 1.0},
      {"arcsin", 2.0, 0, 1.5707963267948966, 1.3169578969248166},
      {"arcsin", 2.0, -0.0, 1.5707963267948966, -1.3169578969248166},
      {"arcsin", -inf, 1.0, -1.5707963267948966, inf},
      {"arcsin", 1.0, inf, 0, inf},
      {"arcsin", 1e+200, 1.0, 1.5707963267948966, 461.2101657793691},
      {"arccos", 2.0, 0, 0, -1.3169578969248166},
      {"arccos", 2.0, -0.0, 0, 1.3169578969248166},
      {"arccos", -inf, 1.0, 3.141592653589793, -inf},
      {"arccos", inf, 1.0, 0, -inf},
      {"arccosh", 0.5, 0, 0, 1.0471975511965976},
      {"arccosh", 0.5, -0.0, 0, -1.0471975511965976},
      {"arccosh", -inf, 1.0, inf, 3.141592653589793},
      {"arccosh", 1e+200, -1.0, 461.2101657793691, -1e-200},
      {"arctan", 0, 2.0, 1.5707963267948966, 0.5493061443340549},
      {"arctan", -0.0, 2.0, -1.5707963267948966, 0.5493061443340549},
      {"arctan", inf, 1.0, 1.5707963267948966, 0},
      {"arctanh", 2.0, 0, 0.5493061443340549, 1.5707963267948966},
      {"arctanh", 2.0, -0.0, 0.5493061443340549, -1.5707963267948966},
      {"arctanh", 1.0, 0, inf, 0},
      {"arctanh", 1e+300, 1.0, 1e-300, 1.5707963267948966},
      {"arcsinh", 0, 2.0, 1.3169578969248166, 1.5707963267948966},
      {"arcsinh", -0.0, 2.0, -1.3169578969248166, 1.5707963267948966},
      {"arcsinh", 1.0, inf, inf, 1.5707963267948966},
      {"sin", 4.0, 0, -0.7568024953079282, -0.0},
      {"sinh", 0, 2.0, -0.0, 0.9092974268256817},
      {"tanh", inf, 2.0, 1.0, -0.0},
      {"tan", 2.0, inf, -0.0, 1.0},
      {"arctanh", 1.0, 1e-160, 184.55338102980363, 0.7853981633974483},
      {"arctanh", -1.0, -0.5, -0.708303336014054, -0.9078874949608804},
      {"arctan", 1e-160, 1.0, 0.7853981633974483, 184.55338102980363},
      {"arctanh", 1.0, 3.0, 0.09193119503132934, 1.2767950250211129},
      {"sign", 3.0, 4.0, 0.6, 0.8},
      {"sign", -inf, 1.0, -1.0, 0},
      {"sign", 0, 0, 0, 0},
      {"log1p", 1e-200, 0.001, 4.999997500001667e-07, 0.0009999996666668668},
      {"log1p", -1.0, 0, -inf, 0},
      {"expm1", 1e-200, 0.001, -4.999999583333347e-07, 0.0009999998333333417},
      {"reciprocal", 0, inf, 0, -0.0},
  };
  for (const edge& e : edges) {
    CAPTURE(e.function, e.re, e.im);
    const auto got = call(e.function, numbers({{e.re, e.im}}));
    REQUIRE(got.size() == 2);
    const double scale = std::fabs(e.expected_re) + (std::isfinite(e.expected_im) ? std::fabs(e.expected_im) : 0);
    CHECK(near_to(got[0], e.expected_re, scale));
    CHECK(near_to(got[1], e.expected_im, scale));
  }
}

TEST_CASE("complex: parts, angles, and numbers of them") {
  const auto z = numbers({{3, 4}, {-1, 0}, {0, -2}});
  CHECK(test::equal(ca::real(z), {3}, doubles{3, -1, 0}));
  CHECK(test::equal(ca::imag(z), {3}, doubles{4, 0, -2}));
  CHECK(parts(ca::conj(z)) == doubles{3, -4, -1, 0, 0, 2});
  CHECK(parts(ca::conjugate(z)) == parts(ca::conj(z)));
  CHECK(test::equal(ca::abs(z), {3}, doubles{5, 1, 2}));
  CHECK(test::close(ca::angle(z), {3}, doubles{0.9272952180016122, 3.141592653589793, -1.5707963267948966}));
  CHECK(test::close(ca::angle(z, true), {3}, doubles{53.13010235415598, 180, -90}));
  CHECK(test::equal(ca::isreal(z), {3}, bools{false, true, false}));
  CHECK(test::equal(ca::iscomplex(z), {3}, bools{true, false, true}));
  // of real numbers
  const auto x = ca::array<float>({-2, 0, 3});
  CHECK(test::equal(ca::real(x), {3}, floats{-2, 0, 3}));
  CHECK(test::equal(ca::imag(x), {3}, floats{0, 0, 0}));
  CHECK(test::equal(ca::conj(ca::arange(3)), {3}, ints{0, 1, 2}));
  CHECK(test::close(ca::angle(x), {3}, doubles{3.141592653589793, 0, 0}));
  CHECK(test::equal(ca::isreal(x), {3}, bools{true, true, true}));
  // made of parts, which broadcast
  CHECK(parts(ca::to_complex(x, 1)) == doubles{-2, 1, 0, 1, 3, 1});
  CHECK(parts(ca::to_complex(ca::array<float>({{1}, {2}}), ca::array<float>({3, 4}))) ==
        doubles{1, 3, 1, 4, 2, 3, 2, 4});
  CHECK(near_to(parts(ca::polar(ca::array<double>({1, 2}), ca::array<double>({0, 0.5}))),
                {1, 0, 1.7551651237807455, 0.958851077208406}));
  static_assert(std::is_same_v<dtype_of<decltype(ca::to_complex(x, 1))>, c64>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::to_complex(x, 1.0))>, c64>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::to_complex(ca::arange(3), 1))>, c128>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::polar(x, x))>, c64>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::real(ca::astype<c64>(x)))>, float>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::abs(z))>, double>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::angle(ca::arange(3)))>, double>);
  static_assert(std::is_same_v<dtype_of<decltype(ca::exp(ca::astype<c64>(x)))>, c64>);
  // none of them
  CHECK(ca::real(ca::zeros<c64>({0, 2})).shape() == ca::shape{0, 2});
  CHECK(parts(ca::to_complex(ca::full<double>({}, 1), 2)) == doubles{1, 2});
}

TEST_CASE("complex: std::complex in and out") {
  const std::vector<std::complex<float>> v{{1, 2}, {3, 4}};
  const ca::ndarray<c64> z = ca::array(v);
  CHECK(parts(z) == doubles{1, 2, 3, 4});
  CHECK(parts(z * std::complex<float>(0, 1)) == doubles{-2, 1, -4, 3});
  CHECK(parts(z + c64(1, 1)) == doubles{2, 3, 4, 5});
  const auto w = ca::copy(z);
  w(0) = std::complex<float>(5, 6);
  const auto back = ca::to<ca::cpu>(w);
  const auto* p = reinterpret_cast<const std::complex<float>*>(back.data());
  CHECK(p[0] == std::complex<float>(5, 6));
  CHECK(ca::sum(z).item().re == 4);
}

TEST_CASE("complex: sums, products and statistics") {
  const auto z = numbers({{1, 2}, {3, -1}, {0.5, 0}}), w = numbers({{-1, 2}, {2, -1}, {0, 3}});
  CHECK(near_to(parts(ca::vdot(z, w)), {10, 4.5}));
  CHECK(near_to(parts(ca::vecdot(z, w)), {10, 4.5}));
  CHECK(near_to(parts(ca::matmul(z, w)), {0, -3.5}));
  CHECK(near_to(parts(ca::mean(z)), {1.5, 1. / 3}));
  CHECK(test::close(ca::var(z), {}, doubles{2.7222222222222223}));
  CHECK(test::close(ca::std(ca::reshape(z, {1, 3}), 1, ca::ddof{1}), {1}, doubles{2.0207259421636903}));
  CHECK(near_to(parts(ca::cov(z, w)), {4.083333333333333, 0, 3.583333333333333, 0.5833333333333335, 3.583333333333333,
                                       -0.5833333333333335, 6.666666666666666, 0}));
  CHECK(near_to(parts(ca::corrcoef(z, w)),
                {1, 0, 0.6867923073749356, 0.11180339887498944, 0.6867923073749356, -0.11180339887498944, 1, 0}));
  CHECK(near_to(parts(ca::cumsum(z)), {1, 2, 4, 1, 4.5, 1}));
  CHECK(near_to(parts(ca::vander(z, 3)), {-3, 4, 1, 2, 1, 0, 8, -6, 3, -1, 1, 0, 0.25, 0, 0.5, 0, 1, 0}));
  CHECK(near_to(parts(ca::power(z, 2)), {-3, 4, 8, -6, 0.25, 0}));
  CHECK(near_to(parts(ca::power(numbers({{0, 0}, {0, 0}}), numbers({{2, 1}, {0, 0}}))), {0, 0, 1, 0}));
  CHECK(near_to(parts(ca::round(z * 1.26, 1)), {1.3, 2.5, 3.8, -1.3, 0.6, 0}));
  constexpr double most = std::numeric_limits<double>::max();
  CHECK(parts(ca::nan_to_num(z / 0)) == doubles{most, most, most, -most, most, 0});
  CHECK(test::equal(ca::isclose(z, z + 1e-9), {3}, bools{true, true, true}));
  CHECK_FALSE(ca::allclose(z, z + 1e-3));
}
