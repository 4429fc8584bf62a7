// Axes, counts, sizes and indices of every integer type mean the same; a float or a bool in their places does not
// compile.
// SPDX-License-Identifier: MIT
#include <cstddef>

#include "test.hpp"

namespace {

using ca::_;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;

const auto cube = [] { return ca::reshape(ca::astype<float>(ca::arange(24)), {2, 3, 4}); };

template <class X>
std::pair<ca::shape, std::vector<ca::value_type_t<X>>> seen(const X& x) {
  return {ca::eval(x).shape(), test::values(x)};
}

/// Whether `f` gives the same array for the number n of each integer type.
template <class F>
bool same(int n, const F& f) {
  const auto expected = seen(f(n));
  return seen(f(unsigned(n))) == expected && seen(f(long(n))) == expected && seen(f((unsigned long)(n))) == expected &&
         seen(f((long long)(n))) == expected && seen(f((unsigned long long)(n))) == expected &&
         seen(f(short(n))) == expected && seen(f((unsigned char)(n))) == expected &&
         seen(f((signed char)(n))) == expected && seen(f(std::size_t(n))) == expected;
}

template <class F, class N>
concept takes = requires(const F& f, N n) {
  f(n);
};
/// Integers compile, floats and truth values do not.
template <class F>
constexpr bool integers_only(const F&) {
  return takes<F, int> && takes<F, unsigned long long> && !takes<F, float> && !takes<F, double> && !takes<F, bool>;
}

}  // namespace

// nvcc hands lambdas to the host's compiler without their constraints
#if defined(__CUDACC__)
#define CHECK_INTEGERS_ONLY(...)
#else
#define CHECK_INTEGERS_ONLY(...) \
  CHECK(integers_only(           \
      [](auto k) requires requires { __VA_ARGS__; } { return __VA_ARGS__; }))
#endif
#define CHECK_INTEGER(n, ...)                         \
  CHECK(same(n, [](auto k) { return __VA_ARGS__; })); \
  CHECK_INTEGERS_ONLY(__VA_ARGS__)

TEST_CASE("arguments: axes of every integer type") {
  CHECK_INTEGER(1, ca::sort(cube(), k));
  CHECK_INTEGER(1, ca::argsort(cube(), k));
  CHECK_INTEGER(1, ca::cumsum(cube(), k));
  CHECK_INTEGER(1, ca::take(cube(), ca::array<int>({1, 0}), k));
  CHECK_INTEGER(1, ca::expand_dims(cube(), k));
  CHECK_INTEGER(2, ca::swapaxes(cube(), k, 0));
  CHECK_INTEGER(2, ca::swapaxes(cube(), 0, k));
  CHECK_INTEGER(1, ca::concatenate({cube(), cube()}, k));
  CHECK_INTEGER(1, ca::stack({cube(), cube()}, k));
  CHECK_INTEGER(2, ca::split(cube(), 2, k)[1]);
  CHECK_INTEGER(1, ca::nnet::softmax(cube(), k));
  CHECK_INTEGER(1, ca::nnet::log_softmax(cube(), k));
  CHECK_INTEGER(1, ca::nnet::logsumexp(cube(), k));
  CHECK_INTEGER(1, ca::topk(cube(), 2, ca::topk_options{.axis = k}).indices);
  CHECK_INTEGER(1, ca::zeros(cube().shape(k)));
  CHECK_INTEGER(1, ca::zeros(cube().stride(k)));
  // what is wrong here is a sentence of its own (tests/compile_fail)
  CHECK(same(1, [](auto k) { return ca::sum(cube(), k); }));
  CHECK(same(1, [](auto k) { return ca::var(cube(), k, ca::keepdims); }));
  CHECK(same(1, [](auto k) { return ca::max(cube(), {0, k}); }));
  CHECK(same(1, [](auto k) { return ca::argmax(cube(), k); }));
  CHECK(same(1, [](auto k) { return ca::flip(cube(), k); }));
  CHECK(same(1, [](auto k) { return ca::transpose(cube(), {2, k, 0}); }));
  CHECK(same(0, [](auto k) { return ca::squeeze(ca::ones({1, 3}), k); }));
  enum { batch, channel };
  CHECK(seen(ca::sort(cube(), channel)) == seen(ca::sort(cube(), 1)));
  ca::ndarray<float> sums = ca::zeros({2, 3});
  ca::scatter_add(sums, ca::array<int>({2}), 1, (long long)(1));
  CHECK(test::equal(sums, {2, 3}, std::vector<float>{0, 0, 1, 0, 0, 1}));
}

