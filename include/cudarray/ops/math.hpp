// Elementwise functions: NumPy's names, lazy, one template each made from the tables.
// SPDX-License-Identifier: MIT
#pragma once

#include "transfer.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Integers to powers that a device finds out about when it computes: a negative one is recorded.
struct checked_power_op : op::power_op {
  static constexpr bool lanes = false, may_fault = true;
  fault_site fault;
  checked_power_op reporting_to(const fault_sink& faults) const { return {{}, {faults, "power", -1}}; }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD L operator()(L x, L y) const {
    if (math::below_zero(y)) record_fault(fault, 0, int64(y), 0);
    return op::power_op::operator()(x, y);
  }
};

/// Where one operand at least is an array.
template <class X, class Y>
concept any_array = array_expression<X> || array_expression<Y>;

/// Powers of integers whose exponents may be negative.
template <class X, class Y>
concept integer_power = any_array<X, Y> &&
    is_integer<typename rule::numeric::types<argument_t<X>, argument_t<Y>>::result> &&
    (kind_of<argument_t<Y>> >= kind::signed_);

/// Integers have no negative powers. Throws value_error for the least of the elements of y, which the host reads.
template <class T, class Device>
void check_exponents(const ndarray<T, Device>& y) {
  const auto all = [&] {
    const ndarray<T, Device> dense = y.is_contiguous() ? y : ndarray<T, Device>(y.copy());
    if constexpr (Device::host_accessible) return dense;
    else return ndarray<T, cpu>(host_block(dense));
  }();
  T least = 0;
  for (const T v : all.span()) least = v < least ? v : least;
  if (math::below_zero(least)) fail<value_error>("power: an integer to the negative power ", int64(least));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Each returns a lazy expression of the operand's shape; with `ca::out(c)` last it is evaluated into c.
#define CUDARRAY_FUNCTION(name, rule_, ...)                                             \
  template <array_expression X>                                                         \
  auto name(X&& x) {                                                                    \
    return detail::elementwise(#name, op::name##_op{}, static_cast<X&&>(x));            \
  }                                                                                     \
  template <array_expression X, class T, class D>                                       \
  const ndarray<T, D> name(const X& x, const out_argument<T, D>& o) {                   \
    return detail::write_out(#name, o, detail::elementwise(#name, op::name##_op{}, x)); \
  }                                                                                     \
  detail::poison name(detail::wrong_operand);
#include "../expr/special_functions.inc"
#include "../expr/unary_functions.inc"
#undef CUDARRAY_FUNCTION

/// Each broadcasts its operands, of which one at least is an array. Throws shape_error when built.
#define CUDARRAY_FUNCTION(name, rule_, ...)                                                       \
  template <class X, class Y>                                                                     \
  requires detail::any_array<X, Y>                                                                \
  auto name(X&& x, Y&& y) {                                                                       \
    return detail::elementwise(#name, op::name##_op{}, static_cast<X&&>(x), static_cast<Y&&>(y)); \
  }                                                                                               \
  template <class X, class Y, class T, class D>                                                   \
  requires detail::any_array<X, Y>                                                                \
  const ndarray<T, D> name(const X& x, const Y& y, const out_argument<T, D>& o) {                 \
    return detail::write_out(#name, o, name(x, y));                                               \
  }                                                                                               \
  detail::poison name(detail::wrong_operand, detail::any_operand);
#include "../expr/binary_functions.inc"
#include "../expr/special_binary_functions.inc"
#undef CUDARRAY_FUNCTION

/// Integers to powers of a signed type. Throws value_error for a negative one: when built on the CPU, where y is
/// evaluated; on CUDA when the host next waits.
template <class X, class Y>
requires detail::integer_power<X, Y>
auto power(X&& x, Y&& y) {
  using exponents = ::std::remove_cvref_t<Y>;
  if constexpr (scalar_value<exponents>) {
    if (math::below_zero(normal_dtype_t<exponents>(y)))
      detail::fail<value_error>("power: an integer to the negative power ", int64(y));
    return detail::elementwise("power", op::power_op{}, static_cast<X&&>(x), y);
  } else {
    const ndarray<value_type_t<exponents>, device_type_t<exponents>> z(y);
    if constexpr (device_type_t<exponents>::synchronous) {
      detail::check_exponents(z);
      return detail::elementwise("power", op::power_op{}, static_cast<X&&>(x), z);
    } else {
      return detail::elementwise("power", detail::checked_power_op{}, static_cast<X&&>(x), z);
    }
  }
}

/// The absolute value; NumPy's short name and CUDArray's `fabs`.
template <array_expression X>
auto abs(const X& x) {
  return absolute(x);
}
template <array_expression X>
auto fabs(const X& x) {
  return absolute(x);
}
template <class X, class Y>
requires(array_expression<X> || array_expression<Y>) auto mod(const X& x, const Y& y) {
  return detail::elementwise("mod", op::remainder_op{}, x, y);
}

/// The names that these functions have in the Python array API standard, and in NumPy since version 2.
#define CUDARRAY_ALIAS(name, of)                                      \
  template <array_expression X>                                       \
  auto name(X&& x) {                                                  \
    return of(static_cast<X&&>(x));                                   \
  }                                                                   \
  template <array_expression X, class T, class D>                     \
  const ndarray<T, D> name(const X& x, const out_argument<T, D>& o) { \
    return of(x, o);                                                  \
  }                                                                   \
  detail::poison name(detail::wrong_operand);
CUDARRAY_ALIAS(acos, arccos)
CUDARRAY_ALIAS(acosh, arccosh)
CUDARRAY_ALIAS(asin, arcsin)
CUDARRAY_ALIAS(asinh, arcsinh)
CUDARRAY_ALIAS(atan, arctan)
CUDARRAY_ALIAS(atanh, arctanh)
CUDARRAY_ALIAS(bitwise_invert, invert)
CUDARRAY_ALIAS(bitwise_not, invert)
#undef CUDARRAY_ALIAS
#define CUDARRAY_ALIAS(name, of)                                                                        \
  template <class X, class Y>                                                                           \
  requires detail::any_array<X, Y>                                                                      \
  auto name(X&& x, Y&& y) { return of(static_cast<X&&>(x), static_cast<Y&&>(y)); }                      \
  template <class X, class Y, class T, class D>                                                         \
  requires detail::any_array<X, Y>                                                                      \
  const ndarray<T, D> name(const X& x, const Y& y, const out_argument<T, D>& o) { return of(x, y, o); } \
  detail::poison name(detail::wrong_operand, detail::any_operand);
CUDARRAY_ALIAS(atan2, arctan2)
CUDARRAY_ALIAS(bitwise_left_shift, left_shift)
CUDARRAY_ALIAS(bitwise_right_shift, right_shift)
CUDARRAY_ALIAS(pow, power)
#undef CUDARRAY_ALIAS

/// Elements of `a` where `condition` holds, of `b` elsewhere; all three broadcast. Lazy; with `ca::out(c)` last into c.
///     ca::where(x > 0, x, 0.1f * x)
template <array_expression C, class A, class B>
auto where(const C& condition, const A& a, const B& b) {
  if constexpr (scalar_value<A> && scalar_value<B>) {
    // two scalars: their own types decide
    using strong = result_type_t<normal_dtype_t<A>, normal_dtype_t<B>>;
    return detail::elementwise("where", op::where_op{}, condition,
                               detail::scalar<strong>{detail::convert_scalar<strong>(a)},
                               detail::scalar<strong>{detail::convert_scalar<strong>(b)});
  } else {
    return detail::elementwise("where", op::where_op{}, condition, a, b);
  }
}
detail::poison where(detail::wrong_operand, detail::any_operand, detail::any_operand);
template <array_expression C, class A, class B, class T, class D>
const ndarray<T, D> where(const C& condition, const A& a, const B& b, const out_argument<T, D>& o) {
  return detail::write_out("where", o, where(condition, a, b));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// A limit of clip: an integer scalar below (Side -1) or above (1) all integers C limits nothing, and becomes the last.
template <class C, int Side, class S>
decltype(auto) limit(const S& s) {
  if constexpr (may_exceed<C, S>)
    return beyond<C>(s) == Side ? scalar<C>{Side < 0 ? bounds<C>::lowest : bounds<C>::highest}
                                : fit_scalar<C>("clip", s);
  else return s;
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Elements limited to [low, high]; arrays or scalars, broadcast. A low above high gives high. Lazy; with `ca::out(c)`
/// last into c. Throws value_error for an integer scalar that is no element of the dtype and would be a result.
template <array_expression X, class L, class H>
auto clip(const X& x, const L& low, const H& high) {
  using C = result_type_t<detail::argument_t<X>, detail::argument_t<L>, detail::argument_t<H>>;
  return detail::elementwise("clip", op::clip_op{}, x, detail::limit<C, -1>(low), detail::limit<C, 1>(high));
}
template <array_expression X, class L, class H, class T, class D>
const ndarray<T, D> clip(const X& x, const L& low, const H& high, const out_argument<T, D>& o) {
  return detail::write_out("clip", o, clip(x, low, high));
}

/// The elements as dtype T. Float to integer saturates and NaN gives 0. Lazy.
template <dtype T, array_expression X>
auto astype(const X& x) {
  return detail::elementwise("astype", op::astype_op<T>{}, x);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// True for lambdas as nvcc spells their types; it has no other way to tell.
template <class F>
constexpr bool is_lambda() {
  const char* at = __PRETTY_FUNCTION__;
  while (*at != 0 && *at != '=') ++at;
  for (const char* c = "= lambda ["; *c != 0; ++c)
    if (*at++ != *c) return false;
  return true;
}
/// True for what a device's kernels can call.
template <class Device, class F>
constexpr bool is_callable_on() {
  return Device::host_accessible || CUDARRAY_IS_MARKED_LAMBDA(F) || !is_lambda<F>();
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// A function of your own, element by element: lazy, broadcast, fused like any other. For CUDA arrays `f` is a lambda
/// or functor marked CUDARRAY_HD, which says `__host__ __device__` to nvcc and nothing elsewhere; lambdas need nvcc's
/// --extended-lambda, which the target cudarray::cuda sets. It takes the elements of the operands (float for the half
/// types).
///     auto huber = ca::map([] CUDARRAY_HD(float e) { return e < 1 ? e * e / 2 : e - 0.5f; }, ca::abs(x - y));
template <class F, class... X>
requires(array_expression<X> || ...) auto map(const F& f, const X&... x) {
  constexpr bool marked = detail::is_callable_on<typename detail::first_device<X...>::type, F>();
  static_assert(
      marked,
      "cudarray: nvcc compiles this lambda for the host only: write [] CUDARRAY_HD(float e) { ... }, and give "
      "nvcc --extended-lambda");
  if constexpr (marked) return detail::elementwise("map", op::user_op<F>{{}, f}, x...);
  else return detail::poison{};
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
