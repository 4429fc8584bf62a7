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

/// The bytes of a file in memory, at most so many as a file of a picture can have.
template <class Reader>
::std::string all_bytes(Reader& f) {
  ::std::string r;
  for (::std::size_t n = 1; n > 0;) {
    const ::std::size_t at = r.size();
    r.resize(at + (::std::size_t(1) << 16) + at / 2);
    n = f.read(&r[at], r.size() - at);
    r.resize(at + n);
  }
  return r;
}
/// (height, width) of grey pictures, else (height, width, channels).
template <class Host, class Reader>
ndarray<uint8, Host> read_png(Reader& f, int channels) {
  const ::std::string bytes = all_bytes(f);
  png_picture p(f.path());
  p.check(::png_image_begin_read_from_memory(&p.state, bytes.data(), bytes.size()));
  if (channels == 0)
    channels =
        1 + int((p.state.format & PNG_FORMAT_FLAG_ALPHA) != 0) + 2 * int((p.state.format & PNG_FORMAT_FLAG_COLOR) != 0);
  p.state.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  p.state.format = png_formats[channels];
  const int64 rows = p.state.height, columns = p.state.width;
  // deflated data is at most 1032 times as long as it looks, and a pixel has at least a bit
  if (uint64(rows) * uint64(columns) / 8 > 1032 * uint64(bytes.size()))
    fail<io_error>(f.path(), ": ", bytes.size(), " bytes hold no picture of ", rows, " x ", columns, " pixels");
  const shape s = channels == 1 ? shape{rows, columns} : shape{rows, columns, channels};
  const ndarray<uint8, Host> a(leaf<uint8, Host>(allocate(Host{}, ::std::size_t(s.elements())), s));
  p.check(::png_image_finish_read(&p.state, nullptr, a.data(), int(columns) * channels, nullptr));
  return a;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// Reads a PNG file as bytes of sRGB: (height, width) where it is grey, else (height, width, channels). Palettes become
/// colours, 16 bits become 8. Throws io_error for a missing or malformed file, value_error for channels that are none.
///     auto picture = ca::load_png("cat.png", {.channels = 3});  // (height, width, 3)
template <device_tag Device = default_device, class Host = cpu>
const ndarray<uint8, Device> load_png(const ::std::string& path, const load_png_options& o = {}, Device device = {}) {
  if (o.channels < 0 || o.channels > 4)
    detail::fail<value_error>("load_png: ", o.channels, " channels, 1 to 4 there are");
  detail::file f(path, "rb");
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
    if (channels < 1 || channels > 4 || a.size() == 0 || s[0] > 0x7fffffff / 4 || s[1] > 0x7fffffff / 4)
      detail::fail<shape_error>("save_png: shape ", s, ", not (height, width) or (height, width, 1 to 4)");
    detail::png_picture p(path);
    p.state.height = unsigned(s[0]), p.state.width = unsigned(s[1]);
    p.state.format = detail::png_formats[channels];
    p.check(::png_image_write_to_file(&p.state, path.c_str(), 0, a.data(), int(s[1] * channels), nullptr));
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
