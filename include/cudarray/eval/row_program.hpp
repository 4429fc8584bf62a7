// Row programs: expressions in which reductions along the same axes meet operands of the full shape.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/rules.hpp"
#include "leaves.hpp"
#include "several.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The types of the reductions in an expression, each once, inner ones before those around them.
template <class... R>
struct reduction_list {
  static constexpr int count = int(sizeof...(R));
  template <class X>
  static constexpr bool has = (::std::is_same_v<X, R> || ...);
  template <class X>
  static constexpr int index = [] {
    constexpr bool is[] = {::std::is_same_v<X, R>...};
    int k = 0;
    while (!is[k]) ++k;
    return k;
  }();
  template <int K>
  static auto at() {
    return rule::nth<K>(rule::types_list<R...>{});
  }
};
template <class List, class N>
struct inner_reductions {
  using type = List;
};
template <class... R, class Op, class K>
struct inner_reductions<reduction_list<R...>, reduce<Op, K>> {
  template <class List>
  struct with;
  template <class... S>
  struct with<reduction_list<S...>> {
    using type = reduction_list<S..., reduce<Op, K>>;
  };
  using before = typename inner_reductions<reduction_list<R...>, K>::type;
  using type = typename ::std::conditional_t<before::template has<reduce<Op, K>>, ::std::type_identity<before>,
                                             with<before>>::type;
};
template <class List, class Op, class K, class... L>
struct inner_reductions<List, map<Op, K, L...>> {
  template <class Found, class...>
  struct rest {
    using type = Found;
  };
  template <class Found, class First, class... Others>
  struct rest<Found, First, Others...> : rest<typename inner_reductions<Found, First>::type, Others...> {};
  using type = typename rest<List, K, L...>::type;
};
template <class N>
using reductions_of = typename inner_reductions<reduction_list<>, N>::type;

/// How many reductions lie within each other.
template <class N>
inline constexpr int reduction_depth = 0;
template <class Op, class K>
inline constexpr int reduction_depth<reduce<Op, K>> = 1 + reduction_depth<K>;
template <class Op, class... K>
inline constexpr int reduction_depth<map<Op, K...>> = [] {
  int deepest = 0;
  ((deepest = reduction_depth<K> > deepest ? reduction_depth<K> : deepest), ...);
  return deepest;
}();

/// Leaves outside of reductions.
template <class N>
inline constexpr int outer_leaves = N::leaves;
template <class Op, class K>
inline constexpr int outer_leaves<reduce<Op, K>> = 0;
template <class Op, class... K>
inline constexpr int outer_leaves<map<Op, K...>> = (0 + ... + outer_leaves<K>);

/// Whether a row program may consist of such nodes: arrays, numbers, functions, what is generated or indices pick, and
/// reductions that need no positions.
template <class N>
inline constexpr bool of_row_nodes = is_scalar_node<N>;
template <class T, class D>
inline constexpr bool of_row_nodes<leaf<T, D>> = true;
template <class T, class D>
inline constexpr bool of_row_nodes<tracked_leaf<T, D>> = true;
template <class G, class D>
inline constexpr bool of_row_nodes<generate<G, D>> = true;
template <class T, class D, class Ix>
inline constexpr bool of_row_nodes<gather<T, D, Ix>> = of_row_nodes<Ix>&& reductions_of<Ix>::count == 0;
template <class Op, class K>
inline constexpr bool of_row_nodes<reduce<Op, K>> = !Op::indexed && of_row_nodes<K>;
template <class Op, class... K>
inline constexpr bool of_row_nodes<map<Op, K...>> = !requires {
  Op::may_fault;
}
&&(of_row_nodes<K>&&...);

/// Whether an expression's type is that of a row program: more than one reduction, or one and operands beside it.
template <class N>
inline constexpr bool is_row_program = of_row_nodes<N>&& N::leaves <= most_leaves&& reductions_of<N>::count > 0 &&
                                       (reductions_of<N>::count > 1 || outer_leaves<N> > 0);

