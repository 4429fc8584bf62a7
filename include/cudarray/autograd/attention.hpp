// The derivatives of attention: by the weights, which are kept, or by a library as a whole; and of rotary embeddings.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/positions.hpp"
#include "linalg.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

namespace core = cudarray::detail;

template <class S, class M>
const shape& shape_of_last(const S&, const M& mask) {
  return mask.shape();
}
/// Of scores, and of a mask that is added to them.
struct attention_weights_rule {
  static constexpr bool reads_value = true;
  template <int K, class T, class D, class... X>
  auto gradient(const ndarray<T, D>& g, const ndarray<T, D>& weights, const X&... x) const {
    using C = compute_t<T>;
    const auto p = wide<C>(weights), dp = wide<C>(g);
    const auto of_scores = p * (dp - sum(p * dp, -1, keepdims));
    if constexpr (K == 0) return ndarray<T, D>(narrowed<ndarray<T, D>>(of_scores));
    else return ndarray<C, D>(cudarray::detail::sum_to(ndarray<C, D>(of_scores).node(), shape_of_last(x...)));
  }
  static constexpr bool reads(int, int) { return false; }
};
template <class S, class M>
requires(has_gradient<S> || has_gradient<M>) auto apply_attention_weights(const attention_shapes&, const S& scores,
                                                                          const M& mask, const attention_options& o) {
  if constexpr (has_gradient<M>)
    return cudarray::detail::apply_rule(
        attention_weights_rule{}, [&](const auto& s, const auto& m) { return attention_weights(s, m, o); }, scores,
        mask);
  else
    return cudarray::detail::apply_rule(
        attention_weights_rule{}, [&](const auto& s) { return attention_weights(s, mask, o); }, scores);
}

/// Attention that a library computed: it computes the gradients of all operands together.
template <class T, class D>
struct attention_node final : core::computed_node<T, D> {
  attention_call call;
  core::kept_array kept[5];  ///< q, k, v, y on four axes, and the statistics
  core::tape_ref to[3];

  attention_node(const attention_run<T, D>& run, const core::tape_ref (&targets)[3])
      : core::computed_node<T, D>(run.call.result, {kept, 5, to, 3}),
        call(run.call),
        to{targets[0], targets[1], targets[2]} {
    this->forget_unwanted();
    kept[0].keep(run.q.node());
    kept[1].keep(run.k.node());
    kept[2].keep(run.v.node());
    kept[3].keep(run.y.node());
    kept[4].keep(run.statistics.node());
  }
  void go_back() override {
    auto a = call.sizes;
    const auto q = this->template kept_as<T>(0), k = this->template kept_as<T>(1), v = this->template kept_as<T>(2),
               y = this->template kept_as<T>(3);
    const auto statistics = this->template kept_as<float>(4);
    const ndarray<T, D> arrived = cudarray::ascontiguousarray(ndarray<T, D>(reshape(this->gradient, y.shape())));
    const ndarray<T, D> dy = is_library_layout(arrived) ? arrived : arrived.copy();
    ndarray<T, D> dq = empty<T, D>(q.shape(), q.device()), dk = empty<T, D>(k.shape(), q.device()),
                  dv = empty<T, D>(v.shape(), q.device());
    a.backward = true;
    put_operand(a, a.q, q), put_operand(a, a.k, k), put_operand(a, a.v, v), put_operand(a, a.dy, dy);
    put_operand(a, a.y, y), put_operand(a, a.statistics, statistics);
    put_operand(a, a.dq, dq), put_operand(a, a.dk, dk), put_operand(a, a.dv, dv);
    if (!attend_natively<T>(q.device(), a)) return go_back_by_products(q, k, v, dy);
    give(0, ::std::move(dq));
    give(1, ::std::move(dk));
    give(2, ::std::move(dv));
  }

 private:
  /// Where the library had a way back when it computed the value, and has none now.
  void go_back_by_products(const ndarray<T, D>& q, const ndarray<T, D>& k, const ndarray<T, D>& v,
                           const ndarray<T, D>& dy) {
    const variable<T, D> x[] = {q, k, v};
    const auto shapes = shapes_of_attention("backward", q.shape(), k.shape(), v.shape());
    const attention_options o{.causal = call.sizes.causal};
    const struct as_before {
      bool recorded = ::std::exchange(core::recording(), true);
      ~as_before() { core::recording() = recorded; }
    } guard;
    attention_by_products(shapes, x[0], x[1], x[2], no_mask{}, call.sizes.scale, o).backward(dy);
    for (int i = 0; i < 3; ++i)
      if (core::is_due(to[i])) core::give_gradient(this->template node_of<T>(i), ndarray<T, D>(x[i].grad()));
  }
  void give(int k, ndarray<T, D>&& g) {
    core::count_write(*g.storage());
    if (core::is_due(to[k])) core::give_gradient(this->template node_of<T>(k), ::std::move(g));
  }
};
template <class Q, class K, class V, class Y>
requires(has_gradient<Q> || has_gradient<K> ||
         has_gradient<V>) bool apply_attention(const attention_call& w, const Q& q, const K& k, const V& v, Y& y) {
  using T = value_type_t<Q>;
  using D = device_type_t<Q>;
  const auto queries = core::as_rule_operand(q);
  const auto keys = core::as_rule_operand(k);
  const auto values = core::as_rule_operand(v);
  attention_run<T, D> run(w, queries.array, keys.array, values.array);
  const bool wanted = core::recording() &&
                      (core::is_wanted(queries.tape) || core::is_wanted(keys.tape) || core::is_wanted(values.tape));
  if (!run.is_native(wanted) || !run.forward()) return false;
  const core::tape_ref targets[] = {queries.tape, keys.tape, values.tape};
  y = variable<T, D>(ndarray<T, D>(reshape(run.y, w.result)),
                     wanted ? core::tape_ref(new attention_node<T, D>(run, targets)) : core::tape_ref());
  return true;
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

struct rotary_rule {
  rotary_options options;
  template <int, class A, class X>
  A gradient(const A& g, const X&) const {
    return rotated(g, options, -1);
  }
  static constexpr bool reads(int, int) { return false; }
};

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

template <variable_expression X>
auto rotary_embedding(const X& x, const rotary_options& o = {}) {
  detail::check_rotary("nnet::rotary_embedding", cudarray::detail::dims_of(x), o);
  return cudarray::detail::apply_rule(
      detail::rotary_rule{o}, [&](const auto& a) { return rotary_embedding(a, o); }, x);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
