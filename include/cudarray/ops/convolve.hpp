// Convolution and correlation of sequences.
// SPDX-License-Identifier: MIT
#pragma once

#include "complex.hpp"
#include "creation.hpp"
#include "indexing.hpp"
#include "manipulation.hpp"
#include "pad.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0 {

/// Which places of two sequences on each other count: all where they meet, as many as the longer one has, or those
/// where the shorter lies within the longer.
enum class convolution_mode { full, same, valid };

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// All runs of n elements of a sequence, as rows: (m,) -> (m - n + 1, n). A view; of variables picked by an index.
template <class X>
auto runs_of(const X& x, int64 n) {
  const int64 rows = dims_of(x)[0] - n + 1;
  if constexpr (has_variable<X>) {
    const auto first = expand_dims(integer_range<int64>(0, rows, 1, device_of(x)), 1);
    return take(x, first + integer_range<int64>(0, n, 1, device_of(x)));
  } else {
    const auto a = as_array(x);
    layout l = a.where();
    const int64 step = l.stride[0];
    l.dims = shape{rows, n};
    l.stride[0] = l.stride[1] = step;
    l.read_only = true;
    return view(a, l);
  }
}
/// The sums of products of v with the runs of a longer sequence.
template <class T, class X, class Y>
auto correlated(const char* function, const X& a, const Y& v, convolution_mode mode) {
  const int64 n = dims_of(v)[0];
  if (n == 0) fail<value_error>(function, ": a sequence without elements");
  const int64 before = mode == convolution_mode::full   ? n - 1
                       : mode == convolution_mode::same ? n / 2
                                                        : 0,
              behind = mode == convolution_mode::full   ? n - 1
                       : mode == convolution_mode::same ? n - 1 - n / 2
                                                        : 0;
  const auto wide = pad(eval(astype<T>(a)), {{before, behind}});
  return eval(astype<T>(sum(runs_of(wide, n) * astype<T>(v), 1)));
}
inline void check_sequence(const char* function, const shape& s) {
  if (s.ndim() != 1) fail<shape_error>(function, ": an array of shape ", s, ", not of one axis");
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The discrete convolution of two sequences, sum over k of a(k) v(i - k): (m,), (n,) -> (m + n - 1,), or as the mode
/// says; in their common dtype. Eager; it takes m n operations. Throws shape_error, and value_error for no elements.
///     ca::convolve(a, v, ca::convolution_mode::same)
template <array_expression X, array_expression Y>
auto convolve(const X& a, const Y& v, convolution_mode mode = convolution_mode::full) {
  using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
  const shape &s = detail::dims_of(a), &t = detail::dims_of(v);
  detail::check_sequence("convolve", s);
  detail::check_sequence("convolve", t);
  if (s[0] >= t[0]) return detail::correlated<T>("convolve", a, flip(v), mode);
  return detail::correlated<T>("convolve", v, flip(a), mode);
}
/// The correlation of two sequences, sum over k of a(k + i) conj(v(k)), where the mode says; in their common dtype.
/// Eager. Throws as convolve.
template <array_expression X, array_expression Y>
auto correlate(const X& a, const Y& v, convolution_mode mode = convolution_mode::valid) {
  using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
  const shape &s = detail::dims_of(a), &t = detail::dims_of(v);
  detail::check_sequence("correlate", s);
  detail::check_sequence("correlate", t);
  if (s[0] >= t[0]) return detail::correlated<T>("correlate", a, detail::conjugates(v), mode);
  return eval(flip(detail::conjugates(detail::correlated<T>("correlate", v, detail::conjugates(a), mode))));
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
