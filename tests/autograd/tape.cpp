// Variables and the tape: what is recorded, kept and freed, and what throws.
#include <cudarray/nnet.hpp>
#include <thread>

#include "differences.hpp"

namespace {

using ca::_;
using test::numbers;
using array = ca::ndarray<float>;
using variable = ca::variable<float>;

array iota(const ca::shape& s) { return ca::reshape(ca::astype<float>(ca::arange(s.elements())), s); }

}  // namespace

TEST_CASE("autograd: a variable is an array with a gradient") {
  const array a = iota({2, 3});
  variable w = a;
  CHECK(w.shape() == ca::shape{2, 3});
  CHECK(w.shape(-1) == 3);
  CHECK(w.ndim() == 2);
  CHECK(w.size() == 6);
  CHECK(w.requires_grad());
  CHECK(!w.has_grad());
  CHECK(test::thrown<ca::value_error>([&] { w.grad(); }) ==
        "grad: the variable of shape (2, 3) has no gradient: call backward() on what was computed of it");
  const ca::variable y = ca::sum(w * w);
  static_assert(std::is_same_v<decltype(y), const variable>);
  CHECK(y.item() == 55);
  y.backward();
  CHECK(test::equal(w.grad(), {2, 3}, numbers{0, 2, 4, 6, 8, 10}));
  CHECK(test::equal(w.detach(), {2, 3}, numbers{0, 1, 2, 3, 4, 5}));
  // what the user writes into is the array
  w.value() -= 0.5f * w.grad();
  CHECK(test::equal(a, {2, 3}, numbers(6, 0.)));
}

TEST_CASE("autograd: gradients add up over passes until they are forgotten") {
  const variable x = ca::array<float>({1, 2});
  for (int i = 1; i <= 3; ++i) {
    ca::variable(ca::sum(3.f * x)).backward();
    CHECK(test::equal(x.grad(), {2}, numbers{3. * i, 3. * i}));
  }
  const float* const at = x.grad().data();
  x.zero_grad();
  CHECK(!x.has_grad());
  ca::variable(ca::sum(x * x)).backward();
  CHECK(test::equal(x.grad(), {2}, numbers{2, 4}));
  CHECK(x.grad().data() == at);  // the memory stays
}

TEST_CASE("autograd: a value with several users has the sum of their gradients") {
  const variable x = ca::array<float>({1, 2, 3});
  const ca::variable h = x * x;
  const ca::variable y = h + h * h;
  const ca::variable z = ca::sum(y + x);
  z.backward();
  CHECK(test::equal(x.grad(), {3}, numbers{2 + 4 + 1, 4 + 4 * 8 + 1, 6 + 4 * 27 + 1}));
}

TEST_CASE("autograd: gradients that pass on are shared between variables computed, not between parameters") {
  const variable a = ca::ones({4}), b = ca::ones({4});
  ca::variable(ca::variable(a + b) + b).backward(iota({4}));
  CHECK(test::equal(a.grad(), {4}, numbers{0, 1, 2, 3}));
  CHECK(test::equal(b.grad(), {4}, numbers{0, 2, 4, 6}));
  array of_a = a.grad();
  of_a *= 10.f;
  CHECK(test::equal(b.grad(), {4}, numbers{0, 2, 4, 6}));
}

TEST_CASE("autograd: a gradient that somebody holds does not change") {
  const variable x = ca::ones({3});
  ca::variable(ca::sum(x)).backward();
  const array first = x.grad();
  ca::variable(ca::sum(x)).backward();
  CHECK(test::equal(first, {3}, numbers{1, 1, 1}));
  CHECK(test::equal(x.grad(), {3}, numbers{2, 2, 2}));
}

TEST_CASE("autograd: what needs no gradient is not recorded") {
  const array x = iota({3});
  variable w = ca::ones({3}), fixed = ca::ones({3});
  fixed.requires_grad(false);
  const ca::variable y = ca::sum(w * x * fixed);
  y.backward();
  CHECK(w.has_grad());
  CHECK(!fixed.has_grad());
  CHECK(!ca::variable(ca::sum(fixed * x)).requires_grad());
  {
    const ca::no_grad guard;
    CHECK(!ca::variable(ca::sum(w * x)).requires_grad());
  }
  CHECK(ca::variable(ca::sum(w * x)).requires_grad());
  const array value = ca::stop_gradient(w * x);
  CHECK(test::equal(value, {3}, numbers{0, 1, 2}));
  // constant nearly everywhere
  CHECK(!ca::variable(ca::floor(w)).requires_grad());
  const ca::ndarray<bool> above = w > 0.f;
  CHECK(test::equal(above, {3}, std::vector<bool>{true, true, true}));
  const ca::variable computed = w * 2.f;
  CHECK(test::thrown<ca::value_error>([&] { ca::variable(computed).requires_grad(false); }) ==
        "requires_grad: the variable of shape (3,) was computed: use detach()");
}

