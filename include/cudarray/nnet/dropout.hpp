// Dropout.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/random.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// A number that is 0 with probability p, else `kept`.
struct masked_number {
  using value_type = float;
  static constexpr int per_block = 4;
  float p, kept;
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const cudarray::detail::words_of<W>& w, int k) const {
    using namespace math;
    const auto u = cudarray::detail::unit_float(w.w[k]);
    const auto like = cudarray::detail::constants_like{u, float()};
    return select(u < like(p), like(0), like(kept));
  }
};

/// What dropout multiplies by, lazy.
template <class T, class Device>
auto mask_of(const char* function, const shape& s, double p, random::generator& g, Device device) {
  if (!(p >= 0 && p < 1)) cudarray::detail::fail<value_error>(function, ": the probability ", p, " is not in [0, 1)");
  const double kept = 1 / (1 - p);
  const auto mask = [&](float value) {
    return random::detail_random::drawn(
        function, s, random::detail_random::numbers_at<masked_number>{{float(p), value}, {}}, g, device);
  };
  if constexpr (::std::is_same_v<T, float>) return mask(float(kept));
  else if constexpr (::std::is_same_v<T, double>) return astype<T>(mask(1)) * kept;
  else return astype<T>(mask(float(kept)));
}
}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// 0 with probability p, 1 / (1 - p) otherwise: multiply activations by it, and their gradients by the same. Eager.
/// Throws value_error for p outside [0, 1).
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> dropout_mask(const shape& s, double p, random::generator& g = random::thread_generator(),
                                      Device device = {}) {
  return detail::mask_of<T>("nnet::dropout_mask", s, p, g, device);
}

template <class T, class Device>
struct dropped {
  ndarray<T, Device> value;
  ndarray<T, Device> mask;  ///< what the gradient is multiplied by
};

/// x * mask, and the mask. Eager. Throws value_error for p outside [0, 1).
template <array_expression X>
auto dropout(const X& x, double p, random::generator& g = random::thread_generator()) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const ndarray<T, D> a(x);
  const auto mask = detail::mask_of<T>("nnet::dropout", a.shape(), p, g, a.device());
  if constexpr (backend::one_pass<D>) {
    const auto both = cudarray::detail::materialise_two(op::multiply_op{}, a.node(), mask);
    return dropped<T, D>{ndarray<T, D>(both.second), ndarray<T, D>(both.first)};
  } else {
    const ndarray<T, D> values(mask);
    return dropped<T, D>{ndarray<T, D>(a * values), values};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
