// Files as arrays: memory that the operating system reads when it is used, and writes back.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../ops/creation.hpp"
#include "npy.hpp"

namespace cudarray::inline v0 {

/// Whether elements may be written, and where to; NumPy's "r", "r+", "c", "w+".
enum class memmap_mode {
  read,           ///< the array is read-only
  read_write,     ///< writes go to the file
  copy_on_write,  ///< writes go to memory, and the file stays as it is
  create          ///< a new file, or an existing one emptied; zeros
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A descriptor that is closed: a mapping lives longer than it.
class open_descriptor {
 public:
  CUDARRAY_COLD open_descriptor(const ::std::string& path, memmap_mode mode) : path_(path) {
    const bool writes = mode == memmap_mode::read_write || mode == memmap_mode::create;
    const int flags =
        (writes ? O_RDWR : O_RDONLY) | (mode == memmap_mode::create ? O_CREAT | O_TRUNC : 0) | O_CLOEXEC | O_NONBLOCK;
    d_ = ::open(path.c_str(), flags, 0666);
    if (d_ < 0) refuse(::std::strerror(errno));
  }
  ~open_descriptor() { ::close(d_); }
  open_descriptor(const open_descriptor&) = delete;
  open_descriptor& operator=(const open_descriptor&) = delete;

  int64 size() const {
    const int64 n = bytes_from(d_, 0);
    if (n < 0) refuse("no regular file: its size is not known");
    return n;
  }
  void resize(int64 bytes) const {
    if (::ftruncate(d_, bytes) != 0) refuse(::std::strerror(errno));
  }
  /// So many bytes from `at` on, which a page may begin before.
  CUDARRAY_COLD char* map(int64 at, int64 bytes, memmap_mode mode) const {
    const int64 before = at % ::sysconf(_SC_PAGESIZE);
    const int access = mode == memmap_mode::read ? PROT_READ : PROT_READ | PROT_WRITE;
    const int kind = mode == memmap_mode::read || mode == memmap_mode::copy_on_write ? MAP_PRIVATE : MAP_SHARED;
    void* const p = ::mmap(nullptr, ::std::size_t(before + bytes), access, kind, d_, at - before);
    if (p == MAP_FAILED) refuse(::std::strerror(errno));
    return static_cast<char*>(p) + before;
  }
  [[noreturn]] CUDARRAY_COLD void refuse(const char* why) const { fail<io_error>(path_, ": ", why); }