TEST_CASE("autograd: backward passes that cannot be made throw, and change nothing") {
  const variable x = iota({3}), w = ca::ones({3});
  CHECK(test::thrown<ca::value_error>([&] { ca::variable(x * w).backward(); }) ==
        "backward: the variable of shape (3,) is not one element: give backward a gradient of this shape");
  CHECK(test::thrown<ca::shape_error>([&] { ca::variable(x * w).backward(ca::ones({2})); }) ==
        "backward: a gradient of shape (2,) for a variable of shape (3,)");
  CHECK(test::thrown<ca::value_error>([&] { variable().backward(ca::ones({0})); }) ==
        "backward: the variable of shape (0,) was computed of nothing that a gradient is wanted of");
  const ca::variable once = ca::sum(x * w);
  once.backward();
  CHECK(test::thrown<ca::value_error>([&] { once.backward(); }) ==
        "backward: the graph was freed by an earlier backward pass: call that one with {.retain_graph = true}");
  CHECK(test::equal(x.grad(), {3}, numbers{1, 1, 1}));
  const ca::variable twice = ca::sum(x * w);
  twice.backward({.retain_graph = true});
  twice.backward();
  CHECK(test::equal(x.grad(), {3}, numbers{3, 3, 3}));
}

TEST_CASE("autograd: an operand that was written in between is stale") {
  const variable x = iota({3}), w = ca::ones({3});
  const ca::variable h = x * w;
  const ca::variable y = ca::sum(ca::exp(h) * x);
  array(x.value())(0) = 5;
  const std::string text =
      "backward: an operand of shape (3,), float32, was written after a variable was computed of it";
  CHECK(test::thrown<ca::stale_error>([&] { y.backward(); }) == text);
  CHECK(!x.has_grad());
  CHECK(!w.has_grad());
  // the value of a function whose gradient reads that
  const ca::variable r = ca::exp(w);
  array(r.value()).fill(0);
  CHECK(test::thrown<ca::stale_error>([&] { ca::variable(ca::sum(r)).backward(); }) == text);
  // what no gradient reads may be written, as parameters are by an optimiser
  const ca::variable sum = ca::sum(x + w);
  array(x.value())(0) = 7;
  sum.backward();
  CHECK(test::equal(w.grad(), {3}, numbers{1, 1, 1}));
}

TEST_CASE("autograd: values of another shape or dtype") {
  variable x = ca::array<float>({1, 2});
  ca::variable(ca::sum(x * x)).backward();
  x.value() = ca::ones({1000});
  CHECK(test::thrown<ca::shape_error>([&] { ca::variable(ca::sum(x * x)); }) ==
        "variable: the value has shape (1000,), the variable had (2,): make a new variable of it");
  CHECK(x.grad().shape() == ca::shape{2});
  const ca::variable<double> wide = ca::array<double>({1, 2});
  const variable narrow = wide * 2.;
  ca::variable(ca::sum(narrow)).backward();
  CHECK(test::equal(wide.grad(), {2}, numbers{2, 2}));
  const variable same = ca::variable<double>(wide);
  CHECK(same.requires_grad());
}

TEST_CASE("autograd: what is wanted is settled when a function is recorded") {
  variable x = ca::array<float>({{1, 2}}), w = ca::array<float>({{3}, {4}});
  w.requires_grad(false);
  const ca::variable product = ca::matmul(x, w), sum = ca::sum(x.t() * w);
  w.requires_grad(true);
  product.backward();
  sum.backward();
  CHECK(test::equal(x.grad(), {1, 2}, numbers{6, 8}));
  CHECK(!w.has_grad());
  // parts that are constant nearly everywhere
  const variable c = ca::floor(x);
  CHECK(!variable(ca::floor(x) * c).requires_grad());
  CHECK(ca::ndarray<double>(ca::mean(x > 1.f)).item() == 0.5);
  const std::string wrong = test::thrown<ca::shape_error>([&] {
    ca::nnet::linear(ca::ones({4, 2}), variable(ca::ones({2, 2})), ca::ones({4, 1}));
  });
  CHECK(wrong == "nnet::linear: weights of shape (2, 2) and a bias of shape (4, 1); (k, n) and (n,) are wanted");
}

