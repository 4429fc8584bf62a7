// Trees that make the gradients of several expressions of a row.
// SPDX-License-Identifier: MIT
#pragma once

#include "gradients.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The sum of all gradients that a backward_op makes.
template <class V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE V sum_of(const V& v) {
  return v;
}
CUDARRAY_EXEC_CHECK_OFF
template <int... J, class... V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE auto sum_of(const slots_of<::std::integer_sequence<int, J...>, V...>& v) {
  return (get<J>(v) + ...);
}
/// What the gradients of some inputs of an expression N add up to, in the type that they are computed in.
template <class N, uint64 Wanted>
struct summed_backward_op {
  using one = backward_op<N, Wanted, false>;
  static constexpr bool lanes = one::lanes;
  static constexpr bool goes_back = true;
  static constexpr uint64 read = one::read;
  one op;

  template <class... A>
  struct types {
    static constexpr bool ok = true;
    using result = compute_t<typename one::template gradient_type<0>>;
    template <int K>
    using operand = typename decltype(rule::nth<K>(rule::types_list<A...>{}))::type;
  };
  CUDARRAY_EXEC_CHECK_OFF
  template <class G, class... V>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE auto operator()(const G& g, const V&... v) const {
    return sum_of(op(g, v...));
  }
};

/// A number that is the same all along a row, to a function that divides by it.
template <class T>
struct row_number {
  using value_type = T;
  static constexpr bool packable = has_lanes<T>;
  static constexpr int widest = computed_bytes<T>;
  row_value<compute_t<T>> v;
  template <class A>
  CUDARRAY_HD const row_value<compute_t<T>>& operator()(const A&) const {
    return v;
  }
};
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Tree, class Results>
CUDARRAY_HD auto bind_divisor(const Tree& tree, const Results& results) {
  return bind_row<First, Division>(tree, results);
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Tree, class Results>
requires(same_in_row<First, Tree>&& ::std::is_floating_point_v<compute_t<typename Tree::value_type>>) CUDARRAY_HD
    auto bind_divisor(const Tree& tree, const Results& results) {
  using C = compute_t<typename Tree::value_type>;
  return row_number<typename Tree::value_type>{
      row_value_of(lane_cast<C>(tree(values_access<First, Results>{results})))};
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Op, class Types, class G, class... K, class Results, int... J>
CUDARRAY_HD auto bind_backward(const apply<Op, Types, G, K...>& a, const Results& results,
                               ::std::integer_sequence<int, J...>) {
  return apply_of<Op, Types>(a.op, bind_row<First, Division>(get<0>(a.kids), results),
                             bind_divisor<First, Division>(get<1 + J>(a.kids), results)...);
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Op, class Types, class G, class... K, class Results>
requires(!::std::is_same_v<Division, usual_division> && requires { Op::goes_back; }) CUDARRAY_HD
    auto bind_around(const apply<Op, Types, G, K...>& a, const Results& results) {
  return bind_backward<First, Division>(a, results, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Gradients of several expressions, one after the other: so many of each.
template <class Counts, class... V>
struct joined_values;
template <int... Count, class... V>
struct joined_values<::std::integer_sequence<int, Count...>, V...> {
  slots<V...> of;
  template <int K>
  static constexpr int count = [] {
    constexpr int all[] = {Count...};
    return all[K];
  }();
  /// The expression that gradient J is of.
  template <int J>
  static constexpr int expression = [] {
    constexpr int count[] = {Count...};
    int k = 0;
    for (int left = J; left >= count[k]; ++k) left -= count[k];
    return k;
  }();
  /// Its number among that one's.
  template <int J>
  static constexpr int number = [] {
    constexpr int count[] = {Count...};
    int left = J;
    for (int k = 0; k < expression<J>; ++k) left -= count[k];
    return left;
  }();
};
template <int J, class Counts, class... V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const auto& gradient_at(const joined_values<Counts, V...>& v) {
  using values = joined_values<Counts, V...>;
  return gradient_at<values::template number<J>>(get<values::template expression<J>>(v.of));
}
/// Trees of them; how many each makes.
template <class K>
inline constexpr int gradients_of = 0;
template <class Op, class Types, class... K>
inline constexpr int gradients_of<apply<Op, Types, K...>> = Op::count;
template <class... K>
struct joined_gradients {
  static constexpr bool packable = (K::packable && ...);
  static constexpr int widest = [] {
    int w = 1;
    ((w = K::widest > w ? K::widest : w), ...);
    return w;
  }();
  slots<K...> kids;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto computed(const A& a) const {
    return computed(a, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <class A, int... J>
  CUDARRAY_HD auto computed(const A& a, ::std::integer_sequence<int, J...>) const {
    return joined_values<::std::integer_sequence<int, gradients_of<K>...>, decltype(get<J>(kids).computed(a))...>{
        {{get<J>(kids).computed(a)}...}};
  }
};
CUDARRAY_EXEC_CHECK_OFF
template <class... K, class F>
CUDARRAY_HD constexpr void for_each_operand(const joined_gradients<K...>& a, F&& f) {
  for_each_operand(a, f, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class... K, class Results, int... J>
CUDARRAY_HD auto bind_gradients(const joined_gradients<K...>& a, const Results& results,
                                ::std::integer_sequence<int, J...>) {
  return joined_gradients<::std::remove_cvref_t<decltype(bind_around<First, Division>(get<J>(a.kids), results))>...>{
      {{bind_around<First, Division>(get<J>(a.kids), results)}...}};
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class... K, class Results>
CUDARRAY_HD auto bind_around(const joined_gradients<K...>& a, const Results& results) {
  return bind_gradients<First, Division>(a, results, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
