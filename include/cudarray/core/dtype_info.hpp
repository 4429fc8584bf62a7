// What NumPy's finfo, iinfo, can_cast and isdtype say of dtypes, at compile time.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "dtype.hpp"
#include "error.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A power of 2, times a number below 2.
template <class T>
constexpr T scaled(double mantissa, int exponent) {
  double v = mantissa;
  for (; exponent > 0; --exponent) v *= 2;
  for (; exponent < 0; ++exponent) v /= 2;
  return T(v);
}
/// How many bits follow the point, and the exponents of the largest and of the smallest normal number.
template <class T>
struct float_bits {
  static constexpr int fraction = ::std::numeric_limits<T>::digits - 1,
                       most = ::std::numeric_limits<T>::max_exponent - 1,
                       least = ::std::numeric_limits<T>::min_exponent - 1;
};
template <>
struct float_bits<float16> {
  static constexpr int fraction = 10, most = 15, least = -14;
};
template <>
struct float_bits<bfloat16> {
  static constexpr int fraction = 7, most = 127, least = -126;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The numbers that a floating dtype has, or the parts of a complex one.
///     ca::finfo<float>::eps  // 1.1920929e-07
template <dtype T>
requires(detail::is_floating<T> || detail::is_complex<T>) struct finfo {
  using dtype = detail::real_t<T>;
  static constexpr int bits = int(sizeof(dtype)) * 8;
  /// The step from 1 to the next number.
  static constexpr dtype eps = detail::scaled<dtype>(1, -detail::float_bits<dtype>::fraction);
  static constexpr dtype max = detail::scaled<dtype>(
      2 - detail::scaled<double>(1, -detail::float_bits<dtype>::fraction), detail::float_bits<dtype>::most);
  static constexpr dtype min = dtype(-max);
  static constexpr dtype smallest_normal = detail::scaled<dtype>(1, detail::float_bits<dtype>::least);
  static constexpr dtype tiny = smallest_normal;
  static constexpr dtype smallest_subnormal =
      detail::scaled<dtype>(1, detail::float_bits<dtype>::least - detail::float_bits<dtype>::fraction);
};

/// The numbers that an integer dtype has.
template <dtype T>
requires detail::is_integer<T>
struct iinfo {
  using dtype = T;
  static constexpr int bits = int(sizeof(T)) * 8;
  static constexpr T max = ::std::numeric_limits<T>::max(), min = ::std::numeric_limits<T>::min();
};

/// Whether every value of one dtype is one of the other: NumPy's safe casting.
template <dtype From, dtype To>
inline constexpr bool can_cast = ::std::is_same_v<result_type_t<From, To>, To>;

/// Whether a dtype is of a kind of the array API standard: "bool", "signed integer", "unsigned integer", "integral",
/// "real floating", "complex floating", "numeric". Throws value_error for another.
template <dtype T>
constexpr bool isdtype(::std::string_view what) {
  constexpr kind of = kind_of<T>;
  constexpr bool signed_integer = of == kind::signed_, unsigned_integer = of == kind::unsigned_;
  if (what == "bool") return of == kind::boolean;
  if (what == "signed integer") return signed_integer;
  if (what == "unsigned integer") return unsigned_integer;
  if (what == "integral") return signed_integer || unsigned_integer;
  if (what == "real floating") return of == kind::floating;
  if (what == "complex floating") return of == kind::complex_;
  if (what == "numeric") return of != kind::boolean;
  detail::fail<value_error>("isdtype: ", what, ": not a kind of dtypes");
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
