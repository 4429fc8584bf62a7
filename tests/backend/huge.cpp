// Arrays of more than 2^31 elements: CUDA only, where they take milliseconds.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

constexpr ca::int64 n = (ca::int64(1) << 31) + 5;
using bytes = ca::ndarray<ca::uint8>;

}  // namespace

TEST_CASE("huge: copy, map, sum, argmax and take beyond 2^31 elements", "[slow]") {
  const bytes a = ca::zeros<ca::uint8>({n});
  a(n - 1) = 7;
  a(n - 3) = 2;
  a(5) = 1;
  CHECK(ca::sum(a).item() == 10u);
  CHECK(ca::argmax(a).item() == n - 1);
  CHECK(ca::max(a).item() == 7);
  const bytes b = a + 1;
  CHECK(ca::sum(b).item() == ca::uint64(n) + 10);
  CHECK(b(n - 1).item() == 8);
  CHECK(ca::sum(a.copy()).item() == 10u);
  CHECK(test::equal(ca::take(a, ca::array<ca::int64>({n - 1, -3, 5, 0})), {4}, std::vector<int>{7, 2, 1, 0}));
  const bytes backwards = a(ca::slice(ca::none, ca::none, -1));
  CHECK(ca::argmax(backwards).item() == 0);
  const bytes turned = backwards.copy();
  CHECK(turned(n - 6).item() == 1);
  CHECK(turned(0).item() == 7);
  CHECK(ca::any(a > 6).item());
}

TEST_CASE("huge: a matrix whose rows and columns are far apart", "[slow]") {
  const ca::int64 rows = 5, columns = (ca::int64(1) << 29) + 3;
  const bytes a = ca::zeros<ca::uint8>({rows, columns});
  a(4, columns - 1) = 3;
  a(ca::_, 17) = 1;
  CHECK(test::equal(ca::sum(a, 1), {rows}, std::vector<int>{1, 1, 1, 1, 4}));
  const ca::ndarray<ca::uint64> down = ca::sum(a, 0);
  CHECK(down(17).item() == 5u);
  CHECK(down(columns - 1).item() == 3u);
  CHECK(ca::sum(down).item() == 8u);
  CHECK(test::equal(ca::argmax(a, 1), {rows}, std::vector<double>{17, 17, 17, 17, double(columns - 1)}));
  const bytes t = ca::copy(a.t());
  CHECK(t(columns - 1, 4).item() == 3);
  CHECK(ca::sum(t).item() == 8u);
  const ca::ndarray<ca::float16> h = ca::astype<ca::float16>(a);
  CHECK(ca::sum<double>(h).item() == 8.);
}

TEST_CASE("huge: scans, sorting and masks beyond 2^31 elements", "[slow]") {
  const bytes a = ca::ones<ca::uint8>({n});
  a(n - 1) = 7;
  a(5) = 3;
  {
    const ca::ndarray<ca::uint64> sums = ca::cumsum(a);
    CHECK(sums(n - 1).item() == ca::uint64(n) + 8);
    CHECK(sums(n - 2).item() == ca::uint64(n) + 1);
    CHECK(sums(4).item() == 5u);
  }
  CHECK(ca::sort(a)(n - 1).item() == 7);
  CHECK(ca::sort(a)(n - 2).item() == 3);
  const ca::ndarray<bool> large = a > 2;
  CHECK(test::equal(ca::flatnonzero(large), {2}, std::vector<double>{5, double(n - 1)}));
  CHECK(test::equal(bytes(a(large)), {2}, std::vector<int>{3, 7}));
  CHECK(bytes(a(a < 9)).shape() == ca::shape{n});
  const bytes few = ca::zeros<ca::uint8>({n});
  ca::scatter_add(few, ca::array<ca::int64>({n - 1, -1, 2}), 2);
  CHECK(few(n - 1).item() == 4);
  CHECK(few(2).item() == 2);
  CHECK_THROWS_AS(ca::argsort(ca::broadcast_to(ca::zeros<ca::uint8>(1), {(ca::int64(1) << 32) + 1})), ca::value_error);
}
