// Packs of dual numbers: one pack of the numbers and one of their derivatives.
// SPDX-License-Identifier: MIT
#pragma once

#include "pack.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD {

/// Every other lane of a, then of b, from the second on.
struct odd_lanes {
  template <int N>
  static constexpr int at(int k) {
    return 2 * k + 1;
  }
};
/// In memory each number has its derivative behind it.
template <int N, class T>
dual<pack<T, N>> load_dual(const dual<T>* p) {
  const auto* const parts = reinterpret_cast<const T*>(p);
  const auto a = load_lanes<T, N>(parts), b = load_lanes<T, N>(parts + N);
  return {pick_lanes<even_lanes>(a, b), pick_lanes<odd_lanes>(a, b)};
}
template <class T, int N>
CUDARRAY_FORCE_INLINE void store_lanes(dual<T>* p, const dual<pack<T, N>>& a) {
  auto* const parts = reinterpret_cast<T*>(p);
  store_lanes(parts, interleave<false>(a.primal, a.tangent));
  store_lanes(parts + N, interleave<true>(a.primal, a.tangent));
}
template <class T, int N>
CUDARRAY_FORCE_INLINE void stream_lanes(dual<T>* p, const dual<pack<T, N>>& a) {
  store_lanes(p, a);
}
template <int N, class T>
CUDARRAY_FORCE_INLINE dual<pack<T, N>> splat_dual(const dual<T>& x) {
  return {splat<T, N>(x.primal), splat<T, N>(x.tangent)};
}
template <class T, int N>
CUDARRAY_FORCE_INLINE dual<T> lane(const dual<pack<T, N>>& a, int i) {
  return {lane(a.primal, i), lane(a.tangent, i)};
}
template <class R, int N, class F>
auto dual_from_lanes(const F& f) {
  dual<pack<typename detail::primal_of<R>::type, N>> r;
  for (int k = 0; k < N; ++k) {
    const R v = f(k);
    r.primal.v[k] = __builtin_bit_cast(register_t<decltype(v.primal)>, v.primal);
    r.tangent.v[k] = __builtin_bit_cast(register_t<decltype(v.primal)>, v.tangent);
  }
  return r;
}
template <class To, class T, int N>
CUDARRAY_FORCE_INLINE auto lane_cast(const dual<pack<T, N>>& a) {
  if constexpr (detail::is_dual<To>) {
    using U = typename detail::primal_of<To>::type;
    return dual<decltype(lane_cast<U>(a.primal))>(lane_cast<U>(a.primal), lane_cast<U>(a.tangent));
  } else {
    return lane_cast<To>(a.primal);
  }
}

}  // namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
