// Arrays of dual numbers and their parts.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/dual_functions.hpp"
#include "../ops/creation.hpp"
#include "../ops/operators.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Part 0 or 1 of dual numbers, a view.
template <int Part, class T, class D>
ndarray<T, D> part_of(const ndarray<dual<T>, D>& a) {
  layout at = a.where();
  for (int d = 0; d < at.ndim(); ++d) at.stride[d] *= 2;
  at.offset = 2 * at.offset + Part;
  return ndarray<T, D>(leaf<T, D>(a.node().store, at, a.node().stamp));
}
template <class T, class D>
ndarray<T, D> primals(const ndarray<T, D>& a) {
  return a;
}
template <class T, class D>
ndarray<T, D> primals(const ndarray<dual<T>, D>& a) {
  return part_of<0>(a);
}
/// Dual numbers of two arrays of one shape.
template <class P, class T>
auto dual_of(const P& primal, const T& tangent) {
  const auto n = elementwise("jvp", op::dual_op{}, primal, tangent);
  return ndarray<node_value_t<::std::remove_const_t<decltype(n)>>, device_type_t<P>>(n);
}
/// The same numbers, constant.
template <class T, class D>
ndarray<dual<T>, D> without_tangents(const ndarray<dual<T>, D>& a) {
  return dual_of(primals(a), zeros<T, D>(shape{}, a.device()));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
