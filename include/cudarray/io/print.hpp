// Printing arrays as NumPy does.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../ops/transfer.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// What printing has to know of a dtype. Floats, and the parts of complex numbers, are shown with the digits they need.
struct printed_dtype {
  enum { whole, floating, complex } kind;
  int64 bytes;
  void (*add)(text&, const void*);             ///< of whole numbers
  double (*value)(const void*);                ///< of a float or a part
  bool (*reads_as)(const char*, const void*);  ///< whether a decimal is read back as that float or part
};

template <class T>
CUDARRAY_COLD CUDARRAY_PER_BUILD void add_whole(text& t, const void* p) {
  const T v = *static_cast<const T*>(p);
  if constexpr (::std::is_same_v<T, bool>) t.add(v ? "True" : "False");
  else append(t, piece(v));
}
template <class T>
CUDARRAY_PER_BUILD double float_value(const void* p) {
  return double(compute_t<T>(*static_cast<const T*>(p)));
}
template <class T>
CUDARRAY_PER_BUILD bool reads_as(const char* s, const void* p) {
  const T v = *static_cast<const T*>(p);
  if constexpr (::std::is_same_v<T, double>) return ::std::strtod(s, nullptr) == v;
  else return T(::std::strtof(s, nullptr)) == v;
}
template <class T>
CUDARRAY_PER_BUILD constexpr printed_dtype printed() {
  if constexpr (is_complex<T>) {
    printed_dtype d = printed<decltype(T::re)>();
    d.kind = printed_dtype::complex;
    d.bytes = sizeof(T);
    return d;
  } else if constexpr (is_floating<T>) {
    return {printed_dtype::floating, sizeof(T), nullptr, float_value<T>, reads_as<T>};
  } else {
    return {printed_dtype::whole, sizeof(T), add_whole<T>, nullptr, nullptr};
  }
}

/// Shows the elements of one array alike: floats with at most 8 digits after the point, and spaces behind them so that
/// the points line up. More than 1000 elements are summarised.
class CUDARRAY_PER_BUILD array_printer {
 public:
  CUDARRAY_COLD array_printer(const printed_dtype& of, const layout& where, const void* data)
      : of_(of), where_(where), first_(static_cast<const char*>(data) + where.offset * of.bytes) {
    if (of.kind == printed_dtype::floating) {
      each(0, first_, &array_printer::see_magnitude);
      scientific_ = high_ >= 1e8 || (low_ != 0 && (low_ < 1e-4 || high_ / low_ > 1000.));
      each(0, first_, &array_printer::see_digits);
    }
    each(0, first_, &array_printer::see_width);
  }

  CUDARRAY_COLD ::std::string str() {
    print(0, first_);
    return out_.str();
  }

 private:
  static constexpr int64 summarise_above = 1000, edge_items = 3, line_width = 75;

  bool is_cut(int64 n) const { return where_.elements() > summarise_above && n > 2 * edge_items; }
  int64 step(int axis) const { return where_.stride[axis] * of_.bytes; }

  /// Calls a function with each element that will be shown, in order.
  CUDARRAY_COLD void each(int axis, const char* p, void (array_printer::*see)(const char*)) {
    if (axis == where_.ndim()) return (this->*see)(p);
    const int64 n = where_.dims[axis];
    for (int64 i = 0; i < n; ++i) {
      if (is_cut(n) && i == edge_items) i = n - edge_items;
      each(axis + 1, p + i * step(axis), see);
    }
  }
  CUDARRAY_COLD void see_magnitude(const char* p) {
    const double m = math::abs(of_.value(p));
    if (m == 0 || m - m != 0) return;
    if (low_ == 0 || m < low_) low_ = m;
    if (m > high_) high_ = m;
  }
  CUDARRAY_COLD void see_digits(const char* p) {
    const double v = of_.value(p);
    const int digits = v - v == 0 ? needed_digits(p) : 0;
    if (digits > precision_) precision_ = digits;
  }
  CUDARRAY_COLD void see_width(const char* p) {
    text t;
    add_element(t, p);
    if (int64(t.size()) > width_) width_ = int64(t.size());
  }

