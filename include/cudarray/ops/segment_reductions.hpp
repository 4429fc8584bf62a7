// Sums, means and extremes of segments: of the rows that have a number in common. Eager.
// SPDX-License-Identifier: MIT
#pragma once

#include "../expr/reduction_table.hpp"
#include "creation.hpp"
#include "dual_parts.hpp"
#include "indexing.hpp"
#include "manipulation.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "scatter.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The numbers of the segments of rows, and how many segments there are; absent, one more than the largest number.
template <class D>
struct row_segments {
  ndarray<int64, D> of;
  int64 count;
};
template <class X, class Ix>
auto row_segments_of(const char* function, const X& x, const Ix& segments, int64 count) {
  const ndarray<int64, device_type_t<X>> of(index_node(function, segments));
  const shape& s = dims_of(x);
  if (of.ndim() != 1 || s.ndim() == 0 || of.shape(0) != s[0])
    fail<shape_error>(function, ": numbers of shape ", of.shape(), " for the rows of shape ", s);
  if (count < -1) fail<value_error>(function, ": ", count, " segments");
  if (count < 0) {
    const int64 largest = of.size() > 0 ? eval(max(of)).item() : -1;
    if (largest == INT64_MAX) fail<index_error>(function, ": the number ", largest, " of a segment");
    count = largest + 1;
  }
  return row_segments<device_type_t<X>>{of, count};
}
/// So many rows like those of x.
inline shape rows_like(const shape& s, int64 count) {
  shape r = s;
  r[0] = count;
  return r;
}
template <class T, class D>
auto sum_rows(const ndarray<T, D>& a, const row_segments<D>& s) {
  const auto r = zeros<T>(rows_like(a.shape(), s.count), a.device());
  scatter<op::sum_op>("segment_sum", r, s.of, a, 0);
  return r;
}
template <class Op, class X>
auto extreme_rows(const char* function, const X& x, const row_segments<device_type_t<X>>& s) {
  const auto a = eval(x);
  const auto p = plain_values(a);
  using T = value_type_t<decltype(p)>;
  constexpr bool plain = ::std::is_same_v<decltype(a), decltype(p)>;
  const T none = Op::template identity<T>();
  const shape dims = rows_like(a.shape(), s.count);
  const auto r = full<T>(dims, none, p.device());
  scatter<Op>(function, r, s.of, p, 0);
  if constexpr (plain) {
    return r;
  } else {  // the first row that has it, whose derivative it has
    const int64 m = a.shape(0);
    if (m == 0) return eval(r + sum(a, 0));
    shape along = rows_like(a.shape(), m);
    for (int d = 1; d < along.ndim(); ++d) along[d] = 1;
    const auto row = reshape(integer_range<int64>(0, m, 1, p.device()), along);
    const auto first = full<int64>(dims, m, p.device());
    scatter<op::min_op>(function, first, s.of, where((p == take(r, s.of)) | isnan(p), row, m), 0);
    return eval(where(first == m, none, take_along_axis(a, minimum(first, m - 1), 0)));
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

// The rows of x, (m, ...), that have the same number among `segments`, (m,), make one row of the result: (count, ...);
// `count` absent: one more than the largest number, which waits for the device. Negative numbers count from the end.
// Throw shape_error, value_error, and index_error as take does for numbers that are not below `count`.

/// Their sum, in the types of sum; of no rows 0. jax.ops.segment_sum.
///     ca::segment_sum(messages, receivers, nodes)
template <array_expression X, array_expression Ix>
auto segment_sum(const X& x, const Ix& segments, detail::any_integer count = -1) {
  const auto s = detail::row_segments_of("segment_sum", x, segments, count);
  using R = value_type_t<decltype(sum(x))>;
  return eval(astype<R>(detail::sum_rows(eval(astype<detail::compute_t<R>>(x)), s)));
}
/// Their mean, in the types of mean; of no rows 0.
template <array_expression X, array_expression Ix>
auto segment_mean(const X& x, const Ix& segments, detail::any_integer count = -1) {
  const auto s = detail::row_segments_of("segment_mean", x, segments, count);
  using R = value_type_t<decltype(mean(x))>;
  using C = detail::compute_t<R>;
  const auto rows = detail::sum_rows(ones<int64>(shape{s.of.size()}, s.of.device()), s);
  shape along = detail::rows_like(detail::dims_of(x), s.count);
  for (int d = 1; d < along.ndim(); ++d) along[d] = 1;
  return eval(astype<R>(segment_sum(astype<C>(x), s.of, s.count) / astype<C>(reshape(maximum(rows, 1), along))));
}
/// Their largest element; NaN if there is one; of no rows the lowest value of the dtype, of floats -inf.
template <array_expression X, array_expression Ix>
auto segment_max(const X& x, const Ix& segments, detail::any_integer count = -1) {
  return detail::extreme_rows<op::max_op>("segment_max", x, detail::row_segments_of("segment_max", x, segments, count));
}
/// Their smallest element; of no rows the highest value of the dtype, of floats inf.
template <array_expression X, array_expression Ix>
auto segment_min(const X& x, const Ix& segments, detail::any_integer count = -1) {
  return detail::extreme_rows<op::min_op>("segment_min", x, detail::row_segments_of("segment_min", x, segments, count));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
