// What the nodes of computed variables have in common, whatever they were computed by: compiled once for a dtype.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/leaves.hpp"
#include "tape.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Throws stale_error where an array's elements have been written since a node was recorded.
inline void check_kept(const storage_ref& store, const layout& where, uint64 stamp, const char* dtype) {
  if (store.get() != nullptr && written_since(*store, stamp, where))
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
/// Throws stale_error where an array in an expression that a node keeps has been written since.
template <class N>
void check_kept(const N& n) {
  for_each_leaf(n, [](const auto& l) {
    if constexpr (requires { l.store; })
      check_kept(l.store, l.where, l.stamp, dtype_name<node_value_t<::std::remove_cvref_t<decltype(l)>>>);
  });
}
/// Lets go of the arrays and variables in it.
template <class N>
void free_kept(N& n) {
  for_each_leaf(n, [](const auto& l) {
    if constexpr (requires { l.store; }) const_cast<storage_ref&>(l.store) = storage_ref();
    if constexpr (requires { l.tape; }) const_cast<tape_ref&>(l.tape) = tape_ref();
  });
}

/// A node that keeps arrays, and hands gradients on to others: members of the derived class, which it says where to
/// find.
template <class T, class D>
struct computed_node : inner_node<T, D> {
  struct members {
    kept_array* array;
    int arrays;
    tape_ref* target;
    int targets;
  };
  const members of;

  computed_node(const shape& s, const members& m) : inner_node<T, D>(s), of(m) {}
  int count() const final { return of.targets; }
  const tape_ref* target(int k) const final { return of.target + k; }
  void check() const override {
    for (int k = 0; k < of.arrays; ++k) of.array[k].check();
  }
  void free() override {
    this->freed = true;
    for (int k = 0; k < of.arrays; ++k) of.array[k].store = storage_ref();
    for (int k = 0; k < of.targets; ++k) of.target[k] = tape_ref();
  }

 protected:
  /// Forgets targets whose gradient is not wanted: nor will it be.
  void forget_unwanted() {
    for (int k = 0; k < of.targets; ++k) of.target[k] = if_wanted(of.target[k]);
  }
  /// The targets whose gradient is to be computed, a bit each.
  uint64 due() const {
    uint64 set = 0;
    for (int k = 0; k < of.targets; ++k) set |= uint64(is_due(of.target[k])) << k;
    return set;
  }
  /// Array k as it was kept.
  template <class V>
  ndarray<V, D> kept_as(int k) const {
    const kept_array& a = of.array[k];
    return ndarray<V, D>(leaf<V, D>(a.store, a.where, a.stamp));
  }
  template <class V>
  gradient_node<V, D>& node_of(int k) const {
    return static_cast<gradient_node<V, D>&>(*of.target[k].get());
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
