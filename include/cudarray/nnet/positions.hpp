// What attention is told of positions: rotary embeddings and linear biases; and keys and values of earlier steps.
// SPDX-License-Identifier: MIT
#pragma once

#include "attention.hpp"

namespace cudarray::inline v0::nnet {

struct rotary_options {
  double base = 10000;
  cudarray::detail::any_integer offset = 0;  ///< the position of the first row
  bool interleaved = false;                  ///< whether neighbours are pairs, instead of elements d / 2 apart
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// Throws shape_error, value_error.
inline void check_rotary(const char* function, const shape& x, const rotary_options& o) {
  if (x.ndim() < 2 || x[x.ndim() - 1] % 2 != 0)
    cudarray::detail::fail<shape_error>(function, ": x of shape ", x, ", not (.., t, d) with an even d");
  if (!(o.base > 0 && math::isfinite(o.base)))
    cudarray::detail::fail<value_error>(function, ": base ", o.base, " is not positive and finite");
}
/// Every pair of an (.., t, d) array turned by its angle, or (`sign` -1) back.
template <class T, class D>
ndarray<T, D> rotated(const ndarray<T, D>& x, const rotary_options& o, double sign) {
  using C = compute_t<T>;
  using K = cudarray::detail::primal_t<C>;
  const int64 steps = x.shape(-2), half = x.shape(-1) / 2;
  const ndarray<T, D> y = empty<T, D>(x.shape(), x.device());
  if (x.size() == 0) return y;
  const auto range = [&](int64 from, int64 to) {
    return cudarray::detail::integer_range<double>(from, to, 1, x.device());
  };
  const auto position = expand_dims(range(o.offset, o.offset + steps), -1);
  const auto angle = position * exp(range(0, half) * (-math::log(o.base) / double(half)));
  const ndarray<K, D> c(astype<K>(cos(angle))), s(astype<K>(sin(angle) * sign));
  const auto part = [&](const ndarray<T, D>& a, bool second) {
    return o.interleaved ? a(ellipsis, slice(int64(second), none, 2))
                         : a(ellipsis, second ? slice(half, none) : slice(half));
  };
  const auto first = wide<C>(part(x, false)), other = wide<C>(part(x, true));
  assign_together(out(part(y, false)) = narrowed<ndarray<T, D>>(first * c - other * s),
                  out(part(y, true)) = narrowed<ndarray<T, D>>(other * c + first * s));
  return y;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// Pairs of elements of queries or keys (.., t, d) turned by angles that grow with the position: (x1, x2) by t
/// base^(-2i/d) (Su et al. 2021). The pairs are d / 2 apart, as Llama has them, or neighbours. Eager. Throws
/// shape_error, value_error.
///     q = ca::nnet::rotary_embedding(q, {.base = 500000});
template <array_expression X>
auto rotary_embedding(const X& x, const rotary_options& o = {}) {
  using A = ndarray<value_type_t<X>, device_type_t<X>>;
  if constexpr (detail::takes_floating<X>()) {
    detail::check_rotary("nnet::rotary_embedding", cudarray::detail::dims_of(x), o);
    return detail::rotated(A(x), o, 1);
  } else {
    return cudarray::detail::poison{};
  }
}
/// A mask for attention (Press et al. 2022): -m |i + offset - j| of query i and key j, m being 2^(-8 / h), 2^(-16 / h),
/// .. for h heads: (h, l, s). Where h is no power of two, the rest are every other one of the next power. Lazy: it is
/// made where the scores are read. Throws value_error.
///     ca::nnet::scaled_dot_product_attention(q, k, v, ca::nnet::alibi(8, 512, 512), {.causal = true})
template <dtype T = float, device_tag Device = default_device>
requires(kind_of<T> == kind::floating) auto alibi(cudarray::detail::any_integer heads,
                                                  cudarray::detail::any_integer queries,
                                                  cudarray::detail::any_integer keys,
                                                  cudarray::detail::any_integer offset = 0, Device device = {}) {
  if (heads < 1 || queries < 0 || keys < 0)
    cudarray::detail::fail<value_error>("nnet::alibi: ", heads, " heads, ", queries, " queries, ", keys, " keys");
  int64 power = 1;
  while (power * 2 <= heads) power *= 2;
  const auto range = [&](int64 from, int64 to) { return cudarray::detail::integer_range<int64>(from, to, 1, device); };
  const auto head = range(0, heads);
  // the heads beyond the power of two have the odd multiples of half the step
  const ndarray<double, Device> exponent =
      where(head < power, (head + 1) * (8. / double(power)), (2 * (head - power) + 1) * (4. / double(power)));
  const ndarray<T, Device> slope(astype<T>(exp(exponent * -0.6931471805599453)));
  const auto apart = abs(expand_dims(range(offset, offset + queries), -1) - range(0, keys));
  return reshape(-slope, {heads.value, 1, 1}) * astype<T>(apart);
}

/// Keys and values of the steps before, for generation: `append` copies those of new steps behind them. Copies of a
/// cache share its memory, as those of arrays do.
///     ca::nnet::key_value_cache<float> cache({1, 8, 2048, 64});
///     cache.append(k, v);
///     y = ca::nnet::scaled_dot_product_attention(q, cache.keys(), cache.values());
template <class T, device_tag Device = default_device>
class key_value_cache {
  ndarray<T, Device> keys_, values_;
  int64 length_ = 0;

 public:
  /// Room for keys and values of one shape, (.., steps, d). Throws shape_error.
  explicit key_value_cache(const shape& s, Device device = {})
      : key_value_cache(empty<T, Device>(s, device), empty<T, Device>(s, device)) {}
  /// In these arrays, (.., steps, d) and (.., steps, e). Throws shape_error.
  key_value_cache(const ndarray<T, Device>& keys, const ndarray<T, Device>& values) : keys_(keys), values_(values) {
    const shape &k = keys.shape(), &v = values.shape();
    bool fits = k.ndim() >= 2 && k.ndim() == v.ndim();
    for (int d = 0; fits && d < k.ndim() - 1; ++d) fits = k[d] == v[d];
    if (!fits)
      cudarray::detail::fail<shape_error>("nnet::key_value_cache: keys of shape ", k, ", values of shape ", v,
                                          ": (.., steps, d) and (.., steps, e) are wanted");
  }
  /// Throws shape_error for arrays that do not fit, value_error where there is no room for them.
  template <array_expression K, array_expression V>
  void append(const K& k, const V& v) {
    const shape &new_keys = cudarray::detail::dims_of(k), &new_values = cudarray::detail::dims_of(v);
    const int at = keys_.ndim() - 2;
    shape wanted_keys = keys_.shape(), wanted_values = values_.shape();
    if (new_keys.ndim() == keys_.ndim()) wanted_keys[at] = wanted_values[at] = new_keys[at];
    if (new_keys != wanted_keys || new_values != wanted_values)
      cudarray::detail::fail<shape_error>("nnet::key_value_cache: keys of shape ", new_keys, " and values of shape ",
                                          new_values, " for a cache of ", keys_.shape(), " and ", values_.shape());
    if (length_ + new_keys[at] > capacity())
      cudarray::detail::fail<value_error>("nnet::key_value_cache: ", length_, " steps and ", new_keys[at],
                                          " more, there is room for ", capacity());
    const slice behind(length_, length_ + new_keys[at]);
    assign_together(out(keys_(ellipsis, behind, _)) = k, out(values_(ellipsis, behind, _)) = v);
    length_ += new_keys[at];
  }
  /// Views of what there is so far.
  ndarray<T, Device> keys() const { return keys_(ellipsis, slice(length_), _); }
  ndarray<T, Device> values() const { return values_(ellipsis, slice(length_), _); }
  int64 length() const { return length_; }
  int64 capacity() const { return keys_.shape(-2); }
  void clear() { length_ = 0; }
};

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
