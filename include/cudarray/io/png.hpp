// PNG files, by libpng.
// SPDX-License-Identifier: MIT
#pragma once

#include <png.h>

#include "../ops/transfer.hpp"
#include "file.hpp"

namespace cudarray::inline v0 {

struct load_png_options {
  int channels = 0;  ///< 1: grey, 2: grey and alpha, 3: red, green, blue, 4: and alpha; 0: those of the file
};

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// libpng's state of one picture.
class png_picture {
 public:
  explicit png_picture(const ::std::string& path) : path_(path) { state.version = PNG_IMAGE_VERSION; }
  ~png_picture() { ::png_image_free(&state); }
  png_picture(const png_picture&) = delete;
  png_picture& operator=(const png_picture&) = delete;

  /// Throws what libpng says, where it failed.
  void check(int succeeded) const {
    if (!succeeded) fail<io_error>(path_, ": ", state.message);
  }
  png_image state = {};

 private:
  const ::std::string& path_;
};

constexpr unsigned png_formats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};

/// The bytes of a file in memory. Throws io_error for more than 2^30 of what is no regular file.
template <class Reader>
::std::string all_bytes(Reader& f) {
  constexpr ::std::size_t most = ::std::size_t(1) << 30;
  const int64 there = f.remaining();
  ::std::string r(there >= 0 ? ::std::size_t(there) : ::std::size_t(0), ' ');
  if (there >= 0) {
    r.resize(f.read(r.data(), r.size()));
    return r;
  }
  for (::std::size_t n = 1; n > 0;) {
    const ::std::size_t at = r.size();
    if (at > most) fail<io_error>(f.path(), ": more than 2^30 bytes");
    r.resize(at + (::std::size_t(1) << 16) + at / 2);
    n = f.read(&r[at], r.size() - at);
    r.resize(at + n);
  }
  return r;
}
/// Throws where a file of so many bytes cannot hold its pixels: deflated data is at most 1032 times as long.
CUDARRAY_COLD inline void check_pixels(const ::std::string& path, const ::std::string& bytes, int64 rows,
                                       int64 columns) {
  constexpr int channels[] = {1, 0, 3, 1, 2, 0, 4};  // by the colour's type, which stands behind the depth
  const int depth = bytes.size() > 25 ? bytes[24] : 0, type = bytes.size() > 25 ? bytes[25] & 7 : 1;
  const uint64 bits = uint64(depth) * uint64(type < 7 ? channels[type] : 0);
  if (uint64(rows) * (uint64(columns) * bits / 8) > 1032 * uint64(bytes.size()))
    fail<io_error>(path, ": ", bytes.size(), " bytes hold no picture of ", rows, " x ", columns, " pixels");
}
/// (height, width) of grey pictures, else (height, width, channels).
template <class Host, class Reader>
ndarray<uint8, Host> read_png(Reader& f, int channels) {
  const ::std::string bytes = all_bytes(f);
  png_picture p(f.path());
  p.check(::png_image_begin_read_from_memory(&p.state, bytes.data(), bytes.size()));
  const int alpha = (p.state.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  if (channels == 0) channels = 1 + alpha + 2 * int((p.state.format & PNG_FORMAT_FLAG_COLOR) != 0);
  const int read = channels + (alpha && channels % 2 == 1);  // alpha is left out below: libpng would mix colours
  p.state.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  p.state.format = png_formats[read];
  const int64 rows = p.state.height, columns = p.state.width;
  check_pixels(f.path(), bytes, rows, columns);
  const shape s = channels == 1 ? shape{rows, columns} : shape{rows, columns, channels};
  storage_ref block = allocate(Host{}, ::std::size_t(rows * columns * read));
  auto* const pixels = static_cast<unsigned char*>(block->data);
  p.check(::png_image_finish_read(&p.state, nullptr, pixels, int(columns) * read, nullptr));
  for (int64 i = 0; i < rows * columns && read != channels; ++i)
    for (int c = 0; c < channels; ++c) pixels[i * channels + c] = pixels[i * read + c];
  return ndarray<uint8, Host>(leaf<uint8, Host>(::std::move(block), s));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Reads a PNG file as bytes of sRGB: (height, width) where it is grey, else (height, width, channels). Palettes become
/// colours, 16 bits become 8; alpha that is not asked for is left out; grey made of colours is their luminance in
/// linear light. Throws io_error for what libpng does not read, value_error for channels that are none.
///     auto picture = ca::load_png("cat.png", {.channels = 3});  // (height, width, 3)
template <device_tag Device = default_device, class Host = cpu>
const ndarray<uint8, Device> load_png(const ::std::string& path, const load_png_options& o = {}, Device device = {}) {
  if (o.channels < 0 || o.channels > 4)
    detail::fail<value_error>("load_png: ", o.channels, " channels, 1 to 4 there are");
  detail::file f(path, "rbe");
  return to<Device>(detail::read_png<Host>(f, o.channels), device);
}
/// Writes bytes (height, width), or (height, width, channels) with 1 to 4 channels, as a PNG file. Throws shape_error,
/// io_error.
///     ca::save_png("cat.png", ca::astype<ca::uint8>(ca::clip(255 * picture, 0, 255)));
template <array_expression X>
void save_png(const ::std::string& path, const X& x) {
  constexpr bool bytes = ::std::is_same_v<value_type_t<X>, uint8>;
  static_assert(bytes, "cudarray: pictures are bytes: save_png(path, ca::astype<ca::uint8>(..)), of 0 to 255");
  if constexpr (bytes) {
    const ndarray<uint8, cpu> a = to<cpu>(detail::array_of(x));
    const shape s = a.shape();
    const int64 channels = s.ndim() == 2 ? 1 : s.ndim() == 3 ? s[2] : 0;
    constexpr int64 most = 1000000;  // libpng's limit
    if (channels < 1 || channels > 4 || a.size() == 0 || s[0] > most || s[1] > most)
      detail::fail<shape_error>("save_png: shape ", s,
                                ", not (height, width) or (height, width, 1 to 4), of extents of 1 to 10^6");
    detail::png_picture p(path);
    p.state.height = unsigned(s[0]), p.state.width = unsigned(s[1]);
    p.state.format = detail::png_formats[channels];
    detail::file f(path, "wbe");
    p.check(::png_image_write_to_stdio(&p.state, f.handle(), 0, a.data(), int(s[1] * channels), nullptr));
    f.close();
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
