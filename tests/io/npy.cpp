// .npy files: round trips, files as NumPy writes them, and files that are not what they should be.
// SPDX-License-Identifier: MIT
#include <cstring>

#include "temporary_file.hpp"
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using test::temporary_file;

/// The bytes of elements as they lie in memory.
template <class T>
std::string raw(const std::vector<T>& v) {
  std::string s(v.size() * sizeof(T), '\0');
  if (!v.empty()) std::memcpy(s.data(), v.data(), s.size());
  return s;
}
template <class T>
std::string raw(const ca::ndarray<T>& a) {
  const ca::ndarray<T, ca::cpu> h = ca::to<ca::cpu>(a);
  return std::string(reinterpret_cast<const char*>(h.data()), std::size_t(h.nbytes()));
}

/// What NumPy writes before the elements: magic, version, length, the dictionary, spaces to 128 bytes, a line break.
std::string start(const std::string& dictionary, int version = 1) {
  std::string s = version == 1 ? std::string("\x93NUMPY\x01\x00\x76\x00", 10)
                               : std::string("\x93NUMPY\x02\x00\x74\x00\x00\x00", 12);
  s += dictionary;
  s.append(127 - s.size(), ' ');
  return s + '\n';
}
std::string dictionary(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class T>
void round_trip(const ca::ndarray<T>& a) {
  INFO(ca::dtype_name<T> << ' ' << a.shape().str());
  const temporary_file f;
  ca::save(f.path(), a);
  const auto b = ca::load<T>(f.path());
  CHECK(b.shape() == a.shape());
  CHECK(raw(ca::eval(b)) == raw(a));
  CHECK(b.is_contiguous());
}

}  // namespace

TEST_CASE("npy: save and load every dtype") {
  round_trip<bool>(ca::array<bool>({{true, false, true}, {false, false, true}}));
  round_trip<ca::uint8>(ca::array<ca::uint8>({0, 1, 255}));
  round_trip<int>(ca::array<int>({{INT32_MIN}, {-1}, {INT32_MAX}}));
  round_trip<ca::int64>(ca::array<ca::int64>({INT64_MIN, -1, INT64_MAX}));
  const auto x = ca::array<float>({{{-0.f, 1e-45f, 3.4028235e38f}, {1, INFINITY, NAN}}});
  round_trip<float>(x);
  round_trip<double>(ca::array<double>({0.1, -5e-324, 1.7976931348623157e308}));
  round_trip<ca::float16>(ca::eval(ca::astype<ca::float16>(x)));
  round_trip<ca::complex64>(ca::array<ca::complex64>({ca::complex64(1, -2), ca::complex64(0, 3)}));
}

TEST_CASE("npy: save and load 0-d, empty and many axes") {
  round_trip<float>(ca::full({}, 2.5f));
  round_trip<float>(ca::zeros({0}));
  round_trip<float>(ca::zeros({3, 0, 2}));
  round_trip<float>(ca::ones({1, 2, 1, 2, 1, 2, 1, 2}));
  round_trip<float>(ca::ndarray<float>());
}

