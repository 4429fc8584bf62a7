// The parts of dual numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ndarray.hpp"
#include "transfer.hpp"

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
/// The elements of an array, an expression or a variable, without what derivatives need.
template <class X>
auto plain_values(const X& x) {
  const auto a = eval(x);
  if constexpr (has_variable<::std::remove_const_t<decltype(a)>>) return primals(a.value());
  else return primals(a);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
