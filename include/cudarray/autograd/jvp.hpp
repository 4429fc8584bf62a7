// Derivatives in one direction: of functions, and of gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "dual.hpp"
#include "transform.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A tree's type with variables of dual numbers in place of those it is a template of, and back.
template <class X>
struct dual_tree {
  using type = X;
};
template <class T, class D>
struct dual_tree<variable<T, D>> {
  using type = variable<dual<T>, D>;
};
template <template <class...> class C, class... A>
struct dual_tree<C<A...>> {
  using type = C<typename dual_tree<A>::type...>;
};
template <class X, ::std::size_t N>
struct dual_tree<::std::array<X, N>> {
  using type = ::std::array<typename dual_tree<X>::type, N>;
};
template <class X>
struct primal_tree {
  using type = X;
};
template <class T, class D>
struct primal_tree<variable<T, D>> {
  using type = variable<primal_t<T>, D>;
};
template <template <class...> class C, class... A>
struct primal_tree<C<A...>> {
  using type = C<typename primal_tree<A>::type...>;
};
template <class X, ::std::size_t N>
struct primal_tree<::std::array<X, N>> {
  using type = ::std::array<typename primal_tree<X>::type, N>;
};

/// Makes of trees one of another type: `f(to, variable...)` for each variable; all else is copied from the first.
template <class F, class To, class X, class... Others>
void convert_trees(const F& f, To& to, const X& x, const Others&... others) {
  constexpr tree_kind kind = holds_variables<X>() ? kind_of_tree<X>() : tree_kind::nothing;
  if constexpr (is_variable<X>) {
    f(to, x, others...);
  } else if constexpr (kind == tree_kind::range) {
    if constexpr (requires { to.resize(x.size()); }) to.resize(x.size());
    const auto check = [&](const auto& other) {
      if (other.size() != x.size())
        fail<shape_error>("tree: there are ", int64(x.size()), " elements in one and ", int64(other.size()),
                          " in another");
    };
    (check(others), ...);
    const auto each = [&](auto own, auto first, auto... other) {
      for (; first != x.end(); ++own, ++first, (..., ++other)) convert_trees(f, *own, *first, *other...);
    };
    each(to.begin(), x.begin(), others.begin()...);
  } else if constexpr (kind == tree_kind::members) {
    constexpr bool whole = ::std::is_void_v<To>;
    static_assert(
        whole,
        "cudarray: jvp: a class with members() is not made anew for dual numbers, as it may have more than it "
        "ties: give an aggregate");
  } else if constexpr (kind == tree_kind::tuple || kind == tree_kind::aggregate) {
    const auto parts = [&](const auto& own, const auto&... from) {
      [&]<::std::size_t... I>(::std::index_sequence<I...>) {
        const auto one = [&](auto part) {
          constexpr ::std::size_t at = decltype(part)::value;
          convert_trees(f, ::std::get<at>(own), ::std::get<at>(from)...);
        };
        (one(::std::integral_constant<::std::size_t, I>()), ...);
      }
      (::std::make_index_sequence<::std::tuple_size_v<::std::remove_cvref_t<decltype(own)>>>{});
    };
    parts(tie_parts(to), tie_parts(x), tie_parts(others)...);
  } else if constexpr (is_dual<X> && !is_dual<To>) {
    to = To(x.primal);
  } else {
    constexpr bool assigned = ::std::is_assignable_v<To&, const X&>;
    static_assert(assigned, "cudarray: jvp: a field of this tree, which is no variable, cannot be assigned");
    if constexpr (assigned) to = x;
  }
}

template <class X>
using dual_tree_t = typename dual_tree<X>::type;
template <class X>
using primal_tree_t = typename primal_tree<X>::type;