 private:
  const ::std::string& path_;
  int d_;
};

/// What unmaps so many bytes, and the part of a page before them.
struct unmap {
  int64 before, bytes;
  void operator()(const void* p) const {
    ::munmap(const_cast<char*>(static_cast<const char*>(p)) - before, ::std::size_t(before + bytes));
  }
};

/// A shape that so many bytes hold, its extent of -1 filled in.
CUDARRAY_COLD inline shape mapped_shape(const ::std::string& path, shape s, int64 itemsize, int64 bytes) {
  int open = -1;
  int64 row = itemsize;
  for (int d = 0; d < s.ndim(); ++d) {
    if (s[d] == -1 && open < 0) open = d;
    else if (s[d] < 0) fail<shape_error>("memmap: the shape ", s, " has negative extents");
    else if (__builtin_mul_overflow(row, s[d], &row)) fail<shape_error>("memmap: the shape ", s, " is too large");
  }
  if (bytes < 0) fail<io_error>(path, ": the file ends ", -bytes, " bytes before the offset");
  if (open >= 0 && row > 0 && bytes % row == 0) s[open] = bytes / row;
  if (open >= 0 ? s[open] < 0 : row > bytes)
    fail<io_error>(path, ": ", bytes, " bytes behind the offset are no shape ", s, " of elements of ", itemsize,
                   itemsize == 1 ? " byte" : " bytes");
  return s;
}
template <class T>
const ndarray<T, cpu> mapped(const char* function, const open_descriptor& d, const shape& s, int64 at,
                             memmap_mode mode) {
  const int64 bytes = s.elements() * int64(sizeof(T));
  if (bytes == 0) return ndarray<T, cpu>(new_array<T>(function, s, cpu{}));
  char* const p = d.map(at, bytes, mode);
  const unmap release{at % ::sysconf(_SC_PAGESIZE), bytes};
  if (mode == memmap_mode::read) return from_pointer<const T, cpu>(reinterpret_cast<const T*>(p), s, release);
  return from_pointer<T, cpu>(reinterpret_cast<T*>(p), s, release);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

struct memmap_options {
  memmap_mode mode = memmap_mode::read;
  int64 offset = 0;  ///< bytes before the first element
};

/// The bytes of a file as an array on the CPU, C order: they are read when they are used, and the file stays open until
/// no array uses it. An extent of -1 is as long as the file makes it. Throws io_error where the file is missing or too
/// short, shape_error, and value_error for an offset that is no multiple of the dtype's alignment. Who shortens the
/// file meanwhile ends the program (SIGBUS).
///     auto x = ca::memmap<float>("x.bin", {-1, 784});
template <dtype T>
const ndarray<T, cpu> memmap(const ::std::string& path, const shape& s, const memmap_options& o = {}) {
  constexpr const char* function = "memmap";
  constexpr int64 size = sizeof(T), most = int64(1) << 62;
  if (o.offset < 0 || o.offset % int64(alignof(T)) != 0)
    detail::fail<value_error>(function, ": the offset ", o.offset, " is no multiple of ", alignof(T), ", as ",
                              dtype_name<T>, " needs");
  const bool creates = o.mode == memmap_mode::create;
  if (creates) detail::check_extents(function, s);
  if (creates && s.elements() > (most - o.offset % most) / size)
    detail::fail<shape_error>(function, ": the shape ", s, " is too large");
  const detail::open_descriptor d(path, o.mode);
  if (creates) d.resize(o.offset + s.elements() * size);
  const shape dims = detail::mapped_shape(path, s, size, d.size() - o.offset);
  return detail::mapped<T>(function, d, dims, o.offset, o.mode);
}
/// The elements of a .npy file as `memmap` has them. Throws io_error, value_error for mode `create`, and dtype_error
/// for another dtype and for another order of bytes.
///     auto x = ca::open_memmap<float>("x.npy");
template <dtype T>
const ndarray<T, cpu> open_memmap(const ::std::string& path, memmap_mode mode = memmap_mode::read) {
  constexpr const char* function = "open_memmap";
  if (mode == memmap_mode::create) detail::fail<value_error>("open_memmap: of an existing file");
  detail::file f(path, "rbe");
  detail::npy_header h = detail::read_npy_header(f, {detail::npy_letter<T>, int(sizeof(T))}, dtype_name<T>);
  if (h.type.swapped) detail::fail<dtype_error>(path, ": its bytes are in the other order: load() reads them");
  if (h.fortran_order)
    for (int i = 0; i < h.dims.ndim() / 2; ++i) ::std::swap(h.dims[i], h.dims[h.dims.ndim() - 1 - i]);
  const detail::open_descriptor d(path, mode);
  const int64 there = f.remaining(), bytes = h.dims.elements() * int64(sizeof(T));
  if (bytes > there)
    detail::fail<io_error>(path, ": the file ends too early: ", there, " of the ", bytes, " bytes of shape ", h.dims,
                           " of ", dtype_name<T>);
  if ((d.size() - there) % int64(alignof(T)) != 0)
    detail::fail<io_error>(path, ": its elements begin at byte ", d.size() - there, ", no multiple of ", alignof(T),
                           ", as ", dtype_name<T>, " needs: load() reads them");
  const ndarray<T, cpu> a = detail::mapped<T>(function, d, h.dims, d.size() - there, mode);
  return h.fortran_order ? a.t() : a;
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
