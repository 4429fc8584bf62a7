// Samplers: from the draws of one element and the parameters, a number.
// SPDX-License-Identifier: MIT
#pragma once

#include "sampling.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC {

// They have the same bits on every device, but for the last ones of vonmises_number, whose arccos is the device's.

/// Gamma of a >= 1 and scale 1, e (1 + y)^3 of normal numbers y: Marsaglia, Tsang 2000. Their condition of acceptance,
/// log(u) < x^2 / 2 + e (1 - t^3 + 3 log(t)) for t = 1 + y, is a series in y where y is small, as it is for large a.
CUDARRAY_HD inline double gamma_above_1(draws& d, double a) {
  const double e = a - 1. / 3, c = 1 / math::sqrt(9 * e);
  for (;;) {
    const double x = d.normal(), y = times(c, x), t = 1 + y, log_u = -d.exponential();
    if (t <= 0) continue;
    double bound = 0;
    if (y < 0.03 && y > -0.03) {
      for (int i = 12; i >= 4; --i) bound = math::fma(-y, bound, 3. / i);
      bound *= -(e * (y * y)) * (y * y);
    } else {
      const double above = math::fma(3, rounded_log(t), math::fma(-(t * t), t, 1));
      bound = math::fma(0.5 * x, x, times(e, above));
    }
    if (log_u < bound) return math::fma(times(e, y), math::fma(y, 3 + y, 3), e);
  }
}
/// Gamma of a >= 0 and scale 1: of a + 1, times the a-th root of a uniform number.
CUDARRAY_HD inline double gamma_number(draws& d, double a) {
  if (a == 0) return 0;
  if (a >= 1) return gamma_above_1(d, a);
  const double g = gamma_above_1(d, a + 1);
  return times(g, rounded_exp(-d.exponential() / a));
}
/// Its logarithm, which does not underflow; a > 0.
CUDARRAY_HD inline double log_gamma_number(draws& d, double a) {
  if (a >= 1) return rounded_log(gamma_above_1(d, a));
  const double g = rounded_log(gamma_above_1(d, a + 1));
  return g - d.exponential() / (a < 1e-300 ? 1e-300 : a);  // of smaller ones nothing is left but which is the smallest
}
/// x / (x + y) of gamma numbers of a and b.
CUDARRAY_HD inline double beta_number(draws& d, double a, double b) {
  if (a >= 1 && b >= 1) {
    const double x = gamma_above_1(d, a), y = gamma_above_1(d, b);
    return x / (x + y);
  }
  const double x = log_gamma_number(d, a), y = log_gamma_number(d, b);
  return 1 / (1 + rounded_exp(y - x));
}

/// The least k at which the probabilities, from p at 0 on, each `ratio(k)` times the one before, add up to u.
template <class Ratio>
CUDARRAY_HD inline double by_inversion(double u, double p, const Ratio& ratio) {
  double k = 0, sum = p;
  while (u > sum) {
    const double by = ratio(k + 1), next = math::fma(p, by, sum);
    if (next == sum) break;
    p *= by, sum = next, k += 1;
  }
  return k;
}
/// Transformed rejection with squeeze (Hörmann 1993).
struct transformed_rejection {
  double a, b, centre, squeeze, alpha, most;
  template <class LogDensity>
  CUDARRAY_HD double operator()(draws& d, const LogDensity& log_density) const {
    for (;;) {
      const draws::pair two = d.uniforms();
      const double u = two.first - 0.5, us = 0.5 - math::abs(u), v = two.second;
      const double k = math::floor(math::fma(2 * a / us + b, u, centre));
      if (us >= 0.07 && v <= squeeze) return k;
      if (!(k >= 0 && k <= most)) continue;
      if (rounded_log(v * alpha / (a / (us * us) + b)) <= log_density(k)) return k;
    }
  }
};

