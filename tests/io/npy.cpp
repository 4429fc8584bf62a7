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

TEST_CASE("npy: NumPy has no bfloat16: float16 is not read as such") {
  const test::temporary_file t;
  ca::save(t.path(), ca::astype<ca::float16>(ca::arange(4)));
  CHECK(test::thrown<ca::dtype_error>([&] { ca::load<ca::bfloat16>(t.path()); }) ==
        t.says("the file holds <f2, not <V2 (bfloat16)"));
}

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

TEST_CASE("npy: headers of other writers") {
  // each of these np.load reads, as 3 numbers of float32
  const char* headers[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3L,), }",  // Python 2's np.save
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3 L,), }",
      R"({"descr": "<f4", "fortran_order": False, "shape": (3,)})",
      "{'descr':'<f4','fortran_order':False,'shape':(3,)}",
      "{'shape': (3,), 'fortran_order': False, 'descr': '<f4'}",
      "{'fortran_order': False, 'descr': '<f4', 'shape': (3,)}",
      "\n\t{'descr': '<f4',\n 'fortran_order' : False , 'shape':\r\n( 3 , )\t}\n\n",
      "{'descr': '<f4', # little-endian\n 'fortran_order': False, 'shape': (3,)} # the end\n",
      "{'descr': '<f4', \\\n'fortran_order': False, 'shape': (3,)}",
      "{u'descr': u'<f4', r'fortran_order': False, '''shape''': (3,)}",
      "{'des' \"cr\": '<f' '4', 'fortran_order': False, 'shape': (3,)}",
      R"({'d\x65scr': '\x3cf4', 'fortran_order': False, 'shape': (3,)})",
      "({'descr': ('<f4'), 'fortran_order': (False), 'shape': ((3),)})",
      "{'descr': '<i8', 'fortran_order': True, 'shape': (2,), 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (+3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (0x3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (0b1_1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (0O3,)}",
  };
  const std::string elements = raw(std::vector<float>{1, 2, 3});
  for (const std::string header : headers) {
    INFO(header);
    const temporary_file one(std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header + elements),
        three(std::string("\x93NUMPY\x03\x00", 8) + char(header.size()) + std::string(3, '\0') + header + elements);
    CHECK(test::equal(ca::load<float>(one.path()), {3}, std::vector<float>{1, 2, 3}));
    CHECK(test::equal(ca::load<float>(three.path()), {3}, std::vector<float>{1, 2, 3}));
  }
  const auto shape_of = [&](const std::string& s) {
    const temporary_file f(start(dictionary("|u1", "False", s)) + std::string(24, '\0'));
    return ca::load<ca::uint8>(f.path()).shape();
  };
  CHECK(shape_of("(2L, 3L)") == ca::shape{2, 3});
  CHECK(shape_of("(2,3,4)") == ca::shape{2, 3, 4});
  CHECK(shape_of("(2,3,4,)") == ca::shape{2, 3, 4});
  CHECK(shape_of("( )") == ca::shape{});
  CHECK(shape_of("(00, -0, 1_0)") == ca::shape{0, 0, 10});
  CHECK(shape_of("(0, 36028797018963967)") == ca::shape{0, 36028797018963967});
}

namespace {

template <class T>
void reads(std::initializer_list<const char*> names) {
  std::string elements(2 * sizeof(T), '\0');
  const T one(1);
  std::memcpy(elements.data(), &one, sizeof(T));
  for (const char* name : names) {
    INFO(name);
    const temporary_file f(start(dictionary(name, "False", "(2,)")) + elements);
    const ca::ndarray<T, ca::cpu> a = ca::load<T, ca::cpu>(f.path());
    CHECK(bool(a.at(0) == T(1)));
    CHECK(bool(a.at(1) == T(0)));
  }
}

}  // namespace

TEST_CASE("npy: the names of dtypes") {
  // np.dtype of each is that dtype, on 64-bit Linux
  reads<ca::int8>({"|i1", "<i1", "=i1", ">i1", "i1", "b", "int8", "byte"});
  reads<ca::uint8>({"|u1", "<u1", "=u1", ">u1", "u1", "B", "uint8", "ubyte"});
  reads<ca::int16>({"<i2", "=i2", "|i2", "i2", "h", "<h", "int16", "short"});
  reads<ca::uint16>({"<u2", "=u2", "H", "uint16"});
  reads<ca::int32>({"<i4", "=i4", "i", "int32", "intc"});
  reads<ca::uint32>({"<u4", "=u4", "I", "uint32"});
  reads<ca::int64>({"<i8", "=i8", "l", "q", "p", "n", "int64", "int", "int_", "long"});
  reads<ca::uint64>({"<u8", "=u8", "L", "Q", "uint64", "uint"});
  reads<float>({"<f4", "=f4", "|f4", "f4", "f", "=f", "float32", "single"});
  reads<double>({"<f8", "=f8", "f8", "d", "<d", "float64", "double", "float"});
  reads<ca::float16>({"<f2", "=f2", "e", "float16", "half"});
  reads<ca::complex64>({"<c8", "=c8", "F", "complex64", "csingle"});
  reads<ca::complex128>({"<c16", "=c16", "D", "complex128", "complex"});
  reads<bool>({"|b1", "<b1", "=b1", ">b1", "b1", "?", "|?", "bool", "bool_"});
}

