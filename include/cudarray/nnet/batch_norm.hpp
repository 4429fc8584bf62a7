// Batch, group and instance norm: by a mean and a variance over several axes. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/creation.hpp"
#include "../ops/dual_parts.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet {

struct batch_norm_options {
  double momentum = 0.1;                   ///< what a batch counts in the running statistics
  double eps = 1e-5;                       ///< added to the variance
  cudarray::detail::any_integer axis = 1;  ///< of the channels
};
struct group_norm_options {
  double eps = 1e-5;  ///< added to the variance
};
/// Filters and a bias for each, of a convolution that does what another one and a norm behind it do.
template <class T, class Device>
struct folded_norm {
  ndarray<T, Device> weights, bias;
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// x as a norm sees it: over which axes it takes the statistics, and along which gain and bias lie.
struct norm_view {
  shape dims;        ///< x is reshaped to
  unsigned reduced;  ///< a bit for each axis
  shape affine;      ///< gain and bias are reshaped to: 1 along the others
  double eps;

  axes where(unsigned mask) const {
    int64 list[max_rank];
    int n = 0;
    for (int d = 0; d < dims.ndim(); ++d)
      if (mask >> d & 1u) list[n++] = d;
    return axes(list, n);
  }
  axes statistics() const { return where(reduced); }
  /// The axes that gain and bias do not have.
  unsigned shared() const {
    unsigned mask = 0;
    for (int d = 0; d < dims.ndim(); ++d) mask |= unsigned(affine[d] == 1) << d;
    return mask;
  }
  int64 count() const {
    int64 n = 1;
    for (int d = 0; d < dims.ndim(); ++d)
      if (reduced >> d & 1u) n *= dims[d];
    return n;
  }
};
inline void check_eps(const char* function, double eps) {
  if (!(eps >= 0)) cudarray::detail::fail<value_error>(function, ": eps ", eps, " is negative or no number");
}
/// Of batch norm: all axes but one.
inline norm_view view_of_batch(const char* function, const shape& x, int64 axis, double eps) {
  if (x.ndim() < 2)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", x, ": a batch and channels are wanted");
  check_eps(function, eps);
  const int at = cudarray::detail::normal_axis(function, axis, x.ndim());
  norm_view v{x, ((1u << x.ndim()) - 1) & ~(1u << at), {}, eps};
  for (int d = 0; d < x.ndim(); ++d) v.affine.push_back(d == at ? x[d] : 1);
  return v;
}
/// Of group norm: channels (axis 1) in groups, each with all axes behind.
inline norm_view view_of_groups(const char* function, const shape& x, int64 groups, double eps) {
  if (x.ndim() < 2)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", x, ": a batch and channels are wanted");
  check_eps(function, eps);
  if (groups < 1 || x[1] % groups != 0)
    cudarray::detail::fail<value_error>(function, ": the ", x[1], " channels of x of shape ", x, " are not ", groups,
                                        " groups");
  int64 behind = 1;
  for (int d = 2; d < x.ndim(); ++d) behind *= x[d];
  return {{x[0], groups, x[1] / groups, behind}, 0b1100, {1, groups, x[1] / groups, 1}, eps};
}

inline norm_view view_of_instances(const char* function, const shape& x, double eps) {
  return view_of_groups(function, x, x.ndim() < 2 || x[1] == 0 ? 1 : x[1], eps);
}
/// What is said of channels has an element for each. Throws shape_error.
inline void check_channels(const char* function, const norm_view& v, const char* name, const shape& s) {
  const shape channels{v.affine.elements()};
  if (s != channels)
    cudarray::detail::fail<shape_error>(function, ": ", name, " of shape ", s, " for ", channels[0],
                                        " channels: ", channels, " is wanted");
}
template <class G, class B>
void check_gain_and_bias(const char* function, const norm_view& v, const G& gain, const B& bias) {
  check_channels(function, v, "a gain", cudarray::detail::dims_of(gain));
  check_channels(function, v, "a bias", cudarray::detail::dims_of(bias));
}
template <class M, class V>
void check_statistics(const char* function, const norm_view& v, const M& mean, const V& var) {
  check_channels(function, v, "a mean", cudarray::detail::dims_of(mean));
  check_channels(function, v, "a variance", cudarray::detail::dims_of(var));
}

template <class T, class D>
struct normalised {
  using C = compute_t<T>;
  ndarray<T, D> value;               ///< of x's shape
  ndarray<C, D> mean, var, inverse;  ///< with the axes kept; `inverse` is 1 / sqrt(var + eps)
};
/// Gain or bias as it meets x; numbers stay as they are.
template <class C, class D, class A>
ndarray<C, D> along_channels(const norm_view& v, const ndarray<A, D>& a) {
  if (a.ndim() == 0) return astype<C>(a);
  return reshape(ndarray<C, D>(beside<C>(a)), v.affine);
}
template <class T, class D, class G, class B>
normalised<T, D> normalise(const norm_view& v, const ndarray<T, D>& x, const ndarray<G, D>& gain,
                           const ndarray<B, D>& bias) {
  using C = compute_t<T>;
  using A = ndarray<C, D>;
  const ndarray<T, D> seen = reshape(x, v.dims);
  const auto of = mean_var(wide<C>(seen), v.statistics(), keepdims);
  const A inverse = 1 / sqrt(of.var + v.eps), scale = inverse * along_channels<C>(v, gain),
          offset = along_channels<C>(v, bias);
  const ndarray<T, D> y = narrowed<ndarray<T, D>>((wide<C>(seen) - of.mean) * scale + offset);
  return {reshape(y, x.shape()), of.mean, of.var, inverse};
}

/// What gradients of a norm are made of: sums of g, and of g times the normalised x.
template <class T, class D>
class norm_gradients {
  using C = compute_t<T>;
  using A = ndarray<C, D>;
  const norm_view& v_;
  ndarray<T, D> g_, x_;
  A gain_, mean_, inverse_, sum_, product_;

