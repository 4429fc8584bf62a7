// Printing; expected texts are what str() of NumPy 2.4 gives.
// SPDX-License-Identifier: MIT
#include <clocale>
#include <locale>
#include <sstream>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using floats = std::vector<float>;
using complexes = std::vector<ca::complex128>;
using c = ca::complex128;

template <class T>
std::string row(const std::vector<T>& v) {
  return ca::to_string(ca::array(v));
}
std::string doubles(const std::vector<double>& v) { return row(v); }
template <class T>
std::string halves(const std::vector<float>& v) {
  return ca::to_string(ca::astype<T>(ca::array(v)));
}
/// As a 0-d array.
template <class T>
std::string alone(T v) {
  return ca::to_string(ca::array(std::vector<T>{v})(0));
}

/// A locale with a decimal comma for the scope, if the machine has one.
struct decimal_comma {
  bool found = false;
  decimal_comma() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "es_ES.UTF-8"})
      if ((found = std::setlocale(LC_ALL, name) != nullptr && std::localeconv()->decimal_point[0] == ',')) break;
  }
  ~decimal_comma() { std::setlocale(LC_ALL, "C"); }
};
/// What a program imbues a stream with.
struct comma_point : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

}  // namespace

TEST_CASE("print: integers and bools line up on the right") {
  CHECK(ca::to_string(ca::array<int>({{1, -20}, {300, 4}})) == "[[  1 -20]\n [300   4]]");
  CHECK(ca::to_string(ca::array<bool>({true, false})) == "[ True False]");
  CHECK(ca::to_string(ca::array<bool>({{true, false}, {true, true}})) == "[[ True False]\n [ True  True]]");
  CHECK(ca::to_string(ca::array<ca::int8>({-128, 127})) == "[-128  127]");
  CHECK(ca::to_string(ca::array<ca::uint64>({UINT64_MAX})) == "[18446744073709551615]");
  CHECK(ca::to_string(ca::array<ca::uint8>({65, 66})) == "[65 66]");
  CHECK(ca::to_string(ca::array<ca::int64>({INT64_MIN, INT64_MAX})) == "[-9223372036854775808  9223372036854775807]");
  CHECK(ca::to_string(ca::array<bool>({true, true})) == "[ True  True]");
  CHECK(ca::to_string(ca::array<bool>({{true}, {true}})) == "[[ True]\n [ True]]");
}

TEST_CASE("print: floats line up at the point") {
  CHECK(ca::to_string(ca::array(floats{1, 2.5f, -3})) == "[ 1.   2.5 -3. ]");
  CHECK(ca::to_string(ca::array<float>({{1, 2, 3}, {4, 5, 6}})) == "[[1. 2. 3.]\n [4. 5. 6.]]");
  CHECK(ca::to_string(ca::array(floats{-1.5f, 10.25f})) == "[-1.5  10.25]");
  CHECK(ca::to_string(ca::array(floats{1, NAN, INFINITY, -INFINITY})) == "[  1.  nan  inf -inf]");
  CHECK(ca::to_string(ca::array(floats{NAN})) == "[nan]");
  CHECK(ca::to_string(ca::array(floats{-0.f, 1})) == "[-0.  1.]");
  CHECK(ca::to_string(ca::zeros({2, 2})) == "[[0. 0.]\n [0. 0.]]");
  CHECK(ca::to_string(ca::array(floats{1.f / 3, 2.f / 3})) == "[0.33333334 0.6666667 ]");
  CHECK(ca::to_string(ca::array<double>({1. / 3, 1})) == "[0.33333333 1.        ]");
  CHECK(ca::to_string(ca::array<ca::float16>({0.1, 2})) == "[0.1 2. ]");
}

TEST_CASE("print: at most 8 digits after the point, without zeros at their end") {
  CHECK(doubles({1.00000000123}) == "[1.]");
  CHECK(doubles({1.00000000123, 2.5}) == "[1.  2.5]");
  CHECK(doubles({0.123456785, 0.1}) == "[0.12345678 0.1       ]");  // a little less than the tie it reads as
  CHECK(doubles({99999999.5}) == "[99999999.5]");
  CHECK(doubles({1. / 3, 1e-3}) == "[0.33333333 0.001     ]");
  CHECK(doubles({123456.789, -0.0625}) == "[ 1.23456789e+05 -6.25000000e-02]");
}

TEST_CASE("print: what is not finite") {
  CHECK(doubles({NAN, -INFINITY, INFINITY, -1.5}) == "[ nan -inf  inf -1.5]");
  CHECK(doubles({NAN, INFINITY}) == "[nan inf]");
  CHECK(doubles({-INFINITY, NAN}) == "[-inf  nan]");
  CHECK(doubles({1e-300, NAN}) == "[1.e-300     nan]");
  CHECK(row(floats{1e10f, -NAN, INFINITY, -INFINITY}) == "[1.e+10    nan    inf   -inf]");
}

