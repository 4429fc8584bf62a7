// Random numbers of continuous distributions.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/normal_quantile.hpp"
#include "../core/special.hpp"
#include "parameters.hpp"

namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

/// Truncated to [low, high]; loc and scale are those of the whole distribution.
struct truncation {
  double low, high, loc, scale;
};
template <class T, class Device>
const ndarray<T, Device> truncated_normals(const char* function, const shape& s, const truncation& t, generator& g,
                                           Device device) {
  if (!(t.scale > 0 && t.low < t.high && math::isfinite(t.loc)))
    cudarray::detail::fail<value_error>(function, ": mean ", t.loc, ", standard deviation ", t.scale, ", numbers of [",
                                        t.low, ", ", t.high, "]");
  const auto below = [&t](double x) { return 0.5 * math::erfc((t.loc - x) / t.scale * 0.7071067811865476); };
  // of the two tails the one that floating-point numbers near 0 describe
  const double sign = t.low > t.loc ? -1 : 1;
  const double first = sign > 0 ? below(t.low) : below(2 * t.loc - t.high),
               last = sign > 0 ? below(t.high) : below(2 * t.loc - t.low);
  if (!(first < last))
    cudarray::detail::fail<value_error>(function, ": [", t.low, ", ", t.high,
                                        "] has no probability that float64 holds");
  const auto u = drawn(function, s, uniform_numbers<double>(first, last), g, device);
  return as_numbers<T>(clip(t.loc + sign * t.scale * map(cudarray::detail::normal_quantile{}, u), t.low, t.high));
}

/// u scaled to [low, high): rounding does not reach high.
template <class T>
struct uniform_between {
  CUDARRAY_HD T operator()(T u, double low, double high) const {
    const T v = static_cast<T>(low + static_cast<double>(u) * (high - low)), end = static_cast<T>(high);
    return v < end ? v : low < high ? math::nextafter(end, static_cast<T>(low)) : end;
  }
};
struct without_width {
  CUDARRAY_HD bool operator()(double low, double high) const { return !math::isfinite(high - low); }
};
/// By inversion; all three may be equal.
struct triangular_number {
  CUDARRAY_HD double operator()(double u, double left, double mode, double right) const {
    const double width = right - left, rise = (mode - left) / width, fall = (right - mode) / width;
    if (width == 0) return left;
    return u < rise ? left + width * math::sqrt(u * rise) : right - width * math::sqrt((1 - u) * fall);
  }
};
struct out_of_order {
  CUDARRAY_HD bool operator()(double left, double mode, double right) const {
    return !(left <= mode && mode <= right && math::isfinite(right - left));
  }
};
/// From a squared normal number and a uniform one (Michael, Schucany, Haas 1976): the mean divided by q or times it.
struct wald_number {
  CUDARRAY_HD double operator()(double normal, double u, double mean, double scale) const {
    const double r = mean / scale * normal * normal, q = (2 + r + math::sqrt(r) * math::sqrt(4 + r)) / 2;
    return u * (q + 1) <= q ? mean / q : mean * q;
  }
};

