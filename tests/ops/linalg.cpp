// Products of matrices and vectors; expected values from NumPy or paper.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using ints = std::vector<int>;
using doubles = std::vector<double>;

const auto make = [] { return ca::array<float>({{1, 2, 3}, {4, 5, 6}}); };
const auto other = [] { return ca::array<float>({{1, -1}, {0, 2}, {3, 1}}); };

}  // namespace

TEST_CASE("linalg: matrices and vectors") {
  const auto a = make(), b = other();
  CHECK(test::equal(ca::matmul(a, b), {2, 2}, ints{10, 6, 22, 12}));
  CHECK(test::equal(ca::dot(a, b), {2, 2}, ints{10, 6, 22, 12}));
  CHECK(test::equal(ca::matmul(a(0), b), {2}, ints{10, 6}));
  CHECK(test::equal(ca::matmul(a, b(_, 1)), {2}, ints{6, 12}));
  CHECK(test::equal(ca::matmul(a(0), b(_, 1)), {}, ints{6}));
  CHECK(test::equal(ca::dot(a(0), a(1)), {}, ints{32}));
  CHECK(test::equal(ca::inner(a, a), {2, 2}, ints{14, 32, 32, 77}));
  CHECK(test::equal(ca::inner(a(0), a), {2}, ints{14, 32}));
  CHECK(test::equal(ca::inner(a(0), a(1)), {}, ints{32}));
  CHECK(test::equal(ca::matmul(a(_, slice(0, 1)), b(slice(0, 1))), {2, 2}, ints{1, -1, 4, -4}));
  CHECK(test::equal(ca::matmul(a(slice(0, 1), slice(0, 1)), b(slice(2, 3), slice(0, 1))), {1, 1}, ints{3}));
}

TEST_CASE("linalg: operands are read where they lie, or evaluated") {
  const auto a = make(), b = other();
  CHECK(test::equal(ca::matmul(a, a.t()), {2, 2}, ints{14, 32, 32, 77}));
  CHECK(test::equal(ca::matmul(a.t(), a), {3, 3}, ints{17, 22, 27, 22, 29, 36, 27, 36, 45}));
  CHECK(test::equal(ca::matmul(b.t(), a.t()), {2, 2}, ints{10, 22, 6, 12}));
  CHECK(test::equal(ca::matmul(a(_, slice(none, none, -1)), b), {2, 2}, ints{6, 2, 18, 8}));
  CHECK(test::equal(ca::matmul(a(slice(none, none, -1)), b), {2, 2}, ints{22, 12, 10, 6}));
  CHECK(test::equal(ca::matmul(a(_, slice(none, none, 2)), b(slice(0, 2))), {2, 2}, ints{1, 5, 4, 8}));
  CHECK(test::equal(ca::matmul(a(slice(1, 2), slice(1, none)), b(slice(1, none), slice(1, none))), {1, 1}, ints{16}));
  CHECK(test::equal(ca::matmul(a, ca::broadcast_to(b(slice(0, 1)), {3, 2})), {2, 2}, ints{6, -6, 15, -15}));
  CHECK(test::equal(ca::matmul(a(0)(slice(none, none, -1)), b), {2}, ints{6, 2}));
  CHECK(test::equal(ca::matmul(a - 1, b * 2) + 1, {2, 2}, ints{13, 9, 37, 21}));
}

