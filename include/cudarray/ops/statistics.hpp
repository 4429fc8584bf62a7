// Statistics of elements: counts, ranges, averages, covariances, and reductions that leave NaN out.
// SPDX-License-Identifier: MIT
#pragma once

#include "complex.hpp"
#include "diagonals.hpp"
#include "joining.hpp"
#include "linalg.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0 {

struct cov_options {
  bool rowvar = true;  ///< rows are variables, columns observations; else the other way round
  int64 ddof = 1;      ///< the divisor is the number of observations less this
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// x with a number where it is NaN; integers as they are.
template <class X>
auto without_nan(const X& x, double instead) {
  using T = primal_t<value_type_t<X>>;
  if constexpr (kind_of<T> < kind::floating) return eval(x);
  else return where(isnan(x), instead, x);
}
template <class X>
auto is_number(const X& x) {
  return !isnan(x);
}
/// Of numbers `value`, NaN where all that was reduced is NaN.
template <class X, class V, class... O>
auto nan_of_none(const X& x, const V& value, const axes& over, const O&... o) {
  if constexpr (kind_of<primal_t<value_type_t<X>>> < kind::floating) return eval(value);
  else return eval(where(all(isnan(x), over, o...), __builtin_nan(""), value));
}
constexpr double infinite = __builtin_huge_val();
template <class A, class... O>
auto nanmax_of(const A& x, const axes& over, const O&... o) {
  return nan_of_none(x, max(without_nan(x, -infinite), over, o...), over, o...);
}
template <class A, class... O>
auto nanmin_of(const A& x, const axes& over, const O&... o) {
  return nan_of_none(x, min(without_nan(x, infinite), over, o...), over, o...);
}
/// Of NaN alone there is no largest element. Throws value_error; waits for the device.
template <class A>
void check_numbers(const char* function, const A& x, const axes& over) {
  if constexpr (kind_of<primal_t<value_type_t<A>>> >= kind::floating)
    if (x.size() > 0 && eval(any(all(isnan(x), over))).item())
      fail<value_error>(function, ": elements that are all NaN");
}
template <class A, class... O>
auto nanargmax_of(const A& x, const axes& over, const O&... o) {
  check_numbers("nanargmax", x, over);
  return eval(argmax(without_nan(x, -infinite), over, o...));
}
template <class A, class... O>
auto nanargmin_of(const A& x, const axes& over, const O&... o) {
  check_numbers("nanargmin", x, over);
  return eval(argmin(without_nan(x, infinite), over, o...));
}
template <class A, class... O>
auto nanmean_of(const A& x, const axes& over, const O&... o) {
  using T = value_type_t<A>;
  if constexpr (kind_of<primal_t<T>> < kind::floating) {
    return eval(mean(x, over, o...));
  } else {
    const auto count = astype<primal_t<compute_t<T>>>(sum(is_number(x), over, o...));
    return eval(astype<T>(sum(without_nan(astype<compute_t<T>>(x), 0), over, o...) / count));
  }
}
template <class A, class... O>
auto nanvar_of(const A& x, const axes& over, const O&... o) {
  using T = value_type_t<A>;
  if constexpr (kind_of<primal_t<T>> < kind::floating) {
    return eval(var(x, over, o...));
  } else {
    using C = compute_t<T>;
    const auto opt = options(o...);
    const auto a = eval(astype<C>(x));
    // of no NaN, whose gradient would be NaN where it is left out, too
    const auto squares = square(where(isnan(a), 0, without_nan(a, 0) - nanmean_of(a, over, keepdims)));
    const auto divided = [&](const auto& total, const auto& numbers) {
      const auto count = eval(astype<primal_t<C>>(numbers) - double(opt.ddof));
      return eval(astype<T>(where(count > 0, total / where(count > 0, count, 1), __builtin_nan(""))));
    };
    if (opt.keep) return divided(sum(squares, over, keepdims), sum(is_number(a), over, keepdims));
    return divided(sum(squares, over), sum(is_number(a), over));
  }
}
/// Weights as they meet x: of its shape, or of one axis along one of x's.
template <class W>
auto weights_beside(const W& weights, const shape& x, const axes& over) {
  const auto w = eval(weights);
  if (w.shape() == x) return w;
  if (w.ndim() != 1 || over.is_all() || over.size() != 1)
    fail<shape_error>("average: weights of shape ", w.shape(), " for an array of shape ", x,
                      ": of its shape, or of one axis, with the axis they lie along");
  const int axis = normal_axis("average", over[0], x.ndim());
  if (w.shape()[0] != x[axis])
    fail<shape_error>("average: weights of shape ", w.shape(), " along axis ", axis, " of shape ", x);
  shape along;
  for (int d = 0; d < x.ndim(); ++d) along.push_back(d == axis ? x[d] : 1);
  return eval(broadcast_to(reshape(w, along), x));
}
/// Variables as rows, in dtype C.
template <class C, class X>
auto rows_of_variables(const char* function, const X& x, const cov_options& o) {
  const int n = dims_of(x).ndim();
  if (n > 2) fail<shape_error>(function, ": an array of shape ", dims_of(x), ", not of 1 or 2 axes");
  const auto a = eval(astype<C>(x));
  if (n < 2) return eval(reshape(a, {1, a.size()}));
  return o.rowvar ? a : eval(swapaxes(a, 0, 1));
}
/// Of two arrays, one below the other.
template <class C, class X, class Y>
auto rows_of_variables(const char* function, const X& x, const Y& y, const cov_options& o) {
  return concatenate(::std::tuple(rows_of_variables<C>(function, x, o), rows_of_variables<C>(function, y, o)));
}
/// The dtype of covariances.
template <class... X>
using covariance_t = decltype(rule::to_float<result_type_t<value_type_t<X>...>, true>());
/// What correlations are computed in.
template <class... X>
using correlated_t = ::std::conditional_t<is_complex<covariance_t<X...>>, complex128, double>;
template <class A>
auto covariance(const A& rows, int64 ddof) {
  const int64 n = rows.shape()[1], divisor = n > ddof ? n - ddof : 0;
  const auto centred = eval(rows - mean(rows, 1, keepdims));
  return eval(matmul(centred, conjugates(swapaxes(centred, 0, 1))) * (1 / double(divisor)));
}
/// Rows are made vectors of length 1 before they are multiplied.
template <class A>
auto correlation(const A& rows) {
  const auto centred = eval(rows - mean(rows, 1, keepdims));
  const auto unit = eval(centred / sqrt(sum(square(abs(centred)), 1, keepdims)));
  const auto r = eval(matmul(unit, conjugates(swapaxes(unit, 0, 1))));
  if constexpr (has_complex<A>) return eval(to_complex(clip(real(r), -1, 1), clip(imag(r), -1, 1)));
  else return eval(clip(r, -1, 1));
}
/// One variable has a number, not a matrix.
template <class A>
auto as_number_of_one(const A& matrix) {
  return matrix.size() == 1 ? eval(reshape(matrix, shape{})) : matrix;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Each takes `(x, axes, options)` or `(x, options)` as a reduction does.
#define CUDARRAY_STATISTIC(name, value)                    \
  template <array_expression X, reduction_option... O>     \
  auto name(const X& x, const axes& over, const O&... o) { \
    return value;                                          \
  }                                                        \
  template <array_expression X, reduction_option... O>     \
  auto name(const X& x, const O&... o) {                   \
    return name(x, axes::all(), o...);                     \
  }
/// How many elements are not 0: int64. Lazy.
CUDARRAY_STATISTIC(count_nonzero, sum(x != 0, over, o...))
/// The largest less the smallest element. Lazy.
CUDARRAY_STATISTIC(ptp, max(x, over, o...) - min(x, over, o...))

// Reductions that leave NaN out; of integers those without. Eager.
/// 0 for NaN alone.
CUDARRAY_STATISTIC(nansum, eval(sum(detail::without_nan(x, 0), over, o...)))
/// 1 for NaN alone.
CUDARRAY_STATISTIC(nanprod, eval(prod(detail::without_nan(x, 1), over, o...)))
/// NaN for NaN alone. Throws value_error for no elements.
CUDARRAY_STATISTIC(nanmax, detail::nanmax_of(eval(x), over, o...))
CUDARRAY_STATISTIC(nanmin, detail::nanmin_of(eval(x), over, o...))
/// The position of the largest number. Waits for the device. Throws value_error where there is none.
CUDARRAY_STATISTIC(nanargmax, detail::nanargmax_of(eval(x), over, o...))
CUDARRAY_STATISTIC(nanargmin, detail::nanargmin_of(eval(x), over, o...))
/// The mean of the numbers: NaN where there is none.
CUDARRAY_STATISTIC(nanmean, detail::nanmean_of(eval(x), over, o...))
/// The variance of the numbers; `ca::ddof{1}` divides by one less than their count. NaN where that is not above 0 (of
/// integers as var).
CUDARRAY_STATISTIC(nanvar, detail::nanvar_of(eval(x), over, o...))
/// The square root of nanvar.
CUDARRAY_STATISTIC(nanstd, eval(sqrt(detail::nanvar_of(eval(x), over, o...))))
#undef CUDARRAY_STATISTIC

/// cumsum and cumprod, NaN as 0 and 1.
template <array_expression X>
auto nancumsum(const X& x, detail::any_integer axis) {
  return cumsum(detail::without_nan(x, 0), axis);
}
template <array_expression X>
auto nancumsum(const X& x) {
  return cumsum(detail::without_nan(x, 0));
}
template <array_expression X>
auto nancumprod(const X& x, detail::any_integer axis) {
  return cumprod(detail::without_nan(x, 1), axis);
}
template <array_expression X>
auto nancumprod(const X& x) {
  return cumprod(detail::without_nan(x, 1));
}

/// The mean with weights: of x's shape, or of one axis along the one that is reduced. NaN where they add up to 0.
/// Eager. Throws shape_error.
///     ca::average(x, weights, 0)
template <array_expression X, array_expression W>
auto average(const X& x, const W& weights, const axes& over = axes::all()) {
  const auto w = detail::weights_beside(weights, detail::dims_of(x), over);
  using T = value_type_t<X>;
  using both = result_type_t<T, value_type_t<W>>;
  using R = ::std::conditional_t<(kind_of<T> < kind::floating), result_type_t<both, double>, both>;
  return eval(sum(astype<R>(x) * astype<R>(w), over) / sum(astype<R>(w), over));
}
template <array_expression X>
auto average(const X& x, const axes& over = axes::all()) {
  return eval(mean(x, over));
}

/// The covariances of variables, which are rows with a column for each observation: (v, n) -> (v, v); of one variable
/// a number. Of integers float64. Eager. Throws shape_error.
///     ca::cov(x, {.rowvar = false})
template <array_expression X>
auto cov(const X& x, const cov_options& o = {}) {
  using T = detail::covariance_t<X>;
  const auto rows = detail::rows_of_variables<detail::compute_t<T>>("cov", x, o);
  return eval(astype<T>(detail::as_number_of_one(detail::covariance(rows, o.ddof))));
}
/// Of the variables of two arrays.
template <array_expression X, array_expression Y>
auto cov(const X& x, const Y& y, const cov_options& o = {}) {
  using T = detail::covariance_t<X, Y>;
  const auto rows = detail::rows_of_variables<detail::compute_t<T>>("cov", x, y, o);
  return eval(astype<T>(detail::as_number_of_one(detail::covariance(rows, o.ddof))));
}
/// Pearson's correlations of variables, limited to [-1, 1]: (v, n) -> (v, v), computed in float64. Eager. Throws
/// shape_error.
template <array_expression X>
auto corrcoef(const X& x, const cov_options& o = {}) {
  const auto rows = detail::rows_of_variables<detail::correlated_t<X>>("corrcoef", x, o);
  return eval(astype<detail::covariance_t<X>>(detail::as_number_of_one(detail::correlation(rows))));
}
template <array_expression X, array_expression Y>
auto corrcoef(const X& x, const Y& y, const cov_options& o = {}) {
  const auto rows = detail::rows_of_variables<detail::correlated_t<X, Y>>("corrcoef", x, y, o);
  return eval(astype<detail::covariance_t<X, Y>>(detail::as_number_of_one(detail::correlation(rows))));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
