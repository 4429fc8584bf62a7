// Dropout.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/random.hpp"

namespace cudarray::inline v0::nnet {

namespace detail {
inline void check_probability(const char* function, double p) {
  if (!(p >= 0 && p < 1))
    throw value_error(cudarray::detail::cat(function, ": the probability ", p, " is not in [0, 1)"));
}
}  // namespace detail

/// 0 with probability p, 1 / (1 - p) otherwise: multiply activations by it, and their gradients by the same. Eager.
/// Throws value_error for p outside [0, 1).
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> dropout_mask(const shape& s, double p, random::generator& g = random::thread_generator(),
                                      Device device = {}) {
  detail::check_probability("nnet::dropout_mask", p);
  cudarray::detail::check_extents("nnet::dropout_mask", s);
  const auto u = random::uniform<float, Device, Build>(s, 0, 1, g, device);
  return ndarray<T, Device>(astype<T>(where(u >= p, 1 / (1 - p), 0.)));
}

template <class T, class Device>
struct dropped {
  ndarray<T, Device> value;
  ndarray<T, Device> mask;  ///< what the gradient is multiplied by
};

/// x * mask, and the mask. Eager. Throws value_error for p outside [0, 1).
template <array_expression X, class Build = this_build>
auto dropout(const X& x, double p, random::generator& g = random::thread_generator()) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  detail::check_probability("nnet::dropout", p);
  const ndarray<T, D> a(x);
  const ndarray<T, D> mask = dropout_mask<T, D, Build>(a.shape(), p, g, a.device());
  return dropped<T, D>{ndarray<T, D>(a * mask), mask};
}

}  // namespace cudarray::inline v0::nnet
