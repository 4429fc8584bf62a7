// Files: opened and read in full, with errors that name the path.
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "../core/error.hpp"

namespace cudarray::inline v0::detail {

/// An open file. Every failure throws io_error with path and reason.
class file {
 public:
  file(const ::std::string& path, const char* mode) : path_(path), f_(::std::fopen(path.c_str(), mode)) {
    if (f_ == nullptr) fail(::std::strerror(errno));
  }
  ~file() {
    if (f_) ::std::fclose(f_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  void read(void* to, ::std::size_t bytes) {
    if (::std::fread(to, 1, bytes, f_) != bytes) fail("the file ends too early");
  }
  void write(const void* from, ::std::size_t bytes) {
    if (::std::fwrite(from, 1, bytes, f_) != bytes) fail(::std::strerror(errno));
  }
  /// Closes a file that was written: what could not be written is noticed here.
  void close() {
    if (::std::fclose(::std::exchange(f_, nullptr)) != 0) fail(::std::strerror(errno));
  }
  [[noreturn]] void fail(const ::std::string& why) const { detail::fail<io_error>(path_, ": ", why); }

 private:
  ::std::string path_;
  ::std::FILE* f_;
};

}  // namespace cudarray::inline v0::detail
