// Printing arrays as NumPy does.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../ops/transfer.hpp"

namespace cudarray::inline v0 {
namespace detail {

inline constexpr int64 summarise_above = 1000;
inline constexpr int64 edge_items = 3;
inline constexpr int line_width = 75;

/// True if the decimal reads back as the same value.
template <class F>
bool reads_back(const char* s, F v) {
  if constexpr (::std::is_same_v<F, float>) return ::strtof(s, nullptr) == v;
  else return ::strtod(s, nullptr) == v;
}

/// Formats the floats of one array alike: as many digits after the point as the longest needs, all as wide as the widest.
struct float_format {
  bool scientific = false;
  int precision = 0, width = 0;

  template <class F>
  static int needed_digits(F v, bool scientific) {
    char s[64];
    for (int p = 0; p < 8; ++p) {
      ::std::snprintf(s, sizeof s, scientific ? "%.*e" : "%.*f", p, double(v));
      if (reads_back(s, v)) return p;
    }
    return 8;
  }
  template <class F>
  ::std::string text(F v) const {
    char s[400];
    if (v != v) return "nan";
    if (v - v != F(0)) return v > F(0) ? "inf" : "-inf";
    ::std::snprintf(s, sizeof s, scientific ? "%.*e" : "%.*f", precision, double(v));
    ::std::string t = s;
    const auto e = t.find('e');
    ::std::string mantissa = t.substr(0, e);
    if (precision == 0) mantissa += '.';
    if (e != ::std::string::npos) return mantissa + t.substr(e);
    // zeros at the end become spaces, as NumPy has it, so that the points line up
    ::std::size_t last = mantissa.find_last_not_of('0');
    mantissa.replace(last + 1, mantissa.size() - last - 1, mantissa.size() - last - 1, ' ');
    t = mantissa;
    return t;
  }
};

template <class T>
class array_printer {
 public:
  explicit array_printer(const ndarray<T, cpu>& a) : a_(a), summarise_(a.size() > summarise_above) {
    if constexpr (is_floating<T>) {
      using F = compute_t<T>;
      double low = 0, high = 0;
      visit(0, a_.where().offset, [&](T x) {
        const double m = ::fabs(double(F(x)));
        if (m == 0 || m - m != 0) return;
        if (low == 0 || m < low) low = m;
        if (m > high) high = m;
      });
      format_.scientific = high >= 1e8 || (low != 0 && (low < 1e-4 || high / low > 1000.));
      visit(0, a_.where().offset, [&](T x) {
        const F v = F(x);
        if (v - v != F(0)) return;
        const int p = float_format::needed_digits(v, format_.scientific);
        if (p > format_.precision) format_.precision = p;
      });
    }
    visit(0, a_.where().offset, [&](T x) {
      const int w = int(text(x).size());
      if (w > width_) width_ = w;
    });
  }

  ::std::string str() {
    print(0, a_.where().offset, 0, 0);
    return out_;
  }

 private:
  template <class F>
  void visit(int axis, int64 offset, const F& f) {
    if (a_.size() == 0) return;
    if (axis == a_.ndim()) return f(static_cast<const T*>(a_.storage()->data)[offset]);
    const int64 n = a_.shape()[axis];
    for (int64 i = 0; i < n; ++i) {
      if (summarise_ && n > 2 * edge_items && i == edge_items) i = n - edge_items;
      visit(axis + 1, offset + i * a_.where().stride[axis], f);
    }
  }

  ::std::string text(T v) const {
    if constexpr (::std::is_same_v<T, bool>) return v ? "True" : "False";
    else if constexpr (is_integer<T>) return ::std::to_string(v);
    else if constexpr (is_floating<T>) return format_.text(compute_t<T>(v));
    else {
      const auto digits = [](auto part) { return part - part == 0 ? float_format::needed_digits(part, false) : 0; };
      float_format f;
      f.precision = digits(v.re) > digits(v.im) ? digits(v.re) : digits(v.im);
      return f.text(v.re) + (v.im < 0 ? "" : "+") + f.text(v.im) + "j";
    }
  }

  void element(int64 offset) {
    const ::std::string t = text(static_cast<const T*>(a_.storage()->data)[offset]);
    // integers and floats line up on the right; floats share their digits, so this lines up the points
    out_.append(::std::size_t(width_) - (t.size() < ::std::size_t(width_) ? t.size() : ::std::size_t(width_)), ' ');
    out_ += t;
  }

  void print(int axis, int64 offset, int depth, int trailing) {
    if (axis == a_.ndim()) {
      out_ = text(static_cast<const T*>(a_.storage()->data)[offset]);  // a 0-d array stands alone
      while (out_.back() == ' ') out_.pop_back();
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
        if (i > 0) {
          // a line breaks where the element and the brackets that may follow would not fit
          if (column + 1 + w > line_width - (i + 1 == n ? trailing + 1 : 1) + 1) {
            out_ += '\n';
            out_.append(::std::size_t(depth) + 1, ' ');
            column = depth + 1;
          } else {
            out_ += ' ';
            ++column;
          }
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
        print(axis + 1, offset + i * step, depth + 1, i + 1 == n ? trailing + 1 : 1);
      }
    }
    out_ += ']';
  }

  ndarray<T, cpu> a_;
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
::std::string to_string(const X& x) {
  using T = value_type_t<X>;
  const ndarray<T, device_type_t<X>> a(x);
  if (a.size() == 0) return a.ndim() == 1 ? "[]" : detail::cat("[] shape ", a.shape());
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
