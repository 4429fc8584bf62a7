// The derivative of recurrent layers: back through the steps once, for all operands.
// SPDX-License-Identifier: MIT
#pragma once

#include "../nnet/recurrent.hpp"
#include "linalg.hpp"
#include "reductions.hpp"
#include "rule.hpp"

namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

namespace core = cudarray::detail;

/// A recurrence in T; inputs, weights, their bias and the first state, or its parts, have dtypes V.
template <class Cell, class T, class D, class... V>
struct recurrent_node final : core::computed_node<T, D> {
  static constexpr int operands = int(sizeof...(V));
  recurrence<Cell, D> way;
  core::kept_array kept[4];  ///< the weights, the first state, the states, what the cells keep of each step
  core::tape_ref to[::std::size_t(operands)];

  recurrent_node(const recurrence<Cell, D>& through, const ndarray<T, D>& w, const ndarray<T, D>& first,
                 const recurrent_steps<T, D>& steps, const core::rule_operand<V, D>&... operand)
      : core::computed_node<T, D>(steps.states.shape(), {kept, 4, to, operands}), way(through), to{operand.tape...} {
    this->forget_unwanted();
    kept[0].keep(w.node());
    kept[1].keep(first.node());
    kept[2].keep(steps.states.node());
    kept[3].keep(steps.kept.node());
  }
  void go_back() override {
    const auto r = go_back_through(way, this->gradient, this->template kept_as<T>(0), this->template kept_as<T>(1),
                                   {this->template kept_as<T>(2), this->template kept_as<T>(3)});
    if constexpr (operands == 4) {
      give(::std::make_integer_sequence<int, 4>{}, r.x, r.w, r.bias, r.first);
    } else {
      const int64 h = r.w.shape(0);
      give(::std::make_integer_sequence<int, 5>{}, r.x, r.w, r.bias, part_of_gates(r.first, 0, h),
           part_of_gates(r.first, 1, h));
    }
  }

 private:
  template <int... K, class... A>
  void give(::std::integer_sequence<int, K...>, const A&... g) {
    const auto one = [this]<class U>(::std::type_identity<U>, int k, const ndarray<T, D>& a) {
      if (!core::is_due(to[k])) return;
      if constexpr (core::is_dual<T> && !core::is_dual<U>) core::fail_without_tangent();
      else core::add_gradient(this->template node_of<U>(k), ndarray<U, D>(core::cast_node<U>(a.node())));
    };
    (one(::std::type_identity<V>{}, K, g), ...);
  }
};
template <class Cell, class D, class X, class W, class B, class... S>
requires(has_gradient<X> || has_gradient<W> || has_gradient<B> ||
         (has_gradient<S> || ...)) auto apply_recurrence(const recurrence<Cell, D>& way, const X& x, const W& w,
                                                         const B& bias, const S&... first) {
  using T = dual_beside<value_type_t<X>, value_type_t<W>, value_type_t<B>, value_type_t<S>...>;
  using node = recurrent_node<Cell, T, D, value_type_t<X>, value_type_t<W>, value_type_t<B>, value_type_t<S>...>;
  return [&](const auto& a, const auto& b, const auto& c, const auto&... s) {
    const auto as = [](const auto& operand) { return ndarray<T, D>(of_dtype<T>(operand.array)); };
    const ndarray<T, D> weights = as(b), state = joined_state<T, D>(as(s)...);
    const auto steps = run_recurrence(way, as(a), weights, as(c), state);
    const bool wanted = core::recording() && (core::is_wanted(a.tape) || core::is_wanted(b.tape) ||
                                              core::is_wanted(c.tape) || (core::is_wanted(s.tape) || ...));
    return variable<T, D>(
        steps.states, wanted ? core::tape_ref(new node(way, weights, state, steps, a, b, c, s...)) : core::tape_ref());
  }(core::as_rule_operand(x), core::as_rule_operand(w), core::as_rule_operand(bias), core::as_rule_operand(first)...);
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
