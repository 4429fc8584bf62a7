// Dropout: the mask's values, its frequencies, and that it repeats.
// SPDX-License-Identifier: MIT
#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::random::generator;
using floats = std::vector<float>;

}  // namespace

TEST_CASE("nnet: a dropout mask is 0 or 1 / (1 - p)") {
  constexpr int n = 100000;
  for (const double p : {0.1, 0.5, 0.75}) {
    INFO(p);
    generator g(1);
    const auto m = test::values(nnet::dropout_mask({n}, p, g));
    int zeros = 0, others = 0;
    double sum = 0;
    for (const float v : m) {
      zeros += v == 0;
      others += v != 0 && v != float(1 / (1 - p));
      sum += double(v);
    }
    CHECK(others == 0);
    CHECK(std::abs(zeros - n * p) < 4 * std::sqrt(n * p * (1 - p)));
    CHECK(std::fabs(sum / n - 1) < 4 * std::sqrt(p / (1 - p) / n));  // the mean stays
  }
}

TEST_CASE("nnet: dropout with p = 0 changes nothing") {
  generator g(1);
  CHECK(test::equal(nnet::dropout_mask({50}, 0, g), {50}, floats(50, 1)));
  CHECK(test::equal(ca::eval(nnet::dropout(ca::array<float>({1, -2, 3}), 0, g)), {3}, floats{1, -2, 3}));
}

TEST_CASE("nnet: dropout multiplies by its mask") {
  generator g(2), same(2);
  const auto x = test::wave_of({20, 30});
  const ca::ndarray<double> y = nnet::dropout(x, 0.5, g), mask = nnet::dropout_mask<double>({20, 30}, 0.5, same);
  CHECK(test::equal(y, {20, 30}, test::values(x * mask)));
  CHECK(ca::all((mask == 0) | (mask == 2)).item());
  CHECK(nnet::dropout(x + 1, 0.5, g).shape() == ca::shape{20, 30});
  CHECK(nnet::dropout(ca::zeros({0, 3}), 0.5, g).shape() == ca::shape{0, 3});
}
TEST_CASE("nnet: dropout's expression has one value") {
  const auto x = test::wave_of({20, 30});
  generator g(3);
  const auto e = nnet::dropout(x, 0.5, g);
  const ca::ndarray<double> first = e, second = e, other = nnet::dropout(x, 0.5, g);
  CHECK(ca::all(first == second).item());
  CHECK(!ca::all(first == other).item());
}

template <class T>
void check_dropout() {
  generator g(6), same(6);
  for (const ca::shape& s : {ca::shape{1001}, ca::shape{4096}, ca::shape{37, 24}, ca::shape{24, 37}}) {
    INFO(ca::dtype_name<T> << ' ' << s.str());
    const ca::ndarray<T> x = ca::astype<T>(test::wave_of(s));
    const auto check = [&](const ca::ndarray<T>& a) {
      const ca::ndarray<T> y = nnet::dropout(a, 0.25, g), mask = nnet::dropout_mask<T>(a.shape(), 0.25, same);
      CHECK(ca::all(y == a * mask).item());
      const ca::int64 zeros = ca::sum(mask == 0).item();
      CHECK((zeros > a.size() / 8 && zeros < a.size() / 2));
    };
    check(x);
    check(x.t());
    check(ca::ravel(x)(ca::slice(3, ca::none)));
  }
}
TEST_CASE("nnet: dropout of every floating dtype and layout multiplies by its mask") {
  check_dropout<float>();
  check_dropout<double>();
  check_dropout<ca::float16>();
  check_dropout<ca::bfloat16>();
}
TEST_CASE("nnet: feature_dropout drops whole channels") {
  generator g(4), same(4);
  const auto x = test::wave_of({4, 6, 3, 5}) + 10;
  const ca::ndarray<double> y = nnet::feature_dropout(x, 0.5, g);
  const ca::ndarray<double> mask = nnet::dropout_mask<double>({4, 6}, 0.5, same);
  CHECK(test::equal(y, {4, 6, 3, 5}, test::values(x * ca::reshape(mask, {4, 6, 1, 1}))));
  const ca::int64 dropped = ca::sum(mask == 0).item();
  CHECK((dropped > 0 && dropped < 24));
}
TEST_CASE("nnet: alpha_dropout keeps mean and variance") {
  generator g(5);
  const ca::ndarray<double> x = ca::random::normal<double>({200000}, 0, 1, g);
  for (const double p : {0.1, 0.5}) {
    const ca::ndarray<double> y = nnet::alpha_dropout(x, p, g);
    CHECK(std::abs(ca::mean(y).item()) < 0.01);
    CHECK(std::abs(ca::var(y).item() - 1) < 0.02);
    // PyTorch's formula: what is dropped is one number
    const double least = -1.7580993408473766, a = 1 / std::sqrt((1 - p) * (1 + p * least * least));
    const double low = a * least - a * p * least;
    const ca::int64 dropped = ca::sum(ca::abs(y - low) < 1e-12).item();
    CHECK(std::abs(double(dropped) - 200000 * p) < 4 * std::sqrt(200000 * p * (1 - p)));
    const ca::ndarray<double> kept = ca::where(ca::abs(y - low) < 1e-12, 0, y - (a * x - a * p * least));
    CHECK(ca::max(ca::abs(kept)).item() < 1e-12);
  }
}

TEST_CASE("nnet: dropout repeats with its generator") {
  generator g(3);
  generator same = g, other(4);
  const auto first = test::values(nnet::dropout_mask({1000}, 0.5, g));
  CHECK(g.offset() == 250);
  CHECK(first == test::values(nnet::dropout_mask({10, 100}, 0.5, same)));
  CHECK(first != test::values(nnet::dropout_mask({1000}, 0.5, g)));
  CHECK(first != test::values(nnet::dropout_mask({1000}, 0.5, other)));
  ca::random::seed(5);
  const auto thread = test::values(nnet::dropout_mask({1000}, 0.5));
  ca::random::seed(5);
  CHECK(test::values(nnet::dropout(ca::ones({1000}), 0.5)) == thread);
  ca::random::seed(0);
}

TEST_CASE("nnet: the mask is where uniform numbers reach p") {
  generator g(6), same(6);
  const auto u = test::values(ca::random::uniform({500}, 0, 1, g));
  const auto m = test::values(nnet::dropout_mask({500}, 0.3, same));
  bool fits = true;
  for (std::size_t i = 0; i < u.size(); ++i) fits = fits && (m[i] != 0) == (u[i] >= 0.3f);
  CHECK(fits);
}

TEST_CASE("nnet: dropout probabilities out of range throw and consume nothing") {
  generator g(7);
  for (const double p : {-0.1, 1., 2., std::nan("")}) {
    INFO(p);
    CHECK(test::thrown<ca::value_error>([&] { nnet::dropout_mask({2}, p, g); }).find("is not in [0, 1)") !=
          std::string::npos);
    CHECK(test::thrown<ca::value_error>([&] { nnet::dropout(ca::ones({2}), p, g); }).find("is not in [0, 1)") !=
          std::string::npos);
  }
  CHECK(g.offset() == 0);
}
