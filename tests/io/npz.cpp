// .npz files: NumPy's are read, ours are what was written, damaged ones are refused.
// SPDX-License-Identifier: MIT
#include "io/files.hpp"

using test::golden_bytes;
using test::temporary_file;
using test::thrown;

namespace {
const ca::ndarray<float> expected() { return ca::reshape(ca::arange(12.f), {3, 4}) / 8; }
}  // namespace

TEST_CASE("npz: as NumPy writes it") {
  const temporary_file t(golden_bytes("numpy.npz"));
  ca::npz_file f(t.path());
  CHECK(f.names() == std::vector<std::string>{"w", "f", "b", "n", "big"});
  CHECK((f.contains("w") && f.contains("w.npy") && !f.contains("v")));
  CHECK((f.shape("big") == ca::shape{3, 4} && std::string(f.dtype("big")) == "float64"));
  const auto w = f.load<float>("w");
  CHECK(w.shape() == ca::shape{3, 4});
  CHECK(ca::array_equal(w, expected()));
  CHECK(ca::array_equal(f.load<float>("f"), expected()));  // Fortran's order
  CHECK(ca::array_equal(f.load<double>("big"), expected()));
  CHECK(f.load<ca::int16>("b").item() == 7);
  CHECK(f.load<double>("n").shape() == ca::shape{0, 3});
  CHECK(thrown<ca::io_error>([&] { f.load<float>("v"); }) == t.says("no array \"v\"; there are: w, f, b, n, big"));
  CHECK(thrown<ca::dtype_error>([&] { f.load<float>("b"); }) == t.says("b.npy: the file holds <i2, not <f4 (float32)"));
}

TEST_CASE("npz: no arrays, objects") {
  const temporary_file none(golden_bytes("empty.npz")), objects(golden_bytes("objects.npz"));
  ca::npz_file f(none.path()), o(objects.path());
  CHECK(f.names().empty());
  CHECK(thrown<ca::io_error>([&] { f.load<float>("w"); }) == none.says("no array \"w\"; there are: none"));
  CHECK(thrown<ca::dtype_error>([&] { o.load_any("o"); }) ==
        objects.says("o.npy: the file holds |O (objects of Python's: pickles are not read), no dtype that is read"));
}

#if defined(CUDARRAY_HAS_ZLIB)
TEST_CASE("npz: compressed, of all dtypes, streamed") {
  const temporary_file c(golden_bytes("compressed.npz")), d(golden_bytes("dtypes.npz")),
      s(golden_bytes("streamed.npz"));
  ca::npz_file f(c.path()), all(d.path()), streamed(s.path());
  CHECK(ca::array_equal(f.load<float>("w"), expected()));
  CHECK(ca::array_equal(f.load<bool>("m"), expected() > 1));
  CHECK(ca::array_equal(streamed.load<float>("w"), expected()));
  int seen = 0;
  for (const std::string& name : all.names())
    std::visit(
        [&](const auto& a) {
          using T = typename std::decay_t<decltype(a)>::value_type;
          CHECK(name == ca::dtype_name<T>);
          const auto n = ca::arange(5);
          if constexpr (ca::kind_of<T> == ca::kind::complex_) {
            CHECK(ca::array_equal(ca::imag(a), name == "complex64" ? n : -n));
            CHECK(ca::array_equal(ca::real(a), name == "complex64" ? ca::ones<ca::int64>({5}) : n));
          } else {
            CHECK(ca::array_equal(a, ca::astype<T>(n)));
          }
          ++seen;
        },
        all.load_any(name));
  CHECK(seen == 14);
}

TEST_CASE("npz: what was written is read") {
  const temporary_file t;
  const auto w = expected();
  const ca::ndarray<ca::int64> many = ca::arange(300000) % 1000;
  for (const bool compressed : {false, true}) {
    if (compressed)
      ca::savez_compressed(t.path(), "w", w.t(), "e", w + 1, "many", many, "s", w(1, 2), "n", ca::zeros({0}));
    else ca::savez(t.path(), "w", w.t(), "e", w + 1, "many", many, "s", w(1, 2), "n", ca::zeros({0}));
    ca::npz_file f(t.path());
    CHECK(f.names() == std::vector<std::string>{"w", "e", "many", "s", "n"});
    CHECK(ca::array_equal(f.load<float>("w"), w.t()));
    CHECK(ca::array_equal(f.load<float>("e"), w + 1));
    CHECK(ca::array_equal(f.load<ca::int64>("many"), many));
    CHECK(f.load<float>("s").item() == w(1, 2).item());
    CHECK(f.load<float>("n").shape() == ca::shape{0});
    if (compressed) CHECK(t.bytes().size() < 100000);
  }
  ca::savez(t.path());
  CHECK(ca::npz_file(t.path()).names().empty());
  ca::npz_writer f(t.path(), true);
  for (int i = 0; i < 100; ++i) f.add("array_" + std::to_string(i), ca::full<int>({i}, i));
  f.close();
  ca::npz_file all(t.path());
  CHECK(all.names().size() == 100);
  CHECK(ca::sum(all.load<int>("array_37")).item() == 37 * 37);
  CHECK(thrown<ca::io_error>([&] { ca::savez("/nowhere/x.npz", "w", w); }) ==
        "/nowhere/x.npz: No such file or directory");
}

TEST_CASE("npz: writing is refused before anything is lost") {
  const temporary_file t;
  const auto w = expected();
  ca::npz_writer f(t.path());
  f.add("a", w);
  CHECK(thrown<ca::value_error>([&] { f.add("a", w); }) == "npz_writer: the name \"a\" is there already");
  CHECK(thrown<ca::value_error>([&] { f.add("\xff", w); }) == "npz_writer: the name \"\\xff\" is no UTF-8");
  CHECK(thrown<ca::value_error>([&] { f.add(std::string(65001, 'n'), w); }).find("is longer than 65000 bytes") !=
        std::string::npos);
  f.close();
  f.close();
  CHECK(thrown<ca::io_error>([&] { f.add("b", w); }) == t.says("the file is closed already"));
  CHECK(ca::npz_file(t.path()).names() == std::vector<std::string>{"a"});
  // an array of whatever dtype is written, too; bytes behind the archive are not looked at
  ca::savez(t.path(), "a", ca::npz_file(t.path()).load_any("a"));
  const temporary_file longer(t.bytes() + "\n");
  CHECK(ca::array_equal(ca::npz_file(longer.path()).load<float>("a"), w));
  CHECK(thrown<ca::io_error>([&] { ca::load<float>(t.path()); }).find("; ca::npz_file reads .npz files") !=
        std::string::npos);
}

TEST_CASE("npz: damaged files are refused or read all the same") {
  const auto read = [](const std::string& path) { return test::all_arrays(ca::npz_file(path)); };
  for (const char* name : {"streamed.npz", "compressed.npz", "empty.npz"}) {
    INFO(name);
    CHECK(test::damage(read, golden_bytes(name), 0) == "");
  }
  // names are not under the checksum: an array by its name
  const auto one = [](const std::string& path) { return ca::to_string(ca::npz_file(path).load<float>("w")); };
  for (const char* name : {"streamed.npz", "compressed.npz", "numpy.npz"}) {
    INFO(name);
    CHECK(test::damage(one, golden_bytes(name), 100000) == "");
  }
}
#endif