TEST_CASE("arguments: counts and sizes of every integer type") {
  CHECK_INTEGER(3, ca::linspace(0, 1, k));
  CHECK_INTEGER(3, ca::eye(k));
  CHECK_INTEGER(3, ca::eye(2, k));
  CHECK_INTEGER(1, ca::eye(2, 3, k));
  CHECK_INTEGER(2, ca::topk(cube(), k).values);
  CHECK_INTEGER(2, ca::split(cube(), k)[1]);
  CHECK_INTEGER(3, ca::nnet::one_hot_encode(ca::array<int>({2, 0}), k));
  CHECK_INTEGER(3, ca::hanning(k));
  CHECK_INTEGER(2, ca::polyder(ca::arange(5.), k));
  CHECK_INTEGER(3, ca::segment_sum(ca::ones({2}), ca::array<int>({2, 0}), k));
  CHECK_INTEGERS_ONLY(ca::random::permutation(k));
  CHECK_INTEGERS_ONLY(ca::set_num_threads(k));
  CHECK(same(5, [](auto k) {
    ca::random::generator g(1);
    return ca::random::permutation(k, g);
  }));
  CHECK(same(5, [](auto k) {
    ca::random::generator g(1);
    return ca::random::integers({4}, 0, k, g);
  }));
  CHECK(same(3, [](auto k) { return ca::zeros(k); }));
  CHECK(same(3, [](auto k) { return ca::broadcast_to(ca::ones({1}), k); }));
  CHECK(same(24, [](auto k) { return ca::reshape(cube(), k); }));
  CHECK(same(5, [](auto k) { return ca::arange(k); }));
  CHECK(same(5, [](auto k) { return ca::arange(1, k); }));
  CHECK(same(2, [](auto k) { return ca::arange(1, 7, k); }));
  CHECK(same(2, [](auto k) { return ca::nnet::max_pool2d(ca::ones({1, 1, 4, 4}), {.window = k, .stride = k}); }));
  CHECK(same(1, [](auto k) {
    return ca::nnet::conv2d(ca::ones({1, 1, 4, 4}), ca::ones({1, 1, 3, 3}), {.stride = k, .padding = k});
  }));
}

TEST_CASE("arguments: indices and slices of every integer type") {
  CHECK(same(1, [](auto k) { return cube()(k); }));
  CHECK(same(1, [](auto k) { return cube()(0, k, k); }));
  CHECK(same(1, [](auto k) { return cube()(_, slice(k, none)); }));
  CHECK(same(2, [](auto k) { return cube()(_, _, slice(none, none, k)); }));
}

TEST_CASE("arguments: scalars of every type beside arrays") {
  const auto x = ca::array<float>({-1, 0.5, 2});
  const auto all = [](const auto& f) {
    const auto expected = seen(f(1.f));
    return seen(f(1)) == expected && seen(f(1u)) == expected && seen(f(1ll)) == expected && seen(f(1ull)) == expected &&
           seen(f(1.)) == expected && seen(f(true)) == expected && seen(f((signed char)(1))) == expected;
  };
  CHECK(all([&](auto s) { return x + s; }));
  CHECK(all([&](auto s) { return s / x; }));
  CHECK(all([&](auto s) { return x < s; }));
  CHECK(all([&](auto s) { return ca::maximum(x, s); }));
  CHECK(all([&](auto s) { return ca::clip(x, 0, s); }));
  CHECK(all([&](auto s) { return ca::clip(x, s, 4.); }));
  CHECK(all([&](auto s) { return ca::where(x > 0, x, s); }));
  CHECK(all([&](auto s) { return ca::full({2}, s); }));
  CHECK(all([&](auto s) { return ca::full_like(x, s); }));
  CHECK(all([&](auto s) { return ca::power(x, s); }));
  CHECK(all([&](auto s) {
    array_t y = x.copy();
    y(slice(1, none)) = s;
    y(x > 1) += s;
    y(ca::array<int>({0})) = s;
    return y;
  }));
  CHECK(all([&](auto s) {
    array_t y = x.copy();
    y.fill(s);
    ca::scatter_add(y, ca::array<int>({0, 0}), s);
    return y;
  }));
  CHECK(all([&](auto s) { return ca::linspace(0, s, 5); }));
  CHECK(all([&](auto s) { return ca::arange(-2., s); }));
  CHECK(all([&](auto s) {
    ca::random::generator g(1);
    return ca::random::uniform({3}, -1, s, g);
  }));
  CHECK(all([&](auto s) {
    ca::random::generator g(1);
    return ca::random::normal({3}, 0, s, g);
  }));
}
