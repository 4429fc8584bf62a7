// The functions of core/math.hpp on SIMD packs: polynomials where they pay, the scalar function per lane elsewhere.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../core/philox.hpp"
#include "library.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD {

using library::arccos;
using library::arcsin;
using library::arctan;
using library::arctan2;
using library::cosh;
using library::erf;
using library::erfc;
using library::exp2;
using library::expm1;
using library::log1p;
using library::log2;
using library::sinh;
using library::tan;

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> add(const pack<T, N>& a, const pack<T, N>& b) {
  return a + b;
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> subtract(const pack<T, N>& a, const pack<T, N>& b) {
  return a - b;
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> multiply(const pack<T, N>& a, const pack<T, N>& b) {
  return a * b;
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> add(const mask<W, N>& a, const mask<V, N>& b) {
  return a | b;
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> multiply(const mask<W, N>& a, const mask<V, N>& b) {
  return a & b;
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> negative(const pack<T, N>& a) {
  return -a;
}

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> invert(const pack<T, N>& a) {
  return ~a;
}
template <int W, int N>
CUDARRAY_FORCE_INLINE mask<W, N> invert(const mask<W, N>& a) {
  return !a;
}

/// True where a < b ? a : b is one instruction, which compilers do not see in the choice.
template <class P>
inline constexpr bool picks_at_once = false;
#if defined(__x86_64__) && defined(__AVX__)
template <class T, int N>
inline constexpr bool picks_at_once<pack<T, N>> = ::std::is_floating_point_v<T> && sizeof(pack<T, N>) >= 16;
#define CUDARRAY_PICK(name)                                                                               \
  if constexpr (picks_at_once<pack<T, N>>) {                                                              \
    pack<T, N> r;                                                                                         \
    if constexpr (::std::is_same_v<T, float>) asm(name "ps %2, %1, %0" : "=v"(r.v) : "v"(a.v), "v"(b.v)); \
    else asm(name "pd %2, %1, %0" : "=v"(r.v) : "v"(a.v), "v"(b.v));                                      \
    return r;                                                                                             \
  }
#else
#define CUDARRAY_PICK(name)
#endif
/// a < b ? a : b, and a > b ? a : b: b where there is NaN.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> smaller(const pack<T, N>& a, const pack<T, N>& b) {
  CUDARRAY_PICK("vmin")
  return select(a < b, a, b);
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> larger(const pack<T, N>& a, const pack<T, N>& b) {
  CUDARRAY_PICK("vmax")
  return select(a > b, a, b);
}
#undef CUDARRAY_PICK

/// NaN where there is one.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> maximum(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (picks_at_once<pack<T, N>>) return select(isnan(a), a, larger(a, b));
  else if constexpr (detail::by_bits<T>) return select(isnan(a) | ((a > b) & !isnan(b)), a, b);
  else return select((a > b) | (a != a), a, b);
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> minimum(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (picks_at_once<pack<T, N>>) return select(isnan(a), a, smaller(a, b));
  else if constexpr (detail::by_bits<T>) return select(isnan(a) | ((a < b) & !isnan(b)), a, b);
  else return select((a < b) | (a != a), a, b);
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> maximum(const mask<W, N>& a, const mask<V, N>& b) {
  return a | b;
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> minimum(const mask<W, N>& a, const mask<V, N>& b) {
  return a & b;
}

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> abs(const pack<T, N>& a) {
  if constexpr (detail::is_floating<T>) {
    using Int = detail::signed_t<sizeof(T)>;
    return bits<T>(bits<Int>(a) & splat<Int, N>(::std::numeric_limits<Int>::max()));
  } else {
    return select(a < splat<T, N>(T(0)), -a, a);
  }
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> sign(const pack<T, N>& a) {
  const auto zero = splat<T, N>(T(0)), one = splat<T, N>(T(1));
  return select(a > zero, one, select(a < zero, zero - one, select(a == zero, zero, a)));
}
template <class T, int N>
CUDARRAY_FORCE_INLINE auto isfinite(const pack<T, N>& a) {
  if constexpr (detail::by_bits<T>) return magnitude(a) < infinite_bits<T, N>();
  else return a - a == splat<T, N>(T(0));
}
template <int W, int N>
CUDARRAY_FORCE_INLINE mask<W, N> isfinite(const mask<W, N>& a) {
  return {a.v | ~a.v};
}
template <int W, int N>
CUDARRAY_FORCE_INLINE mask<W, N> isnan(const mask<W, N>& a) {
  return a ^ a;
}
template <int W, int N>
CUDARRAY_FORCE_INLINE mask<W, N> isinf(const mask<W, N>& a) {
  return a ^ a;
}
template <class T, int N>
CUDARRAY_FORCE_INLINE auto isinf(const pack<T, N>& a) {
  if constexpr (detail::by_bits<T>) return magnitude(a) == infinite_bits<T, N>();
  else if constexpr (detail::is_floating<T>) return abs(a) == splat<T, N>(::std::numeric_limits<T>::infinity());
  else return a != a;
}

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> sqrt(const pack<T, N>& a) {
  // the compilers vectorise a sqrt loop only where errno is switched off
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (sizeof(a) >= 16) {
    pack<T, N> r;
    if constexpr (::std::is_same_v<T, float>) asm("vsqrtps %1, %0" : "=v"(r.v) : "v"(a.v));
    else asm("vsqrtpd %1, %0" : "=v"(r.v) : "v"(a.v));
    return r;
  }
#endif
  const auto f = [](T x) { return math::sqrt(x); };
  return each_lane<decltype(f), N>(f, a);
}

#define CUDARRAY_MASK_IDENTITY(name)                           \
  template <int W, int N>                                      \
  CUDARRAY_FORCE_INLINE mask<W, N> name(const mask<W, N>& a) { \
    return a;                                                  \
  }
CUDARRAY_MASK_IDENTITY(abs)
CUDARRAY_MASK_IDENTITY(floor)
CUDARRAY_MASK_IDENTITY(ceil)
CUDARRAY_MASK_IDENTITY(trunc)
CUDARRAY_MASK_IDENTITY(rint)
#undef CUDARRAY_MASK_IDENTITY

/// a * b + c; fused where the build has the instruction.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> multiply_add(const pack<T, N>& a, const pack<T, N>& b, const pack<T, N>& c) {
  return {a.v * b.v + c.v};
}

/// 1.5 * 2^23 or 1.5 * 2^52: what is added to it is rounded to an integer, which its lowest bits hold then.
template <class T>
inline constexpr T rounder = sizeof(T) == 4 ? T(12582912) : T(6755399441055744);
/// Rounds to the nearest integer; for |a| below 2^22, or 2^51.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> round_small(const pack<T, N>& a) {
  const auto magic = splat<T, N>(rounder<T>);
  return (a + magic) - magic;
}

/// x * 2^k for x in [0.5, 2] and integers k in [-151, 129], of float64 in [-1077, 1025], rounded once where the machine
/// can; NaN where x is NaN.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> scale(const pack<T, N>& x, const pack<T, N>& k) {
#if defined(__x86_64__)
  if constexpr (this_build::vector_bytes == 64 && sizeof(x) >= 16) {
    pack<T, N> r;
    if constexpr (::std::is_same_v<T, float>) asm("vscalefps %2, %1, %0" : "=v"(r.v) : "v"(x.v), "v"(k.v));
    else asm("vscalefpd %2, %1, %0" : "=v"(r.v) : "v"(x.v), "v"(k.v));
    return r;
  }
#endif
  using Int = detail::signed_t<sizeof(T)>;
  constexpr int fraction = ::std::numeric_limits<T>::digits - 1, bias = ::std::numeric_limits<T>::max_exponent - 1;
  const auto biased = splat<T, N>(rounder<T> + bias);
  const auto half = round_small(k * splat<T, N>(T(0.5)));  // two factors, each of them normal
  const auto power = [&](const auto& i) { return bits<T>(pack<Int, N>{bits<Int>(i + biased).v << fraction}); };
  return x * power(half) * power(k - half);
}

/// exp(x) for x in [-104, 88.8], by Cody-Waite reduction and the polynomial of Cephes' expf (S. Moshier); NaN for NaN.
template <int N>
CUDARRAY_FORCE_INLINE pack<float, N> bounded_exp(const pack<float, N>& x) {
  const auto c = [](float v) { return splat<float, N>(v); };
  const auto k = round_small(x * c(1.44269504088896341f));
  auto r = multiply_add(k, c(-0.693359375f), x);
  r = multiply_add(k, c(2.12194440e-4f), r);
  auto p = multiply_add(r, c(1.9875691500e-4f), c(1.3981999507e-3f));
  p = multiply_add(p, r, c(8.3334519073e-3f));
  p = multiply_add(p, r, c(4.1665795894e-2f));
  p = multiply_add(p, r, c(1.6666665459e-1f));
  p = multiply_add(p, r, c(5.0000001201e-1f));
  return scale(multiply_add(p * r, r, r) + c(1.f), k);
}

/// exp(x) for x in [-746, 709.8]: as for float32, but (exp(r) - 1 - r) / r^2 is Chebyshev's polynomial of degree 9 on
/// |r| <= log(2) / 2 (mpmath.chebyfit), which leaves exp 1.6e-17 off.
template <int N>
CUDARRAY_FORCE_INLINE pack<double, N> bounded_exp(const pack<double, N>& x) {
  const auto c = [](double v) { return splat<double, N>(v); };
  const auto k = round_small(x * c(1.4426950408889634));
  auto r = multiply_add(k, c(-6.93145751953125e-1), x);
  r = multiply_add(k, c(-1.42860682030941723212e-6), r);
  auto p = multiply_add(r, c(2.5100375832561234e-08), c(2.7620075879983367e-07));
  p = multiply_add(p, r, c(2.7557268480310024e-06));
  p = multiply_add(p, r, c(2.4801521322368692e-05));
  p = multiply_add(p, r, c(0.00019841269863040545));
  p = multiply_add(p, r, c(0.0013888888917196719));
  p = multiply_add(p, r, c(0.008333333333330065));
  p = multiply_add(p, r, c(0.041666666666624164));
  p = multiply_add(p, r, c(0.16666666666666669));
  p = multiply_add(p, r, c(0.5000000000000001));
  return scale(multiply_add(p * r, r, r) + c(1.), k);
}

/// exp, at most 1.1 ulp off; of float64 the library's where packs are below 64 bytes, which is faster there. What is 0
/// is not computed: numbers that underflow take processors 15 times as long, and softmax is given infinities where a
/// mask hides something.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> exp(const pack<T, N>& x) {
  const auto c = [](T v) { return splat<T, N>(v); };
  const auto gone = x < c(sizeof(T) == 4 ? T(-104) : T(-746));
  const auto rest = select(gone, c(T(0)), x);
  if constexpr (sizeof(T) == 4 || this_build::vector_bytes == 64)
    return select(gone, c(0), bounded_exp(smaller(c(sizeof(T) == 4 ? T(88.8) : T(709.8)), rest)));  // NaN passes
  else return select(gone, c(0), library::exp(rest));
}

/// log by the polynomial of Cephes' logf (S. Moshier); at most 1 ulp off.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> log(const pack<T, N>& x) {
  if constexpr (!::std::is_same_v<T, float>) {
    return library::log(x);
  } else {
    const auto c = [](float v) { return splat<float, N>(v); };
    const auto i = [](int32 v) { return splat<int32, N>(v); };
    const auto tiny = x < c(1.17549435e-38f);
    const auto scaled = select(tiny, x * c(8388608.f), x);
    const auto b = bits<int32>(scaled);
    auto e = convert<float>(pack<int32, N>{(b.v >> 23) - 126}) - select(tiny, c(23.f), c(0.f));
    auto m = bits<float>((b & i(0x007fffff)) | i(0x3f000000));  // [0.5, 1)
    const auto low = m < c(0.707106781186547524f);
    e = e - select(low, c(1.f), c(0.f));
    m = m + select(low, m, c(0.f)) - c(1.f);
    const auto z = m * m;
    auto p = multiply_add(c(7.0376836292e-2f), m, c(-1.1514610310e-1f));
    p = multiply_add(p, m, c(1.1676998740e-1f));
    p = multiply_add(p, m, c(-1.2420140846e-1f));
    p = multiply_add(p, m, c(1.4249322787e-1f));
    p = multiply_add(p, m, c(-1.6668057665e-1f));
    p = multiply_add(p, m, c(2.0000714765e-1f));
    p = multiply_add(p, m, c(-2.4999993993e-1f));
    p = multiply_add(p, m, c(3.3333331174e-1f));
    auto y = p * m * z;
    y = multiply_add(e, c(-2.12194440e-4f), y);
    y = multiply_add(z, c(-0.5f), y);
    y = multiply_add(e, c(0.693359375f), m + y);
    const float inf = ::std::numeric_limits<float>::infinity();
    y = select(x == c(inf), x, y);
    y = select(x == c(0.f), c(-inf), y);
    return select((x < c(0.f)) | isnan(x), c(::std::numeric_limits<float>::quiet_NaN()), y);
  }
}

/// tanh: Cephes' polynomial below 0.625, by exp above.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> tanh(const pack<T, N>& x) {
  if constexpr (!::std::is_same_v<T, float>) {
    return library::tanh(x);
  } else {
    const auto c = [](float v) { return splat<float, N>(v); };
    const auto a = abs(x), z = x * x;
    const auto sign = bits<int32>(x) & splat<int32, N>(::std::numeric_limits<int32>::min());
    auto p = multiply_add(c(-5.70498872745e-3f), z, c(2.06390887954e-2f));
    p = multiply_add(p, z, c(-5.37397155531e-2f));
    p = multiply_add(p, z, c(1.33314422036e-1f));
    p = multiply_add(p, z, c(-3.33332819422e-1f));
    const auto low = multiply_add(p * z, x, x);
    const auto large = c(1.f) - c(2.f) / (bounded_exp(smaller(c(20.f), a + a)) + c(1.f));  // 1 from 18.1 on; NaN passes
    return bits<float>(bits<int32>(select(a < c(0.625f), low, large)) | sign);
  }
}

/// a * b + c, rounded once.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> fma(const pack<T, N>& a, const pack<T, N>& b, const pack<T, N>& c) {
#if defined(__x86_64__) && defined(__FMA__)
  if constexpr (sizeof(a) >= 16) {
    pack<T, N> r = c;
    if constexpr (::std::is_same_v<T, float>) asm("vfmadd231ps %2, %1, %0" : "+v"(r.v) : "v"(a.v), "v"(b.v));
    else asm("vfmadd231pd %2, %1, %0" : "+v"(r.v) : "v"(a.v), "v"(b.v));
    return r;
  }
#endif
  const auto f = [](T x, T y, T z) { return math::fma(x, y, z); };
  return each_lane<decltype(f), N>(f, a, b, c);
}

/// sin or cos: of float32, with fused multiply-adds and up to 131072, at most 1.5 ulp off, else the library's. The
/// nearest multiple of pi / 2 is taken off in three parts (W. J. Cody, W. Waite 1980). With what is left, r, and z =
/// r^2, sin is r + r z p(z) and cos 1 + z p(z), p being cubic and minimax for |r| <= 1.01 pi / 4 (Remez), 5.7e-12
/// and 1.3e-10 off: each lane takes the coefficients of its own.
template <bool Cosine, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> sine(const pack<T, N>& x) {
  const auto otherwise = [&] {
    if constexpr (Cosine) return library::cos(x);
    else return library::sin(x);
  };
  if constexpr (sizeof(T) != 4 || !this_build::fma) {
    return otherwise();
  } else {
    const auto c = [](float v) { return splat<float, N>(v); };
    const auto i = [](int32 v) { return splat<int32, N>(v); };
    const auto a = abs(x), magic = c(rounder<float>);
    const auto turns = multiply_add(a, c(0.636619772f), magic), k = turns - magic;
    auto r = fma(k, c(-1.57079637f), a);
    r = fma(k, c(4.37113883e-8f), r);
    r = fma(k, c(1.71512451e-15f), r);
    const auto quarter = Cosine ? bits<int32>(turns) + i(1) : bits<int32>(turns);
    const auto odd = (quarter & i(1)) != i(0);
    const auto either = [&](float of_cos, float of_sin) { return select(odd, c(of_cos), c(of_sin)); };
    const auto first = select(odd, c(1.f), r), z = r * r;
    auto p =
        multiply_add(z, either(2.44256817708e-5f, 2.71736670368e-6f), either(-1.38872514869e-3f, -1.98392326603e-4f));
    p = multiply_add(p, z, either(4.16666443678e-2f, 8.33332905609e-3f));
    p = multiply_add(p, z, either(-0.5f, -1.66666666386e-1f));
    const pack<int32, N> half{(quarter.v & 2) << 30};
    const auto sign = Cosine ? half : half ^ (bits<int32>(x) & i(::std::numeric_limits<int32>::min()));
    const auto y = bits<float>(bits<int32>(multiply_add(first * z, p, first)) ^ sign);
    const auto beyond = a > c(131072.f);
    return any(beyond) ? select(beyond, otherwise(), y) : y;
  }
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> sin(const pack<T, N>& x) {
  return sine<false>(x);
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> cos(const pack<T, N>& x) {
  return sine<true>(x);
}

/// What core/philox.hpp asks of lanes.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> lanes_like(const pack<T, N>&, ::std::type_identity_t<T> c) {
  return splat<T, N>(c);
}
template <int By, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> shift_right(const pack<T, N>& a) {
  return {a.v >> By};
}
template <int By, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> shift_left(const pack<T, N>& a) {
  return {a.v << By};
}
template <class To, class T, int N>
CUDARRAY_FORCE_INLINE pack<To, N> bit_lanes(const pack<T, N>& a) {
  return bits<To>(a);
}
template <class To, class T, int N>
CUDARRAY_FORCE_INLINE pack<To, N> exact_lanes(const pack<T, N>& a) {
  return convert<To>(a);
}
template <int N>
CUDARRAY_FORCE_INLINE pack<uint64, N> join_words(const pack<uint32, N>& low, const pack<uint32, N>& high) {
  return {convert<uint64>(low).v | convert<uint64>(high).v << 32};
}
template <int N>
CUDARRAY_FORCE_INLINE detail::product_halves<pack<uint32, N>> multiply_wide(const pack<uint32, N>& w, uint32 c) {
  if constexpr (N % 2 == 0 && sizeof(w) >= 16) {
    // the words of even and of odd number, each as 64 bits
    using wide = typename pack<uint64, N / 2>::vector;
    const wide even = reinterpret_cast<wide>(w.v), odd = even >> 32, factor = uint64(c) - wide{};
    wide a, b;
#if defined(__x86_64__) && defined(__AVX__)
    asm("vpmuludq %2, %1, %0" : "=v"(a) : "v"(even), "v"(factor));
    asm("vpmuludq %2, %1, %0" : "=v"(b) : "v"(odd), "v"(factor));
#else
    a = (even & uint64(0xffffffffu)) * factor;
    b = odd * factor;
#endif
    const wide upper = uint64(0xffffffff00000000u) - wide{};
    using words = typename pack<uint32, N>::vector;
    return {{reinterpret_cast<words>((a >> 32) | (b & upper))}, {reinterpret_cast<words>((a & ~upper) | (b << 32))}};
  } else {
    const auto product = [&](int k) { return uint64(w.v[k]) * c; };
    return {from_lanes<uint32, N>([&](int k) { return uint32(product(k) >> 32); }),
            from_lanes<uint32, N>([&](int k) { return uint32(product(k)); })};
  }
}

}  // namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
