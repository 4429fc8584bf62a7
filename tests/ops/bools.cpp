// Bytes that are taken for bool: every one but 0 is true, whatever reads it.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::slice;
using bools = std::vector<bool>;
using ints = std::vector<int>;

/// A mask on borrowed memory of bytes 0, 1, 2, 255, 3, 0 and so on; `bytes` keeps it alive.
struct raw_mask {
  ca::ndarray<ca::uint8> bytes;
  ca::ndarray<bool> mask;
  explicit raw_mask(int64 n, int64 columns = 0) {
    const ca::ndarray<int64> i = ca::arange(n);
    const auto pattern = ca::array<ca::uint8>({0, 1, 2, 255, 3, 0, 254, 0, 128, 64});
    bytes = ca::take(pattern, i % 10);
    const ca::shape s = columns > 0 ? ca::shape{n / columns, columns} : ca::shape{n};
    mask = ca::from_pointer(reinterpret_cast<bool*>(bytes.data()), s, bytes.device());
  }
  static bool truth(int64 i) { return i % 10 != 0 && i % 10 != 5 && i % 10 != 7; }
};

/// A new array's bytes are 0 and 1.
template <class X>
bool clean(const X& x) {
  const ca::ndarray<bool> a(x);
  const auto raw = ca::from_pointer(reinterpret_cast<ca::uint8*>(a.data()), a.shape(), a.device());
  return ca::max(raw).item() <= 1;
}

}  // namespace

TEST_CASE("bools: six bytes, as NumPy has them") {
  const raw_mask r(6);
  const auto& m = r.mask;
  const std::vector<int> truth{0, 1, 1, 1, 1, 0};
  CHECK(ca::sum(m).item() == 4);
  CHECK(ca::mean(m).item() == 4. / 6);
  CHECK(ca::argmax(m).item() == 1);
  CHECK(ca::argmin(m).item() == 0);
  CHECK(ca::max(m).item() == true);
  CHECK(ca::min(m(slice(1, 5))).item() == true);
  CHECK(ca::all(m(slice(1, 5))).item());
  CHECK(test::equal(m, {6}, truth));
  CHECK(test::equal(~m, {6}, ints{1, 0, 0, 0, 0, 1}));
  CHECK(test::equal(!m, {6}, ints{1, 0, 0, 0, 0, 1}));
  CHECK(test::equal(m == true, {6}, truth));
  CHECK(test::equal(m != ca::array<bool>({false, true, true, true, true, false}), {6}, ints{0, 0, 0, 0, 0, 0}));
  CHECK(test::equal(m & true, {6}, truth));
  CHECK(test::equal(m ^ m.copy(), {6}, ints{0, 0, 0, 0, 0, 0}));
  CHECK(test::equal(m < true, {6}, ints{1, 0, 0, 0, 0, 1}));
  CHECK(test::equal(ca::astype<int>(m), {6}, truth));
  CHECK(test::equal(ca::astype<float>(m) * 2, {6}, ints{0, 2, 2, 2, 2, 0}));
  CHECK(test::equal(m + m, {6}, truth));
  CHECK(test::equal(ca::where(m, 5, 7), {6}, ints{7, 5, 5, 5, 5, 7}));
  CHECK(test::equal(ca::cumsum(m), {6}, ints{0, 1, 2, 3, 4, 4}));
  CHECK(test::equal(ca::flatnonzero(m), {4}, ints{1, 2, 3, 4}));
  CHECK(test::equal(ca::arange(6)(m), {4}, ints{1, 2, 3, 4}));
  CHECK(test::equal(m(m), {4}, ints{1, 1, 1, 1}));
  CHECK(m(3).item() == true);
  CHECK(ca::to_string(m) == "[False  True  True  True  True False]");
  CHECK(test::equal(ca::sort(m), {6}, ints{0, 0, 1, 1, 1, 1}));
  CHECK(test::equal(ca::argsort(m), {6}, ints{0, 5, 1, 2, 3, 4}));
  CHECK(test::equal(ca::topk(m, 2).indices, {2}, ints{1, 2}));
  CHECK(test::equal(ca::take(m, ca::array<int>({3, 0, 2})), {3}, ints{1, 0, 1}));
  ca::ndarray<bool> sums = ca::zeros<bool>({2});
  ca::scatter_add(sums, ca::array<int>({0, 0, 0, 1, 1, 1}), m);
  CHECK(test::equal(sums, {2}, ints{1, 1}));
  CHECK(clean(sums));
}

