// What statements cost: kernels, temporaries and allocations, the same on every device but where a device says so.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using ca::_;
using array = ca::ndarray<float>;

constexpr bool one_pass = !ca::default_device::synchronous;  // CUDA

struct cost {
  ca::uint64 kernels, temporaries, allocations;
};
template <class F>
void check(const char* what, const cost& expected, const F& statement) {
  INFO(what);
  const auto before = ca::stats();
  statement();
  const auto c = ca::stats() - before;
  CHECK(c.kernels == expected.kernels);
  CHECK(c.temporaries == expected.temporaries);
  CHECK(c.allocations == expected.allocations);
}

}  // namespace

TEST_CASE("fusion: elementwise statements are one kernel") {
  const array a = ca::ones({64, 64}), b = ca::ones({64, 64}), c = ca::ones({64, 64}), row = ca::ones(64),
              y = ca::ones({64, 64});
  const ca::ndarray<ca::float16> h = ca::astype<ca::float16>(a);
  const ca::ndarray<ca::int32> i = ca::astype<ca::int32>(a);
  const ca::ndarray<bool> m = a > b;
  check("d = a + b * c", {1, 0, 1}, [&] { const array d = a + b * c; });
  check("d(_) = a + b * c", {1, 0, 0}, [&] { y(_) = a + b * c; });
  check("chain", {1, 0, 1}, [&] { const array d = ca::tanh(a) * b + ca::exp(-c * c) + ca::sqrt(ca::abs(a)); });
  check("+ row, + column", {1, 0, 1}, [&] { const array d = a + row + ca::reshape(row, {64, 1}); });
  check("a + b.T", {1, 0, 1}, [&] { const array d = a + b.t(); });
  check("a(_) = a + a.T", {2, 1, 1}, [&] { y(_) = y + y.t(); });
  check("float32 to float16", {1, 0, 1}, [&] { const ca::ndarray<ca::float16> d = ca::astype<ca::float16>(a); });
  check("float16 to float32", {1, 0, 1}, [&] { const array d = ca::astype<float>(h); });
  check("compare", {1, 0, 1}, [&] { const ca::ndarray<bool> d = i > 3; });
  check("where", {1, 0, 1}, [&] { const array d = ca::where(m, a, b); });
  check("transposed copy", {1, 0, 1}, [&] { const array d = ca::copy(a.t()); });
  check("a[::2, ::-1]", {1, 0, 1},
        [&] { const array d = ca::copy(a(ca::slice(ca::none, ca::none, 2), ca::slice(ca::none, ca::none, -1))); });
  check("take", {1, 0, 1}, [&] { const array d = ca::take(a, ca::ndarray<ca::int32>(i(0))) * 2.f; });
  const ca::ndarray<ca::int32> picks = ca::astype<ca::int32>(row);
  check("take, broadcast", {1, 0, 0}, [&] { y(_) = ca::take(row, picks); });
  check("a[mask] = value", {1, 0, 0}, [&] { y(m) = 0.f; });
  check("uniform", {1, 0, 1}, [&] { ca::random::uniform({64}); });
  check("normal", {1, 0, 1}, [&] { ca::random::normal({64}); });
  check("dropout mask", {1, 0, 1}, [&] { ca::nnet::dropout_mask({64}, 0.5); });
  check("dropout", {1, 0, 1}, [&] { const array d = ca::tanh(ca::nnet::dropout(a, 0.5) + b); });
}