TEST_CASE("autograd: a statement keeps what its gradient reads and no more") {
  const ca::int64 n = 1 << 18, bytes = n * ca::int64(sizeof(float));
  const auto used = [] { return ca::memory_stats<ca::default_device>().used; };
  const variable x = ca::ones({n}), b = ca::ones({n});
  const auto before = used();
  variable y = ca::nnet::relu(x + b);
  CHECK(used() - before == bytes);  // the value, which the gradient reads
  y = ca::sum(ca::tanh(x * x) * 2.f);
  CHECK(used() - before < bytes);
}

TEST_CASE("autograd: long chains are gone back from and released without a stack", "[slow]") {
  const int n = 1000000;
  const variable x = ca::ones({2});
  {
    variable y = x * 1.f;
    for (int i = 0; i < n; ++i) y = y + 1.f;
    ca::variable(ca::sum(y)).backward();
    CHECK(test::equal(x.grad(), {2}, numbers{1, 1}));
    y = x * 1.f;
    for (int i = 0; i < n; ++i) y = y + 1.f;
  }
}

TEST_CASE("autograd: each thread records and goes back by itself, parameters are read by all") {
  variable w = iota({64});
  w.requires_grad(false);  // all read it
  std::vector<float> found(4);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const variable own = float(t) * ca::ones({64});
      for (int i = 0; i < 50; ++i) {
        own.zero_grad();
        ca::variable h = own * w;
        ca::variable(ca::sum(h * h)).backward();
      }
      found[std::size_t(t)] = ca::sum(own.grad()).item();
    });
  for (std::thread& t : all) t.join();
  for (int t = 0; t < 4; ++t) CHECK(found[std::size_t(t)] == float(2 * t * 85344));
}

TEST_CASE("autograd: products") {
  const auto product = [](const auto& a, const auto& b) { return ca::matmul(a, b); };
  const auto check = [&](const ca::shape& a, const ca::shape& b) {
    test::random_numbers random(3);
    INFO(a.str() << " @ " << b.str());
    test::check_jacobian(product, {random.between(-2, 2, a.elements(), 0), random.between(-2, 2, b.elements(), 1)},
                         {{a}, {b}}, std::make_integer_sequence<int, 2>{});
  };
  check({3, 4}, {4, 2});
  check({2, 3, 2}, {2, 2, 3});
  check({2, 1, 2, 3}, {3, 3, 2});
  check({4}, {4});
  check({4}, {2, 4, 3});
  check({2, 3, 4}, {4});
  check({0, 4}, {4, 2});
  check({2, 0}, {0, 3});
}

TEST_CASE("autograd: shapes and axes") {
  const test::range all{-2, 2};
  test::check_gradients(
      "sum", [](const auto& x) { return ca::sum(x * x); }, all);
  test::check_gradients(
      "mean", [](const auto& x) { return ca::mean(x * x + 1.); }, all);
  const auto check = [](const char* name, const auto& f, const ca::shape& s) {
    test::random_numbers random(5);
    INFO(name);
    test::check_jacobian(f, {random.between(-2, 2, s.elements(), 0)}, {{s, test::operand::spread}},
                         std::make_integer_sequence<int, 1>{});
  };
  check("reshape", [](const auto& x) { return ca::reshape(x, {3, 2}); }, {2, 3});
  check("ravel", [](const auto& x) { return ca::ravel(x * x); }, {2, 3});
  check("transpose", [](const auto& x) { return ca::transpose(x, {2, 0, 1}); }, {2, 3, 2});
  check("transpose", [](const auto& x) { return ca::transpose(x); }, {2, 3});
  check("swapaxes", [](const auto& x) { return ca::swapaxes(x, 0, -1); }, {2, 3, 2});
  check("expand_dims", [](const auto& x) { return ca::expand_dims(x, 1); }, {2, 3});
  check("squeeze", [](const auto& x) { return ca::squeeze(x); }, {1, 3, 1});
  check("broadcast_to", [](const auto& x) { return ca::broadcast_to(x, {2, 3, 2}); }, {3, 1});
  check("sum over axes", [](const auto& x) { return ca::sum(x * x, {0, 2}); }, {2, 3, 2});
  check("mean over an axis", [](const auto& x) { return ca::mean(x, 1, ca::keepdims) * x; }, {2, 3, 2});
  check("softmax", [](const auto& x) { return ca::exp(x) / ca::sum(ca::exp(x), -1, ca::keepdims); }, {2, 3});
}
