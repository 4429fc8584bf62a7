// Initial weights: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/linalg.hpp"
#include "../ops/math.hpp"
#include "../ops/operators.hpp"
#include "../ops/random.hpp"
#include "../ops/reductions.hpp"

namespace cudarray::inline v0::nnet {

/// What he_uniform and he_normal divide by: the number of inputs or of outputs.
enum class fan { in, out };

struct gain_options {
  double gain = 1;
};
struct he_options {
  double gain = 1.4142135623730951;  ///< that of relu, sqrt(2)
  nnet::fan fan = nnet::fan::in;
};
struct truncated_normal_options {
  double mean = 0, std = 1;  ///< before what lies outside is left out
  double low = -2, high = 2;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

struct fans {
  double in, out;
};
/// Of (inputs, outputs), or of filters (outputs, inputs, ..). Throws shape_error.
inline fans fans_of(const char* function, const shape& s) {
  if (s.ndim() < 2)
    cudarray::detail::fail<shape_error>(function, ": weights of shape ", s,
                                        ": (inputs, outputs) or (outputs, inputs, ..) is wanted");
  if (s.ndim() == 2) return {double(s[0]), double(s[1])};
  double field = 1;
  for (int d = 2; d < s.ndim(); ++d) field *= double(s[d]);
  return {double(s[1]) * field, double(s[0]) * field};
}
/// gain / sqrt(fan), or 0 where there are no weights. Throws value_error for a gain that is negative or no number.
inline double by_fan(const char* function, double gain, double fan) {
  if (!(gain >= 0)) cudarray::detail::fail<value_error>(function, ": gain ", gain, " is negative or no number");
  return fan > 0 ? gain / math::sqrt(fan) : 0;
}
template <class T, class Device>
const ndarray<T, Device> normal_weights(const shape& s, double deviation, random::generator& g, Device device) {
  return random::normal<T, Device>(s, T(0), T(deviation), g, device);
}

template <class T, class Device>
const ndarray<T, Device> uniform_weights(const shape& s, double deviation, random::generator& g, Device device) {
  const double limit = deviation * 1.7320508075688772;  // sqrt(3)
  return random::uniform<T, Device>(s, T(-limit), T(limit), g, device);
}

/// The quantile of the normal distribution, from probabilities: algorithm AS 241, PPND16 (Wichura 1988).
struct normal_quantile {
  static CUDARRAY_HD double ratio(double r, const double (&above)[8], const double (&below)[8]) {
    double p = above[7], q = below[7];
    for (int i = 6; i >= 0; --i) {
      p = p * r + above[i];
      q = q * r + below[i];
    }
    return p / q;
  }
  CUDARRAY_HD double operator()(double p) const {
    constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                            1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                            3.3430575583588128105e+4, 2.5090809287301226727e+3},
                     b[] = {1.0,
                            4.2313330701600911252e+1,
                            6.8718700749205790830e+2,
                            5.3941960214247511077e+3,
                            2.1213794301586595867e+4,
                            3.9307895800092710610e+4,
                            2.8729085735721942674e+4,
                            5.2264952788528545610e+3};
    const double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) return q * ratio(0.180625 - q * q, a, b);
    const double tail = q < 0 ? p : 1 - p, r = math::sqrt(-math::log(tail));
    return q < 0 ? -beyond(r) : beyond(r);
  }

 private:
  static CUDARRAY_HD double beyond(double r) {
    constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                            3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4},
                     d[] = {1.0,
                            2.05319162663775882187e0,
                            1.67638483018380384940e0,
                            6.89767334985100004550e-1,
                            1.48103976427480074590e-1,
                            1.51986665636164571966e-2,
                            5.47593808499534494600e-4,
                            1.05075007164441684324e-9},
                     e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                            2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                            2.71155556874348757815e-5, 2.01033439929228813265e-7},
                     f[] = {1.0,
                            5.99832206555887937690e-1,
                            1.36929880922735805310e-1,
                            1.48753612908506148525e-2,
                            7.86869131145613259100e-4,
                            1.84631831751005468180e-5,
                            1.42151175831644588870e-7,
                            2.04426310338993978564e-15};
    return r <= 5 ? ratio(r - 1.6, c, d) : ratio(r - 5, e, f);
  }
};

