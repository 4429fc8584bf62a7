// What samplers of random numbers are made of: in float64, by operations that are rounded the same on every device.
// SPDX-License-Identifier: MIT
#pragma once

#include "philox.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC {

// Sums of products are written as fma: compilers may make one of others, or not.

/// a b, rounded, which no compiler joins with a sum around it.
CUDARRAY_HD inline double times(double a, double b) { return math::fma(a, b, 0); }

/// 1 / 3 + z / 5 + z^2 / 7 + .., for 0 <= z <= 1 / 25: atanh(s) = s + s^3 times this of s^2.
CUDARRAY_HD inline double atanh_series(double z) {
  constexpr int terms = 11;
  double p = 1. / (2 * terms + 1);
  for (int i = terms - 1; i >= 1; --i) p = math::fma(p, z, 1. / (2 * i + 1));
  return p;
}
/// log(x) of a positive normal number.
CUDARRAY_HD inline double rounded_log(double x) { return -0.5 * minus_two_log<double>(x); }
/// log(1 - x) for x in [-1, 1).
CUDARRAY_HD inline double rounded_log_minus(double x) { return -0.5 * minus_two_log<double>(1 - x, -x); }
/// exp(x): of x = k log(2) + r a Taylor series in r; 0 below -708, infinity above 709.
CUDARRAY_HD inline double rounded_exp(double x) {
  if (x < -708) return 0;
  if (x > 709) return __builtin_huge_val();
  const double k = math::fma(x, 1.4426950408889634, units<double>) - units<double>;
  const double r = math::fma(k, -1.9082149292705877e-10, math::fma(k, -0.693147180369123816490, x));
  double p = 1;
  for (int i = 13; i >= 1; --i) p = math::fma(p, r / i, 1);
  return p * __builtin_bit_cast(double, uint64(int64(k) + 1023) << 52);
}
/// exp(x) - 1 without the cancellation of small x.
CUDARRAY_HD inline double rounded_exp_minus_1(double x) {
  if (x < -0.35 || x > 0.35) return rounded_exp(x) - 1;
  double p = 1;
  for (int i = 14; i >= 2; --i) p = math::fma(p, x / i, 1);
  return x * p;
}

/// log(k!) - ((k + 1/2) log(k) - k + log(2 pi) / 2) of a whole k >= 0, log(0) being taken as 0: Stirling's series from
/// 16 on.
CUDARRAY_HD inline double stirling_error(double k) {
  if (k >= 16) {
    const double z = 1 / (k * k);
    const double series = math::fma(z, math::fma(z, math::fma(z, -1. / 1680, 1. / 1260), -1. / 360), 1. / 12);
    return series / k;
  }
  constexpr double half_log_two_pi = 0.918938533204672742;
  if (k == 0) return -half_log_two_pi;
  double factorial = 1;
  for (double i = 2; i <= k; i += 1) factorial *= i;
  return math::fma(-(k + 0.5), rounded_log(k), rounded_log(factorial)) + (k - half_log_two_pi);
}
/// x log(x / m) + m - x, without the cancellation of x near m (Loader 2000); x >= 0, m > 0.
CUDARRAY_HD inline double deviance(double x, double m) {
  if (x == 0) return m;
  const double d = x - m, sum = x + m, v = d / sum;
  if (v < 0.1 && v > -0.1) {
    const double z = v * v;
    return math::fma(d, v, 2 * x * v * z * atanh_series(z));
  }
  return math::fma(x, rounded_log(x / m), -d);
}
/// log(k), and 0 for k = 0.
CUDARRAY_HD inline double log_or_0(double k) { return k == 0 ? 0 : rounded_log(k); }
/// The log of the probability of k under Poisson's distribution of mean m > 0, plus a constant.
CUDARRAY_HD inline double log_poisson(double k, double m) {
  return math::fma(-0.5, log_or_0(k), -stirling_error(k) - deviance(k, m));
}
/// The same of the binomial distribution of n > 0, p and q = 1 - p, both positive, for k of [0, n].
CUDARRAY_HD inline double log_binomial(double k, double n, double p, double q) {
  const double rest = n - k;
  const double errors =
      -stirling_error(k) - stirling_error(rest) - deviance(k, times(n, p)) - deviance(rest, times(n, q));
  return math::fma(-0.5, log_or_0(k) + log_or_0(rest), errors);
}

/// The numbers of one element of an array: of blocks that no other element takes.
class draws {
  const random_source& from_;
  uint64 element_;
  uint32 blocks_ = 0;

 public:
  CUDARRAY_HD draws(const random_source& from, int64 element) : from_(from), element_(uint64(element)) {}

  struct pair {
    double first, second;
  };
  /// Two uniform numbers of (0, 1].
  CUDARRAY_HD pair uniforms() {
    const words w = from_.attempt_at(element_, blocks_++);
    return {positive_double(w.two(0)), positive_double(w.two(1))};
  }
  CUDARRAY_HD double normal() {
    const words w = from_.attempt_at(element_, blocks_++);
    return box_muller<double>(positive_double(w.two(0)), unit_double(w.two(1))).first;
  }
  CUDARRAY_HD double exponential() { return exponential_of<double>(from_.attempt_at(element_, blocks_++).two(0)); }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC
