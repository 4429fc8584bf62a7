// Trees: users' aggregates, vectors and tuples as collections of the variables in them.
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>
#include <vector>

#include "variable.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// What a field can be initialised from: how many of them an aggregate takes is how many fields it has.
struct any_field {
  template <class T>
  operator T() const;
};
template <class X, int... I>
constexpr bool takes(::std::integer_sequence<int, I...>) {
  return requires { X{(void(I), any_field{})...}; };
}
inline constexpr int most_fields = 24;
/// The fields of an aggregate; -1: more than `most_fields`.
template <class X, int N = most_fields + 1>
constexpr int fields_of() {
  if constexpr (N == 0) return 0;
  else if constexpr (takes<X>(::std::make_integer_sequence<int, N>{})) return N > most_fields ? -1 : N;
  else return fields_of<X, N - 1>();
}

template <class X>
inline constexpr bool is_variable = false;
template <class T, class D>
inline constexpr bool is_variable<variable<T, D>> = true;

/// How a type is taken apart.
enum class tree_kind {
  leaf,     ///< a variable
  nothing,  ///< no variable is in it
  members,  ///< it says what is in it
  range,
  tuple,
  aggregate,
  unknown  ///< there may be variables in it
};
/// Whether an element of a range X is looked into: it is an object of another class.
template <class X, class Element>
inline constexpr bool is_part =
    ::std::is_lvalue_reference_v<Element>&& ::std::is_class_v<::std::remove_cvref_t<Element>> &&
    !::std::is_same_v<::std::remove_cvref_t<Element>, X>;
template <class X>
constexpr tree_kind kind_of_tree() {
  if constexpr (is_variable<X>) return tree_kind::leaf;
  else if constexpr (array_expression<X> || !::std::is_class_v<X>) return tree_kind::nothing;
  else if constexpr (requires(X & x) { x.members(); }) return tree_kind::members;
  else if constexpr (requires(X & x) { x.begin(), x.end(); })
    return is_part<X, decltype(*::std::declval<X&>().begin())> ? tree_kind::range : tree_kind::nothing;
  else if constexpr (requires { ::std::tuple_size<X>::value; }) return tree_kind::tuple;
  else if constexpr (::std::is_trivially_copyable_v<X> && (!::std::is_aggregate_v<X> || ::std::is_copy_assignable_v<X>))
    return tree_kind::nothing;  // a class with references is not assigned
  else if constexpr (::std::is_aggregate_v<X>) return tree_kind::aggregate;
  else return tree_kind::unknown;
}

#define CUDARRAY_FIELDS(n, ...)     \
  else if constexpr (fields == n) { \
    auto& [__VA_ARGS__] = x;        \
    return ::std::tie(__VA_ARGS__); \
  }
