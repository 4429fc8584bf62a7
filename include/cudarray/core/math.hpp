// Scalar functions for host and device code, with NumPy's meaning at the edges. Packs overload the same names.
// SPDX-License-Identifier: MIT
#pragma once

#include "build.hpp"
#include "dtype.hpp"

namespace cudarray::inline v0 {
namespace detail {
inline namespace CUDARRAY_ARITHMETIC {

/// Conversion between lane types; SIMD packs add an overload found by argument-dependent look-up.
template <class To, class From>
requires(kind_of<From> != kind::none) CUDARRAY_HD constexpr To lane_cast(From v) { return convert_scalar<To>(v); }

}  // namespace CUDARRAY_ARITHMETIC

template <class T>
concept real_floating = ::std::is_same_v<T, float> || ::std::is_same_v<T, double>;
template <class T>
concept integer = is_integer<T>;
template <class T>
concept whole = is_integer<T> || ::std::is_same_v<T, bool>;

}  // namespace detail

/// Functions of scalars. float32 and float64 as the C library and CUDA's have them, called by the compilers' names for
/// them: `<cmath>` takes longer to read than all of this directory. Integers wrap.
namespace math::inline CUDARRAY_ARITHMETIC {

#define CUDARRAY_MATH1(name, c)                                          \
  CUDARRAY_HD inline float name(float x) { return __builtin_##c##f(x); } \
  CUDARRAY_HD inline double name(double x) { return __builtin_##c(x); }
#define CUDARRAY_MATH2(name, c)                                                      \
  CUDARRAY_HD inline float name(float x, float y) { return __builtin_##c##f(x, y); } \
  CUDARRAY_HD inline double name(double x, double y) { return __builtin_##c(x, y); }
CUDARRAY_MATH1(exp, exp)
CUDARRAY_MATH1(exp2, exp2)
CUDARRAY_MATH1(expm1, expm1)
CUDARRAY_MATH1(log, log)
CUDARRAY_MATH1(log2, log2)
CUDARRAY_MATH1(log10, log10)
CUDARRAY_MATH1(log1p, log1p)
CUDARRAY_MATH1(sqrt, sqrt)
CUDARRAY_MATH1(cbrt, cbrt)
CUDARRAY_MATH1(sin, sin)
CUDARRAY_MATH1(cos, cos)
CUDARRAY_MATH1(tan, tan)
CUDARRAY_MATH1(arcsin, asin)
CUDARRAY_MATH1(arccos, acos)
CUDARRAY_MATH1(arctan, atan)
CUDARRAY_MATH1(sinh, sinh)
CUDARRAY_MATH1(cosh, cosh)
CUDARRAY_MATH1(tanh, tanh)
CUDARRAY_MATH1(erf, erf)
CUDARRAY_MATH1(erfc, erfc)
CUDARRAY_MATH1(floor, floor)
CUDARRAY_MATH1(ceil, ceil)
CUDARRAY_MATH1(trunc, trunc)
CUDARRAY_MATH1(rint, rint)
CUDARRAY_MATH1(abs, fabs)
CUDARRAY_MATH2(arctan2, atan2)
CUDARRAY_MATH2(copysign, copysign)
CUDARRAY_MATH2(fmod, fmod)
#undef CUDARRAY_MATH1
#undef CUDARRAY_MATH2

CUDARRAY_HD inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUDARRAY_HD inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Exact where the smaller operand does not count: CUDA's may round up there, at the largest number to infinity.
template <detail::real_floating T>
CUDARRAY_HD inline T hypot(T x, T y) {
  const T a = abs(x), b = abs(y), large = a > b ? a : b, lesser = a > b ? b : a;
  if (lesser <= large * (sizeof(T) == 4 ? T(1.220703125e-4) : T(7.450580596923828e-9))) return large;  // 2^-13, 2^-27
  if constexpr (sizeof(T) == 4) return __builtin_hypotf(x, y);
  else return __builtin_hypot(x, y);
}

template <dtype T>
CUDARRAY_HD constexpr T select(bool c, T a, T b) {
  return c ? a : b;
}

/// x < 0; compilers warn of it for unsigned types.
template <dtype T>
CUDARRAY_HD constexpr bool below_zero(T x) {
  if constexpr (kind_of<T> <= kind::unsigned_) return false;
  else return x < T(0);
}

/// Comparisons. Integers of two signs are compared as what they are, not as C++ converts them.
#define CUDARRAY_COMPARISON(name, sign)                                                                     \
  template <dtype T, dtype U>                                                                               \
  CUDARRAY_HD constexpr bool name(T a, U b) {                                                               \
    if constexpr (!detail::is_integer<T> || kind_of<T> == kind_of<U>) return a sign b;                      \
    else if constexpr (kind_of<T> == kind::signed_) return a < T(0) ? -1 sign 0 : uint64(a) sign uint64(b); \
    else return b < U(0) ? 0 sign - 1 : uint64(a) sign uint64(b);                                           \
  }
CUDARRAY_COMPARISON(equal, ==)
CUDARRAY_COMPARISON(not_equal, !=)
CUDARRAY_COMPARISON(less, <)
CUDARRAY_COMPARISON(less_equal, <=)
CUDARRAY_COMPARISON(greater, >)
CUDARRAY_COMPARISON(greater_equal, >=)
#undef CUDARRAY_COMPARISON

/// Integer arithmetic wraps, bool + bool is "or" and bool * bool "and", as NumPy has it.
#define CUDARRAY_WRAPPING(name, sign)                                        \
  template <dtype T>                                                         \
  CUDARRAY_HD constexpr T name(T a, T b) {                                   \
    if constexpr (detail::is_integer<T>) return T(uint64(a) sign uint64(b)); \
    else return a sign b;                                                    \
  }
CUDARRAY_WRAPPING(add, +)
CUDARRAY_WRAPPING(subtract, -)
CUDARRAY_WRAPPING(multiply, *)
#undef CUDARRAY_WRAPPING
CUDARRAY_HD constexpr bool add(bool a, bool b) { return a || b; }
CUDARRAY_HD constexpr bool multiply(bool a, bool b) { return a && b; }

template <dtype T>
CUDARRAY_HD constexpr T negative(T a) {
  if constexpr (detail::is_integer<T>) return T(uint64(0) - uint64(a));
  else return -a;
}
template <detail::integer T>
CUDARRAY_HD constexpr T abs(T a) {
  return below_zero(a) ? negative(a) : a;
}
CUDARRAY_HD constexpr bool abs(bool a) { return a; }

template <detail::whole T>
CUDARRAY_HD constexpr T floor(T a) {
  return a;
}
template <detail::whole T>
CUDARRAY_HD constexpr T ceil(T a) {
  return a;
}
template <detail::whole T>
CUDARRAY_HD constexpr T trunc(T a) {
  return a;
}
template <detail::whole T>
CUDARRAY_HD constexpr T rint(T a) {
  return a;
}

template <dtype T>
CUDARRAY_HD constexpr T invert(T a) {
  if constexpr (::std::is_same_v<T, bool>) return !a;
  else return T(~a);
}

/// -1, 0 or 1; NaN stays NaN.
template <dtype T>
CUDARRAY_HD constexpr T sign(T a) {
  if constexpr (detail::is_integer<T>) return a > T(0) ? T(1) : below_zero(a) ? T(-1) : T(0);
  else return a > T(0) ? T(1) : below_zero(a) ? T(-1) : a == T(0) ? T(0) : a;
}

template <dtype T>
CUDARRAY_HD constexpr bool isnan(T a) {
  return detail::is_nan(a);
}
template <dtype T>
CUDARRAY_HD constexpr bool isinf(T a) {
  return detail::is_inf(a);
}
template <dtype T>
CUDARRAY_HD constexpr bool isfinite(T a) {
  return detail::is_finite(a);
}
CUDARRAY_HD constexpr bool isfinite(bool) { return true; }

/// The larger; NaN where either is.
template <dtype T>
CUDARRAY_HD constexpr T maximum(T a, T b) {
  if constexpr (detail::arithmetic::finite_math)
    if (detail::is_nan(b)) return b;
  return a > b || detail::is_nan(a) ? a : b;
}
/// The smaller; NaN where either is.
template <dtype T>
CUDARRAY_HD constexpr T minimum(T a, T b) {
  if constexpr (detail::arithmetic::finite_math)
    if (detail::is_nan(b)) return b;
  return a < b || detail::is_nan(a) ? a : b;
}

/// The remainder with the sign of the divisor, as Python's `%`. Integers: 0 for a divisor of 0.
template <dtype T>
CUDARRAY_HD inline T remainder(T a, T b) {
  if constexpr (detail::is_integer<T>) {
    if (b == T(0)) return T(0);
    if constexpr (kind_of<T> == kind::signed_)
      if (b == T(-1)) return T(0);
    const T m = T(a % b);
    return m != T(0) && ((below_zero(m)) != (below_zero(b))) ? T(m + b) : m;
  } else {
    const T m = fmod(a, b);
    if (b == T(0)) return m;
    if (m != T(0)) return (below_zero(b)) != (below_zero(m)) ? m + b : m;
    return copysign(T(0), b);
  }
}

/// The quotient rounded down. Integers: 0 for a divisor of 0, the most negative by -1 wraps.
template <dtype T>
CUDARRAY_HD inline T floor_divide(T a, T b) {
  if constexpr (detail::is_integer<T>) {
    if (b == T(0)) return T(0);
    if constexpr (kind_of<T> == kind::signed_)
      if (b == T(-1)) return negative(a);
    const T q = T(a / b);
    return T(a % b) != T(0) && ((below_zero(a)) != (below_zero(b))) ? T(q - 1) : q;
  } else {  // as NumPy's npy_divmod: exact where the quotient is representable
    if (b == T(0)) return a / b;
    const T m = fmod(a, b);
    T q = (a - m) / b;
    if (m != T(0) && (below_zero(b)) != (below_zero(m))) q -= T(1);
    if (q == T(0)) return copysign(T(0), a / b);
    const T f = floor(q);
    return q - f > T(0.5) ? f + T(1) : f;
  }
}

/// a to the power b. Integers wrap; their negative powers, which callers do not allow, are 0 unless a is 1 or -1.
template <dtype T>
CUDARRAY_HD inline T power(T a, T b) {
  if constexpr (detail::is_integer<T>) {
    if (below_zero(b)) return a == T(1) ? T(1) : a == T(-1) ? (b & T(1) ? T(-1) : T(1)) : T(0);
    uint64 r = 1, x = uint64(a);
    for (uint64 e = uint64(b); e; e >>= 1) {
      if (e & 1) r *= x;
      x *= x;
    }
    return T(r);
  } else if constexpr (::std::is_same_v<T, float>) {
    return b == 2 ? a * a : __builtin_powf(a, b);
  } else {
    return b == 2 ? a * a : __builtin_pow(a, b);
  }
}

/// a * 2^b; 0 where b is negative or reaches the width.
template <detail::integer T>
CUDARRAY_HD constexpr T left_shift(T a, T b) {
  return below_zero(b) || uint64(b) >= 8 * sizeof(T) ? T(0) : T(uint64(a) << uint64(b));
}
/// a / 2^b rounded down; 0 or -1 where b is negative or reaches the width.
template <detail::integer T>
CUDARRAY_HD constexpr T right_shift(T a, T b) {
  return below_zero(b) || uint64(b) >= 8 * sizeof(T) ? T(below_zero(a) ? -1 : 0) : T(a >> b);
}

}  // namespace math::inline CUDARRAY_ARITHMETIC
namespace detail {

/// The number c, as lanes like `l`.
CUDARRAY_HD constexpr uint32 lanes_like(uint32, uint32 c) { return c; }
CUDARRAY_HD constexpr uint64 lanes_like(uint64, uint64 c) { return c; }
CUDARRAY_HD constexpr float lanes_like(float, float c) { return c; }
CUDARRAY_HD constexpr double lanes_like(double, double c) { return c; }
template <class T>
CUDARRAY_HD constexpr complex<T> lanes_like(complex<T>, complex<T> c) {
  return c;
}
/// A constant beside dual numbers.
template <class L, class T>
CUDARRAY_HD constexpr auto lanes_like(const dual<L>& l, T c) {
  return lanes_like(l.primal, c);
}
/// `constants_like{l, T(0)}(v)`: the number v, of type T, as lanes like l.
template <class L, class T>
struct constants_like {
  const L& l;
  T type;
  CUDARRAY_EXEC_CHECK_OFF
  template <class V>
  CUDARRAY_HD constexpr auto operator()(V v) const {
    return lanes_like(l, static_cast<T>(v));
  }
};
template <class L, class T>
constants_like(const L&, T) -> constants_like<L, T>;
/// The type of a lane.
template <class L>
auto lane_of(const L& l) {
  if constexpr (is_dual<L>) return lane_of(l.primal);
  else if constexpr (requires { l.v[0]; }) return ::std::remove_cvref_t<decltype(l.v[0])>();
  else return l;
}
/// `number_like{l}(v)`: the number v as lanes like l, which are float or double.
template <class L, class T>
struct number_like {
  const L& l;
  CUDARRAY_EXEC_CHECK_OFF
  CUDARRAY_HD constexpr auto operator()(double v) const { return lanes_like(l, static_cast<T>(v)); }
};
template <class L>
number_like(const L& l) -> number_like<L, decltype(lane_of(l))>;

}  // namespace detail
}  // namespace cudarray::inline v0