/// Why an argument cannot be one of dual numbers.
enum class direction_fault { none, dtype, nothing, tangent, fixed };
template <class X, class V>
constexpr direction_fault fault_of_direction() {
  if constexpr (array_expression<X>) {
    if (!is_floating<value_type_t<X>>) return direction_fault::dtype;
    if (!array_expression<V>) return direction_fault::tangent;
  } else {
    if (!holds_variables<X>()) return direction_fault::nothing;
    if (!::std::is_same_v<X, V>) return direction_fault::tangent;
    if (::std::is_same_v<X, dual_tree_t<X>>) return direction_fault::fixed;
  }
  return direction_fault::none;
}
/// A variable of dual numbers. It is a parameter where the other one is.
template <class T, class D, class X, class V>
variable<dual<T>, D> dual_variable(const X& x, const V& v, bool wanted) {
  if (dims_of(v) != dims_of(x))
    fail<shape_error>("jvp: a tangent of shape ", dims_of(v), " for an argument of shape ", dims_of(x));
  const ndarray<dual<T>, D> both = dual_of(x, ndarray<T, D>(v));
  return wanted ? variable<dual<T>, D>(both) : variable<dual<T>, D>(both, tape_ref());
}
/// An argument and its tangent as one of dual numbers.
template <class X, class V>
auto with_tangents(const X& x, const V& v) {
  if constexpr (array_expression<X>) {
    using T = value_type_t<X>;
    using D = device_type_t<X>;
    bool wanted = true;
    if constexpr (is_variable<X>) wanted = x.requires_grad();
    return dual_variable<T, D>(array_of(x), array_of(v), wanted);
  } else {
    dual_tree_t<X> r{};
    convert_trees(
        []<class To, class T, class D>(To& to, const variable<T, D>& from, const variable<T, D>& tangent) {
          constexpr bool lifts = ::std::is_same_v<To, variable<dual<T>, D>>;
          static_assert(lifts,
                        "cudarray: jvp: a variable of this tree is not what the tree is a template of: write the types "
                        "of all as template parameters, as in template <class V> struct layer { V w, b; }");
          if constexpr (lifts) to = dual_variable<T, D>(from.value(), tangent.value(), from.requires_grad());
        },
        r, x, v);
    return r;
  }
}
/// Part 0 or 1 of what a function returned, an array, a tree, or several of them; that of constants is 0.
template <int Part, class... Y>
auto part_of_value(const ::std::tuple<Y...>& several);
template <int Part, class Y>
auto part_of_value(const Y& y) {
  const auto part = []<class T, class D>(const ndarray<T, D>& a) {
    if constexpr (is_dual<T>) return ndarray<primal_t<T>, D>(copy_in_order(part_of<Part>(a)));
    else if constexpr (Part == 0) return a;
    else return ndarray<T, D>(zeros<T, D>(a.shape(), a.device()));
  };
  if constexpr (array_expression<Y>) {
    return part(array_of(y));
  } else {
    primal_tree_t<Y> r{};
    convert_trees([&part]<class To, class From>(To& to, const From& from) { to = To(part(from.value()), tape_ref()); },
                  r, y);
    return r;
  }
}

template <int Part, class... Y>
auto part_of_value(const ::std::tuple<Y...>& several) {
  return ::std::apply([](const auto&... y) { return ::std::make_tuple(part_of_value<Part>(y)...); }, several);
}

/// How many of the arguments before tangents there are: N with as many behind them as are differentiated.
template <class Positions, class... X>
constexpr int arguments_before_tangents() {
  constexpr int all = int(sizeof...(X));
  const bool holds[] = {holds_variables<X>()..., false};
  bool some = false;
  for (const bool h : holds) some = some || h;
  int wanted = 0, n = 0;
  if (Positions::size() > 0) return all - int(Positions::size());
  if (!some) return all % 2 == 0 ? all / 2 : -1;
  while (n < all && n + wanted < all) wanted += holds[n++];
  return n + wanted == all ? n : -1;
}
/// Which arguments are differentiated; and where its tangent is, in the list of all.
template <class Positions, class... X>
struct directions;
template <int... P, class... X>
struct directions<::std::integer_sequence<int, P...>, X...> {
  static constexpr int arguments = arguments_before_tangents<::std::integer_sequence<int, P...>, X...>();
  static constexpr bool by_variables = sizeof...(P) == 0 && (holds_variables<X>() || ...);
  static constexpr bool is(int position) {
    constexpr bool holds[] = {holds_variables<X>()..., false};
    if (by_variables) return holds[position];
    return sizeof...(P) == 0 || ((P == position) || ...);
  }
  static constexpr int tangent(int position) {
    int at = arguments;
    for (int i = 0; i < position; ++i) at += is(i);
    return at;
  }
};

