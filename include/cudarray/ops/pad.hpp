// Arrays with a border.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "creation.hpp"
#include "indexing.hpp"
#include "manipulation.hpp"
#include "operators.hpp"

namespace cudarray::inline v0 {

/// How many elements come before and after those of an axis.
struct pad_width {
  detail::any_integer before = 0, after = 0;
};
/// What these are: a value; the last element; elements mirrored, the last one left out or there twice; those of the
/// other end.
enum class pad_mode { constant, edge, reflect, symmetric, wrap };
struct pad_options {
  pad_mode mode = pad_mode::constant;
  double value = 0;  ///< with pad_mode::constant
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The widths of all axes of an array.
struct pad_widths {
  shape from, to;
  int64 before[max_rank] = {};
};
/// One width stands for all axes. Throws value_error.
inline pad_widths widths_of(const shape& x, const pad_width* widths, int count) {
  if (count != 1 && count != x.ndim())
    fail<value_error>("pad: ", count, " widths for an array of shape ", x, ": 1 or ", x.ndim(), " are wanted");
  pad_widths w{x, {}};
  for (int d = 0; d < x.ndim(); ++d) {
    const int64 before = widths[count == 1 ? 0 : d].before, after = widths[count == 1 ? 0 : d].after;
    constexpr int64 most = int64(1) << 60;
    if (before < 0 || after < 0 || before > most || after > most)
      fail<value_error>("pad: widths ", before, " and ", after, " of axis ", d,
                        before < 0 || after < 0 ? " are negative" : " are too large");
    w.before[d] = before;
    w.to.push_back(x[d] + before + after);
  }
  return w;
}
/// The part of a padded array that is not border, a view.
template <class T, class D>
ndarray<T, D> inside_of_pad(const ndarray<T, D>& padded, const pad_widths& w) {
  layout l = padded.where();
  for (int d = 0; d < w.from.ndim(); ++d) l.offset += w.before[d] * l.stride[d];
  l.dims = w.from;
  return view(padded, l);
}
/// An array of one value. Throws value_error where integers do not hold it.
template <class T, class D>
ndarray<T, D> border_of(const shape& s, double value, D device) {
  if constexpr (is_integer<T>) {
    if (!(value >= -0x1p63 && value < 0x1p63) || double(int64(value)) != value)
      fail<value_error>("pad: the value ", value, " for an array of ", dtype_name<T>);
    return full<T>(s, int64(value), device);
  } else {
    return full<T>(s, value, device);
  }
}
template <array_expression X>
requires(!has_variable<X>) auto pad_by_value(const pad_widths& w, const X& x, double value) {
  using A = ndarray<value_type_t<X>, device_type_t<X>>;
  const A a(x), r = border_of<value_type_t<X>>(w.to, value, a.device());
  inside_of_pad(r, w)(ellipsis) = a;
  return r;
}
/// Which of n elements each of those that a padded axis has repeats.
template <class Device>
ndarray<int64, Device> source_of_pad(pad_mode mode, int64 n, int64 before, int64 total, Device device) {
  const auto i = arange<int64>(-before, total - before, 1, device);
  switch (mode) {
    case pad_mode::edge:
      return clip(i, 0, n - 1);
    case pad_mode::wrap:
      return i % n;
    case pad_mode::symmetric:
      return minimum(i % (2 * n), 2 * n - 1 - i % (2 * n));
    default:
      if (n == 1) return i * 0;
      return minimum(i % (2 * n - 2), 2 * n - 2 - i % (2 * n - 2));
  }
}
template <array_expression X>
auto pad_by(const pad_widths& w, const X& x, const pad_options& o) {
  auto a = eval(x);
  if (o.mode == pad_mode::constant) {
    a = pad_by_value(w, a, o.value);
    return a;
  }
  if (w.to == w.from) a = copy(a);
  for (int d = 0; d < w.from.ndim(); ++d) {
    if (w.to[d] == w.from[d]) continue;
    if (w.from[d] == 0) fail<value_error>("pad: axis ", d, " of shape ", w.from, " has no elements to repeat");
    a = take(a, source_of_pad(o.mode, w.from[d], w.before[d], w.to[d], a.device()), d);
  }
  return a;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The array with a border: `widths` of each axis, or of all. Eager. Throws value_error for other widths, or where an
/// axis without elements is to be repeated.
///     ca::pad(x, {{1, 1}, {0, 2}}, {.mode = ca::pad_mode::reflect})
template <array_expression X, ::std::size_t N>
auto pad(const X& x, const pad_width (&widths)[N], const pad_options& o = {}) {
  return detail::pad_by(detail::widths_of(detail::dims_of(x), widths, int(N)), x, o);
}
/// The same of widths that are counted when it runs: a std::vector of `pad_width`.
template <array_expression X>
auto pad(const X& x, ::std::span<const pad_width> widths, const pad_options& o = {}) {
  if (widths.size() > ::std::size_t(max_rank)) detail::fail<value_error>("pad: ", widths.size(), " widths");
  return detail::pad_by(detail::widths_of(detail::dims_of(x), widths.data(), int(widths.size())), x, o);
}
/// The same width at both ends of all axes.
template <array_expression X>
auto pad(const X& x, detail::any_integer width, const pad_options& o = {}) {
  return pad(x, {{width, width}}, o);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
