// Tables of numbers as text: loadtxt, savetxt.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <string_view>
#include <vector>

#include "../core/special.hpp"
#include "../ops/creation.hpp"
#include "../ops/transfer.hpp"
#include "gzip.hpp"

namespace cudarray::inline v0 {

struct loadtxt_options {
  ::std::string delimiter = "";       ///< absent: spaces and tabs
  ::std::string comments = "#";       ///< what follows is not read; empty: nothing is a comment
  int64 skiprows = 0;                 ///< lines at the beginning
  int64 max_rows = -1;                ///< lines of numbers; -1: all
  ::std::vector<int64> usecols = {};  ///< the columns that are read, in that order; empty: all
  int ndmin = 0;                      ///< at least so many axes, up to 2
};
struct savetxt_options {
  /// "%d", "%.3f", "%10.4f", "%.6e", "%.4g", with the flags -, + and 0; absent: the fewest digits that tell a
  /// number from its neighbours, of float16 and bfloat16 as float32.
  ::std::string fmt = "";
  ::std::string delimiter = " ", newline = "\n", header = "", comments = "# ";
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The lines of a file, whose ends are \n, \r\n or \r.
template <class Reader>
class line_reader {
 public:
  explicit line_reader(Reader& f) : f_(f) {}
  /// False at the end. The line is there until the next is read.
  bool next(::std::string_view& line) {
    ++number_;
    for (::std::size_t from = at_;;) {
      const ::std::size_t end = text_.find_first_of("\r\n", from);
      // behind a \r at the end of what was read a \n may follow
      if (end != ::std::string::npos && (text_[end] == '\n' || end + 1 < text_.size() || ended_)) {
        line = ::std::string_view(text_).substr(at_, end - at_);
        at_ = end + (text_[end] == '\r' && end + 1 < text_.size() && text_[end + 1] == '\n' ? 2 : 1);
        return true;
      }
      if (ended_) break;
      from = end == ::std::string::npos ? text_.size() - at_ : end - at_;
      text_.erase(0, at_);
      at_ = 0;
      fill();
    }
    line = ::std::string_view(text_).substr(at_);
    at_ = text_.size();
    return !line.empty();
  }
  /// Of the last line, counted from 1.
  int64 number() const { return number_; }

