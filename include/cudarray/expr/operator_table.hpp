// The functors of elementwise functions, generic over the lane type. Users' functions are in ops/.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/complex_math.hpp"
#include "rules.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// A function of dual numbers by its derivatives. (In dual_functions.hpp.)
template <class Op, class... L>
CUDARRAY_HD constexpr auto dual_value(const Op& op, const L&... l);
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::op::inline CUDARRAY_BUILD {

using namespace math;  // the scalar overloads; packs are found by argument-dependent look-up

/// A functor has `types<...>` (its rule), `lanes` (true if it takes SIMD packs) and calls functions of core/math.hpp
/// without qualification, so that packs find their own.
#define CUDARRAY_FUNCTION(name, rule_, value)                 \
  struct name##_op : rule::rule_ {                            \
    static constexpr bool lanes = true;                       \
    CUDARRAY_EXEC_CHECK_OFF                                   \
    template <class L>                                        \
    CUDARRAY_HD constexpr auto operator()(const L& x) const { \
      return value;                                           \
    }                                                         \
  };
#include "unary_functions.inc"
#undef CUDARRAY_FUNCTION
/// These are not differentiated by what they are composed of. (nvcc takes packs in functions of one expression.)
#define CUDARRAY_COMPOSED(name, rule_, lanes_, value)                               \
  struct name##_op : rule::rule_ {                                                  \
    static constexpr bool lanes = lanes_;                                           \
    CUDARRAY_EXEC_CHECK_OFF                                                         \
    template <class L>                                                              \
    CUDARRAY_HD constexpr auto operator()(const L& x) const {                       \
      return of(x, detail::number_like{x});                                         \
    }                                                                               \
    template <class T>                                                              \
    CUDARRAY_HD constexpr auto operator()(const dual<T>& x) const {                 \
      return detail::dual_value(*this, x);                                          \
    }                                                                               \
    CUDARRAY_EXEC_CHECK_OFF                                                         \
    template <class L, class C>                                                     \
    CUDARRAY_HD static constexpr auto of(const L& x, [[maybe_unused]] const C& c) { \
      return value;                                                                 \
    }                                                                               \
  };
#define CUDARRAY_FUNCTION(name, rule_, value) CUDARRAY_COMPOSED(name, rule_, true, value)
#include "activation_functions.inc"
#undef CUDARRAY_FUNCTION
#define CUDARRAY_FUNCTION CUDARRAY_COMPOSED
#include "special_functions.inc"
#undef CUDARRAY_FUNCTION
#undef CUDARRAY_COMPOSED
#define CUDARRAY_COMPOSED(name, rule_, lanes_, value)                                                            \
  struct name##_op : rule::rule_ {                                                                               \
    static constexpr bool lanes = lanes_;                                                                        \
    CUDARRAY_EXEC_CHECK_OFF                                                                                      \
    template <class L, class M>                                                                                  \
    CUDARRAY_HD constexpr auto operator()(const L& x, const M& y) const {                                        \
      return of(x, y, detail::number_like{x});                                                                   \
    }                                                                                                            \
    template <class L, class M>                                                                                  \
    requires(detail::is_dual<L> || detail::is_dual<M>) CUDARRAY_HD constexpr auto operator()(const L& x,         \
                                                                                             const M& y) const { \
      return detail::dual_value(*this, x, y);                                                                    \
    }                                                                                                            \
    CUDARRAY_EXEC_CHECK_OFF                                                                                      \
    template <class L, class M, class C>                                                                         \
    CUDARRAY_HD static constexpr auto of(const L& x, const M& y, [[maybe_unused]] const C& c) {                  \
      return value;                                                                                              \
    }                                                                                                            \
  };
