// Layer and RMS norm, and the norms of weights: expressions.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/dual_parts.hpp"
#include "../ops/linalg.hpp"
#include "elementwise_losses.hpp"

namespace cudarray::inline v0::nnet {

struct norm_options {
  cudarray::axes axes = -1;  ///< that are normalised
  double eps = 1e-5;         ///< added to the variance or the mean square
};
struct weight_norm_options {
  cudarray::detail::any_integer axis = 0;  ///< of the outputs, each of which has its own length
};
struct spectral_norm_options {
  cudarray::detail::any_integer iterations = 1;  ///< of the power method
  double eps = 1e-12;                            ///< lengths are this at least
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

using cudarray::detail::compute_t;

template <class X>
constexpr bool takes_floating() {
  constexpr bool floating = cudarray::detail::is_differentiable<value_type_t<X>>;
  static_assert(floating, "cudarray: this function of networks takes a floating dtype: use ca::astype<float>(x)");
  return floating;
}
/// A gain or bias broadcasts to x, and x to nothing. Throws shape_error.
inline void check_affine(const char* function, const char* name, const shape& x, const shape& a, const char* to = "x") {
  bool fits = a.ndim() <= x.ndim();
  for (int d = 1; fits && d <= a.ndim(); ++d) fits = a[a.ndim() - d] == 1 || a[a.ndim() - d] == x[x.ndim() - d];
  if (!fits)
    cudarray::detail::fail<shape_error>(function, ": ", name, " of shape ", a, " does not broadcast to ", to,
                                        " of shape ", x);
}
/// Throws value_error unless eps is a number that is not negative, index_error for an axis that is not there.
inline void check_norm(const char* function, const shape& x, const norm_options& o) {
  if (!(o.eps >= 0)) cudarray::detail::fail<value_error>(function, ": eps ", o.eps, " is negative or no number");
  (void)o.axes.mask(function, x.ndim());
}
template <class C, class X>
auto standardised(const X& x, const norm_options& o) {
  const auto& w = wide<C>(x);
  return (w - mean(w, o.axes, keepdims)) * (1 / sqrt(var(w, o.axes, keepdims) + o.eps));
}
template <class C, class X>
auto by_mean_square(const X& x, const norm_options& o) {
  const auto& w = wide<C>(x);
  return w * (1 / sqrt(mean(square(w), o.axes, keepdims) + o.eps));
}
/// Whether what may be no array is one with variables in it.
template <class A>
inline constexpr bool has_gradient = false;
template <array_expression A>
inline constexpr bool has_gradient<A> = cudarray::detail::has_variable<A>;
/// An operand beside one that is computed in C.
template <class C, class X>
decltype(auto) beside(const X& x) {
  using T = value_type_t<X>;
  using P = cudarray::detail::primal_t<C>;
  using W = ::std::conditional_t<cudarray::detail::is_dual<T>, cudarray::dual<P>, P>;
  if constexpr (::std::is_same_v<W, T>) return (x);
  else return astype<W>(x);
}
/// x in another dtype; itself where it has that.
template <class T, class X>
decltype(auto) of_dtype(const X& x) {
  if constexpr (::std::is_same_v<value_type_t<X>, T>) return (x);
  else return astype<T>(x);
}
template <class T, class... A>
struct dual_beside_types {
  static constexpr bool dual = (cudarray::detail::is_dual<T> || ... || cudarray::detail::is_dual<A>);
  using type = ::std::conditional_t<dual, cudarray::dual<cudarray::detail::primal_t<T>>, T>;
};
/// T, or its dual numbers where another dtype is one.
template <class... A>
using dual_beside = typename dual_beside_types<A...>::type;
/// Of x's dtype.
template <class X, class E>
auto narrowed(const E& e) {
  using T = value_type_t<X>;
  using P = cudarray::detail::primal_t<T>;
  using N = ::std::conditional_t<cudarray::detail::is_dual<value_type_t<E>>, cudarray::dual<P>, P>;
  if constexpr (::std::is_same_v<cudarray::detail::compute_t<T>, T>) return e;
  else return astype<N>(e);
}
/// What norms of x are computed in.
template <class X>
using norm_t = cudarray::detail::compute_t<value_type_t<X>>;

/// v / |v|, |v| being eps at least.
template <class A>
A unit_vector(const A& v, double eps) {
  return v / maximum(sqrt(sum(square(v))), eps);
}
/// Axes but one.
inline axes other_axes(int ndim, int axis) {
  int64 others[max_rank];
  int n = 0;
  for (int d = 0; d < ndim; ++d)
    if (d != axis) others[n++] = d;
  return axes(others, n);
}
template <class V, class G>
auto weight_norm(const V& v, const G& length, const weight_norm_options& o) {
  constexpr const char* function = "nnet::weight_norm";
  const shape& dims = cudarray::detail::dims_of(v);
  const int at = cudarray::detail::normal_axis(function, o.axis, dims.ndim());
  if (cudarray::detail::dims_of(length) != shape{dims[at]})
    cudarray::detail::fail<shape_error>(function, ": weights of shape ", dims, ", lengths of shape ",
                                        cudarray::detail::dims_of(length), ": ", shape{dims[at]}, " is wanted");
  shape along{dims[at]};
  for (int d = at + 1; d < dims.ndim(); ++d) along.push_back(1);
  using C = norm_t<V>;
  const auto& w = wide<C>(v);
  const auto of = sqrt(sum(square(w), other_axes(dims.ndim(), at), keepdims));
  return narrowed<V>(w / of * beside<C>(reshape(length, along)));
}
/// Singular vectors of the largest singular value of a matrix (k, -1).
template <class C, class D>
struct vector_pair {
  ndarray<C, D> left, right;
};
/// The power method, from `u`, which is not written. Throws shape_error, value_error.
template <class W, class T, class D>
auto singular_vectors(const W& w, const ndarray<T, D>& u, const spectral_norm_options& o) {
  constexpr const char* function = "nnet::spectral_norm";
  constexpr bool floating = cudarray::detail::is_floating<T>;
  static_assert(floating, "cudarray: nnet::spectral_norm: the vector is of a floating dtype: use ca::astype<float>(u)");
  const shape& dims = w.shape();
  if (dims.ndim() < 2 || dims.elements() == 0 || u.shape() != shape{dims[0]})
    cudarray::detail::fail<shape_error>(function, ": weights of shape ", dims, ", a vector of shape ", u.shape());
  if (o.iterations < 0) cudarray::detail::fail<value_error>(function, ": ", o.iterations, " iterations");
  if (!(o.eps >= 0)) cudarray::detail::fail<value_error>(function, ": eps ", o.eps, " is negative or no number");
  using C = compute_t<T>;
  using A = ndarray<C, D>;
  const A matrix(astype<C>(reshape(cudarray::detail::primals(w), {dims[0], -1})));
  vector_pair<C, D> v{unit_vector<A>(A(wide<C>(u)), o.eps), {}};
  v.right = unit_vector<A>(matmul(v.left, matrix), o.eps);
  for (int64 i = 0; i < o.iterations; ++i) {
    if (i > 0) v.right = unit_vector<A>(matmul(v.left, matrix), o.eps);
    v.left = unit_vector<A>(matmul(matrix, v.right), o.eps);
  }
  return v;
}
/// An array's weights, or a variable's.
template <class W, class C, class D>
W by_singular_value(const W& w, const vector_pair<C, D>& v) {
  using P = compute_t<cudarray::detail::primal_t<value_type_t<W>>>;
  const auto weights = eval(wide<compute_t<value_type_t<W>>>(w));
  const auto product = matmul(reshape(weights, {w.shape(0), -1}), of_dtype<P>(v.right));
  return narrowed<W>(weights / matmul(of_dtype<P>(v.left), product));
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Layer and RMS norm have the shape and dtype of x. Gains and biases broadcast: of the last axis they are (n,). Half
// types are computed in float32, a gain in float32 beside them as it is. Lazy; one kernel where the axes are the last
// ones. Throw shape_error, value_error for a negative eps, index_error.

/// (x - mean) / sqrt(var + eps) along the last axis, or `.axes`, times a gain, plus a bias (Ba, Kiros, Hinton 2016).
///     ca::nnet::layer_norm(x, gain, bias, {.eps = 1e-6})
template <array_expression X, array_expression G, array_expression B>
auto layer_norm(const X& x, const G& gain, const B& bias, const norm_options& o = {}) {
  constexpr const char* function = "nnet::layer_norm";
  if constexpr (detail::takes_floating<X>()) {
    const shape& dims = cudarray::detail::dims_of(x);
    detail::check_norm(function, dims, o);
    detail::check_affine(function, "a gain", dims, cudarray::detail::dims_of(gain));
    detail::check_affine(function, "a bias", dims, cudarray::detail::dims_of(bias));
    using C = detail::norm_t<X>;
    return detail::narrowed<X>(detail::standardised<C>(x, o) * detail::beside<C>(gain) + detail::beside<C>(bias));
  } else {
    return cudarray::detail::poison{};
  }
}
/// Without a bias.
template <array_expression X, array_expression G>
auto layer_norm(const X& x, const G& gain, const norm_options& o = {}) {
  constexpr const char* function = "nnet::layer_norm";
  if constexpr (detail::takes_floating<X>()) {
    const shape& dims = cudarray::detail::dims_of(x);
    detail::check_norm(function, dims, o);
    detail::check_affine(function, "a gain", dims, cudarray::detail::dims_of(gain));
    using C = detail::norm_t<X>;
    return detail::narrowed<X>(detail::standardised<C>(x, o) * detail::beside<C>(gain));
  } else {
    return cudarray::detail::poison{};
  }
}
/// Without either.
template <array_expression X>
auto layer_norm(const X& x, const norm_options& o = {}) {
  if constexpr (detail::takes_floating<X>()) {
    detail::check_norm("nnet::layer_norm", cudarray::detail::dims_of(x), o);
    return detail::narrowed<X>(detail::standardised<detail::norm_t<X>>(x, o));
  } else {
    return cudarray::detail::poison{};
  }
}
/// x / sqrt(mean(x^2) + eps) along the last axis, or `.axes`, times a gain (Zhang, Sennrich 2019).
///     ca::nnet::rms_norm(x, gain, {.eps = 1e-6})
template <array_expression X, array_expression G>
auto rms_norm(const X& x, const G& gain, const norm_options& o = {}) {
  constexpr const char* function = "nnet::rms_norm";
  if constexpr (detail::takes_floating<X>()) {
    const shape& dims = cudarray::detail::dims_of(x);
    detail::check_norm(function, dims, o);
    detail::check_affine(function, "a gain", dims, cudarray::detail::dims_of(gain));
    using C = detail::norm_t<X>;
    return detail::narrowed<X>(detail::by_mean_square<C>(x, o) * detail::beside<C>(gain));
  } else {
    return cudarray::detail::poison{};
  }
}
template <array_expression X>
auto rms_norm(const X& x, const norm_options& o = {}) {
  if constexpr (detail::takes_floating<X>()) {
    detail::check_norm("nnet::rms_norm", cudarray::detail::dims_of(x), o);
    return detail::narrowed<X>(detail::by_mean_square<detail::norm_t<X>>(x, o));
  } else {
    return cudarray::detail::poison{};
  }
}

/// length * v / |v| of each output: weights v of k outputs along an axis, and k lengths (Salimans, Kingma 2016). Lazy.
/// Throws shape_error, index_error.
///     ca::nnet::weight_norm(v, length)
template <array_expression V, array_expression G>
auto weight_norm(const V& v, const G& length, const weight_norm_options& o = {}) {
  if constexpr (detail::takes_floating<V>()) {
    return detail::weight_norm(v, length, o);
  } else {
    return cudarray::detail::poison{};
  }
}
/// w / s, s being the largest singular value of the matrix (k, -1) of weights of k outputs (Miyato et al. 2018), by the
/// power method: `u`, (k,), is the state that each call improves (none where there are no iterations), random numbers
/// to begin with. Half types are computed in float32. The gradient goes through s with both singular vectors held.
/// Eager. Throws shape_error, value_error.
///     ca::nnet::spectral_norm(w, u)
template <array_expression W, class T, class D>
auto spectral_norm(const W& w, const ndarray<T, D>& u, const spectral_norm_options& o = {}) {
  if constexpr (detail::takes_floating<W>()) {
    const ndarray<value_type_t<W>, D> weights(w);
    const auto v = detail::singular_vectors(weights, u, o);
    const auto result = detail::by_singular_value(weights, v);
    if (o.iterations > 0) u(ellipsis) = astype<T>(v.left);
    return result;
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