TEST_CASE("linalg: batches broadcast") {
  const auto a = ca::reshape(ca::arange<float>(12), {2, 2, 3}), b = other();
  CHECK(test::equal(ca::matmul(a, b), {2, 2, 2}, ints{6, 4, 18, 10, 30, 16, 42, 22}));
  CHECK(test::equal(ca::matmul(b.t(), ca::swapaxes(a, -1, -2)), {2, 2, 2}, ints{6, 18, 4, 10, 30, 42, 16, 22}));
  CHECK(test::equal(ca::matmul(a, b(_, 0)), {2, 2}, ints{6, 18, 30, 42}));
  CHECK(test::equal(ca::matmul(ca::array<float>({1, 1}), a), {2, 3}, ints{3, 5, 7, 15, 17, 19}));
  const auto four = ca::matmul(ca::expand_dims(a, 1), ca::stack({ca::eval(b + 0), ca::eval(-b)}));
  CHECK(test::equal(four, {2, 2, 2, 2}, ints{6, 4, 18, 10, -6, -4, -18, -10, 30, 16, 42, 22, -30, -16, -42, -22}));
  CHECK(test::equal(ca::matmul(a(slice(none, none, -1)), b), {2, 2, 2}, ints{30, 16, 42, 22, 6, 4, 18, 10}));
  CHECK(ca::matmul(ca::zeros({0, 2, 3}), b).shape() == ca::shape{0, 2, 2});
  // three batch axes of which none merge
  const auto deep = ca::transpose(ca::reshape(ca::arange<float>(48), {2, 3, 2, 2, 2}), {2, 1, 0, 3, 4});
  const auto eye = ca::broadcast_to(ca::eye(2), {1, 3, 1, 2, 2});
  CHECK(ca::all(ca::matmul(deep, eye) == deep).item());
}

