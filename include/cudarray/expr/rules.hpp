// The dtype rules of elementwise functions: which type the operands are converted to, and which one results.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/dtype.hpp"

/// A rule has `types<A...>` with `result`, `operand<k>`, and `ok`, false where the function is not defined.
namespace cudarray::inline v0::rule::inline CUDARRAY_BUILD {

template <class... A>
inline constexpr bool has_common = !::std::is_void_v<result_type_t<A...>>;

template <class C, class R, bool Ok>
struct uniform {
  static constexpr bool ok = Ok;
  using result = R;
  template <int>
  using operand = C;
};
template <class T>
struct identity {
  using type = T;
};
template <class... A>
struct types_list {};
template <int K, class A, class... R>
auto nth(types_list<A, R...>) {
  if constexpr (K == 0) return identity<A>{};
  else return nth<K - 1>(types_list<R...>{});
}
/// Operands A that are dual numbers become such of dtype C; constants beside them stay constants.
template <class C, bool Ok, class... A>
struct with_constants {
  static constexpr bool ok = Ok;
  using result = C;
  template <int K>
  using operand = ::std::conditional_t<detail::is_dual<typename decltype(nth<K>(types_list<A...>{}))::type>, C,
                                       detail::primal_t<C>>;
};
/// In and out in the dtype C.
template <class C, bool Ok, class... A>
using arithmetic = ::std::conditional_t<detail::is_dual<C>, with_constants<C, Ok, A...>, uniform<C, C, Ok>>;

/// One common dtype in and out: add, multiply, maximum.
struct common {
  template <class... A>
  using types = arithmetic<result_type_t<A...>, has_common<A...>, A...>;
};

/// As common, but not for bool: subtract, negative, sign.
struct common_not_bool {
  template <class... A>
  using types = arithmetic<result_type_t<A...>, kind_of<result_type_t<A...>> != kind::boolean, A...>;
};

/// As common, without complex numbers: abs, maximum, floor.
struct ordered {
  template <class... A>
  using types = arithmetic<result_type_t<A...>, kind_of<result_type_t<A...>> <= kind::dual_, A...>;
};

template <class C>
using bool_as_int8 = ::std::conditional_t<kind_of<C> == kind::boolean, int8, C>;

/// As ordered; bool counts as int8: power, floor_divide, remainder.
struct numeric {
  static constexpr bool costly = true;
  template <class... A>
  using types = arithmetic<bool_as_int8<result_type_t<A...>>, kind_of<result_type_t<A...>> <= kind::dual_, A...>;
};

template <class C, bool Wide>
auto to_float() {
  if constexpr (kind_of<C> >= kind::floating) return C{};
  else if constexpr (Wide) return double{};
  else return detail::float_of_integer<C>{};
}

/// Floating-point functions: integers become the smallest float NumPy has for them (int32 float64, int8 float16).
struct floating {
  static constexpr bool costly = true;
  template <class... A>
  using types =
      arithmetic<decltype(to_float<result_type_t<A...>, false>()), kind_of<result_type_t<A...>> <= kind::dual_, A...>;
};

/// As floating, also of complex numbers: exp, sqrt.
struct analytic {
  static constexpr bool costly = true;
  template <class... A>
  using types = arithmetic<decltype(to_float<result_type_t<A...>, false>()), has_common<A...>, A...>;
};
/// As floating, but not of the half types, which are computed in float32: nextafter.
struct whole_floats {
  template <class... A>
  using of = decltype(to_float<result_type_t<A...>, false>());
  template <class... A>
  using types =
      arithmetic<of<A...>, kind_of<result_type_t<A...>> <= kind::dual_ && !detail::is_half<detail::primal_t<of<A...>>>,
                 A...>;
};

/// As numeric, also of complex numbers: power.
struct powers {
  static constexpr bool costly = true;
  template <class... A>
  using types = arithmetic<bool_as_int8<result_type_t<A...>>, has_common<A...>, A...>;
};
/// As ordered; of complex numbers the result is real: abs.
struct magnitude {
  template <class A>
  using types = ::std::conditional_t<detail::is_complex<A>, uniform<A, detail::real_t<A>, true>, ordered::types<A>>;
};
/// Of complex numbers in and out: conj; and with a real result: real, imag.
struct complex_numbers {
  template <class A>
  using types = uniform<A, A, detail::is_complex<A>>;
};
struct complex_part {
  template <class A>
  using types = uniform<A, detail::real_t<A>, detail::is_complex<A>>;
};
/// The angle of real or complex numbers.
struct angular {
  static constexpr bool costly = true;
  template <class A>
  using types = uniform<decltype(to_float<A, false>()), detail::real_t<decltype(to_float<A, false>())>, true>;
};
/// Two real parts as a complex number.
struct of_parts {
  template <class... A>
  using real =
      ::std::conditional_t<::std::is_same_v<decltype(to_float<result_type_t<A...>, true>()), double>, double, float>;
  template <class... A>
  using types = uniform<real<A...>, complex<real<A...>>, kind_of<result_type_t<A...>> <= kind::floating>;
};

/// True division: integers become float64.
struct division {
  static constexpr bool divides = true;
  template <class... A>
  using types = arithmetic<decltype(to_float<result_type_t<A...>, true>()), has_common<A...>, A...>;
};

/// Integers whose common dtype is a float, which does not hold all of them: each as the longest of its kind.
template <class A, class B>
inline constexpr bool mixed_signs =
    detail::is_integer<A>&& detail::is_integer<B>&& detail::is_floating<result_type_t<A, B>>;
template <class A, class B>
struct longest_integers {
  static constexpr bool ok = true;
  using result = bool;
  template <int K>
  using operand = ::std::conditional_t<kind_of<::std::conditional_t<K == 0, A, B>> == kind::signed_, int64, uint64>;
};

/// Equality: a common dtype in, bool out; exact for integers of any signs.
struct equality {
  static constexpr bool compares = true;
  template <class A, class B>
  using types = ::std::conditional_t<mixed_signs<A, B>, longest_integers<A, B>,
                                     uniform<result_type_t<A, B>, bool, has_common<A, B>>>;
};

/// Order: as equality, without complex numbers.
struct comparison {
  static constexpr bool compares = true;
  template <class A, class B>
  using types = ::std::conditional_t<mixed_signs<A, B>, longest_integers<A, B>,
                                     uniform<result_type_t<A, B>, bool, kind_of<result_type_t<A, B>> <= kind::dual_>>;
};

/// The comparison Op, with two truth values more: whether the result is known, and which it is then.
template <class Op>
struct known_comparison {
  template <class A, class B, class, class>
  struct types {
    using compared = typename Op::template types<A, B>;
    static constexpr bool ok = compared::ok;
    using result = bool;
    template <int K>
    using operand = typename ::std::conditional_t<(K < 2), compared, uniform<bool, bool, true>>::template operand<K>;
  };
};

/// Truth values in and out.
struct logical {
  template <class... A>
  using types = uniform<bool, bool, true>;
};

/// Bits: bool and integers.
struct bitwise {
  template <class... A>
  using types = uniform<result_type_t<A...>, result_type_t<A...>, kind_of<result_type_t<A...>> <= kind::signed_>;
};

/// Shifts: integers; bool counts as int8.
struct shift {
  template <class... A>
  using types = uniform<bool_as_int8<result_type_t<A...>>, bool_as_int8<result_type_t<A...>>,
                        kind_of<result_type_t<A...>> <= kind::signed_>;
};

/// One common integer dtype in and out: gcd.
struct integers {
  template <class... A>
  using types = uniform<result_type_t<A...>, result_type_t<A...>, detail::is_integer<result_type_t<A...>>>;
};

/// A count of bits of bool and integers.
struct bit_count {
  template <class A>
  using types = uniform<A, uint8, kind_of<A> <= kind::signed_>;
};

/// A truth value about each element: isnan.
struct predicate {
  template <class... A>
  using types = uniform<result_type_t<A...>, bool, kind_of<result_type_t<A...>> <= kind::complex_>;
};
/// The same, without complex numbers: signbit.
struct real_predicate {
  template <class A>
  using types = uniform<A, bool, kind_of<A> <= kind::dual_>;
};

/// where(condition, a, b).
struct choice {
  template <class C, class A, class B>
  struct types {
    static constexpr bool ok = has_common<A, B>;
    using result = result_type_t<A, B>;
    template <int K>
    using operand = ::std::conditional_t<K == 0, bool, result>;
  };
};

/// A conversion to U. Dual numbers stay such: their parts are converted, unless U has no derivatives.
template <class U>
struct cast {
  template <class A>
  using types = uniform<A, ::std::conditional_t<detail::is_dual<A> && detail::is_floating<U>, dual<U>, U>, true>;
};

/// A C++ scalar beside a user's function's arrays, as the longest number of its kind; a dtype as it is.
template <class A>
struct as_number {
  using type = A;
};
template <>
struct as_number<weak<kind::weak_bool>> {
  using type = bool;
};
template <>
struct as_number<weak<kind::weak_int>> {
  using type = int64;
};
template <>
struct as_number<weak<kind::weak_float>> {
  using type = double;
};
template <>
struct as_number<weak<kind::weak_complex>> {
  using type = complex128;
};

/// A user's function: operands as they are, the result as it comes.
template <class F>
struct as_called {
  static constexpr bool costly = true;
  template <class... A>
  struct types {
    static constexpr bool ok = true;
    using of_primals = normal_dtype_t<::std::remove_cvref_t<
        ::std::invoke_result_t<const F&, detail::compute_t<detail::primal_t<typename as_number<A>::type>>...>>>;
    using result = ::std::conditional_t<(detail::is_dual<A> || ...), dual<of_primals>, of_primals>;
    template <int K>
    using operand = typename as_number<typename decltype(nth<K>(types_list<A...>{}))::type>::type;
  };
};

}  // namespace cudarray::inline v0::rule::inline CUDARRAY_BUILD
