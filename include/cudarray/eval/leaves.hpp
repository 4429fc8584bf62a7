// What an expression reads, as a list: whether it is stale, on one device, and clear of what is written.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/error.hpp"
#include "../expr/node.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A leaf of an expression, or a generator, which has no storage.
struct leaf_use {
  storage* store;
  const layout* where;
  uint64 stamp;
  int ordinal;
  const char* dtype;
};

/// The device of a leaf. Throws value_error where it was moved from.
inline int ordinal_of(const storage_ref& s) {
  if (s.get() == nullptr) fail<value_error>("an expression that was moved from has no value");
  return s->ordinal;
}

/// Everything an expression reads. Checks of the list are compiled once, whatever the expression.
template <class N>
struct leaf_list {
  static constexpr int count = N::leaves;
  leaf_use of[::std::size_t(count > 0 ? count : 1)];

  explicit leaf_list(const N& n) {
    leaf_use* next = of;
    for_each_leaf(n, [&next](const auto& l) {
      using leaf_type = ::std::remove_cvref_t<decltype(l)>;
      if constexpr (requires { l.store; })
        *next++ = {l.store.get(), &l.where, l.stamp, ordinal_of(l.store), dtype_name<node_value_t<leaf_type>>};
      else *next++ = {nullptr, nullptr, 0, l.ordinal, nullptr};
    });
  }
};

/// The ordinal of leaves that are not all on one: an empty array goes with any. Throws device_error.
CUDARRAY_COLD inline int common_ordinal(const leaf_use* of, int count) {
  const leaf_use* first = nullptr;
  for (int k = 0; k < count; ++k) {
    if (of[k].where != nullptr && of[k].where->elements() == 0) continue;
    if (first == nullptr) first = of + k;
    if (of[k].ordinal != first->ordinal)
      fail<device_error>("operands on devices ", first->ordinal, " and ", of[k].ordinal, ": move one with ca::to");
  }
  return first != nullptr ? first->ordinal : of[0].ordinal;
}

/// Throws stale_error for a leaf whose elements were written since it was built, device_error for leaves on two
/// ordinals. Returns the ordinal.
inline int check_leaves(const leaf_use* of, int count) {
  bool on_one = true;
  for (int k = 0; k < count; ++k) {
    if (of[k].store != nullptr && written_since(*of[k].store, of[k].stamp, *of[k].where))
      fail<stale_error>("array of shape ", of[k].where->dims, ", ", of[k].dtype,
                        ", written after this expression was built; use ca::eval where you meant a value");
    on_one = on_one && of[k].ordinal == of[0].ordinal;
  }
  return count == 0 ? 0 : on_one ? of[0].ordinal : common_ordinal(of, count);
}
template <class N>
int check_leaves(const N& n) {
  return check_leaves(leaf_list<N>(n).of, N::leaves);
}

/// New memory for a value computed element by element: NumPy's order "K", that of the operands of its shape, and C
/// order of two axes where these are not at one.
inline layout kept_layout(const shape& dims, const leaf_use* of, int count) {
  const auto has_order = [&](const leaf_use& l) {
    return l.where != nullptr && !is_c_contiguous(*l.where) && l.where->dims == dims;
  };
  int k = 0;
  while (k < count && !has_order(of[k])) ++k;
  if (k == count) return c_layout(dims);
  // whether axis b, behind a, is to be before it: 1, 0, or -1 where nothing says so
  const auto swaps = [&](int a, int b) {
    int swap = -1;
    for (int i = 0; i < count; ++i) {
      if (of[i].where == nullptr || of[i].where->dims != dims || dims[a] == 1 || dims[b] == 1) continue;
      const int64 x = of[i].where->stride[a], y = of[i].where->stride[b];
      if (x == 0 || y == 0) continue;
      if ((y < 0 ? -y : y) <= (x < 0 ? -x : x)) return 0;
      swap = 1;
    }
    return swap;
  };
  int order[max_rank] = {};
  for (int axis = 1; axis < dims.ndim(); ++axis) {
    int at = axis;
    for (int i = axis - 1; i >= 0; --i) {
      const int swap = swaps(order[i], axis);
      if (swap == 0) break;
      if (swap == 1) at = i;
    }
    for (int i = axis; i > at; --i) order[i] = order[i - 1];
    order[at] = axis;
  }
  return ordered_layout(dims, order);
}

/// True if writing `to` while reading the leaves could read what was just written.
inline bool overlaps(const storage* store, const layout& to, const leaf_use* of, int count, bool same_place_is_safe) {
  for (int k = 0; k < count; ++k) {
    if (of[k].store != store || (same_place_is_safe && *of[k].where == to)) continue;
    if (may_share(to, *of[k].where)) return true;
  }
  return false;
}
template <class N>
bool overlaps(const storage* store, const layout& to, const N& n, bool same_place_is_safe) {
  return overlaps(store, to, leaf_list<N>(n).of, N::leaves, same_place_is_safe);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
