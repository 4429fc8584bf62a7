// linear: x w + b with an activation, and the precision of products.
// SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using array = ca::ndarray<float>;
using ca::nnet::activation;

}  // namespace

TEST_CASE("linear: values, with and without relu") {
  const array x = ca::array<float>({{1, 2}, {3, -4}}), w = ca::array<float>({{1, 0, -1}, {2, 1, 1}}),
              b = ca::array<float>({0.5f, 0, -10});
  CHECK(test::equal(ca::nnet::linear(x, w, b), {2, 3}, std::vector<float>{5.5, 2, -9, -4.5, -4, -17}));
  CHECK(test::equal(ca::nnet::linear(x, w, b, {.activation = activation::relu}), {2, 3},
                    std::vector<float>{5.5, 2, 0, 0, 0, 0}));
  CHECK(test::equal(ca::nnet::linear(x(0), w, b), {3}, std::vector<float>{5.5, 2, -9}));
  CHECK(ca::nnet::linear(ca::ones({2, 5, 2}), w, b).shape() == ca::shape{2, 5, 3});
  CHECK(ca::nnet::linear(ca::ones({0, 2}), w, b).shape() == ca::shape{0, 3});
}

TEST_CASE("linear: what matmul and addition give, for many shapes and transposed operands") {
  for (const ca::int64 n : {1, 8, 24, 100, 256}) {
    CAPTURE(n);
    const array x = ca::random::normal({48, 40}), w = ca::random::normal({40, n}), b = ca::random::normal({n});
    const array expected = ca::maximum(ca::matmul(x, w) + b, 0);
    const auto v = test::values(expected);
    const std::vector<double> reference(v.begin(), v.end());
    const auto check = [&](const array& x_, const array& w_) {
      CHECK(test::close(ca::nnet::linear(x_, w_, b, {.activation = activation::relu}), {48, n}, reference, 1e-5));
    };
    check(x, w);
    check(ca::copy(x.t()).t(), w);
    check(x, ca::copy(w.t()).t());
  }
}

TEST_CASE("linear: half types") {
  const auto x = ca::astype<ca::bfloat16>(ca::full({16, 32}, 0.5f));
  const ca::ndarray<ca::bfloat16> w = ca::astype<ca::bfloat16>(ca::full({32, 24}, 0.25f)),
                                  b = ca::astype<ca::bfloat16>(ca::full({24}, -1.f));
  CHECK(test::equal(ca::astype<float>(ca::nnet::linear(x, w, b)), {16, 24}, std::vector<float>(16 * 24, 3)));
}

TEST_CASE("linear: shapes that do not fit") {
  const array x = ca::ones({4, 3}), w = ca::ones({3, 5});
  CHECK(test::thrown<ca::shape_error>([&] { ca::nnet::linear(x, w, ca::ones(4)); }) ==
        "nnet::linear: weights of shape (3, 5) and a bias of shape (4,); (k, n) and (n,) are wanted");
  CHECK_THROWS_AS(ca::nnet::linear(ca::ones({4, 2}), w, ca::ones(5)), ca::shape_error);
}

TEST_CASE("precision: TF32 only where it is asked for") {
  // 1 + 2^-12 is a float32 and not a TF32 number
  const float x = 1 + 1 / 4096.f;
  const array a = ca::full({64, 64}, x), one = ca::eye(64);
  CHECK(ca::min(ca::matmul(a, one)).item() == x);
  {
    const ca::precision_scope fast(ca::precision::tf32);
    CHECK(test::close(ca::matmul(a, one), {64, 64}, std::vector<double>(64 * 64, x), 1e-3));
    const ca::precision_scope exact(ca::precision::ieee);
    CHECK(ca::min(ca::matmul(a, one)).item() == x);
  }
  CHECK(ca::min(ca::matmul(a, one)).item() == x);
}
