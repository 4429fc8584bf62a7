// NumPy's .npy files.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory/bytes.hpp"
#include "../ops/transfer.hpp"
#include "npy_header.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// The elements of a .npy file on the host, and how they lie there.
struct npy_contents {
  npy_type type;
  bool fortran_order;
  storage_ref block;
  shape dims;  ///< as they lie: those of the file, or reversed
};
template <class Host, class Reader>
npy_contents read_contents(Reader& f, const npy_header& h) {
  npy_contents c{h.type, h.fortran_order, {}, h.dims};
  if (c.fortran_order)
    for (int i = 0; i < c.dims.ndim() / 2; ++i) ::std::swap(c.dims[i], c.dims[c.dims.ndim() - 1 - i]);
  c.block = read_block<Host>(f, c.dims, ::std::size_t(c.type.size), name_of(c.type));
  return c;
}
/// The array, in C order or, as the file may have it, in Fortran's.
template <class T, class Host>
ndarray<T, Host> array_of_contents(const npy_contents& c) {
  const ndarray<T, Host> a(leaf<T, Host>(c.block, c.dims));
  if constexpr (::std::is_same_v<T, bool>) normalise_bool(a.data(), ::std::size_t(a.size()));
  if (c.type.swapped) swap_bytes<T>(a.data(), ::std::size_t(a.size()));
  return c.fortran_order ? a.t() : a;
}
/// On a device: where it is the host, an array in C order stays where it is.
template <class Device, class T, class Host>
const ndarray<T, Device> placed_on(const ndarray<T, Host>& a, Device device) {
  if constexpr (::std::is_same_v<Device, Host>) {
    if (a.is_contiguous()) return a;
  }
  return to<Device, ndarray<T, Host>>(a, device);
}

/// The elements of a shape as they lie in the file, on a device: by way of pinned memory where it has that.
template <class T, class Host, class Device, class Reader>
ndarray<T, Device> read_placed(Reader& f, const shape& s, Device device) {
  if constexpr (!::std::is_same_v<Device, Host>) {
    const ::std::size_t bytes = ::std::size_t(s.elements()) * sizeof(T);
    const int64 there = f.remaining();
    if (bytes >= ::cudarray::backend::worth_pieces && there >= 0 && ::std::size_t(there) >= bytes) {
      auto r = new_leaf<T>(device, s);
      const auto fill = [](void* of, void* to, ::std::size_t n) {
        read_all(*static_cast<Reader*>(of), to, n, "elements");
      };
      if (copy_from_source(device, *r.store, bytes, {&f, fill})) {
        f.finish();
        return ndarray<T, Device>(::std::move(r));
      }
    }
  }
  return placed_on(read_elements<T, Host>(f, s), device);
}
/// Throws dtype_error for an array of another dtype.
template <class T, class Host, class Device, class Reader>
ndarray<T, Device> load_npy(Reader& f, Device device) {
  const npy_header h = read_npy_header(f, {npy_letter<T>, int(sizeof(T))}, dtype_name<T>);
  if constexpr (!::std::is_same_v<T, bool>)
    if (!h.fortran_order && !h.type.swapped) return read_placed<T, Host>(f, h.dims, device);
  return placed_on(array_of_contents<T, Host>(read_contents<Host>(f, h)), device);
}

/// What stands before the elements of an array in C order, format 1.0: of a multiple of 64 bytes.
CUDARRAY_COLD inline ::std::string npy_start(const ::std::string& descr, const shape& s) {
  ::std::string header = cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", s, ", }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  ::std::string start("\x93NUMPY\1\0", 8);
  start.push_back(static_cast<char>(header.size() & 0xff));
  start.push_back(static_cast<char>(header.size() >> 8));
  return start + header;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Writes an array or expression as a .npy file, C order, format 1.0. Throws io_error.
template <array_expression X>
void save(const ::std::string& path, const X& x) {
  using T = value_type_t<X>;
  const ndarray<T, cpu> a = to<cpu>(detail::array_of(x));  // a new array in C order
  const ::std::string start = detail::npy_start(detail::npy_descr<T>(), a.shape());
  detail::file f(path, "wbe");
  f.write(start.data(), start.size());
  f.write(a.data(), ::std::size_t(a.nbytes()));
  f.close();
}

/// Reads a .npy file of dtype T, of any version, order of bytes and order of axes; bytes of booleans that are not 0 are
/// true, and what follows the elements is not looked at. Throws io_error for a missing, truncated or malformed file,
/// dtype_error for another dtype.
///     auto w = ca::load<float>("w.npy");
template <dtype T, device_tag Device = default_device, class Host = cpu>
const ndarray<T, Device> load(const ::std::string& path, Device device = {}) {
  detail::file f(path, "rbe");
  return detail::load_npy<T, Host>(f, device);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
