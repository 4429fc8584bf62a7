// Eager functions of variables: nodes of the tape whose gradients a rule computes.
// SPDX-License-Identifier: MIT
#pragma once

#include "variable.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An operand of an eager function: its array, and where its gradient goes, if it is a variable.
template <class T, class D>
struct rule_operand {
  ndarray<T, D> array;
  tape_ref tape;
};
template <class X>
auto as_rule_operand(const X& x) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  if constexpr (has_variable<X> && is_differentiable<T>) {
    const auto v = track(as_operand<T>("", x)).node();
    return rule_operand<T, D>{ndarray<T, D>(static_cast<const leaf<T, D>&>(v)), v.tape};
  } else {
    return rule_operand<T, D>{ndarray<T, D>(x), {}};
  }
}

/// Gives a node the gradient that was made for it, of its shape or another of as many elements: its memory may be kept.
template <class T, class D>
void give_gradient(gradient_node<T, D>& n, ndarray<T, D> g) {
  const ndarray<T, D> own = g.shape() == n.dims ? g : reshape(g, n.dims);
  g = {};
  add_gradient(n, own);
}

/// A function's value came of operands of dtypes X. `Rule::gradient<K>(g, x...)` is the gradient of operand K, or,
/// where a rule says `reads_value`, `gradient<K>(g, value, x...)`. Of an operand that no wanted gradient reads
/// (`Rule::reads(k, operand)`) only shape and dtype are kept.
template <class Rule, class T, class D, class... X>
struct rule_node final : computed_node<T, D> {
  static constexpr int operands = int(sizeof...(X));
  static constexpr bool reads_value = requires { requires Rule::reads_value; };
  Rule rule;
  kept_array kept[::std::size_t(operands + int(reads_value))];  ///< the last is the value, where that is read
  tape_ref to[::std::size_t(operands)];

  rule_node(const Rule& r, const ndarray<T, D>& y, const rule_operand<X, D>&... x)
      : computed_node<T, D>(y.shape(), {kept, operands + int(reads_value), to, operands}), rule(r), to{x.tape...} {
    this->forget_unwanted();
    kept_array* next = kept;
    ((next++)->keep(x.array.node()), ...);
    if (reads_value) next->keep(y.node());
    for (int operand = 0; operand < operands; ++operand) {
      bool read = false;
      for (int k = 0; k < operands; ++k) read = read || (is_due(to[k]) && Rule::reads(k, operand));
      if (!read) kept[operand].store = no_storage(), kept[operand].stamp = 0;
    }
  }
  void go_back() override { go_back(::std::make_integer_sequence<int, operands>{}); }

 private:
  template <class V>
  static ndarray<V, D> array_of_kept(const kept_array& a) {
    return ndarray<V, D>(leaf<V, D>(a.store, a.where, a.stamp));
  }
  template <int... K>
  void go_back(::std::integer_sequence<int, K...>) {
    const auto one = [&]<int J, class V>(::std::type_identity<V>) {
      if constexpr (is_differentiable<V>)
        if (is_due(to[J])) {
          if constexpr (is_dual<T> && !is_dual<V>) {
            fail_without_tangent();
          } else {
            const auto ask = [&](const auto&... x) { return rule.template gradient<J>(this->gradient, x...); };
            auto g = [&] {
              if constexpr (reads_value) return ask(array_of_kept<T>(kept[operands]), array_of_kept<X>(kept[K])...);
              else return ask(array_of_kept<X>(kept[K])...);
            }();
            auto& node = this->template node_of<V>(J);
            if constexpr (::std::is_same_v<decltype(g), ndarray<V, D>>) give_gradient(node, ::std::move(g));
            else give_gradient(node, ndarray<V, D>(cast_node<V>(as_operand<V>("backward", g))));
          }
        }
    };
    (one.template operator()<K>(::std::type_identity<X>{}), ...);
  }
};

/// The value of an eager function of variables, recorded with its rule.
template <class Rule, class F, class... X>
auto apply_rule(const Rule& rule, const F& function, const X&... x) {
  return [&]<class D, class... V>(const rule_operand<V, D>&... operand) {
    const auto value = function(operand.array...);
    using T = value_type_t<decltype(value)>;
    const bool wanted = recording() && (is_wanted(operand.tape) || ...);
    return variable<T, D>(value,
                          wanted ? tape_ref(new rule_node<Rule, T, D, V...>(rule, value, operand...)) : tape_ref());
  }(as_rule_operand(x)...);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
