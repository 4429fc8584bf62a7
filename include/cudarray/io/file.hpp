// Files: opened, read as far as they go and written, with errors that name the path.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "../eval/entries.hpp"
#include "../ndarray.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Bytes of a file for an error text: what cannot be printed as \xNN, and of many only the beginning.
CUDARRAY_COLD inline ::std::string shown(const char* bytes, ::std::size_t n) {
  constexpr ::std::size_t most = 80;
  text t;
  for (::std::size_t i = 0; i < n && i < most; ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    constexpr const char* digits = "0123456789abcdef";
    const char hex[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
    if (c >= ' ' && c <= '~') t.add(bytes[i]);
    else t.add(hex, sizeof hex);
  }
  if (n > most) t.add("...");
  return t.str();
}

/// How many bytes lie in a file from a place in it on; -1 where nobody can say, as of a pipe.
inline int64 bytes_from(int descriptor, int64 at) {
  struct ::stat s;
  if (::fstat(descriptor, &s) != 0 || !S_ISREG(s.st_mode)) return -1;
  return at < s.st_size ? s.st_size - at : 0;
}

/// An open file. Every failure throws io_error with path and reason.
class file {
 public:
  /// mode: "rbe" or "wbe": programs that are started meanwhile do not get it.
  file(const ::std::string& path, const char* mode) : path_(path), f_(::std::fopen(path.c_str(), mode)) {
    if (f_ == nullptr) fail(::std::strerror(errno));
  }
  ~file() {
    if (f_) ::std::fclose(f_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const ::std::string& path() const { return path_; }
  bool is_open() const { return f_ != nullptr; }
  ::std::FILE* handle() const { return f_; }
  /// Reads so many bytes, or fewer where the file ends. Returns how many.
  ::std::size_t read(void* to, ::std::size_t bytes) {
    const ::std::size_t n = ::std::fread(to, 1, bytes, f_);
    if (n < bytes && ::std::ferror(f_)) fail(::std::strerror(errno));
    return n;
  }
  /// What is read next lies so many bytes behind the beginning.
  void seek(int64 at) {
    if (::fseeko(f_, at, SEEK_SET) != 0) fail(::std::strerror(errno));
  }
  /// The bytes after the last that was read; -1 where that is not known.
  int64 remaining() const { return bytes_from(::fileno(f_), ::ftello(f_)); }
  /// What a format has at its end that tells whether it was read well: nothing here.
  void finish() const {}
  void write(const void* from, ::std::size_t bytes) {
    if (::std::fwrite(from, 1, bytes, f_) != bytes) fail(::std::strerror(errno));
  }
  /// Closes a file that was written: what could not be written is noticed here.
  void close() {
    if (::std::fclose(::std::exchange(f_, nullptr)) != 0) fail(::std::strerror(errno));
  }

 private:
  [[noreturn]] void fail(const char* why) const { detail::fail<io_error>(path_, ": ", why); }

  ::std::string path_;
  ::std::FILE* f_;
};

/// Reads `bytes` bytes, all of them. Throws io_error that tells how many of `what` there were.
template <class Reader>
void read_all(Reader& f, void* to, ::std::size_t bytes, const char* what) {
  const ::std::size_t n = f.read(to, bytes);
  if (n != bytes) fail<io_error>(f.path(), ": the file ends too early: ", n, " of the ", bytes, " bytes of ", what);
}

/// Memory with the elements of a shape as they lie in the file. What the file cannot hold is not allocated; where its
/// size is not known, memory grows with what was read. Throws io_error where elements are missing.
template <class Host, class Reader>
storage_ref read_block(Reader& f, const shape& s, ::std::size_t itemsize, const char* dtype_name) {
  constexpr ::std::size_t first = ::std::size_t(1) << 20;
  const ::std::size_t bytes = ::std::size_t(s.elements()) * itemsize;
  const auto need = [&](::std::size_t there, ::std::size_t wanted) {
    if (there < wanted)
      fail<io_error>(f.path(), ": the file ends too early: ", there, " of the ", bytes, " bytes of shape ", s, " of ",
                     dtype_name);
  };
  const int64 there = f.remaining();
  if (there >= 0) need(::std::size_t(there), bytes);
  ::std::size_t at = 0, room = there >= 0 || bytes < first ? bytes : first;
  storage_ref block = allocate(Host{}, room);
  for (;;) {
    need(at + f.read(static_cast<char*>(block->data) + at, room - at), room);
    if (room == bytes) break;
    at = room;
    room = bytes / 4 < room ? bytes : 4 * room;
    storage_ref more = allocate(Host{}, room);
    ::std::memcpy(more->data, block->data, at);
    block = ::std::move(more);
  }
  f.finish();
  return block;
}
template <class T, class Host, class Reader>
ndarray<T, Host> read_elements(Reader& f, const shape& s) {
  return ndarray<T, Host>(leaf<T, Host>(read_block<Host>(f, s, sizeof(T), dtype_name<T>), s));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
