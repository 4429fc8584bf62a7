// What the nodes of computed variables have in common, whatever they were computed by: compiled once for a dtype.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/leaves.hpp"
#include "tape.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Throws stale_error where an array has been written since a node was recorded.
inline void check_kept(const storage_ref& store, const layout& where, uint64 stamp, const char* dtype) {
  if (store.get() != nullptr && write_count(*store) != stamp)
    fail<stale_error>("backward: an operand of shape ", where.dims, ", ", dtype,
                      ", was written after a variable was computed of it");
}

/// An array, of whatever dtype, as it was when a node was recorded.
struct kept_array {
  storage_ref store;
  layout where;
  uint64 stamp = 0;
  const char* dtype = nullptr;

  template <class T, class D>
  void keep(const leaf<T, D>& n) {
    keep(n.store, n.where, n.stamp, dtype_name<T>);
  }
  CUDARRAY_NO_INLINE void keep(const storage_ref& s, const layout& l, uint64 writes, const char* name) {
    store = s;
    where = l;
    stamp = writes;
    dtype = name;
  }
  void check() const { check_kept(store, where, stamp, dtype); }
};

/// The array as an operand of an expression that does not outlive it.
template <class T, class D>
borrowed_leaf<T, D> borrow(const kept_array& a) {
  return {a.store, a.where, a.stamp};
}
/// The same of the arrays in an expression that a node keeps; `free_kept` lets go of them.
template <class N>
void check_kept(const N& n) {
  for_each_leaf(n, [](const auto& l) {
    if constexpr (requires { l.store; })
      check_kept(l.store, l.where, l.stamp, dtype_name<node_value_t<::std::remove_cvref_t<decltype(l)>>>);
  });
}
template <class N>
void free_kept(N& n) {
  for_each_leaf(n, [](const auto& l) {
    if constexpr (requires { l.store; }) const_cast<storage_ref&>(l.store) = storage_ref();
    if constexpr (requires { l.tape; }) const_cast<tape_ref&>(l.tape) = tape_ref();
  });
}

/// A node that keeps arrays, and whose gradient leads to others. The members of both are the derived class's.
template <class T, class D>
struct computed_node : inner_node<T, D> {
  struct arrays_and_targets {
    kept_array* kept;
    int arrays;
    tape_ref* to;
    int targets;
  };
  const arrays_and_targets links;

  computed_node(const shape& s, const arrays_and_targets& m) : inner_node<T, D>(s), links(m) {}
  int count() const final { return links.targets; }
  const tape_ref* target(int k) const final { return links.to + k; }
  void check() const override {
    for (int k = 0; k < links.arrays; ++k) links.kept[k].check();
  }
  void free() override {
    this->freed = true;
    for (int k = 0; k < links.arrays; ++k) links.kept[k].store = storage_ref();
    for (int k = 0; k < links.targets; ++k) links.to[k] = tape_ref();
  }

 protected:
  /// Forgets targets whose gradient is not wanted: nor will it be.
  void forget_unwanted() {
    for (int k = 0; k < links.targets; ++k) links.to[k] = if_wanted(links.to[k]);
  }
  bool is_due(int k) const { return links.to[k].get() != nullptr && links.to[k]->wanted; }
  /// The targets whose gradient is to be computed, a bit each.
  uint64 due() const {
    uint64 set = 0;
    for (int k = 0; k < links.targets; ++k) set |= uint64(is_due(k)) << k;
    return set;
  }
  template <class V>
  gradient_node<V, D>& node_of(int k) const {
    return static_cast<gradient_node<V, D>&>(*links.to[k].get());
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
