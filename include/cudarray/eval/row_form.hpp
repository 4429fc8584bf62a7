// The form of row programs that their gradients are derived from: what is the same all along a row is an input.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/operator_table.hpp"
#include "../expr/reduction_table.hpp"
#include "backward.hpp"
#include "evaluate.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// In the form of an expression that its gradients are derived from: a part U that is the same all along a row, of
/// reductions and numbers.
template <class U>
struct row_constant {
  using expression = U;
  static constexpr int leaves = 0;
};
template <class N>
inline constexpr bool is_row_constant = false;
template <class U>
inline constexpr bool is_row_constant<row_constant<U>> = true;
template <class U>
struct expression_traits<row_constant<U>> : expression_traits<U> {};
template <class U>
inline constexpr bool is_tracked<row_constant<U>> = is_tracked<U>;

/// That form.
template <class N>
struct row_form {
  using type = N;
};
template <class Op, class K>
struct row_form<reduce<Op, K>> {
  using type = row_constant<reduce<Op, K>>;
};
template <class Op, class... K>
struct row_form<map<Op, K...>> {
  using N = map<Op, K...>;
  template <bool>
  struct of_kids {
    using type = map<Op, typename row_form<K>::type...>;
  };
  using type =
      typename ::std::conditional_t<has_reduce<N> && outer_leaves<N> == 0, ::std::type_identity<row_constant<N>>,
                                    ::std::conditional_t<is_tracked<N>, of_kids<true>, ::std::type_identity<N>>>::type;
};
/// Input I of a form, in the expression.
template <class Form, int I, class N>
const auto& form_input(const N& n) {
  if constexpr (!is_tracked_map<Form>) return n;
  else return []<class Op, class... K>(::std::type_identity<map<Op, K...>>, const auto& m) -> const auto& {
      constexpr int j = operand_of_input<I, K...>();
      using kid = typename decltype(rule::nth<j>(rule::types_list<K...>{}))::type;
      return form_input<kid, I - first_input<0, j, K...>()>(get<j>(m.kids));
    }
  (::std::type_identity<Form>(), n);
}

/// The type of input I of a form.
template <class Form, int I>
auto input_type() {
  if constexpr (!is_tracked_map<Form>) return ::std::type_identity<typename plain_input<Form>::type>();
  else
    return []<class Op, class... K>(::std::type_identity<map<Op, K...>>) {
      constexpr int j = operand_of_input<I, K...>();
      using kid = typename decltype(rule::nth<j>(rule::types_list<K...>{}))::type;
      return input_type<kid, I - first_input<0, j, K...>()>();
    }(::std::type_identity<Form>());
}
template <class Form, int I>
using input_in_form = typename decltype(input_type<Form, I>())::type;

/// The inputs of an expression that are of type K, a bit each; variables, for K = void.
template <class K, class N, int I = 0>
constexpr uint64 inputs_like() {
  if constexpr (I == inputs_of<N>) {
    return 0;
  } else {
    using X = input_in_form<N, I>;
    constexpr bool is = ::std::is_void_v<K> ? !is_row_constant<X> : ::std::is_same_v<K, X>;
    constexpr uint64 here = is ? variables_of<N> & uint64(1) << I : 0;
    return here | inputs_like<K, N, I + 1>();
  }
}

/// How the gradient of a reduction goes to its elements: all alike, to those that are the extreme, or by their distance
/// from the mean.
enum class row_derivative { none, alike, extreme, distance };
template <class Op>
inline constexpr row_derivative row_derivative_of = row_derivative::none;
template <>
inline constexpr row_derivative row_derivative_of<op::sum_op> = row_derivative::alike;
template <>
inline constexpr row_derivative row_derivative_of<op::mean_op> = row_derivative::alike;
template <>
inline constexpr row_derivative row_derivative_of<op::max_op> = row_derivative::extreme;
template <>
inline constexpr row_derivative row_derivative_of<op::min_op> = row_derivative::extreme;
template <>
inline constexpr row_derivative row_derivative_of<op::var_op> = row_derivative::distance;

/// Whether the derivative of a reduction of K is computed in its row. What a function makes of an array may differ in
/// the last bit from pass to pass, so only an array's own elements are compared with its extreme.
template <row_derivative How, class K>
inline constexpr bool has_row_derivative = How != row_derivative::none;
template <class Op, class... K>
inline constexpr bool has_row_derivative<row_derivative::extreme, map<Op, K...>> = false;
/// Whether all reductions in an expression are of variables, and have such a derivative.
template <class N>
inline constexpr bool has_row_derivatives = true;
template <class Op, class K>
inline constexpr bool has_row_derivatives<reduce<Op, K>> =
    has_row_derivative<row_derivative_of<Op>, K>&& is_tracked<K>&& is_floating<node_value_t<K>>&&
        functions_of<typename row_form<K>::type>::lanes&& has_row_derivatives<K>;
template <class Op, class... K>
inline constexpr bool has_row_derivatives<map<Op, K...>> = (has_row_derivatives<K> && ...);

/// The inputs of an expression that are reductions of type X, a bit each.
template <class X, class N>
constexpr uint64 inputs_of_type() {
  return []<int... I>(::std::integer_sequence<int, I...>) {
    return (uint64(0) | ... | (::std::is_same_v<input_in_form<N, I>, X> ? variables_of<N> & uint64(1) << I : 0));
  }
  (::std::make_integer_sequence<int, inputs_of<N>>{});
}

/// The row constants among the inputs of a form that have gradients, behind those in List.
template <class List, class Form, int I = 0>
auto constants_in() {
  if constexpr (I == inputs_of<Form>) {
    return List{};
  } else {
    using X = input_in_form<Form, I>;
    constexpr bool leads = (variables_of<Form> & uint64(1) << I) != 0;
    if constexpr (is_row_constant<X> && leads && !List::template has<X>)
      return
          []<class... U>(reduction_list<U...>) { return constants_in<reduction_list<U..., X>, Form, I + 1>(); }(List{});
    else return constants_in<List, Form, I + 1>();
  }
}
template <class List, class... Forms>
struct all_constants {
  using type = List;
};
template <class List, class Form, class... More>
struct all_constants<List, Form, More...> : all_constants<decltype(constants_in<List, Form>()), More...> {};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
