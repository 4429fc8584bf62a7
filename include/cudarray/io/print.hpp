// Printing arrays as NumPy does.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../ops/transfer.hpp"

namespace cudarray::inline v0 {
namespace detail {

inline constexpr int64 summarise_above = 1000;
inline constexpr int64 edge_items = 3;
inline constexpr int line_width = 75;

/// Formats the floats of one array alike: each with the digits it needs and no more (at most 8 after the point), and
/// spaces behind it so that the points line up.
struct float_format {
  bool scientific = false;
  int precision = 0;  ///< most digits after the point

  /// The digits after the point after which the decimal reads back as the same T.
  template <class T>
  CUDARRAY_COLD static int needed_digits(T v, bool scientific) {
    char s[400];
    for (int p = 0; p < 8; ++p) {
      ::std::snprintf(s, sizeof s, scientific ? "%.*e" : "%.*f", p, double(compute_t<T>(v)));
      const T back = ::std::is_same_v<T, double> ? T(::strtod(s, nullptr)) : T(::strtof(s, nullptr));
      if (back == v) return p;
    }
    return 8;
  }
  /// Without the spaces.
  template <class T>
  CUDARRAY_COLD ::std::string text(T v) const {
    const double d = double(compute_t<T>(v));
    if (d != d) return "nan";
    if (d - d != 0) return d > 0 ? "inf" : "-inf";
    char s[400];
    const int digits = scientific ? precision : needed_digits(v, false);
    ::std::snprintf(s, sizeof s, scientific ? "%.*e" : "%.*f", digits, d);
    const ::std::string t = s;
    if (digits > 0) return t;
    const auto e = t.find('e');
    return e == ::std::string::npos ? t + '.' : t.substr(0, e) + '.' + t.substr(e);
  }
  /// With them.
  template <class T>
  CUDARRAY_COLD ::std::string padded(T v) const {
    ::std::string t = text(v);
    const auto point = t.find('.');
    if (!scientific && point != ::std::string::npos) t.append(::std::size_t(precision) - (t.size() - point - 1), ' ');
    return t;
  }
};

template <class T>
class CUDARRAY_PER_BUILD array_printer {
 public:
  CUDARRAY_COLD explicit array_printer(const ndarray<T, cpu>& a) : a_(a), summarise_(a.size() > summarise_above) {
    collect(0, a_.where().offset);
    if constexpr (is_floating<T>) {
      double low = 0, high = 0;
      for (const auto x : shown_) {
        const double m = math::abs(double(compute_t<T>(x)));
        if (m == 0 || m - m != 0) continue;
        if (low == 0 || m < low) low = m;
        if (m > high) high = m;
      }
      format_.scientific = high >= 1e8 || (low != 0 && (low < 1e-4 || high / low > 1000.));
      for (const auto x : shown_) {
        const double v = double(compute_t<T>(x));
        const int p = v - v == 0 ? float_format::needed_digits(x, format_.scientific) : 0;
        if (p > format_.precision) format_.precision = p;
      }
    }
    for (const auto x : shown_) {
      const int w = int(text(T(x)).size());
      if (w > width_) width_ = w;
    }
  }

  ::std::string str() {
    print(0, a_.where().offset, 0);
    return out_;
  }

 private:
  /// The elements that will be shown, in order.
  CUDARRAY_COLD void collect(int axis, int64 offset) {
    if (a_.size() == 0) return;
    if (axis == a_.ndim()) {
      shown_.push_back(static_cast<const T*>(a_.storage()->data)[offset]);
      return;
    }
    const int64 n = a_.shape()[axis];
    for (int64 i = 0; i < n; ++i) {
      if (summarise_ && n > 2 * edge_items && i == edge_items) i = n - edge_items;
      collect(axis + 1, offset + i * a_.where().stride[axis]);
    }
  }

  CUDARRAY_COLD ::std::string text(T v) const {
    if constexpr (::std::is_same_v<T, bool>) return v ? "True" : "False";
    else if constexpr (is_integer<T>) return cat(v);
    else if constexpr (is_floating<T>) return format_.padded(v);
    else return format_.text(v.re) + (v.im < 0 ? "" : "+") + format_.text(v.im) + "j";
  }

  CUDARRAY_COLD void element(int64 offset) {
    const ::std::string t = text(static_cast<const T*>(a_.storage()->data)[offset]);
    const ::std::string spaces(::std::size_t(width_) - t.size(), ' ');
    out_ += is_complex<T> ? t + spaces : spaces + t;
  }

  /// As NumPy breaks lines: an element goes on the next one where it would end beyond column 74, less one for every
  /// bracket still open.
  CUDARRAY_COLD void print(int axis, int64 offset, int depth) {
    if (axis == a_.ndim()) {  // a 0-d array stands alone
      out_ = text(static_cast<const T*>(a_.storage()->data)[offset]);
      if (is_floating<T> && out_.back() == '.') out_ += '0';
      return;
    }
    const int64 n = a_.shape()[axis], step = a_.where().stride[axis];
    const bool last = axis == a_.ndim() - 1;
    out_ += '[';
    int column = depth + 1;
    for (int64 i = 0; i < n; ++i) {
      const bool skip = summarise_ && n > 2 * edge_items && i == edge_items;
      if (last) {
        const int w = skip ? 3 : width_;
        if (i > 0 && column + 1 + w > line_width - 1 - depth) {
          out_ += '\n';
          out_.append(::std::size_t(depth) + 1, ' ');
          column = depth + 1;
        } else if (i > 0) {
          out_ += ' ';
          ++column;
        }
        column += w;
      } else if (i > 0) {
        out_.append(::std::size_t(a_.ndim() - axis - 1), '\n');
        out_.append(::std::size_t(depth) + 1, ' ');
      }
      if (skip) {
        out_ += "...";
        i = n - edge_items - 1;
      } else if (last) {
        element(offset + i * step);
      } else {
        print(axis + 1, offset + i * step, depth + 1);
      }
    }
    out_ += ']';
  }

  ndarray<T, cpu> a_;
  ::std::vector<::std::conditional_t<::std::is_same_v<T, bool>, uint8, T>> shown_;
  bool summarise_;
  float_format format_;
  int width_ = 0;
  ::std::string out_;
};

}  // namespace detail

/// The elements as NumPy's str() shows them; more than 1000 are summarised. Evaluates expressions and waits for the
/// device.
///     ca::to_string(ca::array<float>({1, 2.5}))  // "[1.  2.5]"
template <array_expression X, class Build = this_build>
CUDARRAY_COLD ::std::string to_string(const X& x) {
  using T = value_type_t<X>;
  const ndarray<T, device_type_t<X>> a(x);
  if (a.size() == 0) return "[]";
  return detail::array_printer<T>(ndarray<T, cpu>(detail::host_block(a))).str();
}

/// Writes `to_string(x)` and, for arrays with axes, a line break. Any stream that takes strings.
template <class Stream, array_expression X>
requires requires(Stream& s) { s << ::std::string(); }
Stream& operator<<(Stream& stream, const X& x) {
  stream << to_string(x) << '\n';
  return stream;
}

}  // namespace cudarray::inline v0
