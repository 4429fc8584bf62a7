// Attention by a library, or by products and one pass over the scores: eager.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <utility>

#include "../eval/attention.hpp"
#include "../ops/linalg.hpp"
#include "dropout.hpp"
#include "norm.hpp"

namespace cudarray::inline v0::nnet {

struct attention_options {
  bool causal = false;                       ///< query i sees the keys up to i + offset only
  cudarray::detail::any_integer offset = 0;  ///< keys that are before the first query
  double scale = 0;                          ///< of the products; 0: 1 / sqrt(d)
  double dropout = 0;                        ///< of the weights
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// Where there is no mask.
struct no_mask {};
/// The shapes that attention goes through. Several query heads may share those of keys and values.
struct attention_shapes {
  shape scores;   ///< (.., h, l, s)
  shape queries;  ///< (.., heads of keys, queries of all heads that share one, d)
  shape grouped;  ///< the same of the scores
  shape result;   ///< (.., h, l, e)
};
/// Throws shape_error.
inline attention_shapes shapes_of_attention(const char* function, const shape& q, const shape& k, const shape& v) {
  const int n = q.ndim(), head = n - 3;
  bool fits = n >= 2 && k.ndim() == n && v.ndim() == n && q[n - 1] == k[n - 1] && k[n - 2] == v[n - 2];
  for (int d = 0; fits && d < n - 2; ++d) {
    const bool shared = d == head && k[d] > 0 && q[d] % k[d] == 0;
    fits = k[d] == v[d] && (q[d] == k[d] || shared);
  }
  if (!fits)
    cudarray::detail::fail<shape_error>(
        function, ": queries of shape ", q, ", keys of shape ", k, ", values of shape ", v,
        ": (.., h, l, d), (.., g, s, d) and (.., g, s, e) are wanted, h a multiple of g");
  attention_shapes of{q, q, q, q};
  if (head >= 0) {
    of.queries[head] = k[head];
    of.queries[n - 2] = k[head] == 0 ? q[n - 2] : q[head] / k[head] * q[n - 2];
  }
  of.grouped = of.queries;
  of.scores[n - 1] = of.grouped[n - 1] = k[n - 2];
  of.result[n - 1] = v[n - 1];
  return of;
}
/// Whether a query sees a key: (l, s).
template <class D>
auto sees(const shape& scores, int64 offset, D device) {
  const int n = scores.ndim();
  const auto query = cudarray::detail::integer_range<int64>(offset, offset + scores[n - 2], 1, device);
  return cudarray::detail::integer_range<int64>(0, scores[n - 1], 1, device) <= expand_dims(query, -1);
}
/// Scores that a mask of truth values hides are -inf, another one is added.
template <class S, class M>
auto masked(const S& scores, const M& mask) {
  if constexpr (::std::is_same_v<M, no_mask>) return scores;
  else if constexpr (::std::is_same_v<value_type_t<M>, bool>)
    return where(mask, scores, -::std::numeric_limits<double>::infinity());
  else return scores + beside<value_type_t<S>>(mask);
}
/// Softmax along the last axis; 0 in rows where all is hidden.
template <class S>
auto weights_of(const S& scores) {
  const auto most = max(scores, -1, keepdims);
  const auto e = exp(scores - where(most == -::std::numeric_limits<double>::infinity(), 0, most));
  const auto total = sum(e, -1, keepdims);
  return e / where(total == 0, 1, total);
}
/// Numbers that are dual where those of a mask are.
template <class T, class M>
struct weights_type {
  using type = dual_beside<T, value_type_t<M>>;
};
template <class T>
struct weights_type<T, no_mask> {
  using type = T;
};
/// The weights of scores.
template <class T, class D, class M>
auto attention_weights(const ndarray<T, D>& scores, const M& mask, const attention_options& o) {
  using A = ndarray<typename weights_type<T, M>::type, D>;
  if (scores.size() == 0) return A(of_dtype<value_type_t<A>>(scores));
  const auto hidden = masked(wide<compute_t<T>>(scores), mask);
  if (!o.causal) return A(narrowed<A>(weights_of(hidden)));
  return A(narrowed<A>(weights_of(masked(hidden, sees(scores.shape(), o.offset, scores.device())))));
}
/// The same, of scores without a gradient. Of variables it is in autograd/attention.hpp, and found by the shapes'
/// namespace.
template <class S, class M>
requires(!has_gradient<S> && !has_gradient<M>) auto apply_attention_weights(const attention_shapes&, const S& scores,
                                                                            const M& mask, const attention_options& o) {
  return attention_weights(scores, mask, o);
}
template <class M>
void check_mask(const char* function, const shape& scores, const M& mask) {
  if constexpr (!::std::is_same_v<M, no_mask>)
    check_affine(function, "a mask", scores, cudarray::detail::dims_of(mask), "scores");
}
inline void check_attention(const char* function, const attention_options& o) {
  if (!(o.dropout >= 0 && o.dropout < 1))
    cudarray::detail::fail<value_error>(function, ": the probability ", o.dropout, " is not in [0, 1)");
  if (!math::isfinite(o.scale)) cudarray::detail::fail<value_error>(function, ": scale ", o.scale, " is not finite");
}

/// Attention that a library may compute as a whole, and the shape of its result.
struct attention_call {
  cudarray::detail::attention sizes;
  shape result;
};
inline attention_call whole_attention(const attention_shapes& of, const shape& q, const shape& k, const shape& v,
                                      double scale, bool causal) {
  const int n = q.ndim();
  cudarray::detail::attention a{1, 1, 1, q[n - 2], k[n - 2], q[n - 1], v[n - 1], causal, scale};
  if (n > 2) a.h = q[n - 3], a.g = k[n - 3];
  for (int d = 0; d < n - 3; ++d) a.b *= q[d];
  return {a, of.result};
}
/// Whether libraries take an operand as it is: elements of rows side by side, rows where 16 bytes begin. Steps along
/// axes of one do not matter.
template <class T, class D>
bool is_library_layout(const ndarray<T, D>& x) {
  constexpr int64 step = 16 / int64(sizeof(T));
  bool fits = x.where().stride[3] == 1 && reinterpret_cast<::std::uintptr_t>(x.data()) % 16 == 0;
  for (int d = 0; d < 3; ++d)
    if (x.shape()[d] > 1) fits = fits && x.where().stride[d] > 0 && x.where().stride[d] % step == 0;
  return fits;
}
/// Writes the strides of operand k in C order.
inline void put_c_order(cudarray::detail::attention& a, int k, const shape& s) {
  const auto c = cudarray::detail::c_layout(s);
  for (int d = 0; d < 3; ++d) a.stride[k][d] = c.stride[d];
}
template <class T, class D>
void put_operand(cudarray::detail::attention& a, int k, const ndarray<T, D>& x) {
  a.store[k] = x.storage().get();
  a.offset[k] = x.where().offset;
  if (k > cudarray::detail::attention::dy) return;
  put_c_order(a, k, x.shape());
  for (int d = 0; d < 3; ++d)
    if (x.shape()[d] > 1) a.stride[k][d] = x.where().stride[d];
}
/// The operands on four axes, and of the results those that `backward` needs. What libraries do not take as it lies is
/// copied, to C order, by `forward`.
template <class T, class D>
struct attention_run {
  attention_call call;
  ndarray<T, D> q, k, v, y;
  ndarray<float, D> statistics;

