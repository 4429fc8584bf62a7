// Printing arrays as NumPy does.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "../ops/transfer.hpp"
#include "digits.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Shows the elements of one array alike. More than 1000 are summarised.
class array_printer {
 public:
  CUDARRAY_COLD array_printer(const printed_dtype& of, const layout& where, const void* data)
      : of_(of),
        where_(where),
        first_(static_cast<const char*>(data) + where.offset * of.bytes),
        width_(of.least_width) {
    if (where.ndim() == 0) return;
    if (of.parts == 0) {
      each(0, first_, &array_printer::see_width);
    } else {
      each(0, first_, &array_printer::see_magnitude);
      each(0, first_, &array_printer::see_digits);
      width_ =
          formats_[0].width() + (of.parts == 2 ? formats_[1].width() + int(::std::string_view(of.unit).size()) : 0);
    }
  }

  CUDARRAY_COLD ::std::string str() {
    if (where_.ndim() == 0) add_alone(first_);
    else print(0, first_);
    return out_.str();
  }

 private:
  static constexpr int64 summarise_above = 1000, edge_items = 3, line_width = 75;

  bool is_cut(int64 n) const { return where_.elements() > summarise_above && n > 2 * edge_items; }
  int64 step(int axis) const { return where_.stride[axis] * of_.bytes; }
  double part(const char* p, int i) const { return of_.value(p + i * (of_.bytes / 2)); }

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
    for (int i = 0; i < of_.parts; ++i) formats_[i].see_magnitude(part(p, i));
  }
  CUDARRAY_COLD void see_digits(const char* p) {
    for (int i = 0; i < of_.parts; ++i) formats_[i].see_digits(part(p, i));
  }
  CUDARRAY_COLD void see_width(const char* p) {
    text t;
    of_.add(t, p);
    if (int64(t.size()) > width_) width_ = int64(t.size());
  }

  CUDARRAY_COLD void print_element(const char* p) {
    text t;
    if (of_.parts == 0) of_.add(t, p);
    else formats_[0].add(t, part(p, 0));
    if (of_.parts == 2) {
      formats_[1].add(t, part(p, 1));
      const ::std::size_t spaces = t.trim();
      t.add(of_.unit);
      t.add(' ', spaces);
    }
    out_.add(' ', ::std::size_t(width_) - t.size());
    out_.add(t.data(), t.size());
  }
  /// The element of a 0-d array.
  CUDARRAY_COLD void add_alone(const char* p) {
    if (of_.parts == 0) return of_.add(out_, p);
    const double v = part(p, 0);
    if (of_.parts == 1) return float_format::add_alone(out_, v, of_, false);
    const bool imaginary = v == 0 && !__builtin_signbit(v);
    if (!imaginary) {
      out_.add('(');
      float_format::add_alone(out_, v, of_, false);
    }
    float_format::add_alone(out_, part(p, 1), of_, !imaginary);
    out_.add(of_.unit);
    if (!imaginary) out_.add(')');
  }

  /// As NumPy breaks lines: an element goes on the next one where it would end beyond column 74, less one for every
  /// bracket still open.
  CUDARRAY_COLD void print(int axis, const char* p) {
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
        out_.trim();
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
  int64 width_;                                            ///< of an element
  float_format formats_[2] = {{of_, false}, {of_, true}};  ///< of the parts
  text out_;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// The elements as NumPy's str() shows them; more than 1000 are summarised. Evaluates expressions and waits for the
/// device.
///     ca::to_string(ca::array<float>({1, 2.5}))  // "[1.  2.5]"
template <array_expression X>
CUDARRAY_COLD ::std::string to_string(const X& x) {
  using T = value_type_t<X>;
  using Device = device_type_t<X>;
  const ndarray<T, Device> a = detail::array_of(x);
  if (a.size() == 0) return "[]";
  const auto show = [](const auto& l) {
    return detail::array_printer(detail::printed<T>(), l.where, l.store->data).str();
  };
  if constexpr (Device::host_accessible && Device::synchronous) return show(a.node());
  else return show(detail::host_block(a));
}

/// A shape as Python shows a tuple: "(2, 3)".
template <::std::same_as<shape> S>
::std::string to_string(const S& s) {
  return detail::cat(s);
}
template <class Stream, ::std::same_as<shape> S>
requires requires(Stream& s) { s << ::std::string(); }
Stream& operator<<(Stream& stream, const S& s) {
  stream << to_string(s);
  return stream;
}

/// Writes `to_string(x)`, without a line break behind it. Any stream that takes strings.
template <class Stream, array_expression X>
requires requires(Stream& s) { s << ::std::string(); }
Stream& operator<<(Stream& stream, const X& x) {
  stream << to_string(x);
  return stream;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
