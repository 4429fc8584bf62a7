// A file of the tests: made with some bytes, removed at the end of the scope.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace test {

class temporary_file {
 public:
  explicit temporary_file(const std::string& bytes = "") : path_("/tmp/cudarray_XXXXXX") {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != ssize_t(bytes.size())) throw std::runtime_error(path_);
    ::close(fd);
  }
  ~temporary_file() { std::remove(path_.c_str()); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::string& path() const { return path_; }
  /// An error text that names this file, the way io_error does.
  std::string says(const std::string& why) const { return path_ + ": " + why; }
  std::string bytes() const {
    std::string r;
    std::FILE* f = std::fopen(path_.c_str(), "rb");
    for (int c; f != nullptr && (c = std::fgetc(f)) != EOF;) r += char(c);
    if (f != nullptr) std::fclose(f);
    return r;
  }

 private:
  std::string path_;
};

}  // namespace test
