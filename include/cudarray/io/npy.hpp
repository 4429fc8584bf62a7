// NumPy's .npy files.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/transfer.hpp"
#include "file.hpp"

namespace cudarray::inline v0 {
namespace detail {

/// NumPy's type string: `<f4`. bfloat16, which NumPy does not have, is not written.
template <class T>
::std::string npy_descr() {
  static_assert(!::std::is_same_v<T, bfloat16>, "cudarray: NumPy has no bfloat16: save ca::astype<float>(x)");
  constexpr char letter = ::std::is_same_v<T, bool>       ? 'b'
                          : kind_of<T> == kind::unsigned_ ? 'u'
                          : kind_of<T> == kind::signed_   ? 'i'
                          : is_floating<T>                ? 'f'
                                                          : 'c';
  return cat(sizeof(T) == 1 ? '|' : '<', letter, sizeof(T));
}

/// The text between `key` and one of the characters of `end` in a header's dictionary; empty if it is not there.
inline ::std::string npy_field(const ::std::string& header, const char* key, const char* end) {
  const auto at = header.find(key);
  if (at == ::std::string::npos) return {};
  const auto from = at + ::std::strlen(key), to = header.find_first_of(end, from);
  return to == ::std::string::npos ? ::std::string() : header.substr(from, to - from);
}

}  // namespace detail

/// Writes an array or expression as a .npy file, C order, format 1.0. Throws io_error.
template <array_expression X, class Build = this_build>
void save(const ::std::string& path, const X& x) {
  using T = value_type_t<X>;
  const ndarray<T, cpu> a = to<cpu, X, Build>(x);
  ::std::string header =
      detail::cat("{'descr': '", detail::npy_descr<T>(), "', 'fortran_order': False, 'shape': ", a.shape(), ", }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   static_cast<unsigned char>(header.size() & 0xff),
                                   static_cast<unsigned char>(header.size() >> 8)};
  detail::file f(path, "wb");
  f.write(start, sizeof start);
  f.write(header.data(), header.size());
  const ndarray<T, cpu> c = a.is_contiguous() ? a : a.template copy<Build>();
  f.write(c.data(), ::std::size_t(c.nbytes()));
  f.close();
}

/// Reads a .npy file of dtype T, little-endian. Throws io_error for a missing, truncated or malformed file, dtype_error
/// for another dtype.
///     auto w = ca::load<float>("w.npy");
template <dtype T, device_tag Device = default_device, class Build = this_build, class Host = cpu>
const ndarray<T, Device> load(const ::std::string& path, Device device = {}) {
  detail::file f(path, "rb");
  unsigned char start[8];
  f.read(start, sizeof start);
  if (::std::memcmp(start, "\x93NUMPY", 6) != 0) f.fail("not a .npy file");
  unsigned char length[4] = {};
  f.read(length, start[6] == 1 ? 2 : 4);
  const ::std::size_t n = length[0] | length[1] << 8 | length[2] << 16 | ::std::size_t(length[3]) << 24;
  if (n > (::std::size_t(1) << 20)) f.fail("a header of more than 1 MiB");
  ::std::string header(n, ' ');
  f.read(header.data(), n);
  const ::std::string descr = detail::npy_field(header, "'descr': '", "'"),
                      order = detail::npy_field(header, "'fortran_order': ", ","),
                      extents = detail::npy_field(header, "'shape': (", ")");
  if (descr.empty() || (order != "False" && order != "True") || header.find("'shape': (") == ::std::string::npos)
    f.fail("a malformed header");
  if (descr != detail::npy_descr<T>())
    detail::fail<dtype_error>(path, ": the file holds ", descr, ", not ", detail::npy_descr<T>(), " (", dtype_name<T>,
                              ")");
  shape s;
  int64 count = 1;
  for (const char* p = extents.c_str(); *p;) {
    char* end;
    const long long d = ::strtoll(p, &end, 10);
    if (end == p || d < 0 || __builtin_mul_overflow(count, d > 0 ? d : 1, &count)) f.fail("a malformed shape");
    if (s.ndim() == max_rank) f.fail(detail::cat("more than ", max_rank, " axes"));
    s.push_back(d);
    p = end;
    while (*p == ',' || *p == ' ') ++p;
  }
  if (order == "True")
    for (int i = 0; i < s.ndim() / 2; ++i) ::std::swap(s[i], s[s.ndim() - 1 - i]);
  ndarray<T, Host> a(detail::new_leaf<T>(Host{}, s));
  f.read(a.data(), ::std::size_t(a.nbytes()));
  if (order == "True") a = a.t();
  return to<Device, ndarray<T, Host>, Build>(a, device);
}

}  // namespace cudarray::inline v0
