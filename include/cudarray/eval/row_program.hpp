// Row programs: expressions in which reductions along the same axes meet operands of the full shape.
// SPDX-License-Identifier: MIT
#pragma once

#include "leaves.hpp"
#include "plan.hpp"

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

/// Whether a row program may consist of such nodes: arrays, numbers, functions, and reductions that need no positions.
template <class N>
inline constexpr bool of_row_nodes = is_scalar_node<N>;
template <class T, class D>
inline constexpr bool of_row_nodes<leaf<T, D>> = true;
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
/// The steps, and what the elements of the result are. Leaves are operands 1, 2, ... in their order; then come the
/// steps' results, which are the same along a row.
template <int Leaves, int Levels, class Tree, class... Steps>
struct row_program {
  static constexpr int leaves = Leaves, levels = Levels, count = int(sizeof...(Steps));
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

/// What such a tree sees.
template <int First, class Results>
struct results_access {
  const Results& results;
  template <int Ix, class T>
  CUDARRAY_HD T load(const T*) const {
    return get<Ix - First>(results);
  }
  template <class T>
  CUDARRAY_HD T splat(T v) const {
    return v;
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class Op, class... V>
  CUDARRAY_HD auto apply(const Op& op, V... v) const {
    return op(v...);
  }
};

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
  return apply<Op, Types, decltype(bind_row<First, Division>(get<J>(a.kids), results))...>{
      a.op, {{bind_row<First, Division>(get<J>(a.kids), results)}...}};
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
  const auto divisor = get<1>(a.kids)(results_access<First, Results>{results});
  return Division::template make<Types>(bind_row<First, Division>(get<0>(a.kids), results),
                                        lane_cast<compute_t<typename Types::result>>(divisor));
}
CUDARRAY_EXEC_CHECK_OFF
template <int First, class Division, class Tree, class Results>
CUDARRAY_HD auto bind_row(const Tree& tree, const Results& results) {
  if constexpr (same_in_row<First, Tree>)
    return constant<typename Tree::value_type>{tree(results_access<First, Results>{results})};
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
auto lower_around(const N& n, const int* axis_of, Space& s) {
  return lower<Ix>(n, axis_of, s, fault_sink{});
}
template <int Ix, int Values, class List, class Kept = void, class Op, class K, class Space>
auto lower_around(const reduce<Op, K>&, const int*, Space&) {
  return load<Values + List::template index<reduce<Op, K>>, node_value_t<reduce<Op, K>>>{nullptr};
}
template <int Ix, int Values, class List, class Kept = void, class Op, class... K, class Space>
auto lower_around(const map<Op, K...>& n, const int* axis_of, Space& s) {
  if constexpr (::std::is_same_v<map<Op, K...>, Kept>) {
    const auto tree = lower_around<Ix, Values, List>(n, axis_of, s);
    return kept_value<::std::remove_cv_t<decltype(tree)>>{tree};
  } else {
    return [&]<int... J>(::std::integer_sequence<int, J...>) {
      const auto make = [&](const auto&... tree) {
        return apply<Op, typename Op::template types<node_value_t<K>...>, ::std::remove_cvref_t<decltype(tree)>...>{
            n.op, {{tree}...}};
      };
      return make(lower_around<first_leaf<Ix, J, K...>(), Values, List, Kept>(
          get<J>(n.kids), axis_of + (n.extents.ndim() - get<J>(n.kids).dims().ndim()), s)...);
    }
    (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  }
}

/// Whether two expressions of one type have one value.
template <class T, class D>
bool same_value(const leaf<T, D>& a, const leaf<T, D>& b) {
  return a.store.get() == b.store.get() && a.where == b.where;
}
template <class T>
bool same_value(const scalar<T>& a, const scalar<T>& b) {
  return __builtin_memcmp(&a.value, &b.value, sizeof(T)) == 0;
}
template <class Op, class K>
bool same_value(const reduce<Op, K>& a, const reduce<Op, K>& b) {
  if (&a == &b) return true;
  return a.over == b.over && same_value(a.kid, b.kid);
}
template <class Op, class... K>
bool same_value(const map<Op, K...>& a, const map<Op, K...>& b) {
  if (&a == &b) return true;
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return ::std::is_empty_v<Op> && a.extents == b.extents && (same_value(get<J>(a.kids), get<J>(b.kids)) && ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Whether `f(reduction, whether it lies within another)` is true of all, inner ones first.
template <class N, class F>
bool all_reductions(const N&, const F&, bool = false) {
  return true;
}
template <class Op, class K, class F>
bool all_reductions(const reduce<Op, K>& n, const F& f, bool inside = false) {
  return all_reductions(n.kid, f, true) && f(n, inside);
}
template <class Op, class... K, class F>
bool all_reductions(const map<Op, K...>& n, const F& f, bool inside = false) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return (all_reductions(get<J>(n.kids), f, inside) && ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Whether `f` is true of every node of type K outside of reductions.
template <class K, class N, class F>
bool all_of_type(const N& n, const F& f) {
  if constexpr (::std::is_same_v<K, N>) return f(n);
  else return true;
}
template <class K, class Op, class... L, class F>
bool all_of_type(const map<Op, L...>& n, const F& f) {
  if constexpr (::std::is_same_v<K, map<Op, L...>>) return f(n);
  else return [&]<int... J>(::std::integer_sequence<int, J...>) {
      return (all_of_type<K>(get<J>(n.kids), f) && ...);
    }
  (::std::make_integer_sequence<int, int(sizeof...(L))>{});
}

/// The axes of a row program: `over` (a bit each) of `full`. Its result has them, or extents of 1 in their place, or
/// none there.
struct row_axes {
  shape full;
  unsigned over = 0;
  enum { by_element, per_row, dropped } result = by_element;

  /// Axis d of a result is axis `to[d]` of the space, kept axes first.
  void map_axes(int* to, bool without) const {
    int kept = 0, row = full.ndim() - __builtin_popcount(over);
    for (int d = 0; d < full.ndim(); ++d) {
      if (over >> d & 1u) {
        if (!without) *to++ = row++;
      } else {
        *to++ = kept++;
      }
    }
  }
};

/// False where reductions are not all along the same axes of one shape, or the result is not of that.
template <class N>
bool find_row_axes(const N& n, row_axes& axes) {
  bool first = true;
  const bool alike = all_reductions(n, [&]<class R>(const R& r, bool) {
    if (first) axes.full = r.kid.dims(), axes.over = r.over;
    first = false;
    // the first one of a type stands for all of them
    using kid = ::std::remove_cvref_t<decltype(r.kid)>;
    if constexpr (::std::is_same_v<kid, kept_of<N>>)
      if (!all_of_type<kid>(n, [&](const kid& k) { return same_value(k, r.kid); })) return false;
    return r.kid.dims() == axes.full && r.over == axes.over &&
           at_first<R, 0>(n, [&]<int>(const R& other) { return same_value(r, other); });
  });
  if (!alike || axes.full.elements() == 0) return false;
  shape with, without;
  for (int d = 0; d < axes.full.ndim(); ++d) {
    const bool reduced = axes.over >> d & 1u;
    with.push_back(reduced ? 1 : axes.full[d]);
    if (!reduced) without.push_back(axes.full[d]);
  }
  const shape& dims = n.dims();
  axes.result = outer_leaves<N> > 0 && dims == axes.full ? row_axes::by_element
                : dims == with                           ? row_axes::per_row
                                                         : row_axes::dropped;
  if (axes.result == row_axes::dropped && dims != without) return false;
  // what meets operands of the full shape has all of its axes
  return all_reductions(n, [&](const auto& r, bool inside) {
    return (axes.result == row_axes::dropped && !inside) || r.extents.ndim() == axes.full.ndim();
  });
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
