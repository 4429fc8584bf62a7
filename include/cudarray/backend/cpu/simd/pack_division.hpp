// Rounding, division rounded down, shifts, roots and powers on SIMD packs, as core/math.hpp has them for numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "pack_math.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD {

// the compilers vectorise these only where exceptions of floating point are switched off
#if defined(__x86_64__) && defined(__AVX__)
#define CUDARRAY_ROUND(way)                                                                    \
  if constexpr (detail::is_floating<T> && sizeof(a) == 64) {                                   \
    pack<T, N> r;                                                                              \
    if constexpr (sizeof(T) == 4) asm("vrndscaleps $" #way ", %1, %0" : "=v"(r.v) : "v"(a.v)); \
    else asm("vrndscalepd $" #way ", %1, %0" : "=v"(r.v) : "v"(a.v));                          \
    return r;                                                                                  \
  } else if constexpr (detail::is_floating<T> && sizeof(a) >= 16) {                            \
    pack<T, N> r;                                                                              \
    if constexpr (sizeof(T) == 4) asm("vroundps $" #way ", %1, %0" : "=x"(r.v) : "x"(a.v));    \
    else asm("vroundpd $" #way ", %1, %0" : "=x"(r.v) : "x"(a.v));                             \
    return r;                                                                                  \
  } else
#else
#define CUDARRAY_ROUND(way)
#endif
#define CUDARRAY_PACK_ROUND(name, way)                         \
  template <class T, int N>                                    \
  CUDARRAY_FORCE_INLINE pack<T, N> name(const pack<T, N>& a) { \
    CUDARRAY_ROUND(way) {                                      \
      const auto f = [](T x) { return math::name(x); };        \
      return each_lane<decltype(f), N>(f, a);                  \
    }                                                          \
  }
CUDARRAY_PACK_ROUND(rint, 8)
CUDARRAY_PACK_ROUND(floor, 9)
CUDARRAY_PACK_ROUND(ceil, 10)
CUDARRAY_PACK_ROUND(trunc, 11)
#undef CUDARRAY_PACK_ROUND
#undef CUDARRAY_ROUND

/// The size of a and the sign of b.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> copysign(const pack<T, N>& a, const pack<T, N>& b) {
  using U = detail::unsigned_t<sizeof(T)>;
  const auto sign = splat<U, N>(U(1) << (8 * sizeof(T) - 1));
  return bits<T>((bits<U>(a) & ~sign) | (bits<U>(b) & sign));
}

/// f of M lanes at a time.
template <int M, class F, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> by_pieces(const F& f, const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (N <= M) {
    return f(a, b);
  } else {
    struct pieces {
      pack<T, M> of[::std::size_t(N / M)];
    };
    const auto x = __builtin_bit_cast(pieces, a), y = __builtin_bit_cast(pieces, b);
    pieces r;
    CUDARRAY_UNROLL
    for (int k = 0; k < N / M; ++k) r.of[k] = f(x.of[k], y.of[k]);
    return __builtin_bit_cast(pack<T, N>, r);
  }
}

/// Integers of up to 32 bits: the quotient of floats that hold them exactly, rounded down, is that of the integers, for
/// what it lacks to the next whole number is more than what the floats are off.
template <bool Remainder, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> divide_down(const pack<T, N>& a, const pack<T, N>& b) {
  using F = ::std::conditional_t<sizeof(T) <= 2, float, double>;
  return by_pieces<this_build::vector_bytes / int(sizeof(F))>(
      []<int M>(const pack<T, M>& x, const pack<T, M>& y) {
        const auto c = [](T v) { return splat<T, M>(v); };
        auto special = y == c(T(0));
        if constexpr (kind_of<T> == kind::signed_) special = special | (y == c(T(-1)));
        const auto by = select(special, c(T(1)), y);
        const auto q = convert<T>(floor(convert<F>(x) / convert<F>(by)));
        if constexpr (Remainder) return select(special, c(T(0)), x - q * by);
        else return select(special, -(x & y), q);  // x & -1 is x
      },
      a, b);
}

/// Floats: the quotient q rounded down, and r = a - q b, which is rounded once. Where a / b was rounded up to a whole
/// number, q is one too large, r exact and of the wrong sign. False where that does not hold: for large quotients,
/// infinities, NaN and divisors of 0.
template <class T, int N>
CUDARRAY_FORCE_INLINE bool divide_down(const pack<T, N>& a, const pack<T, N>& b, pack<T, N>& q, pack<T, N>& r) {
  if constexpr (!this_build::fma || sizeof(a) < 16) return false;
  const auto c = [](T v) { return splat<T, N>(v); };
  q = floor(a / b);
  if (any(!((abs(q) < c(sizeof(T) == 4 ? T(1 << 22) : T(int64(1) << 50))) & (abs(b) < c(detail::bounds<T>::highest)))))
    return false;
  r = fma(-q, b, a);
  const auto over = (r != c(T(0))) & ((r < c(T(0))) ^ (b < c(T(0))));
  q = select(over, q - c(T(1)), q);
  r = select(over, r + b, r);
  return true;
}

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> remainder(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (detail::is_floating<T>) {
    pack<T, N> q, r;
    const auto zero = splat<T, N>(T(0));
    if (divide_down(a, b, q, r)) return select(r == zero, copysign(zero, b), r);
  } else if constexpr (sizeof(T) <= 4) {
    return divide_down<true>(a, b);
  }
  const auto f = [](T x, T y) { return math::remainder(x, y); };
  return each_lane<decltype(f), N>(f, a, b);
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> floor_divide(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (detail::is_floating<T>) {
    pack<T, N> q, r;
    if (divide_down(a, b, q, r)) return q;
  } else if constexpr (sizeof(T) <= 4) {
    return divide_down<false>(a, b);
  }
  const auto f = [](T x, T y) { return math::floor_divide(x, y); };
  return each_lane<decltype(f), N>(f, a, b);
}

/// Shifts of lanes of 32 bits at least, which machines have.
template <bool Left, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> shift(const pack<T, N>& a, const pack<T, N>& b) {
  using U = detail::unsigned_t<sizeof(T)>;
  constexpr U width = 8 * sizeof(T);
  const auto inside = bits<U>(b) < splat<U, N>(width);
  const auto by = select(inside, bits<U>(b), splat<U, N>(U(width - 1)));
  using W = ::std::conditional_t<sizeof(T) == 8, T, ::std::conditional_t<::std::is_signed_v<T>, int32, uint32>>;
  const auto moved = by_pieces<this_build::vector_bytes / int(sizeof(W))>(
      []<int M>(const pack<T, M>& x, const pack<T, M>& y) {
        using V = detail::unsigned_t<sizeof(W)>;
        const auto n = convert<V>(bits<U>(y));
        if constexpr (Left) return convert<T>(bits<W>(pack<V, M>{bits<V>(convert<W>(x)).v << n.v}));
        else return convert<T>(pack<W, M>{convert<W>(x).v >> bits<W>(n).v});
      },
      a, bits<T>(by));
  if constexpr (!Left && ::std::is_signed_v<T>) return moved;  // the sign fills it
  else return select(inside, moved, splat<T, N>(T(0)));
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> left_shift(const pack<T, N>& a, const pack<T, N>& b) {
  return shift<true>(a, b);
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> right_shift(const pack<T, N>& a, const pack<T, N>& b) {
  return shift<false>(a, b);
}

// The vector functions may miss whole numbers by a unit of the last place, which users compare with and round.

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> cbrt(const pack<T, N>& x) {
  const auto y = library::cbrt(x), whole = rint(y);
  return select(whole * whole * whole == x, whole, y);
}
/// Beside whole numbers as float64 has it, or, of that, the C library for one number.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> log10(const pack<T, N>& x) {
  const auto y = library::log10(x);
  const auto close = abs(y - rint(y)) < abs(y) * splat<T, N>(8 * ::std::numeric_limits<T>::epsilon());
  if (!any(close)) return y;
  if constexpr (sizeof(T) == 4) {
    const auto wide = []<int M>(const pack<T, M>& v, const pack<T, M>&) {
      return convert<T>(library::log10(convert<double>(v)));
    };
    return select(close, by_pieces<this_build::vector_bytes / 8>(wide, x, x), y);
  } else {
    const auto f = [](T v) { return math::log10(v); };
    return select(close, each_lane<decltype(f), N>(f, x), y);
  }
}

/// The result is the larger size where the smaller does not count, as in core/math.hpp.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> hypot(const pack<T, N>& x, const pack<T, N>& y) {
  const auto a = abs(x), b = abs(y), large = select(a > b, a, b), lesser = select(a > b, b, a);
  const auto slight = lesser <= large * splat<T, N>(sizeof(T) == 4 ? T(1.220703125e-4) : T(7.450580596923828e-9));
  return select(slight, large, library::hypot(x, y));
}

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> power(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (detail::is_floating<T>) {
    const auto two = b == splat<T, N>(T(2));
    if (!any(!two)) return a * a;
    return select(two, a * a, library::power(a, b));
  } else {
    const auto f = [](T x, T y) { return math::power(x, y); };
    return each_lane<decltype(f), N>(f, a, b);
  }
}

}  // namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