struct gamma_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double a, double scale) {
    return cudarray::detail::times(cudarray::detail::gamma_number(d, a), scale);
  }
};
struct beta_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double a, double b) {
    return cudarray::detail::beta_number(d, a, b);
  }
};
struct log_gamma_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double a) {
    return cudarray::detail::log_gamma_number(d, a);
  }
};
struct chisquare_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double df) {
    return 2 * cudarray::detail::gamma_number(d, df / 2);
  }
  /// The mean of a Poisson number of further pairs of degrees is half of `nonc`.
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double df, double nonc) {
    return number(d, df + 2 * cudarray::detail::poisson_number(d, nonc / 2));
  }
};
/// By logarithms: of few degrees of freedom chi-square numbers underflow.
struct f_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double dfnum, double dfden) {
    return quotient(d, dfnum / 2, dfden / 2, dfden / dfnum);
  }
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double dfnum, double dfden, double nonc) {
    return quotient(d, dfnum / 2 + cudarray::detail::poisson_number(d, nonc / 2), dfden / 2, dfden / dfnum);
  }

 private:
  CUDARRAY_HD static double quotient(cudarray::detail::draws& d, double a, double b, double scale) {
    const double above = cudarray::detail::log_gamma_number(d, a), below = cudarray::detail::log_gamma_number(d, b);
    return cudarray::detail::rounded_exp(above - below) * scale;
  }
};
struct t_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double df) {
    const double normal = d.normal(), log_g = cudarray::detail::log_gamma_number(d, df / 2);
    return normal * math::sqrt(df / 2) * cudarray::detail::rounded_exp(-log_g / 2);
  }
};
struct vonmises_sampler {
  CUDARRAY_HD static double number(cudarray::detail::draws& d, double mu, double kappa) {
    constexpr double pi = 3.141592653589793;
    const double angle = math::fmod(mu, 2 * pi) + cudarray::detail::vonmises_number(d, kappa);
    return angle > pi ? angle - 2 * pi : angle < -pi ? angle + 2 * pi : angle;
  }
};

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
namespace cudarray::inline v0::random::inline CUDARRAY_BUILD {

// Each takes the shape, the parameters (numbers, or arrays that broadcast to the shape), the generator and the device,
// and makes float32, or the dtype named: float or double. They throw value_error for a parameter that the distribution
// does not have, and shape_error for one that does not broadcast to the shape; then nothing is drawn. To see that,
// arrays are waited for.

/// Uniform numbers of [low, high) that arrays say.
template <dtype T = float, device_tag Device = default_device, class L, class H>
requires(array_expression<L> ||
         array_expression<H>) const ndarray<T, Device> uniform(const shape& s, const L& low, const H& high,
                                                               generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::uniform";
  using R = detail_random::real_number_t<T>;
  const auto a = detail_random::parameter<detail_random::finite>(f, "low", low, s);
  const auto b = detail_random::parameter<detail_random::finite>(f, "high", high, s);
  if (detail_random::holds_anywhere(detail_random::without_width{}, a, b))
    cudarray::detail::fail<value_error>(f, ": high - low is not finite");
  const auto u = detail_random::drawn(f, s, detail_random::uniform_numbers<R>(0, 1), g, device);
  return detail_random::as_numbers<T>(map(detail_random::uniform_between<R>{}, u, a, b));
}
/// Normal numbers whose means and standard deviations arrays say.
template <dtype T = float, device_tag Device = default_device, class L, class S = int>
requires(array_expression<L> ||
         array_expression<S>) const ndarray<T, Device> normal(const shape& s, const L& loc, const S& scale = 1,
                                                              generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::normal";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "loc", loc, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  return detail_random::as_numbers<T>(
      at + by * detail_random::drawn(f, s, detail_random::normal_numbers<R>(0, 1), g, device));
}
/// Normal numbers of mean `loc` and standard deviation `scale` of which those outside [low, high] are left out.
///     ca::random::truncated_normal({2, 3}, -2, 2)
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> truncated_normal(const shape& s, double low, double high, double loc = 0, double scale = 1,
                                          generator& g = thread_generator(), Device device = {}) {
  return detail_random::truncated_normals<detail_random::real_number_t<T>, Device>("random::truncated_normal", s,
                                                                                   {low, high, loc, scale}, g, device);
}

