// Evaluation: staleness and aliasing are checked, inner reductions materialised, the rest lowered and run.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/build.hpp"
#include "../memory/stats.hpp"
#include "align.hpp"
#include "entries.hpp"
#include "leaves.hpp"
#include "row_axes.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

template <class N>
inline constexpr bool has_reduce = false;
template <class Op, class K>
inline constexpr bool has_reduce<reduce<Op, K>> = true;
template <class Op, class... K>
inline constexpr bool has_reduce<map<Op, K...>> = (has_reduce<K> || ...);
template <class T, class D, class Ix>
inline constexpr bool has_reduce<gather<T, D, Ix>> = has_reduce<Ix>;

/// Whether a node is a reduction or what is computed of one and scalars: each result passes through that on its way.
template <class N>
inline constexpr bool ends_in_reduce = false;
template <class Op, class K>
inline constexpr bool ends_in_reduce<reduce<Op, K>> = true;
template <class Op, class... K>
inline constexpr bool ends_in_reduce<map<Op, K...>> = (0 + ... + int(ends_in_reduce<K>)) == 1 &&
                                                      ((ends_in_reduce<K> || K::leaves == 0) && ...);

template <class N>
inline constexpr bool has_gather = false;
template <class Op, class K>
inline constexpr bool has_gather<reduce<Op, K>> = has_gather<K>;
template <class Op, class... K>
inline constexpr bool has_gather<map<Op, K...>> = (has_gather<K> || ...);
template <class T, class D, class Ix>
inline constexpr bool has_gather<gather<T, D, Ix>> = true;

/// Whether elements of a node may be an error that is found where they are computed.
template <class N>
inline constexpr bool may_fault = has_gather<N>;
template <class Op, class K>
inline constexpr bool may_fault<reduce<Op, K>> = may_fault<K>;
template <class Op, class... K>
inline constexpr bool may_fault<map<Op, K...>> = requires {
  Op::may_fault;
}
|| (may_fault<K> || ...);

/// The value in new memory, in C order; `Fused`: by a row program where it is one.
template <bool Fused = true, class N>
auto materialise(const N& n) -> leaf<node_value_t<N>, device_type_t<N>>;

