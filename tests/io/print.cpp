// Printing; expected texts are NumPy 1.24's str().
// SPDX-License-Identifier: MIT
#include <sstream>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using floats = std::vector<float>;

}  // namespace

TEST_CASE("print: integers and bools line up on the right") {
  CHECK(ca::to_string(ca::array<int>({{1, -20}, {300, 4}})) == "[[  1 -20]\n [300   4]]");
  CHECK(ca::to_string(ca::array<bool>({true, false})) == "[ True False]");
  CHECK(ca::to_string(ca::array<bool>({{true, false}, {true, true}})) == "[[ True False]\n [ True  True]]");
  CHECK(ca::to_string(ca::array<ca::int8>({-128, 127})) == "[-128  127]");
  CHECK(ca::to_string(ca::array<ca::uint64>({UINT64_MAX})) == "[18446744073709551615]");
  CHECK(ca::to_string(ca::array<ca::uint8>({65, 66})) == "[65 66]");
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

TEST_CASE("print: scientific notation for wide ranges") {
  CHECK(ca::to_string(ca::array(floats{1e10f, 1})) == "[1.e+10 1.e+00]");
  CHECK(ca::to_string(ca::array(floats{1e-5f, 1})) == "[1.e-05 1.e+00]");
  CHECK(ca::to_string(ca::array(floats{1e8f})) == "[1.e+08]");
  CHECK(ca::to_string(ca::array(floats{99999992.f})) == "[99999992.]");
  CHECK(ca::to_string(ca::array(floats{0.001f, 1000.5f})) == "[1.0000e-03 1.0005e+03]");
}

TEST_CASE("print: complex numbers") {
  CHECK(ca::to_string(ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(0, -1.5f)})) == "[1.+2.j  0.-1.5j]");
  CHECK(ca::to_string(ca::array<ca::complex64>({ca::complex64(3, -0.f)})) == "[3.-0.j]");
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

TEST_CASE("print: streams") {
  std::ostringstream s;
  s << ca::array<int>({1, 2}) << (ca::array<int>({1, 2}) + 1) << ca::arange(1)(0);
  CHECK(s.str() == "[1 2]\n[2 3]\n0\n");
}