/// Poisson's of mean m >= 0.
CUDARRAY_HD inline double poisson_number(draws& d, double m) {
  if (m < 10) return by_inversion(d.uniforms().first, rounded_exp(-m), [m](double k) { return m / k; });
  const double b = math::fma(2.53, math::sqrt(m), 0.931);
  const transformed_rejection r{
      math::fma(0.02483, b, -0.059), b, m + 0.43, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4),
      __builtin_huge_val()};
  return r(d, [m](double k) { return log_poisson(k, m) - 0.918938533204672742; });
}
/// The binomial one of n >= 0 and p of [0, 1/2].
CUDARRAY_HD inline double binomial_of_half(draws& d, double n, double p) {
  const double q = 1 - p;
  if (n == 0 || p == 0) return 0;
  if (times(n, p) < 10) {
    const double odds = p / q;
    return by_inversion(d.uniforms().first, rounded_exp(times(n, rounded_log_minus(p))),
                        [n, odds](double k) { return odds * (n - k + 1) / k; });
  }
  const double s = math::sqrt(times(n, p) * q), b = math::fma(2.53, s, 1.15), mode = math::floor(times(n + 1, p));
  const transformed_rejection r{math::fma(0.01, p, math::fma(0.0248, b, -0.0873)),
                                b,
                                math::fma(n, p, 0.5),
                                0.92 - 4.2 / b,
                                (2.83 + 5.1 / b) * s,
                                n};
  const double at_mode = log_binomial(mode, n, p, q);
  return r(d, [n, p, q, at_mode](double k) { return log_binomial(k, n, p, q) - at_mode; });
}
CUDARRAY_HD inline double binomial_number(draws& d, double n, double p) {
  return p > 0.5 ? n - binomial_of_half(d, n, 1 - p) : binomial_of_half(d, n, p);
}
/// The good ones of a sample without replacement: a ratio of uniforms (Stadlober 1990).
CUDARRAY_HD inline double hypergeometric_number(draws& d, double good, double bad, double sample) {
  const double all = good + bad, least = sample > bad ? sample - bad : 0, most = sample < good ? sample : good;
  if (least == most) return least;
  const double p = good / all, q = bad / all, r = sample / all, mean = times(sample, p);
  const double deviation = math::sqrt(math::fma(times(mean, q), (all - sample) / (all - 1), 0.5));
  const double width = math::fma(1.7155277699214135, deviation, 0.8989161620588988);
  const double mode = math::floor(times(sample + 1, (good + 1) / (all + 2)));
  const auto log_density = [=](double k) {
    return log_binomial(k, good, r, 1 - r) + log_binomial(sample - k, bad, r, 1 - r);
  };
  const double at_mode = log_density(mode);
  for (;;) {
    const draws::pair two = d.uniforms();
    const double k = math::floor(math::fma(width, (two.first - 0.5) / two.second, mean + 0.5));
    if (!(k >= least && k <= most)) continue;
    if (times(2, rounded_log(two.second)) <= log_density(k) - at_mode) return k;
  }
}
/// Trials up to the first success, of probability p of (0, 1].
CUDARRAY_HD inline double geometric_number(draws& d, double p) {
  const double e = d.exponential();
  if (p == 1) return 1;
  const double k = math::ceil(e / -rounded_log_minus(p));
  return k < 1 ? 1 : k;
}
/// Failures before the n-th success: Poisson's of a mean that has a gamma distribution.
CUDARRAY_HD inline double negative_binomial_number(draws& d, double n, double p) {
  const double mean = times(gamma_number(d, n) / p, 1 - p);
  return poisson_number(d, mean < 4611686018427387904. ? mean : 4611686018427387904.);
}
/// Kemp 1981, as in NumPy; p of [0, 1).
CUDARRAY_HD inline double logseries_number(draws& d, double p) {
  const double r = rounded_log_minus(p);
  const draws::pair two = d.uniforms();
  if (two.second >= p) return 1;
  const double q = 1 - rounded_exp(times(r, two.first)), v = two.second;
  if (v <= q * q) return math::floor(1 + rounded_log(v) / rounded_log(q));
  return v >= q ? 1 : 2;
}
/// Of a > 1 (Devroye 1986, X.6.1): numbers that int64 does not hold are left out. From 64 on, 2 is as rare as 2^-64.
CUDARRAY_HD inline double zipf_number(draws& d, double a) {
  if (a >= 64) return 1;
  const double power = a - 1, b_minus_1 = rounded_exp_minus_1(times(power, 0.6931471805599453));
  const double range = -rounded_exp_minus_1(times(power, -43.668272375276554));  // 1 - (2^63)^-power
  for (;;) {
    const draws::pair two = d.uniforms();
    const double x = math::floor(rounded_exp(-rounded_log_minus(times(two.first, range)) / power));
    if (!(x >= 1 && x < 9.2e18)) continue;
    const double t_minus_1 = rounded_exp_minus_1(times(power, rounded_log_minus(-1 / x)));
    if (two.second * x * t_minus_1 / b_minus_1 <= (1 + t_minus_1) / (1 + b_minus_1)) return x;
  }
}
/// The angle from the mean, of concentration kappa >= 0 (Best, Fisher 1979).
CUDARRAY_HD inline double vonmises_number(draws& d, double kappa) {
  constexpr double pi = 3.141592653589793;
  if (kappa < 1e-8) return math::fma(2 * pi, d.uniforms().first, -pi);
  if (kappa > 1e6) return d.normal() / math::sqrt(kappa);
  const double r = 1 + math::sqrt(math::fma(4 * kappa, kappa, 1)), rho = (r - math::sqrt(2 * r)) / (2 * kappa);
  const double s = kappa < 1e-5 ? 1 / kappa + kappa : math::fma(rho, rho, 1) / (2 * rho);
  for (;;) {
    const draws::pair two = d.uniforms();
    const double z = sincos_turn<double>(two.first * 0.5).cosine, w = math::fma(s, z, 1) / (s + z);
    const double y = times(kappa, s - w), v = two.second;
    if (math::fma(y, 2 - y, -v) < 0 && rounded_log(y / v) + 1 < y) continue;
    const double angle = math::arccos(w < -1 ? -1 : w > 1 ? 1 : w);
    return d.uniforms().first < 0.5 ? -angle : angle;
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC
