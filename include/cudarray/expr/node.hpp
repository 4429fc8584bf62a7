// The node kinds: immutable descriptions that own their operands. Nothing is computed here.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "../core/build.hpp"
#include "../core/layout.hpp"
#include "../memory/writes.hpp"
#include "concepts.hpp"
#include "tape_node.hpp"

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What every lazy expression N offers. Being of this namespace, it also lets argument-dependent look-up find the
/// operators.
template <class N>
struct lazy : detail::no_number<N> {
  /// The shape the value will have.
  cudarray::shape shape() const { return self().dims(); }
  int ndim() const { return shape().ndim(); }
  int64 size() const { return shape().elements(); }
  int64 shape(detail::any_integer axis) const { return shape()[detail::normal_axis("shape", axis, ndim())]; }
  /// Evaluates an expression of one element and waits for it. Throws value_error for any other size.
  auto item() const;
  /// Evaluates it: an array, or, of variables, a variable.
  decltype(auto) eval() const;
  /// The same, in new memory in C order.
  decltype(auto) copy() const;
  /// Evaluates it: the axes reversed.
  decltype(auto) t() const;
  /// Evaluates it: the elements that an index picks, as of an array.
  template <class... Ix>
  requires detail::known_indices<Ix...>
  decltype(auto) operator()(const Ix&... i) const;
  /// What is no index.
  template <class... Ix>
  requires(!detail::known_indices<Ix...>) detail::poison operator()(const Ix&...) const {
    return detail::report_index<(detail::is_poison<Ix> || ...)>();
  }

