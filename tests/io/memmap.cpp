// Files as memory: modes, offsets, extents that are left open, errors.
// SPDX-License-Identifier: MIT
#include <cstring>

#include "io/files.hpp"

using ca::memmap_mode;
using test::temporary_file;
using test::thrown;

namespace {
std::string bytes_of(const std::vector<int>& v) {
  return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(int));
}
using array = ca::ndarray<int, ca::cpu>;
std::vector<int> elements(const array& a) {
  const array c = ca::copy(a);
  return {c.data(), c.data() + c.size()};
}
}  // namespace

TEST_CASE("memmap: reading") {
  const temporary_file t(bytes_of({1, 2, 3, 4, 5, 6}));
  const array a = ca::memmap<int>(t.path(), {2, 3});
  CHECK((a.shape() == ca::shape{2, 3} && elements(a) == std::vector<int>{1, 2, 3, 4, 5, 6}));
  CHECK(elements(ca::memmap<int>(t.path(), -1)).size() == 6);
  CHECK(ca::memmap<int>(t.path(), {-1, 2}).shape() == ca::shape{3, 2});
  CHECK(elements(ca::memmap<int>(t.path(), -1, {.offset = 16})) == std::vector<int>{5, 6});
  CHECK(ca::memmap<int>(t.path(), -1, {.offset = 24}).shape() == ca::shape{0});
  CHECK(ca::memmap<int>(t.path(), {0, 7}).size() == 0);
  CHECK(ca::sum(ca::memmap<ca::uint8>(t.path(), -1)).item() == 21);
  CHECK(thrown<ca::value_error>([&] { a(0) = 1; }) == "assignment: the array borrows const memory, so it is read-only");
  // the mapping goes with the last array of it, and the file may be gone
  array part;
  {
    const temporary_file u(bytes_of({7, 8, 9}));
    part = ca::memmap<int>(u.path(), 3)(ca::slice(1, 3));
  }
  CHECK(elements(part) == std::vector<int>{8, 9});
}

TEST_CASE("memmap: writing") {
  const temporary_file t(bytes_of({1, 2, 3, 4}));
  {
    array a = ca::memmap<int>(t.path(), {2, 2}, {.mode = memmap_mode::copy_on_write});
    a(0) = 9;
    CHECK(elements(a) == std::vector<int>{9, 9, 3, 4});
  }
  CHECK(t.bytes() == bytes_of({1, 2, 3, 4}));
  {
    array a = ca::memmap<int>(t.path(), 2, {.mode = memmap_mode::read_write, .offset = 8});
    a += 10;
  }
  CHECK(t.bytes() == bytes_of({1, 2, 13, 14}));
  {
    array a = ca::memmap<int>(t.path(), {3}, {.mode = memmap_mode::create, .offset = 4});
    a(1) = 5;
  }
  CHECK(t.bytes() == bytes_of({0, 0, 5, 0}));
}

TEST_CASE("memmap: a large offset is no multiple of a page") {
  std::vector<int> v(30000);
  for (int i = 0; i < 30000; ++i) v[std::size_t(i)] = i;
  const temporary_file t(bytes_of(v));
  const array a = ca::memmap<int>(t.path(), 10, {.offset = 4 * 12345});
  CHECK(elements(a)[9] == 12354);
}

TEST_CASE("memmap: errors") {
  const temporary_file t(bytes_of({1, 2, 3, 4, 5, 6}));
  const std::string& p = t.path();
  CHECK(thrown<ca::io_error>([&] {
          ca::memmap<int>(p, {4, 3});
        }) == t.says("24 bytes behind the offset are no shape (4, 3) of elements of 4 bytes"));
  CHECK(thrown<ca::io_error>([&] {
          ca::memmap<int>(p, {-1, 4});
        }) == t.says("24 bytes behind the offset are no shape (-1, 4) of elements of 4 bytes"));
  CHECK(thrown<ca::io_error>([&] { ca::memmap<int>(p, -1, {.offset = 28}); }) ==
        t.says("the file ends 4 bytes before the offset"));
  CHECK(thrown<ca::io_error>([&] {
          ca::memmap<int>(p, {-1, 0});
        }) == t.says("24 bytes behind the offset are no shape (-1, 0) of elements of 4 bytes"));
  CHECK(thrown<ca::value_error>([&] { ca::memmap<int>(p, 3, {.offset = 2}); }) ==
        "memmap: the offset 2 is no multiple of 4, as int32 needs");
  // of what cannot be made nothing is emptied
  CHECK(thrown<ca::value_error>([&] { ca::memmap<int>(p, 4, {.mode = memmap_mode::create, .offset = 3}); }) ==
        "memmap: the offset 3 is no multiple of 4, as int32 needs");
  CHECK(thrown<ca::shape_error>([&] {
          ca::memmap<int>(p, 4, {.mode = memmap_mode::create, .offset = std::numeric_limits<ca::int64>::max() - 7});
        }) != "nothing was thrown");
  CHECK(thrown<ca::value_error>([&] { ca::memmap<int>(p, 3, {.offset = -4}); }) ==
        "memmap: the offset -4 is no multiple of 4, as int32 needs");
  CHECK(thrown<ca::shape_error>([&] {
          ca::memmap<int>(p, {-1, -1});
        }) == "memmap: the shape (-1, -1) has negative extents");
  CHECK(thrown<ca::shape_error>([&] {
          ca::memmap<int>(p, {1LL << 40, 1LL << 40});
        }) == "memmap: the shape (1099511627776, 1099511627776) is too large");
  CHECK(thrown<ca::io_error>([&] { ca::memmap<int>("/nowhere", 3); }) == "/nowhere: No such file or directory");
  CHECK(thrown<ca::io_error>([&] { ca::memmap<int>("/tmp", 3); }) == "/tmp: no regular file: its size is not known");
  CHECK(t.bytes() == bytes_of({1, 2, 3, 4, 5, 6}));
}

TEST_CASE("open_memmap: .npy files") {
  const temporary_file t;
  const ca::ndarray<float> x = ca::reshape(ca::arange(6.f), {2, 3});
  ca::save(t.path(), x);
  CHECK(ca::array_equal(ca::to<ca::default_device>(ca::open_memmap<float>(t.path())), x));
  {
    ca::ndarray<float, ca::cpu> a = ca::open_memmap<float>(t.path(), memmap_mode::read_write);
    a(1, 2) = 50;
  }
  CHECK(ca::load<float>(t.path())(1, 2).item() == 50);
  CHECK(thrown<ca::dtype_error>([&] { ca::open_memmap<int>(t.path()); }) ==
        t.says("the file holds <f4, not <i4 (int32)"));
  CHECK(thrown<ca::value_error>([&] { ca::open_memmap<float>(t.path(), memmap_mode::create); }) ==
        "open_memmap: of an existing file");
  const std::string whole = t.bytes();
  const temporary_file early(whole.substr(0, whole.size() - 1));
  CHECK(thrown<ca::io_error>([&] { ca::open_memmap<float>(early.path()); }) ==
        early.says("the file ends too early: 23 of the 24 bytes of shape (2, 3) of float32"));
  std::string swapped = whole;
  swapped[swapped.find('<')] = '>';
  const temporary_file s(swapped);
  CHECK(thrown<ca::dtype_error>([&] { ca::open_memmap<float>(s.path()); }) ==
        s.says("its bytes are in the other order: load() reads them"));
  std::string fortran = whole;
  fortran.replace(fortran.find("False"), 5, "True ");
  const temporary_file f(fortran);
  CHECK(ca::open_memmap<float>(f.path())(1, 0).item() == 1);
}
