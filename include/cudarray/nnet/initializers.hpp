// Initial weights: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/distributions.hpp"
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
  if constexpr (floating)
    return random::detail_random::truncated_normals<T, Device>("nnet::truncated_normal", s,
                                                               {o.low, o.high, o.mean, o.std}, g, device);
  else return {};
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