#define CUDARRAY_FUNCTION(name, rule_, value) CUDARRAY_COMPOSED(name, rule_, true, value)
#include "parametric_functions.inc"
#undef CUDARRAY_FUNCTION
#define CUDARRAY_FUNCTION CUDARRAY_COMPOSED
#include "special_binary_functions.inc"
#undef CUDARRAY_FUNCTION
// those that not all operands may be given to
CUDARRAY_COMPOSED(ldexp, floating, false, ldexp(x, y))
CUDARRAY_COMPOSED(zeta, floating, false, zeta(x, y))
#undef CUDARRAY_COMPOSED

#define CUDARRAY_FUNCTION(name, rule_, value)                             \
  struct name##_op : rule::rule_ {                                        \
    static constexpr bool lanes = true;                                   \
    CUDARRAY_EXEC_CHECK_OFF                                               \
    template <class L, class M>                                           \
    CUDARRAY_HD constexpr auto operator()(const L& x, const M& y) const { \
      return value;                                                       \
    }                                                                     \
  };
#include "binary_functions.inc"
#undef CUDARRAY_FUNCTION

/// Of complex numbers.
#define CUDARRAY_FUNCTION(name, rule_)                        \
  struct name##_op : rule::rule_ {                            \
    static constexpr bool lanes = false;                      \
    template <class L>                                        \
    CUDARRAY_HD constexpr auto operator()(const L& x) const { \
      return name(x);                                         \
    }                                                         \
  };
CUDARRAY_FUNCTION(real, complex_part)
CUDARRAY_FUNCTION(imag, complex_part)
CUDARRAY_FUNCTION(conj, complex_numbers)
CUDARRAY_FUNCTION(angle, angular)
#undef CUDARRAY_FUNCTION

struct where_op : rule::choice {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class C, class L, class M>
  CUDARRAY_HD constexpr auto operator()(const C& c, const L& x, const M& y) const {
    return select(c, x, y);
  }
};

/// A comparison with a scalar that may be beyond the range of the dtype it is compared in: its result is `known` then.
template <class Op>
struct known_comparison_op : rule::known_comparison<Op> {
  static constexpr bool lanes = true;
  CUDARRAY_EXEC_CHECK_OFF
  template <class L, class M, class K, class V>
  CUDARRAY_HD constexpr auto operator()(const L& x, const M& y, const K& known, const V& value) const {
    return select(known, value, Op{}(x, y));
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
  /// Not by these two, which share derivatives at the limits.
  CUDARRAY_EXEC_CHECK_OFF
  template <class L, class M, class H>
  requires(detail::is_dual<L> || detail::is_dual<M> || detail::is_dual<H>) CUDARRAY_HD constexpr auto operator()(
      const L& x, const M& low, const H& high) const {
    return detail::dual_value(*this, x, low, high);
  }
};

/// Numbers for what is none.
struct nan_to_num_op : rule::floating {
  static constexpr bool lanes = true;
  double nan, posinf, neginf;
  CUDARRAY_EXEC_CHECK_OFF
  template <class L>
  CUDARRAY_HD constexpr auto operator()(const L& x) const {
    return of(x, detail::number_like{x});
  }
  template <class T>
  CUDARRAY_HD constexpr auto operator()(const dual<T>& x) const {
    return detail::dual_value(*this, x);
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class L, class C>
  CUDARRAY_HD constexpr auto of(const L& x, const C& c) const {
    return select(isnan(x), c(nan), select(isinf(x), select(x > c(0), c(posinf), c(neginf)), x));
  }
};

/// The exponents of floats.
struct exponent_op {
  template <class A>
  using types = rule::uniform<A, int32, true>;
  static constexpr bool lanes = false;
  template <class L>
  CUDARRAY_HD int32 operator()(const L& x) const {
    if constexpr (detail::is_dual<L>) return math::exponent_of(x.primal);
    else return math::exponent_of(x);
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
    if constexpr ((detail::is_dual<L> || ...)) return detail::dual_value(*this, x...);
    else return f(x...);
  }
};

}  // namespace cudarray::inline v0::op::inline CUDARRAY_BUILD
