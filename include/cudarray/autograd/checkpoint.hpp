// Functions of which the backward pass keeps nothing but the arguments: they run again.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "../core/generator.hpp"
#include "kept.hpp"
#include "transform.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// `op(variable)` of each variable in the arguments of a function.
template <class Op, class... X>
void each_variable(const Op& op, const X&... x) {
  const auto in = [&op](const auto& one) {
    if constexpr (holds_variables<decltype(one)>()) walk_trees(op, one);
  };
  (in(x), ...);
}

/// The value of `f(x...)`, which runs again in the backward pass.
template <class F, class T, class D, class... X>
struct checkpoint_node final : inner_node<T, D> {
  F f;
  ::std::optional<::std::tuple<X...>> arguments;
  kept_arrays kept;
  ::std::vector<random_source> drawn;
  const uint64 constants = constants_to();
  ::std::vector<tape_ref> to;  ///< of each variable in the arguments

  checkpoint_node(const F& function, const ndarray<T, D>& y, ::std::vector<random_source>&& random, const X&... x)
      : inner_node<T, D>(y.shape()), f(function), arguments(::std::in_place, x...), drawn(::std::move(random)) {
    (kept.add(x), ...);
    each_variable([this](const auto& v) { to.push_back(if_wanted(v.node().tape)); }, x...);
  }
  int count() const override { return int(to.size()); }
  const tape_ref* target(int k) const override { return &to[::std::size_t(k)]; }
  void check() const override { kept.check(); }
  void free() override {
    this->freed = true;
    arguments.reset();
    kept.clear();
    to.clear();
  }
  void go_back() override {
    const uint64 newest = tape_node::newest();
    const auto own = ::std::apply([](const auto&... x) { return ::std::make_tuple(own_variables(x)...); }, *arguments);
    bool is_function = false;
    const variable<T, D> y = run_again(own, is_function);
    if (!is_function) return;
    const auto n = y.node();
    check_backward(static_cast<backward_node*>(n.tape.get()), newest);
    y.backward(this->gradient);
    ::std::size_t next = 0;
    const auto hand_on = [&]<class U>(const variable<U, D>& v) {
      const tape_ref& t = to[next++];
      if (is_due(t) && v.has_grad()) add_gradient(static_cast<gradient_node<U, D>&>(*t.get()), take_gradient(v));
    };
    ::std::apply([&](const auto&... x) { each_variable(hand_on, x...); }, own);
  }

 private:
  template <class A>
  static auto own_variables(const A& x) {
    if constexpr (holds_variables<A>()) return with_new_variables(x);
    else return x;
  }
  /// Recorded, with the constants that it had.
  template <class Own>
  variable<T, D> run_again(const Own& own, bool& is_function) {
    struct as_before {
      uint64 constants;
      bool recorded;
      ~as_before() { constants_to() = constants, recording() = recorded; }
    } guard{::std::exchange(constants_to(), constants), ::std::exchange(recording(), true)};
    const random::detail_random::draw_log log(drawn, true);
    const variable<T, D> y = ::std::apply([this](const auto&... x) { return variable<T, D>(f(x...)); }, own);
    is_function = is_wanted(y.node().tape);
    return y;
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A function of which the backward pass keeps the arguments alone: it runs again then, and draws the same random
/// numbers; as jax.checkpoint. Its value is one array. Arguments may be trees (`ca::tree_for_each`); a call without
/// variables among them is one of the function itself. A parameter that it captures has its gradient, too, but that it
/// was written since is not noticed; a computed variable must be an argument: the backward pass throws value_error
/// otherwise.
///     auto block = ca::checkpoint([](const auto& x, const layer& p) { return ca::tanh(ca::matmul(x, p.w) + p.b); });
template <class F>
auto checkpoint(F f) {
  return [f = ::std::move(f)]<class... X>(const X&... given) {
    const auto run = [&f]<class... A>(const A&... x) {
      constexpr bool one = array_expression<decltype(f(x...))>;
      static_assert(one, "cudarray: the value of a function that ca::checkpoint calls is one array");
      if constexpr (!one || !(detail::holds_variables<A>() || ...)) {
        return f(x...);
      } else {
        ::std::vector<detail::random_source> drawn;
        const auto y = [&] {
          const no_grad guard;
          const random::detail_random::draw_log log(drawn, false);
          return detail::array_of(f(x...));
        }();
        using array = ::std::remove_const_t<decltype(y)>;
        using T = typename array::value_type;
        using D = typename array::device_type;
        using node = detail::checkpoint_node<F, T, D, A...>;
        return variable<T, D>(
            y, detail::recording() ? detail::tape_ref(new node(f, y, ::std::move(drawn), x...)) : detail::tape_ref());
      }
    };
    return run(detail::argument_of(given)...);
  };
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
