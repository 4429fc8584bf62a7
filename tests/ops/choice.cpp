// Choices, random orders, categories.
// SPDX-License-Identifier: MIT
#include "distributions.hpp"

namespace rnd = ca::random;
using ca::_;
using test::thrown;

namespace {
template <class X>
std::vector<ca::value_type_t<X>> sorted(const X& x) {
  auto v = test::values(x);
  std::sort(v.begin(), v.end());
  return v;
}
}  // namespace

TEST_CASE("choice: of numbers") {
  rnd::generator g(5), h(5);
  CHECK(test::values(rnd::choice(10, {3, 4}, {}, g)) == test::values(rnd::integers({3, 4}, 0, 10, h)));
  const auto once = rnd::choice(10, {2, 5}, {.replace = false}, g);
  CHECK(once.shape() == ca::shape{2, 5});
  CHECK(sorted(once) == std::vector<ca::int64>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(sorted(rnd::choice(3, 3, ca::array({5., 0.1, 1.}), {.replace = false}, g)) == std::vector<ca::int64>{0, 1, 2});
  // what has no weight is never chosen
  const auto p = ca::array({0.f, 1.f, 0.f, 3.f, 0.f});
  CHECK(ca::all(ca::isin(rnd::choice(5, 1000, p, {}, g), ca::array({1, 3}))).item());
  CHECK(sorted(rnd::choice(5, 2, p, {.replace = false}, g)) == std::vector<ca::int64>{1, 3});
  CHECK(sorted(rnd::choice(3, 2, ca::array<double>({0., 1e-320, 1.}), {.replace = false}, g)) ==
        std::vector<ca::int64>{1, 2});
  CHECK(rnd::choice(5, {0, 3}, {}, g).shape() == ca::shape{0, 3});
  CHECK(rnd::choice(0, 0, {}, g).size() == 0);
}

TEST_CASE("choice: without replacement the first is in proportion to its weight, the second to what is left") {
  rnd::generator g(5);
  ca::ndarray<ca::int64> counts = ca::zeros<ca::int64>({3, 3});
  const auto p = ca::array({1., 2., 5.});
  for (int i = 0; i < 4000; ++i) {
    const auto v = test::values(rnd::choice(3, 2, p, {.replace = false}, g));
    counts(v[0], v[1]) = counts(v[0], v[1]).item() + 1;
  }
  const auto c = test::values(counts);
  const double expected[] = {
      0, 1. / 8 * 2 / 7, 1. / 8 * 5 / 7, 2. / 8 / 6, 0, 2. / 8 * 5 / 6, 5. / 8 / 3, 5. / 8 * 2 / 3, 0};
  double sum = 0;
  for (int i = 0; i < 9; ++i)
    if (i % 4 != 0) sum += std::pow(double(c[std::size_t(i)]) - 4000 * expected[i], 2) / (4000 * expected[i]);
  CHECK(sum < 25.74);  // the quantile of chi-square of 5 degrees at 1 - 10^-4
}

TEST_CASE("choice: of elements") {
  rnd::generator g(5), h(5);
  const ca::ndarray<float> x = ca::reshape(ca::arange(12.f), {4, 3});
  const auto rows = rnd::choice(x, {2, 5}, {}, g);
  CHECK(rows.shape() == ca::shape{2, 5, 3});
  CHECK(test::values(rows(_, _, 0)) == test::values(ca::astype<float>(3 * rnd::integers({2, 5}, 0, 4, h))));
  CHECK(
      test::equal(rnd::choice(x + 1, 2, ca::array({0, 0, 1, 0}), {}, g), {2, 3}, std::vector<float>{7, 8, 9, 7, 8, 9}));
  CHECK(sorted(rnd::choice(x, 4, {.replace = false}, g)) == test::values(x));
}

TEST_CASE("choice: errors draw nothing") {
  rnd::generator g(5);
  CHECK(thrown<ca::value_error>([&] { rnd::choice(3, 4, {.replace = false}, g); }) ==
        "random::choice: 4 of 3 elements without replacement");
  CHECK(thrown<ca::value_error>([&] { rnd::choice(0, 4, {}, g); }) == "random::choice: of no elements");
  CHECK(thrown<ca::value_error>([&] { rnd::choice(-2, 4, {}, g); }) == "random::choice: of -2 elements");
  CHECK(thrown<ca::shape_error>([&] { rnd::choice(3, 4, ca::ones({4}), {}, g); }) ==
        "random::choice: weights of shape (4,) for 3 elements");
  CHECK(thrown<ca::value_error>([&] {
          rnd::choice(2, 4, ca::array({1., -1.}), {}, g);
        }) == "random::choice: weight 1 is -1, not at least 0 and finite");
  CHECK(thrown<ca::value_error>([&] { rnd::choice(2, 4, ca::zeros({2}), {}, g); }) ==
        "random::choice: the weights add up to 0");
  CHECK(thrown<ca::value_error>([&] {
          rnd::choice(3, 2, ca::array({0, 1, 0}), {.replace = false}, g);
        }) == "random::choice: 2 elements without replacement, but 1 weights are not 0");
  CHECK(thrown<ca::shape_error>([&] { rnd::choice(ca::ones({}), 2, {}, g); }) ==
        "random::choice: of an array without axes");
  CHECK(g.offset() == 0);
}

TEST_CASE("permutation, shuffle, permuted: of arrays") {
  rnd::generator g(5), h(5);
  const ca::ndarray<float> x = ca::reshape(ca::arange(60.f), {5, 4, 3});
  const auto order = rnd::permutation(4, h);
  CHECK(test::values(rnd::permutation(x, 1, g)) == test::values(ca::take(x, order, 1)));
  g = h = rnd::generator(5);
  const ca::ndarray<float> y = ca::copy(x);
  rnd::shuffle(y, -2, g);
  CHECK(test::values(y) == test::values(rnd::permutation(x, 1, h)));
  // a view is shuffled where it lies
  const ca::ndarray<float> z = ca::copy(x);
  rnd::shuffle(z(_, 0, 1), 0, g);
  CHECK(sorted(z(_, 0, 1)) == test::values(x(_, 0, 1)));
  CHECK(test::values(z(_, ca::slice(1, ca::none))) == test::values(x(_, ca::slice(1, ca::none))));
  // each line in an order of its own
  const auto lines = rnd::permuted(ca::broadcast_to(ca::arange(100), {50, 100}), 1, g);
  CHECK(test::values(ca::sort(lines, 1)) == test::values(ca::broadcast_to(ca::arange(100), {50, 100})));
  CHECK(ca::unique_along(lines, 0).shape(0) == 50);
  const auto all = rnd::permuted(x, g);
  CHECK((all.shape() == x.shape() && sorted(all) == test::values(x) && test::values(all) != test::values(x)));
  CHECK(rnd::permuted(ca::zeros({0, 3}), 1, g).shape() == ca::shape{0, 3});
  const auto before = g.offset();
  CHECK(thrown<ca::index_error>([&] { rnd::permutation(x, 3, g); }) ==
        "random::permutation: axis 3 is out of bounds for an array of 3 axes");
  CHECK(thrown<ca::index_error>([&] { rnd::shuffle(y, 3, g); }) ==
        "random::shuffle: axis 3 is out of bounds for an array of 3 axes");
  CHECK(thrown<ca::value_error>([&] {
          rnd::shuffle(ca::broadcast_to(x, {2, 5, 4, 3}), 0, g);
        }) != "nothing was thrown");
  CHECK(g.offset() == before);
  // each of the 6 orders of 3 elements comes as often
  ca::ndarray<ca::int64> counts = ca::zeros<ca::int64>({27});
  for (int i = 0; i < 3000; ++i) {
    const auto v = test::values(rnd::permutation(ca::arange(3), g));
    counts(9 * v[0] + 3 * v[1] + v[2]) = counts(9 * v[0] + 3 * v[1] + v[2]).item() + 1;
  }
  CHECK(ca::count_nonzero(counts).item() == 6);
  CHECK(ca::sum(ca::square(ca::astype<double>(counts) - 500 * (counts > 0))).item() / 500 < 25.8);
}

TEST_CASE("categorical: by the softmax of logits") {
  rnd::generator g(5);
  const auto p = ca::array({0.1, 0.2, 0.3, 0.4});
  const auto in_bins = [](const auto& x) { return test::chi_square(x, {0, 1, 2}, {0.1, 0.2, 0.3, 0.4}); };
  const double limit = 21.1;  // of 3 degrees, at 1 - 10^-4
  CHECK(in_bins(rnd::categorical(ca::broadcast_to(ca::log(p), {100000, 4}), -1, g)) < limit);
  CHECK(in_bins(rnd::categorical(ca::broadcast_to(ca::astype<float>(ca::log(p) + 50), {100000, 4}), 1, g)) < limit);
  const auto halves = ca::transpose(ca::broadcast_to(ca::astype<ca::bfloat16>(ca::zeros({4})), {100000, 4}));
  CHECK(test::chi_square(rnd::categorical(halves, 0, g), {0, 1, 2}, {0.25, 0.25, 0.25, 0.25}) < limit);
  CHECK(thrown<ca::shape_error>([&] {
          rnd::categorical(ca::zeros({2, 0}), -1, g);
        }) == "random::categorical: no categories along axis 1 of shape (2, 0)");
  // an improbable category of many draws is not chosen by a flaw of the tail: 2^-24 of them would be
  const auto rare = rnd::categorical(ca::broadcast_to(ca::array({0.f, -60.f}), {2000000, 2}), -1, g);
  CHECK(ca::sum(rare).item() == 0);
  // one category; a batch of shape (2, 3)
  CHECK(ca::all(rnd::categorical(ca::zeros({2, 3, 1}), -1, g) == 0).item());
  CHECK(rnd::categorical(ca::zeros({2, 5, 3}), 1, g).shape() == ca::shape{2, 3});
  CHECK(ca::all(rnd::categorical(ca::array({-INFINITY, 0.f, -INFINITY}), 0, g) == 1).item());
  CHECK(rnd::categorical(ca::zeros({0, 3}), -1, g).shape() == ca::shape{0});
}
