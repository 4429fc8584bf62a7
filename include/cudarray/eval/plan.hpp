// Plans: trivially copyable trees of functors over raw pointers, the only thing that enters a loop or a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/math.hpp"
#include "../expr/node.hpp"
#include "fault.hpp"
#include "space.hpp"

/// A tree is called with an access object of the backend, which says where in the iteration space it stands:
///   `a.load<Ix>(p)`   the lanes of operand Ix at this place
///   `a.at<Ix>(p)`     the address of its element (scalar accesses only)
///   `a.splat(v)`     a scalar as lanes
///   `a.generate<Ix>(g)`  lanes of a function of the logical index
///   `a.apply(op, v...)` op on lanes
///   `a.distance<Ix>(k)`  how many elements operand Ix has come from its first, at lane k
/// and, where it has several lanes and takes gathering trees, `a.gather<Ix>(g)`, the lanes that g.index picks.
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Types that SIMD packs have lanes of.
template <class T>
inline constexpr bool has_lanes = ::std::is_arithmetic_v<compute_t<primal_t<T>>> &&
                                  (CUDARRAY_HD_HOLDS_PACKS || !is_dual<T>);
/// Bytes of what values of a type are computed in.
template <class T>
inline constexpr int computed_bytes = int(sizeof(compute_t<T>));

template <int Ix, class T>
struct load {
  static constexpr int operand = Ix;
  using value_type = T;
  static constexpr bool packable = has_lanes<T>;
  static constexpr int widest = computed_bytes<T>;
  const T* p;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    return a.template load<Ix>(p);
  }
};

template <class T>
struct constant {
  using value_type = T;
  static constexpr bool packable = has_lanes<T>;
  static constexpr int widest = computed_bytes<T>;
  T v;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    return a.splat(v);
  }
};

template <int Ix, class G>
struct generated {
  static constexpr int operand = Ix;
  using value_type = typename G::value_type;
  static constexpr bool packable = has_lanes<value_type>;
  static constexpr int widest = computed_bytes<value_type>;
  G function;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    return a.template generate<Ix>(function);
  }
};

template <int Ix, class T, class Index>
struct gathered;
template <class Op, class Types, class... K>
struct apply;

/// The first operand that a tree reads or generates; -1 where it has none.
template <class Tree>
inline constexpr int first_operand = -1;
template <class Tree>
requires requires { Tree::operand; }
inline constexpr int first_operand<Tree> = Tree::operand;
template <int Ix, class T, class Index>
inline constexpr int first_operand<gathered<Ix, T, Index>> = first_operand<Index>;
template <class Op, class Types, class... K>
inline constexpr int first_operand<apply<Op, Types, K...>> = [] {
  int first = -1;
  ((first = first < 0 ? first_operand<K> : first), ...);
  return first;
}();

/// Where an index stands among all of them: how far its first operand has come. That is the order of an array in C
/// order, and of the memory of others.
CUDARRAY_EXEC_CHECK_OFF
template <class Index, class A>
CUDARRAY_HD int64 position_of(const A& a, int lane = 0) {
  if constexpr (first_operand<Index> < 0) return 0;
  else return a.template distance<first_operand<Index>>(lane);
}

template <int Ix, class T, class Index>
struct gathered {
  static constexpr int operand = Ix;
  using value_type = T;
  static constexpr bool packable = has_lanes<T>;
  static constexpr int widest = computed_bytes<T>;
  const T* p;
  Index index;
  int64 stride, limit;
  fault_site fault;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    if constexpr (requires { a.template gather<Ix>(*this); }) {
      return a.template gather<Ix>(*this);
    } else {
      int64 k = int64(index(a));
      if (!resolve_index(k, limit, fault, position_of<Index>(a))) return T{};
      return read_element(a.template at<Ix>(p) + k * stride);
    }
  }
};

