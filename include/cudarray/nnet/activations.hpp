// Activation functions and their derivatives, which take the pre-activation: lazy.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/manipulation.hpp"
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
template <class A>
struct two_halves {
  A first, second;
};
/// Views of the halves of an axis.
template <class T, class D>
two_halves<const ndarray<T, D>> halves(const char* function, const ndarray<T, D>& a, int64 axis) {
  const int at = cudarray::detail::normal_axis(function, axis, a.ndim());
  const int64 n = a.shape(at) / 2;
  if (n * 2 != a.shape(at))
    cudarray::detail::fail<shape_error>(function, ": the axis ", at, " of shape ", a.shape(), " has no halves");
  layout first = a.where(), second;
  first.dims[at] = n;
  second = first;
  second.offset += n * first.stride[at];
  return {cudarray::detail::view(a, first), cudarray::detail::view(a, second)};
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
#define CUDARRAY_ACTIVATION_OF_TABLE(name) \
  CUDARRAY_ACTIVATION(name, cudarray::detail::elementwise("nnet::" #name, op::name##_op{}, x))

/// max(x, 0). Integers stay integers.
CUDARRAY_ACTIVATION(relu, detail::relu(x))
/// min(max(x, 0), 6).
CUDARRAY_ACTIVATION_OF_TABLE(relu6)
/// 1 / (1 + exp(-x)).
CUDARRAY_ACTIVATION_OF_TABLE(sigmoid)
/// log(sigmoid(x)), without overflow.
CUDARRAY_ACTIVATION_OF_TABLE(logsigmoid)
/// log(1 + exp(x)), without overflow.
CUDARRAY_ACTIVATION_OF_TABLE(softplus)
/// x / (1 + |x|).
CUDARRAY_ACTIVATION_OF_TABLE(softsign)
/// x - tanh(x).
CUDARRAY_ACTIVATION_OF_TABLE(tanhshrink)
/// x sigmoid(x), also called swish.
CUDARRAY_ACTIVATION_OF_TABLE(silu)
/// x tanh(softplus(x)) (Misra 2019).
CUDARRAY_ACTIVATION_OF_TABLE(mish)
/// x times the normal distribution's cumulative function (Hendrycks, Gimpel 2016).
CUDARRAY_ACTIVATION_OF_TABLE(gelu)
/// Its approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
CUDARRAY_ACTIVATION_OF_TABLE(gelu_tanh)
/// 1.0507 x where x > 0, else 1.0507 * 1.67326 (exp(x) - 1) (Klambauer et al. 2017).
CUDARRAY_ACTIVATION_OF_TABLE(selu)
/// relu6(x + 3) / 6.
CUDARRAY_ACTIVATION_OF_TABLE(hardsigmoid)
/// x hardsigmoid(x) (Howard et al. 2019).
CUDARRAY_ACTIVATION_OF_TABLE(hardswish)
/// 1 where x >= 0, else 0; CUDArray's, 1 at 0.
CUDARRAY_ACTIVATION(relu_d, astype<value_type_t<X>>(x >= 0))
CUDARRAY_ACTIVATION(sigmoid_d, sigmoid(x) * sigmoid(-x))
CUDARRAY_ACTIVATION(tanh_d, 1 - square(cudarray::tanh(x)))
CUDARRAY_ACTIVATION(softplus_d, sigmoid(x))
#undef CUDARRAY_ACTIVATION_OF_TABLE
#undef CUDARRAY_ACTIVATION

/// Each takes `(x, parameter)`, the parameter being a number that need not be given, and returns the same.
#define CUDARRAY_ACTIVATION(name, parameter, otherwise, value)                          \
  template <array_expression X>                                                         \
  auto name(const X& x, double parameter = otherwise) {                                 \
    return value;                                                                       \
  }                                                                                     \
  template <array_expression X, class T, class D>                                       \
  const ndarray<T, D> name(const X& x, double parameter, const out_argument<T, D>& o) { \
    return cudarray::detail::write_out("nnet::" #name, o, name(x, parameter));          \
  }
#define CUDARRAY_ACTIVATION_OF_TABLE(name, op_name, parameter, otherwise) \
  CUDARRAY_ACTIVATION(name, parameter, otherwise,                         \
                      cudarray::detail::elementwise("nnet::" #name, op::op_name##_op{}, x, parameter))

/// x where x > 0, else slope x.
CUDARRAY_ACTIVATION_OF_TABLE(leaky_relu, prelu, slope, 0.01)
/// x where x > 0, else alpha (exp(x) - 1) (Clevert et al. 2015).
CUDARRAY_ACTIVATION_OF_TABLE(elu, elu, alpha, 1)
/// x where x > 0, else alpha (exp(x / alpha) - 1) (Barron 2017).
CUDARRAY_ACTIVATION_OF_TABLE(celu, celu, alpha, 1)
/// x - lambda where x > lambda, x + lambda where x < -lambda, else 0.
CUDARRAY_ACTIVATION_OF_TABLE(softshrink, softshrink, lambda, 0.5)
/// x where |x| > lambda, else 0.
CUDARRAY_ACTIVATION(hardshrink, lambda, 0.5, where(abs(x) > lambda, x, 0))
#undef CUDARRAY_ACTIVATION_OF_TABLE
#undef CUDARRAY_ACTIVATION

/// x where x > 0, else slope x; the slopes, which have a gradient, broadcast: of channels they are (c, 1, 1). Lazy.
template <array_expression X, array_expression S>
auto prelu(const X& x, const S& slope) {
  return cudarray::detail::elementwise("nnet::prelu", op::prelu_op{}, x, slope);
}
/// min(max(x, low), high). Lazy.
template <array_expression X>
auto hardtanh(const X& x, double low = -1, double high = 1) {
  return clip(x, low, high);
}
/// x where x > limit, else value. Lazy.
template <array_expression X>
auto threshold(const X& x, double limit, double value) {
  return cudarray::detail::elementwise("nnet::threshold", op::where_op{}, x > limit, x, value);
}
/// silu(gate) * x (Shazeer 2020), as Llama's layers have it. Lazy. Throws shape_error.
template <array_expression G, array_expression X>
auto swiglu(const G& gate, const X& x) {
  return silu(gate) * x;
}
/// gelu(gate) * x. Lazy. Throws shape_error.
template <array_expression G, array_expression X>
auto geglu(const G& gate, const X& x) {
  return gelu(gate) * x;
}
/// The first half of an axis times the sigmoid of the second: of half that extent (Dauphin et al. 2017). Eager. Throws
/// shape_error for an odd extent.
template <array_expression X>
auto glu(const X& x, cudarray::detail::any_integer axis = -1) {
  using A = ndarray<value_type_t<X>, device_type_t<X>>;
  constexpr bool floating = kind_of<value_type_t<X>> >= kind::floating;
  static_assert(floating, "cudarray: nnet::glu takes a floating dtype: use ca::astype<float>(x)");
  if constexpr (floating) {
    const A a(x);
    const auto [value, gate] = detail::halves("nnet::glu", a, axis.value);
    return A(value * sigmoid(gate));
  } else {
    return cudarray::detail::poison{};
  }
}

/// The gradient of relu: dy where x > 0, else 0 (also at 0). Lazy.
template <array_expression G, array_expression X>
auto relu_backward(const G& dy, const X& x) {
  return cudarray::detail::elementwise("nnet::relu_backward", op::where_op{}, x > 0, dy, 0);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
