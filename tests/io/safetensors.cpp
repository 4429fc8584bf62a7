// safetensors files: those of the reference implementation are read, ours are what was written, malformed ones refused.
// SPDX-License-Identifier: MIT
#include "io/files.hpp"

using test::golden_bytes;
using test::temporary_file;
using test::thrown;

namespace {
const ca::ndarray<float> expected() { return ca::reshape(ca::arange(12.f), {3, 4}) / 8; }
/// A file of a header and so many bytes behind it.
std::string file_of(const std::string& header, std::size_t bytes) {
  std::string r;
  for (int i = 0; i < 8; ++i) r.push_back(char(header.size() >> 8 * i & 255));
  return r + header + std::string(bytes, '\1');
}
std::string refusal(const std::string& header, std::size_t bytes) {
  const temporary_file t(file_of(header, bytes));
  const std::string text = thrown<ca::io_error>([&] { ca::safetensors_file f(t.path()); });
  const std::string start = t.says("not a safetensors file that is read: "), json = t.says("a malformed JSON text ");
  return text.find(start) == 0 ? text.substr(start.size()) : text.find(json) == 0 ? text.substr(json.size()) : text;
}
}  // namespace

TEST_CASE("safetensors: as the reference implementation writes it") {
  const temporary_file t(golden_bytes("w.safetensors")), half(golden_bytes("bfloat16.safetensors"));
  ca::safetensors_file f(t.path()), h(half.path());
  auto names = f.names();
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"b", "m", "n", "s", "w"});
  CHECK(f.metadata().at("made") == "by \u00e9 \"test\"");
  CHECK((f.shape("w") == ca::shape{3, 4} && std::string(f.dtype("w")) == "float32" && !f.contains("x")));
  CHECK(ca::array_equal(f.load<float>("w"), expected()));
  CHECK(ca::array_equal(f.load<ca::int64>("b"), ca::arange(3)));
  CHECK(ca::array_equal(f.load<bool>("m"), expected() > 1));
  CHECK(f.load<ca::float16>("n").shape() == ca::shape{0, 2});
  CHECK(f.load<double>("s").item() == 2.5);
  CHECK(test::values(ca::astype<float>(h.load<ca::bfloat16>("h"))) == std::vector<float>{1, -2, 3.140625f, INFINITY});
  CHECK(thrown<ca::dtype_error>([&] { f.load<float>("b"); }) == t.says("array \"b\" holds int64, not float32"));
  CHECK(thrown<ca::io_error>([&] { h.load<float>("w"); }) == half.says("no array \"w\"; there are: h"));
}

TEST_CASE("safetensors: what was written is read") {
  const temporary_file t;
  const auto w = expected();
  ca::safetensors_writer out(t.path());
  out.metadata["format"] = "pt";
  out.add("flag", w > 1);
  out.add("layers.0.weight", ca::astype<ca::bfloat16>(w));
  out.add("a \"name\"\n\\ \u00e9", w.t());
  out.add("scalar", ca::full<ca::complex64>({}, 3));
  out.add("none", ca::zeros<double>({2, 0}));
  CHECK(thrown<ca::value_error>([&] { out.add("flag", w); }) ==
        "safetensors_writer: the name \"flag\" is there already");
  out.close();
  ca::safetensors_file f(t.path());
  CHECK(f.names().size() == 5);
  CHECK(f.metadata().at("format") == "pt");
  CHECK(ca::array_equal(f.load<bool>("flag"), w > 1));
  CHECK(ca::array_equal(f.load<ca::bfloat16>("layers.0.weight"), w));
  CHECK(ca::array_equal(f.load<float>("a \"name\"\n\\ \u00e9"), w.t()));
  CHECK(f.load<ca::complex64>("scalar").item().re == 3);
  CHECK(f.load<double>("none").shape() == ca::shape{2, 0});
  ca::save_safetensors(t.path());
  CHECK(ca::safetensors_file(t.path()).names().empty());
}