 private:
  void fill() {
    constexpr ::std::size_t part = ::std::size_t(1) << 16;
    const ::std::size_t before = text_.size();
    text_.resize(before + part);
    const ::std::size_t n = f_.read(&text_[before], part);
    text_.resize(before + n);
    ended_ = n < part;
  }
  Reader& f_;
  ::std::string text_;
  ::std::size_t at_ = 0;
  bool ended_ = false;
  int64 number_ = 0;
};

inline ::std::string_view without_spaces(::std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// What a decimal number that no float has is nearest to: 0 or infinity, by the power of ten of its first digit.
inline double beyond_range(::std::string_view s) {
  const bool negative = s.front() == '-';
  if (negative) s.remove_prefix(1);
  const ::std::size_t e = s.find_first_of("eE");
  const ::std::string_view digits = s.substr(0, e);
  const ::std::size_t first = digits.find_first_of("123456789"), point = digits.find('.');
  const int64 unit = int64(point < digits.size() ? point : digits.size()), at = int64(first);
  int64 power = unit > at ? unit - at - 1 : unit - at, exponent = 0;
  if (e < s.size()) {
    ::std::string_view rest = s.substr(e + 1);
    if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
    const bool fits = ::std::from_chars(rest.data(), rest.data() + rest.size(), exponent).ec == ::std::errc();
    constexpr int64 most = int64(1) << 60;
    if (!fits || exponent > most || exponent < -most) exponent = rest.front() == '-' ? -most : most;
  }
  power += exponent;
  return (negative ? -1 : 1) * (power < 0 ? 0. : __builtin_huge_val());
}
/// A double as float16 or bfloat16, rounded once: to a float whose last bit tells of what was cut, then to nearest.
template <class T>
T rounded_half(double v) {
  float f = static_cast<float>(v);
  if (static_cast<double>(f) != v && math::isfinite(f)) {
    if (math::abs(static_cast<double>(f)) > math::abs(v)) f = math::nextafter(f, 0.f);
    f = __builtin_bit_cast(float, __builtin_bit_cast(uint32, f) | 1u);
  }
  return T(f);
}
/// A number from all of a text; false for what is none.
template <class T>
bool parse_number(::std::string_view s, T& to) {
  if (s.size() > 1 && s.front() == '+' && s[1] != '-') s.remove_prefix(1);
  using V = ::std::conditional_t<::std::is_same_v<T, bool>, int64, ::std::conditional_t<is_half<T>, double, T>>;
  V v = V();
  const auto r = ::std::from_chars(s.data(), s.data() + s.size(), v);
  if (r.ptr != s.data() + s.size() || s.empty() || s.back() == ')') return false;  // nan(..)
  if (r.ec == ::std::errc::result_out_of_range) {
    if constexpr (!is_floating<T>) return false;
    else v = static_cast<V>(beyond_range(s));
  }
  if constexpr (is_half<T>) to = rounded_half<T>(v);
  else to = lane_cast<T>(v);
  return true;
}

/// Which columns of a line are wanted, as texts.
class columns {
 public:
  columns(const ::std::string& path, const loadtxt_options& o) : path_(path), o_(o) {}
  CUDARRAY_COLD const ::std::vector<::std::string_view>& of(::std::string_view line, int64 number) {
    all_.clear();
    if (!o_.comments.empty()) line = line.substr(0, line.find(o_.comments));
    if (without_spaces(line).empty()) return all_;
    if (o_.delimiter.empty()) split_at_spaces(line);
    else split(line);
    if (o_.usecols.empty()) return all_;
    picked_.clear();
    const auto n = int64(all_.size());
    for (const int64 c : o_.usecols) {
      if (c < -n || c >= n) fail<io_error>(path_, ": line ", number, " has ", n, " columns, and no column ", c);
      picked_.push_back(all_[::std::size_t(c < 0 ? c + n : c)]);
    }
    return picked_;
  }

 private:
  void split(::std::string_view line) {
    for (;;) {
      const ::std::size_t end = line.find(o_.delimiter);
      all_.push_back(without_spaces(line.substr(0, end)));
      if (end == ::std::string_view::npos) return;
      line.remove_prefix(end + o_.delimiter.size());
    }
  }
  void split_at_spaces(::std::string_view line) {
    for (line = without_spaces(line); !line.empty(); line = without_spaces(line)) {
      const ::std::size_t end = line.find_first_of(" \t");
      all_.push_back(line.substr(0, end));
      line.remove_prefix(end == ::std::string_view::npos ? line.size() : end);
    }
  }
  const ::std::string& path_;
  const loadtxt_options& o_;
  ::std::vector<::std::string_view> all_, picked_;
};

/// The numbers of all lines, one behind the other, and how many there are in a line.
template <class T>
struct text_table {
  ::std::vector<::std::conditional_t<::std::is_same_v<T, bool>, uint8, T>> numbers;
  int64 rows = 0, columns = 0;
};
template <class T, class Reader>
text_table<T> read_table(Reader& f, const loadtxt_options& o) {
  line_reader<Reader> lines(f);
  columns wanted(f.path(), o);
  text_table<T> t;
  ::std::string_view line;
  for (int64 i = 0; i < o.skiprows; ++i)
    if (!lines.next(line)) break;
  while ((o.max_rows < 0 || t.rows < o.max_rows) && lines.next(line)) {
    const auto& texts = wanted.of(line, lines.number());
    if (texts.empty()) continue;
    if (t.rows == 0) t.columns = int64(texts.size());
    if (int64(texts.size()) != t.columns)
      fail<io_error>(f.path(), ": line ", lines.number(), " has ", texts.size(), " columns, those before have ",
                     t.columns);
    for (const ::std::string_view s : texts) {
      T v = T();
      if (!parse_number(s, v))
        fail<io_error>(f.path(), ": line ", lines.number(), ": \"", shown(s.data(), s.size()), "\" is no ",
                       dtype_name<T>);
      t.numbers.push_back(v);
    }
    ++t.rows;
  }
  f.finish();
  return t;
}
/// Axes of one element are left out, down to `ndmin`, as NumPy does.
inline shape table_shape(int64 rows, int64 columns, const loadtxt_options& o) {
  if (rows == 0) return o.ndmin == 2 ? shape{0, o.usecols.empty() ? 1 : int64(o.usecols.size())} : shape{0};
  if (o.ndmin == 2 || (rows > 1 && columns > 1)) return {rows, columns};
  if (o.ndmin == 1 || rows > 1 || columns > 1) return {rows * columns};
  return {};
}
CUDARRAY_COLD inline void check_options(const loadtxt_options& o) {
  if (o.ndmin < 0 || o.ndmin > 2) fail<value_error>("loadtxt: ndmin is ", o.ndmin, ", not 0, 1 or 2");
  if (o.skiprows < 0) fail<value_error>("loadtxt: skiprows is ", o.skiprows);
  if (o.max_rows < -1) fail<value_error>("loadtxt: max_rows is ", o.max_rows, ", not a count, or -1 for all");
  if (!o.delimiter.empty() && o.delimiter == o.comments)
    fail<value_error>("loadtxt: \"", o.delimiter, "\" is the delimiter, and begins comments");
}

/// How numbers are written: a letter as in C, digits, and the width that spaces or zeros fill; letter 0: as few
/// digits as needed.
struct number_format {
  char letter = 0;
  int digits = 6, width = 0;
  bool left = false, plus = false, zeros = false;
};
CUDARRAY_COLD inline number_format parse_format(const ::std::string& fmt) {
  number_format r;
  if (fmt.empty()) return r;
  const char *p = fmt.data(), *const end = p + fmt.size();
  const auto number = [&](int& to) {
    const char* const first = p;
    for (to = 0; p < end && *p >= '0' && *p <= '9' && p - first < 3; ++p) to = 10 * to + (*p - '0');
    return p > first;
  };
  bool right = *p++ == '%';
  for (; p < end && (*p == '-' || *p == '+' || *p == '0'); ++p)
    (*p == '-' ? r.left : *p == '+' ? r.plus : r.zeros) = true;
  number(r.width);
  if (p < end && *p == '.') right = (++p, number(r.digits)) && r.digits <= 100 && right;
  if (!right || p + 1 != end || *p == 0 || ::std::strchr("defg", *p) == nullptr)
    fail<value_error>("savetxt: the format \"", shown(fmt.data(), fmt.size()),
                      "\", not one as %d, %.3f, %10.4f, %.6e, %.4g");
  r.letter = *p;
  return r;
}
/// With its sign, zeros behind it, or spaces on either side.
inline void add_padded(::std::string& to, ::std::string_view number, const number_format& f, bool finite) {
  ::std::string s(number);
  if (f.plus && s[0] != '-') s.insert(0, 1, '+');
  const ::std::size_t width = ::std::size_t(f.width), fill = s.size() < width ? width - s.size() : 0;
  const bool zeros = f.zeros && !f.left && finite;
  if (zeros) s.insert(s[0] == '-' || s[0] == '+' ? 1 : 0, fill, '0');
  else s.insert(f.left ? s.size() : 0, fill, ' ');
  to += s;
}
template <class T>
void add_number(::std::string& to, T v, const number_format& f) {
  char s[512];  // 309 digits before the point, at most 100 behind it
  const auto put = [&](const ::std::to_chars_result& r, bool finite = true) {
    add_padded(to, ::std::string_view(s, ::std::size_t(r.ptr - s)), f, finite);
  };
  if constexpr (::std::is_same_v<T, bool>) {
    add_number(to, int(v), f);
  } else if constexpr (is_integer<T>) {
    if (f.letter == 'd' || f.letter == 0) put(::std::to_chars(s, s + sizeof s, v));
    else add_number(to, static_cast<double>(v), f);
  } else if (f.letter == 'd') {
    const auto d = static_cast<double>(v);
    if (!(math::abs(d) < 9.2e18)) fail<value_error>("savetxt: ", d, " is no whole number for %d");
    put(::std::to_chars(s, s + sizeof s, int64(d)));
  } else {
    using V = ::std::conditional_t<sizeof(T) == 8, double, float>;
    constexpr auto fixed = ::std::chars_format::fixed, scientific = ::std::chars_format::scientific,
                   general = ::std::chars_format::general;
    const auto how = f.letter == 'f' ? fixed : f.letter == 'e' ? scientific : general;
    const V x = static_cast<V>(v);
    put(f.letter == 0 ? ::std::to_chars(s, s + sizeof s, x)
                      : ::std::to_chars(s, s + sizeof s, static_cast<double>(x), how, f.digits),
        math::isfinite(x));
  }
}
/// The lines of a header, each behind what begins comments.
CUDARRAY_COLD inline ::std::string commented(const savetxt_options& o) {
  ::std::string r;
  if (o.header.empty()) return r;
  ::std::size_t at = 0;
  for (;;) {
    const ::std::size_t end = o.header.find('\n', at);
    r += o.comments + o.header.substr(at, end - at) + o.newline;
    if (end == ::std::string::npos) return r;
    at = end + 1;
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Reads a table of numbers, plain or gzipped text, of a real dtype: (rows, columns), axes of one element left out, as
/// NumPy's loadtxt. Throws value_error for options that are none; io_error for lines of different lengths and for what
/// is no number, with the line.
///     auto x = ca::loadtxt("iris.csv", {.delimiter = ",", .skiprows = 1, .usecols = {0, 1, 2, 3}});
template <dtype T = float, device_tag Device = default_device, class Reader = detail::packed_reader>
const ndarray<T, Device> loadtxt(const ::std::string& path, const loadtxt_options& o = {}, Device device = {}) {
  constexpr bool real = kind_of<T> != kind::complex_ && !detail::is_dual<T>;
  static_assert(real, "cudarray: loadtxt reads real numbers");
  if constexpr (!real) {
    return {};
  } else {
    detail::check_options(o);
    Reader f(path);
    const auto t = detail::read_table<T>(f, o);
    return detail::upload(reinterpret_cast<const T*>(t.numbers.data()), detail::table_shape(t.rows, t.columns, o),
                          device);
  }
}

/// Writes an array of one or two axes as text, a row a line. Throws shape_error, value_error for a format that is none,
/// io_error.
///     ca::savetxt("x.csv", x, {.fmt = "%.4f", .delimiter = ","});
template <array_expression X>
void savetxt(const ::std::string& path, const X& x, const savetxt_options& o = {}) {
  using T = value_type_t<X>;
  constexpr bool real = kind_of<T> != kind::complex_ && !detail::is_dual<T>;
  static_assert(real, "cudarray: savetxt writes real numbers");
  if constexpr (real) {
    const ndarray<T, cpu> a = to<cpu>(detail::array_of(x));
    if (a.ndim() != 1 && a.ndim() != 2)
      detail::fail<shape_error>("savetxt: an array of shape ", a.shape(), ", not of one or two axes");
    const detail::number_format format = detail::parse_format(o.fmt);
    if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0)
      detail::fail<io_error>(path, ": gzipped text is not written");
    detail::file f(path, "wbe");
    ::std::string text = detail::commented(o);
    const int64 rows = a.shape()[0], columns = a.ndim() == 2 ? a.shape()[1] : 1;
    for (int64 i = 0; i < rows; ++i) {
      for (int64 j = 0; j < columns; ++j) {
        if (j > 0) text += o.delimiter;
        detail::add_number(text, a.data()[i * columns + j], format);
      }
      text += o.newline;
      if (text.size() < (1u << 16)) continue;
      f.write(text.data(), text.size());
      text.clear();
    }
    if (!text.empty()) f.write(text.data(), text.size());
    f.close();
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
