// IDX files, the format of MNIST and similar data, plain or gzipped.
// SPDX-License-Identifier: MIT
#pragma once

#include "gzip.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Throws io_error where the first four bytes are not those of bytes with so many axes, and says what they are.
CUDARRAY_COLD inline void check_idx_magic(const ::std::string& path, const unsigned char* magic, int axes) {
  if (magic[0] == 0 && magic[1] == 0 && magic[2] == 8 && magic[3] == axes) return;
  static constexpr const char* types[] = {"uint8", "int8", nullptr, "int16", "int32", "float32", "float64"};
  const char* const type = magic[2] >= 8 && magic[2] < 15 ? types[magic[2] - 8] : nullptr;
  const ::std::string found = magic[0] != 0 || magic[1] != 0 || type == nullptr
                                  ? cat("it begins with \"", shown(reinterpret_cast<const char*>(magic), 4), '"')
                              : magic[2] != 8 ? cat("it holds ", type, ", not uint8")
                                              : cat("it has ", int(magic[3]));
  fail<io_error>(path, ": not an IDX file of bytes with ", axes, axes == 1 ? " axis" : " axes", ": ", found);
}

/// The array of an IDX file.
template <class Host, class Reader>
ndarray<uint8, Host> read_idx(Reader& f, int axes) {
  unsigned char magic[4];
  read_all(f, magic, sizeof magic, "type and number of axes");
  check_idx_magic(f.path(), magic, axes);
  shape s;
  int64 count = 1;
  for (int i = 0; i < axes; ++i) {
    unsigned char n[4];
    read_all(f, n, sizeof n, "an extent");
    s.push_back(int64(n[0]) << 24 | n[1] << 16 | n[2] << 8 | n[3]);
    if (__builtin_mul_overflow(count, s[i] > 0 ? s[i] : 1, &count) || count >= (int64(1) << 55))
      fail<io_error>(f.path(), ": an implausible shape, ", s, "; less than 2^55 elements are read");
  }
  return read_elements<uint8, Host>(f, s);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Reads an IDX file of bytes as an array of `axes` axes (3 for images, 1 for labels), on the CPU; what follows the
/// elements is not looked at. Throws io_error for a missing, truncated or foreign file, shape_error for axes that no
/// array has.
///     auto images = ca::load_idx("train-images-idx3-ubyte.gz", 3);  // (60000, 28, 28), uint8
template <class Host = cpu, class Reader = detail::packed_reader>
const ndarray<uint8, Host> load_idx(const ::std::string& path, int axes) {
  if (axes < 0 || axes > max_rank)
    detail::fail<shape_error>("load_idx: ", axes, " axes, 0 to ", max_rank, " are supported");
  Reader f(path);
  return detail::read_idx<Host>(f, axes);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
