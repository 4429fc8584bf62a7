// NumPy's .npy files.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/bytes.hpp"
#include "../ops/transfer.hpp"
#include "npy_header.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The array of a .npy file on the host, in C order or, as the file may have it, in Fortran's.
template <class T, class Host, class Reader>
ndarray<T, Host> read_npy(Reader& f) {
  const ::std::string header = npy_header_text(f);
  const npy_fields fields = fields_of_header(f.path(), header);
  const npy_type type =
      checked_type(f.path(), fields.descr, {npy_letter<T>, int(sizeof(T))}, npy_descr<T>().c_str(), dtype_name<T>);
  const bool fortran_order = checked_order(f.path(), fields.fortran_order);
  shape s = checked_shape(f.path(), fields.shape);
  if (fortran_order)
    for (int i = 0; i < s.ndim() / 2; ++i) ::std::swap(s[i], s[s.ndim() - 1 - i]);
  const ndarray<T, Host> a = read_elements<T, Host>(f, s);
  if constexpr (::std::is_same_v<T, bool>) normalise_bool(a.data(), ::std::size_t(a.size()));
  if (type.swapped) swap_bytes<T>(a.data(), ::std::size_t(a.size()));
  return fortran_order ? a.t() : a;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Writes an array or expression as a .npy file, C order, format 1.0. Throws io_error.
template <array_expression X>
void save(const ::std::string& path, const X& x) {
  using T = value_type_t<X>;
  const ndarray<T, cpu> a = to<cpu>(detail::array_of(x));  // a new array in C order
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
  f.write(a.data(), ::std::size_t(a.nbytes()));
  f.close();
}

/// Reads a .npy file of dtype T, of any version, order of bytes and order of axes; bytes of booleans that are not 0 are
/// true, and what follows the elements is not looked at. Throws io_error for a missing, truncated or malformed file,
/// dtype_error for another dtype.
///     auto w = ca::load<float>("w.npy");
template <dtype T, device_tag Device = default_device, class Host = cpu>
const ndarray<T, Device> load(const ::std::string& path, Device device = {}) {
  detail::file f(path, "rb");
  const ndarray<T, Host> a = detail::read_npy<T, Host>(f);
  if constexpr (::std::is_same_v<Device, Host>) {
    if (a.is_contiguous()) return a;
  }
  return to<Device, ndarray<T, Host>>(a, device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
