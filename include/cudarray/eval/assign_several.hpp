// Statements that write several arrays: in one pass where these have one shape or are results of the same rows.
// SPDX-License-Identifier: MIT
#pragma once

#include "evaluate.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether no two arrays that are written share elements.
template <class T, class... More>
bool written_apart(const destination<T>& first, const destination<More>&... more) {
  if constexpr (sizeof...(More) == 0) return true;
  else
    return !((first.store.get() == more.store.get() && may_share(first.to, more.to)) || ...) && written_apart(more...);
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
  if constexpr (!has_reduce<N>) {
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
/// Writes one value after the other, the last by `write`, which is given what writes those before it. A value that
/// reads what an earlier one writes, or may, is computed before the first is written.
template <class D, int J, class... K, class Write>
void assign_in_order(const map<together_op, K...>&, const storage* const*, const Write& write) {
  write();
}
template <class D, int J, class... K, class Write, class T, class... More>
void assign_in_order(const map<together_op, K...>& n, const storage* const* written, const Write& write,
                     const destination<T>& to, const destination<More>&... more) {
  const auto with = [&](const auto& value) {
    assign_in_order<D, J + 1>(
        n, written,
        [&] {
          write();
          assign<T, D>(to.store, to.to, value);
        },
        more...);
  };
  const auto& value = get<J>(n.kids);
  bool reads_written = false;
  for (int k = 0; k < J; ++k) reads_written = reads_written || reads(value, written[k]);
  if constexpr (::std::remove_cvref_t<decltype(value)>::leaves > 0)
    if (reads_written) {
      count(counters.temporaries);
      return with(materialise(value));
    }
  with(value);
}

/// Throws what `assign` does of wrong statements. All arrays and operands are on one device.
template <class... K, class... T>
void check_statement(const map<together_op, K...>& n, const destination<T>&... to) {
  using N = map<together_op, K...>;
  [&]<int... J>(::std::integer_sequence<int, J...>) {
    (check_assignment(*to.store, to.to, get<J>(n.kids).dims()), ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  const leaf_use written[] = {{to.store.get(), &to.to, 0, to.store->ordinal, nullptr}...};
  (void)common_ordinal(written, int(sizeof...(T)));
  if constexpr (N::leaves > 0) {
    const leaf_list<N> leaves(n);
    (check_operands(*to.store, to.to.dims, leaves.of, N::leaves), ...);
  }
}

/// Writes several values, as if all were computed before the first is written; where arrays share elements, the last
/// value is theirs. Nothing is written where the check throws.
template <class D, class... K, class... T>
void assign_several(const map<together_op, K...>& n, const destination<T>&... to) {
  constexpr int results = int(sizeof...(T));
  check_statement(n, to...);
  const storage* const written[] = {to.store.get()...};
  if constexpr (results > 1 && map<together_op, K...>::leaves + results - 1 <= most_leaves)
    if (const int ordinal = written[0]->ordinal;
        written_apart(to...) && (run_rows_together<D>(n, ordinal, to...) || run_maps_together<D>(n, ordinal, to...)))
      return (count_write(*to.store, to.to, sizeof(T)), ...);
  assign_in_order<D, 0>(
      n, written, [] {}, to...);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
