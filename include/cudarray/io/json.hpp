// Texts in JSON (RFC 8259), read by whoever knows what they should hold.
// SPDX-License-Identifier: MIT
#pragma once

#include "file.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Reads a text from its beginning on, piece by piece. Throws io_error that says what stands where another thing
/// should.
class json_reader {
 public:
  json_reader(const ::std::string& path, const ::std::string& text)
      : path_(path), begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  /// `entry(key)` reads what belongs to each key of an object.
  template <class Entry>
  void object(const Entry& entry) {
    expect('{');
    if (take('}')) return;
    do {
      const ::std::string key = string();
      expect(':');
      entry(key);
    } while (take(','));
    expect('}');
  }
  /// `item()` reads each item of an array.
  template <class Item>
  void array(const Item& item) {
    expect('[');
    if (take(']')) return;
    do item();
    while (take(','));
    expect(']');
  }
  CUDARRAY_COLD ::std::string string() {
    expect('"');
    ::std::string r;
    for (; at_ < end_ && *at_ != '"'; ++at_) {
      if (static_cast<unsigned char>(*at_) < ' ') refuse("a control character in a string");
      if (*at_ == '\\') escape(r);
      else r.push_back(*at_);
    }
    if (at_ == end_) refuse("a string that does not end");
    ++at_;
    return r;
  }
  /// A whole number from 0 on.
  CUDARRAY_COLD uint64 count() {
    skip_space();
    const char* const first = at_;
    uint64 v = 0;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      if (__builtin_mul_overflow(v, uint64(10), &v) || __builtin_add_overflow(v, uint64(*at_ - '0'), &v))
        refuse("a number beyond 2^64");
    const bool whole = at_ == end_ || (*at_ != '.' && *at_ != 'e' && *at_ != 'E');
    if (at_ == first || !whole || (*first == '0' && at_ - first > 1)) refuse("a whole number from 0 on is read");
    return v;
  }
  /// Any value, whatever it is.
  CUDARRAY_COLD void skip(int depth = 0) {
    constexpr int most = 64;
    if (depth == most) refuse("more than 64 levels");
    skip_space();
    const char c = at_ < end_ ? *at_ : '\0';
    if (c == '{') object([&](const ::std::string&) { skip(depth + 1); });
    else if (c == '[') array([&] { skip(depth + 1); });
    else if (c == '"') string();
    else skip_word();
  }
  /// Throws where anything but spaces follows.
  void end() {
    skip_space();
    if (at_ != end_) refuse("nothing more is read");
  }

 private:
  [[noreturn]] CUDARRAY_COLD void refuse(const char* what) const {
    fail<io_error>(path_, ": a malformed JSON text at byte ", at_ - begin_, ", \"",
                   shown(at_, ::std::size_t(end_ - at_ < 40 ? end_ - at_ : 40)), "\": ", what);
  }
  void skip_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  CUDARRAY_COLD void expect(char c) {
    const char wanted[] = {c, ' ', 'i', 's', ' ', 'r', 'e', 'a', 'd', '\0'};
    if (!take(c)) refuse(wanted);
  }
  /// true, false, null or a number.
  CUDARRAY_COLD void skip_word() {
    const char* const first = at_;
    const auto belongs = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' || c == '.';
    };
    while (at_ < end_ && belongs(*at_)) ++at_;
    if (at_ == first) refuse("a value is read");
  }
  CUDARRAY_COLD uint32 four_digits() {
    if (end_ - at_ < 5) refuse("an escape that does not end");
    uint32 v = 0;
    for (int i = 1; i <= 4; ++i) {
      const char c = at_[i];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) refuse("four hexadecimal digits are read");
      v = v << 4 | uint32(digit);
    }
    at_ += 4;
    return v;
  }
  /// From a backslash to the last character of the escape.
  CUDARRAY_COLD void escape(::std::string& to) {
    constexpr const char *letters = "\"\\/bfnrt", *are = "\"\\/\b\f\n\r\t";
    if (++at_ == end_) refuse("an escape that does not end");
    if (const char* const l = ::std::strchr(letters, *at_); l != nullptr && *l != '\0')
      return to.push_back(are[l - letters]);
    if (*at_ != 'u') refuse("no escape of JSON");
    uint32 v = four_digits();
    if (v >= 0xd800 && v < 0xdc00) {
      if (end_ - at_ < 3 || at_[1] != '\\' || at_[2] != 'u') refuse("half of a pair of surrogates");
      at_ += 2;
      const uint32 low = four_digits();
      if (low < 0xdc00 || low >= 0xe000) refuse("half of a pair of surrogates");
      v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
    } else if (v >= 0xdc00 && v < 0xe000) {
      refuse("half of a pair of surrogates");
    }
    add_utf8(to, v);
  }
  static void add_utf8(::std::string& to, uint32 v) {
    const int more = v < 0x80 ? 0 : v < 0x800 ? 1 : v < 0x10000 ? 2 : 3;
    constexpr uint32 first[] = {0, 0xc0, 0xe0, 0xf0};
    to.push_back(static_cast<char>(first[more] | v >> 6 * more));
    for (int i = more; i-- > 0;) to.push_back(static_cast<char>(0x80 | (v >> 6 * i & 63)));
  }

  const ::std::string& path_;
  const char *begin_, *at_, *end_;
};

/// A string as JSON writes it.
CUDARRAY_COLD inline ::std::string json_string(const ::std::string& s) {
  ::std::string r = "\"";
  for (const char c : s) {
    constexpr const char* digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') r.push_back('\\');
    if (byte >= ' ') r.push_back(c);
    else (r += "\\u00").push_back(digits[byte >> 4]), r.push_back(digits[byte & 15]);
  }
  return r + '"';
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
