// The gradients of expressions in which reductions meet their rows: one row program.
// SPDX-License-Identifier: MIT
#pragma once

#include "joined_gradients.hpp"
#include "row_operands.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Makes the program of gradients for a space, and places its operands.
template <class G, class Space>
struct row_gradients_maker;
template <class N, class List, class Space>
struct row_gradients_maker<row_gradients<N, List>, Space> {
  using of = row_gradients<N, List>;
  const N& n;
  const typename of::results& r;
  const leaf<typename of::T, typename of::D>& g;
  const int* inside;  ///< the axes of rows in the space
  int64 width;        ///< elements of a row
  int ndim;
  Space& s;

  auto make() const {
    const auto tree = with_gradients<0>(
        [](const auto&... k) { return joined_gradients<::std::remove_cvref_t<decltype(k)>...>{{{k}...}}; });
    return with_steps<0>([&]<class... S>(const S&... step) {
      return row_program<of::levels, ::std::remove_cv_t<decltype(tree)>, S...>{{{step}...}, tree};
    });
  }

 private:
  static constexpr int reductions = of::reductions;
  template <int I, class T>
  using value_of = load<of::values + I, T>;
  template <int I>
  using computed = typename of::template computed<I>;
  template <int P>
  using part = typename of::template part<P>;
  template <int P>
  using form = typename of::template form<P>;
  template <int U>
  using computed_constant = compute_t<node_value_t<typename of::template constant_at<U>>>;

  template <int Ix, class X>
  auto lowered(const X& x) const {
    return lower_around<Ix, of::values, List>(x, inside + (ndim - x.dims().ndim()), s, fault_sink{});
  }
  template <class Op, class... A>
  static auto call(const Op& op, const A&... a) {
    return apply_of<Op, typename Op::template types<typename A::value_type...>>(op, a...);
  }
  /// Passes all steps to f.
  template <int I, class F, class... S>
  auto with_steps(const F& f, const S&... before) const {
    constexpr int found = I - reductions, gradient = I - 2 * reductions;
    if constexpr (I < reductions) {
      return with_steps<I + 1>(f, before..., given<I>());
    } else if constexpr (I < 2 * reductions) {
      if constexpr (of::template finds<found>) return with_steps<I + 1>(f, before..., found_step<found>());
      else return with_steps<I + 1>(f, before...);
    } else if constexpr (gradient < of::constants::count) {
      return with_steps<I + 1>(f, before..., gradient_step<of::template constant_in_order<gradient>>());
    } else {
      return f(before...);
    }
  }
  template <int I>
  auto given() const {
    const auto tree = lower<2 + I>(get<I>(r), inside, s, fault_sink{});
    return row_given<::std::remove_cv_t<decltype(tree)>>{tree};
  }
  /// How many elements are the extreme; the mean.
  template <int I>
  auto found_step() const {
    using C = computed<I>;
    constexpr bool extreme = of::template derivative_of<I> == row_derivative::extreme;
    const auto tree = [&] {
      if constexpr (extreme) return call(op::where_op{}, hits<I>(), constant<C>{1}, constant<C>{0});
      else return value_of_part<1 + I>();
    }();
    using finds = ::std::conditional_t<extreme, op::sum_op, op::mean_op>;
    return row_step<finds, 0, false, C, ::std::remove_cv_t<decltype(tree)>>{tree};
  }
  /// The gradient of a row constant: the sum of what all parts hand to it.
  template <int U>
  auto gradient_step() const {
    const auto tree = gradient_of_constant<U, 0>();
    return row_step<op::sum_op, of::template level_of<U>(), false, computed_constant<U>,
                    ::std::remove_cv_t<decltype(tree)>>{tree};
  }
  template <int U, int P, class... Before>
  auto gradient_of_constant(const Before&... before) const {
    if constexpr (P == of::parts) {
      return sum(before...);
    } else {
      constexpr uint64 here = inputs_like<typename of::template constant_at<U>, form<P>>();
      if constexpr (here == 0) return gradient_of_constant<U, P + 1>(before...);
      else return gradient_of_constant<U, P + 1>(before..., backward<P, summed_backward_op<form<P>, here>>());
    }
  }
  template <class A, class... B>
  static auto sum(const A& a, const B&... b) {
    if constexpr (sizeof...(B) == 0) return a;
    else return call(op::add_op{}, a, sum(b...));
  }
  /// The gradient of reduction I, once those of constants are known; 0 where it is in none.
  template <int I, int U = 0, class... Before>
  auto gradient_of_reduction(const Before&... before) const {
    if constexpr (U < of::constants::count) {
      constexpr uint64 here = of::template reductions_in<U, I>();
      if constexpr (here == 0) return gradient_of_reduction<I, U + 1>(before...);
      else return gradient_of_reduction<I, U + 1>(before..., through_constant<U, here>());
    } else if constexpr (sizeof...(Before) == 0) {
      return constant<computed<I>>{0};
    } else {
      return sum(before...);
    }
  }
  template <int U, uint64 Wanted>
  auto through_constant() const {
    using X = typename of::template constant_expression<U>;
    const value_of<of::template gradient_value<U>, computed_constant<U>> whole{nullptr};
    if constexpr (!is_tracked_map<X>) {
      return whole;
    } else {
      using backward_type = summed_backward_op<X, Wanted>;
      const X& x = of::template find_constant<U>(n);
      return [&]<int... K>(::std::integer_sequence<int, K...>) {
        return call(backward_type{functions_of<X>(x)}, whole,
                    lowered<of::values>(input<bit_of(backward_type::read, K)>(x))...);
      }
      (of::template up_to<__builtin_popcountll(backward_type::read)>);
    }
  }
  /// A function of the gradient of a part, and of the inputs that it reads.
  template <int P, class Op>
  auto backward() const {
    const auto& x = of::template part_of<P>(n);
    return [&]<int... K>(::std::integer_sequence<int, K...>) {
      return call(Op{functions_of<form<P>>(x)}, from<P>(), input_tree<P, bit_of(Op::read, K)>(x)...);
    }
    (of::template up_to<__builtin_popcountll(Op::read)>);
  }
  template <int P, int I, class X>
  auto input_tree(const X& x) const {
    constexpr int first = of::template first_of_part<P>() + of::template leaves_of_inputs<P>(of::template up_to<I>);
    return lowered<first>(form_input<form<P>, I>(x));
  }
  template <int P>
  auto value_of_part() const {
    return lowered<of::template first_of_part<P + 1>() - part<P>::leaves>(of::template part_of<P>(n));
  }
  template <int I>
  auto hits() const {
    return call(op::equal_op{}, value_of_part<1 + I>(),
                value_of<I, node_value_t<typename of::template reduction<I>>>{nullptr});
  }
  /// The gradient of a part's value.
  template <int P>
  auto from() const {
    if constexpr (P == 0) {
      return lower<1>(g, inside, s, fault_sink{});
    } else {
      using reduces = typename of::template op_of<P - 1>;
      using C = computed<P - 1>;
      constexpr row_derivative how = of::template derivative_of<P - 1>;
      const auto whole = gradient_of_reduction<P - 1>();
      if constexpr (how == row_derivative::extreme) {
        const value_of<of::template found_value<P - 1>, C> count{nullptr};
        return call(op::where_op{}, hits<P - 1>(), call(op::divide_op{}, whole, count), constant<C>{0});
      } else if constexpr (how == row_derivative::distance) {
        return call(op::multiply_op{}, call(op::multiply_op{}, whole, constant<C>{C(2 / double(width))}),
                    call(op::subtract_op{}, value_of_part<P>(), mean<P - 1>()));
      } else if constexpr (::std::is_same_v<reduces, op::mean_op>) {
        return call(op::multiply_op{}, whole, constant<C>{C(1 / double(width))});
      } else {
        return whole;
      }
    }
  }
  template <int I>
  auto mean() const {
    using C = computed<I>;
    if constexpr (of::template has_mean<I>)
      return value_of<List::template index<typename of::template mean_of<I>>, C>{nullptr};
    else return value_of<of::template found_value<I>, C>{nullptr};
  }
  template <int P, class F, class... K>
  auto with_gradients(const F& f, const K&... before) const {
    if constexpr (P == of::parts) return f(before...);
    else if constexpr (of::template variables_in<P> == 0) return with_gradients<P + 1>(f, before...);
    else
      return with_gradients<P + 1>(f, before...,
                                   backward<P, backward_op<form<P>, of::template variables_in<P>, false>>());
  }
};

