// Building map nodes: operands of any kind are checked at compile time, scalars fitted, shapes broadcast.
// SPDX-License-Identifier: MIT
#pragma once

#include "node.hpp"
#include "operator_table.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The type an operand takes part in promotion with.
template <class X>
struct argument {
  using type = weak<weak_kind<X>()>;
};
template <array_expression X>
struct argument<X> {
  using type = value_type_t<X>;
};
template <class T>
struct argument<scalar<T>> {
  using type = T;
};
template <class X>
using argument_t = typename argument<::std::remove_cvref_t<X>>::type;

template <class X>
inline constexpr bool is_operand =
    array_expression<X> || scalar_value<::std::remove_cvref_t<X>> || is_scalar_node<::std::remove_cvref_t<X>>;

/// True for scalars, and for expressions on this device.
template <class X, class Device>
inline constexpr bool on_device = true;
template <array_expression X, class Device>
inline constexpr bool on_device<X, Device> = ::std::is_same_v<device_type_t<X>, Device>;

/// The device of the first operand that has one.
template <class... X>
struct first_device {
  using type = void;
};
template <class X, class... R>
struct first_device<X, R...> : first_device<R...> {};
template <array_expression X, class... R>
struct first_device<X, R...> {
  using type = device_type_t<X>;
};

/// True if no two of the operands are on different devices.
template <class... X>
constexpr bool on_one_device() {
  return (on_device<X, typename first_device<X...>::type> && ...);
}

/// False for a complex number where the dtype is real: its imaginary part would be lost.
template <class C, class S>
inline constexpr bool holds_scalar = true;
template <class C, scalar_value S>
inline constexpr bool holds_scalar<C, S> = !is_complex<normal_dtype_t<S>> || is_complex<C>;

/// A C++ scalar as the dtype the operation computes in. Throws value_error if an integer does not fit.
template <class C, class S>
scalar<C> fit_scalar(const char* function, S s) {
  constexpr bool whole = holds_scalar<C, S>;
  static_assert(whole, "cudarray: a complex number for a real dtype: write its real part");
  if constexpr (is_integer<C> && is_integer<normal_dtype_t<S>>) {
    if (!::std::in_range<C>(s)) fail<value_error>(function, ": the scalar ", s, " does not fit ", dtype_name<C>);
  }
  return {convert_scalar<C>(normal_dtype_t<S>(s))};
}

/// An operand as a node. A node is handed on, not copied: the number of shares in a storage counts.
template <class C, class X>
decltype(auto) as_operand(const char* function, X&& x) {
  using V = ::std::remove_cvref_t<X>;
  if constexpr (scalar_value<V>) return fit_scalar<C>(function, x);
  else if constexpr (requires { x.node(); }) return x.node();
  else return static_cast<X&&>(x);
}

/// An operand as it is, or, of a selection, what it selects: its shape is not known before.
template <class X>
decltype(auto) known_operand(X&& x) {
  if constexpr (is_selection<::std::remove_cvref_t<X>>) return x.node();
  else return static_cast<X&&>(x);
}

template <class C, class X>
using operand_t = ::std::remove_cvref_t<decltype(as_operand<C>("", ::std::declval<X>()))>;

/// The shape of an operand.
template <class X>
decltype(auto) dims_of(const X& x) {
  if constexpr (requires { x.dims(); }) return x.dims();
  else return x.shape();
}
/// The shape that operands broadcast to.
template <class... X>
shape common_shape(const char* function, const X&... x) {
  shape s;
  const auto join = [&](const auto& operand) {
    if constexpr (array_expression<decltype(operand)>) {
      const shape& d = dims_of(operand);
      if (s.ndim() == 0) s = d;
      else if (d.ndim() != 0 && d != s) s = broadcast_shapes(function, s, d);
    }
  };
  (join(x), ...);
  return s;
}