TEST_CASE("npy: save views and expressions in C order") {
  const auto a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
  const temporary_file f;
  ca::save(f.path(), a.t());
  CHECK(test::equal(ca::load<float>(f.path()), {3, 2}, std::vector<float>{1, 4, 2, 5, 3, 6}));
  ca::save(f.path(), a(_, slice(none, none, -2)));
  CHECK(test::equal(ca::load<float>(f.path()), {2, 2}, std::vector<float>{3, 1, 6, 4}));
  ca::save(f.path(), ca::broadcast_to(a(0, 0), {2, 2}));
  CHECK(test::equal(ca::load<float>(f.path()), {2, 2}, std::vector<float>{1, 1, 1, 1}));
  ca::save(f.path(), a + a);
  CHECK(test::equal(ca::load<float>(f.path()), {2, 3}, std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST_CASE("npy: the bytes of a file") {
  const temporary_file f;
  ca::save(f.path(), ca::array<float>({{1, 2, 3}}));
  const std::string s = f.bytes();
  REQUIRE(s.size() == 128 + 12);  // a multiple of 64 before the elements, as the format demands
  CHECK(s.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(s.substr(10, 59) == dictionary("<f4", "False", "(1, 3)"));
  CHECK(s.find_first_not_of(' ', 69) == 127);
  CHECK(s[127] == '\n');
  CHECK(s.substr(128) == raw(std::vector<float>{1, 2, 3}));
}

TEST_CASE("npy: files that NumPy writes") {
  SECTION("format 1.0") {
    const temporary_file f(start(dictionary("<i4", "False", "(2, 2)")) + raw(std::vector<int>{1, -2, 3, -4}));
    CHECK(test::equal(ca::load<int>(f.path()), {2, 2}, std::vector<int>{1, -2, 3, -4}));
  }
  SECTION("format 2.0") {
    const temporary_file f(start(dictionary("<f8", "False", "(3,)"), 2) + raw(std::vector<double>{1, 2, 3}));
    CHECK(test::equal(ca::load<double>(f.path()), {3}, std::vector<double>{1, 2, 3}));
  }
  SECTION("bytes and bool have no byte order") {
    const temporary_file f(start(dictionary("|u1", "False", "(2,)")) + "\x07\xff"),
        g(start(dictionary("|b1", "False", "(2,)")) + std::string("\x01\x00", 2));
    CHECK(test::equal(ca::load<ca::uint8>(f.path()), {2}, std::vector<int>{7, 255}));
    CHECK(test::equal(ca::load<bool>(g.path()), {2}, std::vector<int>{1, 0}));
  }
  SECTION("0-d") {
    const temporary_file f(start(dictionary("<f4", "False", "()")) + raw(std::vector<float>{2.5f}));
    CHECK(test::equal(ca::load<float>(f.path()), {}, std::vector<float>{2.5f}));
  }
  SECTION("empty") {
    const temporary_file f(start(dictionary("<f4", "False", "(0, 3)")));
    CHECK(ca::load<float>(f.path()).shape() == ca::shape{0, 3});
  }
  SECTION("Fortran order, two axes") {
    // np.asfortranarray([[1, 2, 3], [4, 5, 6]])
    const temporary_file f(start(dictionary("<f4", "True", "(2, 3)")) + raw(std::vector<float>{1, 4, 2, 5, 3, 6}));
    const auto a = ca::load<float>(f.path());
    CHECK(test::equal(a, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
    CHECK(a.is_contiguous());
  }
  SECTION("Fortran order, three axes") {
    // np.asfortranarray(np.arange(12).reshape(2, 3, 2))
    const temporary_file f(start(dictionary("<i8", "True", "(2, 3, 2)")) +
                           raw(std::vector<ca::int64>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
    CHECK(
        test::equal(ca::load<ca::int64>(f.path()), {2, 3, 2}, std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  }
  SECTION("Fortran order, one axis") {
    const temporary_file f(start(dictionary("<f4", "True", "(2,)")) + raw(std::vector<float>{1, 2}));
    CHECK(test::equal(ca::load<float>(f.path()), {2}, std::vector<float>{1, 2}));
  }
}

TEST_CASE("npy: wrong files") {
  const auto load = [](const temporary_file& f) {
    return test::thrown<ca::io_error>([&] { ca::load<float>(f.path()); });
  };
  const std::string whole = start(dictionary("<f4", "False", "(2,)")) + raw(std::vector<float>{1, 2});
  SECTION("missing") {
    CHECK(test::thrown<ca::io_error>([] { ca::load<float>("/no/such/file.npy"); }) ==
          "/no/such/file.npy: No such file or directory");
    const std::string name(3000, 'x');
    CHECK(test::thrown<ca::io_error>([&] { ca::load<float>("/no/such/" + name); }).find(name + ": ") == 9);
  }
  SECTION("not writable") {
    CHECK(test::thrown<ca::io_error>([] { ca::save("/no/such/file.npy", ca::zeros({2})); }) ==
          "/no/such/file.npy: No such file or directory");
  }
  SECTION("cut anywhere") {
    for (const std::size_t n : {std::size_t(0), std::size_t(7), std::size_t(9), std::size_t(11), std::size_t(127),
                                std::size_t(128), whole.size() - 1}) {
      const temporary_file f(whole.substr(0, n));
      INFO(n);
      CHECK(load(f) == f.says("the file ends too early"));
    }
  }
  SECTION("another magic") {
    std::string s = whole;
    s[0] = 'N';
    const temporary_file f(s), zip("PK\x03\x04 an .npz is a zip archive");
    CHECK(load(f) == f.says("not a .npy file"));
    CHECK(load(zip) == zip.says("not a .npy file"));
  }
  SECTION("another dtype") {
    const temporary_file f(whole);
    CHECK(test::thrown<ca::dtype_error>([&] { ca::load<double>(f.path()); }) ==
          f.says("the file holds <f4, not <f8 (float64)"));
    CHECK(test::thrown<ca::dtype_error>([&] { ca::load<ca::uint8>(f.path()); }) ==
          f.says("the file holds <f4, not |u1 (uint8)"));
    const temporary_file big(start(dictionary(">f4", "False", "(2,)")) + raw(std::vector<float>{1, 2}));
    CHECK(test::thrown<ca::dtype_error>([&] { ca::load<float>(big.path()); }) ==
          big.says("the file holds >f4, not <f4 (float32)"));
  }
  SECTION("a structured dtype") {
    const temporary_file f(start("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }") +
                           raw(std::vector<float>{1, 2}));
    CHECK(load(f) == f.says("a malformed header"));
  }
  SECTION("no shape, no order") {
    const temporary_file f(start("{'descr': '<f4', 'fortran_order': False, }")),
        g(start("{'descr': '<f4', 'shape': (2,), }"));
    CHECK(load(f) == f.says("a malformed header"));
    CHECK(load(g) == g.says("a malformed header"));
  }
  SECTION("a shape of something else") {
    const temporary_file f(start(dictionary("<f4", "False", "(2, x)"))), g(start(dictionary("<f4", "False", "(-2,)")));
    CHECK(load(f) == f.says("a malformed shape"));
    CHECK(load(g) == g.says("a malformed shape"));
  }
  SECTION("a header longer than any") {
    const temporary_file f(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12));
    CHECK(load(f) == f.says("a header of more than 1 MiB"));
  }
  SECTION("a shape that overflows, or of too many axes, is an io_error too") {
    const temporary_file f(start(dictionary("<f4", "False", "(4294967296, 4294967296)"))),
        g(start(dictionary("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)")));
    CHECK(load(f).find(f.path()) == 0);
    CHECK(load(g).find(g.path()) == 0);
  }
}
