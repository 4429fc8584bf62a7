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

/// A function's value came of operands of dtypes X. `Rule::gradient<K>(g, x...)` is the gradient of operand K, or,
/// where a rule says `reads_value`, `gradient<K>(g, value, x...)`. Of an operand that no wanted gradient reads
/// (`Rule::reads(k, operand)`) only shape and dtype are kept.
template <class Rule, class T, class D, class... X>
struct rule_node final : gradient_node<T, D> {
  static constexpr int operands = int(sizeof...(X));
  static constexpr bool reads_value = requires { requires Rule::reads_value; };
  Rule rule;
  slots<leaf<X, D>...> kept;
  leaf<T, D> value;  ///< where that is read
  tape_ref to[sizeof...(X)];

  rule_node(const Rule& r, const ndarray<T, D>& y, const rule_operand<X, D>&... x)
      : gradient_node<T, D>(y.shape()),
        rule(r),
        kept{{x.array.node()}...},
        value(reads_value ? y.node() : leaf<T, D>(no_storage(), layout{})),
        to{x.tape...} {
    for (int k = 0; k < operands; ++k)
      if (!is_wanted(to[k])) to[k] = tape_ref();  // nor will it be: what its gradient reads is not kept
    each([&](int operand, auto& n) {
      bool read = false;
      for (int k = 0; k < operands; ++k) read = read || (wanted(k) && Rule::reads(k, operand));
      if (!read) n.store = no_storage(), n.stamp = 0;
    });
  }
  bool is_leaf() const override { return false; }
  int count() const override { return operands; }
  const tape_ref* target(int k) const override { return to + k; }
  void check() const override {
    const_cast<rule_node*>(this)->each([](int, const auto& n) {
      const leaf_list<::std::remove_cvref_t<decltype(n)>> use(n);
      check_kept(use.of, 1);
    });
    if (reads_value) check_kept(leaf_list<leaf<T, D>>(value).of, 1);
  }
  void go_back() override { go_back(::std::make_integer_sequence<int, operands>{}); }
  void free() override {
    this->freed = true;
    each([](int, auto& n) { n.store = storage_ref(); });
    value.store = storage_ref();
    for (tape_ref& t : to) t = tape_ref();
  }

 private:
  bool wanted(int k) const { return to[k].get() != nullptr && to[k]->wanted; }
  template <class F>
  void each(const F& f) {
    [&]<int... K>(::std::integer_sequence<int, K...>) { (f(K, get<K>(kept)), ...); }
    (::std::make_integer_sequence<int, operands>{});
  }
  template <int... K>
  void go_back(::std::integer_sequence<int, K...>) {
    const auto one = [&]<int J, class V>(::std::type_identity<V>) {
      if constexpr (is_differentiable<V>)
        if (wanted(J)) {
          if constexpr (is_dual<T> && !is_dual<V>) {
            fail_without_tangent();
          } else {
            const auto of = [&](const auto&... x) { return rule.template gradient<J>(this->gradient, x...); };
            const auto g = [&] {
              if constexpr (reads_value) return of(ndarray<T, D>(value), ndarray<X, D>(get<K>(kept))...);
              else return of(ndarray<X, D>(get<K>(kept))...);
            }();
            add_gradient(static_cast<gradient_node<V, D>&>(*to[J].get()),
                         ndarray<V, D>(cast_node<V>(as_operand<V>("backward", g))));
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
