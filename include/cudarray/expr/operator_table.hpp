// The tables of elementwise functions: one line each, generic over the lane type. Users' functions are in ops/.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/math.hpp"
#include "rules.hpp"

/// A functor has `types<...>` (its rule), `lanes` (true if it takes SIMD packs) and calls functions of core/math.hpp
/// without qualification, so that packs find their own.
///
/// CUDARRAY_UNARY_TABLE(F): F(name, rule, value of x)
#define CUDARRAY_UNARY_TABLE(F)              \
  F(absolute, ordered, abs(x))               \
  F(negative, common_not_bool, negative(x))  \
  F(sign, common_not_bool, sign(x))          \
  F(square, common_not_bool, multiply(x, x)) \
  F(exp, floating, exp(x))                   \
  F(exp2, floating, exp2(x))                 \
  F(expm1, floating, expm1(x))               \
  F(log, floating, log(x))                   \
  F(log2, floating, log2(x))                 \
  F(log10, floating, log10(x))               \
  F(log1p, floating, log1p(x))               \
  F(sqrt, floating, sqrt(x))                 \
  F(cbrt, floating, cbrt(x))                 \
  F(sin, floating, sin(x))                   \
  F(cos, floating, cos(x))                   \
  F(tan, floating, tan(x))                   \
  F(arcsin, floating, arcsin(x))             \
  F(arccos, floating, arccos(x))             \
  F(arctan, floating, arctan(x))             \
  F(sinh, floating, sinh(x))                 \
  F(cosh, floating, cosh(x))                 \
  F(tanh, floating, tanh(x))                 \
  F(floor, ordered, floor(x))                \
  F(ceil, ordered, ceil(x))                  \
  F(trunc, ordered, trunc(x))                \
  F(rint, ordered, rint(x))                  \
  F(isnan, predicate, isnan(x))              \
  F(isinf, predicate, isinf(x))              \
  F(isfinite, predicate, isfinite(x))        \
  F(logical_not, logical, !x)                \
  F(invert, bitwise, invert(x))

/// CUDARRAY_BINARY_TABLE(F): F(name, rule, value of x and y)
#define CUDARRAY_BINARY_TABLE(F)               \
  F(add, common, add(x, y))                    \
  F(subtract, common_not_bool, subtract(x, y)) \
  F(multiply, common, multiply(x, y))          \
  F(divide, division, x / y)                   \
  F(floor_divide, numeric, floor_divide(x, y)) \
  F(remainder, numeric, remainder(x, y))       \
  F(power, numeric, power(x, y))               \
  F(maximum, ordered, maximum(x, y))           \
  F(minimum, ordered, minimum(x, y))           \
  F(arctan2, floating, arctan2(x, y))          \
  F(hypot, floating, hypot(x, y))              \
  F(copysign, floating, copysign(x, y))        \
  F(equal, equality, x == y)                   \
  F(not_equal, equality, x != y)               \
  F(less, comparison, x < y)                   \
  F(less_equal, comparison, x <= y)            \
  F(greater, comparison, x > y)                \
  F(greater_equal, comparison, x >= y)         \
  F(logical_and, logical, x& y)                \
  F(logical_or, logical, x | y)                \
  F(logical_xor, logical, x ^ y)               \
  F(bitwise_and, bitwise, x& y)                \
  F(bitwise_or, bitwise, x | y)                \
  F(bitwise_xor, bitwise, x ^ y)               \
  F(left_shift, shift, left_shift(x, y))       \
  F(right_shift, shift, right_shift(x, y))

namespace cudarray::inline v0::op {

using namespace math;  // the scalar overloads; packs are found by argument-dependent look-up

#define CUDARRAY_UNARY_OP(name, rule_, value)                 \
  struct name##_op : rule::rule_ {                            \
    static constexpr bool lanes = true;                       \
    CUDARRAY_EXEC_CHECK_OFF                                   \
    template <class L>                                        \
    CUDARRAY_HD constexpr auto operator()(const L& x) const { \
      return value;                                           \
    }                                                         \
  };
CUDARRAY_UNARY_TABLE(CUDARRAY_UNARY_OP)
#undef CUDARRAY_UNARY_OP

#define CUDARRAY_BINARY_OP(name, rule_, value)                            \
  struct name##_op : rule::rule_ {                                        \
    static constexpr bool lanes = true;                                   \
    CUDARRAY_EXEC_CHECK_OFF                                               \
    template <class L, class M>                                           \
    CUDARRAY_HD constexpr auto operator()(const L& x, const M& y) const { \
      return value;                                                       \
    }                                                                     \
  };
CUDARRAY_BINARY_TABLE(CUDARRAY_BINARY_OP)
#undef CUDARRAY_BINARY_OP

struct where_op : rule::choice {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class C, class L, class M>
  CUDARRAY_HD constexpr auto operator()(const C& c, const L& x, const M& y) const {
    return select(c, x, y);
  }
};

/// min(max(x, low), high): a low above high gives high.
struct clip_op : rule::ordered {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class L, class M, class H>
  CUDARRAY_HD constexpr auto operator()(const L& x, const M& low, const H& high) const {
    return minimum(maximum(x, low), high);
  }
};

/// The conversion itself is the plan's: from the operand's lanes to U.
template <class U>
struct astype_op : rule::cast<U> {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD constexpr L operator()(const L& x) const {
    return x;
  }
};

/// A user's function of scalars.
template <class F>
struct user_op : rule::as_called<F> {
  static constexpr bool lanes = false;
  F f;
  CUDARRAY_EXEC_CHECK_OFF
  template <class... L>
  CUDARRAY_HD constexpr auto operator()(L... x) const {
    return f(x...);
  }
};

}  // namespace cudarray::inline v0::op
