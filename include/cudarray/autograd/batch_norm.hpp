// The derivatives of batch, group and instance norm: made of the same sums.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/batch_norm.hpp"
#include "reductions.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

namespace core = cudarray::detail;

/// A norm in T of x, a gain and a bias of dtypes X, G and B.
template <class T, class D, class X, class G, class B>
struct norm_node final : core::computed_node<T, D> {
  using C = compute_t<T>;
  norm_view view;
  core::kept_array kept[4];  ///< x, the gain, the mean, 1 / the standard deviation
  core::tape_ref to[3];

  norm_node(const norm_view& v, const ndarray<T, D>& x, const ndarray<G, D>& gain, const normalised<T, D>& r,
            const core::tape_ref (&targets)[3])
      : core::computed_node<T, D>(x.shape(), {kept, 4, to, 3}), view(v), to{targets[0], targets[1], targets[2]} {
    this->forget_unwanted();
    kept[0].keep(x.node());
    kept[1].keep(gain.node());
    kept[2].keep(r.mean.node());
    kept[3].keep(r.inverse.node());
  }
  void go_back() override {
    const norm_gradients<T, D> g(view, this->gradient, this->template kept_as<T>(0), this->template kept_as<G>(1),
                                 this->template kept_as<C>(2), this->template kept_as<C>(3));
    give<0, X>([&] { return g.of_x(); });
    give<1, G>([&] { return g.of_gain(); });
    give<2, B>([&] { return g.of_bias(); });
  }

 private:
  template <int K, class V, class F>
  void give(const F& f) {
    if (!core::is_due(to[K])) return;
    if constexpr (core::is_dual<T> && !core::is_dual<V>) {
      core::fail_without_tangent();
    } else {
      auto& node = this->template node_of<V>(K);
      auto g = f();
      if constexpr (::std::is_same_v<decltype(g), ndarray<V, D>>) core::give_gradient(node, ::std::move(g));
      else core::give_gradient(node, ndarray<V, D>(core::cast_node<V>(g.node())));
    }
  }
};

template <class T, class A, class D>
auto affine_operand(const A& a, D device) {
  if constexpr (::std::is_same_v<A, absent>) {
    const auto number = affine_array<T>(a, device);
    return core::rule_operand<affine_t<T, A>, D>{number, {}};
  } else {
    return core::as_rule_operand(a);
  }
}
template <class X, class G, class B, class Then>
requires(has_gradient<X> || has_gradient<G> || has_gradient<B>) auto apply_norm(const norm_view& v, const X& x,
                                                                                const G& gain, const B& bias,
                                                                                const Then& then) {
  using D = device_type_t<X>;
  using V = value_type_t<X>;
  using T = dual_beside<V, affine_t<V, G>, affine_t<V, B>>;
  const auto input = core::as_rule_operand(x);
  const ndarray<T, D> a(of_dtype<T>(input.array));
  const auto by = affine_operand<T>(gain, a.device());
  const auto plus = affine_operand<T>(bias, a.device());
  const auto r = normalise(v, a, by.array, plus.array);
  const core::tape_ref to[3] = {input.tape, by.tape, plus.tape};
  using node = norm_node<T, D, V, affine_t<T, G>, affine_t<T, B>>;
  const bool wanted = core::recording() && (core::is_wanted(to[0]) || core::is_wanted(to[1]) || core::is_wanted(to[2]));
  const auto recorded = wanted ? core::tape_ref(new node(v, a, by.array, r, to)) : core::tape_ref();
  then(r);  // what it writes is seen by a node that keeps it
  return variable<T, D>(r.value, recorded);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