/// The fields of an aggregate, tied.
template <class X>
auto tie_fields(X& x) {
  constexpr int fields = fields_of<::std::remove_const_t<X>>();
  static_assert(fields >= 0,
                "cudarray: an aggregate of more than 24 fields is not taken apart: give it auto members() { return "
                "std::tie(...); }");
  static_assert(
      fields != 0 || ::std::is_empty_v<X>,
      "cudarray: this aggregate is not taken apart: it holds references, has a base class, or a field that is "
      "not copied: give it auto members() { return std::tie(...); }");
  if constexpr (fields <= 0) return ::std::tuple<>();
  CUDARRAY_FIELDS(1, a)
  CUDARRAY_FIELDS(2, a, b)
  CUDARRAY_FIELDS(3, a, b, c)
  CUDARRAY_FIELDS(4, a, b, c, d)
  CUDARRAY_FIELDS(5, a, b, c, d, e)
  CUDARRAY_FIELDS(6, a, b, c, d, e, g)
  CUDARRAY_FIELDS(7, a, b, c, d, e, g, h)
  CUDARRAY_FIELDS(8, a, b, c, d, e, g, h, i)
  CUDARRAY_FIELDS(9, a, b, c, d, e, g, h, i, j)
  CUDARRAY_FIELDS(10, a, b, c, d, e, g, h, i, j, k)
  CUDARRAY_FIELDS(11, a, b, c, d, e, g, h, i, j, k, l)
  CUDARRAY_FIELDS(12, a, b, c, d, e, g, h, i, j, k, l, m)
  CUDARRAY_FIELDS(13, a, b, c, d, e, g, h, i, j, k, l, m, n)
  CUDARRAY_FIELDS(14, a, b, c, d, e, g, h, i, j, k, l, m, n, o)
  CUDARRAY_FIELDS(15, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p)
  CUDARRAY_FIELDS(16, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q)
  CUDARRAY_FIELDS(17, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r)
  CUDARRAY_FIELDS(18, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s)
  CUDARRAY_FIELDS(19, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  CUDARRAY_FIELDS(20, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  CUDARRAY_FIELDS(21, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  CUDARRAY_FIELDS(22, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  CUDARRAY_FIELDS(23, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y)
  CUDARRAY_FIELDS(24, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z)
}
#undef CUDARRAY_FIELDS

/// The parts of what has a fixed number of them, tied.
template <class X>
auto tie_parts(X& x) {
  constexpr tree_kind kind = kind_of_tree<::std::remove_const_t<X>>();
  if constexpr (kind == tree_kind::members) return const_cast<::std::remove_const_t<X>&>(x).members();
  else if constexpr (kind == tree_kind::tuple)
    return ::std::apply([](auto&... part) { return ::std::tie(part...); }, x);
  else return tie_fields(x);
}

/// Whether a type holds what is of a kind. (A vector's elements are not there yet.)
template <tree_kind Wanted, class X>
constexpr bool holds() {
  using U = ::std::remove_cvref_t<X>;
  constexpr tree_kind kind = kind_of_tree<U>();
  if constexpr (kind == Wanted) {
    return true;
  } else if constexpr (kind == tree_kind::range) {
    return holds<Wanted, decltype(*::std::declval<U&>().begin())>();
  } else if constexpr (kind == tree_kind::members || kind == tree_kind::tuple || kind == tree_kind::aggregate) {
    return []<class... P>(::std::type_identity<::std::tuple<P...>>) {
      return (holds<Wanted, P>() || ...);
    }(::std::type_identity<decltype(tie_parts(::std::declval<U&>()))>{});
  } else {
    return false;
  }
}
template <class X>
constexpr bool holds_variables() {
  return holds<tree_kind::leaf, X>();
}
/// A class that may hide variables does not compile.
template <class X>
constexpr bool check_tree() {
  constexpr bool known = !holds<tree_kind::unknown, X>();
  static_assert(known,
                "cudarray: this class is not taken apart into variables: make it an aggregate, or give it auto "
                "members() { return std::tie(...); }");
  return known;
}
/// Whether a copy of a tree has variables of its own, which may be others: a tuple of references or a span has none.
template <class X>
constexpr bool copies_variables() {
  using U = ::std::remove_cvref_t<X>;
  constexpr tree_kind kind = kind_of_tree<U>();
  if constexpr (kind == tree_kind::range) {
    using element = decltype(*::std::declval<const U&>().begin());
    return ::std::is_const_v<::std::remove_reference_t<element>> && copies_variables<element>();
  } else if constexpr (kind == tree_kind::tuple) {
    return []<::std::size_t... I>(::std::index_sequence<I...>) {
      return (
          (!::std::is_reference_v<::std::tuple_element_t<I, U>> && copies_variables<::std::tuple_element_t<I, U>>()) &&
          ...);
    }
    (::std::make_index_sequence<::std::tuple_size_v<U>>{});
  } else if constexpr (kind == tree_kind::aggregate) {
    return []<class... P>(::std::type_identity<::std::tuple<P...>>) {
      return ((copies_variables<P>() && !(::std::is_const_v<::std::remove_reference_t<P>> && holds_variables<P>())) &&
              ...);
    }(::std::type_identity<decltype(tie_parts(::std::declval<U&>()))>{});
  } else {
    return true;
  }
}
template <class X>
constexpr bool check_copied_tree() {
  constexpr bool copied = copies_variables<X>();
  static_assert(copied,
                "cudarray: a tree of references, as std::tie or std::span, or of const variables has no tree of "
                "gradients like it: use a tuple or a vector of variables, whose copies share elements");
  return check_tree<X>() && copied;
}

/// The type of the first variable in a tree; void: there is none.
template <class X>
constexpr auto first_variable() {
  using U = ::std::remove_cvref_t<X>;
  constexpr tree_kind kind = kind_of_tree<U>();
  if constexpr (kind == tree_kind::leaf) {
    return ::std::type_identity<U>{};
  } else if constexpr (!holds_variables<U>()) {
    return ::std::type_identity<void>{};
  } else if constexpr (kind == tree_kind::range) {
    return first_variable<decltype(*::std::declval<U&>().begin())>();
  } else {
    return []<class P, class... Q>(::std::type_identity<::std::tuple<P, Q...>>) {
      if constexpr (holds_variables<P>()) return first_variable<P>();
      else return first_variable<::std::tuple<Q...>>();
    }(::std::type_identity<decltype(tie_parts(::std::declval<U&>()))>{});
  }
}

template <class F, class... Trees>
void walk_parts(const F& f, Trees&... trees);

/// Calls f for each variable of a tree, and what is in its place in others.
template <class F, class X, class... Others>
void walk_trees(const F& f, X& x, Others&... others) {
  constexpr tree_kind kind = holds_variables<X>() ? kind_of_tree<::std::remove_const_t<X>>() : tree_kind::nothing;
  if constexpr (kind == tree_kind::leaf) {
    f(x, others...);
  } else if constexpr (kind == tree_kind::range) {
    const auto size = [](auto& r) { return int64(::std::distance(r.begin(), r.end())); };
    const auto check = [&](int64 n) {
      if (n != size(x)) fail<shape_error>("tree: there are ", size(x), " elements in one and ", n, " in another");
    };
    (check(size(others)), ...);
    const auto walk = [&](auto own, auto... other) {
      for (; own != x.end(); ++own, (..., ++other)) walk_trees(f, *own, *other...);
    };
    walk(x.begin(), others.begin()...);
  } else if constexpr (kind == tree_kind::members || kind == tree_kind::tuple || kind == tree_kind::aggregate) {
    walk_parts(f, x, others...);
  }
}
template <int I, class F, class... Ties>
void walk_part(const F& f, const Ties&... ties) {
  walk_trees(f, ::std::get<I>(ties)...);
}
template <class F, class... Trees>
void walk_parts(const F& f, Trees&... trees) {
  const auto walk = [&](const auto& first, const auto&... others) {
    [&]<int... I>(::std::integer_sequence<int, I...>) { (walk_part<I>(f, first, others...), ...); }
    (::std::make_integer_sequence<int, int(::std::tuple_size_v<::std::remove_cvref_t<decltype(first)>>)>{});
  };
  walk(tie_parts(trees)...);
}

}  // namespace detail
inline namespace CUDARRAY_BUILD {

/// Calls `f(variable)` for each variable of a tree, in order; of several trees of one structure `f(variable,
/// others...)`.
///
/// A tree is a variable, or a vector, array, tuple or aggregate of trees; of a class that is none it has what
/// `auto members() { return std::tie(...); }` ties. All else in it is passed over. An aggregate that is looked into has
/// no base class and no C arrays. Throws shape_error where vectors differ in length.
///     struct mlp { ca::variable<float> w1, b1, w2, b2; };
///     ca::tree_for_each([&](auto& p, const auto& g) { p.value() -= 0.1f * g.value(); }, params, gradients);
template <class F, class Tree, class... Others>
void tree_for_each(const F& f, Tree&& tree, Others&&... others) {
  if constexpr (detail::check_tree<Tree>()) detail::walk_trees(f, tree, others...);
}
/// A tree with `f(variable, others...)`, an array or a variable of the same dtype, in the place of each variable.
template <class F, class Tree, class... Others>
Tree tree_map(const F& f, const Tree& tree, const Others&... others) {
  Tree r = tree;
  if constexpr (detail::check_copied_tree<Tree>())
    detail::walk_trees([&f]<class V>(V& v, const auto&... other) { v = V(f(::std::as_const(v), other...)); }, r,
                       others...);
  return r;
}
/// The variables of a tree, in order, which must all have one dtype and device. They share elements and gradients with
/// those in the tree.
template <class Tree>
auto tree_leaves(const Tree& tree) {
  if constexpr (detail::check_tree<Tree>()) {
    using V = typename decltype(detail::first_variable<Tree>())::type;
    constexpr bool some = !::std::is_void_v<V>;
    static_assert(some, "cudarray: there is no variable in this tree");
    ::std::vector<::std::conditional_t<some, V, int>> leaves;
    detail::walk_trees(
        [&leaves]<class U>(const U& v) {
          constexpr bool same = ::std::is_same_v<U, V>;
          static_assert(same, "cudarray: the variables of this tree have several dtypes: use ca::tree_for_each");
          if constexpr (same) leaves.push_back(v);
        },
        tree);
    return leaves;
  } else {
    return ::std::vector<int>();
  }
}

}  // namespace CUDARRAY_BUILD
}  // namespace cudarray::inline v0
