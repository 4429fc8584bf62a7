// What the gradients of a row program read, find and write, derived from the type of the expression.
// SPDX-License-Identifier: MIT
#pragma once

#include "row_axes.hpp"
#include "row_form.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The gradients of an expression N with reductions R. It has parts: itself, and what each reduction combines. A step
/// for each row constant in these finds its gradient; the results are the gradients of the variables in all parts.
template <class N, class List>
struct row_gradients;
template <class N, class... R>
struct row_gradients<N, reduction_list<R...>> {
  using list = reduction_list<R...>;
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  using results = slots<leaf<node_value_t<R>, D>...>;
  static constexpr int reductions = list::count, parts = 1 + reductions;
  template <int End>
  static constexpr auto up_to = ::std::make_integer_sequence<int, End>{};

  template <int I>
  using reduction = typename decltype(rule::nth<I>(rule::types_list<R...>{}))::type;
  template <int I>
  using op_of = ::std::remove_cvref_t<decltype(::std::declval<reduction<I>&>().op)>;
  template <int I>
  static constexpr row_derivative derivative_of = row_derivative_of<op_of<I>>;
  /// What the gradient of a reduction's value is computed in.
  template <int I>
  using computed = compute_t<node_value_t<reduction<I>>>;
  template <int P>
  using part = typename decltype(rule::nth<P>(
      rule::types_list<N, ::std::remove_cvref_t<decltype(::std::declval<R&>().kid)>...>{}))::type;
  template <int P>
  using form = typename row_form<part<P>>::type;
  template <int P>
  static constexpr uint64 read_in = inputs_read<variables_of<form<P>>, 0, false, form<P>>;
  using constants = typename all_constants<
      reduction_list<>, typename row_form<N>::type,
      typename row_form<::std::remove_cvref_t<decltype(::std::declval<R&>().kid)>>::type...>::type;
  template <int U>
  using constant_at = typename decltype(constants::template at<U>())::type;
  template <int U>
  using constant_expression = typename constant_at<U>::expression;
  /// Where reduction I is in a row constant: a bit for each of that one's inputs.
  template <int U, int I>
  static constexpr uint64 reductions_in() {
    using X = constant_expression<U>;
    if constexpr (::std::is_same_v<X, reduction<I>>) return 1;
    else return inputs_of_type<reduction<I>, X>();
  }
  template <int I, int... U>
  static constexpr bool is_in_constants(::std::integer_sequence<int, U...>) {
    return (false || ... || (reductions_in<U, I>() != 0));
  }
  /// Whether a part has a gradient: that of the expression, or one that a row constant hands to its reductions.
  template <int P>
  static constexpr bool has_gradient() {
    if constexpr (P == 0) return true;
    else return is_in_constants<P - 1>(up_to<constants::count>);
  }
  template <int P>
  static constexpr uint64 variables_in = has_gradient<P>() ? inputs_like<void, form<P>>() : 0;
  template <int P, int I>
  using input_in = input_in_form<form<P>, I>;
  template <int P, int I>
  static constexpr bool is_read = (read_in<P> & uint64(1) << I) != 0;
  template <int P, int I>
  static constexpr bool is_variable = (variables_in<P> & uint64(1) << I) != 0;

  /// The dtype of the J-th variable in all parts.
  template <int J, int P = 0>
  static auto variable_type() {
    constexpr int here = __builtin_popcountll(variables_in<P>);
    if constexpr (J >= here) return variable_type<J - here, P + 1>();
    else return node_value_t<input_in<P, bit_of(variables_in<P>, J)>>();
  }
  /// Calls `f<P, I>(input)` for input I of each part P.
  template <class F>
  static void each_input(const N& n, const F& f) {
    const auto one = [&]<int P, int... I>(const auto& whole, ::std::integer_sequence<int, I...>) {
      (f.template operator()<P, I>(form_input<form<P>, I>(whole)), ...);
    };
    [&]<int... P>(::std::integer_sequence<int, P...>) {
      (one.template operator()<P>(part_of<P>(n), up_to<inputs_of<form<P>>>), ...);
    }
    (up_to<parts>);
  }

  /// Whether the gradient of a part of a reduction reads its value.
  template <int P>
  static constexpr bool reads_part = [] {
    if constexpr (P == 0) return false;
    else return derivative_of<P - 1> != row_derivative::alike;
  }();
  /// Operand 1 is the gradient of the value, the values of reductions are those from 2 on; then come, for each part,
  /// the leaves of inputs that are read, and those of its value where that is.
  template <int P, int... I>
  static constexpr int leaves_of_inputs(::std::integer_sequence<int, I...>) {
    return (0 + ... + (is_read<P, I> ? input_in<P, I>::leaves : 0));
  }
  template <int P>
  static constexpr int first_of_part() {
    if constexpr (P == 0) return 2 + reductions;
    else
      return first_of_part<P - 1>() + leaves_of_inputs<P - 1>(up_to<inputs_of<form<P - 1>>>) +
             (reads_part<P - 1> ? part<P - 1>::leaves : 0);
  }
  static constexpr int gradients = []<int... P>(::std::integer_sequence<int, P...>) {
    return (0 + ... + __builtin_popcountll(variables_in<P>));
  }
  (up_to<parts>);
  /// What is read, and where the gradients but the first are; behind them come the values of steps.
  static constexpr int operands = first_of_part<parts>(), values = operands + gradients - 1;

