// Operands on two devices of one kind: every function that takes several arrays refuses them, and takes empty ones from
// anywhere. On the runtime without a GPU, which sees memory that is used on another device, and on machines with two.
// SPDX-License-Identifier: MIT
#include <functional>

#include "test.hpp"

#if !defined(__CUDACC__)
#include "backend/fake/kernels.hpp"
#endif
#include "backend/devices.hpp"

namespace {

/// What the runtime saw that it should not have.
std::vector<std::string> violations() {
#if defined(__CUDACC__)
  ca::synchronize(ca::cuda{0});
  ca::synchronize(ca::cuda{1});
  return {};
#else
  return fake::violations();
#endif
}

using device = ca::cuda;
using array = ca::ndarray<float, device>;
using indices = ca::ndarray<ca::int64, device>;
using truths = ca::ndarray<bool, device>;

/// Operands on one device, of shapes that fit each other.
struct operands {
  array x, v, image, filter, small;
  indices i, k;
  truths m, row;
  ca::ndarray<ca::bfloat16, device> halves;
  explicit operands(int ordinal) {
    const device d{ordinal};
    x = ca::ones<float>({4, 4}, d);
    v = ca::ones<float>({4}, d);
    image = ca::ones<float>({1, 2, 4, 4}, d);
    filter = ca::ones<float>({2, 2, 1, 1}, d);
    small = ca::ones<float>({1, 2, 2, 2}, d);
    i = ca::zeros<ca::int64>({4}, d);
    k = ca::ones<ca::int64>({4, 4}, d);
    m = ca::ones<bool>({4, 4}, d);
    row = ca::ones<bool>({4}, d);
    halves = ca::ones<ca::bfloat16>({2, 4, 8}, d);
  }
};

/// A function of several arrays: operand n is taken from `at(n)`.
struct function {
  const char* name;
  int count;
  std::function<void(const std::function<operands&(int)>& at)> call;
};

#define CALL(count, ...)                                                                       \
  {                                                                                            \
#__VA_ARGS__, count, [](const std::function <operands&(int)>& at) { (void)(__VA_ARGS__); } \
  }
#define BINARY(name) CALL(2, array(ca::astype<float>(ca::name(at(0).x, at(1).x))))
#define INTEGERS(name) CALL(2, ca::eval(ca::name(at(0).k, at(1).k)))

const std::vector<function>& functions() {
  static const std::vector<function> all = {
      BINARY(add),
      BINARY(subtract),
      BINARY(multiply),
      BINARY(divide),
      BINARY(floor_divide),
      BINARY(remainder),
      BINARY(mod),
      BINARY(power),
      BINARY(maximum),
      BINARY(minimum),
      BINARY(arctan2),
      BINARY(hypot),
      BINARY(copysign),
      BINARY(equal),
      BINARY(not_equal),
      BINARY(less),
      BINARY(less_equal),
      BINARY(greater),
      BINARY(greater_equal),
      BINARY(logical_and),
      BINARY(logical_or),
      BINARY(logical_xor),
      INTEGERS(bitwise_and),
      INTEGERS(bitwise_or),
      INTEGERS(bitwise_xor),
      INTEGERS(left_shift),
      INTEGERS(right_shift),
      INTEGERS(power),
      CALL(2, array(at(0).x + at(1).x)),
      CALL(2, array(at(0).x * 2.f - at(1).v)),
      CALL(2, array(ca::where(at(0).m, at(1).x, 0.f))),
      CALL(3, array(ca::where(at(0).m, at(1).x, at(2).x))),
      CALL(3, array(ca::clip(at(0).x, at(1).v, at(2).x))),
      CALL(2, at(0).x += at(1).x),
      CALL(2, at(0).x *= at(1).v),
      CALL(2, at(0).x(ca::_) = at(1).x),
      CALL(2, at(0).x(0) = at(1).v),
      CALL(2, at(0).x(ca::_) = ca::sum(at(1).x, 0)),
      CALL(2, ca::add(at(0).x, at(0).x, ca::out(at(1).x))),
      CALL(2, ca::sum(at(0).x, 0, ca::out(at(1).v))),
      CALL(2, ca::exp(at(0).x, ca::out(at(1).x))),
      CALL(2, array(ca::sum(at(0).x * at(1).x))),
      CALL(2, array(ca::take(at(0).x, at(1).i))),
      CALL(2, array(ca::take(at(0).x, at(1).i, 1) + 1.f)),
      CALL(2, array(ca::take_along_axis(at(0).x, at(1).k))),
      CALL(3, ca::assign_together(ca::out(at(0).x) = at(1).x + 0.f, ca::out(at(2).m) = at(1).x > 0.f)),
      CALL(3, ca::assign_together(ca::out(at(0).x) = 1.f, ca::out(at(1).v) = ca::sum(at(2).x, 0) / 4.f)),
      CALL(2, ca::assign_together(ca::out(at(0).x) = 1.f, ca::out(at(1).v) = 1.f)),
      CALL(2, array(at(0).x(at(1).i))),
      CALL(2, at(0).x(at(1).i) = 2.f),
      CALL(3, at(0).x(at(1).i) = at(2).x),
      CALL(2, at(0).x(at(1).i) += 2.f),
      CALL(3, at(0).x(at(1).i) += at(2).x),
      CALL(2, array(at(0).x(at(1).m))),
      CALL(2, array(at(0).x(at(1).row))),
      CALL(2, at(0).x(at(1).m) = 2.f),
      CALL(2, at(0).x(at(1).row) = 2.f),
      CALL(3, at(0).x(at(1).row) = at(2).x),
      CALL(2, at(0).x(at(1).m) += 1.f),
      CALL(3, at(0).x(at(1).row) -= at(2).x),
      CALL(2, ca::scatter_add(at(0).x, at(1).i, 1.f)),
      CALL(3, ca::scatter_add(at(0).x, at(1).i, at(2).x)),
      CALL(3, ca::scatter_max(at(0).x, at(1).i, at(2).x)),
      CALL(2, ca::segment_sum(at(0).x, at(1).i)),
      CALL(2, ca::segment_max(at(0).x, at(1).i)),
      CALL(2, ca::polyval(at(0).v, at(1).x)),
      CALL(2, ca::polymul(at(0).v, at(1).v)),
      CALL(2, ca::histogram(at(0).x, 3, {}, at(1).x)),
      CALL(2, ca::concatenate({at(0).x, at(1).x})),
      CALL(2, ca::stack({at(0).x, at(1).x})),
      CALL(2, ca::vstack(std::tuple(at(0).x, at(1).v))),
      CALL(2, ca::insert(at(0).x, 1, at(1).v, 0)),
      CALL(2, ca::matmul(at(0).x, at(1).x)),
      CALL(2, ca::matmul(at(0).k, at(1).k)),
      CALL(2, ca::dot(at(0).v, at(1).v)),
      CALL(2, ca::matmul(at(0).x, at(1).v)),
      CALL(2, ca::inner(at(0).v, at(1).v)),
      CALL(3, ca::matmul(at(0).x, at(1).x, ca::out(at(2).x))),
      CALL(3, ca::nnet::linear(at(0).x, at(1).x, at(2).v)),
      CALL(2, ca::nnet::conv2d(at(0).image, at(1).filter)),
      CALL(2, ca::nnet::conv2d_backward_data(at(0).image, at(1).filter, {1, 2, 4, 4})),
      CALL(2, ca::nnet::conv2d_backward_weights(at(0).image, at(1).image, {2, 2, 1, 1})),
      CALL(3, ca::nnet::scaled_dot_product_attention(at(0).halves, at(1).halves, at(2).halves)),
      CALL(2, ca::nnet::max_pool2d_backward(at(0).small, at(1).image, {.window = 2})),
      CALL(2, array(ca::nnet::relu_backward(at(0).x, at(1).x))),
      CALL(2, ca::nnet::categorical_cross_entropy(at(0).x, at(1).x)),
      CALL(2, ca::nnet::softmax_cross_entropy(at(0).x, at(1).x)),
      CALL(2, ca::nnet::cross_entropy(at(0).x, at(1).i)),
      CALL(3, ca::nnet::cross_entropy(at(0).x, at(1).i, at(2).v)),
      CALL(2, ca::nnet::cross_entropy_and_gradient(at(0).x, at(0).i, {}, ca::out(at(1).image(0, 0)))),
      CALL(2, array(ca::nnet::prelu(at(0).x, at(1).v))),
      CALL(2, array(ca::nnet::mse_loss(at(0).x, at(1).x))),
      CALL(2, ca::nnet::softmax_cross_entropy_backward(at(0).x, at(1).x))};
  return all;
}

}  // namespace

