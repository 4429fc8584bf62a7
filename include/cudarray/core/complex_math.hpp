// Functions of complex scalars for host and device code, with the branch cuts of C99 and NumPy.
// SPDX-License-Identifier: MIT
#pragma once

#include "special.hpp"

/// The formulas of the inverse functions are Kahan's: Branch Cuts for Complex Elementary Functions, or Much Ado About
/// Nothing's Sign Bit (1987).
namespace cudarray::inline v0::math::inline CUDARRAY_ARITHMETIC {

template <class T>
CUDARRAY_HD constexpr T real(complex<T> z) {
  return z.re;
}
template <class T>
CUDARRAY_HD constexpr T imag(complex<T> z) {
  return z.im;
}
template <class T>
CUDARRAY_HD constexpr complex<T> conj(complex<T> z) {
  return {z.re, -z.im};
}
template <class T>
CUDARRAY_HD inline T abs(complex<T> z) {
  return hypot(z.re, z.im);
}
/// The angle to the positive real axis, in (-pi, pi].
template <class T>
CUDARRAY_HD inline T angle(complex<T> z) {
  return arctan2(z.im, z.re);
}
template <detail::real_floating T>
CUDARRAY_HD inline T angle(T x) {
  return isnan(x) ? x : arctan2(T(0), x);
}
/// i z and z / i: exact, signs of zeros, too.
template <class T>
CUDARRAY_HD constexpr complex<T> quarter_turn(complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
CUDARRAY_HD constexpr complex<T> quarter_turn_back(complex<T> z) {
  return {z.im, -z.re};
}

/// (factor e^x) (cos y, sin y), where e^x alone may be beyond the range. An angle of 0 stays real.
template <class T>
CUDARRAY_HD inline complex<T> scaled_turn(T x, T y, T factor) {
  constexpr T most = sizeof(T) == 4 ? T(88) : T(709);
  if (y == T(0)) return {factor * exp(x), y};
  if (!isfinite(y) && x == -detail::bounds<T>::highest) return {T(0), T(0)};
  if (x > most && isfinite(x)) {
    const T half = exp(x * T(0.5));
    return {factor * half * cos(y) * half, factor * half * sin(y) * half};
  }
  const T e = factor * exp(x);
  if (!isfinite(y) && isinf(e)) return {e, y - y};
  return {e * cos(y), e * sin(y)};
}
template <class T>
CUDARRAY_HD inline complex<T> exp(complex<T> z) {
  return scaled_turn(z.re, z.im, T(1));
}
template <class T>
CUDARRAY_HD inline complex<T> exp2(complex<T> z) {
  constexpr T log_2 = T(0.6931471805599453), most = sizeof(T) == 4 ? T(127) : T(1023);
  if (!(abs(z.re) <= most)) return scaled_turn(z.re * log_2, z.im * log_2, T(1));
  return scaled_turn(T(0), z.im * log_2, exp2(z.re));
}
template <class T>
CUDARRAY_HD inline complex<T> expm1(complex<T> z) {
  if (z.im == T(0)) return {expm1(z.re) + T(0), z.im};  // of -0 it is 0 as the array API standard has it
  if (!isfinite(z.im) && isinf(z.re)) {
    const complex<T> e = exp(z);
    return {e.re - T(1), e.im};
  }
  const T s = sin(z.im * T(0.5));
  return {expm1(z.re) * cos(z.im) - T(2) * s * s, exp(z.re) * sin(z.im)};
}

/// log |z|, also where |z| is near 1 or beyond the range.
template <class T>
CUDARRAY_HD inline T log_of_abs(T x, T y) {
  const T a = abs(x), b = abs(y), large = a > b ? a : b, lesser = a > b ? b : a;
  if (large > T(0.5) && large < T(2)) return T(0.5) * log1p((large - T(1)) * (large + T(1)) + lesser * lesser);
  constexpr T scale = sizeof(T) == 4 ? T(0x1p60f) : T(0x1p500), high = scale * scale;
  constexpr T log_of_scale = sizeof(T) == 4 ? T(41.58883083359672) : T(346.57359027997264);
  if (large > high && isfinite(large)) return log(hypot(a / scale, b / scale)) + log_of_scale;
  if (large < T(1) / scale && large > T(0)) return log(hypot(a * scale, b * scale)) - log_of_scale;
  return log(hypot(a, b));
}
template <class T>
CUDARRAY_HD inline complex<T> log(complex<T> z) {
  return {log_of_abs(z.re, z.im), angle(z)};
}
template <class T>
CUDARRAY_HD inline complex<T> log2(complex<T> z) {
  const complex<T> l = log(z);
  return {l.re * T(1.4426950408889634), l.im * T(1.4426950408889634)};
}
template <class T>
CUDARRAY_HD inline complex<T> log10(complex<T> z) {
  const complex<T> l = log(z);
  return {l.re * T(0.4342944819032518), l.im * T(0.4342944819032518)};
}
template <class T>
CUDARRAY_HD inline complex<T> log1p(complex<T> z) {
  const T x = z.re, y = z.im;
  const bool near_1 = abs(x) < T(0.5) && abs(y) < T(0.5);
  return {near_1 ? T(0.5) * log1p(x * (x + T(2)) + y * y) : log_of_abs(x + T(1), y), arctan2(y, x + T(1))};
}

template <class T>
CUDARRAY_HD inline complex<T> sqrt(complex<T> z) {
  constexpr T high = sizeof(T) == 4 ? T(0x1p120f) : T(0x1p1000), low = sizeof(T) == 4 ? T(0x1p-100f) : T(0x1p-1000);
  if (isinf(z.im)) return {abs(z.im), z.im};
  if (z.re == T(0) && z.im == T(0)) return {T(0), z.im};
  if (isinf(z.re)) {
    const T lost = z.im - z.im;
    return z.re > T(0) ? complex<T>(z.re, isnan(lost) ? lost : copysign(T(0), z.im))
                       : complex<T>(abs(lost), copysign(z.re, z.im));
  }
  T a = abs(z.re), b = abs(z.im), back = T(1);
  if (a > high || b > high) a *= T(0.0625), b *= T(0.0625), back = T(4);
  else if (a < low && b < low) a *= T(0x1p40f), b *= T(0x1p40f), back = T(0x1p-20f);
  const T t = sqrt((a + hypot(a, b)) * T(0.5)), other = b / (T(2) * t);
  return z.re >= T(0) ? complex<T>(t * back, copysign(other * back, z.im))
                      : complex<T>(other * back, copysign(t * back, z.im));
}

template <class T>
CUDARRAY_HD inline complex<T> sinh(complex<T> z) {
  constexpr T most = sizeof(T) == 4 ? T(80) : T(700);
  if (z.im == T(0)) return {sinh(z.re), z.im};
  if (z.re == T(0)) return {isfinite(z.im) ? z.re * cos(z.im) : z.re, sin(z.im)};
  if (abs(z.re) <= most) return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
  const complex<T> e = scaled_turn(abs(z.re), z.im, T(0.5));
  return {copysign(T(1), z.re) * e.re, e.im};
}
template <class T>
CUDARRAY_HD inline complex<T> cosh(complex<T> z) {
  constexpr T most = sizeof(T) == 4 ? T(80) : T(700);
  if (z.im == T(0)) return {cosh(z.re), copysign(T(0), z.re) * z.im};
  if (z.re == T(0)) return {cos(z.im), isfinite(z.im) ? z.re * sin(z.im) : z.re};
  if (abs(z.re) <= most) return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
  const complex<T> e = scaled_turn(abs(z.re), z.im, T(0.5));
  return {e.re, copysign(T(1), z.re) * e.im};
}
template <class T>
CUDARRAY_HD inline complex<T> tanh(complex<T> z) {
  if (z.im == T(0)) return {tanh(z.re), z.im};
  if (isfinite(z.re) && !isfinite(z.im)) return {z.re == T(0) ? z.re : z.im - z.im, z.im - z.im};
  if (abs(z.re) > T(22)) {
    const T turn = isfinite(z.im) ? sin(z.im) * cos(z.im) : T(0);
    return {copysign(T(1), z.re), T(4) * turn * exp(T(-2) * abs(z.re))};
  }
  const T t = tan(z.im), beta = T(1) + t * t, s = sinh(z.re), rho = sqrt(T(1) + s * s);
  if (isinf(t)) return {rho / s, T(1) / t};
  const T below = T(1) + beta * s * s;
  return {beta * rho * s / below, t / below};
}
template <class T>
CUDARRAY_HD inline complex<T> sin(complex<T> z) {
  return quarter_turn_back(sinh(quarter_turn(z)));
}
template <class T>
CUDARRAY_HD inline complex<T> cos(complex<T> z) {
  return cosh(quarter_turn(z));
}
template <class T>
CUDARRAY_HD inline complex<T> tan(complex<T> z) {
  return quarter_turn_back(tanh(quarter_turn(z)));
}

/// The square roots of 1 - z and 1 + z.
template <class T>
struct roots_beside_1 {
  complex<T> minus, plus;
  CUDARRAY_HD explicit roots_beside_1(complex<T> z)
      : minus(sqrt(complex<T>(T(1) - z.re, -z.im))), plus(sqrt(complex<T>(T(1) + z.re, z.im))) {}
};
template <class T>
CUDARRAY_HD inline complex<T> arcsin(complex<T> z) {
  if (isinf(z)) return {arctan2(z.re, abs(z.im)), copysign(detail::bounds<T>::highest, z.im)};
  if (z.re == T(0) && isnan(z.im)) return z;
  const roots_beside_1<T> r(z);
  return {arctan2(z.re, r.minus.re * r.plus.re - r.minus.im * r.plus.im),
          arcsinh(r.minus.re * r.plus.im - r.minus.im * r.plus.re)};
}
template <class T>
CUDARRAY_HD inline complex<T> arccos(complex<T> z) {
  if (isinf(z)) return {arctan2(abs(z.im), z.re), copysign(detail::bounds<T>::highest, -z.im)};
  if (z.re == T(0) && isnan(z.im)) return {T(1.5707963267948966), z.im};
  const roots_beside_1<T> r(z);
  return {T(2) * arctan2(r.minus.re, r.plus.re), arcsinh(r.plus.re * r.minus.im - r.plus.im * r.minus.re)};
}
template <class T>
CUDARRAY_HD inline complex<T> arccosh(complex<T> z) {
  if (isinf(z)) return {detail::bounds<T>::highest, copysign(arctan2(abs(z.im), z.re), z.im)};
  if (z.re == T(0) && isnan(z.im)) return {z.im, T(1.5707963267948966)};
  const complex<T> m = sqrt(complex<T>(z.re - T(1), z.im)), p = sqrt(complex<T>(z.re + T(1), z.im));
  return {arcsinh(m.re * p.re + m.im * p.im), T(2) * arctan2(m.im, p.re)};
}
template <class T>
CUDARRAY_HD inline complex<T> arcsinh(complex<T> z) {
  return quarter_turn_back(arcsin(quarter_turn(z)));
}
template <class T>
CUDARRAY_HD inline complex<T> arctanh(complex<T> z) {
  constexpr T most = sizeof(T) == 4 ? T(0x1p62f) : T(0x1p510);
  const T x = abs(z.re), y = z.im, ay = abs(y);
  T re = 0, im = 0;
  if (isnan(x) && isfinite(y)) return {x, x};
  if (isnan(y) && (x == T(0) || isinf(x))) {
    im = y;
  } else if (x > most || ay > most) {
    const T h = hypot(x * T(0.5), y * T(0.5));
    re = isinf(h) ? T(0) : x / h / h * T(0.25);
    im = copysign(T(1.5707963267948966), y);
  } else if (x == T(1) && ay < T(1)) {  // where y * y may be 0
    re = T(0.25) * log(T(4) + y * y) - T(0.5) * log(ay);
    im = y == T(0) ? y : T(0.5) * arctan2(T(2) * y, -y * y);
  } else {
    re = T(0.25) * log1p(T(4) * x / ((T(1) - x) * (T(1) - x) + y * y));
    im = T(0.5) * arctan2(T(2) * y, (T(1) - x) * (T(1) + x) - y * y);
  }
  return {copysign(re, z.re), im};
}
template <class T>
CUDARRAY_HD inline complex<T> arctan(complex<T> z) {
  return quarter_turn_back(arctanh(quarter_turn(z)));
}

/// z / |z|, and 0 of 0.
template <class T>
CUDARRAY_HD inline complex<T> sign(complex<T> z) {
  const T a = abs(z);
  if (isinf(a)) {  // the infinite part alone counts
    const T lost = isinf(z.re) && isinf(z.im) ? a - a : T(0);
    return {isinf(z.re) ? copysign(T(1), z.re) + lost : T(0), isinf(z.im) ? copysign(T(1), z.im) + lost : T(0)};
  }
  return a == T(0) ? complex<T>(T(0)) : complex<T>(z.re / a, z.im / a);
}
template <class T>
CUDARRAY_HD inline complex<T> rint(complex<T> z) {
  return {rint(z.re), rint(z.im)};
}
/// z to the power w: by products for small whole w, else exp(w log z); of 0, 0 for a positive real part of w, else NaN.
template <class T>
CUDARRAY_HD inline complex<T> power(complex<T> z, complex<T> w) {
  if (w.re == T(0) && w.im == T(0)) return {T(1), T(0)};
  if (z.re == T(0) && z.im == T(0)) {
    const T v = w.re > T(0) ? T(0) : T(0) / z.re;
    return {v, v};
  }
  if (w.im == T(0) && abs(w.re) < T(100) && w.re == rint(w.re)) {
    complex<T> r(T(1)), square = z;
    for (int n = int(abs(w.re)); n > 0; n >>= 1, square = square * square)
      if (n & 1) r = r * square;
    return w.re > T(0) ? r : complex<T>(T(1)) / r;
  }
  return exp(w * log(z));
}

}  // namespace cudarray::inline v0::math::inline CUDARRAY_ARITHMETIC