template <class Types, class Op, int... Ix, class... X>
auto map_operands(const char* function, const Op& op, ::std::integer_sequence<int, Ix...>, X&&... x) {
  return map<Op, operand_t<typename Types::template operand<Ix>, X>...>(
      op, [&] { return common_shape(function, x...); },
      [&] {
        return slots<operand_t<typename Types::template operand<Ix>, X>...>{
            {as_operand<typename Types::template operand<Ix>>(function, static_cast<X&&>(x))}...};
      });
}

/// True for an integer scalar of type S that may be beyond the range of the integers C.
template <class C, class S>
inline constexpr bool may_exceed = false;
template <class C, class S>
requires(is_integer<C>&& is_integer<normal_dtype_t<S>>) inline constexpr bool may_exceed<C, S> =
    !(::std::in_range<C>(::std::numeric_limits<S>::min()) && ::std::in_range<C>(::std::numeric_limits<S>::max()));

/// True where Op compares integers with such a scalar.
template <class Op, class... X>
inline constexpr bool compares_beyond = false;
template <class Op, class X, class Y>
requires requires { requires Op::compares; }
inline constexpr bool compares_beyond<Op, X, Y> = [] {
  using x = ::std::remove_cvref_t<X>;
  using y = ::std::remove_cvref_t<Y>;
  using C = result_type_t<argument_t<x>, argument_t<y>>;
  return (array_expression<x> && may_exceed<C, y>) || (array_expression<y> && may_exceed<C, x>);
}();

/// Where an integer is, seen from the range of C: 1 above, -1 below, 0 inside; an array's elements are inside.
template <class C, class X>
constexpr int beyond(const X& x) {
  if constexpr (array_expression<X>) return 0;
  else return ::std::in_range<C>(x) ? 0 : ::std::cmp_less(0, x) ? 1 : -1;
}
/// An operand whose value does not count if it is a scalar beyond C.
template <class C, class X>
decltype(auto) inside(X&& x) {
  if constexpr (array_expression<X>) return static_cast<X&&>(x);
  else return scalar<C>{beyond<C>(x) == 0 ? C(x) : C(0)};
}

template <class Op, class X, class Y>
auto compare_beyond(const char* function, X&& x, Y&& y);

/// The node `op(x...)`, lazily. `function` names it in messages. Any operands are accepted: a wrong one is reported
/// here.
template <class Op, class... X>
auto elementwise(const char* function, const Op& op, X&&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else if constexpr (compares_beyond<Op, X...>) {
    return compare_beyond<Op>(function, static_cast<X&&>(x)...);
  } else {
    constexpr bool operands = (is_operand<X> && ...), one_device = on_one_device<::std::remove_cvref_t<X>...>();
    static_assert(operands, "cudarray: an operand is neither an array nor a number");
    static_assert(one_device,
                  "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    if constexpr (operands && one_device) {
      using types = typename Op::template types<argument_t<X>...>;
      constexpr bool defined = types::ok;
      static_assert(defined,
                    "cudarray: this function is not defined for these dtypes (as in NumPy): convert with "
                    "ca::astype<T>(x)");
      constexpr bool gradient = !is_complex<typename types::result> || !(has_variable<::std::remove_cvref_t<X>> || ...);
      static_assert(gradient,
                    "cudarray: there are no gradients of complex numbers: use the parts, or ca::stop_gradient(x)");
      if constexpr (defined && gradient)
        return map_operands<types>(function, op, ::std::make_integer_sequence<int, int(sizeof...(X))>{},
                                   known_operand(static_cast<X&&>(x))...);
      else return poison{};
    } else {
      return poison{};
    }
  }
}

/// A comparison of integers with a scalar that may be beyond their dtype: it is exact, as if by numbers of any size.
template <class Op, class X, class Y>
auto compare_beyond(const char* function, X&& x, Y&& y) {
  using C = result_type_t<argument_t<X>, argument_t<Y>>;
  const int left = beyond<C>(x), right = beyond<C>(y);
  return elementwise(function, op::known_comparison_op<Op>{}, inside<C>(static_cast<X&&>(x)),
                     inside<C>(static_cast<Y&&>(y)), scalar<bool>{left != right}, scalar<bool>{Op{}(left, right)});
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