  attention_run(const attention_call& w, const ndarray<T, D>& queries, const ndarray<T, D>& keys,
                const ndarray<T, D>& values)
      : call(w),
        q(reshape(queries, {a().b, a().h, a().l, a().d})),
        k(reshape(keys, {a().b, a().g, a().s, a().d})),
        v(reshape(values, {a().b, a().g, a().s, a().e})) {
    for (const auto& [operand, x] : operands())
      if (is_library_layout(*x)) put_operand(call.sizes, operand, *x);
      else put_c_order(call.sizes, operand, x->shape());
  }
  const cudarray::detail::attention& a() const { return call.sizes; }
  /// Whether a library computes it, and, if that is asked, its gradients, of which the result's is in C order.
  bool is_native(bool with_gradients) const {
    auto back = a();
    back.backward = true;
    put_c_order(back, back.dy, {a().b, a().h, a().l, a().e});
    return attends_natively<T>(q.device(), a()) && (!with_gradients || attends_natively<T>(q.device(), back));
  }
  bool forward() {
    for (const auto& [operand, x] : operands()) {
      if (!is_library_layout(*x)) *x = x->copy();
      put_operand(call.sizes, operand, *x);
    }
    y = empty<T, D>({a().b, a().h, a().l, a().e}, q.device());
    statistics = empty<float, D>({a().b, a().h, a().l}, q.device());
    auto run = a();
    put_operand(run, run.y, y), put_operand(run, run.statistics, statistics);
    if (!attend_natively<T>(q.device(), run)) return false;
    cudarray::detail::count_write(*y.storage());
    cudarray::detail::count_write(*statistics.storage());
    return true;
  }