  auto standardised() const { return (wide<C>(x_) - mean_) * inverse_; }
  A per_statistic(const A& sums) const {
    return sum(gain_ * sums, v_.statistics(), keepdims) * (1 / double(v_.count()));
  }

 public:
  template <class G>
  norm_gradients(const norm_view& v, const ndarray<T, D>& g, const ndarray<T, D>& x, const ndarray<G, D>& gain,
                 const A& mean, const A& inverse)
      : v_(v),
        g_(reshape(g, v.dims)),
        x_(reshape(x, v.dims)),
        gain_(along_channels<C>(v, gain)),
        mean_(mean),
        inverse_(inverse) {
    // the large sums, of which statistics and affine parts need small ones
    const axes both = v.where(v.reduced & v.shared());
    sum_ = sum(wide<C>(g_), both, keepdims);
    product_ = sum(wide<C>(g_) * standardised(), both, keepdims);
  }
  ndarray<T, D> of_x() const {
    const A scale = inverse_ * gain_, first = per_statistic(sum_), second = per_statistic(product_);
    return narrowed<ndarray<T, D>>(wide<C>(g_) * scale - (first + standardised() * second) * inverse_);
  }
  A of_gain() const { return sum(product_, v_.where(v_.shared()), keepdims); }
  A of_bias() const { return sum(sum_, v_.where(v_.shared()), keepdims); }
};

/// Moves the running statistics towards those of a batch, whose variance they have without bias.
template <class T, class D, class P, class Q>
void update_running(const normalised<T, D>& of, int64 count, double momentum, const ndarray<P, D>& mean,
                    const ndarray<Q, D>& var) {
  const auto moved = [momentum]<class U>(const ndarray<U, D>& to, const auto& from, double factor) {
    const auto now = astype<U>(reshape(cudarray::detail::primals(from), to.shape()));
    return to * (1 - momentum) + now * (momentum * factor);
  };
  assign_together(out(mean) = moved(mean, of.mean, 1),
                  out(var) = moved(var, of.var, double(count) / double(count - 1)));
}
/// Throws value_error, shape_error before anything is written.
template <class P, class Q, class D>
void check_running(const char* function, const norm_view& v, const batch_norm_options& o, const ndarray<P, D>& mean,
                   const ndarray<Q, D>& var) {
  constexpr bool floating = cudarray::detail::is_floating<P> && cudarray::detail::is_floating<Q>;
  static_assert(floating,
                "cudarray: nnet::batch_norm: running statistics are of a floating dtype: use ca::zeros<float>");
  const shape channels{v.affine.elements()};
  if (mean.shape() != channels || var.shape() != channels)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", v.dims, ", running statistics of shapes ",
                                        mean.shape(), " and ", var.shape(), ": ", channels, " is wanted");
  if (!(o.momentum >= 0 && o.momentum <= 1))
    cudarray::detail::fail<value_error>(function, ": momentum ", o.momentum, " is not in [0, 1]");
  if (v.count() == 1)
    cudarray::detail::fail<value_error>(function, ": x of shape ", v.dims,
                                        " has one element for each channel: they have no variance");
}

