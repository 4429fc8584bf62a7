// Scalar functions that few programs need: gamma and its derivatives, zeta, Bessel functions, gcd, sinc.
// SPDX-License-Identifier: MIT
#pragma once

#include "math.hpp"

namespace cudarray::inline v0::math::inline CUDARRAY_ARITHMETIC {

#define CUDARRAY_MATH1(name, c)                                          \
  CUDARRAY_HD inline float name(float x) { return __builtin_##c##f(x); } \
  CUDARRAY_HD inline double name(double x) { return __builtin_##c(x); }
CUDARRAY_MATH1(arcsinh, asinh)
CUDARRAY_MATH1(arccosh, acosh)
CUDARRAY_MATH1(arctanh, atanh)
CUDARRAY_MATH1(gamma, tgamma)
CUDARRAY_MATH1(lgamma, lgamma)
#undef CUDARRAY_MATH1

/// sin(pi x): exactly 0 at integers.
template <detail::real_floating T>
CUDARRAY_HD inline T sin_of_half_turns(T x) {
  const T r = x - T(2) * rint(x * T(0.5));  // in [-1, 1], exactly
  const T folded = r > T(0.5) ? T(1) - r : r < T(-0.5) ? T(-1) - r : r;
  return sin(T(3.141592653589793) * folded);
}
/// sin(pi x) / (pi x), and 1 at 0.
template <detail::real_floating T>
CUDARRAY_HD inline T sinc(T x) {
  if (x == T(0)) return T(1);
  return sin_of_half_turns(x) / (T(3.141592653589793) * x);
}

/// The logarithmic derivative of gamma, NaN at 0 and the negative integers: by reflection, by recurrence up to 10,
/// and by the asymptotic series (Abramowitz and Stegun 1964, 6.3.5, 6.3.7 and 6.3.18).
CUDARRAY_HD inline double digamma(double x) {
  double r = 0;
  if (x <= 0) {
    if (x == floor(x)) return x == 0 ? -1 / x : __builtin_nan("");
    const double part = x - rint(x);
    r = -3.141592653589793 / __builtin_tan(3.141592653589793 * part);
    x = 1 - x;
  }
  for (; x < 10; x += 1) r -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return r + log(x) - 0.5 / x - series;
}
/// The sum of (q + k)^-s over all k >= 0, s > 1, by the formula of Euler and Maclaurin (Cephes, `zeta`).
CUDARRAY_HD inline double hurwitz_zeta(double s, double q) {
  constexpr double enough = 1.1102230246251565e-16;
  const double coefficients[] = {12.,
                                 -720.,
                                 30240.,
                                 -1209600.,
                                 47900160.,
                                 -1.8924375803183791606e9,
                                 7.47242496e10,
                                 -2.950130727918164224e12,
                                 1.1646782814350067249e14,
                                 -4.5979787224074726105e15,
                                 1.8152105401943546773e17,
                                 -7.1661652561756670113e18};
  if (q > 1e8) return (1 / (s - 1) + 0.5 / q) * __builtin_pow(q, 1 - s);
  double sum = __builtin_pow(q, -s), a = q, b = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    b = __builtin_pow(a, -s);
    sum += b;
    if (abs(b / sum) < enough) return sum;
  }
  sum += b * a / (s - 1) - 0.5 * b;
  double factor = 1, k = 0;
  for (const double c : coefficients) {
    factor *= s + k;
    b /= a;
    const double term = factor * b / c;
    sum += term;
    if (abs(term / sum) < enough) return sum;
    factor *= s + k + 1;
    b /= a;
    k += 2;
  }
  return sum;
}
/// The same where it has a meaning: infinite for s = 1 and where q + k is 0, NaN for s < 1, for q < 0 and s no integer,
/// and for q below -10^5.
CUDARRAY_HD inline double zeta(double s, double q) {
  if (s == 1) return __builtin_huge_val();
  if (!(s > 1) || !(q >= -1e5)) return __builtin_nan("");
  if (q <= 0 && q == floor(q)) return __builtin_huge_val();
  if (q < 0 && s != floor(s)) return __builtin_nan("");
  return hurwitz_zeta(s, q);
}
/// The n-th derivative of digamma, by the zeta function (Abramowitz and Stegun 1964, 6.4.10): NaN where n is no integer
/// from 0 up, and below -10^5.
CUDARRAY_HD inline double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (!(n > 0) || n != floor(n) || x < -1e5) return __builtin_nan("");
  const bool pole = x <= 0 && x == floor(x);
  const double r = pole ? __builtin_huge_val() : gamma(n + 1) * hurwitz_zeta(n + 1, x);
  return fmod(n, 2.) == 0 ? -r : r;
}
/// The modified Bessel function of the first kind of order 0 or 1, by its series (Abramowitz and Stegun 1964, 9.6.10),
/// whose terms are positive, and far from 0 by the asymptotic one (9.7.1).
CUDARRAY_HD inline double bessel_i(int order, double x) {
  const double a = abs(x), enough = 1e-17;
  if (isinf(a)) return order == 0 ? a : x;
  double term = 1, sum = 1;
  if (!(a > 25)) {
    for (double k = 1; term > enough * sum; ++k) {
      term *= 0.25 * a * a / (k * (k + order));
      sum += term;
    }
    return order == 0 ? sum : 0.5 * x * sum;
  }
  for (double k = 1; abs(term) > enough; ++k) {
    term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * a * k);
    sum += term;
  }
  const double root = exp(0.5 * a), r = root / (2.5066282746310002 * sqrt(a)) * sum * root;
  return order == 1 && x < 0 ? -r : r;
}
CUDARRAY_HD inline double i0(double x) { return bessel_i(0, x); }
CUDARRAY_HD inline double i1(double x) { return bessel_i(1, x); }

