// Python's literals, as the headers of .npy files have them.
// SPDX-License-Identifier: MIT
#pragma once

#include "file.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A value that Python would read, and the text it stands in.
struct literal {
  enum class form { truth, integer, string, tuple, dictionary, other };
  form is = form::other;
  const char* begin = nullptr;
  const char* end = nullptr;
  int64 value = 0;     ///< of an integer, the nearest there is; of True 1
  ::std::string text;  ///< the characters of a string
  int64 count = 0;     ///< of a tuple: its items, and the first of them where all are integers
  bool integers = true;
  int64 items[max_rank] = {};

  ::std::string shown() const { return detail::shown(begin, ::std::size_t(end - begin)); }
};

/// Reads one literal: True, False and None, numbers, strings, tuples, lists and dictionaries of these, with comments.
/// `entry(key, value)` is called for what the outermost dictionary holds. Throws io_error where the text is no literal.
template <class Entry>
class literal_parser {
 public:
  literal_parser(const ::std::string& path, const ::std::string& text, Entry& entry)
      : path_(path), begin_(text.data()), at_(begin_), end_(begin_ + text.size()), entry_(entry) {}

  literal parse() {
    literal v = value();
    skip();
    if (at_ != end_) fail("the end of the header");
    return v;
  }

 private:
  [[noreturn]] CUDARRAY_COLD void fail(const char* wanted) const {
    const ::std::size_t left = ::std::size_t(end_ - at_);
    const ::std::string found = left == 0 ? "it ends" : cat('"', shown(at_, left < 20 ? left : 20), "\" stands");
    detail::fail<io_error>(path_, ": a malformed header: ", found, " at byte ", at_ - begin_, ", where ", wanted,
                           " is read");
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek(int ahead = 0) const { return ahead < end_ - at_ ? at_[ahead] : '\0'; }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  /// White space, comments, and line breaks behind a backslash.
  void skip() {
    for (; at_ != end_; ++at_) {
      if (*at_ == '#')
        while (at_ + 1 != end_ && *at_ != '\n') ++at_;
      else if (*at_ == '\\' && peek(1) == '\n') ++at_;
      else if (*at_ != ' ' && !(*at_ >= '\t' && *at_ <= '\r' && *at_ != '\v')) break;
    }
  }

  literal value() {
    skip();
    literal v;
    v.begin = at_;
    const char c = peek();
    if (c == '(' || c == '[' || c == '{') container(v);
    else if (at_string()) string(v);
    else if (is_letter(c)) name(v);
    else number(v);
    return v;
  }

  void container(literal& v) {
    if (++depth_ > 32) fail("less than 33 brackets within each other");
    const char open = *at_++, close = open == '(' ? ')' : open == '[' ? ']' : '}';
    if (open == '{') ++braces_;
    literal item;
    bool comma = true;
    for (skip(); comma && peek() != close; skip()) {
      item = value();
      skip();
      if (open == '{') {
        if (!take(':')) fail("':'");
        const literal mapped = value();
        skip();
        if (braces_ == 1) entry_(item, mapped);
      }
      if (item.is != literal::form::integer) v.integers = false;
      if (v.count < max_rank) v.items[v.count] = item.value;
      ++v.count;
      comma = take(',');
    }
    if (!take(close)) fail(open == '(' ? "',' or ')'" : open == '[' ? "',' or ']'" : "',' or '}'");
    if (open == '(' && v.count == 1 && !comma) {  // brackets around a value, not a tuple
      item.begin = v.begin;
      v = item;
    } else if (open != '[') {
      v.is = open == '(' ? literal::form::tuple : literal::form::dictionary;
    }
    v.end = at_;
    if (open == '{') --braces_;
    --depth_;
  }

  /// True before a string: a quote, or up to two letters and a quote.
  bool at_string() const {
    for (int i = 0; i < 3; ++i) {
      const char c = peek(i), lower = char(c | 0x20);
      if (c == '\'' || c == '"') return true;
      if (lower != 'r' && lower != 'b' && lower != 'u') return false;
    }
    return false;
  }
  /// Strings one after another are one.
  void string(literal& v) {
    bool bytes = false;
    for (; at_string(); skip()) {
      bool raw = false;
      for (; is_letter(*at_); ++at_) {
        raw = raw || (*at_ | 0x20) == 'r';
        bytes = bytes || (*at_ | 0x20) == 'b';
      }
      const char quote = *at_;
      const int quotes = peek(1) == quote && peek(2) == quote ? 3 : 1;
      at_ += quotes;
      while (peek() != quote || (quotes == 3 && (peek(1) != quote || peek(2) != quote))) {
        if (at_ == end_ || (quotes == 1 && *at_ == '\n')) fail("the end of a string");
        character(v.text, raw);
      }
      at_ += quotes;
      v.end = at_;
    }
    v.is = bytes ? literal::form::other : literal::form::string;
  }
  /// One character of a string. Escapes that no key and no dtype needs stay as they are written.
  void character(::std::string& to, bool raw) {
    if (*at_ == '\\' && at_ + 1 != end_) {
      const char next = at_[1];
      const int high = next == 'x' ? digit(peek(2)) : 16, low = high < 16 ? digit(peek(3)) : 16;
      if (!raw && low < 16) {
        to += char(16 * high + low);
        at_ += 4;
        return;
      }
      if (raw || (next != '\\' && next != '\'' && next != '"')) to += '\\';
      if (raw || next != '\n') to += next;
      at_ += 2;
      return;
    }
    to += *at_++;
  }

  void name(literal& v) {
    const char* const from = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const ::std::string word(from, ::std::size_t(at_ - from));
    if (word == "True" || word == "False") {
      v.is = literal::form::truth;
      v.value = word == "True";
    } else if (word != "None") {
      at_ = from;
      fail("a value");
    }
    v.end = at_;
  }

  void number(literal& v) {
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at_;
    skip();
    const char* const from = at_;
    if (!is_digit(peek()) && !(peek() == '.' && is_digit(peek(1)))) {
      at_ = v.begin;
      fail("a value");
    }
    while (is_digit(peek()) || is_letter(peek()) || peek() == '.') ++at_;
    v.end = at_;
    if (integer(from, at_, v.value)) v.is = literal::form::integer;
    if (negative) v.value = -v.value;
    skip();
    if (peek() == 'L' && !is_letter(peek(1)) && !is_digit(peek(1))) v.end = ++at_;  // Python 2's, apart
  }
  static int digit(char c) {
    if (is_digit(c)) return c - '0';
    const char lower = char(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
  }
  /// False for what is no integer. Of one beyond int64 the value is the largest.
  static bool integer(const char* p, const char* end, int64& value) {
    if (end[-1] == 'L') --end;  // Python 2's
    int base = 10;
    if (end - p > 2 && *p == '0') {
      const char lower = char(p[1] | 0x20);
      base = lower == 'x' ? 16 : lower == 'o' ? 8 : lower == 'b' ? 2 : 10;
    }
    const bool zero = base == 10 && *p == '0';  // then no other digit may follow
    bool digits = base != 10;
    for (p += base == 10 ? 0 : 2; p < end; ++p) {
      if (*p == '_' && digits) {
        digits = false;
        continue;
      }
      const int d = digit(*p);
      if (d >= base || (zero && d != 0)) return false;
      digits = true;
      if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, d, &value))
        value = ::std::numeric_limits<int64>::max();
    }
    return digits;
  }

  const ::std::string& path_;
  const char* const begin_;
  const char* at_;
  const char* const end_;
  Entry& entry_;
  int depth_ = 0, braces_ = 0;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