TEST_CASE("ordinals: operands on two devices are refused, whichever it is") {
  if (!test::has_two_devices()) return;
  for (const function& f : functions())
    for (int apart = 0; apart < f.count; ++apart) {
      INFO(f.name << ", operand " << apart << " on device 1");
      operands zero(0), one(1);
      const auto at = [&](int n) -> operands& { return n == apart ? one : zero; };
      const std::string text = test::thrown<ca::device_error>([&] { f.call(at); });
      CHECK(text.find("operands on devices ") != std::string::npos);
      CHECK(text.find(": move one with ca::to") != std::string::npos);
      CHECK(violations() == std::vector<std::string>{});
      // nothing was changed
      for (operands* o : {&zero, &one}) {
        CHECK(test::values(o->x) == std::vector<float>(16, 1));
        CHECK(test::values(o->v) == std::vector<float>(4, 1));
      }
    }
}

TEST_CASE("ordinals: all functions work on the second device, and make nothing on the first") {
  if (!test::has_two_devices()) return;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  for (const function& f : functions()) {
    INFO(f.name);
    operands one(1);
    const auto used = ca::memory_stats(device{0}).peak;
    operands* const only = &one;  // nvcc warns of a reference to a local array
    f.call([&](int) -> operands& { return *only; });
    CHECK(ca::memory_stats(device{0}).peak == used);
    CHECK(violations() == std::vector<std::string>{});
  }
  const indices labels = ca::to(ca::array<ca::int64, ca::cpu>({0, 2}), device{1});
  const auto used = ca::memory_stats(device{0}).peak;
  CHECK(ca::nnet::one_hot_encode(labels, 3).device() == device{1});
  const operands one(1);
  (void)ca::nnet::softmax(one.x);
  (void)ca::nnet::dropout(one.x, 0.5);
  (void)ca::sort(one.x);
  (void)ca::topk(one.x, 2);
  (void)ca::cumsum(one.x, 0);
  (void)ca::nnet::max_pool2d(one.image, {.window = 2});
  (void)ca::zeros_like(one.x);
  (void)ca::var(one.x).item();
  (void)ca::flatnonzero(one.x);
  (void)ca::insert(one.x, {0, 2}, 1, 0);
  (void)ca::delete_(one.x, {0, 2}, 0);
  (void)ca::repeat(one.x, {1, 0, 2, 1}, 0);
  (void)ca::tile(one.x, {2, 2});
  (void)ca::roll(one.x, 1);
  (void)array(ca::tril(one.x));
  (void)ca::diag(one.v, 1);
  (void)array(ca::vander(one.v));
  CHECK(ca::memory_stats(device{0}).peak == used);
  CHECK(violations() == std::vector<std::string>{});
}