/// Exponential numbers of mean `scale`.
///     ca::random::exponential({2, 3}, 4)
template <dtype T = float, device_tag Device = default_device, class S = int>
const ndarray<T, Device> exponential(const shape& s, const S& scale = 1, generator& g = thread_generator(),
                                     Device device = {}) {
  constexpr const char* f = "random::exponential";
  using R = detail_random::real_number_t<T>;
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  return detail_random::as_numbers<T>(by * detail_random::exponentials<R>(f, s, g, device));
}
/// Laplace's distribution: exponential numbers of mean `scale` on both sides of `loc`.
template <dtype T = float, device_tag Device = default_device, class L = int, class S = int>
const ndarray<T, Device> laplace(const shape& s, const L& loc = 0, const S& scale = 1,
                                 generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::laplace";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "loc", loc, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  const auto above = detail_random::exponentials<R>(f, s, g, device);
  const auto below = detail_random::exponentials<R>(f, s, g, device);
  return detail_random::as_numbers<T>(at + by * (above - below));
}
/// Gumbel's distribution, of the largest of many: loc - scale log(-log(u)).
template <dtype T = float, device_tag Device = default_device, class L = int, class S = int>
const ndarray<T, Device> gumbel(const shape& s, const L& loc = 0, const S& scale = 1, generator& g = thread_generator(),
                                Device device = {}) {
  constexpr const char* f = "random::gumbel";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "loc", loc, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  return detail_random::as_numbers<T>(at + by * detail_random::gumbels<R>(f, s, g, device));
}
/// The logistic distribution: loc + scale log(u / (1 - u)).
template <dtype T = float, device_tag Device = default_device, class L = int, class S = int>
const ndarray<T, Device> logistic(const shape& s, const L& loc = 0, const S& scale = 1,
                                  generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::logistic";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "loc", loc, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  const auto above = detail_random::gumbels<R>(f, s, g, device);
  const auto below = detail_random::gumbels<R>(f, s, g, device);
  return detail_random::as_numbers<T>(at + by * (above - below));
}
/// Cauchy's distribution: the quotient of two normal numbers, times `scale`, plus `loc`.
template <dtype T = float, device_tag Device = default_device, class L = int, class S = int>
const ndarray<T, Device> cauchy(const shape& s, const L& loc = 0, const S& scale = 1, generator& g = thread_generator(),
                                Device device = {}) {
  constexpr const char* f = "random::cauchy";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "loc", loc, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  // in float64, in which a normal number is hardly ever 0
  const auto above = detail_random::drawn(f, s, detail_random::normal_numbers<double>(0, 1), g, device);
  const auto below = detail_random::drawn(f, s, detail_random::normal_numbers<double>(0, 1), g, device);
  return detail_random::as_numbers<R>(at + by * (above / below));
}
/// Numbers whose logarithms are normal, of mean `mean` and standard deviation `sigma`.
template <dtype T = float, device_tag Device = default_device, class L = int, class S = int>
const ndarray<T, Device> lognormal(const shape& s, const L& mean = 0, const S& sigma = 1,
                                   generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::lognormal";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "mean", mean, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "sigma", sigma, s);
  return detail_random::as_numbers<T>(
      exp(at + by * detail_random::drawn(f, s, detail_random::normal_numbers<R>(0, 1), g, device)));
}
/// Rayleigh's distribution: the length of a vector of two normal numbers of standard deviation `scale`.
template <dtype T = float, device_tag Device = default_device, class S = int>
const ndarray<T, Device> rayleigh(const shape& s, const S& scale = 1, generator& g = thread_generator(),
                                  Device device = {}) {
  constexpr const char* f = "random::rayleigh";
  using R = detail_random::real_number_t<T>;
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  return detail_random::as_numbers<T>(by * sqrt(2 * detail_random::exponentials<R>(f, s, g, device)));
}
/// Weibull's distribution of shape a: the a-th root of an exponential number.
template <dtype T = float, device_tag Device = default_device, class A>
const ndarray<T, Device> weibull(const shape& s, const A& a, generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::weibull";
  using R = detail_random::real_number_t<T>;
  const auto by = detail_random::parameter<detail_random::positive>(f, "a", a, s);
  return detail_random::as_numbers<T>(exp(log(detail_random::exponentials<R>(f, s, g, device)) / by));
}
/// Pareto's second distribution (Lomax), of shape a: from 0 on, as NumPy's. Plus 1 it is the classical one.
template <dtype T = float, device_tag Device = default_device, class A>
const ndarray<T, Device> pareto(const shape& s, const A& a, generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::pareto";
  using R = detail_random::real_number_t<T>;
  const auto by = detail_random::parameter<detail_random::positive>(f, "a", a, s);
  return detail_random::as_numbers<T>(expm1(detail_random::exponentials<R>(f, s, g, device) / by));
}
/// Numbers of [0, 1] of density a x^(a - 1).
template <dtype T = float, device_tag Device = default_device, class A>
const ndarray<T, Device> power(const shape& s, const A& a, generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::power";
  using R = detail_random::real_number_t<T>;
  const auto by = detail_random::parameter<detail_random::positive>(f, "a", a, s);
  return detail_random::as_numbers<T>(exp(log(-expm1(-detail_random::exponentials<R>(f, s, g, device))) / by));
}
/// The triangular distribution of [left, right], highest at `mode`. Throws value_error where they are not in order.
template <dtype T = float, device_tag Device = default_device, class L, class M, class R>
const ndarray<T, Device> triangular(const shape& s, const L& left, const M& mode, const R& right,
                                    generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::triangular";
  const auto a = detail_random::parameter<detail_random::finite>(f, "left", left, s);
  const auto m = detail_random::parameter<detail_random::finite>(f, "mode", mode, s);
  const auto b = detail_random::parameter<detail_random::finite>(f, "right", right, s);
  if (detail_random::holds_anywhere(detail_random::out_of_order{}, a, m, b))
    cudarray::detail::fail<value_error>(f, ": left <= mode <= right does not hold, or right - left is not finite");
  const auto u = detail_random::drawn(f, s, detail_random::uniform_numbers<double>(0, 1), g, device);
  return detail_random::as_numbers<detail_random::real_number_t<T>>(
      map(detail_random::triangular_number{}, u, a, m, b));
}
/// Wald's distribution (the inverse Gaussian one) of that mean and scale.
template <dtype T = float, device_tag Device = default_device, class M, class S>
const ndarray<T, Device> wald(const shape& s, const M& mean, const S& scale, generator& g = thread_generator(),
                              Device device = {}) {
  constexpr const char* f = "random::wald";
  const auto m = detail_random::parameter<detail_random::positive>(f, "mean", mean, s);
  const auto by = detail_random::parameter<detail_random::positive>(f, "scale", scale, s);
  const auto n = detail_random::drawn(f, s, detail_random::normal_numbers<double>(0, 1), g, device);
  const auto u = detail_random::drawn(f, s, detail_random::uniform_numbers<double>(0, 1), g, device);
  return detail_random::as_numbers<detail_random::real_number_t<T>>(map(detail_random::wald_number{}, n, u, m, by));
}