TEST_CASE("fusion: reductions are one kernel with what they reduce") {
  const array a = ca::ones({64, 64}), b = ca::ones({64, 64}), three = ca::ones({8, 16, 8}), row = ca::ones(64);
  check("sum", {1, 0, 1}, [&] { const array d = ca::sum(a); });
  check("sum, axis 0", {1, 0, 1}, [&] { const array d = ca::sum(a, 0); });
  check("sum, axis 1", {1, 0, 1}, [&] { const array d = ca::sum(a, 1); });
  check("sum, middle axis", {1, 0, 1}, [&] { const array d = ca::sum(three, 1); });
  check("sum((a - b) * (a - b))", {1, 0, 1}, [&] { const array d = ca::sum((a - b) * (a - b)); });
  check("argmax", {1, 0, 1}, [&] { const ca::ndarray<ca::int64> d = ca::argmax(a, 1); });
  check("(a - mean) * 2", {1, 0, 1}, [&] { const array d = (a - ca::mean(a, 1, ca::keepdims)) * 2.f; });
  check("of a reduction and scalars", {1, 0, 1}, [&] { const array d = ca::sqrt(ca::sum(a * a, 1) / 64.f) + 1.f; });
  check("into an array", {1, 0, 0}, [&] { row(_) = -ca::max(a, 0) * 2.f; });
  check("var", {1, 0, 1}, [&] { const array d = ca::var(a, 1); });
  check("std", {1, 0, 1}, [&] { const array d = ca::std(a, 0, ca::ddof{1}); });
  check("sum(a) * 2 of other dtypes", {1, 0, 1},
        [&] { const ca::ndarray<double> d = ca::sum(ca::astype<int>(a)) * 2; });
  check("max - min", {1, 0, 1}, [&] { const array d = ca::max(a, 1) - ca::min(a, 1); });
  check("(a - mean) / (std + 1)", {1, 0, 1},
        [&] { const array d = (a - ca::mean(a, 1, ca::keepdims)) / (ca::std(a, 1, ca::keepdims) + 1.f); });
  if (one_pass) {
    check("mean_var", {1, 0, 1}, [&] { ca::mean_var(a, 1); });
    check("softmax", {1, 0, 1}, [&] { ca::nnet::softmax(a); });
    check("log_softmax", {1, 0, 1}, [&] { ca::nnet::log_softmax(a); });
    check("logsumexp", {1, 0, 1}, [&] { ca::nnet::logsumexp(a); });
    check("logsumexp down columns", {1, 0, 1}, [&] { ca::nnet::logsumexp(a, 0); });
    const ca::ndarray<double> wide = ca::astype<double>(a);
    check("mean_var of float64", {1, 0, 1}, [&] { ca::mean_var(wide, 1); });
    check("var of float64", {1, 0, 1}, [&] { const ca::ndarray<double> d = ca::var(wide, 1); });
    const ca::ndarray<ca::int32> whole = ca::astype<ca::int32>(a);
    check("var of int32", {1, 0, 1}, [&] { const ca::ndarray<double> d = ca::var(whole, 1); });
  }
}

TEST_CASE("fusion: a large operand that lies along another axis is copied before it is reduced on CUDA") {
  const array a = ca::ones({2048, 1024}), b = ca::ones({1024, 2048});
  const auto before = ca::stats();
  const array d = ca::sum(a + b.t() * a, 1);
  const auto c = ca::stats() - before;
  CHECK(c.kernels == (one_pass ? 2 : 1));
  CHECK(c.temporaries == (one_pass ? 1 : 0));
  CHECK(ca::all(d == 2048).item());
}

TEST_CASE("fusion: a selection is gathered once") {
  const array a = ca::ones({64, 64});
  const ca::ndarray<bool> mask = a > 0;
  const auto before = ca::stats();
  const array picked = a(mask);
  const auto one = ca::stats() - before;
  check("a(mask) + 1", {one.kernels + 1, one.temporaries, one.allocations + 1}, [&] { const array d = a(mask) + 1.f; });
}

TEST_CASE("fusion: scans, sorts and products make no more than their result and scratch") {
  const array a = ca::ones({64, 64});
  check("cumsum of rows", {1, 0, 1}, [&] { ca::cumsum(a, 1); });
  check("sort of short rows", {1, 0, 1}, [&] { ca::sort(ca::reshape(a, {16, 256})); });
  check("topk of short rows", {1, 0, 2}, [&] { ca::topk(ca::reshape(a, {16, 256}), 5); });
  check("matmul", {1, 0, 1}, [&] { ca::matmul(a, a.t()); });
  check("relu(x @ w + b)", {one_pass ? 1u : 2u, 0, 1},
        [&] { ca::nnet::linear(a, a, ca::ndarray<float>(a(0)), {.activation = ca::nnet::activation::relu}); });
  check("matmul of vectors", {1, 0, 1}, [&] { ca::matmul(a(0), a(_, 0)); });
}