  static constexpr int longest = 400;
  CUDARRAY_COLD void write(char* s, int digits, double v) const {
    ::std::snprintf(s, longest, scientific_ ? "%.*e" : "%.*f", digits, v);
  }
  /// The digits after the point after which the decimal reads back as the same number.
  CUDARRAY_COLD int needed_digits(const char* p) const {
    char s[longest];
    int digits = 0;
    for (; digits < 8; ++digits) {
      write(s, digits, of_.value(p));
      if (of_.reads_as(s, p)) break;
    }
    return digits;
  }
  CUDARRAY_COLD void add_number(text& t, const char* p) const {
    const double v = of_.value(p);
    if (v != v) return t.add("nan");
    if (v - v != 0) return t.add(v > 0 ? "inf" : "-inf");
    char s[longest];
    const int digits = scientific_ ? precision_ : needed_digits(p);
    write(s, digits, v);
    if (digits > 0) return t.add(s);
    const ::std::size_t mantissa = ::std::strcspn(s, "e");
    t.add(s, mantissa);
    t.add('.');
    t.add(s + mantissa);
  }
  CUDARRAY_COLD void add_element(text& t, const char* p) const {
    if (of_.kind == printed_dtype::whole) return of_.add(t, p);
    add_number(t, p);
    if (of_.kind == printed_dtype::complex) {
      const char* const imaginary = p + of_.bytes / 2;
      const double v = of_.value(imaginary);
      if (v != v || !__builtin_signbit(v)) t.add('+');
      add_number(t, imaginary);
      t.add('j');
    } else if (const void* point = scientific_ ? nullptr : ::std::memchr(t.data(), '.', t.size())) {
      t.add(' ', ::std::size_t(static_cast<const char*>(point) + 1 + precision_ - (t.data() + t.size())));
    }
  }
  CUDARRAY_COLD void print_element(const char* p) {
    text t;
    add_element(t, p);
    const ::std::size_t spaces = ::std::size_t(width_) - t.size();
    if (of_.kind != printed_dtype::complex) out_.add(' ', spaces);
    out_.add(t.data(), t.size());
    if (of_.kind == printed_dtype::complex) out_.add(' ', spaces);
  }

  /// As NumPy breaks lines: an element goes on the next one where it would end beyond column 74, less one for every
  /// bracket still open.
  CUDARRAY_COLD void print(int axis, const char* p) {
    if (axis == where_.ndim()) {  // a 0-d array stands alone
      add_element(out_, p);
      if (of_.kind == printed_dtype::floating && out_.data()[out_.size() - 1] == '.') out_.add('0');
      return;
    }
    const int64 n = where_.dims[axis];
    const bool last = axis == where_.ndim() - 1;
    out_.add('[');
    int64 column = axis + 1;
    for (int64 i = 0; i < n; ++i) {
      const bool skip = is_cut(n) && i == edge_items;
      const int64 w = skip ? 3 : width_;
      int64 lines = 0;
      if (i > 0) lines = last ? column + 1 + w > line_width - 1 - axis : where_.ndim() - axis - 1;
      if (lines > 0) {
        out_.add('\n', ::std::size_t(lines));
        out_.add(' ', ::std::size_t(axis) + 1);
        column = axis + 1;
      } else if (i > 0) {
        out_.add(' ');
        ++column;
      }
      column += w;
      if (skip) {
        out_.add("...");
        i = n - edge_items - 1;
      } else if (last) {
        print_element(p + i * step(axis));
      } else {
        print(axis + 1, p + i * step(axis));
      }
    }
    out_.add(']');
  }

  const printed_dtype of_;
  const layout where_;
  const char* first_;
  bool scientific_ = false;
  int precision_ = 0;  ///< most digits after the point
  int64 width_ = 0;
  double low_ = 0, high_ = 0;  ///< of what is neither 0 nor infinite
  text out_;
};

}  // namespace detail

/// The elements as NumPy's str() shows them; more than 1000 are summarised. Evaluates expressions and waits for the
/// device.
///     ca::to_string(ca::array<float>({1, 2.5}))  // "[1.  2.5]"
template <array_expression X, class Build = this_build>
CUDARRAY_COLD ::std::string to_string(const X& x) {
  using T = value_type_t<X>;
  using Device = device_type_t<X>;
  const ndarray<T, Device> a(x);
  if (a.size() == 0) return "[]";
  const auto show = [](const auto& l) {
    return detail::array_printer(detail::printed<T>(), l.where, l.store->data).str();
  };
  if constexpr (Device::host_accessible && Device::synchronous) return show(a.node());
  else return show(detail::host_block(a));
}

/// Writes `to_string(x)` and, for arrays with axes, a line break. Any stream that takes strings.
template <class Stream, array_expression X>
requires requires(Stream& s) { s << ::std::string(); }
Stream& operator<<(Stream& stream, const X& x) {
  stream << to_string(x) << '\n';
  return stream;
}

}  // namespace cudarray::inline v0
