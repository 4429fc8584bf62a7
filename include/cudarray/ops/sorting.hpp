// Sorting: argsort of one axis.
// SPDX-License-Identifier: MIT
#pragma once

#include "manipulation.hpp"

namespace cudarray::inline v0 {

/// The order that sorts a 1-d array: stable, NaN last, int64. Eager. Throws shape_error for other ranks.
template <array_expression X, class Build = this_build>
const ndarray<int64, device_type_t<X>> argsort(const X& x) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  const auto keys = detail::materialise<Build>(detail::as_operand<T>("argsort", x));
  if (keys.where.ndim() != 1)
    throw shape_error(detail::cat("argsort: an array of shape ", keys.where.dims, "; it sorts one axis"));
  const int64 n = keys.where.dims[0];
  return ndarray<int64, D>(detail::leaf<int64, D>{
      {}, stable_argsort<Build, T>(D{keys.store->ordinal}, *keys.store, n), detail::c_layout(n), 0});
}

}  // namespace cudarray::inline v0
