// Statements that write several arrays: in one pass where these have one shape or are results of the same rows.
// SPDX-License-Identifier: MIT
#pragma once

#include "evaluate.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether two arrays that are written share memory.
inline bool share_memory(const storage* a, const layout& x, const storage* b, const layout& y) {
  const extent p = span_of(x), q = span_of(y);
  return a == b && x.elements() > 0 && y.elements() > 0 && p.first <= q.last && q.first <= p.last;
}
template <class T, class... More>
bool written_apart(const destination<T>& first, const destination<More>&... more) {
  if constexpr (sizeof...(More) == 0) return true;
  else return !(share_memory(first.store.get(), first.to, more.store.get(), more.to) || ...) && written_apart(more...);
}

/// Writes the results of row programs by one. False, and nothing is done, where they are none or it would read what it
/// writes.
template <class D, class... K, class... T>
bool run_rows_together(const map<together_op, K...>& n, int ordinal, const destination<T>&... to) {
  using N = map<together_op, K...>;
  if constexpr (is_row_program<N> && backend::row_programs<D>) {
    row_axes axes;
    if (!find_row_axes(n, axes)) return false;
    row_result how[sizeof...(K)];
    return [&]<int... J>(::std::integer_sequence<int, J...>) {
      return ((get<J>(n.kids).dims() == to.to.dims && find_row_result(get<J>(n.kids), axes, how[J]) &&
               !overlaps(to.store.get(), to.to, n, how[J] == row_result::by_element && !has_gather<N>)) &&
              ...) &&
             run_rows_of<D>(n, axes, how, ordinal, to...);
    }
    (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  } else {
    return false;
  }
}

/// The same of elements: all results have one shape.
template <class D, class... K, class T, class... More>
bool run_maps_together(const map<together_op, K...>& n, int ordinal, const destination<T>& first,
                       const destination<More>&... more) {
  using N = map<together_op, K...>;
  if constexpr (!has_reduce<N> && N::leaves + int(sizeof...(More)) <= most_leaves) {
    constexpr bool by_element = !has_gather<N>;
    if (!((more.to.dims == first.to.dims) && ...) || overlaps(first.store.get(), first.to, n, by_element) ||
        (overlaps(more.store.get(), more.to, n, by_element) || ...))
      return false;
    run_map<D>(n, ordinal, first, more...);
    return true;
  } else {
    return false;
  }
}

/// Whether an expression reads anything of a storage.
template <class N>
bool reads(const N& n, const storage* store) {
  bool any = false;
  for_each_leaf(n, [&](const auto& l) {
    if constexpr (requires { l.store; }) any = any || l.store.get() == store;
  });
  return any;
}
/// Writes one value after the other; those into what later ones read, when all are known.
template <class D, int J, class... K>
void assign_in_order(const map<together_op, K...>&) {}
template <class D, int J, class... K, class T, class... More>
void assign_in_order(const map<together_op, K...>& n, const destination<T>& to, const destination<More>&... more) {
  const auto& value = get<J>(n.kids);
  const bool read_later = [&]<int... L>(::std::integer_sequence<int, L...>) {
    return (reads(get<J + 1 + L>(n.kids), to.store.get()) || ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(More))>{});
  if constexpr (!is_scalar_node<::std::remove_cvref_t<decltype(value)>>)
    if (read_later) {
      count(counters.temporaries);
      const auto known = materialise(value);
      assign_in_order<D, J + 1>(n, more...);
      return assign<T, D>(to.store, to.to, known);
    }
  assign<T, D>(to.store, to.to, value);
  assign_in_order<D, J + 1>(n, more...);
}

/// Throws what `assign` does of wrong statements, and value_error where arrays that are written share memory.
template <class... K, class... T>
void check_statement(const map<together_op, K...>& n, const destination<T>&... to) {
  using N = map<together_op, K...>;
  [&]<int... J>(::std::integer_sequence<int, J...>) {
    (check_assignment(*to.store, to.to, get<J>(n.kids).dims()), ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  if constexpr (N::leaves > 0) {
    const leaf_list<N> leaves(n);
    (check_operands(*to.store, to.to.dims, leaves.of, N::leaves), ...);
  }
  if (!written_apart(to...)) fail<value_error>("assign_together: two of the arrays that are written share memory");
}

/// Writes several values, as if all were computed before the first is written. Nothing is written where it throws.
template <class D, class... K, class T, class... More>
void assign_several(const map<together_op, K...>& n, const destination<T>& first, const destination<More>&... more) {
  check_statement(n, first, more...);
  const int ordinal = first.store->ordinal;
  if constexpr (sizeof...(More) > 0)
    if (run_rows_together<D>(n, ordinal, first, more...) || run_maps_together<D>(n, ordinal, first, more...)) {
      count_write(*first.store);
      (count_write(*more.store), ...);
      return;
    }
  assign_in_order<D, 0>(n, first, more...);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
