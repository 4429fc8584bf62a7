// What reductions hold in packs: one, or a pair of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// The same number in all lanes of an accumulator, and one lane of it.
template <class A, class T>
CUDARRAY_FORCE_INLINE void fill_lanes(A& a, const T& v) {
  if constexpr (requires { a.first; }) {
    fill_lanes(a.first, v.first);
    fill_lanes(a.second, v.second);
  } else if constexpr (detail::is_dual<T>) {
    fill_lanes(a.primal, v.primal);
    fill_lanes(a.tangent, v.tangent);
  } else {
    a.v = v - decltype(a.v){};
  }
}
/// simd::interleave and simd::select of accumulators.
template <bool Second, class A>
CUDARRAY_FORCE_INLINE A interleave_lanes(const A& a, const A& b) {
  if constexpr (requires { a.first; })
    return {interleave_lanes<Second>(a.first, b.first), interleave_lanes<Second>(a.second, b.second)};
  else if constexpr (detail::is_dual<A>)
    return {interleave_lanes<Second>(a.primal, b.primal), interleave_lanes<Second>(a.tangent, b.tangent)};
  else return {simd::interleave<Second>(a, b)};
}
/// The lanes [begin, end) of an accumulator.
template <class A>
CUDARRAY_FORCE_INLINE auto lanes_between(const A& a, int begin, int end) {
  if constexpr (requires { a.first; }) {
    return lanes_between(a.first, begin, end);
  } else if constexpr (detail::is_dual<A>) {
    return lanes_between(a.primal, begin, end);
  } else {
    ::std::remove_cvref_t<decltype(a < a)> r;
    for (int k = 0; k < int(sizeof(r.v) / sizeof(r.v[0])); ++k) r.v[k] = k >= begin && k < end ? -1 : 0;
    return r;
  }
}
template <class Mask, class A>
CUDARRAY_FORCE_INLINE A select_lanes(const Mask& c, const A& a, const A& b) {
  if constexpr (requires { a.first; }) return {select_lanes(c, a.first, b.first), select_lanes(c, a.second, b.second)};
  else if constexpr (detail::is_dual<A>)
    return {select_lanes(c, a.primal, b.primal), select_lanes(c, a.tangent, b.tangent)};
  else return {simd::select(c, a, b)};
}
template <class Total, class A>
CUDARRAY_FORCE_INLINE Total lane_total(const A& a, int k) {
  if constexpr (requires { a.first; }) {
    using number = decltype(Total::first);
    return {number(lane(a.first, k)), number(lane(a.second, k))};
  } else {
    return Total(lane(a, k));
  }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