/// Whether an expression's type is that of a row program with gradients, which has room for so many operands.
template <class N>
inline constexpr bool has_row_gradients = false;
template <class Op, class... K>
inline constexpr bool has_row_gradients<map<Op, K...>> = [] {
  using N = map<Op, K...>;
  using D = device_type_t<N>;
  constexpr int most = 20;
  if constexpr (is_tracked<N> && is_row_program<N> && (outer_leaves<N> != 0) && !has_gather<N> &&
                is_floating<node_value_t<N>> && has_row_derivatives<N> &&
                backward_op<typename row_form<N>::type, 0, false>::lanes && backend::row_programs<D> &&
                backend::fused_gradients<D>)
    return row_gradients<N, reductions_of<N>>::values <= most && N::leaves + reductions_of<N>::count <= most;
  else return false;
}();

/// Writes gradients by one program, into memory that `place_in<First>(space, axes)` gives. False, and nothing is done,
/// where the device does not have it.
template <class N, class List, class Place>
CUDARRAY_NO_INLINE bool run_row_gradients(const N& n, const typename row_gradients<N, List>::results& r,
                                          const leaf<node_value_t<N>, device_type_t<N>>& g, const row_axes& axes,
                                          const Place& place_in) {
  using of = row_gradients<N, List>;
  using space = iteration_space<of::values>;
  space s;
  s.ndim = axes.full.ndim();
  s.kept = s.ndim - __builtin_popcount(axes.over);
  int inside[max_rank] = {};
  axes.map_axes(inside, row_result::by_element);
  for (int d = 0; d < s.ndim; ++d) s.extent[inside[d]] = axes.full[d];
  int64 width = 1;
  for (int d = s.kept; d < s.ndim; ++d) width *= s.extent[d];
  const auto target = place_in.template operator()<of::operands>(s, inside);
  const auto program = row_gradients_maker<of, space>{n, r, g, inside, width, s.ndim, s}.make();
  simplify(s, false);
  return s.ndim == s.kept + 1 && run_row_program(device_type_t<N>{g.store->ordinal}, target, program, s);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
