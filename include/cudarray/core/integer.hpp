// An integer argument, of whatever integer type it is given.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "dtype.hpp"
#include "text.hpp"

namespace cudarray::inline v0::detail {

/// What may be an axis, a count, a size or an index: a truth value in such a place is an option or a mask that went
/// astray.
template <class Int>
concept integer_number = ::std::integral<Int> && !::std::same_as<::std::remove_cv_t<Int>, bool>;

/// An integer as int64. One beyond becomes the largest, so that checks of ranges see that it is too large.
template <::std::integral Int>
constexpr int64 to_int64(Int v) {
  if constexpr (Int(-1) > Int(0) && sizeof(Int) == 8) {
    if (v > Int(::std::numeric_limits<int64>::max())) return ::std::numeric_limits<int64>::max();
  }
  return static_cast<int64>(v);
}

/// An axis, a count or a size, as a parameter: takes integers of every type whole, where int would cut them and int64
/// would take a float or a bool.
struct any_integer {
  int64 value;
  template <integer_number Int>
  constexpr any_integer(Int v) : value(to_int64(v)) {}
  template <class E>
  requires(::std::is_enum_v<E>&& ::std::is_convertible_v<E, int64>) constexpr any_integer(E v) : value(int64(v)) {}
  constexpr operator int64() const { return value; }
  friend void append(text& t, const any_integer& n) { append(t, piece(n.value)); }
};

}  // namespace cudarray::inline v0::detail
