// loadtxt and savetxt: what NumPy makes of the same texts.
// SPDX-License-Identifier: MIT
#include "io/files.hpp"

using test::golden_bytes;
using test::temporary_file;
using test::thrown;

namespace {
template <class T = double>
ca::ndarray<T> read(const std::string& text, const ca::loadtxt_options& o = {}) {
  return ca::loadtxt<T>(temporary_file(text).path(), o);
}
template <class T = double>
std::string refusal(const std::string& text, const ca::loadtxt_options& o = {}) {
  const temporary_file t(text);
  const std::string says = thrown<ca::io_error>([&] { ca::loadtxt<T>(t.path(), o); }), start = t.says("");
  return says.find(start) == 0 ? says.substr(start.size()) : says;
}
template <class X>
std::string written(const X& x, const ca::savetxt_options& o = {}) {
  const temporary_file t;
  ca::savetxt(t.path(), x, o);
  return t.bytes();
}
}  // namespace

TEST_CASE("loadtxt: shapes") {
  CHECK(test::equal(read("1 2\n3 4"), {2, 2}, std::vector<int>{1, 2, 3, 4}));
  CHECK(test::equal(read("1\n2\n3\n"), {3}, std::vector<int>{1, 2, 3}));
  CHECK(test::equal(read("1 2 3"), {3}, std::vector<int>{1, 2, 3}));
  CHECK(test::equal(read("5"), {}, std::vector<int>{5}));
  CHECK(test::equal(read("5", {.ndmin = 1}), {1}, std::vector<int>{5}));
  CHECK(test::equal(read("5", {.ndmin = 2}), {1, 1}, std::vector<int>{5}));
  CHECK(test::equal(read("1\n2", {.ndmin = 2}), {2, 1}, std::vector<int>{1, 2}));
  CHECK(read("").shape() == ca::shape{0});
  CHECK(read("", {.ndmin = 2}).shape() == ca::shape{0, 1});
  CHECK(read("", {.usecols = {0, 1}, .ndmin = 2}).shape() == ca::shape{0, 2});
  CHECK(test::equal(read("1::2::3", {.delimiter = "::"}), {3}, std::vector<int>{1, 2, 3}));
}

TEST_CASE("loadtxt: lines, comments, columns") {
  CHECK(test::equal(read("# x\n\n1 2 # y\n   \n"), {2}, std::vector<int>{1, 2}));
  CHECK(test::equal(read("1\t2\r\n3   4\r"), {2, 2}, std::vector<int>{1, 2, 3, 4}));
  CHECK(test::equal(read("1, 2\n 3 ,4", {.delimiter = ","}), {2, 2}, std::vector<int>{1, 2, 3, 4}));
  CHECK(test::equal(read("1;2", {.delimiter = ";"}), {2}, std::vector<int>{1, 2}));
  CHECK(test::equal(read("a b\n1 2", {.skiprows = 1}), {2}, std::vector<int>{1, 2}));
  CHECK(test::equal(read("1 2\n3 4\n5 6", {.max_rows = 2}), {2, 2}, std::vector<int>{1, 2, 3, 4}));
  CHECK(test::equal(read("1 2 3\n4 5 6", {.usecols = {2, 0}}), {2, 2}, std::vector<int>{3, 1, 6, 4}));
  CHECK(test::equal(read("1 2 3\n4 5 6", {.usecols = {-2}}), {2}, std::vector<int>{2, 5}));
  CHECK(test::equal(read("1 2 3\n4 5", {.usecols = {0, 1}}), {2, 2}, std::vector<int>{1, 2, 4, 5}));
  CHECK(test::equal(read("1 % x\n2", {.comments = "%"}), {2}, std::vector<int>{1, 2}));
  const temporary_file numpy(golden_bytes("text.txt"));
  CHECK(ca::array_equal(ca::loadtxt(numpy.path()), ca::reshape(ca::arange(12.f), {3, 4}) / 8));
}