TEST_CASE("print: scientific notation for wide ranges") {
  CHECK(row(floats{1e10f, 1}) == "[1.e+10 1.e+00]");
  CHECK(row(floats{1e-5f, 1}) == "[1.e-05 1.e+00]");
  CHECK(row(floats{1e8f}) == "[1.e+08]");
  CHECK(row(floats{99999992.f}) == "[9.999999e+07]");
  CHECK(row(floats{999999}) == "[999999.]");
  CHECK(row(floats{1e6f}) == "[1.e+06]");
  CHECK(row(floats{0.001f, 1000.5f}) == "[1.0000e-03 1.0005e+03]");
  CHECK(row(floats{1e-4f, 0.05f}) == "[0.0001 0.05  ]");
  CHECK(row(floats{9.99e-5f, 0.05f}) == "[9.99e-05 5.00e-02]");
  CHECK(row(floats{0x1p-27f, 0x1p-24f}) == "[7.4505806e-09 5.9604645e-08]");  // digits of the value, not zeros
  CHECK(doubles({1e-4, 0.05}) == "[0.0001 0.05  ]");
  CHECK(doubles({1e8}) == "[1.e+08]");
  CHECK(doubles({1, 1000}) == "[   1. 1000.]");
  CHECK(doubles({1, 1000.0001}) == "[1.0000000e+00 1.0000001e+03]");
  CHECK(doubles({1e100, 1}) == "[1.e+100 1.e+000]");
  CHECK(doubles({0, 5e-324}) == "[0.e+000 5.e-324]");
  CHECK(doubles({1.7976931348623157e308, 1}) == "[1.79769313e+308 1.00000000e+000]");
}

TEST_CASE("print: 16-bit floats with the fewest digits of their own type") {
  CHECK(halves<ca::float16>({0.1f, 2}) == "[0.1 2. ]");
  CHECK(halves<ca::float16>({1, 3.f / 7}) == "[1.     0.4285]");
  CHECK(halves<ca::float16>({999.5f}) == "[999.5]");
  CHECK(halves<ca::float16>({1000}) == "[1.e+03]");
  CHECK(halves<ca::float16>({65504}) == "[6.55e+04]");
  CHECK(halves<ca::float16>({0x1p-6f, 2048}) == "[1.563e-02 2.048e+03]");
  CHECK(halves<ca::float16>({6e-8f}) == "[6.e-08]");
  // NumPy has no bfloat16: neighbours of 0.1 are 0.0996 and 0.1006, those of 3.14 3.125 and 3.156
  CHECK(halves<ca::bfloat16>({0.1f, 3.140625f}) == "[0.1  3.14]");
  CHECK(halves<ca::bfloat16>({0x1p-119f}) == "[1.51e-36]");  // 1.5046e-36: 1.50e-36 is the neighbour below
}

TEST_CASE("print: complex numbers") {
  CHECK(ca::to_string(ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(0, -1.5f)})) == "[1.+2.j  0.-1.5j]");
  CHECK(ca::to_string(ca::array<ca::complex64>({ca::complex64(3, -0.f)})) == "[3.-0.j]");
  CHECK(row(complexes{{1, 2}, {-10.25, -1.5}}) == "[  1.  +2.j  -10.25-1.5j]");
  CHECK(row(complexes{{0.1, 0.2}, {1. / 3, -2. / 3}}) == "[0.1       +0.2j        0.33333333-0.66666667j]");
  CHECK(row(complexes{{1e-9, 1}}) == "[1.e-09+1.j]");
  CHECK(row(complexes{{1e200, 1e-9}, {1, 0}}) == "[1.e+200+1.e-09j 1.e+000+0.e+00j]");
  CHECK(row(complexes{{1, NAN}, {INFINITY, -2.5}}) == "[ 1.+nanj inf-2.5j]");
  CHECK(row(complexes{{NAN, -INFINITY}}) == "[nan-infj]");
  CHECK(ca::to_string(ca::array<ca::complex64>(
            {{ca::complex64(1, 1e-5f), ca::complex64(2.5f, -3)}, {ca::complex64(100.25f, 7), ca::complex64(-1, 0)}})) ==
        "[[  1.  +1.e-05j   2.5 -3.e+00j]\n [100.25+7.e+00j  -1.  +0.e+00j]]");
  complexes long_row;
  for (int i = 0; i < 12; ++i) long_row.push_back({1.5 * i, -0.25 * i + 0.});
  CHECK(row(long_row) ==
        "[ 0. +0.j    1.5-0.25j  3. -0.5j   4.5-0.75j  6. -1.j    7.5-1.25j\n"
        "  9. -1.5j  10.5-1.75j 12. -2.j   13.5-2.25j 15. -2.5j  16.5-2.75j]");
}

