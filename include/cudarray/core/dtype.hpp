// The closed list of element types, NumPy's promotion rules, and conversion between element types.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "annotations.hpp"
#include "build.hpp"
#include "dual.hpp"
#include "half.hpp"

namespace cudarray::inline v0 {

using int8 = ::std::int8_t;
using int16 = ::std::int16_t;
using int32 = ::std::int32_t;
using int64 = ::std::int64_t;
using uint8 = ::std::uint8_t;
using uint16 = ::std::uint16_t;
using uint32 = ::std::uint32_t;
using uint64 = ::std::uint64_t;
using float32 = float;
using float64 = double;

/// Kinds in the order of promotion. The `weak_` kinds are C++ scalars: they raise the kind, never the size.
enum class kind {
  boolean,
  unsigned_,
  signed_,
  floating,
  dual_,
  complex_,
  weak_bool,
  weak_int,
  weak_float,
  weak_complex,
  none
};

template <class T>
struct dtype_traits {
  static constexpr kind k = kind::none;
  static constexpr const char* name = "none";
};

#define CUDARRAY_DTYPE(T, K, N)            \
  template <>                              \
  struct dtype_traits<T> {                 \
    static constexpr kind k = kind::K;     \
    static constexpr const char* name = N; \
  };
CUDARRAY_DTYPE(bool, boolean, "bool")
CUDARRAY_DTYPE(int8, signed_, "int8")
CUDARRAY_DTYPE(int16, signed_, "int16")
CUDARRAY_DTYPE(int32, signed_, "int32")
CUDARRAY_DTYPE(int64, signed_, "int64")
CUDARRAY_DTYPE(uint8, unsigned_, "uint8")
CUDARRAY_DTYPE(uint16, unsigned_, "uint16")
CUDARRAY_DTYPE(uint32, unsigned_, "uint32")
CUDARRAY_DTYPE(uint64, unsigned_, "uint64")
CUDARRAY_DTYPE(float16, floating, "float16")
CUDARRAY_DTYPE(bfloat16, floating, "bfloat16")
CUDARRAY_DTYPE(float, floating, "float32")
CUDARRAY_DTYPE(double, floating, "float64")
CUDARRAY_DTYPE(dual<float16>, dual_, "dual of float16")
CUDARRAY_DTYPE(dual<bfloat16>, dual_, "dual of bfloat16")
CUDARRAY_DTYPE(dual<float>, dual_, "dual of float32")
CUDARRAY_DTYPE(dual<double>, dual_, "dual of float64")
CUDARRAY_DTYPE(complex64, complex_, "complex64")
CUDARRAY_DTYPE(complex128, complex_, "complex128")
#undef CUDARRAY_DTYPE

/// A C++ scalar of a kind, as an operand of promotion.
template <kind K>
struct weak {};
template <kind K>
struct dtype_traits<weak<K>> {
  static constexpr kind k = K;
  static constexpr const char* name = "scalar";
};

template <class T>
inline constexpr kind kind_of = dtype_traits<T>::k;
/// NumPy's name of a dtype.
template <class T>
inline constexpr const char* dtype_name = dtype_traits<T>::name;
namespace detail {
template <class T>
inline constexpr bool is_dtype = kind_of<T> <= kind::complex_;
}
/// True for the element types an array may have.
template <class T>
concept dtype = detail::is_dtype<T>;

namespace detail {

template <class T>
inline constexpr bool is_half = ::std::is_same_v<T, float16> || ::std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_integer = kind_of<T> == kind::signed_ || kind_of<T> == kind::unsigned_;
template <class T>
inline constexpr bool is_floating = kind_of<T> == kind::floating;
template <class T>
inline constexpr bool is_complex = kind_of<T> == kind::complex_;
template <class T>
inline constexpr bool is_dual = false;
template <class T>
inline constexpr bool is_dual<dual<T>> = true;
/// The dtypes that gradients are of.
template <class T>
inline constexpr bool is_differentiable = is_floating<T> || is_dual<T>;
/// The dtype of a dual number's parts; of another dtype, itself.
template <class T>
struct primal_of {
  using type = T;
};
template <class T>
struct primal_of<dual<T>> {
  using type = T;
};
template <class T>
using primal_t = typename primal_of<T>::type;
/// The dtype of a complex number's parts; of another dtype, itself.
template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename real_of<T>::type;
template <class T>
inline constexpr bool is_weak = kind_of<T> >= kind::weak_bool&& kind_of<T> <= kind::weak_complex;

template <int Bytes>
using signed_t =
    ::std::conditional_t<Bytes == 1, int8,
                         ::std::conditional_t<Bytes == 2, int16, ::std::conditional_t<Bytes == 4, int32, int64>>>;
template <int Bytes>
using unsigned_t = ::std::make_unsigned_t<signed_t<Bytes>>;
template <int Bytes>
using float_t = ::std::conditional_t<Bytes <= 2, float16, ::std::conditional_t<Bytes <= 4, float, double>>;

/// The smallest float that NumPy lets stand for an integer of this size: 8 bits float16, 16 bits float32, else float64.
template <class T>
using float_of_integer =
    ::std::conditional_t<sizeof(T) == 1, float16, ::std::conditional_t<sizeof(T) == 2, float, double>>;

template <class A, class B>
auto promote() {
  constexpr kind a = kind_of<A>, b = kind_of<B>;
  if constexpr (a == kind::none || b == kind::none) {
    return;
  } else if constexpr (::std::is_same_v<A, B>) {
    return A{};
  } else if constexpr (a > b) {
    return promote<B, A>();  // from here on a <= b
  } else if constexpr (is_weak<A>) {
    return B{};  // both weak: the higher kind
  } else if constexpr (b == kind::weak_bool) {
    return A{};
  } else if constexpr (b == kind::weak_int) {
    if constexpr (a == kind::boolean) return int64{};
    else return A{};
  } else if constexpr (b == kind::weak_float) {
    if constexpr (a >= kind::floating && a <= kind::complex_) return A{};
    else return double{};
  } else if constexpr (b == kind::weak_complex) {
    if constexpr (a == kind::complex_) return A{};
    else if constexpr (a == kind::dual_) return;
    else if constexpr (a == kind::floating && sizeof(A) <= 4) return complex64{};
    else return complex128{};
  } else if constexpr (a == kind::boolean) {
    return B{};
  } else if constexpr (b == kind::dual_) {
    return dual<decltype(promote<primal_t<A>, primal_t<B>>())>{};
  } else if constexpr (a == kind::dual_) {
    return;
  } else if constexpr (a == b) {
    if constexpr (is_half<A> && is_half<B>) return float{};
    else if constexpr (sizeof(A) >= sizeof(B)) return A{};
    else return B{};
  } else if constexpr (a == kind::unsigned_ && b == kind::signed_) {
    if constexpr (sizeof(A) < sizeof(B)) return B{};
    else if constexpr (sizeof(A) < 8) return signed_t<2 * sizeof(A)>{};
    else return double{};
  } else if constexpr (b == kind::floating) {  // integer with float
    if constexpr (sizeof(float_of_integer<A>) > sizeof(B)) return float_of_integer<A>{};
    else return B{};
  } else if constexpr (a == kind::floating) {  // float with complex
    if constexpr (sizeof(A) <= 4) return B{};
    else return complex128{};
  } else {  // integer with complex
    if constexpr (sizeof(A) <= 2) return B{};
    else return complex128{};
  }
}

template <class... A>
struct result_type;
template <class A>
struct result_type<A> {
  using type = A;
};
template <class A, class B, class... R>
struct result_type<A, B, R...> : result_type<decltype(promote<A, B>()), R...> {};

}  // namespace detail

/// The dtype NumPy gives an operation on these dtypes; `weak<kind>` stands for a C++ scalar. `void` if there is none.
template <class... A>
using result_type_t = typename detail::result_type<A...>::type;

namespace detail {

template <class T>
struct normal_dtype {
  using type = T;
};
template <>
struct normal_dtype<long long> {
  using type = int64;
};
template <>
struct normal_dtype<unsigned long long> {
  using type = uint64;
};
/// `std::complex` and its like.
template <class C>
requires requires(const C& c) {
  typename C::value_type;
  c.real(), c.imag();
  requires is_floating<typename C::value_type> && sizeof(C) == 2 * sizeof(typename C::value_type);
}
struct normal_dtype<C> {
  using type = complex<typename C::value_type>;
};

template <class S>
constexpr kind weak_kind() {
  using T = typename normal_dtype<S>::type;
  if constexpr (::std::is_same_v<T, bool>) return kind::weak_bool;
  else if constexpr (is_integer<T>) return kind::weak_int;
  else if constexpr (is_floating<T>) return kind::weak_float;
  else if constexpr (is_complex<T>) return kind::weak_complex;
  else return kind::none;
}

}  // namespace detail

/// `long long` is int64: the list of dtypes holds every width once.
template <class T>
using normal_dtype_t = typename detail::normal_dtype<T>::type;

/// True for C++ scalars that may stand beside an array.
template <class S>
concept scalar_value = detail::weak_kind<S>()
!= kind::none;

namespace detail {

template <class T>
struct compute_type {
  using type = ::std::conditional_t<is_half<T>, float, T>;
};
template <class T>
struct compute_type<dual<T>> {
  using type = dual<typename compute_type<T>::type>;
};
/// The type arithmetic on T happens in: float32 for the half types, T otherwise.
template <class T>
using compute_t = typename compute_type<T>::type;

/// The range of a dtype, infinite for floats; constants, as device code cannot call std::numeric_limits.
template <class T>
struct bounds {
  using limits = ::std::numeric_limits<T>;
  static constexpr T highest = limits::has_infinity ? limits::infinity() : limits::max();
  static constexpr T lowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
};
template <>
struct bounds<float16> {
  static constexpr float16 highest = __builtin_bit_cast(float16, uint16(0x7c00));
  static constexpr float16 lowest = __builtin_bit_cast(float16, uint16(0xfc00));
};
template <>
struct bounds<bfloat16> {
  static constexpr bfloat16 highest = __builtin_bit_cast(bfloat16, uint16(0x7f80));
  static constexpr bfloat16 lowest = __builtin_bit_cast(bfloat16, uint16(0xff80));
};
template <class T>
struct bounds<dual<T>> {
  static constexpr dual<T> highest{bounds<T>::highest, T(0)};
  static constexpr dual<T> lowest{bounds<T>::lowest, T(0)};
};

inline namespace CUDARRAY_ARITHMETIC {

/// What a number is, told by its bits where the compiler takes every number for finite: comparisons say nothing then.
/// Below 0 for a finite number, 0 for an infinite one, above for NaN. (Of elements only: users' functions of these
/// names and of arrays, whose nodes are of this namespace, are not meant.)
template <dtype T>
CUDARRAY_HD constexpr int order_of_infinity(T v) {
  using U = unsigned_t<sizeof(T)>;
  const U magnitude = __builtin_bit_cast(U, v) & ~U(0) >> 1, infinity = __builtin_bit_cast(U, bounds<T>::highest);
  return magnitude > infinity ? 1 : magnitude == infinity ? 0 : -1;
}
template <class T>
inline constexpr bool by_bits = arithmetic::finite_math&& is_floating<T> && !is_half<T>;
template <dtype T>
CUDARRAY_HD constexpr bool is_nan(T v) {
  if constexpr (by_bits<T>) return order_of_infinity(v) > 0;
  else if constexpr (is_half<T>) return is_nan(float(v));
  else if constexpr (is_dual<T>) return is_nan(v.primal);
  else if constexpr (is_complex<T>) return is_nan(v.re) || is_nan(v.im);
  else return v != v;
}
template <dtype T>
CUDARRAY_HD constexpr bool is_inf(T v) {
  if constexpr (by_bits<T>) return order_of_infinity(v) == 0;
  else if constexpr (is_dual<T>) return is_inf(v.primal);
  else if constexpr (is_complex<T>) return is_inf(v.re) || is_inf(v.im);
  else if constexpr (is_floating<T>) return v == bounds<T>::highest || v == bounds<T>::lowest;
  else return false;
}
template <dtype T>
CUDARRAY_HD constexpr bool is_finite(T v) {
  if constexpr (by_bits<T>) return order_of_infinity(v) < 0;
  else if constexpr (is_dual<T>) return is_finite(v.primal);
  else if constexpr (is_complex<T>) return is_finite(v.re) && is_finite(v.im);
  else return v - v == T(0);
}

/// An element of one dtype as another: float to integer saturates and NaN gives 0; complex to real drops the imaginary
/// part, dual numbers to others their tangent; to bool is != 0.
template <class To, class From>
CUDARRAY_HD constexpr To convert_scalar(From v) {
  if constexpr (::std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_half<From>) {
    return convert_scalar<To>(float(v));
  } else if constexpr (is_dual<To> && is_dual<From>) {
    return To(v);
  } else if constexpr (is_dual<To>) {
    return To(convert_scalar<primal_t<To>>(v));
  } else if constexpr (is_dual<From>) {
    return convert_scalar<To>(v.primal);
  } else if constexpr (::std::is_same_v<To, bool>) {
    if constexpr (is_complex<From>) return v.re != 0 || v.im != 0;
    else return v != From(0);
  } else if constexpr (is_complex<To>) {
    if constexpr (is_complex<From>) return To(v);
    else return To(convert_scalar<decltype(To::re)>(v));
  } else if constexpr (is_complex<From>) {
    return convert_scalar<To>(v.re);
  } else if constexpr (is_half<To>) {
    return To(v);
  } else if constexpr (is_floating<From> && is_integer<To>) {
    // both bounds are powers of two, so exact in any float
    constexpr From high = From(To(1) << (::std::numeric_limits<To>::digits - 1)) * From(2);
    constexpr From low = kind_of<To> == kind::signed_ ? -high : From(0);
    if constexpr (arithmetic::finite_math)
      if (is_nan(v)) return To(0);
    if (!(v > low)) return is_nan(v) ? To(0) : bounds<To>::lowest;
    if (v >= high) return bounds<To>::highest;
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace CUDARRAY_ARITHMETIC

/// An element as memory has it. A bool is true for any byte but 0: borrowed memory, masks of 0 and 255 among it, is
/// read as it is.
template <class T>
CUDARRAY_HD T read_element(const T* p) {
  if constexpr (::std::is_same_v<T, bool>) return *reinterpret_cast<const unsigned char*>(p) != 0;
  else return *p;
}

/// NumPy's `same_kind` casting: within a kind, or to a higher one.
template <class From, class To>
inline constexpr bool same_kind = [] {
  constexpr kind f = kind_of<From>, t = kind_of<To>;
  if (f == kind::none || t == kind::none) return false;
  return f <= t;
}();

}  // namespace detail
}  // namespace cudarray::inline v0