TEST_CASE("loadtxt: numbers") {
  CHECK(test::equal(read("+1 -2 1e3 nan inf -inf 1e400 -1e400 1e-400 infinity NaN"), {11},
                    std::vector<double>{1, -2, 1000, NAN, INFINITY, -INFINITY, INFINITY, -INFINITY, 0, INFINITY, NAN}));
  CHECK(test::equal(read<float>("1e39 1e-50 16777217 0.1"), {4}, std::vector<float>{INFINITY, 0, 16777216, 0.1f}));
  CHECK(test::equal(read<ca::float16>("1. 65504 0.1"), {3}, std::vector<float>{1, 65504, 0.0999755859375f}));
  CHECK(test::equal(read<ca::uint64>("18446744073709551615"), {}, std::vector<ca::uint64>{~ca::uint64(0)}));
  // rounded once: by way of float32 these would be 1, infinite and 2048
  CHECK(test::equal(read<ca::float16>("1.000488281251 65519.9999999 2049.0000001"), {3},
                    std::vector<float>{1.0009765625f, 65504, 2050}));
  const std::string zeros(400, '0');
  CHECK(test::equal(
      read("0." + zeros + "1 0." + zeros + "1e5 1" + zeros + "e-5 -1" + zeros +
           " 1e99999999999999999999 1e-99999999999999999999 123e9223372036854775807 .01e-9223372036854775808"),
      {8}, std::vector<double>{0, 0, INFINITY, -INFINITY, INFINITY, 0, INFINITY, 0}));
  CHECK(test::equal(read<ca::int8>("-128 127"), {2}, std::vector<int>{-128, 127}));
  CHECK(test::equal(read<bool>("1 0 2"), {3}, std::vector<bool>{true, false, true}));
}

TEST_CASE("loadtxt: what is wrong is said with its line") {
  CHECK(refusal("1 2\n3") == "line 2 has 1 columns, those before have 2");
  CHECK(refusal("1 2\n\n3 4 5") == "line 3 has 3 columns, those before have 2");
  CHECK(refusal("1,2,\n", {.delimiter = ","}) == "line 1: \"\" is no float64");
  CHECK(refusal("1 2,5") == "line 1: \"2,5\" is no float64");
  CHECK(refusal("1_0") == "line 1: \"1_0\" is no float64");
  CHECK(refusal("0x10") == "line 1: \"0x10\" is no float64");
  CHECK(refusal("nan(1)") == "line 1: \"nan(1)\" is no float64");
  CHECK(thrown<ca::value_error>([&] { read("1", {.ndmin = 3}); }) == "loadtxt: ndmin is 3, not 0, 1 or 2");
  CHECK(thrown<ca::value_error>([&] { read("1", {.skiprows = -1}); }) == "loadtxt: skiprows is -1");
  CHECK(thrown<ca::value_error>([&] { read("1", {.max_rows = -5}); }) ==
        "loadtxt: max_rows is -5, not a count, or -1 for all");
  CHECK(thrown<ca::value_error>([&] { read("1", {.delimiter = "#"}); }) ==
        "loadtxt: \"#\" is the delimiter, and begins comments");
  CHECK(refusal("+-1") == "line 1: \"+-1\" is no float64");
  CHECK(refusal<int>("1.5") == "line 1: \"1.5\" is no int32");
  CHECK(refusal<ca::uint8>("1\n300") == "line 2: \"300\" is no uint8");
  CHECK(refusal<ca::uint8>("-1") == "line 1: \"-1\" is no uint8");
  CHECK(refusal<bool>("True") == "line 1: \"True\" is no bool");
  CHECK(refusal("1 2 3", {.usecols = {3}}) == "line 1 has 3 columns, and no column 3");
  CHECK(refusal(std::string("1\0 2", 4)) == "line 1: \"1\\x00\" is no float64");
  CHECK(thrown<ca::io_error>([&] { ca::loadtxt("/nowhere"); }) == "/nowhere: No such file or directory");
}