  /// The gradients of constants in a reduction's operand are found when that of the reduction is.
  template <int U, int P = 0>
  static constexpr int level_of() {
    if constexpr (P == parts) {
      return 0;
    } else {
      constexpr int others = level_of<U, P + 1>();
      if constexpr (P == 0 || inputs_like<constant_at<U>, form<P>>() == 0) return others;
      else return 1 + level_of_reduction<P - 1>() > others ? 1 + level_of_reduction<P - 1>() : others;
    }
  }
  template <int I, int U = 0>
  static constexpr int level_of_reduction() {
    if constexpr (U == constants::count) {
      return 0;
    } else {
      constexpr int others = level_of_reduction<I, U + 1>();
      if constexpr (reductions_in<U, I>() == 0) return others;
      else return level_of<U>() > others ? level_of<U>() : others;
    }
  }
  static constexpr int levels = []<int... U>(::std::integer_sequence<int, U...>) {
    int most = 0;
    ((most = level_of<U>() > most ? level_of<U>() : most), ...);
    return most + 1;
  }
  (up_to<constants::count>);
  /// The constant whose gradient is the K-th to be found.
  template <int K>
  static constexpr int constant_in_order = []<int... U>(::std::integer_sequence<int, U...>) {
    constexpr int level[] = {level_of<U>()..., 0};
    int left = K;
    for (int l = 0; l < levels; ++l)
      for (int u = 0; u < constants::count; ++u)
        if (level[u] == l && left-- == 0) return u;
    return -1;
  }
  (up_to<constants::count>);

  /// The mean of what a variance combines, if it is a reduction of the expression, too; half types round it.
  template <int I>
  using mean_of = reduce<op::mean_op, part<1 + I>>;
  template <int I>
  static constexpr bool has_mean =
      list::template has<mean_of<I>>&& ::std::is_same_v<computed<I>, node_value_t<reduction<I>>>;
  /// Whether something of the row is found for the gradient of reduction I, and how many such values come before that.
  template <int I>
  static constexpr bool finds = derivative_of<I> == row_derivative::extreme ||
                                (derivative_of<I> == row_derivative::distance && !has_mean<I>);
  template <int I>
  static constexpr int found_before() {
    if constexpr (I == 0) return 0;
    else return found_before<I - 1>() + int(finds<I - 1>);
  }
  /// Steps, whose values are loads from `values` on: those that are given, what is found of rows, and the gradients of
  /// constants in their order.
  template <int I>
  static constexpr int found_value = reductions + found_before<I>();
  template <int U>
  static constexpr int gradient_value = []<int... K>(::std::integer_sequence<int, K...>) {
    int at = reductions + found_before<reductions>();
    (void)((constant_in_order<K> == U || (++at, false)) || ...);
    return at;
  }
  (up_to<constants::count>);

  /// Whether what has one type is the same wherever it is: row constants, and a variance's operand and that of the mean
  /// which its gradient uses.
  static bool share_rows(const N& n) {
    bool yes = true;
    each_input(n, [&]<int P, int I, class X>(const X& x) {
      if constexpr (is_row_constant<input_in<P, I>>)
        each_input(n, [&]<int Q, int J, class Y>(const Y& y) {
          if constexpr (::std::is_same_v<X, Y>) yes = yes && same_value(x, y);
        });
    });
    const auto same = [&]<int I>() {
      if constexpr (derivative_of<I> == row_derivative::distance && has_mean<I>)
        return same_value(find<reduction<I>>(n).kid, find<mean_of<I>>(n).kid);
      else return true;
    };
    return [&]<int... I>(::std::integer_sequence<int, I...>) { return (yes && ... && same.template operator()<I>()); }
    (up_to<reductions>);
  }
  template <class X>
  static const X& find(const N& n) {
    return *at_first<X, 0>(n, address{});
  }
  template <int P>
  static const auto& part_of(const N& n) {
    if constexpr (P == 0) return n;
    else return find<reduction<P - 1>>(n).kid;
  }
  /// Some expression of a row constant; all are the same.
  template <int U, int P = 0, int I = 0>
  static const auto& find_constant(const N& n) {
    if constexpr (I == inputs_of<form<P>>) return find_constant<U, P + 1, 0>(n);
    else if constexpr (::std::is_same_v<input_in<P, I>, constant_at<U>>) return form_input<form<P>, I>(part_of<P>(n));
    else return find_constant<U, P, I + 1>(n);
  }

 private:
  struct address {
    template <int, class X>
    const X* operator()(const X& x) const {
      return &x;
    }
  };
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
