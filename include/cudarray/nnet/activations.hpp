// Activation functions and their derivatives, which take the pre-activation: lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/math.hpp"
#include "../ops/operators.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {
/// Integers stay integers.
template <class X>
auto relu(const X& x) {
  if constexpr (kind_of<value_type_t<X>> >= kind::floating)
    return cudarray::detail::elementwise("nnet::relu", op::relu_op{}, x);
  else return maximum(x, 0);
}
}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

using cudarray::tanh;

/// Each takes `(x)`, an array or expression, and returns a lazy expression of its shape; with `ca::out(c)` it is
/// evaluated into c.
#define CUDARRAY_ACTIVATION(name, value)                              \
  template <array_expression X>                                       \
  auto name(const X& x) {                                             \
    return value;                                                     \
  }                                                                   \
  template <array_expression X, class T, class D>                     \
  const ndarray<T, D> name(const X& x, const out_argument<T, D>& o) { \
    return cudarray::detail::write_out("nnet::" #name, o, name(x));   \
  }

/// max(x, 0).
CUDARRAY_ACTIVATION(relu, detail::relu(x))
/// 1 where x >= 0, else 0; CUDArray's, 1 at 0.
CUDARRAY_ACTIVATION(relu_d, astype<value_type_t<X>>(x >= 0))
/// 1 / (1 + exp(-x)).
CUDARRAY_ACTIVATION(sigmoid, cudarray::detail::elementwise("nnet::sigmoid", op::sigmoid_op{}, x))
CUDARRAY_ACTIVATION(sigmoid_d, sigmoid(x) * sigmoid(-x))
CUDARRAY_ACTIVATION(tanh_d, 1 - square(cudarray::tanh(x)))
/// log(1 + exp(x)), without overflow.
CUDARRAY_ACTIVATION(softplus, cudarray::detail::elementwise("nnet::softplus", op::softplus_op{}, x))
CUDARRAY_ACTIVATION(softplus_d, sigmoid(x))
#undef CUDARRAY_ACTIVATION

/// The gradient of relu: dy where x > 0, else 0 (also at 0). Lazy.
template <array_expression G, array_expression X>
auto relu_backward(const G& dy, const X& x) {
  return cudarray::detail::elementwise("nnet::relu_backward", op::where_op{}, x > 0, dy, 0);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
