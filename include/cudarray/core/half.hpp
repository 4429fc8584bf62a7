// float16, bfloat16 and complex element types: the same in every translation unit, with or without CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "annotations.hpp"

namespace cudarray::inline v0 {
namespace detail {

CUDARRAY_HD constexpr float half_bits_to_float(::std::uint16_t h) {
  const ::std::uint32_t sign = (h & 0x8000u) << 16;
  ::std::uint32_t e = (h >> 10) & 0x1fu, m = h & 0x3ffu;
  if (e == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | (m << 13));
  if (e == 0) {
    // m * 2^-24 is exact in float32
    const float v = float(m) * 5.9604644775390625e-8f;
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(::std::uint32_t, v));
  }
  return __builtin_bit_cast(float, sign | ((e + 112u) << 23) | (m << 13));
}

/// Rounds to nearest, ties to even.
CUDARRAY_HD constexpr ::std::uint16_t float_to_half_bits(float f) {
  const ::std::uint32_t x = __builtin_bit_cast(::std::uint32_t, f);
  const ::std::uint32_t sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return ::std::uint16_t(sign | 0x7e00u | ((a >> 13) & 0x3ffu));
  if (a >= 0x477ff000u) return ::std::uint16_t(sign | 0x7c00u);  // 65520 and above
  if (a < 0x38800000u) {                                         // below 2^-14: a subnormal
    // adding 0.5 moves the significant bits to the end of the mantissa, rounded by the addition itself
    const float v = __builtin_bit_cast(float, a) + 0.5f;
    return ::std::uint16_t(sign | (__builtin_bit_cast(::std::uint32_t, v) - 0x3f000000u));
  }
  const ::std::uint32_t r = a - 0x38000000u + 0xfffu + ((a >> 13) & 1u);
  return ::std::uint16_t(sign | (r >> 13));
}

CUDARRAY_HD constexpr float bfloat_bits_to_float(::std::uint16_t b) {
  return __builtin_bit_cast(float, ::std::uint32_t(b) << 16);
}

CUDARRAY_HD constexpr ::std::uint16_t float_to_bfloat_bits(float f) {
  const ::std::uint32_t x = __builtin_bit_cast(::std::uint32_t, f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return ::std::uint16_t((x >> 16) | 0x40u);
  return ::std::uint16_t((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

/// A float on the way to a half type: rounded to odd, so that the second rounding has the result of one (Boldo and
/// Melquiond, "Emulation of FMA and correctly rounded sums", 2008). Of the two floats around a number that is none, the
/// one with the odd mantissa.
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr float round_to_odd(double v) {
  const float f = static_cast<float>(v);
  const auto d = static_cast<double>(f);
  if (d == v || v != v) return f;
  const ::std::uint32_t bits = __builtin_bit_cast(::std::uint32_t, f);
  return __builtin_bit_cast(float, (bits - ((d < 0 ? -d : d) > (v < 0 ? -v : v))) | 1u);
}
template <class Int>
CUDARRAY_HD CUDARRAY_FORCE_INLINE constexpr float round_to_odd(Int v) {
  if constexpr (sizeof(Int) <= 2) {
    return static_cast<float>(v);
  } else if constexpr (sizeof(Int) == 4) {
    return round_to_odd(static_cast<double>(v));
  } else {  // a double holds 53 bits: what lies below them counts as the last one
    constexpr Int below = 0x7ff, most = Int(1) << 53;
    const bool wide = v >= most || (Int(-1) < 0 && v <= -most);
    return round_to_odd(static_cast<double>(wide ? Int((v & ~below) | ((v & below) != 0 ? below + 1 : 0)) : v));
  }
}

template <class N>
concept rounded_once = ::std::is_same_v<N, double> || ::std::is_integral_v<N>;

}  // namespace detail

/// IEEE binary16, layout-compatible with `__half` and `_Float16`. It converts from and to float; arithmetic happens in
/// float32.
struct float16 {
  ::std::uint16_t bits = 0;
  constexpr float16() = default;
  CUDARRAY_HD explicit constexpr float16(float f) : bits(detail::float_to_half_bits(f)) {}
  /// Rounded once.
  template <detail::rounded_once N>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE explicit constexpr float16(N v) : float16(detail::round_to_odd(v)) {}
  CUDARRAY_HD constexpr operator float() const { return detail::half_bits_to_float(bits); }
};

/// bfloat16, layout-compatible with `__nv_bfloat16`. It converts from and to float; arithmetic happens in float32.
struct bfloat16 {
  ::std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  CUDARRAY_HD explicit constexpr bfloat16(float f) : bits(detail::float_to_bfloat_bits(f)) {}
  /// Rounded once.
  template <detail::rounded_once N>
  CUDARRAY_HD CUDARRAY_FORCE_INLINE explicit constexpr bfloat16(N v) : bfloat16(detail::round_to_odd(v)) {}
  CUDARRAY_HD constexpr operator float() const { return detail::bfloat_bits_to_float(bits); }
};

/// A complex number, layout-compatible with `std::complex<T>` and `cuFloatComplex`. It is one type for all files, so
/// its arithmetic, which each file may do differently, is always inlined.
template <class T>
struct complex {
  T re{}, im{};
  constexpr complex() = default;
  CUDARRAY_HD constexpr complex(T r, T i = T{}) : re(r), im(i) {}
  template <class U>
  CUDARRAY_HD explicit constexpr complex(const complex<U>& o) : re(T(o.re)), im(T(o.im)) {}
  /// From `std::complex` and its like; only the host calls it.
  template <class C>
  requires requires(const C& c) { c.real(), c.imag(); }
  constexpr complex(const C& c) : re(T(c.real())), im(T(c.imag())) {}
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr complex operator+(complex a, complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr complex operator-(complex a, complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr complex operator-(complex a) { return {-a.re, -a.im}; }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's algorithm (1962): scaled by the larger part of the divisor. By 0, each part is divided, as NumPy has it.
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr complex operator/(complex a, complex b) {
    if (b.re == 0 && b.im == 0) return {a.re / (b.re * b.re), a.im / (b.re * b.re)};
    const bool real = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    const T ratio = real ? b.im / b.re : b.re / b.im, scale = T(1) / (real ? b.re + b.im * ratio : b.im + b.re * ratio);
    if (real) return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr bool operator==(complex a, complex b) {
    return a.re == b.re && a.im == b.im;
  }
  CUDARRAY_HD CUDARRAY_FORCE_INLINE friend constexpr bool operator!=(complex a, complex b) { return !(a == b); }
};

using complex64 = complex<float>;
using complex128 = complex<double>;

}  // namespace cudarray::inline v0
