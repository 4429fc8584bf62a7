// The optional entry for gradients: of several operands at once, each summed over what it is repeated along.
// SPDX-License-Identifier: MIT
#pragma once

#include "backward.hpp"
#include "entries.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Where gradients go: the first is operand 0 of the space, the others are those from `First` on. One that has no
/// pointer is not wanted; one that does not move along an axis is the sum over it.
template <int First, class... T>
struct gradients_to {
  static constexpr int count = int(sizeof...(T));
  slots<T*...> p;
  unsigned adds = 0;  ///< to what is there, a bit each

  /// What sums over many elements are added up in.
  using sum = ::std::conditional_t<(is_dual<T> || ...), dual<double>, double>;
  static constexpr int operand(int j) { return j == 0 ? 0 : First + j - 1; }
  template <int J>
  static constexpr int operand_of = operand(J);
};

/// Gradient J of those that a tree makes; one alone is no `slots`.
template <int J, class V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const V& gradient_at(const V& v) {
  return v;
}
template <int J, class Indices, class... V>
CUDARRAY_HD CUDARRAY_FORCE_INLINE const auto& gradient_at(const slots_of<Indices, V...>& v) {
  return get<J>(v);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Optional, for devices with `fused_gradients`; on others each gradient is a map or a reduction of its own. Writes the
/// gradients that `tree` makes, whose function is a backward_op, in one pass. Nothing is gathered.
template <class Device, class Target, class Tree, class Space>
void run_gradients(Device, const Target&, const Tree&, const Space&) {
  CUDARRAY_NO_BACKEND(Device);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
