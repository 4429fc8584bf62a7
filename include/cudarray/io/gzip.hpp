// Files that may be gzipped.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_ZLIB)
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#endif

#include "file.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

#if defined(CUDARRAY_HAS_ZLIB)
/// Reads a plain or gzipped file. Every failure throws io_error with path and reason.
class gzip_reader {
 public:
  explicit gzip_reader(const ::std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(::std::strerror(errno));
    f_ = ::gzdopen(descriptor_, "rb");
    if (f_ == nullptr) {
      ::close(descriptor_);
      fail("zlib has no memory for it");
    }
  }
  ~gzip_reader() { ::gzclose(f_); }
  gzip_reader(const gzip_reader&) = delete;
  gzip_reader& operator=(const gzip_reader&) = delete;

  const ::std::string& path() const { return path_; }
  ::std::size_t read(void* to, ::std::size_t bytes) {
    ::std::size_t at = 0;
    while (at < bytes) {
      const unsigned part = bytes - at < (1u << 30) ? unsigned(bytes - at) : 1u << 30;
      const int n = ::gzread(f_, static_cast<char*>(to) + at, part);
      if (n < 0) fail_read();
      if (n == 0) break;
      at += ::std::size_t(n);
    }
    return at;
  }
  /// What comes out of a gzipped file is known once it is read.
  int64 remaining() const { return ::gzdirect(f_) ? bytes_from(descriptor_, ::gztell(f_)) : -1; }
  /// Reads on: behind the last byte stands the checksum of all.
  void finish() {
    char more;
    int problem = Z_OK;
    if (::gzread(f_, &more, 1) < 0) fail_read();
    ::gzerror(f_, &problem);
    if (problem == Z_BUF_ERROR) fail("the file ends too early: before the checksum of its gzipped data");
  }

 private:
  [[noreturn]] void fail(const char* why) const { detail::fail<io_error>(path_, ": ", why); }
  [[noreturn]] void fail_read() const {
    int problem = Z_OK;
    const char* const text = ::gzerror(f_, &problem);
    if (problem == Z_ERRNO) fail(::std::strerror(errno));
    const char* const reason = ::std::strstr(text, ">: ");  // behind "<fd:3>"
    detail::fail<io_error>(path_, ": the gzipped data is damaged: ", reason != nullptr ? reason + 3 : text);
  }

  ::std::string path_;
  int descriptor_;
  gzFile f_ = nullptr;
};
using packed_reader = gzip_reader;
#else
/// Reads a plain file, and says so of a gzipped one.
class plain_reader : public file {
 public:
  explicit plain_reader(const ::std::string& path) : file(path, "rbe") {
    if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0)
      detail::fail<io_error>(path, ": built without zlib, which gzipped files need");
  }
};
using packed_reader = plain_reader;
#endif

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