TEST_CASE("print: one number has all the digits it needs") {
  CHECK(alone(1. / 3) == "0.3333333333333333");
  CHECK(alone(0.1) == "0.1");
  CHECK(alone(0.30000000000000004) == "0.30000000000000004");
  CHECK(alone(1e15) == "1000000000000000.0");
  CHECK(alone(9999999999999998.) == "9999999999999998.0");
  CHECK(alone(1e16) == "1e+16");
  CHECK(alone(123456789.125) == "123456789.125");
  CHECK(alone(1e-4) == "0.0001");
  CHECK(alone(9.9e-5) == "9.9e-05");
  CHECK(alone(-0.) == "-0.0");
  CHECK(alone(5e-324) == "5e-324");
  CHECK(alone(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(alone(1e23) == "1e+23");
  CHECK(alone(double(-INFINITY)) == "-inf");
  CHECK(alone(999999.f) == "999999.0");
  CHECK(alone(1e6f) == "1e+06");
  CHECK(alone(16777216.f) == "1.6777216e+07");
  CHECK(alone(1e-4f) == "1e-04");
  CHECK(alone(1e-45f) == "1e-45");
  CHECK(alone(ca::float16(0.1f)) == "0.1");
  CHECK(alone(ca::float16(999.5f)) == "999.5");
  CHECK(alone(ca::float16(1000.f)) == "1e+03");
  CHECK(alone(ca::float16(1e-4f)) == "0.0001");
  CHECK(alone(c(1, 2)) == "(1+2j)");
  CHECK(alone(c(0, 2)) == "2j");
  CHECK(alone(c(-0., 2)) == "(-0+2j)");
  CHECK(alone(c(0, -0.)) == "-0j");
  CHECK(alone(c(NAN, INFINITY)) == "(nan+infj)");
  CHECK(alone(c(0, NAN)) == "nanj");
  CHECK(alone(c(1.5, 0.25)) == "(1.5+0.25j)");
  CHECK(alone(c(1e15, -0.1)) == "(1000000000000000-0.1j)");
  CHECK(alone(c(1e16, 1e-5)) == "(1e+16+1e-05j)");
  CHECK(alone(ca::complex64(1e6f, 0.1f)) == "(1e+06+0.1j)");
  CHECK(alone(ca::int8(-128)) == "-128");
}

TEST_CASE("print: 0-d and empty") {
  CHECK(ca::to_string(ca::full({}, 2.5)) == "2.5");
  CHECK(ca::to_string(ca::full({}, 2)) == "2.0");
  CHECK(ca::to_string(ca::full({}, 1.f / 3)) == "0.33333334");
  CHECK(ca::to_string(ca::full<int>({}, 7)) == "7");
  CHECK(ca::to_string(ca::full<bool>({}, true)) == "True");
  CHECK(ca::to_string(ca::full({}, NAN)) == "nan");
  CHECK(ca::to_string(ca::zeros({0})) == "[]");
  CHECK(ca::to_string(ca::zeros({2, 0})).find("[]") == 0);
}

TEST_CASE("print: several axes") {
  CHECK(ca::to_string(ca::reshape(ca::arange(8), {2, 2, 2})) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(ca::to_string(ca::reshape(ca::arange(4), {1, 2, 1, 2})) == "[[[[0 1]]\n\n  [[2 3]]]]");
}

TEST_CASE("print: views and expressions") {
  const auto a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
  CHECK(ca::to_string(a.t()) == "[[1. 4.]\n [2. 5.]\n [3. 6.]]");
  CHECK(ca::to_string(ca::arange(5)(slice(none, none, -1))) == "[4 3 2 1 0]");
  CHECK(ca::to_string(a(_, slice(none, none, -2)) * 2) == "[[ 6.  2.]\n [12.  8.]]");
  CHECK(ca::to_string(ca::sum(a, 0)) == "[5. 7. 9.]");
  CHECK(ca::to_string(ca::broadcast_to(ca::array<int>({1, 2}), {2, 2})) == "[[1 2]\n [1 2]]");
}

TEST_CASE("print: long rows are broken at 75 columns") {
  CHECK(ca::to_string(ca::arange(30)) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]");
  CHECK(ca::to_string(ca::astype<float>(ca::arange(20)) / 4) ==
        "[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25\n"
        " 3.5  3.75 4.   4.25 4.5  4.75]");
  CHECK(ca::to_string(ca::arange(1000000, 1000009)) ==
        "[1000000 1000001 1000002 1000003 1000004 1000005 1000006 1000007 1000008]");
  CHECK(ca::to_string(ca::reshape(ca::arange(1000, 1040), {2, 20})) ==
        "[[1000 1001 1002 1003 1004 1005 1006 1007 1008 1009 1010 1011 1012 1013\n"
        "  1014 1015 1016 1017 1018 1019]\n"
        " [1020 1021 1022 1023 1024 1025 1026 1027 1028 1029 1030 1031 1032 1033\n"
        "  1034 1035 1036 1037 1038 1039]]");
  std::vector<double> uneven;
  for (int i = 0; i < 16; ++i) uneven.push_back(i % 2 == 0 ? i + 0.123456 : i);
  CHECK(row(uneven) ==
        "[ 0.123456  1.        2.123456  3.        4.123456  5.        6.123456\n"
        "  7.        8.123456  9.       10.123456 11.       12.123456 13.\n"  // no spaces at the ends of lines
        " 14.123456 15.      ]");
}

TEST_CASE("print: more than 1000 elements are summarised") {
  CHECK(ca::to_string(ca::arange(1001)) == "[   0    1    2 ...  998  999 1000]");
  CHECK(ca::to_string(ca::reshape(ca::arange(2000), {40, 50})) ==
        "[[   0    1    2 ...   47   48   49]\n"
        " [  50   51   52 ...   97   98   99]\n"
        " [ 100  101  102 ...  147  148  149]\n"
        " ...\n"
        " [1850 1851 1852 ... 1897 1898 1899]\n"
        " [1900 1901 1902 ... 1947 1948 1949]\n"
        " [1950 1951 1952 ... 1997 1998 1999]]");
  CHECK(ca::to_string(ca::reshape(ca::arange(1200), {2, 2, 300})) ==
        "[[[   0    1    2 ...  297  298  299]\n"
        "  [ 300  301  302 ...  597  598  599]]\n"
        "\n"
        " [[ 600  601  602 ...  897  898  899]\n"
        "  [ 900  901  902 ... 1197 1198 1199]]]");
}

TEST_CASE("print: what is not shown has no say") {
  std::vector<double> v(1200, 1.);
  v[5] = 1e9;
  CHECK(doubles(v) == "[1. 1. 1. ... 1. 1. 1.]");
  v[2] = NAN;
  CHECK(doubles(v) == "[ 1.  1. nan ...  1.  1.  1.]");
  CHECK(ca::to_string(ca::reshape(ca::astype<double>(ca::arange(1200)) / 8, {2, 600})) ==
        "[[0.00000e+00 1.25000e-01 2.50000e-01 ... 7.46250e+01 7.47500e+01\n"
        "  7.48750e+01]\n"
        " [7.50000e+01 7.51250e+01 7.52500e+01 ... 1.49625e+02 1.49750e+02\n"
        "  1.49875e+02]]");
}

TEST_CASE("print: streams") {
  std::ostringstream s;
  s << ca::array<int>({1, 2}) << '\n' << (ca::array<int>({1, 2}) + 1) << ca::arange(1)(0);
  CHECK(s.str() == "[1 2]\n[2 3]0");
  std::ostringstream german;
  german.imbue(std::locale(std::locale::classic(), new comma_point));
  german << 0.5 << ' ' << ca::array(floats{0.5f, 1}) << ' ' << ca::full({}, 0.5);
  CHECK(german.str() == "0,5 [0.5 1. ] 0.5");
}

TEST_CASE("print: the locale of the program changes no text") {
  const decimal_comma here;
  if (!here.found) {
    WARN(
        "this machine has no locale with a decimal comma: not tested here (scripts/check-layers looks at the sources)");
    return;
  }
  CHECK(row(floats{1, 2.5f, 1000000}) == "[1.0e+00 2.5e+00 1.0e+06]");
  CHECK(doubles({0.5, 1. / 3}) == "[0.5        0.33333333]");
  CHECK(halves<ca::float16>({0.1f, 2}) == "[0.1 2. ]");
  CHECK(halves<ca::bfloat16>({0.1f, 2}) == "[0.1 2. ]");
  CHECK(row(complexes{{0.5, -1.5}}) == "[0.5-1.5j]");
  CHECK(ca::to_string(ca::array<int>({1234567, 1})) == "[1234567       1]");
  CHECK(alone(0.1) == "0.1");
  CHECK(test::thrown<ca::value_error>([] { ca::random::normal({2}, 0, -1234.5f); }) ==
        "random::normal: scale -1234.5 is negative");
}
