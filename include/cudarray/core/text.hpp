// Texts of values, in plain characters: what std::string does is compiled anew in every file.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "annotations.hpp"
#include "build.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A text under construction.
class text {
 public:
  text() = default;
  text(const text&) = delete;
  ~text() {
    if (p_ != few_) ::std::free(p_);
  }
  CUDARRAY_COLD void add(const char* s, ::std::size_t n) { ::std::memcpy(room_for(n), s, n); }
  CUDARRAY_COLD void add(const char* s) { add(s, ::std::strlen(s)); }
  CUDARRAY_COLD void add(char c, ::std::size_t n = 1) { ::std::memset(room_for(n), c, n); }
  /// Takes the spaces at the end away; returns how many there were.
  CUDARRAY_COLD ::std::size_t trim() {
    const ::std::size_t before = n_;
    while (n_ > 0 && p_[n_ - 1] == ' ') --n_;
    return before - n_;
  }
  const char* data() const { return p_; }
  ::std::size_t size() const { return n_; }
  ::std::string str() const { return {p_, n_}; }

 private:
  CUDARRAY_COLD char* room_for(::std::size_t n) {
    if (room_ - n_ < n) {
      room_ = 2 * room_ + n;
      char* const more = static_cast<char*>(::std::realloc(p_ == few_ ? nullptr : p_, room_));
      if (more == nullptr) throw ::std::bad_alloc();
      if (p_ == few_) ::std::memcpy(more, few_, n_);
      p_ = more;
    }
    n_ += n;
    return p_ + n_ - n;
  }

  char few_[232];
  char* p_ = few_;
  ::std::size_t n_ = 0, room_ = sizeof(few_);
};

inline void append(text& t, const ::std::string& v) { t.add(v.data(), v.size()); }

inline void append(text& t, ::std::string_view v) { t.add(v.data(), v.size()); }

/// A value of a text, whatever its type. Numbers look the same in every locale, floats as `%.15g` does in C's own;
/// classes have a function `append(text&, const A&)` beside themselves.
struct piece {
  union {
    const void* object;
    const char* characters;
    char letter;
    long long integer;
    unsigned long long natural;
    double real;
  };
  void (*add)(text&, const piece&);

  piece(const char* v) : characters(v), add([](text& t, const piece& p) { t.add(p.characters); }) {}
  piece(char v) : letter(v), add([](text& t, const piece& p) { t.add(p.letter); }) {}
  piece(double v) : real(v), add(add_real) {}
  template <class Int>
  requires(::std::is_integral_v<Int>) piece(Int v) {
    if constexpr (::std::is_signed_v<Int>) {
      integer = v;
      add = add_integer;
    } else {
      natural = v;
      add = add_natural;
    }
  }
  template <class A>
  requires(::std::is_class_v<A>) explicit piece(const A& v)
      : object(&v), add([](text& t, const piece& p) { append(t, *static_cast<const A*>(p.object)); }) {}

 private:
  CUDARRAY_COLD static void add_real(text& t, const piece& p) {
    char s[32];
    t.add(s, ::std::size_t(::std::to_chars(s, s + sizeof s, p.real, ::std::chars_format::general, 15).ptr - s));
  }
  CUDARRAY_COLD static void add_integer(text& t, const piece& p) {
    piece magnitude(static_cast<unsigned long long>(p.integer));
    if (p.integer < 0) {
      magnitude.natural = 0 - magnitude.natural;
      t.add('-');
    }
    add_natural(t, magnitude);
  }
  // not by to_chars(), which for integers is a template: files built with different flags would share its code
  CUDARRAY_COLD static void add_natural(text& t, const piece& p) {
    char s[20];
    int first = sizeof s;
    unsigned long long left = p.natural;
    do s[--first] = char('0' + left % 10);
    while (left /= 10);
    t.add(s + first, sizeof s - ::std::size_t(first));
  }
};

inline void append(text& t, const piece& p) { p.add(t, p); }

CUDARRAY_COLD inline void append(text& t, const piece* pieces, int n) {
  for (int i = 0; i < n; ++i) append(t, pieces[i]);
}
/// The values as one text.
template <class... A>
CUDARRAY_FORCE_INLINE ::std::string cat(const A&... a) {
  const piece pieces[] = {piece(a)...};
  text t;
  append(t, pieces, int(sizeof...(A)));
  return t.str();
}

}  // namespace cudarray::inline v0::detail
