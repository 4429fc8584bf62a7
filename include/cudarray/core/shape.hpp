// Shapes and axes: short lists of integers without a heap.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <initializer_list>

#include "build.hpp"
#include "error.hpp"
#include "integer.hpp"

namespace cudarray::inline v0 {

/// The most axes an array may have.
inline constexpr int max_rank = 8;

/// The extents of an array, outermost first. `{}` is the shape of a 0-d array.
class shape {
 public:
  constexpr shape() = default;
  constexpr shape(::std::initializer_list<int64> dims) : shape(dims.begin(), int(dims.size())) {}
  template <::std::integral Int>
  constexpr shape(Int n) : ndim_(1), dim_{detail::to_int64(n)} {}
  /// Throws shape_error for more than `max_rank` axes.
  CUDARRAY_PER_BUILD constexpr shape(const int64* dims, int n) : ndim_(n) {
    if (n > max_rank) detail::fail<shape_error>("shape: ", n, " axes, at most ", max_rank, " are supported");
    for (int i = 0; i < n; ++i) dim_[i] = dims[i];
  }

  constexpr int ndim() const { return ndim_; }
  constexpr int size() const { return ndim_; }
  constexpr int64 operator[](int i) const { return dim_[i]; }
  constexpr int64& operator[](int i) { return dim_[i]; }
  constexpr const int64* begin() const { return dim_; }
  constexpr const int64* end() const { return dim_ + ndim_; }
  /// The product of the extents: 1 for a 0-d shape.
  constexpr int64 elements() const {
    int64 n = 1;
    for (int i = 0; i < ndim_; ++i) n *= dim_[i];
    return n;
  }
  constexpr void push_back(int64 n) {
    if (ndim_ == max_rank) detail::fail<shape_error>("shape: more than ", max_rank, " axes");
    dim_[ndim_++] = n;
  }
  /// Becomes (n,).
  constexpr void resize(int64 n) { ndim_ = 1, dim_[0] = n; }
  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.ndim_ != b.ndim_) return false;
    for (int i = 0; i < a.ndim_; ++i)
      if (a.dim_[i] != b.dim_[i]) return false;
    return true;
  }
  friend constexpr bool operator!=(const shape& a, const shape& b) { return !(a == b); }
  /// As Python prints a tuple: `(3, 4)`, `(3,)`, `()`.
  CUDARRAY_COLD friend void append(detail::text& t, const shape& v) {
    for (int i = 0; i < v.ndim_; ++i) {
      t.add(i == 0 ? "(" : ", ");
      append(t, detail::piece(v.dim_[i]));
    }
    t.add(v.ndim_ == 0 ? "()" : v.ndim_ == 1 ? ",)" : ")");
  }
  ::std::string str() const { return detail::cat(*this); }

 private:
  int ndim_ = 0;
  int64 dim_[max_rank] = {};
};

namespace detail::inline CUDARRAY_BUILD {

/// Throws shape_error where an extent is negative, or the elements would need 2^59 bytes or more: strides and byte
/// counts of a shape that passes cannot overflow, whatever its dtype.
inline const shape& check_extents(const char* function, const shape& s) {
  int64 n = 1;
  for (int64 d : s) {
    if (d < 0) fail<shape_error>(function, ": negative extent in shape ", s);
    if (d != 0 && (__builtin_mul_overflow(n, d, &n) || n >= (int64(1) << 55)))
      fail<shape_error>(function, ": shape ", s, " is too large");
  }
  return s;
}

/// The axis counted from the front; negative ones count from the end. Throws index_error.
inline int normal_axis(const char* function, int64 axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    fail<index_error>(function, ": axis ", axis, " is out of bounds for an array of ", ndim, " axes");
  return int(axis < 0 ? axis + ndim : axis);
}

/// The shape both broadcast to, by NumPy's rule. Throws shape_error naming the axis, counted in the result.
CUDARRAY_NO_INLINE inline shape broadcast_shapes(const char* function, const shape& a, const shape& b) {
  const shape& longer = a.ndim() >= b.ndim() ? a : b;
  const shape& shorter = a.ndim() >= b.ndim() ? b : a;
  shape r = longer;
  const int lead = longer.ndim() - shorter.ndim();
  for (int i = lead; i < longer.ndim(); ++i) {
    const int64 x = longer[i], y = shorter[i - lead];
    if (x == y) continue;
    if (x != 1 && y != 1) fail<shape_error>(function, ": shapes ", a, " and ", b, " differ at axis ", i);
    r[i] = x == 1 ? y : x;
  }
  return r;
}

}  // namespace detail

/// The axes a function works on: one, several, negative ones counted from the end. Default-constructed (`{}`): no axes.
class axes {
 public:
  constexpr axes() = default;
  template <detail::integer_number Int>
  constexpr axes(Int axis) : n_(1), axis_{detail::to_int64(axis)} {}
  /// Not one std::initializer_list: g++ lets `{.name = 1}` become that, whatever the name.
  template <detail::integer_number First, detail::integer_number Second, detail::integer_number... Rest>
  constexpr axes(First first, Second second, Rest... rest)
      : axes(
            ::std::initializer_list<int64>{detail::to_int64(first), detail::to_int64(second), detail::to_int64(rest)...}
                .begin(),
            int(2 + sizeof...(Rest))) {}
  /// From a list known at run time. Throws shape_error for more than `max_rank`.
  template <::std::integral Int>
  CUDARRAY_PER_BUILD constexpr axes(const Int* list, int n) : n_(n) {
    if (n > max_rank) detail::fail<shape_error>("axes: ", n, " axes given, at most ", max_rank, " exist");
    for (int i = 0; i < n; ++i) axis_[i] = list[i];
  }
  /// Every axis of the operand.
  static constexpr axes all() {
    axes a;
    a.n_ = -1;
    return a;
  }
  constexpr bool is_all() const { return n_ < 0; }
  constexpr int size() const { return n_ < 0 ? 0 : n_; }
  constexpr int64 operator[](int i) const { return axis_[i]; }

  /// One bit per axis of an operand with `ndim` axes. Throws index_error (out of bounds), value_error (named twice).
  unsigned mask(const char* function, int ndim) const {
    if (is_all()) return (1u << ndim) - 1u;
    unsigned m = 0;
    for (int i = 0; i < n_; ++i) {
      const unsigned bit = 1u << detail::normal_axis(function, axis_[i], ndim);
      if (m & bit) detail::fail<value_error>(function, ": axis ", axis_[i], " is named twice");
      m |= bit;
    }
    return m;
  }

 private:
  int n_ = 0;
  int64 axis_[max_rank] = {};
};

}  // namespace cudarray::inline v0