CUDARRAY_HD inline float digamma(float x) { return float(digamma(double(x))); }
CUDARRAY_HD inline float polygamma(float n, float x) { return float(polygamma(double(n), double(x))); }
CUDARRAY_HD inline float zeta(float s, float q) { return float(zeta(double(s), double(q))); }
CUDARRAY_HD inline float i0(float x) { return float(bessel_i(0, double(x))); }
CUDARRAY_HD inline float i1(float x) { return float(bessel_i(1, double(x))); }

/// x times 2 to a whole number of powers, rounded once.
CUDARRAY_HD inline double ldexp(double x, double n) {
  return __builtin_ldexp(x, n > 5000 ? 5000 : n > -5000 ? int(n) : -5000);
}
CUDARRAY_HD inline float ldexp(float x, float n) {
  return __builtin_ldexpf(x, n > 5000 ? 5000 : n > -5000 ? int(n) : -5000);
}
/// The exponent n of x = m 2^n, 0.5 <= |m| < 1; 0 of 0, the infinities and NaN.
template <detail::real_floating T>
CUDARRAY_HD int32 exponent_of(T x) {
  if (!isfinite(x)) return 0;
  int n = 0;
  if constexpr (sizeof(T) == 4) (void)__builtin_frexpf(x, &n);
  else (void)__builtin_frexp(x, &n);
  return n;
}

/// Whether the sign bit is set; of integers, whether they are negative.
template <dtype T>
CUDARRAY_HD constexpr bool signbit(T a) {
  using U = detail::unsigned_t<sizeof(T)>;  // by bits: of __builtin_signbit g++ 12 makes no code for some processors
  if constexpr (::std::is_floating_point_v<T>) return __builtin_bit_cast(U, a) >> (8 * sizeof(T) - 1) != 0;
  else return below_zero(a);
}
/// How many bits of the absolute value are 1.
template <detail::whole T>
CUDARRAY_HD constexpr uint8 bitwise_count(T a) {
  uint8 n = 0;
  uint64 bits = below_zero(a) ? uint64(0) - uint64(a) : uint64(a);
  for (; bits != 0; bits &= bits - 1) ++n;
  return n;
}
/// The remainder with the sign of the dividend, as C's. Integers: 0 for a divisor of 0.
template <detail::integer T>
CUDARRAY_HD constexpr T fmod(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (kind_of<T> == kind::signed_)
    if (b == T(-1)) return T(0);
  return T(a % b);
}
/// The number next to x on the way to y, by their bits, which rise with the magnitude; y itself where they are equal.
template <detail::real_floating T>
CUDARRAY_HD constexpr T nextafter(T x, T y) {
  using U = detail::unsigned_t<sizeof(T)>;
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return y;
  const U one = 1, sign = one << (8 * sizeof(T) - 1), bits = __builtin_bit_cast(U, x);
  if (x == T(0)) return __builtin_bit_cast(T, U(one | (__builtin_bit_cast(U, y) & sign)));
  return __builtin_bit_cast(T, U((x < y) == (bits < sign) ? bits + one : bits - one));
}
/// The greatest common divisor of the absolute values: gcd(0, a) = |a|.
template <detail::integer T>
CUDARRAY_HD constexpr T gcd(T a, T b) {
  uint64 x = below_zero(a) ? uint64(0) - uint64(a) : uint64(a), y = below_zero(b) ? uint64(0) - uint64(b) : uint64(b);
  while (y != 0) {
    const uint64 r = x % y;
    x = y;
    y = r;
  }
  return T(x);
}
/// The least common multiple of the absolute values, 0 where one is 0; it wraps.
template <detail::integer T>
CUDARRAY_HD constexpr T lcm(T a, T b) {
  const uint64 x = below_zero(a) ? uint64(0) - uint64(a) : uint64(a),
               y = below_zero(b) ? uint64(0) - uint64(b) : uint64(b);
  return x == 0 ? T(0) : T(x / uint64(detail::unsigned_t<sizeof(T)>(gcd(a, b))) * y);
}

}  // namespace cudarray::inline v0::math::inline CUDARRAY_ARITHMETIC