TEST_CASE("loadtxt: lines across the parts in which a file is read") {
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::size_t before : {65530, 65533, 65534, 65535, 65536, 65537}) {
      INFO(end.size() << ' ' << before);
      const std::string text =
          std::string(before - 2, ' ') + "1" + end + "2" + end + std::string(70000, ' ') + "3" + end;
      CHECK(test::equal(read(text), {3}, std::vector<int>{1, 2, 3}));
    }
  std::string many;
  for (int i = 0; i < 30000; ++i) many += std::to_string(i) + ' ' + std::to_string(2 * i) + '\n';
  const auto x = read<ca::int64>(many);
  CHECK(ca::array_equal(x, ca::outer(ca::arange(30000), ca::array<ca::int64>({1, 2}))));
}

TEST_CASE("savetxt: formats") {
  const auto x = ca::array<double>({{0.1, -2.0}, {1e300, 3.25}});
  CHECK(written(x) == "0.1 -2\n1e+300 3.25\n");
  CHECK(written(ca::array<double>({{0.125, -2.0}}), {.fmt = "%.2f", .delimiter = ",", .newline = "\r\n"}) ==
        "0.12,-2.00\r\n");
  CHECK(written(ca::array<double>({1234.5}), {.fmt = "%.3e"}) == "1.234e+03\n");
  CHECK(written(ca::array<double>({1234.5}), {.fmt = "%g"}) == "1234.5\n");
  CHECK(written(ca::array<double>({1234.9}), {.fmt = "%d"}) == "1234\n");
  CHECK(written(ca::array<int>({1, -2}), {.fmt = "%.1f"}) == "1.0\n-2.0\n");
  CHECK(written(ca::array<bool>({true, false})) == "1\n0\n");
  CHECK(written(ca::astype<ca::float16>(ca::array({0.1f}))) == "0.099975586\n");
  CHECK(written(ca::array<double>({NAN, -INFINITY})) == "nan\n-inf\n");
  CHECK(written(ca::array({1, 2}), {.header = "a b"}) == "# a b\n1\n2\n");
  CHECK(written(ca::array({1, 2}), {.header = "a", .comments = ""}) == "a\n1\n2\n");
  CHECK(written(ca::zeros({0})) == "");
  CHECK(written(ca::array<double>({1.5, -22.25}), {.fmt = "%8.3f"}) == "   1.500\n -22.250\n");
  CHECK(written(ca::array<double>({1.5, -22.25}), {.fmt = "%-8.1f"}) == "1.5     \n-22.2   \n");
  CHECK(written(ca::array<double>({1.5, -2.0}), {.fmt = "%+.1f"}) == "+1.5\n-2.0\n");
  CHECK(written(ca::array<int>({5, -17}), {.fmt = "%05d"}) == "00005\n-0017\n");
  CHECK(written(ca::array({1, 2}), {.header = "a\nb"}) == "# a\n# b\n1\n2\n");
  CHECK(thrown<ca::value_error>([&] { written(ca::array<double>({NAN}), {.fmt = "%d"}); }) ==
        "savetxt: nan is no whole number for %d");
  CHECK(thrown<ca::io_error>([&] { ca::savetxt("/tmp/x.txt.gz", x); }) == "/tmp/x.txt.gz: gzipped text is not written");
  for (const char* fmt : {"%s", "d", "%", "%.d", "%.3", "%5", "%.101f", "%.3f ", "%.-1f", "%1000f"})
    CHECK(thrown<ca::value_error>([&] { written(x, {.fmt = fmt}); }).find("savetxt: the format") == 0);
  CHECK(thrown<ca::shape_error>([&] { written(ca::zeros({})); }) ==
        "savetxt: an array of shape (), not of one or two axes");
  CHECK(thrown<ca::shape_error>([&] {
          written(ca::zeros({1, 2, 3}));
        }) == "savetxt: an array of shape (1, 2, 3), not of one or two axes");
}

TEST_CASE("savetxt: what is read again is the same") {
  const ca::ndarray<float> x = ca::random::normal({50, 4});
  const ca::ndarray<double> y = ca::random::normal<double>({3000, 7});
  CHECK(ca::array_equal(read<float>(written(x.t())), x.t()));
  CHECK(ca::array_equal(read<double>(written(y)), y));
  CHECK(ca::array_equal(read<ca::bfloat16>(written(ca::astype<ca::bfloat16>(x))), ca::astype<ca::bfloat16>(x)));
}