TEST_CASE("npy: the most significant byte first") {
  const auto file = [](const char* descr, const std::string& elements) {
    return start(dictionary(descr, "False", "(2,)")) + elements;
  };
  // np.array([1, -2], '>i4').tobytes() and so on
  const temporary_file i2(file(">i2", std::string("\x00\x01\xff\xfe", 4))),
      i4(file(">i4", std::string("\x00\x00\x00\x01\xff\xff\xff\xfe", 8))),
      u8(file(">u8", std::string("\x00\x00\x00\x00\x00\x00\x01\x02\x80\x00\x00\x00\x00\x00\x00\x00", 16))),
      f2(file(">f2", std::string("\x3c\x00\xc1\x00", 4))),
      f4(file(">f4", std::string("\x3f\x80\x00\x00\xc0\x20\x00\x00", 8))),
      f8(file(">d", std::string("\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x04\x00\x00\x00\x00\x00\x00", 16))),
      c8(file(">c8", std::string("\x3f\x80\x00\x00\xc0\x20\x00\x00\x00\x00\x00\x00\x3f\x80\x00\x00", 16)));
  CHECK(test::equal(ca::load<ca::int16>(i2.path()), {2}, std::vector<int>{1, -2}));
  CHECK(test::equal(ca::load<int>(i4.path()), {2}, std::vector<int>{1, -2}));
  CHECK(raw(ca::eval(ca::load<ca::uint64>(u8.path()))) == raw(std::vector<ca::uint64>{258, ca::uint64(1) << 63}));
  CHECK(test::equal(ca::load<ca::float16>(f2.path()), {2}, std::vector<double>{1, -2.5}));
  CHECK(test::equal(ca::load<float>(f4.path()), {2}, std::vector<double>{1, -2.5}));
  CHECK(test::equal(ca::load<double>(f8.path()), {2}, std::vector<double>{1, -2.5}));
  CHECK(raw(ca::eval(ca::load<ca::complex64>(c8.path()))) ==
        raw(std::vector<ca::complex64>{ca::complex64(1, -2.5f), ca::complex64(0, 1)}));
  // np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], '>i2'))
  const temporary_file turned(start(dictionary(">i2", "True", "(2, 3)")) +
                              std::string("\x00\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06", 12));
  CHECK(test::equal(ca::load<ca::int16>(turned.path()), {2, 3}, std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST_CASE("npy: any byte that is not 0 is true") {
  const temporary_file f(start(dictionary("|b1", "False", "(6,)")) + std::string("\x00\x01\x02\xff\x03\x00", 6));
  const auto a = ca::load<bool>(f.path());
  CHECK(raw(ca::eval(a)) == std::string("\x00\x01\x01\x01\x01\x00", 6));
  CHECK(ca::sum(a).item() == 4);
  CHECK(ca::sum(~a).item() == 2);
  CHECK(ca::argmax(a).item() == 1);
  CHECK(test::equal(ca::astype<int>(a), {6}, std::vector<int>{0, 1, 1, 1, 1, 0}));
  CHECK(test::equal(a == true, {6}, std::vector<int>{0, 1, 1, 1, 1, 0}));
  CHECK(test::equal(ca::flatnonzero(a), {4}, std::vector<int>{1, 2, 3, 4}));
  // every byte, at every place of a pack, in both orders
  std::string bytes, truth;
  for (int i = 0; i < 3 * 257; ++i) {
    bytes += char(i % 256);
    truth += char(i % 256 != 0);
  }
  for (const std::size_t n : {1, 15, 16, 17, 63, 64, 65, 255, 771}) {
    INFO(n);
    const std::string extents = "(" + std::to_string(n) + ", 1)", given = bytes.substr(771 - n);
    const temporary_file c(start(dictionary("|b1", "False", extents)) + given),
        t(start(dictionary("|b1", "True", extents)) + given);
    CHECK(raw(ca::eval(ca::load<bool>(c.path()))) == truth.substr(771 - n));
    CHECK(raw(ca::eval(ca::load<bool>(t.path()))) == truth.substr(771 - n));
  }
}

TEST_CASE("npy: booleans are written as 0 and 1") {
  unsigned char bytes[] = {0, 1, 2, 255, 3, 0};
  const auto a = ca::from_pointer<bool, ca::cpu>(reinterpret_cast<bool*>(bytes), {6});
  const temporary_file f;
  ca::save(f.path(), a);
  CHECK(f.bytes().substr(128) == std::string("\x00\x01\x01\x01\x01\x00", 6));
  CHECK(bytes[3] == 255);  // the caller's memory stays as it is
}

TEST_CASE("npy: what follows the elements is not looked at") {
  const temporary_file f(start(dictionary("<f4", "False", "(2,)")) + raw(std::vector<float>{1, 2}) + "more");
  CHECK(test::equal(ca::load<float>(f.path()), {2}, std::vector<float>{1, 2}));
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
    const std::pair<std::size_t, const char*> cuts[] = {
        {0, "0 of the 8 bytes of magic and version"},      {7, "7 of the 8 bytes of magic and version"},
        {9, "1 of the 2 bytes of the header's length"},    {11, "1 of the 118 bytes of the header"},
        {127, "117 of the 118 bytes of the header"},       {128, "0 of the 8 bytes of shape (2,) of float32"},
        {135, "7 of the 8 bytes of shape (2,) of float32"}};
    for (const auto& [n, found] : cuts) {
      const temporary_file f(whole.substr(0, n));
      CHECK(load(f) == f.says("the file ends too early: ") + found);
    }
  }
  SECTION("another magic") {
    std::string s = whole;
    s[0] = 'N';
    const temporary_file f(s), zip("PK\x03\x04 an .npz is a zip archive");
    CHECK(load(f) == f.says(R"(not a .npy file: it begins with "NNUMPY", where "\x93NUMPY" is read)"));
    CHECK(
        load(zip) ==
        zip.says(
            R"(not a .npy file: it begins with "PK\x03\x04 a", where "\x93NUMPY" is read; ca::npz_file reads .npz files)"));
  }
  SECTION("another version") {
    for (const int version : {0x0000, 0x0400, 0xff00, 0x0101}) {
      std::string s = whole;
      s[6] = char(version >> 8);
      s[7] = char(version & 255);
      const temporary_file f(s);
      CHECK(load(f) == f.says("a .npy file of version ") + std::to_string(version >> 8) + "." +
                           std::to_string(version & 255) + "; 1.0, 2.0 and 3.0 are read");
    }
  }
  SECTION("another dtype") {
    const temporary_file f(whole);
    CHECK(test::thrown<ca::dtype_error>([&] { ca::load<double>(f.path()); }) ==
          f.says("the file holds <f4, not <f8 (float64)"));
    CHECK(test::thrown<ca::dtype_error>([&] { ca::load<ca::uint8>(f.path()); }) ==
          f.says("the file holds <f4, not |u1 (uint8)"));
    const auto holds = [](const std::string& descr) {
      const temporary_file other(start("{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }") +
                                 raw(std::vector<float>{1, 2}));
      return test::thrown<ca::dtype_error>([&] { ca::load<float>(other.path()); }).substr(other.path().size());
    };
    CHECK(holds("'>f8'") == ": the file holds >f8, not <f4 (float32)");
    CHECK(holds("'<M8[ns]'") == ": the file holds <M8[ns], not <f4 (float32)");
    CHECK(holds("'|S4'") == ": the file holds |S4, not <f4 (float32)");
    CHECK(holds("'<f16'") == ": the file holds <f16, not <f4 (float32)");
    CHECK(holds("'b'") == ": the file holds b, not <f4 (float32)");
    CHECK(holds("''") == ": the file holds , not <f4 (float32)");
    CHECK(holds("'<float32'") == ": the file holds <float32, not <f4 (float32)");  // nor has np.dtype
    CHECK(holds("'|O'") == ": the file holds |O (objects of Python's: pickles are not read), not <f4 (float32)");
    CHECK(holds("[('a', '<f4')]") ==
          ": the file holds [('a', '<f4')] (a structured dtype: records are not read), not <f4 (float32)");
    CHECK(holds("('<f4', (2,))") == ": the file holds ('<f4', (2,)) (no dtype's name), not <f4 (float32)");
    CHECK(holds("b'<f4'") == ": the file holds b'<f4' (no dtype's name), not <f4 (float32)");
    CHECK(holds("None") == ": the file holds None (no dtype's name), not <f4 (float32)");
  }
  const auto says = [&](const std::string& header) {
    const temporary_file f(start(header) + raw(std::vector<float>{1, 2}));
    return load(f).substr(f.path().size() + 2);
  };
  SECTION("other keys") {
    const std::string read = "; a dictionary of 'descr', 'fortran_order' and 'shape' is read";
    CHECK(says("{'descr': '<f4', 'fortran_order': False, }") ==
          "a malformed header: it lacks 'shape': {'descr': '<f4', 'fortran_order': False, }" + read);
    CHECK(says("{'descr': '<f4', 'shape': (2,)}") ==
          "a malformed header: it lacks 'fortran_order': {'descr': '<f4', 'shape': (2,)}" + read);
    CHECK(says("{}") == "a malformed header: it lacks 'descr': {}" + read);
    CHECK(says("('descr', '<f4')") == "a malformed header: it lacks 'descr': ('descr', '<f4')" + read);
    CHECK(says("[{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}]") ==
          "a malformed header: [{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}]" + read);
    CHECK(says("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': {}}") ==
          "a malformed header: it has the key 'x'" + read);
    CHECK(says("{b'descr': '<f4'}") == "a malformed header: it has the key b'descr'" + read);
    CHECK(says("{1: '<f4'}") == "a malformed header: it has the key 1" + read);
    CHECK(says("{'descr': {'shape': 1}, 'fortran_order': False}").find("a malformed header: it lacks 'shape'") == 0);
  }
  SECTION("no literal of Python's") {
    const auto at = [&](const std::string& header, const std::string& what) {
      return says(header).find(what) != std::string::npos;
    };
    CHECK(says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, x)}") ==
          "a malformed header: \"x)}" + std::string(17, ' ') + "\" stands at byte 54, where a value is read");
    CHECK(at("{'descr': '<f4' 'fortran_order': False}", "stands at byte 31, where ',' or '}' is read"));
    CHECK(at("{'descr'}", "stands at byte 8, where ':' is read"));
    CHECK(at("{'descr': '<f4}", "stands at byte 117, where the end of a string is read"));
    CHECK(at("{'descr': (1 2)}", "stands at byte 13, where ',' or ')' is read"));
    CHECK(at("{'descr': [1 2]}", "stands at byte 13, where ',' or ']' is read"));
    CHECK(at("{'shape': (2,,)}", "stands at byte 13, where a value is read"));
    CHECK(at("{'shape': (,)}", "stands at byte 11, where a value is read"));
    CHECK(at("{} x", "stands at byte 3, where the end of the header is read"));
    CHECK(at("{'shape': (", "it ends at byte 118, where a value is read"));
    CHECK(at("", "it ends at byte 118, where a value is read"));
    CHECK(at(std::string(33, '('), "stands at byte 32, where less than 33 brackets within each other is read"));
    CHECK(at(std::string("{}\0", 3), "\"\\x00"));
  }
  SECTION("an order of something else") {
    for (const std::string order : {"0", "None", "'False'", "(True,)"})
      CHECK(says(dictionary("<f4", order, "(2,)")) ==
            "a malformed header: 'fortran_order' is " + order + "; True or False is read");
  }
  SECTION("a shape of something else") {
    const auto shaped = [&](const std::string& s) { return says(dictionary("<f4", "False", s)); };
    for (const std::string s : {"2", "(2)", "[2]", "(2.0,)", "(02,)", "(True,)", "('2',)", "((2,), 3)", "(2l,)",
                                "(2LL,)", "(0x,)", "(2_,)", "(2__0,)", "(1e3,)", "{}"})
      CHECK(shaped(s) == "a malformed shape: " + s + "; a tuple of integers is read");
    for (const std::string s : {"(-2,)", "(0, -1)", "(- 3, 0)"})
      CHECK(shaped(s) == "a malformed shape: " + s + "; extents of at least 0 are read");
    for (const std::string s : {"(4294967296, 4294967296)", "(9223372036854775808,)", "(99999999999999999999,)",
                                "(36028797018963968,)", "(0, 4294967296, 4294967296)", "(0xFFFFFFFFFFFFFFFFFF, 2)"})
      CHECK(shaped(s) == "a malformed shape: " + s + "; less than 2^55 elements are read");
    CHECK(shaped("(1, 1, 1, 1, 1, 1, 1, 1, 1)") == "9 axes, (1, 1, 1, 1, 1, 1, 1, 1, 1); at most 8 are read");
  }
  SECTION("more elements than the file has are not allocated") {
    const ca::int64 peak = ca::memory_stats<ca::cpu>().peak;
    CHECK(says(dictionary("<f4", "False", "(1000000, 1000000)")) ==
          "the file ends too early: 8 of the 4000000000000 bytes of shape (1000000, 1000000) of float32");
    CHECK(says(dictionary("<f4", "False", "(36028797018963967,)")) ==
          "the file ends too early: 8 of the 144115188075855868 bytes of shape (36028797018963967,) of float32");
    CHECK(ca::memory_stats<ca::cpu>().peak == peak);
  }
  SECTION("a header longer than any") {
    const temporary_file f(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12));
    CHECK(load(f) == f.says("a header of 4294967295 bytes; at most 1048576 (1 MiB) are read"));
  }
  SECTION("a folder") {
    CHECK(test::thrown<ca::io_error>([] { ca::load<float>("/tmp"); }) == "/tmp: Is a directory");
  }
}
