// Rows that are no whole accesses: cut from wider ones, taken by an index, off alignment. Loops on the host say what is
// right.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;

template <class T>
struct sample {
  std::vector<int> v;
  ca::ndarray<T> a;
  explicit sample(int64 n, int salt = 0) : v(std::size_t(n)), a(ca::zeros<T>({n})) {
    for (int64 k = 0; k < n; ++k) v[std::size_t(k)] = int((k * 7919 + salt) % 1009 % 97);
    a = ca::astype<T>(ca::ndarray<int>(ca::array(v)));
  }
};

template <class T, class X>
bool same(const X& x, const std::vector<int>& expected) {
  const auto v = test::values(x);
  if (v.size() != expected.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (double(v[i]) != expected[i]) return false;
  return true;
}

const int64 widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 50, 127, 130, 513};

/// Columns [b, b + n) of `rows` rows of `pitch`: copied, and added to others that lie elsewhere.
template <class T>
void cuts() {
  for (const int64 n : widths)
    for (const int64 b : {0, 1, 2, 7}) {
      const int64 rows = 37, pitch = n + b + (n % 4);
      const sample<T> s(rows * pitch), o(rows * (pitch + 1), 3);
      const ca::ndarray<T> m = ca::reshape(s.a, {rows, pitch}), k = ca::reshape(o.a, {rows, pitch + 1});
      std::vector<int> copied, sums, flat;
      for (int64 i = 0; i < rows; ++i)
        for (int64 j = b; j < b + n; ++j) {
          copied.push_back(s.v[std::size_t(i * pitch + j)]);
          sums.push_back(copied.back() % 25 + o.v[std::size_t(i * (pitch + 1) + j - b + 1)] % 25);
        }
      INFO(n << " columns from " << b << " of " << pitch << ", " << ca::dtype_name<T>);
      CHECK(same<T>(ca::copy(m(_, slice(b, b + n))), copied));
      const ca::ndarray<T> x = ca::astype<T>(ca::ndarray<int>(ca::astype<int>(m) % 25)),
                           y = ca::astype<T>(ca::ndarray<int>(ca::astype<int>(k) % 25));
      CHECK(same<T>(ca::ndarray<T>(x(_, slice(b, b + n)) + y(_, slice(1, n + 1))), sums));
      // into memory that is off alignment, and nothing beside it
      ca::ndarray<T> whole = ca::zeros<T>({rows * n + b + 3});
      whole(slice(b, b + rows * n)) = ca::reshape(ca::copy(s.a(slice(0, rows * n))), {rows * n});
      flat.assign(std::size_t(b), 0);
      flat.insert(flat.end(), s.v.begin(), s.v.begin() + rows * n);
      flat.insert(flat.end(), 3, 0);
      CHECK(same<T>(whole, flat));
      // into a cut
      ca::ndarray<T> around = ca::zeros<T>({rows, pitch + 1});
      around(_, slice(b + 1, b + 1 + n)) = m(_, slice(b, b + n));
      flat.clear();
      for (int64 i = 0; i < rows; ++i)
        for (int64 j = -1; j < pitch; ++j) flat.push_back(j >= b && j < b + n ? s.v[std::size_t(i * pitch + j)] : 0);
      CHECK(same<T>(around, flat));
    }
}

/// Rows of `n` elements of a matrix with a pitch, picked by an index of type I.
template <class T, class I>
void takes() {
  for (const int64 n : widths)
    for (const int64 more : {0, 3}) {
      const int64 rows = 53, pitch = n + more;
      const sample<T> s(rows * pitch + 1);
      const ca::ndarray<T> m = ca::reshape(s.a(slice(1, none)), {rows, pitch})(_, slice(0, n));
      std::vector<int> which, expected;
      for (int i = 0; i < 101; ++i) which.push_back((i * 31) % 53 - (i % 3 == 0 ? 53 : 0));
      const ca::ndarray<I> index = ca::astype<I>(ca::ndarray<int>(ca::array(which)));
      for (const int i : which)
        for (int64 j = 0; j < n; ++j) expected.push_back(s.v[std::size_t(1 + (i < 0 ? i + 53 : i) * pitch + j)]);
      INFO(n << " of " << pitch << " columns, " << ca::dtype_name<T> << " by " << ca::dtype_name<I>);
      CHECK(same<T>(ca::take(m, index, 0), expected));
    }
}

}  // namespace

TEST_CASE("unaligned: rows cut from wider ones") {
  cuts<ca::int8>();
  cuts<ca::float16>();
  cuts<float>();
  cuts<double>();
}

