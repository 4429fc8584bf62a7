// Several values of a statement: computed together, each written to an array of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "plan.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Makes several values of an expression's operands, as they are: `map<together_op, A, B>` computes A and B.
struct together_op {
  static constexpr bool lanes = true;
  template <class... A>
  struct types {
    using result = slots<A...>;
    template <int J>
    using operand = ::std::remove_cvref_t<decltype(get<J>(::std::declval<const result&>()))>;
  };
  CUDARRAY_EXEC_CHECK_OFF
  template <class... V>
  CUDARRAY_HD constexpr slots<V...> operator()(const V&... v) const {
    return {{v}...};
  }
};

template <class Indices, class... T>
inline constexpr bool has_lanes<slots_of<Indices, T...>> = (has_lanes<T> && ...);
template <class Indices, class... T>
inline constexpr int computed_bytes<slots_of<Indices, T...>> = [] {
  int most = 0;
  ((most = computed_bytes<T> > most ? computed_bytes<T> : most), ...);
  return most;
}();

/// Values as they were computed, each as its own type.
template <class To>
struct several_cast;
template <class Indices, class... T>
struct several_cast<slots_of<Indices, T...>> {
  CUDARRAY_EXEC_CHECK_OFF
  template <class V, int... J>
  CUDARRAY_HD static auto of(const V& v, ::std::integer_sequence<int, J...>) {
    return together_op{}(lane_cast<T>(get<J>(v))...);
  }
};
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail {
CUDARRAY_EXEC_CHECK_OFF
template <class To, class Indices, class... V>
CUDARRAY_HD auto lane_cast(const slots_of<Indices, V...>& v) {
  return several_cast<To>::of(v, ::std::make_integer_sequence<int, int(sizeof...(V))>{});
}
}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Stores several values, the first into operand 0, the others into operands from `First` on; those without a pointer
/// nowhere.
template <int First, class... T>
struct store_several {
  static constexpr int count = int(sizeof...(T));
  using value_type = slots<T...>;
  static constexpr bool direct = true;
  slots<T*...> p;

  static constexpr int operand(int j) { return j == 0 ? 0 : First + j - 1; }
  /// Calls `f<J, Ix>(pointer)` for value J, which operand Ix is for.
  CUDARRAY_EXEC_CHECK_OFF
  template <class F>
  CUDARRAY_HD constexpr void each(const F& f) const {
    each(p, f, ::std::make_integer_sequence<int, count>{});
  }
  template <class F>
  void each(const F& f) {
    each(p, f, ::std::make_integer_sequence<int, count>{});
  }
  template <class A, class V>
  void operator()(const A& a, const V& v) const {
    each([&]<int J, int Ix, class P>(P* to) {
      if (to != nullptr) *a.template at<Ix>(to) = lane_cast<P>(get<J>(v));
    });
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <class P, class F, int... J>
  CUDARRAY_HD static constexpr void each(P& pointers, const F& f, ::std::integer_sequence<int, J...>) {
    (f.template operator()<J, operand(J)>(get<J>(pointers)), ...);
  }
};

/// What a target is given of a tree: of several values those that are stored.
CUDARRAY_EXEC_CHECK_OFF
template <class Target, class Tree, class A>
CUDARRAY_HD auto stored_values(const Target&, const Tree& tree, const A& a) {
  return tree(a);
}
template <int First, class... T, class Types, class... K, class A>
auto stored_values(const store_several<First, T...>& target, const apply<together_op, Types, K...>& tree, const A& a) {
  slots<decltype(::std::declval<const K&>()(a))...> v{};
  target.each([&]<int J, int Ix>(const auto* to) {
    if (to != nullptr) get<J>(v) = get<J>(tree.kids)(a);
  });
  return v;
}

/// How many arrays a target is.
template <class Target>
inline constexpr int results_of = 1;
template <int First, class... T>
inline constexpr int results_of<store_several<First, T...>> = int(sizeof...(T));

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
