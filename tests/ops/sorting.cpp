// argsort: stable, NaN last, any layout and dtype.
// SPDX-License-Identifier: MIT
#include <limits>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using order = std::vector<ca::int64>;

constexpr float nan_ = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

ca::ndarray<float> vec(std::initializer_list<float> v) { return ca::array(std::vector<float>(v)); }

}  // namespace

TEST_CASE("argsort: ascending, int64") {
  const auto a = vec({3, 1, 2, -5});
  const auto i = ca::argsort(a);
  static_assert(std::is_same_v<ca::value_type_t<decltype(i)>, ca::int64>);
  CHECK(test::values(i) == order{3, 1, 2, 0});
  CHECK(test::equal(ca::take(a, i), {4}, std::vector<float>{-5, 1, 2, 3}));
}

TEST_CASE("argsort: equal elements stay in order") {
  CHECK(test::values(ca::argsort(vec({2, 1, 2, 1, 2, 1}))) == order{1, 3, 5, 0, 2, 4});
  CHECK(test::values(ca::argsort(vec({0, -0.f, 0, -0.f}))) == order{0, 1, 2, 3});
  CHECK(test::values(ca::argsort(ca::array<bool>({true, false, true, false}))) == order{1, 3, 0, 2});
}

TEST_CASE("argsort: NaN comes last, in order, after infinity") {
  CHECK(test::values(ca::argsort(vec({nan_, inf, 1, -nan_, -inf, nan_}))) == order{4, 2, 1, 0, 3, 5});
  CHECK(test::values(ca::argsort(vec({nan_, nan_}))) == order{0, 1});
}

TEST_CASE("argsort: empty and one element") {
  CHECK(ca::argsort(ca::ndarray<float>()).shape() == ca::shape{0});
  CHECK(ca::argsort(ca::zeros<int>({0})).size() == 0);
  CHECK(test::values(ca::argsort(vec({7}))) == order{0});
}

TEST_CASE("argsort: dtypes") {
  CHECK(test::values(ca::argsort(ca::array<ca::int8>({127, -128, 0}))) == order{1, 2, 0});
  CHECK(test::values(ca::argsort(ca::array<ca::uint64>({UINT64_MAX, 0, UINT64_MAX - 1}))) == order{1, 2, 0});
  CHECK(test::values(ca::argsort(ca::array<double>({1 + 1e-15, 1, 1 - 1e-15}))) == order{2, 1, 0});
  const ca::ndarray<ca::float16> h = ca::astype<ca::float16>(vec({nan_, 2, -1, 2}));
  CHECK(test::values(ca::argsort(h)) == order{2, 1, 3, 0});
}

TEST_CASE("argsort: views and expressions") {
  const auto a = ca::array<float>({{3, 9, 1}, {2, 8, 7}});
  CHECK(test::values(ca::argsort(a(_, 1))) == order{1, 0});
  CHECK(test::values(ca::argsort(a(0)(slice(none, none, -1)))) == order{0, 2, 1});  // of 1, 9, 3
  CHECK(test::values(ca::argsort(-a(0))) == order{1, 0, 2});
  CHECK(test::values(ca::argsort(ca::broadcast_to(vec({1}), {3}))) == order{0, 1, 2});
  CHECK(test::equal(a, {2, 3}, std::vector<float>{3, 9, 1, 2, 8, 7}));  // untouched
}

TEST_CASE("argsort: many elements with many ties") {
  // (i * 7919) mod 101: every key about 100 times
  constexpr ca::int64 n = 10000;
  std::vector<float> keys;
  for (ca::int64 i = 0; i < n; ++i) keys.push_back(float(i * 7919 % 101));
  const auto at = test::values(ca::argsort(ca::array(keys)));
  REQUIRE(at.size() == std::size_t(n));
  bool sorted = true, in_range = true;
  std::vector<int> times(n);
  for (std::size_t i = 0; i < at.size(); ++i) {
    in_range = in_range && at[i] >= 0 && at[i] < n;
    if (!in_range) break;
    ++times[std::size_t(at[i])];
    if (i == 0) continue;
    const float before = keys[std::size_t(at[i - 1])], here = keys[std::size_t(at[i])];
    sorted = sorted && (before < here || (before == here && at[i - 1] < at[i]));
  }
  CHECK(in_range);
  CHECK(sorted);
  CHECK(times == std::vector<int>(n, 1));
}

TEST_CASE("argsort: other ranks throw") {
  CHECK(test::thrown<ca::shape_error>([] {
          ca::argsort(ca::zeros({2, 3}));
        }) == "argsort: an array of shape (2, 3); it sorts one axis");
  CHECK(test::thrown<ca::shape_error>([] { ca::argsort(ca::zeros({})); }) ==
        "argsort: an array of shape (); it sorts one axis");
}
