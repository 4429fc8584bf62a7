// IDX files, the format of MNIST and its kin, plain or gzipped.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_ZLIB)
#include <zlib.h>
#endif

#include "../ops/transfer.hpp"
#include "file.hpp"

namespace cudarray::inline v0 {
namespace detail {

#if defined(CUDARRAY_HAS_ZLIB)
/// Reads a plain or gzipped file. Every failure throws io_error with path and reason.
class gzip_reader {
 public:
  CUDARRAY_PER_BUILD explicit gzip_reader(const ::std::string& path) : path_(path) {
    { file exists(path, "rb"); }  // says why it cannot be opened
    f_ = ::gzopen(path.c_str(), "rb");
    if (f_ == nullptr) fail("cannot be opened");
  }
  ~gzip_reader() { ::gzclose(f_); }
  gzip_reader(const gzip_reader&) = delete;
  gzip_reader& operator=(const gzip_reader&) = delete;
  void read(void* to, ::std::size_t bytes) {
    for (::std::size_t at = 0; at < bytes;) {
      const unsigned part = bytes - at < (1u << 30) ? unsigned(bytes - at) : 1u << 30;
      const int n = ::gzread(f_, static_cast<char*>(to) + at, part);
      if (n < 0) fail("the gzipped data is damaged");
      if (n == 0) fail("the file ends too early");
      at += ::std::size_t(n);
    }
  }
  [[noreturn]] void fail(const ::std::string& why) const { detail::fail<io_error>(path_, ": ", why); }

 private:
  ::std::string path_;
  gzFile f_ = nullptr;
};
using idx_reader = gzip_reader;
#else
/// Reads a plain file, and says so of a gzipped one.
class plain_reader : public file {
 public:
  CUDARRAY_PER_BUILD explicit plain_reader(const ::std::string& path) : file(path, "rb") {
    if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0)
      fail("built without zlib, which gzipped files need");
  }
};
using idx_reader = plain_reader;
#endif

}  // namespace detail

/// Reads an IDX file of bytes as an array of `axes` axes (3 for images, 1 for labels), on the CPU. Throws io_error for
/// a missing, truncated or foreign file.
///     auto images = ca::load_idx("train-images-idx3-ubyte.gz", 3);  // (60000, 28, 28), uint8
template <class Host = cpu, class Build = this_build, class Reader = detail::idx_reader>
const ndarray<uint8, Host> load_idx(const ::std::string& path, int axes) {
  Reader f(path);
  unsigned char magic[4];
  f.read(magic, sizeof magic);
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != 8 || magic[3] != axes)
    f.fail(detail::cat("not an IDX file of bytes with ", axes, axes == 1 ? " axis" : " axes"));
  shape s;
  int64 count = 1;
  for (int i = 0; i < axes; ++i) {
    unsigned char n[4];
    f.read(n, sizeof n);
    s.push_back(int64(n[0]) << 24 | n[1] << 16 | n[2] << 8 | n[3]);
    if (__builtin_mul_overflow(count, s[i] > 0 ? s[i] : 1, &count) || count > (int64(1) << 34))
      f.fail(detail::cat("an implausible shape, ", s));
  }
  ndarray<uint8, Host> a(detail::new_leaf<uint8>(Host{}, s));
  f.read(a.data(), ::std::size_t(a.nbytes()));
  return a;
}

}  // namespace cudarray::inline v0
