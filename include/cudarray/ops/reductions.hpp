// Reductions over any set of axes: NumPy's names, lazy; the operand may be any expression and is fused.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/reduction_table.hpp"
#include "math.hpp"
#include "operators.hpp"

namespace cudarray::inline v0 {

struct keepdims_t {};
/// As the last argument of a reduction: reduced axes stay, with extent 1, so that the result broadcasts to the operand.
inline constexpr keepdims_t keepdims{};

/// As an argument of var and std: the divisor is the count minus this. NumPy's `ddof`.
struct ddof {
  int64 value = 0;
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What may follow the axes of a reduction.
struct reduction_options {
  bool keep = false;
  int64 ddof = 0;
  void set(keepdims_t) { keep = true; }
  void set(cudarray::ddof d) { ddof = d.value; }
};
template <class... O>
reduction_options options(const O&... o) {
  reduction_options r;
  (r.set(o), ...);
  return r;
}

/// The shape without the axes in `mask`, or, where they are kept, with extents of 1 there. Throws value_error for no
/// elements along them, unless that is defined.
CUDARRAY_NO_INLINE inline shape reduced_shape(const char* function, const shape& from, unsigned mask, bool keep,
                                              bool defined_for_none) {
  shape to;
  int64 reduced = 1;
  for (int d = 0; d < from.ndim(); ++d) {
    if (!(mask >> d & 1u)) to.push_back(from[d]);
    else if (keep) to.push_back(1);
    if (mask >> d & 1u) reduced *= from[d];
  }
  if (!defined_for_none && reduced == 0)
    fail<value_error>(function, ": no elements along the reduced axes of shape ", from);
  return to;
}

template <class Op, class X>
auto make_reduce(const char* function, X&& x, const axes& over, bool keep) {
  const shape& from = dims_of(x);
  const unsigned mask = over.mask(function, from.ndim());
  return reduce<Op, operand_t<float, X>>(
      mask, [&] { return reduced_shape(function, from, mask, keep, Op::empty); },
      [&] { return as_operand<float>(function, static_cast<X&&>(x)); });
}

template <class To, class X>
auto widened(X&& x) {
  if constexpr (::std::is_void_v<To>) return as_operand<float>("", static_cast<X&&>(x));
  else return elementwise("astype", op::astype_op<To>{}, static_cast<X&&>(x));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

template <class X>
concept reduction_option = ::std::is_same_v<X, keepdims_t> || ::std::is_same_v<X, ddof>;

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Where functions that only report take what others take as axes, and as options.
struct wrong_axes {
  template <class X>
  constexpr wrong_axes(const X&) {
    if constexpr (::std::is_same_v<X, bool>) report_option<!::std::is_same_v<X, bool>>();
    else report_axes<integer_number<X> || ::std::is_same_v<X, axes> || reduction_option<X>>();
  }
};
struct wrong_option {
  template <class X>
  constexpr wrong_option(const X&) {
    report_option<reduction_option<X>>();
  }
};
/// Options by name, which NumPy has.
struct named_option {
  struct any {
    constexpr any() = default;
    template <class... X>
    requires(sizeof...(X) > 0) constexpr any(const X&...) { report_option<sizeof...(X) == 0>(); }
  };
  any axis, dtype, out, keepdims, ddof;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Each takes `(x)`, `(x, axes)`, `(x, axes, ca::keepdims)` or `(x, ca::keepdims)`, and `ca::out(c)` at the very end.
/// Axes absent: all; `{}`: none. They throw index_error or value_error for wrong axes, when the expression is built.
#define CUDARRAY_REDUCTION(name, node)                                                  \
  template <class T = void>                                                             \
  detail::poison name(detail::wrong_operand);                                           \
  template <class T = void>                                                             \
  detail::poison name(detail::wrong_operand, detail::wrong_axes);                       \
  template <class T = void>                                                             \
  detail::poison name(detail::wrong_operand, detail::wrong_axes, detail::wrong_option); \
  template <class T = void>                                                             \
  detail::poison name(detail::wrong_operand, detail::named_option);                     \
  template <class T = void, array_expression X, reduction_option... O>                  \
  auto name(X&& x, axes over, const O&... o) {                                          \
    const auto opt = detail::options(o...);                                             \
    return node;                                                                        \
  }                                                                                     \
  template <class T = void, array_expression X, reduction_option... O>                  \
  auto name(X&& x, const O&... o) {                                                     \
    return name<T>(static_cast<X&&>(x), axes::all(), o...);                             \
  }                                                                                     \
  template <class T = void, array_expression X, class U, class D>                       \
  const ndarray<U, D> name(X&& x, const out_argument<U, D>& result) {                   \
    return detail::write_out(#name, result, name<T>(static_cast<X&&>(x)));              \
  }                                                                                     \
  template <class T = void, array_expression X, class U, class D>                       \
  const ndarray<U, D> name(X&& x, axes over, const out_argument<U, D>& result) {        \
    return detail::write_out(#name, result, name<T>(static_cast<X&&>(x), over));        \
  }

/// One by an operator of the table, of operands converted to `To` (void: as they are).
#define CUDARRAY_REDUCTION_BY(name, op_name, To) \
  CUDARRAY_REDUCTION(                            \
      name, detail::make_reduce<op::op_name>(#name, detail::widened<To>(static_cast<X&&>(x)), over, opt.keep))

/// The sum. bool and signed integers add up in int64, unsigned in uint64; `sum<double>(x)` converts the elements first.
CUDARRAY_REDUCTION_BY(sum, sum_op, T)
/// The product, in the types of sum.
CUDARRAY_REDUCTION_BY(prod, prod_op, T)
/// The mean: float64 for integers, NaN for no elements.
CUDARRAY_REDUCTION_BY(mean, mean_op, T)
/// The largest element; NaN if there is one. Throws value_error for no elements.
CUDARRAY_REDUCTION_BY(max, max_op, T)
/// The smallest element; NaN if there is one. Throws value_error for no elements.
CUDARRAY_REDUCTION_BY(min, min_op, T)
/// True where any element is not 0.
CUDARRAY_REDUCTION_BY(any, any_op, bool)
/// True where no element is 0.
CUDARRAY_REDUCTION_BY(all, all_op, bool)
/// The position of the largest element (int64), of the first NaN if there is one; over several axes the position in C
/// order. Throws value_error for no elements.
CUDARRAY_REDUCTION_BY(argmax, argmax_op, T)
/// The position of the smallest element, as argmax.
CUDARRAY_REDUCTION_BY(argmin, argmin_op, T)

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {
/// True where variances of V are taken in one pass: always by sums that are exact or nearly (float32, 8 bits), by
/// others where the device gains by it.
template <class V, class Device>
constexpr bool one_pass_variance() {
  if constexpr (::std::is_same_v<compute_t<V>, float> || (kind_of<V> < kind::floating && sizeof(V) == 1)) return true;
  else return !is_complex<V> && !is_dual<V> && backend::one_pass<Device>;
}

/// What turns the mean squared distance of the reduced elements into what `ddof` asks for.
inline double ddof_factor(const char* function, const shape& from, const axes& over, int64 ddof) {
  int64 n = 1;
  const unsigned mask = over.mask(function, from.ndim());
  for (int d = 0; d < from.ndim(); ++d)
    if (mask >> d & 1u) n *= from[d];
  return n > ddof ? double(n) / double(n - ddof) : ::std::numeric_limits<double>::infinity();
}

/// The two parts of complex numbers in new memory, of type T.
template <class T, class L>
auto parts_of(const L& pairs) {
  using part = leaf<T, device_type_t<L>>;
  layout at = pairs.where;  // every other number
  for (int d = 0; d < at.ndim(); ++d) at.stride[d] *= 2;
  const part first(pairs.store, at, pairs.stamp);
  at.offset += 1;
  return ::std::pair<part, part>(first, part(pairs.store, at, pairs.stamp));
}

/// The mean of squared distances from the mean, in two passes or one: float64 for integers.
template <class T, class X>
auto variance(const char* function, const X& x, const axes& over, const reduction_options& opt);

/// Of complex numbers the sum of those of their parts.
template <class T, class X>
requires is_complex<::std::conditional_t<::std::is_void_v<T>, value_type_t<X>, T>>
auto variance(const char* function, const X& x, const axes& over, const reduction_options& opt) {
  const auto v = widened<T>(x);
  return variance<void>(function, elementwise(function, op::real_op{}, v), over, opt) +
         variance<void>(function, elementwise(function, op::imag_op{}, v), over, opt);
}
template <class T, class X>
auto variance(const char* function, const X& x, const axes& over, const reduction_options& opt) {
  using V = ::std::conditional_t<::std::is_void_v<T>, value_type_t<X>, T>;
  using R = ::std::conditional_t<(kind_of<V> < kind::floating), double, V>;
  constexpr bool one_pass = one_pass_variance<V, device_type_t<X>>();
  const auto v = cast_node<::std::conditional_t<one_pass, compute_t<V>, compute_t<R>>>(widened<T>(x));
  const double correction = ddof_factor(function, v.dims(), over, opt.ddof);
  if constexpr (one_pass) {
    return cast_node<R>(make_reduce<op::var_op>(function, v, over, opt.keep) * correction);
  } else {
    const auto squares = make_reduce<op::mean_op>(
        function, square(v - make_reduce<op::mean_op>(function, v, over, true)), over, opt.keep);
    return cast_node<R>(squares * correction);
  }
}
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The variance: the mean squared distance from the mean; `ca::ddof{1}` divides by one less than the count.
CUDARRAY_REDUCTION(var, detail::variance<T>("var", x, over, opt))
/// The standard deviation: the square root of var.
CUDARRAY_REDUCTION(std, sqrt(detail::variance<T>("std", x, over, opt)))

/// What mean_var returns: `auto [m, v] = ca::mean_var(x, 1);`
template <class T, class Device, class A = ndarray<T, Device>>
struct mean_and_var {
  A mean, var;
};

/// Mean and variance over the same axes, on CUDA by one kernel that reads the operand once; floating dtypes. Eager. The
/// arguments, and what is thrown, are those of var.
template <array_expression X, reduction_option... O>
requires(!detail::has_variable<X>) mean_and_var<value_type_t<X>, device_type_t<X>> mean_var(const X& x, axes over,
                                                                                            const O&... o) {
  using T = value_type_t<X>;
  using D = device_type_t<X>;
  using A = ndarray<T, D>;
  static_assert(detail::is_differentiable<T>,
                "cudarray: mean_var is defined for floating dtypes: use ca::astype<float>(x)");
  const auto opt = detail::options(o...);
  using C = detail::compute_t<T>;
  if constexpr (detail::one_pass_variance<T, D>()) {
    const auto n = detail::make_reduce<op::mean_var_op>("mean_var", detail::cast_node<C>(x), over, opt.keep);
    const auto both = detail::parts_of<C>(detail::materialise(n));
    const A mean(detail::cast_node<T>(both.first));
    if (opt.ddof == 0) return {mean, A(detail::cast_node<T>(both.second))};
    const double correction = detail::ddof_factor("mean_var", n.kid.dims(), over, opt.ddof);
    return {mean, A(detail::cast_node<T>(both.second * correction))};
  } else {
    const A m = detail::make_reduce<op::mean_op>("mean_var", x, over, opt.keep);
    return {m, A(detail::variance<void>("mean_var", x, over, opt))};
  }
}
template <array_expression X, reduction_option... O>
requires(!detail::has_variable<X>) auto mean_var(const X& x, const O&... o) { return mean_var(x, axes::all(), o...); }

/// CUDArray's names of max and min.
CUDARRAY_REDUCTION_BY(amax, max_op, T)
CUDARRAY_REDUCTION_BY(amin, min_op, T)
#undef CUDARRAY_REDUCTION_BY
#undef CUDARRAY_REDUCTION

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