TEST_CASE("ordinals: empty arrays go with any") {
  if (!test::has_two_devices()) return;
  const array one = ca::ones<float>({0}, device{1}), full = ca::ones<float>({3}, device{1}), none;
  CHECK(array(none + one).size() == 0);
  CHECK(array(one * none).size() == 0);
  CHECK(ca::concatenate({none, full}).device() == device{1});
  CHECK(ca::concatenate({full, none}).shape() == ca::shape{3});
  one(ca::_) = none;
  array sum = full;
  sum(ca::slice(0, 0)) += none;
  CHECK(ca::matmul(none, one).item() == 0);
  const array rest = full(ca::slice(3, 3));  // of memory on device 1, none of it
  CHECK(ca::sum(rest + ca::ones<float>({0}, device{0})).item() == 0);
  CHECK(array(ca::take(rest, ca::zeros<ca::int64>({0}, device{0}))).size() == 0);
  CHECK(ca::max(ca::concatenate({rest, ca::ones<float>({2}, device{0})})).item() == 1);
  CHECK(violations() == std::vector<std::string>{});
}

TEST_CASE("ordinals: copyto and to cross devices") {
  if (!test::has_two_devices()) return;
  const array zero = ca::arange<float>(0, 4, 1, device{0}), one = ca::zeros<float>({4}, device{1});
  ca::copyto(one, zero);
  CHECK(test::values(one) == std::vector<float>{0, 1, 2, 3});
  ca::copyto(zero, one * 2.f);
  CHECK(test::values(zero) == std::vector<float>{0, 2, 4, 6});
  ca::copyto(zero(ca::slice(0, 2)), one(ca::slice(2, 4)));
  CHECK(test::values(zero) == std::vector<float>{2, 3, 4, 6});
  CHECK(ca::to(zero, device{1}).device() == device{1});
  CHECK(violations() == std::vector<std::string>{});
}
