// Texts of values, in plain characters: what std::string does is compiled anew in every file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>

#include "annotations.hpp"
#include "build.hpp"

namespace cudarray::inline v0::detail {

/// A text under construction.
class CUDARRAY_PER_BUILD text {
 public:
  text() = default;
  text(const text&) = delete;
  ~text() {
    if (p_ != few_) ::std::free(p_);
  }
  CUDARRAY_COLD void add(const char* s, ::std::size_t n) { ::std::memcpy(room_for(n), s, n); }
  CUDARRAY_COLD void add(const char* s) { add(s, ::std::strlen(s)); }
  CUDARRAY_COLD void add(char c, ::std::size_t n = 1) { ::std::memset(room_for(n), c, n); }
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

CUDARRAY_PER_BUILD inline void append(text& t, const ::std::string& v) { t.add(v.data(), v.size()); }

/// A value of a text, whatever its type. Numbers are formatted as printf does; classes have a function
/// `append(text&, const A&)` beside themselves.
struct CUDARRAY_PER_BUILD piece {
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
  piece(double v) : real(v), add([](text& t, const piece& p) { print(t, "%.15g", p.real); }) {}
  template <class I>
  requires(::std::is_integral_v<I>) piece(I v) {
    if constexpr (::std::is_signed_v<I>) {
      integer = v;
      add = [](text& t, const piece& p) { print(t, "%lld", p.integer); };
    } else {
      natural = v;
      add = [](text& t, const piece& p) { print(t, "%llu", p.natural); };
    }
  }
  template <class A>
  requires(::std::is_class_v<A>) explicit piece(const A& v)
      : object(&v), add([](text& t, const piece& p) { append(t, *static_cast<const A*>(p.object)); }) {}

 private:
  template <class N>
  CUDARRAY_COLD static void print(text& t, const char* format, N v) {
    char digits[48];
    ::std::snprintf(digits, sizeof digits, format, v);
    t.add(digits);
  }
};

CUDARRAY_PER_BUILD inline void append(text& t, const piece& p) { p.add(t, p); }

CUDARRAY_COLD CUDARRAY_PER_BUILD inline void append(text& t, const piece* pieces, int n) {
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