TEST_CASE("unaligned: rows taken by an index") {
  takes<ca::int8, ca::int32>();
  takes<ca::int8, int64>();
  takes<ca::float16, ca::int32>();
  takes<ca::float16, int64>();
  takes<float, int64>();
  takes<double, ca::int32>();
}

TEST_CASE("unaligned: rows of bool") {
  const sample<int> s(40 * 131);
  const ca::ndarray<bool> m = ca::reshape(ca::ndarray<bool>(s.a % 2 == 1), {40, 131});
  std::vector<int> expected;
  for (int64 i = 0; i < 40; ++i)
    for (int64 j = 3; j < 130; ++j) expected.push_back(s.v[std::size_t(i * 131 + j)] % 2);
  CHECK(same<bool>(ca::copy(m(_, slice(3, 130))), expected));
}

TEST_CASE("unaligned: more than two axes, functions of what is picked, several operands") {
  using T = ca::float16;
  const sample<T> s(6 * 7 * 45);
  const ca::ndarray<T> x = ca::reshape(s.a, {6, 7, 45});
  std::vector<int> expected, cut;
  const int which[] = {5, 0, 3, 3};
  for (const int i : which)
    for (int64 j = 0; j < 7; ++j)
      for (int64 k = 0; k < 45; ++k) expected.push_back(s.v[std::size_t((i * 7 + j) * 45 + k)] * 2 + 1);
  for (int64 i = 0; i < 6; ++i)
    for (int64 j = 1; j < 6; ++j)
      for (int64 k = 2; k < 43; ++k)
        cut.push_back(s.v[std::size_t((i * 7 + j) * 45 + k)] + 3 * s.v[std::size_t((i * 7 + j + 1) * 45 + k - 1)] -
                      s.v[std::size_t(k)]);
  const ca::ndarray<int> index = ca::array(std::vector<int>(which, which + 4));
  CHECK(same<T>(ca::ndarray<T>(x(index) * T(2.f) + T(1.f)), expected));
  CHECK(same<T>(ca::ndarray<T>(x(_, slice(1, 6), slice(2, 43)) + x(_, slice(2, 7), slice(1, 42)) * T(3.f) -
                               x(0, 0, slice(2, 43))),
                cut));
}

TEST_CASE("unaligned: an index that is picked itself") {
  const auto check = [](auto type, int64 n) {
    using T = decltype(type);
    INFO(n << " columns, " << ca::dtype_name<T>);
    const sample<T> s(20 * n);
    const ca::ndarray<T> x = ca::reshape(s.a, {20, n});
    const ca::ndarray<int> j = ca::array<int>({19, 0, 7, 7, 3}), i = ca::array<int>({4, -2, 0, 1});
    std::vector<int> expected;
    for (const int row : {3, 7, 19, 0})
      for (int64 k = 0; k < n; ++k) expected.push_back(s.v[std::size_t(row * n + k)]);
    CHECK(same<T>(ca::ndarray<T>(ca::take(x, ca::take(j, i, 0), 0)), expected));
    CHECK(same<T>(ca::ndarray<T>(ca::take(x, ca::take(j, i, 0) + 0, 0)), expected));
  };
  for (const int64 n : {8, 33, 127, 128}) {
    check(float(), n);
    check(ca::float16(), n);
    check(ca::int8(), n);
  }
}

TEST_CASE("unaligned: an index out of range is named") {
  const ca::ndarray<ca::float16> m = ca::zeros<ca::float16>({9, 37});
  const auto message = test::thrown<ca::index_error>([&] {
    const ca::ndarray<ca::float16> d = ca::take(m, ca::ndarray<int>(ca::array<int>({3, 9, 1})), 0);
    ca::synchronize();
  });
  CHECK(message.find("9") != std::string::npos);
  CHECK(message.find("take") != std::string::npos);
  // what is not picked reads as 0, and all else as it is
  const sample<ca::float16> s(3 * 37);
  const ca::ndarray<ca::float16> x = ca::reshape(s.a, {3, 37});
  ca::ndarray<ca::float16> to = ca::ones<ca::float16>({2, 37});
  test::thrown<ca::index_error>([&] {
    to(_) = ca::take(x, ca::ndarray<int>(ca::array<int>({1, 9})), 0);
    ca::synchronize();
  });
  std::vector<int> expected(s.v.begin() + 37, s.v.begin() + 74);
  expected.insert(expected.end(), 37, 0);
  CHECK(same<ca::float16>(to, expected));
}
