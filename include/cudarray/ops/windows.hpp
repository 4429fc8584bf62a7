// Windows, with which the ends of a signal are faded out.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/special.hpp"
#include "creation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

enum class window_kind { bartlett, blackman, hamming, hanning, kaiser };

/// A window of n elements, by NumPy's formulas.
template <class T>
struct window {
  using value_type = T;
  window_kind kind;
  int64 n;
  double beta;
  CUDARRAY_HD T operator()(int64 i) const {
    if (n == 1) return lane_cast<T>(1.);
    const double at = double(1 - n + 2 * i) / double(n - 1), angle = 3.141592653589793 * at;  // from -1 to 1
    switch (kind) {
      case window_kind::bartlett:
        return lane_cast<T>(1 - math::abs(at));
      case window_kind::blackman:
        return lane_cast<T>(0.42 + 0.5 * math::cos(angle) + 0.08 * math::cos(2 * angle));
      case window_kind::hamming:
        return lane_cast<T>(0.54 + 0.46 * math::cos(angle));
      case window_kind::hanning:
        return lane_cast<T>(0.5 + 0.5 * math::cos(angle));
      default:
        return lane_cast<T>(math::i0(beta * math::sqrt(1 - at * at)) / math::i0(beta));
    }
  }
};
template <class T, class Device>
ndarray<T, Device> window_of(const char* function, window_kind kind, int64 n, double beta, Device device) {
  constexpr bool floating = kind_of<T> == kind::floating;
  static_assert(floating, "cudarray: windows are of a floating dtype");
  if (n < 0) fail<value_error>(function, ": ", n, " values");
  return from_generator(function, n, window<T>{kind, n, beta}, device);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// Each is symmetric, of n elements up to 1; of one element it is 1. Eager. Throws value_error for a negative n.

/// A triangle, 0 at the ends.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> bartlett(detail::any_integer n, Device device = {}) {
  return detail::window_of<T>("bartlett", detail::window_kind::bartlett, n, 0, device);
}
/// 0.42 + 0.5 cos + 0.08 cos of the double angle, which goes from -pi to pi.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> blackman(detail::any_integer n, Device device = {}) {
  return detail::window_of<T>("blackman", detail::window_kind::blackman, n, 0, device);
}
/// 0.54 + 0.46 cos: 0.08 at the ends.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> hamming(detail::any_integer n, Device device = {}) {
  return detail::window_of<T>("hamming", detail::window_kind::hamming, n, 0, device);
}
/// 0.5 + 0.5 cos: Hann's window, 0 at the ends.
///     ca::hanning(512)
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> hanning(detail::any_integer n, Device device = {}) {
  return detail::window_of<T>("hanning", detail::window_kind::hanning, n, 0, device);
}
/// i0(beta sqrt(1 - t^2)) / i0(beta), t from -1 to 1: the larger beta, the narrower.
///     ca::kaiser(512, 8.6)
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> kaiser(detail::any_integer n, double beta, Device device = {}) {
  return detail::window_of<T>("kaiser", detail::window_kind::kaiser, n, beta, device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
