// Factories; expected values from NumPy or paper.
// SPDX-License-Identifier: MIT
#include <array>
#include <iterator>
#include <list>
#include <set>

#include "test.hpp"

namespace test {

/// A range that can be walked over once, and not as const.
struct countdown {
  int from;
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    int* at;
    int operator*() const { return *at; }
    iterator& operator++() {
      --*at;
      return *this;
    }
    void operator++(int) { --*at; }
    bool operator==(std::default_sentinel_t) const { return *at == 0; }
  };
  iterator begin() { return {&from}; }
  std::default_sentinel_t end() { return {}; }
};

}  // namespace test
namespace {

using ca::slice;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using ints = std::vector<int>;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;

}  // namespace

TEST_CASE("creation: empty, zeros, ones, full") {
  CHECK(ca::empty({2, 0}).shape() == ca::shape{2, 0});
  CHECK(is<decltype(ca::empty({2})), float>);
  CHECK(test::equal(ca::zeros<int>({2, 2}), {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(ca::ones({3}), {3}, ints{1, 1, 1}));
  CHECK(test::equal(ca::ones<bool>({2}), {2}, ints{1, 1}));
  CHECK(test::equal(ca::ones<ca::float16>({2}), {2}, ints{1, 1}));
  CHECK(test::equal(ca::full<int>({2, 2}, 7), {2, 2}, ints{7, 7, 7, 7}));
  CHECK(test::equal(ca::full({}, 2.5), {}, doubles{2.5}));
  CHECK(test::equal(ca::full({2}, NAN), {2}, doubles{NAN, NAN}));
  CHECK(test::equal(ca::zeros({0}), {0}, ints{}));
  CHECK(test::equal(ca::zeros(3), {3}, ints{0, 0, 0}));
  CHECK(test::thrown<ca::shape_error>([] { ca::zeros({2, -1}); }).find("(2, -1)") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([] { ca::empty({INT64_MAX, 2}); }).find("too large") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([] { ca::full<ca::int8>({2}, 300); }).find("300") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([] { ca::full<ca::uint8>({2}, -1); }).find("-1") != std::string::npos);
}

TEST_CASE("creation: like another array") {
  const auto a = ca::array<int>({{1, 2, 3}, {4, 5, 6}});
  CHECK(test::equal(ca::zeros_like(a), {2, 3}, ints{0, 0, 0, 0, 0, 0}));
  CHECK(is<decltype(ca::zeros_like(a)), int>);
  CHECK(is<decltype(ca::ones_like<float>(a)), float>);
  CHECK(test::equal(ca::ones_like<float>(a.t()), {3, 2}, ints{1, 1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::full_like(a(0), 9), {3}, ints{9, 9, 9}));
  CHECK(test::equal(ca::full_like<float>(a(0, 0), 0.5), {}, doubles{0.5}));
  CHECK(ca::empty_like(a(slice(0, 0))).shape() == ca::shape{0, 3});
  CHECK(ca::zeros_like(a.t()).is_contiguous());
}

TEST_CASE("creation: arange") {
  CHECK(test::equal(ca::arange(4), {4}, ints{0, 1, 2, 3}));
  CHECK(is<decltype(ca::arange(4)), ca::int64>);
  CHECK(is<decltype(ca::arange(4.)), float>);
  CHECK(is<decltype(ca::arange<ca::int8>(4)), ca::int8>);
  CHECK(test::equal(ca::arange(2, 9, 3), {3}, ints{2, 5, 8}));
  CHECK(test::equal(ca::arange(2, 8, 3), {2}, ints{2, 5}));
  CHECK(test::equal(ca::arange(5, 0, -2), {3}, ints{5, 3, 1}));
  CHECK(test::equal(ca::arange(5, -1, -2), {3}, ints{5, 3, 1}));
  CHECK(test::equal(ca::arange(3, 3), {0}, ints{}));
  CHECK(test::equal(ca::arange(3, 0), {0}, ints{}));
  CHECK(test::equal(ca::arange(-2), {0}, ints{}));
  CHECK(test::equal(ca::arange(0.5, 3.), {3}, doubles{0.5, 1.5, 2.5}));
  CHECK(test::close(ca::arange(0., 1., 0.1), {10}, {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}));
  CHECK(test::equal(ca::arange(1., 0., -0.25), {4}, doubles{1, 0.75, 0.5, 0.25}));
  CHECK(test::equal(ca::arange<float>(3), {3}, ints{0, 1, 2}));
  CHECK(ca::arange(1000000)(-1).item() == 999999);
  CHECK(test::thrown<ca::value_error>([] { ca::arange(0, 3, 0); }) == "arange: the step is 0");
  CHECK(test::thrown<ca::value_error>([] { ca::arange(0., 3., 0.); }).find("arange") == 0);
}

TEST_CASE("creation: arange of numbers of several types, as NumPy") {
  CHECK(test::equal(ca::arange(0, 10, 2.5), {4}, doubles{0, 2.5, 5, 7.5}));
  CHECK(test::equal(ca::arange(0, 5.5), {6}, ints{0, 1, 2, 3, 4, 5}));
  CHECK(is<decltype(ca::arange(0, 5.5)), float>);
  CHECK(is<decltype(ca::arange(0u, 5ll)), ca::int64>);
  CHECK(test::close(ca::arange<double>(0, 1, .1), {10}, {0, .1, .2, .3, .4, .5, .6, .7, .8, .9}, 1e-15));
  CHECK(test::equal(ca::arange(0, 3000000000u, 1000000000), {3}, doubles{0, 1e9, 2e9}));
  CHECK(test::values(ca::arange(INT64_MIN, INT64_MAX, INT64_MAX)) ==
        std::vector<ca::int64>{INT64_MIN, -1, INT64_MAX - 1});
  CHECK(test::values(ca::arange(INT64_MAX, INT64_MIN, INT64_MIN)) == std::vector<ca::int64>{INT64_MAX, -1});
  CHECK(test::values(ca::arange<ca::uint64>(UINT64_MAX - 2, UINT64_MAX)) ==
        std::vector<ca::uint64>{UINT64_MAX - 2, UINT64_MAX - 1});
  CHECK(test::equal(ca::arange(-1, 2u), {3}, ints{-1, 0, 1}));  // not 4294967295
  CHECK(test::equal(ca::arange(0, 1, INFINITY), {1}, ints{0}));
  CHECK(test::equal(ca::arange(0, 1, -INFINITY), {0}, ints{}));
  CHECK(test::equal(ca::arange(true), {1}, ints{0}));
  CHECK(test::equal(ca::arange<bool>(2), {2}, ints{0, 1}));
  CHECK(test::equal(ca::arange<ca::uint8>(256)(slice(254, ca::none)), {2}, ints{254, 255}));
  CHECK(test::equal(ca::arange<ca::int8>(-128, 128, 100), {3}, ints{-128, -28, 72}));
  CHECK(test::equal(ca::arange<ca::float16>(2047, 2052), {5}, ints{2047, 2048, 2048, 2050, 2052}));
}

TEST_CASE("creation: linspace") {
  CHECK(test::equal(ca::linspace(0, 1, 5), {5}, doubles{0, 0.25, 0.5, 0.75, 1}));
  CHECK(test::equal(ca::linspace<double>(1, -1, 3), {3}, ints{1, 0, -1}));
  CHECK(test::equal(ca::linspace(2, 3, 1), {1}, ints{2}));
  CHECK(test::equal(ca::linspace(2, 3, 0), {0}, ints{}));
  CHECK(ca::linspace(0, 1).size() == 50);
  CHECK(ca::linspace<double>(0, 0.1, 7)(-1).item() == 0.1);  // the end is exact
  CHECK(test::equal(ca::linspace<int>(0, 5, 3), {3}, ints{0, 2, 5}));
  CHECK(test::thrown<ca::value_error>([] { ca::linspace(0, 1, -1); }).find("-1") != std::string::npos);
}

TEST_CASE("creation: eye") {
  CHECK(test::equal(ca::eye(2), {2, 2}, ints{1, 0, 0, 1}));
  CHECK(test::equal(ca::eye<int>(2, 3, 1), {2, 3}, ints{0, 1, 0, 0, 0, 1}));
  CHECK(test::equal(ca::eye(3, 2, -1), {3, 2}, ints{0, 0, 1, 0, 0, 1}));
  CHECK(test::equal(ca::eye(2, 2, 5), {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(ca::eye(0), {0, 0}, ints{}));
  CHECK(test::equal(ca::eye(2, 0), {2, 0}, ints{}));
}

TEST_CASE("creation: array from lists") {
  CHECK(test::equal(ca::array<float>({1, 2.5, -3}), {3}, doubles{1, 2.5, -3}));
  CHECK(test::equal(ca::array<float>({{1, 2, 3}, {4, 5, 6}}), {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(ca::array<int>({{{1}, {2}}, {{3}, {4}}}), {2, 2, 1}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::array<bool>({{true, false}, {false, true}}), {2, 2}, ints{1, 0, 0, 1}));
  CHECK(test::equal(ca::array({1.5, 2.5}), {2}, doubles{1.5, 2.5}));
  CHECK(test::equal(ca::array({{1, 2}, {3, 4}}), {2, 2}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::array({1, 2.5}), {2}, doubles{1, 2.5}));
  CHECK(std::is_same_v<decltype(ca::array({1.5, 2.5})), const ca::ndarray<float>>);
  CHECK(std::is_same_v<decltype(ca::array({1, 2})), const ca::ndarray<float>>);
  CHECK(ca::array<float>({}).shape() == ca::shape{0});
  CHECK(ca::array<float>({{}}).shape() == ca::shape{1, 0});
  CHECK(ca::array<float>({{}, {}}).shape() == ca::shape{2, 0});
  CHECK(test::thrown<ca::shape_error>([] {
          ca::array<int>({{1, 2}, {3}});
        }).find("(2,) and (1,)") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([] {
          ca::array<int>({{1}, {{2}}});
        }).find("different shapes") != std::string::npos);
  CHECK(test::thrown<ca::value_error>([] { ca::array<ca::int8>({1, 300}); }).find("300") != std::string::npos);
}

TEST_CASE("creation: array from host elements is a copy") {
  floats v{1, 2, 3, 4, 5, 6};
  const auto a = ca::array(v, {2, 3});
  const auto b = ca::array(v);
  const auto s = ca::array(std::span<const float>(v).subspan(1, 2), {2});
  v[1] = 9;
  CHECK(test::equal(a, {2, 3}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(b, {6}, ints{1, 2, 3, 4, 5, 6}));
  CHECK(test::equal(s, {2}, ints{2, 3}));
  CHECK(is<decltype(ca::array(std::vector<long long>{1})), ca::int64>);
  CHECK(test::equal(ca::array(std::array<double, 4>{1, 2, 3, 4}, {2, 2}), {2, 2}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::array<float>(std::span<const float>(v)), {6}, ints{1, 9, 3, 4, 5, 6}));
  const float raw[] = {1, 2, 3, 4};
  CHECK(test::equal(ca::array(raw, {2, 2}), {2, 2}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::array<float>(raw), {4}, ints{1, 2, 3, 4}));
  const bool masks[] = {true, false, true};
  CHECK(test::equal(ca::array(std::span<const bool>(masks)), {3}, ints{1, 0, 1}));
  CHECK(ca::array(floats{}).shape() == ca::shape{0});
  CHECK(ca::array(floats{}, {2, 0}).shape() == ca::shape{2, 0});
  CHECK(test::equal(ca::array(floats{3}, {}), {}, ints{3}));
  CHECK(test::thrown<ca::shape_error>([&] { ca::array(v, {2, 2}); }) == "array: 6 elements for shape (2, 2)");
  CHECK(test::thrown<ca::shape_error>([&] { ca::array(v, {-2, -3}); }).find("negative") != std::string::npos);
}

TEST_CASE("from_pointer: an address that elements cannot lie at is refused") {
  alignas(16) static char bytes[64];
  const auto text = test::thrown<ca::value_error>(
      [] { (void)ca::from_pointer(reinterpret_cast<ca::complex64*>(bytes + 2), ca::shape{3}); });
  const std::string need = ca::default_device::host_accessible ? "4" : "8";
  CHECK(text == "from_pointer: complex64 needs an address that is a multiple of " + need + ", this one is 2 off");
}

TEST_CASE("creation: arrays of any range") {
  CHECK(test::equal(ca::array(std::list<double>{1, 2}), {2}, doubles{1, 2}));
  CHECK(test::equal(ca::array(std::set<int>{3, 1}), {2}, ints{1, 3}));
  CHECK(test::equal(ca::array(test::countdown{3}), {3}, ints{3, 2, 1}));
  const std::vector<bool> mask{true, false};
  CHECK(test::equal(ca::array(mask), {2}, ints{1, 0}));
  CHECK(is<decltype(ca::array(mask)), bool>);
  CHECK(is<decltype(ca::array(std::list<long long>{1})), ca::int64>);
  CHECK(ca::array(std::list<float>{}).shape() == ca::shape{0});
}

TEST_CASE("creation: asarray and frombuffer") {
  const auto a = ca::array<float>({1, 2, 3});
  const ca::ndarray<float> same = ca::asarray(a);
  CHECK(same.data() == a.data());
  CHECK(test::equal(ca::asarray(a + 1), {3}, ints{2, 3, 4}));
  CHECK(test::equal(ca::asarray(floats{1, 2}), {2}, ints{1, 2}));
  const float raw[] = {1, 2, 3};
  const auto bytes = std::as_bytes(std::span(raw));
  CHECK(test::equal(ca::frombuffer(bytes), {3}, ints{1, 2, 3}));
  CHECK(test::equal(ca::frombuffer<float>(bytes, 1, 4), {1}, ints{2}));
  CHECK(test::equal(ca::frombuffer<float>(bytes.subspan(0, 6), 1), {1}, ints{1}));
  CHECK(ca::frombuffer<double>(bytes.subspan(0, 0)).shape() == ca::shape{0});
  CHECK(test::thrown<ca::value_error>([&] { ca::frombuffer<double>(bytes); }) ==
        "frombuffer: 12 bytes are no whole number of elements of float64");
  CHECK(test::thrown<ca::value_error>([&] { ca::frombuffer<float>(bytes, 4); }) ==
        "frombuffer: 4 elements of float32 in 12 bytes");
  CHECK(test::thrown<ca::value_error>([&] { ca::frombuffer<float>(bytes, -1, 13); }) ==
        "frombuffer: offset 13 in a buffer of 12 bytes");
}