TEST_CASE("bools: copies, views and files hold 0 and 1") {
  const raw_mask r(60, 6);
  const auto& m = r.mask;
  CHECK(clean(m.copy()));
  CHECK(clean(m.t().copy()));
  CHECK(clean(ca::copy(m(_, slice(1, 5)))));
  CHECK(clean(ca::concatenate({m, m}, 1)));
  CHECK(clean(ca::take(m, ca::array<int>({2, 0, 1}))));
  CHECK(clean(ca::take(m, ca::array<int>({2, 0, 1}), 1)));
  CHECK(clean(m(m)));
  CHECK(clean(ca::sort(m)));
  CHECK(clean(ca::topk(m, 3).values));
  CHECK(clean(ca::to<ca::default_device>(m)));
  CHECK(clean(ca::to<ca::default_device>(ca::to<ca::cpu>(m))));
  ca::ndarray<bool> target = ca::zeros<bool>({10, 6});
  ca::copyto(target, m);
  CHECK(clean(target));
  target(_, slice(0, 3)) = m(_, slice(3, 6));
  CHECK(clean(target));
  const unsigned char bytes[] = {0, 1, 2, 255, 3, 0};
  const ca::ndarray<bool> copied = ca::array(std::span<const bool>(reinterpret_cast<const bool*>(bytes), sizeof bytes));
  CHECK(clean(copied));
  CHECK(ca::sum(copied).item() == 4);
}

TEST_CASE("bools: masks of many lengths, on borrowed bytes at any offset") {
  for (const int n : {0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1000, 4099})
    for (const int from : {0, 1, 3}) {
      if (from > n) continue;
      const raw_mask r(n);
      const auto m = r.mask(slice(from, ca::none));
      ints places;
      for (int i = from; i < n; ++i)
        if (raw_mask::truth(i)) places.push_back(i - from);
      const int64 count = int64(places.size());
      INFO(n << ' ' << from);
      CHECK(ca::sum(m).item() == count);
      CHECK(test::equal(ca::flatnonzero(m), {count}, places));
      CHECK(test::equal(ca::arange(n - from)(m), {count}, places));
      CHECK(ca::sum(m(slice(ca::none, ca::none, -1))).item() == count);
      CHECK(ca::sum(ca::where(m, 1, 0)).item() == count);
    }
}

TEST_CASE("bools: a mask in two axes, transposed, written through and reduced") {
  const raw_mask r(40 * 30, 30);
  std::vector<int> rows(40), columns(30), turned;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 30; ++j)
      rows[std::size_t(i)] += raw_mask::truth(i * 30 + j), columns[std::size_t(j)] += raw_mask::truth(i * 30 + j);
  for (int j = 0; j < 30; ++j)
    for (int i = 0; i < 40; ++i) turned.push_back(raw_mask::truth(i * 30 + j));
  CHECK(test::equal(ca::sum(r.mask, 1), {40}, rows));
  CHECK(test::equal(ca::sum(r.mask, 0), {30}, columns));
  CHECK(test::equal(ca::astype<int>(r.mask.t()), {30, 40}, turned));
  CHECK(test::equal(r.mask.t() & true, {30, 40}, turned));
  ca::ndarray<int> x = ca::zeros<int>({40, 30});
  x(r.mask) = 1;
  CHECK(test::equal(ca::sum(x, 1), {40}, rows));
  x(r.mask) += 2;
  CHECK(ca::sum(x).item() == 3 * ca::sum(r.mask).item());
}
