// Arrays of dual numbers and their parts.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/dual_functions.hpp"
#include "../ops/creation.hpp"
#include "../ops/dual_parts.hpp"
#include "../ops/operators.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

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