TEST_CASE("linalg: nothing to add up") {
  CHECK(test::equal(ca::matmul(ca::ones({2, 0}), ca::ones({0, 2})), {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(ca::matmul(ca::ones<int>({2, 0}), ca::ones<int>({0, 2})), {2, 2}, ints{0, 0, 0, 0}));
  CHECK(test::equal(ca::dot(ca::zeros({0}), ca::zeros({0})), {}, ints{0}));
  CHECK(test::equal(ca::matmul(ca::zeros({0, 3}), other()), {0, 2}, ints{}));
}

TEST_CASE("linalg: dtypes") {
  const auto i = ca::array<int>({{1, 2}, {3, 4}});
  CHECK(test::equal(ca::matmul(i, i), {2, 2}, ints{7, 10, 15, 22}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::matmul(i, i))>, int>);
  CHECK(
      test::equal(ca::matmul(ca::array<ca::uint8>({{200, 100}}), ca::array<ca::uint8>({{1}, {1}})), {1, 1}, ints{44}));
  const auto t = ca::array<bool>({{true, false}, {true, true}});
  CHECK(test::equal(ca::matmul(t, t), {2, 2}, ints{1, 0, 1, 1}));
  CHECK(test::equal(ca::matmul(i, ca::array<double>({0.5, 0.25})), {2}, doubles{1, 2.5}));
  CHECK(std::is_same_v<ca::value_type_t<decltype(ca::matmul(i, make()))>, double>);
  const auto h = ca::array<ca::float16>({{1, 2}, {3, 4}});
  CHECK(test::equal(ca::matmul(h, h), {2, 2}, ints{7, 10, 15, 22}));
  const auto z = test::values(ca::matmul(ca::array<ca::complex64>({ca::complex64(1, 2), ca::complex64(0, 1)}),
                                         ca::array<ca::complex64>({ca::complex64(3, -1), ca::complex64(2, 0)})));
  CHECK((z[0].re == 5 && z[0].im == 7));  // (1 + 2i)(3 - i) + 2i = 5 + 5i + 2i
}

TEST_CASE("linalg: NaN and infinity are handed on") {
  const auto a = ca::array<float>({{1, NAN}, {INFINITY, 1}});
  CHECK(test::equal(ca::matmul(a, ca::array<float>({1, 0})), {2}, doubles{NAN, INFINITY}));
  CHECK(test::equal(ca::matmul(a, ca::array<float>({0, 1})), {2}, doubles{NAN, NAN}));
}

namespace {

/// Whole numbers, exact in every dtype, against the product of integers, which has no blocks.
template <class T>
void check_product(ca::int64 m, ca::int64 n, ca::int64 k) {
  const auto i = ca::eval(ca::reshape(ca::arange(m * k) * 5 % 7 - 3, {m, k})),
             j = ca::eval(ca::reshape(ca::arange(k * n) * 3 % 5 - 2, {k, n})), expected = ca::matmul(i, j);
  const auto a = ca::eval(ca::astype<T>(i)), b = ca::eval(ca::astype<T>(j)), at = ca::copy(a.t()), bt = ca::copy(b.t());
  const auto same = [&](const auto& c) { return ca::all(c == ca::astype<T>(expected)).item(); };
  INFO(m << " x " << n << " x " << k);
  CHECK(same(ca::matmul(a, b)));
  CHECK(same(ca::matmul(at.t(), b)));
  CHECK(same(ca::matmul(a, bt.t())));
  CHECK(same(ca::matmul(at.t(), bt.t())));
  // into rows that do not lie one below the other, beside which nothing is written
  const auto wide = ca::full<T>({m, n + 3}, T(7.f));
  ca::matmul(a, b, ca::out(wide(_, slice(1, n + 1))));
  CHECK(same(wide(_, slice(1, n + 1))));
  CHECK(ca::all(wide(_, slice(n + 1, none)) == T(7.f)).item());
  CHECK(ca::all(wide(_, 0) == T(7.f)).item());
}

/// The same of batches, whose matrices share nothing, one of both operands, or the rows of one.
template <class T>
void check_batch(ca::int64 batch, ca::int64 m, ca::int64 n, ca::int64 k) {
  const auto i = ca::eval(ca::reshape(ca::arange(batch * m * k) * 5 % 7 - 3, {batch, m, k})),
             j = ca::eval(ca::reshape(ca::arange(batch * k * n) * 3 % 5 - 2, {batch, k, n})), all = ca::matmul(i, j);
  const auto a = ca::eval(ca::astype<T>(i)), b = ca::eval(ca::astype<T>(j)), at = ca::copy(ca::swapaxes(a, 1, 2)),
             bt = ca::copy(ca::swapaxes(b, 1, 2));
  const auto same = [&](const auto& c, const auto& expected) { return ca::all(c == ca::astype<T>(expected)).item(); };
  INFO(batch << " of " << m << " x " << n << " x " << k);
  CHECK(same(ca::matmul(a, b), all));
  CHECK(same(ca::matmul(ca::swapaxes(at, 1, 2), b), all));
  CHECK(same(ca::matmul(a, ca::swapaxes(bt, 1, 2)), all));
  CHECK(same(ca::matmul(ca::swapaxes(at, 1, 2), ca::swapaxes(bt, 1, 2)), all));
  CHECK(same(ca::matmul(a(slice(none, none, -2)), b(slice(none, none, -2))), all(slice(none, none, -2))));
  CHECK(same(ca::matmul(a, b(0)), ca::matmul(i, j(0))));
  CHECK(same(ca::matmul(a(_, slice(0, 1)), b(0)), ca::matmul(i(_, slice(0, 1)), j(0))));
  CHECK(same(ca::matmul(ca::swapaxes(at, 1, 2), b(0)), ca::matmul(i, j(0))));
  CHECK(same(ca::matmul(a(0), b), ca::matmul(i(0), j)));
  const auto wide = ca::full<T>({batch, m + 1, n + 3}, T(7.f));
  ca::matmul(a, b, ca::out(wide(_, slice(0, m), slice(1, n + 1))));
  CHECK(same(wide(_, slice(0, m), slice(1, n + 1)), all));
  ca::matmul(a, b(0), ca::out(wide(_, slice(0, m), slice(1, n + 1))));
  CHECK(same(wide(_, slice(0, m), slice(1, n + 1)), ca::matmul(i, j(0))));
  CHECK(ca::all(wide(_, m) == T(7.f)).item());
  CHECK(ca::all(wide(_, _, slice(n + 1, none)) == T(7.f)).item());
  CHECK(ca::all(wide(_, _, 0) == T(7.f)).item());
}

}  // namespace

TEST_CASE("linalg: batches of small products") {
  for (const ca::int64 batch : {1, 4, 31, 32, 33, 70}) {
    check_batch<float>(batch, 1, 1, 1);
    check_batch<float>(batch, 2, 3, 5);
    check_batch<float>(batch, 3, 3, 3);
    check_batch<float>(batch, 5, 7, 1);
    check_batch<double>(batch, 4, 4, 4);
    check_batch<double>(batch, 1, 9, 3);
  }
  for (const ca::int64 batch : {40, 64}) {
    check_batch<float>(batch, 12, 12, 12);
    check_batch<float>(batch, 3, 16, 4);
    check_batch<float>(batch, 4, 16, 4);
    check_batch<float>(batch, 16, 1, 30);
    check_batch<float>(batch, 20, 20, 20);
    check_batch<double>(batch, 8, 8, 8);
    check_batch<ca::float16>(batch, 3, 4, 5);
    check_batch<ca::complex64>(batch, 3, 4, 5);
    check_batch<float>(batch, 3, 4, 0);
    check_batch<ca::float16>(batch, 3, 4, 0);
    check_batch<ca::complex64>(batch, 3, 4, 0);
  }
  // many, which threads share
  check_batch<float>(12345, 3, 3, 3);
}

TEST_CASE("linalg: long sums of few results", "[large]") {
  for (const ca::int64 k : {16383, 16384, 24577}) {
    check_product<float>(1, 1, k);
    check_product<float>(3, 5, k);
    check_product<double>(1, 7, k);
  }
  check_product<float>(127, 20, 16400);
  check_product<float>(2, 127, 70001);
}

TEST_CASE("linalg: every edge of the blocks", "[large]") {
  for (const ca::int64 m : {1, 2, 11, 12, 13, 47, 49, 64})
    for (const ca::int64 n : {1, 3, 15, 16, 17, 31, 33}) check_product<float>(m, n, 19);
  for (const ca::int64 k : {1, 31, 32, 255, 257, 513}) {
    check_product<float>(25, 20, k);
    check_product<float>(1, 20, k);
    check_product<float>(20, 1, k);
  }
  check_product<float>(70, 600, 300);
  check_product<float>(600, 70, 300);
  check_product<float>(1, 2050, 300);
  check_product<double>(130, 270, 260);
  check_product<double>(1, 2050, 300);
  check_product<double>(13, 1, 300);
}

TEST_CASE("linalg: sums of few columns") {
  for (const ca::int64 columns : {1, 2, 3, 4, 7, 8, 9})
    for (const ca::int64 k : {1, 63, 64, 65, 300}) {
      check_product<float>(1, columns, k);
      check_product<double>(1, columns, k);
      check_product<float>(columns, 1, k);
    }
}

TEST_CASE("linalg: half and complex types in blocks") {
  check_product<ca::float16>(13, 33, 40);
  check_product<ca::bfloat16>(67, 20, 9);
  check_product<ca::complex64>(13, 33, 40);
  check_product<ca::complex128>(1, 33, 40);
  // rows are converted 512 to 1023 at a time
  for (const ca::int64 m : {511, 512, 1023, 1024, 1537}) {
    check_product<ca::float16>(m, 5, 7);
    check_product<ca::complex64>(m, 3, 5);
  }
  check_batch<ca::bfloat16>(33, 40, 7, 5);
}

TEST_CASE("linalg: shapes that do not fit") {
  const auto a = make(), b = other();
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(a, a); }) ==
        "matmul: shapes (2, 3) and (2, 3) do not fit: 3 columns, 2 rows");
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(a, b(0)); }).find("(2,)") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] { ca::dot(a(0), b(0)); }).find("dot") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::matmul(a, b(0, 0)); }).find("0-d") != std::string::npos);
  CHECK(test::thrown<ca::shape_error>([&] {
          ca::matmul(ca::zeros({2, 2, 3}), ca::zeros({3, 3, 2}));
        }).find("axis 0") != std::string::npos);
  // inner is for one or two axes: more would not be NumPy's inner
  CHECK(test::thrown<ca::shape_error>([&] { ca::inner(ca::zeros({3, 3}), ca::zeros({3, 3, 3})); }).find("inner") == 0);
  CHECK(test::thrown<ca::shape_error>([&] { ca::dot(ca::zeros({3, 3, 3}), ca::zeros({3, 3, 3})); }).find("dot") == 0);
}
