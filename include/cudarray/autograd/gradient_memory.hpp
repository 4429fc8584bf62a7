// The memory of gradients that one pass computes.
// SPDX-License-Identifier: MIT
#pragma once

#include "../eval/gradients.hpp"
#include "tape.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Makes the memory that a pass writes a gradient to, in the order of `like` if it is of that shape; `again`: it has
/// made it for another operand. Returns whether the pass adds to what is there.
template <class T, class D>
CUDARRAY_NO_INLINE bool prepare_gradient(gradient_node<T, D>& n, const layout& like, int ordinal, bool again) {
  ndarray<T, D>& g = n.gradient;
  if (n.filled || again) {
    if (!again && !is_sole(g)) g = copy_in_order(g);
    return true;
  }
  const bool known = n.is_leaf() && g.shape() == n.dims && g.size() > 0 && is_sole(g);  // captured graphs know it
  if (!known) g = ndarray<T, D>(new_leaf<T>(D{ordinal}, n.dims == like.dims ? like : c_layout(n.dims)));
  return false;
}
/// The gradient is there; `empty`: there was nothing to compute, and it is 0.
template <class T, class D>
CUDARRAY_NO_INLINE void finish_gradient(gradient_node<T, D>& n, bool empty) {
  if (empty && !n.filled) n.gradient.fill(0);
  n.filled = true;
  count_write(*n.gradient.storage());
}

/// The gradients, of dtypes V, of some targets: of those in `due`, a bit each.
template <class D, class... V>
struct gradient_memory {
  static constexpr int count = int(sizeof...(V));
  const tape_ref* to;
  uint64 due;

  /// Makes it, `like` what the statement's values would be in, and places it in a space whose axes those of the
  /// statement are, as operands 0 and from `First` on.
  template <int First, class Space>
  gradients_to<First, V...> place_in(Space& s, const int* axis_of, const layout& like, int ordinal) const {
    gradients_to<First, V...> all{};
    each([&]<int K, class T>(gradient_node<T, D>& n) {
      constexpr int at = gradients_to<First, V...>::operand(K);
      all.adds |= unsigned(prepare_gradient(n, like, ordinal, is_there_before(K))) << K;
      get<K>(all.p) = n.gradient.data();
      place<at>(s, n.dims, n.gradient.where().stride, axis_of + (s.ndim - n.dims.ndim()), n.gradient.storage().get());
    });
    return all;
  }
  /// The gradients are there: those of an empty statement are zeros.
  void finish(bool empty) const {
    each([&]<int K, class T>(gradient_node<T, D>& n) { finish_gradient(n, empty); });
  }

 private:
  template <class F>
  void each(const F& f) const {
    const auto one = [&]<int K, class T>() {
      if (due >> K & 1) f.template operator()<K>(static_cast<gradient_node<T, D>&>(*to[K].get()));
    };
    [&]<int... K>(::std::integer_sequence<int, K...>) { (one.template operator()<K, V>(), ...); }
    (::std::make_integer_sequence<int, count>{});
  }
  /// Whether one of the first K gradients that are computed is of the same variable.
  bool is_there_before(int K) const {
    bool is = false;
    for (int k = 0; k < K; ++k) is = is || ((due >> k & 1) != 0 && to[k].get() == to[K].get());
    return is;
  }
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
