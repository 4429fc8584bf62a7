// What may stand between the parentheses of an index: integers, slices, `_`, newaxis, ellipsis.
// SPDX-License-Identifier: MIT
#pragma once

#include "integer.hpp"

namespace cudarray::inline v0 {

struct none_t {};
struct all_t {};
struct newaxis_t {};
struct ellipsis_t {};

/// An absent bound of a slice, Python's None.
inline constexpr none_t none{};
/// A full axis, Python's `:`.
inline constexpr all_t _{};
/// A new axis of extent 1, NumPy's np.newaxis.
inline constexpr newaxis_t newaxis{};
/// As many full axes as are left, Python's `...`.
inline constexpr ellipsis_t ellipsis{};

/// A bound of a slice: an integer or `none`.
struct slice_bound {
  int64 value = 0;
  bool given = false;
  constexpr slice_bound() = default;
  constexpr slice_bound(none_t) {}
  template <::std::integral Int>
  constexpr slice_bound(Int v) : value(detail::to_int64(v)), given(true) {}
};

/// Python's `start:stop:step`. Bounds out of range clip; a step of 0 throws value_error when it is used.
///     a(ca::slice(1, ca::none))            // a[1:]
///     a(ca::slice(ca::none, ca::none, -1)) // a[::-1]
struct slice {
  slice_bound start, stop, step;
  constexpr slice(slice_bound stop_) : stop(stop_) {}
  constexpr slice(slice_bound start_, slice_bound stop_, slice_bound step_ = none)
      : start(start_), stop(stop_), step(step_) {}
};

/// One item of an index.
struct index_item {
  enum class what { integer, slice_, newaxis_, ellipsis_ };
  what is;
  int64 integer = 0;
  slice_bound start, stop, step;
  template <::std::integral Int>
  constexpr index_item(Int i) : is(what::integer), integer(detail::to_int64(i)) {
    static_assert(detail::integer_number<Int>,
                  "cudarray: a bool is no index: a mask is an array of bool, x(m) with m of x's shape");
  }
  constexpr index_item(const slice& s) : is(what::slice_), start(s.start), stop(s.stop), step(s.step) {}
  constexpr index_item(all_t) : is(what::slice_) {}
  constexpr index_item(newaxis_t) : is(what::newaxis_) {}
  constexpr index_item(ellipsis_t) : is(what::ellipsis_) {}
};

template <class T>
concept basic_index = ::std::convertible_to<T, index_item>;

}  // namespace cudarray::inline v0