 private:
  const N& self() const { return static_cast<const N&>(*this); }
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// An aggregate of several values that stays trivially copyable if they are (std::tuple does not).
template <int Ix, class T>
struct slot {
  T value;
};
template <class Indices, class... T>
struct slots_of;
template <int... Ix, class... T>
struct slots_of<::std::integer_sequence<int, Ix...>, T...> : slot<Ix, T>... {};
template <class... T>
using slots = slots_of<::std::make_integer_sequence<int, int(sizeof...(T))>, T...>;

template <int Ix, class T>
CUDARRAY_HD constexpr const T& get(const slot<Ix, T>& s) {
  return s.value;
}
template <int Ix, class T>
CUDARRAY_HD constexpr T& get(slot<Ix, T>& s) {
  return s.value;
}

/// An array as an operand: a share of its storage, and the number of writes it had seen.
template <class T, class Device>
struct leaf : lazy<leaf<T, Device>> {
  static constexpr int leaves = 1;
  storage_ref store;
  layout where;
  uint64 stamp;
  leaf(storage_ref s, const layout& l, uint64 writes = 0) : store(::std::move(s)), where(l), stamp(writes) {}
  /// New memory in C order.
  leaf(storage_ref s, const cudarray::shape& dims, uint64 writes = 0)
      : store(::std::move(s)), where(c_layout(dims)), stamp(writes) {}
  const cudarray::shape& dims() const { return where.dims; }
};

/// An array as an operand, while somebody else holds it.
template <class T, class Device>
struct borrowed_leaf : lazy<borrowed_leaf<T, Device>> {
  static constexpr int leaves = 1;
  const storage_ref& store;
  const layout& where;
  uint64 stamp;
  borrowed_leaf(const storage_ref& s, const layout& l, uint64 writes) : store(s), where(l), stamp(writes) {}
  const cudarray::shape& dims() const { return where.dims; }
};

/// An array as an operand, with the node of the tape that its gradient goes to.
template <class T, class Device>
struct tracked_leaf : leaf<T, Device> {
  tape_ref tape;
  tracked_leaf(leaf<T, Device> l, tape_ref n) : leaf<T, Device>(::std::move(l)), tape(::std::move(n)) {}
};

/// A C++ scalar, already of the dtype it takes part in.
template <class T>
struct scalar {
  static constexpr int leaves = 0;
  using value_type = T;
  T value;
  shape dims() const { return {}; }
};

/// A function applied element by element; operands broadcast.
template <class Op, class... K>
struct map : lazy<map<Op, K...>> {
  static constexpr int leaves = (0 + ... + K::leaves);
  Op op;
  cudarray::shape extents;
  slots<K...> kids;
  /// Shape and operands are made in place: they are long, and copying what was just written is slow.
  template <class Extents, class Kids>
  map(const Op& f, const Extents& make_extents, const Kids& make_kids)
      : op(f), extents(make_extents()), kids(make_kids()) {}
  const cudarray::shape& dims() const { return extents; }
};

/// A reduction over the axes in `over` (a bit each).
template <class Op, class K>
struct reduce : lazy<reduce<Op, K>> {
  static constexpr int leaves = K::leaves;
  Op op;
  unsigned over;
  cudarray::shape extents;
  K kid;
  template <class Extents, class Kid>
  reduce(unsigned axes, const Extents& make_extents, const Kid& make_kid)
      : op{}, over(axes), extents(make_extents()), kid(make_kid()) {}
  const cudarray::shape& dims() const { return extents; }
};

/// Elements that are a function of their logical index in C order: `G::value_type operator()(int64) const`.
template <class G, class Device>
struct generate : lazy<generate<G, Device>> {
  static constexpr int leaves = 1;
  G function;
  cudarray::shape extents;
  int ordinal;
  const cudarray::shape& dims() const { return extents; }
};

/// Elements of an array picked along an axis: the source's axis `axis` is replaced by the axes of the index. `along`:
/// the index has an axis for each of the source, and picks of the line that it lies on.
template <class T, class Device, class Index>
struct gather : lazy<gather<T, Device, Index>> {
  static constexpr int leaves = 1 + Index::leaves;
  leaf<T, Device> source;
  Index index;
  int axis;
  cudarray::shape extents;
  const char* function = "take";  ///< named where an index is out of range
  bool along = false;
  const cudarray::shape& dims() const { return extents; }
};

/// Direct initialisation of an array would be ambiguous.
template <class T, class D>
inline constexpr bool refuses_poison<leaf<T, D>> = true;

template <class T>
inline constexpr bool may_be_number<scalar<T>> = true;
template <class Op, class K>
inline constexpr bool may_be_number<reduce<Op, K>> = true;
template <class Op, class... K>
inline constexpr bool may_be_number<map<Op, K...>> = (may_be_number<K> && ...);

template <class X>
struct node_value {
  using type = typename expression_traits<X>::value_type;
};
template <class T>
struct node_value<scalar<T>> {
  using type = T;
};
/// The dtype of a node; scalars, which are no expressions by themselves, have one too.
template <class X>
using node_value_t = typename node_value<X>::type;

template <class X>
inline constexpr bool is_scalar_node = false;
template <class T>
inline constexpr bool is_scalar_node<scalar<T>> = true;

template <class... K>
struct device_of_nodes;
template <class K, class... R>
struct device_of_nodes<K, R...> {
  using type = typename expression_traits<K>::device_type;
};
template <class T, class... R>
struct device_of_nodes<scalar<T>, R...> : device_of_nodes<R...> {};

template <class T, class D>
struct expression_traits<leaf<T, D>> : traits_of<T, D> {};
template <class T, class D>
struct expression_traits<borrowed_leaf<T, D>> : traits_of<T, D> {};
template <class T, class D>
struct expression_traits<tracked_leaf<T, D>> : traits_of<T, D> {};
template <class Op, class... K>
struct expression_traits<map<Op, K...>>
    : traits_of<typename Op::template types<node_value_t<K>...>::result, typename device_of_nodes<K...>::type> {};
template <class Op, class K>
struct expression_traits<reduce<Op, K>>
    : traits_of<typename Op::template types<node_value_t<K>>::result, typename expression_traits<K>::device_type> {};
template <class G, class D>
struct expression_traits<generate<G, D>> : traits_of<typename G::value_type, D> {};
template <class T, class D, class Ix>
struct expression_traits<gather<T, D, Ix>> : traits_of<T, D> {};

/// Whether a variable's values are among what a value is computed of; truth values and integers have no gradients.
template <class X>
inline constexpr bool has_variable = false;
template <class T, class D>
inline constexpr bool has_variable<tracked_leaf<T, D>> = true;
template <class Op, class K>
inline constexpr bool has_variable<reduce<Op, K>> =
    has_variable<K>&& kind_of<node_value_t<reduce<Op, K>>> >= kind::floating;
template <class Op, class... K>
inline constexpr bool has_variable<map<Op, K...>> =
    (has_variable<K> || ...) && kind_of<node_value_t<map<Op, K...>>> >= kind::floating;

/// Calls `f` for every leaf and every generator in an expression.
template <class T, class D, class F>
void for_each_leaf(const leaf<T, D>& n, F&& f) {
  f(n);
}
template <class T, class D, class F>
void for_each_leaf(const borrowed_leaf<T, D>& n, F&& f) {
  f(n);
}
template <class T, class D, class F>
void for_each_leaf(const tracked_leaf<T, D>& n, F&& f) {
  f(n);
}
template <class T, class F>
void for_each_leaf(const scalar<T>&, F&&) {}
template <class G, class D, class F>
void for_each_leaf(const generate<G, D>& n, F&& f) {
  f(n);
}
template <class Op, class K, class F>
void for_each_leaf(const reduce<Op, K>& n, F&& f) {
  for_each_leaf(n.kid, f);
}
template <class T, class D, class Ix, class F>
void for_each_leaf(const gather<T, D, Ix>& n, F&& f) {
  f(n.source);
  for_each_leaf(n.index, f);
}
template <class Op, class... K, class F>
void for_each_leaf(const map<Op, K...>& n, F&& f) {
  [&]<int... Ix>(::std::integer_sequence<int, Ix...>) { (for_each_leaf(get<Ix>(n.kids), f), ...); }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
