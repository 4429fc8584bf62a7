// Convolution and correlation of sequences.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "complex.hpp"
#include "creation.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "manipulation.hpp"
#include "pad.hpp"
#include "reductions.hpp"
#include "selection.hpp"

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
/// A sequence with zeros before and behind it, and where it is itself: zeros are not to meet infinities.
template <class X, class B>
struct padded_sequence {
  X elements;
  B there;
  int64 before, end;  ///< where it begins and ends
};
/// The sums of products of v with the runs of a longer sequence that begin at [first, last); with `split` those columns
/// in which all elements are there by themselves.
template <class C, class P, class Y>
auto correlated_rows(const P& p, const Y& v, int64 first, int64 last, bool split) {
  const auto most = [](int64 a, int64 b) { return a > b ? a : b; };
  const auto least = [](int64 a, int64 b) { return a < b ? a : b; };
  const int64 n = dims_of(v)[0], begin = most(0, p.before - last + 1), end = least(n, p.end - first);
  const int64 from = most(begin, p.before - first), to = least(end, p.end - last + 1);
  const auto runs = [=](const auto& x, int64 i, int64 j) { return runs_of(x(slice(first + i, last - 1 + j)), j - i); };
  const auto products = [&](int64 i, int64 j) { return runs(p.elements, i, j) * v(slice(i, j)); };
  const auto sums = [&](int64 i, int64 j) {
    return eval(astype<C>(sum(where(runs(p.there, i, j), products(i, j), 0), 1)));
  };
  if (from >= to || (!split && to - from < end - begin)) return sums(begin, end);
  auto r = eval(astype<C>(sum(products(from, to), 1)));
  if (begin < from) r = eval(r + sums(begin, from));
  if (to < end) r = eval(r + sums(to, end));
  return eval(r);
}
/// All of them. Those at the ends in pieces, if they are many: a piece leaves out most of what is not there.
template <class T, class X, class Y>
auto correlated(const char* function, const X& a, const Y& v, convolution_mode mode) {
  const int64 n = dims_of(v)[0], m = dims_of(a)[0];
  if (n == 0) fail<value_error>(function, ": a sequence without elements");
  const int64 before = mode == convolution_mode::full   ? n - 1
                       : mode == convolution_mode::same ? n / 2
                                                        : 0,
              behind = mode == convolution_mode::full   ? n - 1
                       : mode == convolution_mode::same ? n - 1 - n / 2
                                                        : 0;
  using C = compute_t<T>;
  const auto wide = pad(eval(astype<C>(a)), {{before, behind}});
  const auto place = integer_range<int64>(0, m + before + behind, 1, device_of(a));
  const auto there = eval((place >= before) & (place < before + m));
  const padded_sequence<::std::remove_const_t<decltype(wide)>, ::std::remove_const_t<decltype(there)>> p{
      wide, there, before, before + m};
  const auto by = eval(astype<C>(v));
  ::std::vector<::std::remove_const_t<decltype(correlated_rows<C>(p, by, 0, 1, false))>> parts;
  const int64 pieces = n < 1024 ? 1 : 16;
  const auto add = [&](int64 first, int64 count, int64 in) {
    for (int64 i = 0; i < in; ++i)
      if (const int64 begin = first + count * i / in, end = first + count * (i + 1) / in; begin < end)
        parts.push_back(correlated_rows<C>(p, by, begin, end, pieces > 1));
  };
  add(0, before, pieces);
  add(before, m - n + 1, 1);
  add(before + m - n + 1, behind, pieces);
  return eval(astype<T>(concatenate(parts)));
}
template <class X, class Y>
constexpr bool are_sequences() {
  constexpr bool one = on_one_device<X, Y>();
  static_assert(one,
                "cudarray: the operands are on two devices: move one with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
  return one;
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
  if constexpr (detail::are_sequences<X, Y>()) {
    using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
    const shape &s = detail::dims_of(a), &t = detail::dims_of(v);
    detail::check_sequence("convolve", s);
    detail::check_sequence("convolve", t);
    if (s[0] >= t[0]) return detail::correlated<T>("convolve", a, flip(v), mode);
    return detail::correlated<T>("convolve", v, flip(a), mode);
  } else {
    return detail::poison{};
  }
}
/// The correlation of two sequences, sum over k of a(k + i) conj(v(k)), where the mode says; in their common dtype.
/// Eager. Throws as convolve.
template <array_expression X, array_expression Y>
auto correlate(const X& a, const Y& v, convolution_mode mode = convolution_mode::valid) {
  if constexpr (detail::are_sequences<X, Y>()) {
    using T = result_type_t<value_type_t<X>, value_type_t<Y>>;
    const shape &s = detail::dims_of(a), &t = detail::dims_of(v);
    detail::check_sequence("correlate", s);
    detail::check_sequence("correlate", t);
    if (s[0] >= t[0]) return detail::correlated<T>("correlate", a, detail::conjugates(v), mode);
    return eval(flip(detail::conjugates(detail::correlated<T>("correlate", v, detail::conjugates(a), mode))));
  } else {
    return detail::poison{};
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
