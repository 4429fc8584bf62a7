// Convolution on the CPU: our own for few channels, oneDNN's where it was found.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "window_product.hpp"
#if defined(CUDARRAY_HAS_ONEDNN)
#include "onednn.hpp"
#endif

namespace cudarray::inline v0::backend {

namespace host {
/// Whether our own computes that part: for more than a few channels oneDNN is the faster where it was found, and
/// matrices of windows where the sums of a gradient do not stay in the second cache.
template <class Build, class T>
bool convolves_itself(const detail::convolution& c) {
  using what = detail::convolution::what;
  const bool dense = c.stride[0] == 1 && c.stride[1] == 1;
  if (c.part == what::backward_data && !(dense && c.padding[0] < c.r && c.padding[1] < c.s)) return false;
  if (c.c <= 4 && dense) return true;
  if (Build::onednn && ::std::is_same_v<T, float>) return false;
  return c.part != what::backward_weights || c.k * c.c * c.r * c.s * Build::vector_bytes <= 1 << 20;
}
}  // namespace host

template <class Build, class T>
bool convolve_natively(cpu, const detail::convolution& c) {
  if constexpr (!::std::is_floating_point_v<T>) {
    return false;
  } else {
    using what = detail::convolution::what;
    const int64 work = c.n * c.k * c.p * c.q * c.c * c.r * c.s;  // products of two numbers
    T *const x = static_cast<T*>(c.x->data) + c.offset_x,
             *const w = static_cast<T*>(c.weights->data) + c.offset_weights,
             *const y = static_cast<T*>(c.y->data) + c.offset_y;
    if (host::convolves_itself<Build, T>(c)) {
      const int64 threads = host::parts_for(work / 16) == 1 ? 1 : num_threads();
      if (c.part == what::forward) host::correlate<Build>(c, x, w, y, threads);
      else if (c.part == what::backward_data) host::correlate_back<Build>(c, y, w, x, threads);
      else host::correlate_gradient<Build>(c, x, y, w, threads);
      detail::count(detail::counters.kernels);
      return true;
    }
#if defined(CUDARRAY_HAS_ONEDNN)
    if constexpr (::std::is_same_v<T, float>)
      if (host::convolve_by_onednn<Build>(c, x, w, y, work)) {
        detail::count(detail::counters.kernels);
        return true;
      }
#endif
    return false;
  }
}

}  // namespace cudarray::inline v0::backend