template <class Op, class Types, class... K>
struct apply {
  using value_type = typename Types::result;
  static constexpr bool packable = has_lanes<value_type> && (K::packable && ...);
  static constexpr int widest = []<int... J>(::std::integer_sequence<int, J...>) {
    int w = computed_bytes<value_type>;
    const auto include = [&w](int bytes) { w = bytes > w ? bytes : w; };
    ((include(K::widest), include(computed_bytes<typename Types::template operand<J>>)), ...);
    return w;
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
  Op op;
  slots<K...> kids;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto operator()(const A& a) const {
    return lane_cast<value_type>(computed(a));
  }
  /// What comes out of the function, before it is converted to what the value is.
  CUDARRAY_EXEC_CHECK_OFF
  template <class A>
  CUDARRAY_HD auto computed(const A& a) const {
    return call(a, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <class A, int... J>
  CUDARRAY_HD auto call(const A& a, ::std::integer_sequence<int, J...>) const {
    return a.apply(op, lane_cast<compute_t<typename Types::template operand<J>>>(get<J>(kids)(a))...);
  }
};

template <class Op, class Types, class... K>
CUDARRAY_HD constexpr apply<Op, Types, K...> apply_of(const Op& op, const K&... kids) {
  return {op, {{kids}...}};
}

/// True if all functions of a tree have a form for lanes: these may be computed where nothing is kept of them. A user's
/// function sees the elements that there are, once each.
template <class Tree>
inline constexpr bool in_lanes = true;
template <int Ix, class T, class X>
inline constexpr bool in_lanes<gathered<Ix, T, X>> = in_lanes<X>;
template <class Op, class Types, class... K>
inline constexpr bool in_lanes<apply<Op, Types, K...>> = Op::lanes && (in_lanes<K> && ...);

/// True if a tree reads elements that an index picks.
template <class Tree>
inline constexpr bool has_gathered = false;
template <int Ix, class T, class X>
inline constexpr bool has_gathered<gathered<Ix, T, X>> = true;
template <class Op, class Types, class... K>
inline constexpr bool has_gathered<apply<Op, Types, K...>> = (has_gathered<K> || ...);

/// Calls `f` for every leaf of a tree; for one that gathers, after the leaves of its index.
CUDARRAY_EXEC_CHECK_OFF
template <class Leaf, class F>
CUDARRAY_HD constexpr void for_each_operand(const Leaf& l, F&& f) {
  f(l);
}
CUDARRAY_EXEC_CHECK_OFF
template <int Ix, class T, class X, class F>
CUDARRAY_HD constexpr void for_each_operand(const gathered<Ix, T, X>& g, F&& f) {
  for_each_operand(g.index, f);
  f(g);
}
CUDARRAY_EXEC_CHECK_OFF
template <class Op, class Types, class... K, class F>
CUDARRAY_HD constexpr void for_each_operand(const apply<Op, Types, K...>& a, F&& f) {
  for_each_operand(a, f, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}
CUDARRAY_EXEC_CHECK_OFF
template <class Tree, class F, int... J>
CUDARRAY_HD constexpr void for_each_operand(const Tree& a, F&& f, ::std::integer_sequence<int, J...>) {
  (for_each_operand(get<J>(a.kids), f), ...);
}

/// Stores into operand 0.
template <class T>
struct store_to {
  using value_type = T;
  static constexpr bool direct = true;
  T* p;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A, class V>
  CUDARRAY_HD void operator()(const A& a, V v) const {
    *a.template at<0>(p) = lane_cast<T>(v);
  }
};

/// Values, as a tree that reads nothing else sees them: they are its loads from `First` on.
template <int First, class Values>
struct values_access {
  const Values& values;
  template <int Ix, class T>
  CUDARRAY_HD auto load(const T*) const {
    return get<Ix - First>(values);
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

/// Stores into operand 0 what a tree makes of a value, its only load.
template <class T, class Tree>
struct store_through {
  using value_type = T;
  static constexpr bool direct = true;
  T* p;
  Tree through;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A, class V>
  CUDARRAY_HD void operator()(const A& a, V v) const {
    *a.template at<0>(p) = lane_cast<T>(through(values_access<1, slots<V>>{{{v}}}));
  }
};

/// The same tree, in which `f(load)` stands for every load but those of an index.
template <class Leaf, class F>
Leaf with_loads(const Leaf& l, const F&) {
  return l;
}
template <int Ix, class T, class F>
load<Ix, T> with_loads(const load<Ix, T>& l, const F& f) {
  return f(l);
}
template <class Op, class Types, class... K, class F>
apply<Op, Types, K...> with_loads(const apply<Op, Types, K...>& a, const F& f) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return apply_of<Op, Types>(a.op, with_loads(get<J>(a.kids), f)...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Stores into operand 0 at a place picked by an index tree.
template <class T, class Index>
struct scatter_to {
  using value_type = T;
  static constexpr bool direct = false;
  T* p;
  Index index;
  int64 stride, limit;
  fault_site fault;
  CUDARRAY_EXEC_CHECK_OFF
  template <class A, class V>
  CUDARRAY_HD void operator()(const A& a, V v) const {
    int64 k = int64(index(a));
    if (resolve_index(k, limit, fault, position_of<Index>(a))) a.template at<0>(p)[k * stride] = lane_cast<T>(v);
  }
};
CUDARRAY_EXEC_CHECK_OFF
template <class T, class Index, class F>
CUDARRAY_HD constexpr void for_each_operand(const scatter_to<T, Index>& t, F&& f) {
  for_each_operand(t.index, f);
}

/// Where a node's axes are those of the space.
inline constexpr int same_axes[max_rank] = {0, 1, 2, 3, 4, 5, 6, 7};

/// Lowers a materialised node. Axis d of the node is axis `axis_of[d]` of the space; its leaves are operands Ix, Ix +
/// 1, ... Extents of 1 get stride 0: they repeat.
template <int Ix, class Space>
void place(Space& s, const shape& dims, const int64* stride, const int* axis_of, storage* store) {
  place_axes(s.stride[Ix], dims, stride, axis_of);
  s.store[Ix] = store;
}

template <int Ix, class T, class Space>
load<Ix, T> lower_array(const storage_ref& store, const layout& where, const int* axis_of, Space& s) {
  // an empty array goes with any device
  place<Ix>(s, where.dims, where.stride, axis_of, where.elements() > 0 ? store.get() : nullptr);
  return {static_cast<const T*>(store->data) + where.offset};
}
template <int Ix, class T, class D, class Space>
auto lower(const leaf<T, D>& n, const int* axis_of, Space& s, const fault_sink&) {
  return lower_array<Ix, T>(n.store, n.where, axis_of, s);
}
template <int Ix, class T, class D, class Space>
auto lower(const borrowed_leaf<T, D>& n, const int* axis_of, Space& s, const fault_sink&) {
  return lower_array<Ix, T>(n.store, n.where, axis_of, s);
}

template <int Ix, class T, class Space>
auto lower(const scalar<T>& n, const int*, Space&, const fault_sink&) {
  return constant<T>{n.value};
}

/// A reduction that a statement ends in: its result.
template <int Ix, class Op, class K, class Space>
auto lower(const reduce<Op, K>&, const int*, Space&, const fault_sink&) {
  return load<1, node_value_t<reduce<Op, K>>>{nullptr};
}

template <int Ix, class G, class D, class Space>
auto lower(const generate<G, D>& n, const int* axis_of, Space& s, const fault_sink&) {
  place<Ix>(s, n.extents, c_layout(n.extents).stride, axis_of, nullptr);
  return generated<Ix, G>{n.function};
}

template <int Ix, class T, class D, class X, class Space>
auto lower(const gather<T, D, X>& n, const int* axis_of, Space& s, const fault_sink& faults) {
  const layout& from = n.source.where;
  const int inserted = n.along ? 1 : n.index.dims().ndim();
  for (int d = 0; d < from.ndim(); ++d) {
    if (d == n.axis) continue;
    s.stride[Ix][axis_of[d < n.axis ? d : d - 1 + inserted]] = from.dims[d] == 1 ? 0 : from.stride[d];
  }
  s.store[Ix] = from.elements() > 0 ? n.source.store.get() : nullptr;
  auto index = lower<Ix + 1>(n.index, n.along ? axis_of : axis_of + n.axis, s, faults);
  return gathered<Ix, T, decltype(index)>{static_cast<const T*>(n.source.store->data) + from.offset,
                                          index,
                                          from.stride[n.axis],
                                          from.dims[n.axis],
                                          {faults, n.function, n.axis}};
}

template <int Ix, class K, class Space>
using lowered = decltype(lower<Ix>(::std::declval<const K&>(), same_axes, ::std::declval<Space&>(), fault_sink{}));

/// The first leaf of operand J of a map whose leaves begin at Ix.
template <int Ix, int J, class... K>
constexpr int first_leaf() {
  constexpr int leaves[] = {K::leaves...};
  int first = Ix;
  for (int j = 0; j < J; ++j) first += leaves[j];
  return first;
}

/// An operator that records what its operands may not be (`may_fault`), for a statement; others as they are.
template <class Op>
Op reporting_to(const fault_sink& faults, const Op& op) {
  if constexpr (requires { op.reporting_to(faults); }) return op.reporting_to(faults);
  else return op;
}

template <int Ix, class Op, class... K, int... J, class Space>
auto lower_map(const map<Op, K...>& n, const int* axis_of, Space& s, const fault_sink& faults,
               ::std::integer_sequence<int, J...>) {
  using types = typename Op::template types<node_value_t<K>...>;
  return apply<Op, types, lowered<first_leaf<Ix, J, K...>(), K, Space>...>{
      reporting_to(faults, n.op),
      {{lower<first_leaf<Ix, J, K...>()>(get<J>(n.kids), axis_of + (n.extents.ndim() - get<J>(n.kids).dims().ndim()), s,
                                         faults)}...}};
}
template <int Ix, class Op, class... K, class Space>
auto lower(const map<Op, K...>& n, const int* axis_of, Space& s, const fault_sink& faults) {
  return lower_map<Ix>(n, axis_of, s, faults, ::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