/// How often a node of type K is outside of reductions.
template <class K, class N>
inline constexpr int occurs = ::std::is_same_v<K, N>;
template <class K, class Op, class... L>
inline constexpr int occurs<K, map<Op, L...>> = ::std::is_same_v<K, map<Op, L...>> ? 1 : (0 + ... + occurs<K, L>);
template <class K, class Op, class L>
inline constexpr int occurs<K, reduce<Op, L>> = 0;
/// What is computed once for a last reduction and for the result, as softmax's exp(x - max(x)): its type, or void.
template <class N, class List>
struct kept_in;
template <class N>
struct kept_in<N, reduction_list<>> {
  using type = void;
};
template <class N, class Op, class K, class... R>
struct kept_in<N, reduction_list<reduce<Op, K>, R...>>
    : ::std::conditional_t<(occurs<K, N> > 0 && reduction_depth<K> > 0 && reduction_depth<K> + 1 == reduction_depth<N>),
                           ::std::type_identity<K>, kept_in<N, reduction_list<R...>>> {};
template <class N>
using kept_of = typename kept_in<N, reductions_of<N>>::type;

/// In a tree: what may be at hand, as a reduction has seen it.
template <class Tree>
struct kept_value {
  using value_type = typename Tree::value_type;
  static constexpr bool packable = Tree::packable;
  static constexpr int widest = Tree::widest;
  Tree tree;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    return a.keeps() ? a.template kept<value_type>() : tree(a);
  }
};
CUDARRAY_EXEC_CHECK_OFF
template <class Tree, class F>
CUDARRAY_HD constexpr void for_each_operand(const kept_value<Tree>& k, F&& f) {
  for_each_operand(k.tree, f);
}

/// The first reduction that combines what is kept.
template <class R, class List, class Kept>
inline constexpr bool keeps_first = false;
template <class R, class... S, class Kept>
inline constexpr bool keeps_first<R, reduction_list<S...>, Kept> = [] {
  constexpr bool of_kept[] = {
      ::std::is_same_v<::std::remove_cvref_t<decltype(::std::declval<const S&>().kid)>, Kept>...};
  int first = 0;
  while (first < int(sizeof...(S)) && !of_kept[first]) ++first;
  return first == reduction_list<S...>::template index<R>;
}();

/// One reduction of a row program: of what `tree` makes of the row, once those of lower levels are known. `Keeps`: that
/// is the program's kept_value.
template <class Op, int Level, bool Keeps, class Result, class Tree>
struct row_step {
  static constexpr int level = Level;
  static constexpr bool keeps = Keeps;
  using value = typename Tree::value_type;
  using op = Op;
  using result = Result;
  Tree tree;
};
/// A value of each row that is given, which `tree` loads.
template <class Tree>
struct row_given {
  static constexpr int level = -1;
  static constexpr bool keeps = false;
  using value = typename Tree::value_type;
  using result = value;
  Tree tree;
};
/// The steps, and what the elements of the result are. Leaves are operands 1, 2, ... in their order; then come the
/// steps' results, which are the same along a row.
template <int Levels, class Tree, class... Steps>
struct row_program {
  static constexpr int levels = Levels, count = int(sizeof...(Steps));
  /// Bytes of an element of what is kept; 0: nothing is.
  static constexpr int kept_bytes = (0 + ... + (Steps::keeps ? int(sizeof(typename Steps::value)) : 0));
  using results = slots<typename Steps::result...>;
  slots<Steps...> steps;
  Tree tree;
};

/// Whether a tree is the same all along a row: of numbers and steps' results, which are the loads from `First` on.
template <int First, class Tree>
inline constexpr bool same_in_row = false;
template <int First, class T>
inline constexpr bool same_in_row<First, constant<T>> = true;
template <int First, int Ix, class T>
inline constexpr bool same_in_row<First, load<Ix, T>> = Ix >= First;
template <int First, class Op, class Types, class... K>
inline constexpr bool same_in_row<First, apply<Op, Types, K...>> = (same_in_row<First, K> && ...);
template <int First, class Types, class... K>
inline constexpr bool same_in_row<First, apply<together_op, Types, K...>> = false;

/// A number that is the same all along a row: functions divide by it by its inverse.
template <class C>
struct row_value {
  C v, inverse;
  CUDARRAY_HD friend C operator/(const C& x, const row_value& y) { return x * y.inverse; }
};
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail {
template <class To, class C>
CUDARRAY_HD row_value<To> lane_cast(const row_value<C>& v) {
  return {To(v.v), ::std::is_same_v<To, C> ? To(v.inverse) : To(1) / To(v.v)};
}
}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// How a device divides by what is the same all along a row, if it has a better way: `make<Types>(tree, divisor)`.
struct usual_division {};