/// Makes the rows of a matrix (m, n), m <= n, orthonormal, one after the other: by Gram and Schmidt, twice each.
template <class D>
void orthonormalise_rows(const ndarray<double, D>& q) {
  for (int64 i = 0; i < q.shape(0); ++i) {
    ndarray<double, D> row = q(i).copy();
    const ndarray<double, D> before = q(slice(i));
    for (int pass = 0; pass < 2 && i > 0; ++pass) row -= matmul(matmul(before, row), before);
    q(i)(ellipsis) = row / sqrt(sum(square(row)));
  }
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Each makes weights of float32 or float64, (inputs, outputs) of a layer or filters (outputs, inputs, ..), and takes
// the generator and the device last. Throw shape_error for fewer than two axes.

/// Uniform, of the variance gain^2 2 / (inputs + outputs) (Glorot, Bengio 2010).
///     w = ca::nnet::glorot_uniform({784, 512});
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> glorot_uniform(const shape& s, const gain_options& o = {},
                                        random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::glorot_uniform", s);
  return detail::uniform_weights<T>(s, detail::by_fan("nnet::glorot_uniform", o.gain, (n.in + n.out) / 2), g, device);
}
/// Normal, of the same variance.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> glorot_normal(const shape& s, const gain_options& o = {},
                                       random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::glorot_normal", s);
  return detail::normal_weights<T>(s, detail::by_fan("nnet::glorot_normal", o.gain, (n.in + n.out) / 2), g, device);
}
/// Uniform, of the variance gain^2 / inputs, or outputs: 2 / inputs, for layers with relu behind them (He et al. 2015).
///     w = ca::nnet::he_uniform({64, 3, 3, 3}, {.fan = ca::nnet::fan::out});
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> he_uniform(const shape& s, const he_options& o = {},
                                    random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::he_uniform", s);
  return detail::uniform_weights<T>(s, detail::by_fan("nnet::he_uniform", o.gain, o.fan == fan::in ? n.in : n.out), g,
                                    device);
}
/// Normal, of the same variance.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> he_normal(const shape& s, const he_options& o = {},
                                   random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::he_normal", s);
  return detail::normal_weights<T>(s, detail::by_fan("nnet::he_normal", o.gain, o.fan == fan::in ? n.in : n.out), g,
                                   device);
}
/// Uniform, of the variance gain^2 / inputs (LeCun et al. 1998). With a gain of 1 / 3 it is deeppy's AutoFiller.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> lecun_uniform(const shape& s, const gain_options& o = {},
                                       random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::lecun_uniform", s);
  return detail::uniform_weights<T>(s, detail::by_fan("nnet::lecun_uniform", o.gain, n.in), g, device);
}
/// Normal, of the same variance: for layers with selu behind them.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> lecun_normal(const shape& s, const gain_options& o = {},
                                      random::generator& g = random::thread_generator(), Device device = {}) {
  const auto n = detail::fans_of("nnet::lecun_normal", s);
  return detail::normal_weights<T>(s, detail::by_fan("nnet::lecun_normal", o.gain, n.in), g, device);
}
/// Normal numbers of any shape, also with fewer axes, those outside [low, high] left out. Throws value_error.
///     w = ca::nnet::truncated_normal({784, 512}, {.std = 0.02});
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> truncated_normal(const shape& s, const truncated_normal_options& o = {},
                                          random::generator& g = random::thread_generator(), Device device = {}) {
  constexpr bool floating = kind_of<T> == kind::floating;
  static_assert(floating, "cudarray: nnet::truncated_normal makes numbers of a floating dtype");
  if (!(o.std > 0 && o.low < o.high && math::isfinite(o.mean)))
    cudarray::detail::fail<value_error>("nnet::truncated_normal: mean ", o.mean, ", standard deviation ", o.std,
                                        ", numbers of [", o.low, ", ", o.high, "]");
  const auto below = [&o](double x) { return 0.5 * math::erfc((o.mean - x) / o.std * 0.7071067811865476); };
  // of the two tails the one that floating-point numbers near 0 describe
  const double sign = o.low > o.mean ? -1 : 1;
  const double first = sign > 0 ? below(o.low) : below(2 * o.mean - o.high),
               last = sign > 0 ? below(o.high) : below(2 * o.mean - o.low);
  if (!(first < last))
    cudarray::detail::fail<value_error>("nnet::truncated_normal: [", o.low, ", ", o.high,
                                        "] has no probability that float64 holds");
  const auto u = random::uniform<double, Device>(s, first, last, g, device);
  return astype<T>(clip(o.mean + sign * o.std * map(detail::normal_quantile{}, u), o.low, o.high));
}
/// A matrix (k, -1) whose rows, or columns where these are fewer, are orthonormal, times the gain (Saxe et al. 2014):
/// uniformly distributed over all of them.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> orthogonal(const shape& s, const gain_options& o = {},
                                    random::generator& g = random::thread_generator(), Device device = {}) {
  constexpr bool floating = kind_of<T> == kind::floating;
  static_assert(floating, "cudarray: nnet::orthogonal makes numbers of a floating dtype");
  (void)detail::fans_of("nnet::orthogonal", s);
  const int64 rows = s[0], columns = s.elements() == 0 ? 0 : s.elements() / rows;
  if (columns == 0) return zeros<T, Device>(s, device);
  const bool wide = rows <= columns;
  const ndarray<double, Device> q =
      random::normal<double, Device>(wide ? shape{rows, columns} : shape{columns, rows}, 0, 1, g, device);
  detail::orthonormalise_rows(q);
  return reshape(ndarray<T, Device>(astype<T>((wide ? q : q.t()) * o.gain)), s);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
