// Whether an expression is a row program: its reductions are along the same axes of one shape, which its operands have.
// SPDX-License-Identifier: MIT
#pragma once

#include "row_program.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether two expressions of one type have one value.
template <class T, class D>
bool same_value(const leaf<T, D>& a, const leaf<T, D>& b) {
  return a.store.get() == b.store.get() && a.where == b.where;
}
/// Of variables, gradients lead to one, too.
template <class T, class D>
bool same_value(const tracked_leaf<T, D>& a, const tracked_leaf<T, D>& b) {
  return a.tape.get() == b.tape.get() && a.store.get() == b.store.get() && a.where == b.where;
}
template <class T>
bool same_value(const scalar<T>& a, const scalar<T>& b) {
  return __builtin_memcmp(&a.value, &b.value, sizeof(T)) == 0;
}
template <class G, class D>
bool same_value(const generate<G, D>& a, const generate<G, D>& b) {
  if constexpr (::std::is_trivially_copyable_v<G>)  // padding may differ: then it is computed twice
    return a.extents == b.extents && __builtin_memcmp(&a.function, &b.function, sizeof(G)) == 0;
  else return &a == &b;
}
template <class T, class D, class Ix>
bool same_value(const gather<T, D, Ix>& a, const gather<T, D, Ix>& b) {
  return a.axis == b.axis && a.along == b.along && same_value(a.source, b.source) && same_value(a.index, b.index);
}
template <class Op, class K>
bool same_value(const reduce<Op, K>& a, const reduce<Op, K>& b) {
  if (&a == &b) return true;
  return a.over == b.over && same_value(a.kid, b.kid);
}
template <class Op, class... K>
bool same_value(const map<Op, K...>& a, const map<Op, K...>& b) {
  if (&a == &b) return true;
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return ::std::is_empty_v<Op> && a.extents == b.extents && (same_value(get<J>(a.kids), get<J>(b.kids)) && ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Whether `f(reduction, whether it lies within another)` is true of all, inner ones first.
template <class N, class F>
bool all_reductions(const N&, const F&, bool = false) {
  return true;
}
template <class Op, class K, class F>
bool all_reductions(const reduce<Op, K>& n, const F& f, bool inside = false) {
  return all_reductions(n.kid, f, true) && f(n, inside);
}
template <class Op, class... K, class F>
bool all_reductions(const map<Op, K...>& n, const F& f, bool inside = false) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return (all_reductions(get<J>(n.kids), f, inside) && ...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

/// Whether `f` is true of every node of type K outside of reductions.
template <class K, class N, class F>
bool all_of_type(const N& n, const F& f) {
  if constexpr (::std::is_same_v<K, N>) return f(n);
  else return true;
}
template <class K, class Op, class... L, class F>
bool all_of_type(const map<Op, L...>& n, const F& f) {
  if constexpr (::std::is_same_v<K, map<Op, L...>>) return f(n);
  else return [&]<int... J>(::std::integer_sequence<int, J...>) {
      return (all_of_type<K>(get<J>(n.kids), f) && ...);
    }
  (::std::make_integer_sequence<int, int(sizeof...(L))>{});
}

/// How a result of a row program lies: it has the axes of the rows, or extents of 1 in their place, or none there.
enum class row_result { by_element, per_row, dropped };

/// The axes of a row program: `over` (a bit each) of `full`.
struct row_axes {
  shape full;
  unsigned over = 0;

  /// Axis d of a result is axis `to[d]` of the space, kept axes first.
  void map_axes(int* to, row_result how) const {
    int kept = 0, row = full.ndim() - __builtin_popcount(over);
    for (int d = 0; d < full.ndim(); ++d) {
      if (over >> d & 1u) {
        if (how != row_result::dropped) *to++ = row++;
      } else {
        *to++ = kept++;
      }
    }
  }
};

/// False where reductions of a statement are not all along the same axes of one shape.
template <class N>
bool find_row_axes(const N& n, row_axes& axes) {
  bool first = true;
  const bool alike = all_reductions(n, [&]<class R>(const R& r, bool) {
    if (first) axes.full = r.kid.dims(), axes.over = r.over;
    first = false;
    // the first one of a type stands for all of them
    using kid = ::std::remove_cvref_t<decltype(r.kid)>;
    if constexpr (::std::is_same_v<kid, kept_of<N>>)
      if (!all_of_type<kid>(n, [&](const kid& k) { return same_value(k, r.kid); })) return false;
    return r.kid.dims() == axes.full && r.over == axes.over &&
           at_first<R, 0>(n, [&]<int>(const R& other) { return same_value(r, other); });
  });
  return alike && axes.full.elements() > 0;
}

/// False where a value is not a result of rows with such axes.
template <class N>
bool find_row_result(const N& n, const row_axes& axes, row_result& how) {
  shape with, without;
  for (int d = 0; d < axes.full.ndim(); ++d) {
    const bool reduced = axes.over >> d & 1u;
    with.push_back(reduced ? 1 : axes.full[d]);
    if (!reduced) without.push_back(axes.full[d]);
  }
  const shape& dims = n.dims();
  how = outer_leaves<N> > 0 && dims == axes.full ? row_result::by_element
        : dims == with                           ? row_result::per_row
                                                 : row_result::dropped;
  if (how == row_result::dropped && dims != without) return false;
  // what meets operands of the full shape has all of its axes
  return all_reductions(n, [&](const auto& r, bool inside) {
    return (how == row_result::dropped && !inside) || r.extents.ndim() == axes.full.ndim();
  });
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
