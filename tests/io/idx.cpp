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

TEST_CASE("idx: what follows the elements is not looked at") {
  const temporary_file f(labels + "more");
  CHECK(test::equal(ca::load_idx(f.path(), 1), {4}, bytes{9, 0, 255, 3}));
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
    const std::pair<std::size_t, const char*> cuts[] = {{0, "0 of the 4 bytes of type and number of axes"},
                                                        {3, "3 of the 4 bytes of type and number of axes"},
                                                        {4, "0 of the 4 bytes of an extent"},
                                                        {15, "3 of the 4 bytes of an extent"},
                                                        {16, "0 of the 12 bytes of shape (2, 2, 3) of uint8"},
                                                        {27, "11 of the 12 bytes of shape (2, 2, 3) of uint8"}};
    for (const auto& [n, found] : cuts) {
      const temporary_file f(images.substr(0, n));
      CHECK(load(f, 3) == f.says("the file ends too early: ") + found);
    }
  }
  SECTION("another number of axes") {
    const temporary_file f(images), g(labels);
    CHECK(load(f, 1) == f.says("not an IDX file of bytes with 1 axis: it has 3"));
    CHECK(load(g, 3) == g.says("not an IDX file of bytes with 3 axes: it has 1"));
  }
  SECTION("a number of axes that no array has") {
    const temporary_file f(text({0, 0, 8, 9}));
    CHECK(load(f, 8) == f.says("not an IDX file of bytes with 8 axes: it has 9"));
    CHECK(test::thrown<ca::shape_error>([&] { ca::load_idx(f.path(), 9); }) ==
          "load_idx: 9 axes, 0 to 8 are supported");
    CHECK(test::thrown<ca::shape_error>([&] { ca::load_idx(f.path(), -1); }) ==
          "load_idx: -1 axes, 0 to 8 are supported");
  }
  SECTION("another magic, another dtype") {
    const temporary_file f("PK\x03\x04 something else"), unknown(text({0, 0, 10, 1, 0, 0, 0, 0}));
    CHECK(load(f, 3) == f.says("not an IDX file of bytes with 3 axes: it begins with \"PK\\x03\\x04\""));
    CHECK(load(unknown, 1) ==
          unknown.says("not an IDX file of bytes with 1 axis: it begins with \"\\x00\\x00\\x0a\\x01\""));
    const std::pair<int, const char*> types[] = {
        {9, "int8"}, {11, "int16"}, {12, "int32"}, {13, "float32"}, {14, "float64"}};
    for (const auto& [code, name] : types) {
      const temporary_file other(text({0, 0, code, 1, 0, 0, 0, 0}));
      CHECK(load(other, 1) == other.says("not an IDX file of bytes with 1 axis: it holds ") + name + ", not uint8");
    }
  }
  SECTION("a shape that no file has") {
    const temporary_file f(text({0, 0, 8, 2, 255, 255, 255, 255, 0, 0, 255, 255}));
    CHECK(load(f, 2) == f.says("the file ends too early: 0 of the 281470681677825 bytes of shape (4294967295, 65535) "
                               "of uint8"));
    const temporary_file overflow(text({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}));
    CHECK(load(overflow, 3) == overflow.says("an implausible shape, (4294967295, 4294967295); less than 2^55 elements "
                                             "are read"));
    // 2^17 * 2^17 * 2^30 is 0 in 64 bits
    const temporary_file wraps(text({0, 0, 8, 3, 0, 2, 0, 0, 0, 2, 0, 0, 64, 0, 0, 0}));
    CHECK(load(wraps, 3) == wraps.says("an implausible shape, (131072, 131072, 1073741824); less than 2^55 elements "
                                       "are read"));
    // beside an extent of 0 too
    const temporary_file none(text({0, 0, 8, 3, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}));
    CHECK(load(none, 3) == none.says("an implausible shape, (0, 4294967295, 4294967295); less than 2^55 elements are "
                                     "read"));
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
    CHECK(test::thrown<ca::io_error>([&] {
            ca::load_idx(cut.path(), 3);
          }).find(cut.says("the file ends too early: ")) == 0);
    // in the checksum at the end
    for (const std::size_t missing : {1, 4, 8}) {
      const temporary_file sum(packed.substr(0, packed.size() - missing));
      CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(sum.path(), 3); }) ==
            sum.says("the file ends too early: before the checksum of its gzipped data"));
    }
  }
  SECTION("another checksum than its data has") {
    std::string s = packed;
    s[s.size() - 8] = char(s[s.size() - 8] ^ 1);
    const temporary_file bad(s);
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(bad.path(), 3); }) ==
          bad.says("the gzipped data is damaged: incorrect data check"));
  }
  SECTION("what follows the elements is not looked at") {
    const temporary_file more(gzipped(images + "more"));
    CHECK(ca::load_idx(more.path(), 3).shape() == ca::shape{2, 2, 3});
  }
  SECTION("more elements than are there") {
    const ca::int64 peak = ca::memory_stats<ca::cpu>().peak;
    const temporary_file few(gzipped(text({0, 0, 8, 2, 0, 15, 255, 255, 0, 15, 255, 255}) + "few"));
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(few.path(), 2); }) ==
          few.says("the file ends too early: 3 of the 1099509530625 bytes of shape (1048575, 1048575) of uint8"));
    CHECK(ca::memory_stats<ca::cpu>().peak <= peak + (1 << 27));  // of the 2^40 that it says
  }
  SECTION("damaged") {
    std::string s = packed;
    s[10] = '\x07';  // a deflate block of the type that does not exist
    const temporary_file bad(s);
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(bad.path(), 3); }) ==
          bad.says("the gzipped data is damaged: invalid block type"));
  }
  SECTION("another number of axes") {
    CHECK(test::thrown<ca::io_error>([&] { ca::load_idx(f.path(), 2); }) ==
          f.says("not an IDX file of bytes with 2 axes: it has 3"));
  }
}
#else
TEST_CASE("idx: a gzipped file without zlib") {
  CHECK(test::thrown<ca::io_error>([] { ca::load_idx("/dev/null.gz", 3); }).find("/dev/null.gz: ") == 0);
}
#endif