 private:
  ::std::array<::std::pair<int, ndarray<T, D>*>, 3> operands() { return {{{a().q, &q}, {a().k, &k}, {a().v, &v}}}; }
};
/// Of arrays; of variables it is in autograd/attention.hpp. False where no library computes it.
template <class Q, class K, class V, class Y>
requires(!has_gradient<Q> && !has_gradient<K> &&
         !has_gradient<V>) bool apply_attention(const attention_call& w, const Q& q, const K& k, const V& v, Y& y) {
  attention_run<value_type_t<Q>, device_type_t<Q>> run(w, q, k, v);
  if (!run.is_native(false) || !run.forward()) return false;
  y = reshape(run.y, w.result);
  return true;
}

template <class Q, class K, class V, class M>
auto attention_by_products(const attention_shapes& of, const Q& q, const K& k, const V& v, const M& mask, double scale,
                           const attention_options& o) {
  const auto rows = reshape(eval(q * scale), of.queries);
  const auto scores = reshape(matmul(rows, swapaxes(eval(k), -1, -2)), of.scores);
  const auto weights = apply_attention_weights(of, scores, mask, o);
  const auto kept = o.dropout > 0 ? eval(nnet::dropout(weights, o.dropout)) : weights;
  return reshape(matmul(reshape(kept, of.grouped), eval(v)), of.result);
}
/// Where a library may compute attention as a whole.
template <class Q, class K, class V, class M>
inline constexpr bool may_be_whole =
    backend::whole_attention<device_type_t<Q>>&& ::std::is_same_v<M, no_mask> &&
    (::std::is_same_v<value_type_t<Q>, float16> || ::std::is_same_v<value_type_t<Q>, bfloat16>)&&::std::is_same_v<
        value_type_t<K>, value_type_t<Q>>&& ::std::is_same_v<value_type_t<V>, value_type_t<Q>>;
template <class Q, class K, class V, class M>
auto attention(const Q& q, const K& k, const V& v, const M& mask, const attention_options& o) {
  constexpr const char* function = "nnet::scaled_dot_product_attention";
  using cudarray::detail::dims_of;
  const shape dims = dims_of(q), keys = dims_of(k), values = dims_of(v);
  const attention_shapes of = shapes_of_attention(function, dims, keys, values);
  check_mask(function, of.scores, mask);
  check_attention(function, o);
  const double scale = o.scale != 0 ? o.scale : 1 / math::sqrt(double(dims[dims.ndim() - 1]));
  if constexpr (may_be_whole<Q, K, V, M>) {
    const bool plain = o.dropout == 0 && (!o.causal || o.offset.value == 0) && of.scores.elements() > 0 &&
                       of.result.elements() > 0 && dims[dims.ndim() - 1] > 0;
    if (plain) {
      const auto queries = eval(q);
      const auto k_array = eval(k);
      const auto v_array = eval(v);
      decltype(attention_by_products(of, q, k, v, mask, scale, o)) y;
      if (apply_attention(whole_attention(of, dims, keys, values, scale, o.causal), queries, k_array, v_array, y))
        return y;
      return attention_by_products(of, queries, k_array, v_array, mask, scale, o);
    }
  }
  return attention_by_products(of, q, k, v, mask, scale, o);
}
template <class Q, class K, class V>
constexpr bool takes_attention() {
  using T = cudarray::detail::primal_t<value_type_t<Q>>;
  constexpr bool one_dtype = cudarray::detail::is_floating<T> &&
                             ::std::is_same_v<T, cudarray::detail::primal_t<value_type_t<K>>> &&
                             ::std::is_same_v<T, cudarray::detail::primal_t<value_type_t<V>>>;
  static_assert(
      one_dtype,
      "cudarray: nnet::scaled_dot_product_attention: queries, keys and values must be of one floating dtype: use "
      "ca::astype<T>(x)");
  return one_dtype;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017): (.., h, l, d), (.., g, s, d), (.., g, s, e) -> (.., h, l, e). With
/// fewer heads of keys and values, g, than of queries each serves h / g neighbouring ones (Ainslie et al. 2023). The
/// softmax of half types is computed in float32. A query that sees no key gets zeros. Eager. Throws shape_error,
/// value_error.
///     ca::nnet::scaled_dot_product_attention(q, k, v, {.causal = true})
template <array_expression Q, array_expression K, array_expression V>
auto scaled_dot_product_attention(const Q& q, const K& k, const V& v, const attention_options& o = {}) {
  if constexpr (detail::takes_attention<Q, K, V>()) return detail::attention(q, k, v, detail::no_mask{}, o);
  else return cudarray::detail::poison{};
}
/// With a mask that broadcasts to (.., h, l, s): true where a query sees a key, or numbers that are added to the
/// scores.
template <array_expression Q, array_expression K, array_expression V, array_expression M>
auto scaled_dot_product_attention(const Q& q, const K& k, const V& v, const M& mask, const attention_options& o = {}) {
  if constexpr (detail::takes_attention<Q, K, V>()) return detail::attention(q, k, v, mask, o);
  else return cudarray::detail::poison{};
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