/// The same expression with every inner reduction, and what exceeds a plan's size, replaced by its value.
template <class N>
requires(!has_reduce<N> && N::leaves <= most_leaves) const N& materialise_reductions(const N& n) { return n; }
template <class N>
requires(ends_in_reduce<N>) auto materialise_reductions(const N& n) {
  count(counters.temporaries);
  return materialise<false>(n);
}
template <class T, class D, class Ix>
requires(has_reduce<Ix>) auto materialise_reductions(const gather<T, D, Ix>& n) {
  auto index = materialise_reductions(n.index);
  return gather<T, D, decltype(index)>{{}, n.source, index, n.axis, n.extents, n.function, n.along};
}
template <int Siblings, class K>
auto materialise_kid(const K& k) {
  if constexpr (K::leaves * Siblings > most_leaves) {
    count(counters.temporaries);
    return materialise(k);
  } else {
    return materialise_reductions(k);
  }
}
template <class Op, class... K>
requires((has_reduce<map<Op, K...>> || map<Op, K...>::leaves > most_leaves) &&
         !ends_in_reduce<map<Op, K...>>) auto materialise_reductions(const map<Op, K...>& n) {
  return [&]<int... Ix>(::std::integer_sequence<int, Ix...>) {
    constexpr bool split = map<Op, K...>::leaves > most_leaves;
    const auto kid = [](const auto& k) {
      if constexpr (split) return materialise_kid<int(sizeof...(K))>(k);
      else return materialise_reductions(k);
    };
    return [&](auto... done) {
      return map<Op, decltype(done)...>(
          n.op, [&] { return n.extents; }, [&] { return slots<decltype(done)...>{{done}...}; });
    }(kid(get<Ix>(n.kids))...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Runs `body(faults)` with where its plan reports to; a synchronous device's fault is thrown here, when storages have
/// been written all the same.
template <class N, class D, class F, class... S>
void with_faults(D device, const F& body, const S&... written) {
  if constexpr (!may_fault<N>) {
    body(fault_sink{});
  } else if constexpr (D::synchronous) {
    fault_record fault;
    body(fault_sink{&fault});
    if (fault.is_set()) (count_write(*written), ...);
    throw_fault(fault);
  } else {
    body(fault_slot(device));
  }
}

/// Where a value is written.
template <class T>
struct destination {
  const storage_ref& store;
  const layout& to;
  T* data() const { return static_cast<T*>(store->data) + to.offset; }
};

/// Places what is written as operand 0 of a space and, of several arrays, those from `First` on. Axis d of array j is
/// axis `axis_of[j][d]`.
template <int First, class Space, class T, class... More>
auto place_results(Space& s, const int* const* axis_of, const destination<T>& first, const destination<More>&... more) {
  place<0>(s, first.to.dims, first.to.stride, axis_of[0], first.store.get());
  if constexpr (sizeof...(More) == 0) {
    return store_to<T>{first.data()};
  } else {
    [&]<int... J>(::std::integer_sequence<int, J...>) {
      (place<First + J>(s, more.to.dims, more.to.stride, axis_of[1 + J], more.store.get()), ...);
    }
    (::std::make_integer_sequence<int, int(sizeof...(More))>{});
    return store_several<First, T, More...>{{{first.data()}, {more.data()}...}};
  }
}

/// Writes a checked expression to where nothing it reads lies: one value, or several of one shape. The shapes fit.
template <class D, class N, class T, class... More>
CUDARRAY_NO_INLINE void run_map(const N& n, int ordinal, const destination<T>& first,
                                const destination<More>&... more) {
  const D device{ordinal};
  const auto body = [&](const fault_sink& faults) {
    const shape& full = first.to.dims;
    if (full.elements() == 0) return;
    constexpr int operands = 1 + N::leaves;
    iteration_space<operands + int(sizeof...(More))> s;
    s.ndim = s.kept = full.ndim();
    copy_extents(s.extent, full);
    const int* axis_of[1 + sizeof...(More)];
    for (const int*& of : axis_of) of = same_axes;
    const auto target = place_results<operands>(s, axis_of, first, more...);
    const auto tree = lower<1>(n, same_axes + (full.ndim() - n.dims().ndim()), s, faults);
    simplify(s, true);
    run_elementwise(device, target, tree, s);
  };
  with_faults<N>(device, body, first.store, more.store...);
}
template <class T, class D, class N>
void run(const storage_ref& store, const layout& to, const N& n, int ordinal) {
  run_map<D>(n, ordinal, destination<T>{store, to});
}

template <class Op, class K>
const reduce<Op, K>& reduction_in(const reduce<Op, K>& n) {
  return n;
}
template <class Op, class... K>
const auto& reduction_in(const map<Op, K...>& n) {
  constexpr int at = [] {
    constexpr bool is[] = {ends_in_reduce<K>...};
    int k = 0;
    while (!is[k]) ++k;
    return k;
  }();
  return reduction_in(get<at>(n.kids));
}

/// Where the results of a reduction go.
template <class T, class Op, class K, class Space>
store_to<T> results_to(T* p, const reduce<Op, K>&, Space&) {
  return {p};
}
template <class T, class N, class Space>
auto results_to(T* p, const N& n, Space& s) {
  const auto through = lower<1>(n, same_axes, s, fault_sink{});
  return store_through<T, ::std::remove_cv_t<decltype(through)>>{p, through};
}

template <class T, class D, class N>
requires(ends_in_reduce<N>) CUDARRAY_NO_INLINE
    void run(const storage_ref& store, const layout& to, const N& whole, int ordinal) {
  const auto& n = reduction_in(whole);
  using Op = ::std::remove_cvref_t<decltype(n.op)>;
  const D device{ordinal};
  const auto& kid = materialise_reductions(n.kid);
  using kid_type = ::std::remove_cvref_t<decltype(kid)>;
  const auto body = [&](const fault_sink& faults) {
    if (to.elements() == 0) return;
    const shape& full = kid.dims();
    iteration_space<1 + kid_type::leaves> s;
    s.ndim = full.ndim();
    const bool keepdims = n.extents.ndim() == full.ndim();
    int axis_of[max_rank] = {};
    int result_axis = 0;
    for (int d = 0; d < full.ndim(); ++d) {
      const bool reduced = n.over >> d & 1u;
      if (!reduced) {
        s.extent[s.kept] = full[d];
        s.stride[0][s.kept] = full[d] == 1 ? 0 : to.stride[result_axis];
        axis_of[d] = s.kept++;
      }
      result_axis += !reduced || keepdims;
    }
    int next = s.kept;
    for (int d = 0; d < full.ndim(); ++d)
      if (n.over >> d & 1u) {
        s.extent[next] = full[d];
        axis_of[d] = next++;
      }
    s.store[0] = store.get();
    const auto lowered = lower<1>(kid, axis_of, s, faults);
    simplify(s, !Op::indexed);
    storage_ref copies[1 + kid_type::leaves];
    const auto tree = align_operands(device, lowered, s, copies);
    run_reduce(device, results_to(static_cast<T*>(store->data) + to.offset, whole, s), tree, n.op, s);
  };
  with_faults<kid_type>(device, body, store);
}

/// Lowers what is outside of reductions, each of several values to axes of its own.
template <int Ix, int Values, class List, class Kept, class N, class Space>
auto lower_results(const N& n, const int* const* axis_of, Space& s, const fault_sink& faults) {
  return lower_around<Ix, Values, List, Kept>(n, axis_of[0], s, faults);
}
template <int Ix, int Values, class List, class Kept, class... K, class Space>
auto lower_results(const map<together_op, K...>& n, const int* const* axis_of, Space& s, const fault_sink& faults) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return apply_of<together_op, together_op::types<node_value_t<K>...>>(
        n.op, lower_around<first_leaf<Ix, J, K...>(), Values, List, Kept>(get<J>(n.kids), axis_of[J], s, faults)...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Writes a row program at once: one value, or several, which lie as `how` says. False, and nothing is done, where the
/// device does not have it.
template <class D, class N, class... T>
CUDARRAY_NO_INLINE bool run_rows_of(const N& n, const row_axes& axes, const row_result* how, int ordinal,
                                    const destination<T>&... to) {
  using list = reductions_of<N>;
  constexpr int operands = 1 + N::leaves, results = int(sizeof...(T)), values = operands + results - 1;
  bool done = false;
  const auto body = [&](const fault_sink& faults) {
    iteration_space<values> s;
    s.ndim = axes.full.ndim();
    s.kept = s.ndim - __builtin_popcount(axes.over);
    int inside[max_rank] = {}, outside[::std::size_t(results)][max_rank] = {};
    const int* axis_of[::std::size_t(results)];
    axes.map_axes(inside, row_result::by_element);
    for (int j = 0; j < results; ++j) axes.map_axes(outside[j], how[j]), axis_of[j] = outside[j];
    for (int d = 0; d < s.ndim; ++d) s.extent[inside[d]] = axes.full[d];
    const auto target = place_results<operands>(s, axis_of, to...);
    const auto program = [&]<class... R>(reduction_list<R...>) {
      const auto step = [&]<class S>(::std::type_identity<S>) {
        return at_first<S, 1>(n, [&]<int Ix>(const S& r) {
          const auto tree = lower_around<Ix, values, list>(r.kid, inside, s, faults);
          constexpr bool keeps = keeps_first<S, list, kept_of<N>>;
          return row_step<::std::remove_cvref_t<decltype(r.op)>, reduction_depth<S> - 1, keeps, node_value_t<S>,
                          ::std::remove_cv_t<decltype(tree)>>{tree};
        });
      };
      const auto tree = lower_results<1, values, list, kept_of<N>>(n, axis_of, s, faults);
      return row_program<reduction_depth<N>, ::std::remove_cv_t<decltype(tree)>,
                         decltype(step(::std::type_identity<R>{}))...>{{{step(::std::type_identity<R>{})}...}, tree};
    }(list{});
    simplify(s, false);
    if (s.ndim == s.kept) {  // rows of one element
      for (auto& stride : s.stride) stride[s.ndim] = 0;
      s.extent[s.ndim++] = 1;
    }
    done = s.ndim == s.kept + 1 && run_row_program(D{ordinal}, target, program, s);
  };
  with_faults<N>(D{ordinal}, body, to.store...);
  return done;
}
/// The same, where that reads nothing that it writes.
template <class T, class D, class N>
bool run_rows_if(const storage_ref& store, const layout& to, const N& n, int ordinal) {
  if constexpr (is_row_program<N> && backend::row_programs<D>) {
    row_axes axes;
    row_result how;
    return n.dims() == to.dims && find_row_axes(n, axes) && find_row_result(n, axes, how) &&
           !overlaps(store.get(), to, n, how == row_result::by_element && !has_gather<N>) &&
           run_rows_of<D>(n, axes, &how, ordinal, destination<T>{store, to});
  } else {
    return false;
  }
}

/// The same for any expression: inner reductions, and what exceeds a plan, are materialised first.
template <class T, class D, bool Fused = true, class N>
void compute(const storage_ref& store, const layout& to, const N& n, int ordinal) {
  if constexpr (Fused)
    if (run_rows_if<T, D>(store, to, n, ordinal)) return;
  if constexpr (ends_in_reduce<N>) run<T, D>(store, to, n, ordinal);
  else run<T, D>(store, to, materialise_reductions(n), ordinal);
}

template <bool Fused, class N>
auto materialise(const N& n) -> leaf<node_value_t<N>, device_type_t<N>> {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  const int ordinal = check_leaves(n);
  leaf<T, D> r = new_leaf<T>(D{ordinal}, n.dims());
  compute<T, D, Fused>(r.store, r.where, n, ordinal);
  return r;  // as it was made: what nobody else has seen needs no count of writes
}
/// New memory for the value of an expression: what is computed element by element keeps the operands' order.
template <class N>
layout result_layout(const N& n, const leaf_list<N>& leaves) {
  if constexpr (ends_in_reduce<N> || has_gather<N>) return c_layout(n.dims());
  else return kept_layout(n.dims(), leaves.of, N::leaves);
}
/// The value of an expression in such memory.
template <class N>
auto evaluate(const N& n) -> leaf<node_value_t<N>, device_type_t<N>> {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  const leaf_list<N> leaves(n);
  const int ordinal = check_leaves(leaves.of, N::leaves);
  leaf<T, D> r = new_leaf<T>(D{ordinal}, result_layout(n, leaves));
  compute<T, D>(r.store, r.where, n, ordinal);
  return r;
}

/// Throws value_error where an array must not be written.
inline void check_writable(const storage& s, const layout& l) {
  if (s.read_only) fail<value_error>("assignment: the array borrows const memory, so it is read-only");
  if (l.read_only)
    fail<value_error>("assignment: the array of shape ", l.dims,
                      " is read-only, a view of a broadcast array: write into a .copy()");
}
/// Throws that, or shape_error where a value of the shape `from` does not fit.
inline void check_assignment(const storage& s, const layout& to, const shape& from) {
  check_writable(s, to);
  if (from != to.dims && broadcast_shapes("assignment", to.dims, from) != to.dims)
    fail<shape_error>("assignment: shape ", from, " does not broadcast to ", to.dims);
}
/// Throws what check_leaves does, and device_error for leaves on another ordinal than what is written, if anything is.
inline void check_operands(const storage& s, const shape& to, const leaf_use* of, int count) {
  if (const int other = check_leaves(of, count); other != s.ordinal && to.elements() > 0)
    fail<device_error>("assignment: operands on devices ", s.ordinal, " and ", other, ": move one with ca::to");
}

/// Writes an expression into an array, broadcasting and converting. Alias-safe; a temporary is made only if needed.
template <class T, class D, class N>
void assign(const storage_ref& store, const layout& to, const N& n) {
  if (n.dims().ndim() > to.ndim())
    if (const layout wide = with_leading_axes(to, n.dims()); wide.ndim() > to.ndim())
      return assign<T, D>(store, wide, n);
  check_assignment(*store, to, n.dims());
  if constexpr (is_scalar_node<N>) {
    run<T, D>(store, to, n, store->ordinal);
  } else {
    const leaf_list<N> leaves(n);
    check_operands(*store, to.dims, leaves.of, N::leaves);
    if (run_rows_if<T, D>(store, to, n, store->ordinal)) return count_write(*store, to, sizeof(T));
    const auto write = [&](const auto& node, bool at_once) {
      if (at_once) return run<T, D>(store, to, node, store->ordinal);
      count(counters.temporaries);
      run<T, D>(store, to, materialise(node), store->ordinal);
    };
    constexpr bool as_it_is = ends_in_reduce<N> || (!has_reduce<N> && N::leaves <= most_leaves);
    if constexpr (as_it_is) {
      constexpr bool by_element = !ends_in_reduce<N> && !has_gather<N>;
      const bool fits = !ends_in_reduce<N> || n.dims() == to.dims;  // a reduction does not broadcast its results
      write(n, fits && !overlaps(store.get(), to, leaves.of, N::leaves, by_element));
    } else {
      const auto materialised = materialise_reductions(n);
      write(materialised, !overlaps(store.get(), to, materialised, !has_gather<N>));
    }
  }
  count_write(*store, to, sizeof(T));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
