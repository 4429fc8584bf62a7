// Functions whose gradients the user writes.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "kept.hpp"
#include "rule.hpp"

namespace cudarray::inline v0 {

/// What the forward function of `ca::custom_vjp` returns: its value, and what its backward function is given.
template <class Y, class... R>
struct value_with_residuals {
  Y value;
  ::std::tuple<R...> residuals;
};

namespace detail::inline CUDARRAY_BUILD {

/// An expression's array; anything else as it is.
template <class X>
auto as_residual(const X& x) {
  if constexpr (array_expression<X>) return ndarray<value_type_t<X>, device_type_t<X>>(x);
  else return x;
}

/// A function's value came of operands of dtypes X; `backward(residuals..., g)` makes their gradients.
template <class Backward, class Residuals, class T, class D, class... X>
struct custom_node final : computed_node<T, D> {
  static constexpr int operands = int(sizeof...(X));
  Backward backward;
  ::std::optional<Residuals> residuals;
  kept_arrays kept;
  tape_ref to[sizeof...(X)];
  shape dims_of[sizeof...(X)];

  custom_node(const Backward& b, const Residuals& r, const ndarray<T, D>& y, const rule_operand<X, D>&... x)
      : computed_node<T, D>(y.shape(), {nullptr, 0, to, operands}),
        backward(b),
        residuals(r),
        to{x.tape...},
        dims_of{x.array.shape()...} {
    ::std::apply([this](const auto&... one) { (kept.add(one), ...); }, r);
    this->forget_unwanted();
  }
  void check() const override { kept.check(); }
  void free() override {
    computed_node<T, D>::free();
    residuals.reset();
    kept.clear();
  }
  void go_back() override {
    layout shared = this->gradient.where();
    shared.read_only = true;  // others may hold it
    const ndarray<T, D> g = view(this->gradient, shared);
    const auto all = ::std::apply([&](const auto&... r) { return as_tuple(backward(r..., g)); }, *residuals);
    constexpr bool fits = ::std::tuple_size_v<decltype(all)> == operands;
    static_assert(
        fits, "cudarray: custom_vjp: the backward function must return a gradient for each operand, in a std::tuple");
    if constexpr (fits) [&]<int... K>(::std::integer_sequence<int, K...>) {
        (hand_on<K, X>(::std::get<K>(all)), ...);
      }
    (::std::make_integer_sequence<int, operands>{});
  }

 private:
  template <class... G>
  static ::std::tuple<G...> as_tuple(const ::std::tuple<G...>& g) {
    return g;
  }
  template <class G>
  static ::std::tuple<G> as_tuple(const G& g) {
    return {g};
  }
  template <int K, class V, class G>
  void hand_on(const G& g) {
    if constexpr (is_differentiable<V>) {
      if (!is_due(to[K])) return;
      const ndarray<V, D> own(cast_node<V>(as_operand<V>("custom_vjp", g)));
      if (own.shape() != dims_of[K])
        fail<shape_error>("custom_vjp: the backward function's gradient ", K, " has shape ", own.shape(),
                          " for an operand of shape ", dims_of[K]);
      add_gradient(static_cast<gradient_node<V, D>&>(*to[K].get()), own);
    }
  }
};

}  // namespace detail::inline CUDARRAY_BUILD
inline namespace CUDARRAY_BUILD {

/// The value of a forward function, and what its backward function needs: arrays, numbers or what else. Expressions are
/// evaluated.
template <array_expression Y, class... R>
auto with_residuals(const Y& value, const R&... residuals) {
  using A = ndarray<value_type_t<Y>, device_type_t<Y>>;
  return value_with_residuals<A, decltype(detail::as_residual(residuals))...>{A(value),
                                                                              {detail::as_residual(residuals)...}};
}
/// A function with a gradient of its own; as jax.custom_vjp. `forward(x...)` is given arrays and returns
/// `ca::with_residuals(value, residuals...)`; `backward(residuals..., g)` is given the gradient of the value and
/// returns that of the operand, or a std::tuple with one of each. Of operands that are no floating-point numbers, or no
/// variables, they are ignored. It throws shape_error where a gradient does not have its operand's shape, stale_error
/// where a residual has been written.
///     auto softplus = ca::custom_vjp(
///         [](const auto& x) { return ca::with_residuals(ca::log(1.f + ca::exp(x)), x); },
///         [](const auto& x, const auto& g) { return g / (1.f + ca::exp(-x)); });
template <class Forward, class Backward>
auto custom_vjp(Forward forward, Backward backward) {
  return [ forward = ::std::move(forward), backward = ::std::move(backward) ]<array_expression... X>(const X&... x) {
    constexpr bool backwards = !(detail::is_dual<value_type_t<X>> || ...);
    static_assert(backwards,
                  "cudarray: custom_vjp: the function has a gradient, and no derivative in one direction: ca::jvp and "
                  "ca::hvp do not go through it");
    if constexpr (!backwards) {
      return detail::poison{};
    } else if constexpr (!(variable_expression<X> || ...)) {
      return forward(ndarray<value_type_t<X>, device_type_t<X>>(x)...).value;
    } else {
      return [&]<class D, class... V>(const detail::rule_operand<V, D>&... operand) {
        const auto made = forward(operand.array...);
        using T = value_type_t<decltype(made.value)>;
        using node = detail::custom_node<Backward, decltype(made.residuals), T, D, V...>;
        const bool wanted = detail::recording() && (detail::is_wanted(operand.tape) || ...);
        return variable<T, D>(
            made.value,
            wanted ? detail::tape_ref(new node(backward, made.residuals, made.value, operand...)) : detail::tape_ref());
      }(detail::as_rule_operand(x)...);
    }
  };
}

}  // namespace CUDARRAY_BUILD
}  // namespace cudarray::inline v0
