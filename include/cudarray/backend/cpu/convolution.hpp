// Convolution on the CPU: our own, oneDNN's where it was found and is the faster, or neither.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/window_product.hpp"
#if defined(CUDARRAY_HAS_ONEDNN)
#include "kernel/onednn.hpp"
#endif

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Whether our own is faster than matrices of windows: where these overlap, rows fill packs, and filters, or the sums
/// of their gradient, stay in the second cache.
template <class T>
bool suits_own(const detail::convolution& of, int64 work) {
  using what = detail::convolution::what;
  if (!plane_convolution::describes(of)) return false;
  const plane_convolution c(of);
  constexpr int64 N = blocking<T>::N, light = 1 << 18;
  const int64 filters = of.filters();
  const bool overlap = c.stride[0] < c.r || c.stride[1] < c.s;
  if (of.part == what::backward_weights)
    return overlap && 2 * c.q >= N && filters * this_build::vector_bytes <= 1 << 20;
  const bool back = of.part == what::backward_data;
  if (back && (c.stride[0] > 1 || c.stride[1] > 1 || c.padding[0] >= c.r || c.padding[1] >= c.s)) return false;
  return work < light || (overlap && 3 * (back ? c.w : c.q) >= N && filters * int64(sizeof(T)) <= 1 << 19);
}

template <class T>
void convolve_ourselves(const detail::convolution& of, T* x, T* w, T* y, int64 work) {
  using what = detail::convolution::what;
  const plane_convolution c(of);
  const int64 threads = parts_for(work / 16) == 1 ? 1 : num_threads();
  if (of.part == what::forward) correlate(c, x, w, y, threads);
  else if (of.part == what::backward_data) correlate_back(c, y, w, x, threads);
  else correlate_gradient(c, x, y, w, threads);
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
bool convolve_natively(cpu, const detail::convolution& c) {
  if constexpr (!::std::is_floating_point_v<T>) {
    return false;
  } else {
    const int64 work = c.products();
    T *const x = static_cast<T*>(c.x->data) + c.offset_x,
             *const w = static_cast<T*>(c.weights->data) + c.offset_weights,
             *const y = static_cast<T*>(c.y->data) + c.offset_y;
    const bool own = host::suits_own<T>(c, work);
    bool done = false;
#if defined(CUDARRAY_HAS_ONEDNN)
    // of few channels our own is the faster
    if constexpr (::std::is_same_v<T, float>)
      if (!own || c.c > 4 || c.stride[0] > 1 || c.stride[1] > 1) done = host::convolve_by_onednn(c, x, w, y, work);
#endif
    if (!done && own) host::convolve_ourselves(c, x, w, y, work), done = true;
    if (done) detail::count(detail::counters.kernels);
    return done;
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
