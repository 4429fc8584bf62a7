// Local response normalisation: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/creation.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet {

/// The fields have PyTorch's meaning: AlexNet's and CUDArray's alpha is `alpha / size` here.
struct local_response_norm_options {
  cudarray::detail::any_integer size = 5;  ///< channels
  double alpha = 1e-4, beta = 0.75, k = 1;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

inline void check_local_response(const char* function, const shape& x, const local_response_norm_options& o) {
  if (x.ndim() < 2)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", x, ": a batch and channels are wanted");
  if (o.size < 1 || o.size > int64(1) << 40)
    cudarray::detail::fail<value_error>(function, ": size ", o.size, " is not positive, or too large");
}
/// The sum of so many channels, `before` of them in front of each: what lies outside is 0.
template <class T, class D, class X>
ndarray<T, D> sums_of_channels(const X& x, int64 size, int64 before, D device) {
  const shape& dims = cudarray::detail::dims_of(x);
  shape padded = dims;
  padded[1] += size - 1;
  const ndarray<T, D> all = zeros<T, D>(padded, device);
  all(_, slice(before, before + dims[1]))(ellipsis) = x;
  layout windows = all.where();
  windows.dims[1] = dims[1];
  windows.stride[windows.ndim()] = windows.stride[1];
  windows.dims.push_back(size);
  return sum(cudarray::detail::view(all, windows), -1);
}
template <class T, class D>
struct local_response {
  using C = compute_t<T>;
  ndarray<T, D> x;
  local_response_norm_options o;
  ndarray<C, D> base;  ///< k + alpha / size * the sum of squares around

  local_response(const ndarray<T, D>& a, const local_response_norm_options& options)
      : x(a),
        o(options),
        base(sums_of_channels<C>(square(wide<C>(a)), o.size, o.size / 2, a.device()) *
                 (o.alpha / double(o.size.value)) +
             o.k) {}
  ndarray<T, D> value() const { return narrowed<ndarray<T, D>>(wide<C>(x) * power(base, -o.beta)); }
  ndarray<T, D> gradient(const ndarray<T, D>& g) const {
    const auto factor = wide<C>(g) * power(base, -o.beta);
    const auto around = sums_of_channels<C>(factor * wide<C>(x) / base, o.size, (o.size - 1) / 2, g.device());
    return narrowed<ndarray<T, D>>(factor - wide<C>(x) * around * (2 * o.alpha * o.beta / double(o.size.value)));
  }
};

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// x / (k + alpha / size * s)^beta, s being the sum of squares of `size` channels (axis 1) around each, zeros beyond
/// the first and the last: (b, c, ..) -> (b, c, ..) (Krizhevsky et al. 2012). Half types are computed in float32.
/// Eager. Throws shape_error, value_error.
///     ca::nnet::local_response_norm(x, {.size = 5, .alpha = 5e-4, .k = 2})
template <array_expression X>
auto local_response_norm(const X& x, const local_response_norm_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (detail::takes_floating<X>()) {
    detail::check_local_response("nnet::local_response_norm", cudarray::detail::dims_of(x), o);
    return detail::local_response<T, D>(ndarray<T, D>(x), o).value();
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
