// The digits of floats, and how NumPy shows them together.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>

#include "../core/dtype.hpp"
#include "../core/math.hpp"
#include "../core/text.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The digits of a magnitude without zeros at their end; the first one counts 10^exponent.
struct decimal {
  char digits[32];
  int size = 0, exponent = 0;

  /// Reads what to_chars() writes in its scientific format.
  CUDARRAY_COLD decimal(const char* s, const char* end) {
    for (; *s != 'e'; ++s)
      if (*s != '.') digits[size++] = *s;
    while (size > 1 && digits[size - 1] == '0') --size;
    const bool negative = s[1] == '-';
    for (s += 2; s != end; ++s) exponent = 10 * exponent + (*s - '0');
    if (negative) exponent = -exponent;
  }
  char at(int i) const { return i < 0 || i >= size ? '0' : digits[i]; }
  /// The digits after the point.
  int fraction(bool scientific) const {
    const int n = size - 1 - (scientific ? 0 : exponent);
    return n > 0 ? n : 0;
  }
  CUDARRAY_COLD double value() const {
    double v = 0, scale = 1;
    for (int i = 0; i < size; ++i) v = 10 * v + (digits[i] - '0');
    const int power = exponent - size + 1;
    for (int i = power < 0 ? -power : power; i > 0; --i) scale *= 10;
    return power < 0 ? v / scale : v * scale;
  }
};

/// Correctly rounded: `more` digits follow the first.
CUDARRAY_COLD inline decimal rounded_digits(double v, int more) {
  char s[32];
  return {s, ::std::to_chars(s, s + sizeof s, v, ::std::chars_format::scientific, more).ptr};
}

/// What printing has to know of a dtype.
struct printed_dtype {
  int parts;                              ///< floats in an element, 0 for whole numbers
  int64 bytes, least_width;               ///< of an element
  double scalar_limit;                    ///< one float by itself has an exponent from here on
  void (*add)(text&, const void*);        ///< of whole numbers
  double (*value)(const void*);           ///< of a float or a part
  decimal (*fewest)(double);              ///< the digits of a magnitude
  bool (*wide)(double low, double high);  ///< whether an array with these magnitudes has exponents
  const char* unit = "";                  ///< of the second part
};

template <class T>
CUDARRAY_COLD void add_whole(text& t, const void* p) {
  const T v = read_element(static_cast<const T*>(p));
  if constexpr (::std::is_same_v<T, bool>) t.add(v ? "True" : "False");
  else append(t, piece(v));
}
template <class T>
double float_value(const void* p) {
  return double(compute_t<T>(*static_cast<const T*>(p)));
}
/// The fewest digits that tell a magnitude from its neighbours of the dtype, and among these the nearest to it.
template <class T>
requires(sizeof(T) > 2) CUDARRAY_COLD decimal fewest_digits(double v) {
  char s[32];
  return {s, ::std::to_chars(s, s + sizeof s, T(v), ::std::chars_format::scientific).ptr};
}
template <class T>
requires(sizeof(T) == 2) CUDARRAY_COLD decimal fewest_digits(double v) {
  const auto is_v = [v](const decimal& d) { return T(compute_t<T>(d.value())) == T(compute_t<T>(v)); };
  for (int more = 0;; ++more) {
    const decimal d = rounded_digits(v, more);
    if (is_v(d)) return d;
    // below a power of two the neighbour is nearer than above: the decimal on the other side may do
    const decimal other = rounded_digits(v + (v - d.value()), more);
    if (is_v(other)) return other;
  }
}
/// As NumPy 2.3 and later decide it, in arithmetic of the dtype; bfloat16, which NumPy does not have, as float32.
template <class T>
CUDARRAY_COLD bool is_wide(double low, double high) {
  using C = compute_t<T>;
  constexpr double limit = ::std::is_same_v<T, double> ? 1e8 : ::std::is_same_v<T, float16> ? 1e3 : 1e6;
  return high >= limit || C(low) < C(T(C(0.0001))) || C(T(C(high) / C(low))) > 1000;
}
template <class T>
constexpr printed_dtype printed() {
  if constexpr (is_complex<T>) {
    printed_dtype d = printed<decltype(T::re)>();
    d.parts = 2;
    d.bytes = sizeof(T);
    d.unit = "j";
    return d;
  } else if constexpr (is_dual<T>) {
    printed_dtype d = printed<primal_t<T>>();
    d.parts = 2;
    d.bytes = sizeof(T);
    d.unit = "\u03b5";
    return d;
  } else if constexpr (is_floating<T>) {
    constexpr double limit = ::std::is_same_v<T, double> ? 1e16 : ::std::is_same_v<T, float16> ? 1e3 : 1e6;
    return {1, sizeof(T), 0, limit, nullptr, float_value<T>, fewest_digits<T>, is_wide<T>};
  } else {
    // NumPy leaves room for "False" in every array of bool
    return {0, sizeof(T), ::std::is_same_v<T, bool> ? 5 : 0, 0, add_whole<T>, nullptr, nullptr, nullptr};
  }
}

