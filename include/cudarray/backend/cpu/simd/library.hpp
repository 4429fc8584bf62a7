// The functions of the C library on SIMD packs: a pack at a time where it has them so (glibc's libmvec), or by lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include "pack.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::simd::library::inline CUDARRAY_BUILD {

// Part of glibc for x86-64, from 2.35 on with all of them, and linked with it; at most 4 ulp off. The names are those
// of the vector ABI: b, d and e take packs of 16, 32 and 64 bytes.
#define CUDARRAY_LIBRARY_TABLE(F, ...)
#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#undef CUDARRAY_LIBRARY_TABLE
#define CUDARRAY_LIBRARY_TABLE(F, ...)   \
  F(_ZGVeN16, f, float, 16, __VA_ARGS__) \
  F(_ZGVeN8, , double, 8, __VA_ARGS__)   \
  F(_ZGVdN8, f, float, 8, __VA_ARGS__)   \
  F(_ZGVdN4, , double, 4, __VA_ARGS__)   \
  F(_ZGVbN4, f, float, 4, __VA_ARGS__)   \
  F(_ZGVbN2, , double, 2, __VA_ARGS__)
#endif
#endif

template <class T, int N>
using lanes_of = typename pack<T, N>::vector;

#define CUDARRAY_LIBRARY_DECLARE1(prefix, suffix, T, N, c) lanes_of<T, N> prefix##v_##c##suffix(lanes_of<T, N>);
#define CUDARRAY_LIBRARY_DECLARE2(prefix, suffix, T, N, c) \
  lanes_of<T, N> prefix##vv_##c##suffix(lanes_of<T, N>, lanes_of<T, N>);
#define CUDARRAY_LIBRARY_CALL1(prefix, suffix, U, M, c)                                        \
  if constexpr (::std::is_same_v<T, U> && N == M && N * sizeof(T) <= this_build::vector_bytes) \
    return {prefix##v_##c##suffix(x.v)};                                                       \
  else
#define CUDARRAY_LIBRARY_CALL2(prefix, suffix, U, M, c)                                        \
  if constexpr (::std::is_same_v<T, U> && N == M && N * sizeof(T) <= this_build::vector_bytes) \
    return {prefix##vv_##c##suffix(x.v, y.v)};                                                 \
  else

#define CUDARRAY_LIBRARY1(name, c)                             \
  extern "C" {                                                 \
  CUDARRAY_LIBRARY_TABLE(CUDARRAY_LIBRARY_DECLARE1, c)         \
  }                                                            \
  template <class T, int N>                                    \
  CUDARRAY_FORCE_INLINE pack<T, N> name(const pack<T, N>& x) { \
    CUDARRAY_LIBRARY_TABLE(CUDARRAY_LIBRARY_CALL1, c) {        \
      const auto f = [](T v) { return math::name(v); };        \
      return each_lane<decltype(f), N>(f, x);                  \
    }                                                          \
  }
#define CUDARRAY_LIBRARY2(name, c)                                                  \
  extern "C" {                                                                      \
  CUDARRAY_LIBRARY_TABLE(CUDARRAY_LIBRARY_DECLARE2, c)                              \
  }                                                                                 \
  template <class T, int N>                                                         \
  CUDARRAY_FORCE_INLINE pack<T, N> name(const pack<T, N>& x, const pack<T, N>& y) { \
    CUDARRAY_LIBRARY_TABLE(CUDARRAY_LIBRARY_CALL2, c) {                             \
      const auto f = [](T v, T w) { return math::name(v, w); };                     \
      return each_lane<decltype(f), N>(f, x, y);                                    \
    }                                                                               \
  }
CUDARRAY_LIBRARY1(exp, exp)
CUDARRAY_LIBRARY1(exp2, exp2)
CUDARRAY_LIBRARY1(expm1, expm1)
CUDARRAY_LIBRARY1(log, log)
CUDARRAY_LIBRARY1(log2, log2)
CUDARRAY_LIBRARY1(log10, log10)
CUDARRAY_LIBRARY1(log1p, log1p)
CUDARRAY_LIBRARY1(cbrt, cbrt)
CUDARRAY_LIBRARY1(sin, sin)
CUDARRAY_LIBRARY1(cos, cos)
CUDARRAY_LIBRARY1(tan, tan)
CUDARRAY_LIBRARY1(arcsin, asin)
CUDARRAY_LIBRARY1(arccos, acos)
CUDARRAY_LIBRARY1(arctan, atan)
CUDARRAY_LIBRARY1(sinh, sinh)
CUDARRAY_LIBRARY1(cosh, cosh)
CUDARRAY_LIBRARY1(tanh, tanh)
CUDARRAY_LIBRARY1(erf, erf)
CUDARRAY_LIBRARY1(erfc, erfc)
CUDARRAY_LIBRARY2(arctan2, atan2)
CUDARRAY_LIBRARY2(hypot, hypot)
CUDARRAY_LIBRARY2(power, pow)
#undef CUDARRAY_LIBRARY1
#undef CUDARRAY_LIBRARY2
#undef CUDARRAY_LIBRARY_CALL1
#undef CUDARRAY_LIBRARY_CALL2
#undef CUDARRAY_LIBRARY_DECLARE1
#undef CUDARRAY_LIBRARY_DECLARE2
#undef CUDARRAY_LIBRARY_TABLE

}  // namespace cudarray::inline v0::simd::library::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
