// Names of arrays in files.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <vector>

#include "any.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether a text is UTF-8 (RFC 3629): no longer forms, no surrogates, nothing above U+10FFFF.
CUDARRAY_COLD inline bool is_utf8(const ::std::string& s) {
  for (::std::size_t i = 0; i < s.size();) {
    const auto first = static_cast<unsigned char>(s[i++]);
    const int more = first < 0x80                    ? 0
                     : first >= 0xc2 && first < 0xe0 ? 1
                     : first >= 0xe0 && first < 0xf0 ? 2
                     : first >= 0xf0 && first < 0xf5 ? 3
                                                     : -1;
    if (more < 0 || s.size() - i < ::std::size_t(more)) return false;
    uint32 v = more == 0 ? first : first & (0x3fu >> more);
    for (int k = 0; k < more; ++k, ++i) {
      const auto c = static_cast<unsigned char>(s[i]);
      if ((c & 0xc0) != 0x80) return false;
      v = v << 6 | (c & 0x3fu);
    }
    if ((more == 2 && (v < 0x800 || (v >= 0xd800 && v < 0xe000))) || (more == 3 && (v < 0x10000 || v > 0x10ffff)))
      return false;
  }
  return true;
}
/// The names that a file gets. Throws value_error for one that is there already, is no UTF-8, or is longer than 65000
/// bytes.
class new_names {
 public:
  CUDARRAY_COLD void add(const char* writer, const ::std::string& name) {
    const ::std::string is = cat(writer, ": the name \"", shown(name.data(), name.size()), "\" is ");
    if (name.size() > 65000) fail<value_error>(is, "longer than 65000 bytes");
    if (!is_utf8(name)) fail<value_error>(is, "no UTF-8");
    if (!names_.insert(name).second) fail<value_error>(is, "there already");
  }

 private:
  ::std::set<::std::string> names_;
};

[[noreturn]] CUDARRAY_COLD inline void fail_name(const ::std::string& path, const ::std::string& name,
                                                 const ::std::vector<::std::string>& there) {
  text t;
  for (const ::std::string& n : there) {
    t.add(t.size() == 0 ? " " : ", ");
    t.add(shown(n.data(), n.size()).c_str());
    if (t.size() > 200) {
      t.add(", ..");
      break;
    }
  }
  fail<io_error>(path, ": no array \"", shown(name.data(), name.size()),
                 "\"; there are:", t.size() ? t.str() : " none");
}

template <class X>
inline constexpr bool is_array_variant = false;
template <class D>
inline constexpr bool is_array_variant<array_variant<D>> = true;
template <class X>
concept named_array = array_expression<X> || is_array_variant<X>;

/// Whether they are a name, an array, and so on.
template <class... A>
constexpr bool are_named = true;
template <class Name>
constexpr bool are_named<Name> = false;
template <class Name, class X, class... More>
constexpr bool are_named<Name, X, More...> =
    ::std::is_convertible_v<const Name&, ::std::string>&& named_array<X>&& are_named<More...>;

/// Adds the arrays, each behind its name, to what writes a file.
template <class Writer>
void add_named(Writer&) {}
template <class Writer, class X, class... More>
void add_named(Writer& f, const ::std::string& name, const X& x, const More&... more) {
  f.add(name, x);
  add_named(f, more...);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
