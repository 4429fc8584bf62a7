// Dropout.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/random.hpp"
#include "norm.hpp"

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

/// Numbers of `masked_number`, lazy: 0 with probability p.
template <class Device>
auto draw_mask(const char* function, const shape& s, double p, double kept, random::generator& g, Device device) {
  if (!(p >= 0 && p < 1)) cudarray::detail::fail<value_error>(function, ": the probability ", p, " is not in [0, 1)");
  using numbers = random::detail_random::numbers_at<masked_number>;
  return random::detail_random::drawn(function, s, numbers{{float(p), float(kept)}, {}}, g, device);
}
/// What dropout multiplies by, lazy.
template <class T, class Device>
auto mask_of(const char* function, const shape& s, double p, random::generator& g, Device device) {
  if constexpr (::std::is_same_v<T, double>) return astype<T>(draw_mask(function, s, p, 1, g, device)) * (1 / (1 - p));
  else if constexpr (::std::is_same_v<T, float>) return draw_mask(function, s, p, 1 / (1 - p), g, device);
  else return astype<T>(draw_mask(function, s, p, 1 / (1 - p), g, device));
}
template <class X>
constexpr bool drops_floating() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>;
  static_assert(floating, "cudarray: dropout takes a floating dtype: use ca::astype<float>(x)");
  return floating;
}
/// The shape of (b, c, ..) with one element for each channel. Throws shape_error.
inline shape channels_of(const char* function, const shape& x) {
  if (x.ndim() < 2)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", x, ": a batch and channels are wanted");
  shape s{x[0], x[1]};
  for (int d = 2; d < x.ndim(); ++d) s.push_back(1);
  return s;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// 0 with probability p, 1 / (1 - p) otherwise: to multiply several arrays by the same. Eager. Throws value_error for p
/// outside [0, 1).
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> dropout_mask(const shape& s, double p, random::generator& g = random::thread_generator(),
                                      Device device = {}) {
  return detail::mask_of<T>("nnet::dropout_mask", s, p, g, device);
}

// Lazy: the mask is generated where it is used and stored nowhere, nor is it for the backward pass. The generator moves
// on when the expression is built, whose value is the same however often it is evaluated. Throw value_error for p
// outside [0, 1).

/// x with each element 0 with probability p, the others times 1 / (1 - p) (Srivastava et al. 2014).
///     ca::variable h = ca::nnet::dropout(ca::nnet::relu(ca::matmul(x, w)), 0.5);
template <array_expression X>
auto dropout(const X& x, double p, random::generator& g = random::thread_generator()) {
  if constexpr (detail::drops_floating<X>()) {
    using T = cudarray::detail::primal_t<value_type_t<X>>;
    return x * detail::mask_of<T>("nnet::dropout", cudarray::detail::dims_of(x), p, g, cudarray::detail::device_of(x));
  } else {
    return cudarray::detail::poison{};
  }
}
/// The same for whole channels: (b, c, ..), PyTorch's dropout1d, dropout2d and dropout3d (Tompson et al. 2015). Throws
/// shape_error for fewer than two axes.
template <array_expression X>
auto feature_dropout(const X& x, double p, random::generator& g = random::thread_generator()) {
  constexpr const char* function = "nnet::feature_dropout";
  if constexpr (detail::drops_floating<X>()) {
    using T = cudarray::detail::primal_t<value_type_t<X>>;
    const shape channels = detail::channels_of(function, cudarray::detail::dims_of(x));
    return x * detail::mask_of<T>(function, channels, p, g, cudarray::detail::device_of(x));
  } else {
    return cudarray::detail::poison{};
  }
}
/// Dropout behind `selu`: elements become selu(-inf) = -1.7581 with probability p, and all are scaled and moved so that
/// mean and variance stay 0 and 1 (Klambauer et al. 2017).
template <array_expression X>
auto alpha_dropout(const X& x, double p, random::generator& g = random::thread_generator()) {
  constexpr const char* function = "nnet::alpha_dropout";
  if constexpr (detail::drops_floating<X>()) {
    constexpr double least = -1.7580993408473766;
    const auto kept =
        detail::draw_mask(function, cudarray::detail::dims_of(x), p, 1, g, cudarray::detail::device_of(x));
    const double scale = 1 / math::sqrt((1 - p) * (1 + p * least * least));
    return detail::narrowed<X>(where(kept > 0, detail::wide<detail::norm_t<X>>(x), least) * scale - scale * p * least);
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
