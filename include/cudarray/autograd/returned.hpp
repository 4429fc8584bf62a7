// What functions that are differentiated return: a value, or a tuple of that and results beside it.
// SPDX-License-Identifier: MIT
#pragma once

#include "tree.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A result of a function beside its value, as what no gradient goes through: expressions are evaluated, variables are
/// no functions any more, and what holds references is copied.
template <class X>
struct other_result {
  static constexpr bool evaluated = array_expression<X> && !is_variable<X>;
  /// Whether no variable is hidden in it, or referred to.
  static constexpr bool known = [] {
    if constexpr (evaluated) return true;
    else return !holds<tree_kind::unknown, X>() && copies_variables<X>();
  }();
  static auto of(X&& x) {
    if constexpr (evaluated) {
      return array_of(x);
    } else {
      if constexpr (holds_variables<X>()) walk_trees([]<class V>(V& v) { v = V(v.value(), tape_ref()); }, x);
      return X(::std::move(x));
    }
  }
};
template <class X>
auto as_other_result(X&& x) {
  using own = ::std::remove_cvref_t<X>;
  return other_result<own>::of(own(::std::forward<X>(x)));
}
template <class... X>
struct other_result<::std::tuple<X...>> {
  static constexpr bool known = (other_result<::std::remove_cvref_t<X>>::known && ...);
  static auto of(::std::tuple<X...>&& t) {
    return ::std::apply(
        [](auto&&... x) {
          return ::std::tuple<decltype(as_other_result(static_cast<X&&>(x)))...>(
              as_other_result(static_cast<X&&>(x))...);
        },
        ::std::move(t));
  }
};
template <class X, class Y>
struct other_result<::std::pair<X, Y>> {
  static constexpr bool known =
      other_result<::std::remove_cvref_t<X>>::known && other_result<::std::remove_cvref_t<Y>>::known;
  static auto of(::std::pair<X, Y>&& p) {
    return ::std::make_pair(as_other_result(::std::forward<X>(p.first)), as_other_result(::std::forward<Y>(p.second)));
  }
};

/// What a function returns: its value, or a tuple of that and results beside it.
template <class Y>
struct returned {
  using value_type = Y;
  static constexpr bool known = true;  ///< what is beside the value
  static const Y& value(const Y& y) { return y; }
  static ::std::tuple<> others(Y&&) { return {}; }
};
template <class Y, class... X>
struct returned<::std::tuple<Y, X...>> {
  using value_type = ::std::remove_cvref_t<Y>;
  using tuple = ::std::tuple<Y, X...>;
  static constexpr bool known = other_result<::std::tuple<X...>>::known;
  static const value_type& value(const tuple& y) { return ::std::get<0>(y); }
  static auto others(tuple&& y) {
    return ::std::apply(
        [](auto&&, auto&&... x) {
          return other_result<::std::tuple<X...>>::of(::std::tuple<X...>(static_cast<X&&>(x)...));
        },
        ::std::move(y));
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
