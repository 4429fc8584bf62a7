// Comparisons of integers: exact, whatever their signs and widths, and for scalars beyond the range of the dtype.
// SPDX-License-Identifier: MIT
#include <limits>

#include "test.hpp"

namespace {

using ca::int64;
using ca::uint64;
using ints = std::vector<int>;

__extension__ typedef __int128 wide;

/// Numbers at the ends of a type, around 0 and around 2^53, where float64 begins to leave numbers out; 71 of them, so
/// that packs and their rests compare all.
template <class T>
std::vector<T> numbers() {
  using limits = std::numeric_limits<T>;
  const wide near[] = {limits::lowest(),
                       limits::lowest() + wide(1),
                       -1,
                       0,
                       1,
                       wide(1) << 53,
                       (wide(1) << 53) + 1,
                       (wide(1) << 63) - 1,
                       wide(1) << 63,
                       (wide(1) << 63) + 1,
                       limits::max() - wide(1),
                       limits::max()};
  std::vector<T> v;
  for (int i = 0; v.size() < 71; ++i)
    if (const wide n = near[i % 12]; n >= limits::lowest() && n <= wide(limits::max())) v.push_back(T(n));
  return v;
}

/// Whether the six comparisons of two operands are what arithmetic says, in both orders.
template <class A, class B>
int wrong(const std::vector<A>& a, const std::vector<B>& b) {
  int n = 0;
  const auto x = ca::array(a);
  const auto y = ca::array(b);
  const auto check = [&](const auto& result, auto truth) {
    const auto v = test::values(result);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) n += v[i * b.size() + j] != truth(wide(a[i]), wide(b[j]));
  };
  const auto column = ca::expand_dims(x, 1);
  check(column == y, [](wide p, wide q) { return p == q; });
  check(column != y, [](wide p, wide q) { return p != q; });
  check(column < y, [](wide p, wide q) { return p < q; });
  check(column <= y, [](wide p, wide q) { return p <= q; });
  check(column > y, [](wide p, wide q) { return p > q; });
  check(column >= y, [](wide p, wide q) { return p >= q; });
  return n;
}

/// The same with a scalar on either side.
template <class A, class S>
int wrong_scalar(const std::vector<A>& a, S s) {
  int n = 0;
  const auto x = ca::array(a);
  const auto check = [&](const auto& result, auto truth) {
    const auto v = test::values(result);
    for (std::size_t i = 0; i < a.size(); ++i) n += v[i] != truth(wide(a[i]), wide(s));
  };
  check(x == s, [](wide p, wide q) { return p == q; });
  check(s == x, [](wide p, wide q) { return p == q; });
  check(x != s, [](wide p, wide q) { return p != q; });
  check(x < s, [](wide p, wide q) { return p < q; });
  check(s < x, [](wide p, wide q) { return q < p; });
  check(x <= s, [](wide p, wide q) { return p <= q; });
  check(x > s, [](wide p, wide q) { return p > q; });
  check(ca::greater(s, x), [](wide p, wide q) { return q > p; });
  check(x >= s, [](wide p, wide q) { return p >= q; });
  return n;
}

}  // namespace

TEST_CASE("comparisons: integers of two signs") {
  CHECK(wrong(numbers<int64>(), numbers<uint64>()) == 0);
  CHECK(wrong(numbers<uint64>(), numbers<int64>()) == 0);
  CHECK(wrong(numbers<ca::int8>(), numbers<uint64>()) == 0);
  CHECK(wrong(numbers<uint64>(), numbers<int>()) == 0);
  CHECK(wrong(numbers<int>(), numbers<unsigned>()) == 0);
  CHECK(wrong(numbers<ca::uint8>(), numbers<ca::int8>()) == 0);
  // NumPy 2: np.array([2**63 - 1, -1, 0]) == np.array([2**63, 2**64 - 1, 0], 'u8')
  const auto i = ca::array<int64>({INT64_MAX, -1, 0});
  const auto u = ca::array<uint64>({uint64(1) << 63, UINT64_MAX, 0});
  CHECK(test::equal(i == u, {3}, ints{0, 0, 1}));
  CHECK(test::equal(ca::astype<bool>(i) == u, {3}, ints{0, 0, 1}));  // 1, 1 and 0
  CHECK(test::equal(ca::less(u, i), {3}, ints{0, 0, 0}));
  CHECK(ca::sum(ca::where(i < u, 1, 0)).item() == 2);
}

TEST_CASE("comparisons: integers with scalars beyond their dtype") {
  for (const int s : {-300, -129, -128, -1, 0, 1, 127, 128, 255, 256, 300}) {
    INFO(s);
    CHECK(wrong_scalar(numbers<ca::uint8>(), s) == 0);
    CHECK(wrong_scalar(numbers<ca::int8>(), s) == 0);
    CHECK(wrong_scalar(numbers<uint64>(), s) == 0);
    CHECK(wrong_scalar(numbers<int>(), s) == 0);
  }
  for (const uint64 s : {uint64(0), uint64(INT64_MAX), uint64(1) << 63, UINT64_MAX}) {
    INFO(s);
    CHECK(wrong_scalar(numbers<int64>(), s) == 0);
    CHECK(wrong_scalar(numbers<ca::int8>(), s) == 0);
  }
  CHECK(wrong_scalar(numbers<unsigned>(), INT64_MAX) == 0);
  const auto b = ca::array<ca::uint8>({0, 7, 255});
  CHECK(test::equal(b < 300, {3}, ints{1, 1, 1}));
  CHECK(test::equal(b == -1, {3}, ints{0, 0, 0}));
  CHECK(test::equal(ca::array<bool>({false, true}) < 2, {2}, ints{1, 1}));
  CHECK(test::equal(ca::array<bool>({false, true}) == UINT64_MAX, {2}, ints{0, 0}));
  // written through a mask, and by a name
  ca::ndarray<ca::uint8> x = b.copy();
  x(x < 300) = ca::uint8(1);
  CHECK(test::equal(x, {3}, ints{1, 1, 1}));
  ca::ndarray<bool> out = ca::zeros<bool>({3});
  ca::greater_equal(b, -1, ca::out(out));
  CHECK(test::equal(out, {3}, ints{1, 1, 1}));
}
