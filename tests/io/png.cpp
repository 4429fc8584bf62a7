// PNG files: Pillow's are read, ours are what was written, malformed ones are refused.
// SPDX-License-Identifier: MIT
#include <cudarray/png.hpp>

#include "io/files.hpp"

using ca::uint8;
using test::golden_bytes;
using test::temporary_file;
using test::thrown;

namespace {
/// The picture that files_golden.py draws.
ca::ndarray<uint8> drawn(const ca::shape& s) {
  return ca::astype<uint8>(ca::reshape(ca::arange(s.elements()) * 5 % 256, s));
}
ca::ndarray<uint8> read(const char* name, const ca::load_png_options& o = {}) {
  return ca::load_png(temporary_file(golden_bytes(name)).path(), o);
}
}  // namespace

TEST_CASE("png: as Pillow writes it") {
  CHECK(ca::array_equal(read("grey.png"), drawn({4, 5})));
  CHECK(ca::array_equal(read("grey_alpha.png"), drawn({4, 5, 2})));
  CHECK(ca::array_equal(read("rgb.png"), drawn({4, 5, 3})));
  CHECK(ca::array_equal(read("rgba.png"), drawn({4, 5, 4})));
  CHECK(ca::array_equal(read("bits.png"), 255 * ca::astype<uint8>(ca::eye(5, 7))));
  CHECK(ca::array_equal(read("sixteen.png"), ca::reshape(ca::arange(20), {4, 5})));
  const ca::ndarray<uint8> p = read("palette.png");
  CHECK(p.shape() == ca::shape{2, 3, 4});
  CHECK(test::values(p(0)) == std::vector<uint8>{10, 20, 30, 255, 40, 50, 60, 0, 70, 80, 90, 255});
}

TEST_CASE("png: channels that are asked for") {
  const auto rgb = read("grey.png", {.channels = 3});
  CHECK(rgb.shape() == ca::shape{4, 5, 3});
  CHECK(ca::array_equal(rgb(ca::_, ca::_, 1), drawn({4, 5})));
  CHECK(ca::all(read("rgb.png", {.channels = 4})(ca::_, ca::_, 3) == 255).item());
  CHECK(read("rgb.png", {.channels = 1}).shape() == ca::shape{4, 5});
  CHECK(thrown<ca::value_error>([&] { read("rgb.png", {.channels = 5}); }) == "load_png: 5 channels, 1 to 4 there are");
}

TEST_CASE("png: alpha that is not asked for is left out") {
  const auto rgba = drawn({4, 5, 4});
  CHECK(ca::array_equal(read("rgba.png", {.channels = 3}), rgba(ca::_, ca::_, ca::slice(0, 3))));
  CHECK(ca::array_equal(read("grey_alpha.png", {.channels = 1}), drawn({4, 5, 2})(ca::_, ca::_, 0)));
  CHECK(test::values(read("palette.png", {.channels = 3})(0)) ==
        std::vector<uint8>{10, 20, 30, 40, 50, 60, 70, 80, 90});
}

TEST_CASE("png: what was written is read") {
  const temporary_file t;
  for (const ca::shape& s : {ca::shape{3, 7}, {3, 7, 2}, {3, 7, 3}, {3, 7, 4}}) {
    ca::save_png(t.path(), drawn(s));
    CHECK(ca::array_equal(ca::load_png(t.path()), drawn(s)));
  }
  ca::save_png(t.path(), ca::flip(drawn({3, 7, 1}), 0));
  CHECK(ca::array_equal(ca::load_png(t.path()), ca::flip(drawn({3, 7}), 0)));
  for (const ca::shape& s : {ca::shape{3}, {3, 7, 5}, {0, 7}, {3, 7, 3, 1}, {1, 1000001}})
    CHECK(thrown<ca::shape_error>([&] { ca::save_png(t.path(), ca::zeros<uint8>(s)); }).find("save_png: shape") == 0);
  CHECK(ca::array_equal(ca::load_png(t.path()), ca::flip(drawn({3, 7}), 0)));  // it is still there
  CHECK(thrown<ca::io_error>([&] {
          ca::save_png("/nowhere/x.png", drawn({3, 7}));
        }) == "/nowhere/x.png: No such file or directory");
}

TEST_CASE("png: damaged files are refused or read all the same") {
  const auto shown = [](const std::string& path) { return ca::to_string(ca::load_png(path)); };
  // what a palette's file, whose colours a flipped bit of a checked chunk cannot change, may lose is its transparency
  for (const char* name : {"grey.png", "rgba.png", "sixteen.png"}) {
    INFO(name);
    const std::string bytes = golden_bytes(name);
    CHECK(test::damage(shown, bytes, bytes.size()) == "");
  }
  CHECK(thrown<ca::io_error>([&] { ca::load_png("/nowhere"); }) == "/nowhere: No such file or directory");
  // a picture of 2^30 pixels in a hundred bytes
  std::string large = golden_bytes("grey.png");
  large[16] = 0, large[17] = 0, large[18] = '\x7f', large[22] = '\x7f';
  const temporary_file t(large);
  CHECK(thrown<ca::io_error>([&] { ca::load_png(t.path()); }).find(t.path()) == 0);
}