/// The tree with what is the same all along a row computed, of the results of steps.
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division = usual_division, class Tree, class Results>
CUDARRAY_HD auto bind_row(const Tree& tree, const Results& results);
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Leaf, class Results>
CUDARRAY_HD const Leaf& bind_around(const Leaf& leaf, const Results&) {
  return leaf;
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Tree, class Results>
CUDARRAY_HD auto bind_around(const kept_value<Tree>& k, const Results& results) {
  const auto tree = bind_row<First, Division>(k.tree, results);
  return kept_value<::std::remove_cv_t<decltype(tree)>>{tree};
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Op, class Types, class... K, class Results, int... J>
CUDARRAY_HD auto bind_operands(const apply<Op, Types, K...>& a, const Results& results,
                               ::std::integer_sequence<int, J...>) {
  return apply_of<Op, Types>(a.op, bind_row<First, Division>(get<J>(a.kids), results)...);
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Op, class Types, class... K, class Results>
CUDARRAY_HD auto bind_around(const apply<Op, Types, K...>& a, const Results& results) {
  return bind_operands<First, Division>(a, results, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Op, class Types, class X, class Y, class Results>
requires(same_in_row<First, Y>&& ::std::is_floating_point_v<compute_t<typename Types::result>> &&
         !::std::is_same_v<Division, usual_division> && requires { Op::divides; }) CUDARRAY_HD
    auto bind_around(const apply<Op, Types, X, Y>& a, const Results& results) {
  const auto divisor = get<1>(a.kids)(values_access<First, Results>{results});
  return Division::template make<Types>(bind_row<First, Division>(get<0>(a.kids), results),
                                        lane_cast<compute_t<typename Types::result>>(divisor));
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Tree, class Results>
CUDARRAY_HD auto bind_row(const Tree& tree, const Results& results) {
  if constexpr (same_in_row<First, Tree>)
    return constant<typename Tree::value_type>{tree(values_access<First, Results>{results})};
  else return bind_around<First, Division>(tree, results);
}

/// The first node of type R in an expression, and its first leaf where the expression's are Ix, Ix + 1, ...
template <class R, class N>
inline constexpr bool contains = ::std::is_same_v<R, N>;
template <class R, class Op, class K>
inline constexpr bool contains<R, reduce<Op, K>> = ::std::is_same_v<R, reduce<Op, K>> || contains<R, K>;
template <class R, class Op, class... K>
inline constexpr bool contains<R, map<Op, K...>> = (contains<R, K> || ...);
template <class R, class... K>
constexpr int first_with() {
  constexpr bool has[] = {contains<R, K>...};
  int k = 0;
  while (!has[k]) ++k;
  return k;
}
template <class R, int Ix, class N, class F>
auto at_first(const N& n, const F& f) {
  if constexpr (::std::is_same_v<R, N>) return f.template operator()<Ix>(n);
  else if constexpr (requires { n.kid; }) return at_first<R, Ix>(n.kid, f);
  else
    return [&]<class Op, class... K>(const map<Op, K...>& m) {
      constexpr int k = first_with<R, K...>();
      return at_first<R, first_leaf<Ix, k, K...>()>(get<k>(m.kids), f);
    }(n);
}

/// Lowers what is outside of reductions; these are operands from `Values` on, by their place in List. Nodes of type
/// Kept become kept values.
template <int Ix, int Values, class List, class Kept = void, class N, class Space>
auto lower_around(const N& n, const int* axis_of, Space& s, const fault_sink& faults) {
  return lower<Ix>(n, axis_of, s, faults);
}
template <int Ix, int Values, class List, class Kept = void, class Op, class K, class Space>
auto lower_around(const reduce<Op, K>&, const int*, Space&, const fault_sink&) {
  return load<Values + List::template index<reduce<Op, K>>, node_value_t<reduce<Op, K>>>{nullptr};
}
template <int Ix, int Values, class List, class Kept = void, class Op, class... K, class Space>
auto lower_around(const map<Op, K...>& n, const int* axis_of, Space& s, const fault_sink& faults) {
  if constexpr (::std::is_same_v<map<Op, K...>, Kept>) {
    const auto tree = lower_around<Ix, Values, List>(n, axis_of, s, faults);
    return kept_value<::std::remove_cv_t<decltype(tree)>>{tree};
  } else {
    return [&]<int... J>(::std::integer_sequence<int, J...>) {
      return apply_of<Op, typename Op::template types<node_value_t<K>...>>(
          n.op, lower_around<first_leaf<Ix, J, K...>(), Values, List, Kept>(
                    get<J>(n.kids), axis_of + (n.extents.ndim() - get<J>(n.kids).dims().ndim()), s, faults)...);
    }
    (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
