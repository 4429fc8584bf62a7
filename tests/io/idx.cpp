// IDX files, plain and gzipped, and files that are not what they should be.
// SPDX-License-Identifier: MIT
#include "temporary_file.hpp"
#include "test.hpp"

#if defined(CUDARRAY_HAS_ZLIB)
#include <zlib.h>
#endif

namespace {

using test::temporary_file;
using bytes = std::vector<int>;

std::string text(std::initializer_list<int> v) { return std::string(v.begin(), v.end()); }

/// Two images of 2 x 3.
const std::string images =
    text({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255});
const std::string labels = text({0, 0, 8, 1, 0, 0, 0, 4, 9, 0, 255, 3});

}  // namespace

TEST_CASE("idx: plain files") {
  const temporary_file three(images), one(labels), empty(text({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 5}));
  const auto x = ca::load_idx(three.path(), 3);
  static_assert(std::is_same_v<decltype(x), const ca::ndarray<ca::uint8, ca::cpu>>);
  CHECK(test::equal(x, {2, 2, 3}, bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}));
  CHECK(test::equal(ca::load_idx(one.path(), 1), {4}, bytes{9, 0, 255, 3}));
  CHECK(ca::load_idx(empty.path(), 2).shape() == ca::shape{0, 5});
}

TEST_CASE("idx: extents are big-endian") {
  const temporary_file f(text({0, 0, 8, 1, 0, 1, 1, 2}) + std::string(65536 + 256 + 2, '\x07'));
  CHECK(ca::load_idx(f.path(), 1).shape() == ca::shape{65794});
}

TEST_CASE("idx: wrong files") {
  const auto load = [](const temporary_file& f, int axes) {
    return test::thrown<ca::io_error>([&] { ca::load_idx(f.path(), axes); });
  };
  SECTION("missing") {
    CHECK(test::thrown<ca::io_error>([] { ca::load_idx("/no/such/file.gz", 1); }) ==
          "/no/such/file.gz: No such file or directory");
  }
  SECTION("cut anywhere") {
    for (const std::size_t n : {0, 3, 4, 7, 15, 16, 27}) {
      const temporary_file f(images.substr(0, n));
      INFO(n);
      CHECK(load(f, 3) == f.says("the file ends too early"));
    }
  }
  SECTION("another number of axes") {
    const temporary_file f(images), g(labels);
    CHECK(load(f, 1) == f.says("not an IDX file of bytes with 1 axis"));
    CHECK(load(g, 3) == g.says("not an IDX file of bytes with 3 axes"));
  }
  SECTION("another magic, another dtype") {
    const temporary_file f("PK\x03\x04 something else"), floats(text({0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}));
    CHECK(load(f, 3) == f.says("not an IDX file of bytes with 3 axes"));
    CHECK(load(floats, 1) == floats.says("not an IDX file of bytes with 1 axis"));
  }
  SECTION("a shape that no file has") {
    const temporary_file f(text({0, 0, 8, 2, 255, 255, 255, 255, 0, 0, 255, 255}));
    CHECK(load(f, 2) == f.says("an implausible shape, (4294967295, 65535)"));
    const temporary_file overflow(text({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}));
    CHECK(load(overflow, 3).find(overflow.path()) == 0);
    // 2^17 * 2^17 * 2^30 is 0 in 64 bits
    const temporary_file wraps(text({0, 0, 8, 3, 0, 2, 0, 0, 0, 2, 0, 0, 64, 0, 0, 0}));
    CHECK(load(wraps, 3) == wraps.says("an implausible shape, (131072, 131072, 1073741824)"));
  }
}

#if defined(CUDARRAY_HAS_ZLIB)
namespace {

/// The bytes as gzip packs them.
std::string gzipped(const std::string& s) {
  const temporary_file f;
  const gzFile z = ::gzopen(f.path().c_str(), "wb");
  REQUIRE(z != nullptr);
  REQUIRE(::gzwrite(z, s.data(), unsigned(s.size())) == int(s.size()));
  REQUIRE(::gzclose(z) == Z_OK);
  return f.bytes();
}

}  // namespace

TEST_CASE("idx: gzipped files") {
  const std::string packed = gzipped(images);
  REQUIRE(packed.substr(0, 2) == "\x1f\x8b");
  const temporary_file f(packed);
  CHECK(test::equal(ca::load_idx(f.path(), 3), {2, 2, 3}, bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}));
  SECTION("cut") {
    // in the data, not in the checksum at the end
    const temporary_file cut(packed.substr(0, packed.size() - 14));
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(cut.path(), 3); }) == cut.says("the file ends too early"));
  }
  SECTION("damaged") {
    std::string s = packed;
    s[10] = '\x07';  // a deflate block of the type that does not exist
    const temporary_file bad(s);
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(bad.path(), 3); }) == bad.says("the gzipped data is damaged"));
  }
  SECTION("another number of axes") {
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(f.path(), 2); }) ==
          f.says("not an IDX file of bytes with 2 axes"));
  }
}
#else
TEST_CASE("idx: a gzipped file without zlib") {
  CHECK(test::thrown<ca::io_error>([] { ca::load_idx("/dev/null.gz", 3); }).find("/dev/null.gz: ") == 0);
}
#endif
