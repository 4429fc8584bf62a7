// Pooling to images of a size that is given: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/indexing.hpp"
#include "../ops/reductions.hpp"
#include "pool.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// The windows of adaptive pooling along an axis of n pixels, of which there are m (He et al. 2014): (m,), and (m,
/// longest) their pixels, those of shorter windows filled up with their last one.
template <class D>
struct adaptive_windows {
  ndarray<int64, D> begin, end, pixels;
  adaptive_windows(int64 n, int64 m, D device)
      : begin(floor_divide(arange<int64>(0, m, 1, device) * n, m)),
        end(floor_divide(arange<int64>(1, m + 1, 1, device) * n + (m - 1), m)) {
    int64 longest = 0;
    for (int64 i = 0; i < m; ++i) {
      const int64 length = ((i + 1) * n + m - 1) / m - i * n / m;
      if (length > longest) longest = length;
    }
    pixels = minimum(expand_dims(begin, 1) + arange<int64>(0, longest, 1, device), expand_dims(end, 1) - 1);
  }
};
inline shape adaptive_size(const char* function, int axes, const shape& x, const extents& size) {
  check_images(function, x, axes);
  check_numbers(function, "size", size, axes, 1);
  for (int a = 0; a < axes; ++a)
    if (x[2 + a] == 0) cudarray::detail::fail<shape_error>(function, ": images of ", x, " have no pixels");
  return shape_of(size, axes);
}
/// The windows of all axes, where they are all of one size and side by side: those of pooling.
inline bool are_even(const shape& x, const shape& to, pool_options& o) {
  shape window;
  bool even = true;
  for (int a = 0; a < to.ndim(); ++a) {
    even = even && x[2 + a] % to[a] == 0;
    window.push_back(x[2 + a] / to[a]);
  }
  o.window = extents_of(window);
  return even;
}
/// As numbers of one axis meet those before `behind` others.
template <class X>
auto ahead_of(const X& x, int behind) {
  shape s = cudarray::detail::dims_of(x);
  for (int b = 0; b < behind; ++b) s.push_back(1);
  return reshape(x, s);
}
template <class X>
auto adaptive_average(const char* function, int axes, const X& x, const extents& size) {
  if constexpr (!takes_floating<X>()) {
    return cudarray::detail::poison{};
  } else {
    using C = compute_t<value_type_t<X>>;
    using P = cudarray::detail::primal_t<C>;
    const shape dims = cudarray::detail::dims_of(x), to = adaptive_size(function, axes, dims, size);
    pool_options o;
    if (are_even(dims, to, o)) return eval(narrowed<X>(pool_images<true>(function, axes, wide<C>(x), o)));
    auto a = eval(wide<C>(x));
    for (int d = 0; d < axes; ++d) {
      const int64 n = dims[2 + d], m = to[d];
      const int behind = axes - 1 - d;
      if (n == m) continue;
      const adaptive_windows<device_type_t<X>> w(n, m, a.device());
      const auto length = ahead_of(expand_dims(w.end - w.begin, 1), behind);
      const auto inside = ahead_of(arange<int64>(0, w.pixels.shape(1), 1, a.device()), behind) < length;
      a = sum(where(inside, take(a, w.pixels, 2 + d), 0), 3 + d) / astype<P>(squeeze(length, 1));
    }
    return in_order_of(x, eval(narrowed<X>(a)));
  }
}
/// Axis by axis, the last one first: so the first largest pixel in C order is found.
template <class X>
auto adaptive_maximum(const char* function, int axes, const X& x, const extents& size) {
  using D = device_type_t<X>;
  const shape dims = cudarray::detail::dims_of(x), to = adaptive_size(function, axes, dims, size);
  pool_options o;
  if (are_even(dims, to, o)) return pool_images<false>(function, axes, x, o);
  auto a = eval(x);
  for (int d = axes - 1; d >= 0; --d) {
    const int64 n = dims[2 + d], m = to[d];
    if (n == m) continue;
    const int behind = axes - 1 - d;
    const adaptive_windows<D> w(n, m, a.device());
    const ndarray<int64, D> found =
        ahead_of(w.begin, behind) + argmax(take(without_gradient(a), w.pixels, 2 + d), 3 + d);
    a = take_along_axis(a, minimum(found, ahead_of(w.end, behind) - 1), 2 + d);
  }
  return in_order_of(x, a);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// The mean of windows that lie so that there are `size` of them: window i is from in i / size, rounded down, to
/// in (i + 1) / size, rounded up. A size of 1: global pooling. (n, c, w) -> (n, c, size).
template <array_expression X>
auto adaptive_avg_pool1d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool1d", 1, x, size);
}
/// (n, c, h, w) -> (n, c, size).
///     ca::nnet::adaptive_avg_pool2d(x, {7, 7})
template <array_expression X>
auto adaptive_avg_pool2d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool2d", 2, x, size);
}
template <array_expression X>
auto adaptive_avg_pool3d(const X& x, const extents& size) {
  return detail::adaptive_average("nnet::adaptive_avg_pool3d", 3, x, size);
}
/// The largest pixels of such windows.
template <array_expression X>
auto adaptive_max_pool1d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool1d", 1, x, size);
}
template <array_expression X>
auto adaptive_max_pool2d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool2d", 2, x, size);
}
template <array_expression X>
auto adaptive_max_pool3d(const X& x, const extents& size) {
  return detail::adaptive_maximum("nnet::adaptive_max_pool3d", 3, x, size);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