TEST_CASE("safetensors: malformed headers are refused with the reason") {
  const std::string a = "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}";
  CHECK(refusal("{" + a + "}", 2) == "nothing was thrown");
  CHECK(refusal("{" + a + "}  \n", 2) == "nothing was thrown");
  CHECK(refusal("{" + a + "}", 3) == "its arrays end at 2, the file holds 3 bytes of them");
  CHECK(refusal("{" + a + "," + a + "}", 2) == "array \"a\" is there twice");
  CHECK(refusal("{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3) ==
        "array \"b\" begins at 1, not at 0 where the one before ends");
  CHECK(refusal("{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2) ==
        "array \"b\" of shape (2,) of float32 has the data_offsets 0 and 2");
  CHECK(refusal("{\"b\":{\"shape\":[2],\"data_offsets\":[0,2]}}", 2) ==
        "array \"b\" lacks dtype, shape or two data_offsets");
  CHECK(refusal("{\"b\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1) ==
        "at byte 28, \"-1],\"data_offsets\":[0,1]}}\": a whole number from 0 on is read");
  CHECK(refusal("{\"b\":{\"dtype\":\"U8\",\"shape\":[1.5]}}", 1) ==
        "at byte 29, \".5]}}\": a whole number from 0 on is read");
  CHECK(refusal("{} x", 0) == "at byte 3, \"x\": nothing more is read");
  CHECK(refusal("[]", 0) == "at byte 0, \"[]\": { is read");
  CHECK(refusal("", 0) == "at byte 0, \"\": { is read");
  CHECK(refusal("{\"__metadata__\":{\"a\":1}}", 0) == "at byte 21, \"1}}\": \" is read");
  CHECK(refusal("{\"b\":{\"x\":" + std::string(100, '[') + "}}", 0).find("more than 64 levels") != std::string::npos);
  CHECK(refusal("{\"\\ud800x\":{}}", 0).find("half of a pair of surrogates") != std::string::npos);
  const temporary_file small("1234567"), large(std::string(8, '\xff')), early(file_of("{}", 0).substr(0, 9));
  CHECK(thrown<ca::io_error>([&] { ca::safetensors_file f(small.path()); }) ==
        small.says("the file ends too early: 7 of the 8 bytes of the header's length"));
  CHECK(
      thrown<ca::io_error>([&] { ca::safetensors_file f(large.path()); }) ==
      large.says("not a safetensors file that is read: a header of 18446744073709551615 bytes; at most 10^8 are read"));
  CHECK(thrown<ca::io_error>([&] { ca::safetensors_file f(early.path()); }) ==
        early.says("not a safetensors file that is read: the file ends too early: before the end of its header"));
}

TEST_CASE("safetensors: what no array holds is refused where it is asked for") {
  const temporary_file t(
      file_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
              "\"b\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[2,4]},"
              "\"c\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[4,5]},"
              "\"d\":{\"dtype\":\"U8\",\"shape\":[0,4611686018427387904],\"data_offsets\":[5,5]}}",
              5));
  ca::safetensors_file f(t.path());
  CHECK(f.load<ca::uint8>("a").size() == 2);
  CHECK(thrown<ca::dtype_error>([&] { f.load<float>("b"); }) ==
        t.says("array \"b\" holds F8_E4M3, no dtype of arrays"));
  CHECK(thrown<ca::dtype_error>([&] { f.shape("c"); }) == t.says("array \"c\" has 9 axes; at most 8 are read"));
  CHECK(thrown<ca::dtype_error>([&] { f.load_any("d"); }) == t.says("array \"d\" has 2^55 elements or more"));
}

TEST_CASE("safetensors: damaged headers are refused or read all the same") {
  const std::string bytes = golden_bytes("w.safetensors"), half = golden_bytes("bfloat16.safetensors");
  const std::size_t header =
      8 + std::size_t(static_cast<unsigned char>(bytes[0])) + 256 * std::size_t(static_cast<unsigned char>(bytes[1]));
  const auto w = [](const std::string& path) { return ca::to_string(ca::safetensors_file(path).load<float>("w")); };
  CHECK(test::damage(w, bytes, header) == "");
  const auto h = [](const std::string& path) {
    return ca::to_string(ca::safetensors_file(path).load<ca::bfloat16>("h"));
  };
  CHECK(test::damage(h, half, half.size() - 8) == "");
}

TEST_CASE("files: arrays that go to a device piece by piece") {
  const temporary_file t, z, n;
  const ca::ndarray<ca::int32> x = ca::reshape(ca::arange<ca::int32>(7000000), {7, 1000000});  // 28 MB
  ca::save_safetensors(t.path(), "before", ca::arange(3), "x", x);
  ca::savez(z.path(), "x", x);
  ca::save(n.path(), x);
  const auto same = [&](const ca::ndarray<ca::int32>& y) { return y.shape() == x.shape() && ca::array_equal(y, x); };
  CHECK(same(ca::safetensors_file(t.path()).load<ca::int32>("x")));
  CHECK(same(ca::npz_file(z.path()).load<ca::int32>("x")));
  CHECK(same(ca::load<ca::int32>(n.path())));
  std::string damaged = z.bytes();
  damaged[20000000] = char(damaged[20000000] ^ 1);
  const temporary_file d(damaged), early(n.bytes().substr(0, 28000000));
  CHECK(thrown<ca::io_error>([&] { ca::npz_file(d.path()).load<ca::int32>("x"); }) ==
        d.says("x.npy: its checksum is wrong: it is damaged"));
  CHECK(thrown<ca::io_error>([&] { ca::load<ca::int32>(early.path()); }).find("the file ends too early") !=
        std::string::npos);
}

namespace {
/// A file of many bytes that breaks off.
struct breaking_file {
  std::size_t left;
  std::string name = "breaking";
  const std::string& path() const { return name; }
  ca::int64 remaining() const { return ca::int64(1) << 40; }
  std::size_t read(void* to, std::size_t n) {
    const std::size_t there = n < left ? n : left;
    std::fill_n(static_cast<char*>(to), there, '\1');
    left -= there;
    return there;
  }
  void finish() const {}
};
}  // namespace

TEST_CASE("files: one that breaks off in the middle leaves nothing behind") {
  const auto before = ca::memory_stats().used;
  for (const std::size_t there : {0, 3 << 20, 4 << 20, 9 << 20, (20 << 20) - 1}) {
    breaking_file f{there};
    CHECK(thrown<ca::io_error>([&] {
            ca::detail::read_placed<float, ca::cpu>(f, {5 << 20}, ca::default_device{});
          }).find("breaking: the file ends too early") == 0);
  }
  CHECK(ca::memory_stats().used == before);
  breaking_file f{20 << 20};
  CHECK(ca::all(ca::detail::read_placed<ca::uint8, ca::cpu>(f, {20 << 20}, ca::default_device{}) == 1).item());
}