/// Calls a function with dual numbers; the parts of its value.
template <class Positions, int... Parts, class F, class... X>
auto call_with_tangents(const char* name, const F& f, const X&... x) {
  using chosen = directions<Positions, X...>;
  if (constants_to() != 0)
    fail<value_error>(name, ": gradients of it are not recorded: it was called while a function is differentiated");
  const ::std::tuple<const X&...> all(x...);
  const auto argument = [&all](auto position) -> decltype(auto) {
    constexpr int at = decltype(position)::value, tangent = chosen::tangent(at);
    if constexpr (chosen::is(at)) return with_tangents(::std::get<at>(all), ::std::get<tangent>(all));
    else return (::std::get<at>(all));
  };
  const no_grad guard;
  return [&]<int... I>(::std::integer_sequence<int, I...>) {
    const ::std::tuple<decltype(argument(::std::integral_constant<int, I>()))...> given(
        argument(::std::integral_constant<int, I>())...);
    const auto y = ::std::apply([&f](const auto&... a) { return f(a...); }, given);
    return ::std::make_tuple(part_of_value<Parts>(y)...);
  }
  (::std::make_integer_sequence<int, chosen::arguments>{});
}
/// The first fault of an argument.
template <class Positions, class... X>
constexpr direction_fault fault_of_directions() {
  using chosen = directions<Positions, X...>;
  using list = ::std::tuple<X...>;
  direction_fault first = direction_fault::none;
  const auto look = [&first](auto position) {
    constexpr int at = decltype(position)::value, tangent = chosen::tangent(at);
    if constexpr (chosen::is(at))
      if (first == direction_fault::none)
        first = fault_of_direction<::std::tuple_element_t<::std::size_t(at), list>,
                                   ::std::tuple_element_t<::std::size_t(tangent), list>>();
  };
  [&]<int... I>(::std::integer_sequence<int, I...>) { (look(::std::integral_constant<int, I>()), ...); }
  (::std::make_integer_sequence<int, chosen::arguments>{});
  return first;
}
template <class Positions, int... Parts, class F, class... X>
auto call_in_direction(const char* name, const F& f, const X&... x) {
  constexpr bool fits = directions<Positions, X...>::arguments >= 0;
  static_assert(
      fits,
      "cudarray: jvp: behind the arguments of the function there is a tangent for each that is differentiated: "
      "for each that holds variables, for those at the positions that are named, or for all");
  if constexpr (fits && (check_tree<X>() && ...)) {
    constexpr direction_fault fault = fault_of_directions<Positions, X...>();
    static_assert(fault != direction_fault::dtype,
                  "cudarray: jvp: this argument's dtype has no derivatives: float16, bfloat16, float and double do; "
                  "derivatives of jvp itself are not offered");
    static_assert(fault != direction_fault::nothing,
                  "cudarray: jvp: an argument that derivatives are wanted by holds no variables, and is no array");
    static_assert(fault != direction_fault::tangent,
                  "cudarray: jvp: the tangent of an array is an array, that of a tree a tree of the same type");
    static_assert(fault != direction_fault::fixed,
                  "cudarray: jvp: this tree's type does not say what its variables are: make it a template, as "
                  "template <class V> struct layer { V w, b; }, and give layer<ca::variable<float>>");
    if constexpr (fault == direction_fault::none) return call_with_tangents<Positions, Parts...>(name, f, x...);
    else return ::std::tuple<int, int>();
  } else {
    return ::std::tuple<int, int>();
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The function `(x..., dx...) -> (value, derivative)` of a function: its value, and how that changes along tangents of
/// its arguments; as jax.jvp. One call of it, with dual numbers (`ca::dual`): nothing is recorded.
///
/// Behind the arguments there is one tangent for each that is differentiated: for those that hold variables, for those
/// at the positions that are named, or, where none does and none is, for all. A tangent is an array of the argument's
/// shape, or a tree like it; such a tree's type is a template of its variables' type, for the function is called with
/// `layer<ca::variable<ca::dual<float>>>` for `layer<ca::variable<float>>`. The value may be an array, or a tree.
///     auto [y, dy] = ca::jvp([](const auto& x) { return ca::sum(ca::tanh(x)); })(x, dx);
/// Throws shape_error where a tangent has another shape, value_error inside of `ca::value_and_grad` and its kin.
template <int... Positions, class F>
auto jvp(F f) {
  return [f = ::std::move(f)]<class... X>(const X&... x) {
    return detail::call_in_direction<::std::integer_sequence<int, Positions...>, 0, 1>("jvp", f,
                                                                                       detail::argument_of(x)...);
  };
}
/// The function `(x..., v...) -> H v` of a function whose value is one element: the product of its Hessian with v, the
/// derivative of its gradients in that direction. Arguments, and where v are, as `ca::jvp` has them; there is one
/// product for each v, as `ca::grad` returns them.
///     auto hv = ca::hvp(loss)(x, y, params, v);
/// What it computes is `ca::jvp(ca::grad(f))`, which has the gradients, too.
template <int... Positions, class F>
auto hvp(F f) {
  return [f = ::std::move(f)]<class... X>(const X&... x) {
    using positions = ::std::integer_sequence<int, Positions...>;
    const auto gradients = [&f]<class... A>(const A&... a) {
      if constexpr (detail::check_arguments<positions, F, A...>())
        return detail::gradients_at<positions, false>(f, a...);
      else return ::std::tuple<>();
    };
    return ::std::get<0>(detail::call_in_direction<positions, 1>("hvp", gradients, detail::argument_of(x)...));
  };
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
