// The layer x w + b with an activation behind it.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/linalg.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet {

enum class activation { none, relu };

struct linear_options {
  nnet::activation activation = activation::none;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// x @ w + b, with an activation: (..., k), (k, n), (n,) -> (..., n). Eager. On CUDA float16, bfloat16 and float32 take
/// one call of cuBLASLt where it has a kernel for it; the sum with b is then rounded once. Throws shape_error.
///     ca::nnet::linear(x, w, b, {.activation = ca::nnet::activation::relu})
template <array_expression X, array_expression W, array_expression B>
auto linear(const X& x, const W& w, const B& b, const linear_options& o = {}) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using A = ndarray<T, D>;
  constexpr bool one_dtype =
      ::std::is_same_v<value_type_t<W>, T> && ::std::is_same_v<value_type_t<B>, T> && cudarray::detail::is_floating<T>;
  static_assert(one_dtype, "cudarray: nnet::linear: x, w and b must be of one floating dtype: use ca::astype<T>(x)");
  constexpr bool one_device = cudarray::detail::on_one_device<X, W>() && cudarray::detail::on_one_device<X, B>();
  static_assert(one_device,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  if constexpr (one_dtype && one_device) {
    const A input(x), weights(w), bias(b);
    if (weights.ndim() != 2 || bias.shape() != shape{weights.shape(1)})
      cudarray::detail::fail<shape_error>("nnet::linear: weights of shape ", weights.shape(), " and a bias of shape ",
                                          bias.shape(), "; (k, n) and (n,) are wanted");
    (void)cudarray::detail::common_device("nnet::linear", input, weights, bias);
    const A bias_row = ascontiguousarray<A>(bias);
    cudarray::detail::epilogue e{bias_row.node().store.get(), bias_row.where().offset, o.activation == activation::relu,
                                 false};
    // rows of all leading axes at a time
    const bool flat = input.ndim() > 2;
    const A rows = flat ? reshape<A>(input, {-1, input.shape(-1)}) : input;
    A y = cudarray::detail::multiply<T, D>("nnet::linear", rows, weights, nullptr, &e);
    if (!e.done) {
      if (e.relu) y(ellipsis) = relu(y + bias_row);
      else y += bias_row;
    }
    if (flat) {
      shape s = input.shape();
      s[s.ndim() - 1] = weights.shape(1);
      y = reshape<A>(y, s);
    }
    return static_cast<const A>(y);
  } else {
    return cudarray::detail::poison{};
  }
}
/// a @ w[k] @ b for each k: (.., i), (.., j), (k, i, j) -> (.., k). Eager. Throws shape_error.
///     ca::nnet::bilinear(a, b, w) + bias
template <array_expression A, array_expression B, array_expression W>
auto bilinear(const A& a, const B& b, const W& w) {
  constexpr const char* function = "nnet::bilinear";
  const shape &left = cudarray::detail::dims_of(a), &right = cudarray::detail::dims_of(b),
              &of = cudarray::detail::dims_of(w);
  bool fits = of.ndim() == 3 && left.ndim() > 0 && left.ndim() == right.ndim();
  for (int d = 0; fits && d + 1 < left.ndim(); ++d) fits = left[d] == right[d];
  if (!fits || left[left.ndim() - 1] != of[1] || right[right.ndim() - 1] != of[2])
    cudarray::detail::fail<shape_error>(function, ": operands of shapes ", left, " and ", right, ", weights of shape ",
                                        of, ": (.., i), (.., j) and (k, i, j) are wanted");
  shape products = left, result = left;
  products[left.ndim() - 1] = of[0];
  result[left.ndim() - 1] = of[0];
  products.push_back(of[1]);
  using C = cudarray::detail::compute_t<value_type_t<A>>;
  const auto by_second = reshape(transpose(eval(detail::wide<C>(w)), {2, 0, 1}), {of[2], of[0] * of[1]});
  const auto both = reshape(matmul(detail::wide<C>(b), by_second), products);
  return eval(detail::narrowed<A>(sum(both * expand_dims(detail::wide<C>(a), -2), -1)));
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