/// Where no gain or bias is given.
struct absent {
  double value;
};
/// The dtype of what is absent is that of x.
template <class T, class A>
struct affine_type {
  using type = value_type_t<A>;
};
template <class T>
struct affine_type<T, absent> {
  using type = compute_t<T>;
};
template <class T, class A>
using affine_t = typename affine_type<T, A>::type;
template <class T, class D, class A>
ndarray<affine_t<T, A>, D> affine_array(const A& a, D device) {
  if constexpr (::std::is_same_v<A, absent>)
    return cudarray::detail::filled<affine_t<T, A>>("nnet", shape{}, a.value, device);
  else return ndarray<affine_t<T, A>, D>(a);
}
/// A norm of arrays; `then` sees what was computed. That of variables is in autograd/batch_norm.hpp, and found by the
/// view's namespace.
template <class X, class G, class B, class Then>
requires(!has_gradient<X> && !has_gradient<G> && !has_gradient<B>) auto apply_norm(const norm_view& v, const X& x,
                                                                                   const G& gain, const B& bias,
                                                                                   const Then& then) {
  using D = device_type_t<X>;
  using T = dual_beside<value_type_t<X>, affine_t<value_type_t<X>, G>, affine_t<value_type_t<X>, B>>;
  const ndarray<T, D> a(of_dtype<T>(x));
  const auto r = normalise(v, a, affine_array<T>(gain, a.device()), affine_array<T>(bias, a.device()));
  then(r);
  return r.value;
}
inline constexpr auto nothing_else = [](const auto&) {};

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

// Norms have the shape and dtype of x, whose half types are computed in float32. Gains and biases have an element for
// each channel, in their own dtype. Eager. Throw shape_error, value_error, index_error.