/// The gamma distribution of shape a and mean a * scale (Marsaglia, Tsang 2000).
///     ca::random::gamma({2, 3}, 2.5)
template <dtype T = float, device_tag Device = default_device, class A, class S = int>
const ndarray<T, Device> gamma(const shape& s, const A& a, const S& scale = 1, generator& g = thread_generator(),
                               Device device = {}) {
  constexpr const char* f = "random::gamma";
  using R = detail_random::real_number_t<T>;
  const auto k = detail_random::parameter<detail_random::nonnegative>(f, "a", a, s);
  const auto by = detail_random::parameter<detail_random::nonnegative>(f, "scale", scale, s);
  return detail_random::sample<R, detail_random::gamma_sampler>(f, s, g, device, k, by);
}
/// The beta distribution: x / (x + y) of gamma numbers x of shape a and y of shape b.
template <dtype T = float, device_tag Device = default_device, class A, class B>
const ndarray<T, Device> beta(const shape& s, const A& a, const B& b, generator& g = thread_generator(),
                              Device device = {}) {
  constexpr const char* f = "random::beta";
  using R = detail_random::real_number_t<T>;
  const auto p = detail_random::parameter<detail_random::positive>(f, "a", a, s);
  const auto q = detail_random::parameter<detail_random::positive>(f, "b", b, s);
  return detail_random::sample<R, detail_random::beta_sampler>(f, s, g, device, p, q);
}
/// The sum of the squares of df normal numbers, df > 0.
template <dtype T = float, device_tag Device = default_device, class D>
const ndarray<T, Device> chisquare(const shape& s, const D& df, generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::chisquare";
  using R = detail_random::real_number_t<T>;
  const auto n = detail_random::parameter<detail_random::positive>(f, "df", df, s);
  return detail_random::sample<R, detail_random::chisquare_sampler>(f, s, g, device, n);
}
/// The same of normal numbers of which the squared means add up to `nonc`, at most 2^62.
template <dtype T = float, device_tag Device = default_device, class D, class N>
const ndarray<T, Device> noncentral_chisquare(const shape& s, const D& df, const N& nonc,
                                              generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::noncentral_chisquare";
  using R = detail_random::real_number_t<T>;
  const auto n = detail_random::parameter<detail_random::positive>(f, "df", df, s);
  const auto c = detail_random::parameter<detail_random::mean_count>(f, "nonc", nonc, s);
  return detail_random::sample<R, detail_random::chisquare_sampler>(f, s, g, device, n, c);
}
/// Fisher's F distribution: (x / dfnum) / (y / dfden) of chi-square numbers.
template <dtype T = float, device_tag Device = default_device, class N, class D>
const ndarray<T, Device> f(const shape& s, const N& dfnum, const D& dfden, generator& g = thread_generator(),
                           Device device = {}) {
  constexpr const char* function = "random::f";
  using R = detail_random::real_number_t<T>;
  const auto n = detail_random::parameter<detail_random::positive>(function, "dfnum", dfnum, s);
  const auto d = detail_random::parameter<detail_random::positive>(function, "dfden", dfden, s);
  return detail_random::sample<R, detail_random::f_sampler>(function, s, g, device, n, d);
}
/// The same with a non-central x.
template <dtype T = float, device_tag Device = default_device, class N, class D, class C>
const ndarray<T, Device> noncentral_f(const shape& s, const N& dfnum, const D& dfden, const C& nonc,
                                      generator& g = thread_generator(), Device device = {}) {
  constexpr const char* f = "random::noncentral_f";
  using R = detail_random::real_number_t<T>;
  const auto n = detail_random::parameter<detail_random::positive>(f, "dfnum", dfnum, s);
  const auto d = detail_random::parameter<detail_random::positive>(f, "dfden", dfden, s);
  const auto c = detail_random::parameter<detail_random::mean_count>(f, "nonc", nonc, s);
  return detail_random::sample<R, detail_random::f_sampler>(f, s, g, device, n, d, c);
}
/// Student's t distribution of df degrees of freedom.
template <dtype T = float, device_tag Device = default_device, class D>
const ndarray<T, Device> standard_t(const shape& s, const D& df, generator& g = thread_generator(),
                                    Device device = {}) {
  constexpr const char* f = "random::standard_t";
  using R = detail_random::real_number_t<T>;
  const auto n = detail_random::parameter<detail_random::positive>(f, "df", df, s);
  return detail_random::sample<R, detail_random::t_sampler>(f, s, g, device, n);
}
/// Angles of [-pi, pi] around `mu`, of concentration kappa (von Mises; Best, Fisher 1979).
template <dtype T = float, device_tag Device = default_device, class M, class K>
const ndarray<T, Device> vonmises(const shape& s, const M& mu, const K& kappa, generator& g = thread_generator(),
                                  Device device = {}) {
  constexpr const char* f = "random::vonmises";
  using R = detail_random::real_number_t<T>;
  const auto at = detail_random::parameter<detail_random::finite>(f, "mu", mu, s);
  const auto k = detail_random::parameter<detail_random::nonnegative>(f, "kappa", kappa, s);
  return detail_random::sample<R, detail_random::vonmises_sampler>(f, s, g, device, at, k);
}

}  // namespace cudarray::inline v0::random::inline CUDARRAY_BUILD