CUDARRAY_COLD inline void add_exponent(text& t, int exponent, int digits) {
  t.add('e');
  t.add(exponent < 0 ? '-' : '+');
  text e;
  append(e, piece(exponent < 0 ? -exponent : exponent));
  if (const int zeros = digits - int(e.size()); zeros > 0) t.add('0', ::std::size_t(zeros));
  t.add(e.data(), e.size());
}
/// The digits up to `fraction` behind the point, which may be beyond the last.
CUDARRAY_COLD inline void add_digits(text& t, const decimal& d, bool scientific, int fraction, bool point) {
  const int unit = scientific ? 0 : d.exponent;
  for (int i = unit < 0 ? unit : 0; i <= unit + fraction; ++i) {
    t.add(d.at(i));
    if (i == unit && (point || fraction > 0)) t.add('.');
  }
}

/// How the floats of one array are shown, or one part of its complex numbers: with at most 8 digits after the point,
/// alike enough for the points to line up. As NumPy's FloatingFormat.
class float_format {
 public:
  float_format(const printed_dtype& of, bool plus) : of_(of), plus_(plus) {}

  CUDARRAY_COLD void see_magnitude(double v) {
    const double m = math::abs(v);
    if (m == 0 || !is_finite(m)) return;
    if (low_ == 0 || m < low_) low_ = m;
    if (m > high_) high_ = m;
  }
  /// Once all magnitudes were seen.
  CUDARRAY_COLD void see_digits(double v) {
    if (!is_finite(v)) return raise(others_, plus_ || v < 0 ? 4 : 3);
    scientific_ = low_ != 0 && of_.wide(low_, high_);
    const decimal d = digits(v);
    raise(left_, (plus_ || is_negative(v)) + 1 + (scientific_ || d.exponent < 0 ? 0 : d.exponent));
    raise(right_, d.fraction(scientific_));
    if (scientific_) raise(exponent_, math::abs(d.exponent) < 100 ? 2 : 3);
  }
  /// The same for all floats: once all digits were seen.
  int width() const {
    const int finite = left_ + 1 + right_ + (scientific_ ? 2 + exponent_ : 0);
    return others_ > finite ? others_ : finite;
  }
  CUDARRAY_COLD void add(text& t, double v) const {
    text s;
    add_sign(s, v, plus_);
    int spaces = 0;
    if (!is_finite(v)) {
      s.add(is_nan(v) ? "nan" : "inf");
    } else {
      decimal d = digits(v);
      const int fraction = scientific_ ? right_ : d.fraction(false);
      if (scientific_ && d.fraction(true) < right_) d = rounded_digits(math::abs(v), right_);
      add_digits(s, d, scientific_, fraction, true);
      if (scientific_) add_exponent(s, d.exponent, exponent_);
      spaces = right_ - fraction;
    }
    t.add(' ', ::std::size_t(width() - spaces) - s.size());
    t.add(s.data(), s.size());
    t.add(' ', ::std::size_t(spaces));
  }

  /// One float by itself: all digits that it needs. As NumPy's scalars.
  CUDARRAY_COLD static void add_alone(text& t, double v, const printed_dtype& of, bool plus) {
    add_sign(t, v, plus);
    if (!is_finite(v)) return t.add(is_nan(v) ? "nan" : "inf");
    const double m = math::abs(v);
    const bool scientific = m != 0 && (m < 0.0001 || m >= of.scalar_limit);
    const decimal d = of.fewest(m);
    const int fraction = d.fraction(scientific);
    add_digits(t, d, scientific, fraction == 0 && of.parts == 1 && !scientific ? 1 : fraction, false);
    if (scientific) add_exponent(t, d.exponent, 2);
  }

 private:
  static constexpr int most_digits = 8;

  static void raise(int& most, int n) {
    if (n > most) most = n;
  }
  /// NaN has none of its own; -0 has, also where the compiler need not know.
  static bool is_negative(double v) { return !is_nan(v) && __builtin_bit_cast(uint64, v) >> 63 != 0; }
  CUDARRAY_COLD static void add_sign(text& t, double v, bool plus) {
    if (is_negative(v)) t.add('-');
    else if (plus) t.add('+');
  }
  CUDARRAY_COLD decimal digits(double v) const {
    const double m = math::abs(v);
    const decimal d = of_.fewest(m);
    return d.fraction(scientific_) > most_digits ? rounded_digits(m, most_digits + (scientific_ ? 0 : d.exponent)) : d;
  }

  const printed_dtype& of_;
  const bool plus_;            ///< a sign before positive numbers too
  double low_ = 0, high_ = 0;  ///< of what is neither 0 nor infinite
  bool scientific_ = false;
  int left_ = 0, right_ = 0;  ///< characters before and digits after the point
  int exponent_ = 0;          ///< digits
  int others_ = 0;            ///< characters of what is not finite
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