/// (x - mean) / sqrt(var + eps) * gain + bias of each channel, the mean and the biased variance being those of all
/// other axes: (b, c, ..), (c,), (c,) -> (b, c, ..) (Ioffe, Szegedy 2015). For training: the running statistics move
/// towards those of the batch by the momentum, the running variance towards the unbiased one. An empty batch moves
/// nothing.
///     ca::nnet::batch_norm(x, gain, bias, running_mean, running_var, {.momentum = 0.01})
template <array_expression X, array_expression G, array_expression B, class P, class Q, class D>
auto batch_norm(const X& x, const G& gain, const B& bias, const ndarray<P, D>& running_mean,
                const ndarray<Q, D>& running_var, const batch_norm_options& o = {}) {
  constexpr const char* function = "nnet::batch_norm";
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_batch(function, cudarray::detail::dims_of(x), o.axis, o.eps);
    detail::check_gain_and_bias(function, v, gain, bias);
    detail::check_running(function, v, o, running_mean, running_var);
    return apply_norm(v, x, gain, bias, [&](const auto& r) {
      if (r.value.size() > 0) detail::update_running(r, v.count(), o.momentum, running_mean, running_var);
    });
  } else {
    return cudarray::detail::poison{};
  }
}
/// Without running statistics.
template <array_expression X, array_expression G, array_expression B>
auto batch_norm(const X& x, const G& gain, const B& bias, const batch_norm_options& o = {}) {
  constexpr const char* function = "nnet::batch_norm";
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_batch(function, cudarray::detail::dims_of(x), o.axis, o.eps);
    detail::check_gain_and_bias(function, v, gain, bias);
    return apply_norm(v, x, gain, bias, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}
/// Without gain and bias.
template <array_expression X>
auto batch_norm(const X& x, const batch_norm_options& o = {}) {
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_batch("nnet::batch_norm", cudarray::detail::dims_of(x), o.axis, o.eps);
    return apply_norm(v, x, detail::absent{1}, detail::absent{0}, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}
/// batch_norm by statistics that are known, as the running ones. Lazy in x; what is said of channels is read at once.
///     ca::nnet::batch_norm_inference(x, gain, bias, running_mean, running_var)
template <array_expression X, array_expression G, array_expression B, array_expression M, array_expression V>
auto batch_norm_inference(const X& x, const G& gain, const B& bias, const M& mean, const V& var,
                          const batch_norm_options& o = {}) {
  constexpr const char* function = "nnet::batch_norm_inference";
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_batch(function, cudarray::detail::dims_of(x), o.axis, o.eps);
    detail::check_gain_and_bias(function, v, gain, bias);
    detail::check_statistics(function, v, mean, var);
    using C = detail::norm_t<X>;
    const auto along = [&v](const auto& a) { return reshape(eval(a), v.affine); };
    const auto scale = eval(detail::beside<C>(gain) / sqrt(detail::beside<C>(var) + o.eps));
    return detail::narrowed<X>((detail::wide<C>(x) - along(detail::beside<C>(mean))) * along(scale) +
                               along(detail::beside<C>(bias)));
  } else {
    return cudarray::detail::poison{};
  }
}
/// Weights, along axis 0 of `w` for each channel, and a bias, with which a layer does what it does with w and b and
/// batch_norm_inference behind it: (k, ..), (k,) -> (k, ..), (k,). Eager. Throws shape_error, value_error.
///     auto [weights, bias] = ca::nnet::fold_batch_norm(w, b, gain, beta, running_mean, running_var);
template <array_expression W, array_expression H, array_expression G, array_expression B, array_expression M,
          array_expression V>
folded_norm<value_type_t<W>, device_type_t<W>> fold_batch_norm(const W& w, const H& b, const G& gain, const B& bias,
                                                               const M& mean, const V& var,
                                                               const group_norm_options& o = {}) {
  constexpr const char* function = "nnet::fold_batch_norm";
  const shape& dims = cudarray::detail::dims_of(w);
  if (dims.ndim() < 2) cudarray::detail::fail<shape_error>(function, ": weights of shape ", dims, ", not (k, ..)");
  const auto v = detail::view_of_batch(function, dims, 0, o.eps);
  detail::check_channels(function, v, "the layer's bias", cudarray::detail::dims_of(b));
  detail::check_gain_and_bias(function, v, gain, bias);
  detail::check_statistics(function, v, mean, var);
  using C = detail::norm_t<W>;
  const ndarray<C, device_type_t<W>> scale = detail::beside<C>(gain) / sqrt(detail::beside<C>(var) + o.eps);
  return {detail::narrowed<W>(detail::wide<C>(w) * reshape(scale, v.affine)),
          detail::narrowed<W>((detail::beside<C>(b) - detail::beside<C>(mean)) * scale + detail::beside<C>(bias))};
}
/// (x - mean) / sqrt(var + eps) * gain + bias, with the mean and variance of each group of channels of an image:
/// (b, c, ..), (c,), (c,) -> (b, c, ..) (Wu, He 2018).
///     ca::nnet::group_norm(x, 32, gain, bias)
template <array_expression X, array_expression G, array_expression B>
auto group_norm(const X& x, cudarray::detail::any_integer groups, const G& gain, const B& bias,
                const group_norm_options& o = {}) {
  constexpr const char* function = "nnet::group_norm";
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_groups(function, cudarray::detail::dims_of(x), groups.value, o.eps);
    detail::check_gain_and_bias(function, v, gain, bias);
    return apply_norm(v, x, gain, bias, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}
template <array_expression X>
auto group_norm(const X& x, cudarray::detail::any_integer groups, const group_norm_options& o = {}) {
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_groups("nnet::group_norm", cudarray::detail::dims_of(x), groups.value, o.eps);
    return apply_norm(v, x, detail::absent{1}, detail::absent{0}, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}
/// group_norm with each channel a group (Ulyanov et al. 2016).
///     ca::nnet::instance_norm(x, gain, bias)
template <array_expression X, array_expression G, array_expression B>
auto instance_norm(const X& x, const G& gain, const B& bias, const group_norm_options& o = {}) {
  constexpr const char* function = "nnet::instance_norm";
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_instances(function, cudarray::detail::dims_of(x), o.eps);
    detail::check_gain_and_bias(function, v, gain, bias);
    return apply_norm(v, x, gain, bias, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}
template <array_expression X>
auto instance_norm(const X& x, const group_norm_options& o = {}) {
  if constexpr (detail::takes_floating<X>()) {
    const auto v = detail::view_of_instances("nnet::instance_norm", cudarray::detail::dims_of(x), o.eps);
    return apply_norm(v, x, detail::absent{1}, detail::absent{0}, detail::nothing_else);
  } else {
    return cudarray::detail::poison{};
  }
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
