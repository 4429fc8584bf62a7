// Softmax, cross-entropy, one-hot coding: values of NumPy in float64, large numbers, slopes, wrong labels.
// SPDX-License-Identifier: MIT
#include <limits>

#include "slope.hpp"
#include "test.hpp"

namespace {

namespace nnet = ca::nnet;
using ca::_;
using test::doubles;
using floats = std::vector<float>;

constexpr float inf = std::numeric_limits<float>::infinity();

doubles logits() { return ca::array<double>({{0.2, -1, 3}, {2, 2, -0.5}}); }
doubles targets() { return ca::array<double>({{0, 0, 1}, {0.25, 0.5, 0.25}}); }

}  // namespace

// def softmax(a, ax): e = np.exp(a - a.max(ax, keepdims=True)); return e / e.sum(ax, keepdims=True)

TEST_CASE("nnet: softmax") {
  CHECK(test::close(nnet::softmax(logits()), {2, 3},
                    {0.056351231872158083, 0.016972664874016417, 0.9266761032538255, 0.48028778876026895,
                     0.48028778876026895, 0.039424422479462075},
                    1e-14));
  const std::vector<double> columns = {0.1418510649004878, 0.04742587317756679, 0.9706877692486436,
                                       0.8581489350995123, 0.9525741268224334,  0.029312230751356316};
  CHECK(test::close(nnet::softmax(logits(), 0), {2, 3}, columns, 1e-14));
  CHECK(test::close(nnet::softmax(logits(), -2), {2, 3}, columns, 1e-14));
  CHECK(test::close(ca::transpose(nnet::softmax(logits().t())), {2, 3}, columns, 1e-14));  // not contiguous
  CHECK(test::close(nnet::softmax(logits() * 0), {2, 3}, std::vector<double>(6, 1 / 3.), 1e-14));
}

TEST_CASE("nnet: softmax of large and infinite numbers") {
  const std::vector<double> row = {0.09003057317038046, 0.24472847105479764, 0.6652409557748218};
  CHECK(test::close(nnet::softmax(ca::array<float>({1000, 1001, 1002})), {3}, row, 5e-7));
  CHECK(test::close(nnet::softmax(ca::array<float>({-1002, -1001, -1000})), {3}, row, 5e-7));
  CHECK(test::equal(nnet::softmax(ca::array<float>({-3e38f, 0, 3e38f})), {3}, floats{0, 0, 1}));
  CHECK(test::equal(nnet::softmax(ca::array<float>({-inf, 2, -inf, 2})), {4}, floats{0, 0.5, 0, 0.5}));
}

TEST_CASE("nnet: softmax of few elements") {
  CHECK(test::equal(nnet::softmax(ca::array<float>({{7}, {-7}})), {2, 1}, floats{1, 1}));
  CHECK(nnet::softmax(ca::zeros({0, 3})).shape() == ca::shape{0, 3});
  CHECK(test::thrown<ca::index_error>([] { nnet::softmax(ca::zeros({2, 3}), 2); }).find("axis 2") != std::string::npos);
}

TEST_CASE("nnet: logsumexp and log_softmax") {
  CHECK(test::close(nnet::logsumexp(logits()), {2}, {3.076151177649977, 2.7333697948272113}, 1e-14));
  CHECK(test::close(nnet::logsumexp(logits(), 0), {3}, {2.152977610526074, 2.048587351573742, 3.0297504182726205},
                    1e-14));
  CHECK(test::close(nnet::logsumexp(logits(), 1, true), {2, 1}, {3.076151177649977, 2.7333697948272113}, 1e-14));
  CHECK(test::close(nnet::log_softmax(logits()), {2, 3},
                    {-2.8761511776499766, -4.076151177649977, -0.07615117764997649, -0.7333697948272112,
                     -0.7333697948272112, -3.2333697948272113},
                    1e-14));
  CHECK(test::close(nnet::logsumexp(ca::array<float>({1000, 1000})), {}, {1000.6931471805599}, 1e-7));
  CHECK(test::close(nnet::log_softmax(ca::array<float>({1000, 0, -1000})), {3}, {0, -1000, -2000}, 1e-7));
}

TEST_CASE("nnet: logsumexp of infinities, as SciPy") {
  CHECK(test::equal(nnet::logsumexp(ca::array<float>({{-inf, 1}, {inf, 1}})), {2}, floats{1, inf}));
  CHECK(test::equal(nnet::logsumexp(ca::array<float>({-inf, -inf})), {}, floats{-inf}));
}

TEST_CASE("nnet: softmax_cross_entropy") {
  CHECK(test::close(nnet::softmax_cross_entropy(logits(), targets()), {2}, {0.07615117764997649, 1.3583697948272113},
                    1e-14));
  CHECK(test::close(nnet::softmax_cross_entropy(ca::array<float>({{1000, -1000}}), ca::array<float>({{0, 1}})), {1},
                    {2000}, 1e-7));
  CHECK(nnet::softmax_cross_entropy(ca::zeros({0, 3}), ca::zeros({0, 3})).shape() == ca::shape{0});
}

TEST_CASE("nnet: a class that cannot be, and is not the label, counts nothing") {
  const auto x = ca::array<float>({{0, 0, -inf}, {-inf, 3, -inf}, {0, -inf, 0}});
  const auto y = ca::array<float>({{1, 0, 0}, {0, 1, 0}, {0, 1, 0}});
  CHECK(test::close(nnet::softmax_cross_entropy(x, y), {3}, {0.6931471805599453, 0, inf}, 1e-7));
  CHECK(test::close(nnet::softmax_cross_entropy(x, ca::astype<int>(y)), {3}, {0.6931471805599453, 0, inf}, 1e-7));
  CHECK(test::close(nnet::softmax_cross_entropy_backward(x, y), {3, 3}, {-0.5, 0.5, 0, 0, 0, 0, 0.5, -1, 0.5}, 1e-7));
  // float16 has no 1e-15: a probability of 0 that is no label's
  const auto p = ca::array<ca::float16>({{ca::float16(1.f), ca::float16(0.f)}});
  CHECK(test::equal(nnet::categorical_cross_entropy(p, ca::array<float>({{1, 0}})), {1}, floats{0}));
}

TEST_CASE("nnet: the softmax family along an axis of no elements") {
  CHECK(nnet::softmax(ca::zeros({2, 0})).shape() == ca::shape{2, 0});
  CHECK(nnet::softmax(ca::zeros({0, 3}), 0).shape() == ca::shape{0, 3});
  CHECK(nnet::log_softmax(ca::zeros({5, 0})).shape() == ca::shape{5, 0});
  CHECK(nnet::log_softmax(ca::zeros<double>({0})).shape() == ca::shape{0});
  CHECK(test::equal(nnet::logsumexp(ca::zeros({5, 0})), {5}, floats{-inf, -inf, -inf, -inf, -inf}));
  CHECK(test::equal(nnet::logsumexp(ca::zeros<ca::float16>({0, 2}), 0, true), {1, 2}, floats{-inf, -inf}));
  CHECK(nnet::logsumexp(ca::zeros({0, 3})).shape() == ca::shape{0});
  CHECK(test::equal(nnet::softmax_cross_entropy(ca::zeros({2, 0}), ca::zeros({2, 0})), {2}, floats{0, 0}));
  CHECK(nnet::softmax_cross_entropy_backward(ca::zeros({2, 0}), ca::zeros({2, 0})).shape() == ca::shape{2, 0});
  CHECK(test::equal(nnet::categorical_cross_entropy(ca::zeros({2, 0}), ca::zeros({2, 0})), {2}, floats{0, 0}));
}

TEST_CASE("nnet: the gradient of softmax_cross_entropy") {
  const auto g = nnet::softmax_cross_entropy_backward(logits(), targets());
  CHECK(test::close(g, {2, 3},
                    {0.056351231872158083, 0.016972664874016417, -0.07332389674617446, 0.23028778876026895,
                     -0.019712211239731048, -0.21057557752053793},
                    1e-14));
  const auto loss = [](const doubles& x) { return ca::sum(nnet::softmax_cross_entropy(x, targets())).item(); };
  CHECK(test::close(g, {2, 3}, test::slope(loss, logits()), 1e-8));
}

TEST_CASE("nnet: categorical_cross_entropy") {
  // p = np.clip(p, eps, 1 - eps); p /= p.sum(1, keepdims=True); -(y * np.log(p)).sum(1)
  const doubles p = ca::array<double>({{0.2, 0.3, 0.5}, {2, 1, 1}});
  CHECK(
      test::close(nnet::categorical_cross_entropy(p, targets()), {2}, {0.6931471805599453, 1.0986122886681096}, 1e-14));
  // a probability of 0 costs -log(eps), not infinity
  const doubles sure = ca::array<double>({{0, 0, 1}, {0, 1, 0}}), y = ca::array<double>({{0, 0, 1}, {1, 0, 0}});
  CHECK(
      test::close(nnet::categorical_cross_entropy(sure, y), {2}, {2.1094237467877998e-15, 34.538776394910684}, 1e-14));
  CHECK(
      test::close(nnet::categorical_cross_entropy(sure, y, 0.01), {2}, {std::log(1.01 / 0.99), std::log(101.)}, 1e-14));
  CHECK(nnet::categorical_cross_entropy(ca::zeros({0, 3}), ca::zeros({0, 3})).shape() == ca::shape{0});
}

TEST_CASE("nnet: the two cross-entropies agree") {
  const auto x = test::wave_of({5, 7});
  const doubles y = nnet::softmax(test::wave_of({5, 7}, 1));
  CHECK(test::close(nnet::categorical_cross_entropy(nnet::softmax(x), y), {5},
                    test::values(nnet::softmax_cross_entropy(x, y)), 1e-13));
}

TEST_CASE("nnet: one_hot_encode") {
  CHECK(test::equal(nnet::one_hot_encode(ca::array<int>({2, 0, 2}), 3), {3, 3}, floats{0, 0, 1, 1, 0, 0, 0, 0, 1}));
  CHECK(test::equal(nnet::one_hot_encode(ca::array<int>({-1, -3}), 3), {2, 3},
                    floats{0, 0, 1, 1, 0, 0}));  // from the end
  const auto y = nnet::one_hot_encode<double>(ca::array<ca::uint8>({1}), 2);
  static_assert(std::is_same_v<ca::value_type_t<decltype(y)>, double>);
  CHECK(test::equal(y, {1, 2}, floats{0, 1}));
  CHECK(nnet::one_hot_encode(ca::zeros<int>({0}), 3).shape() == ca::shape{0, 3});
  CHECK(test::equal(nnet::one_hot_encode(ca::array<int>({{0, 1}, {1, 0}})(_, 0), 2), {2, 2}, floats{1, 0, 0, 1}));
}

TEST_CASE("nnet: one_hot_encode with wrong labels") {
  const auto encode = [](int label) {
    return test::thrown<ca::index_error>([&] {
      nnet::one_hot_encode(ca::array<int>({0, label, 2}), 3);
      ca::synchronize();
    });
  };
  CHECK(encode(3).find("index 3 is out of bounds for axis 0 with size 3") != std::string::npos);
  CHECK(encode(-4).find("index -4 is out of bounds for axis 0 with size 3") != std::string::npos);
  CHECK(encode(INT32_MAX).find("index 2147483647 is out of bounds") != std::string::npos);
  CHECK(encode(1) == "nothing was thrown");
}

TEST_CASE("nnet: one_hot_decode") {
  CHECK(test::equal(nnet::one_hot_decode(ca::array<float>({{0, 0, 1}, {1, 0, 0}, {0.2f, 0.5f, 0.5f}})), {3},
                    std::vector<int>{2, 0, 1}));
  const auto labels = ca::array<int>({4, 0, 3, 3, 1});
  CHECK(test::values(nnet::one_hot_decode(nnet::one_hot_encode(labels, 5))) == std::vector<ca::int64>{4, 0, 3, 3, 1});
}

TEST_CASE("losses: the softmax family of rows short and long") {
  for (const ca::int64 n : {1, 3, 4, 5, 31, 32, 128, 130, 1000, 1024, 1028, 4100, 8192, 8200}) {
    for (const int axis : {0, 1}) {
      INFO("n " << n << ", axis " << axis);
      const ca::shape s = axis ? ca::shape{3, n} : ca::shape{n, 3};
      std::vector<float> x(std::size_t(3 * n));
      std::vector<double> soft(x.size()), logarithm(x.size()), sums(3);
      const auto place = [&](ca::int64 r, ca::int64 k) { return std::size_t(axis ? r * n + k : k * 3 + r); };
      for (ca::int64 r = 0; r < 3; ++r) {
        for (ca::int64 k = 0; k < n; ++k) x[place(r, k)] = float((r * 31 + k * 7919) % 101) * 0.25f - 9.f;
        double sum = 0;
        for (ca::int64 k = 0; k < n; ++k) sum += std::exp(double(x[place(r, k)]));
        sums[std::size_t(r)] = std::log(sum);
        for (ca::int64 k = 0; k < n; ++k) {
          soft[place(r, k)] = std::exp(double(x[place(r, k)])) / sum;
          logarithm[place(r, k)] = double(x[place(r, k)]) - std::log(sum);
        }
      }
      const ca::ndarray<float> a = ca::array(x, s);
      CHECK(test::close(ca::nnet::softmax(a, axis), s, soft, 1e-6));
      CHECK(test::close(ca::nnet::log_softmax(a, axis), s, logarithm, 2e-6));
      CHECK(test::close(ca::nnet::logsumexp(a, axis), {3}, sums, 1e-6));
      CHECK(test::close(ca::nnet::softmax(a * 2.f - a, axis), s, soft, 1e-6));
    }
  }
  const float inf = std::numeric_limits<float>::infinity();
  const ca::ndarray<float> a = ca::array<float>({{-inf, -inf, -inf, -inf}, {inf, 0, 0, 0}, {-inf, 0, 0, -inf}});
  CHECK(test::equal(ca::nnet::logsumexp(a(ca::slice(0, 2))), {2}, std::vector<float>{-inf, inf}));
  CHECK(test::equal(ca::nnet::softmax(a(2)), {4}, std::vector<float>{0, 0.5f, 0.5f, 0}));
}

// Blocks, clusters and several kernels share rows on CUDA, by their length and number. Row 0 is all -inf, row 1 has
// +inf, row 2 NaN, row 3 begins with -inf, as masked ones do.
TEST_CASE("losses: the softmax family of few rows and many, of any alignment", "[large]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  using shape = std::pair<ca::int64, ca::int64>;
  for (const auto& [rows, n] : {shape{4, 100003},
                                {40, 30001},
                                {40, 8196},
                                {300, 20001},
                                {300, 12288},
                                {50, 73700},
                                {20, 100005},
                                {270, 1023},
                                {16, 31},
                                {17, 32},
                                {31, 33},
                                {19, 16},
                                {33, 2},
                                {513, 10},
                                {2011, 7},
                                {1003, 28},
                                {700, 63},
                                {203, 257},
                                {102, 501}}) {
    INFO("rows " << rows << ", n " << n);
    const ca::shape s = {rows, n};
    const auto size = std::size_t(rows * n);
    std::vector<float> x(std::size_t(rows * (n + 3)));
    std::vector<double> scaled(size), logarithm(size), sums;
    for (ca::int64 r = 0; r < rows; ++r) {
      float* const row = x.data() + r * (n + 3) + 1;
      for (ca::int64 k = 0; k < n; ++k) row[k] = float((r * 31 + k * 7919) % 101) * 0.25f - 9.f;
      if (r == 0 || r == 3) std::fill(row, row + (r == 0 ? n : n / 2), float(-inf));
      if (r == 1) row[n - 2] = float(inf);
      if (r == 2) row[n / 3] = float(nan);
      double sum = 0;
      for (ca::int64 k = 0; k < n; ++k) sum += std::exp(double(row[k]));
      sums.push_back(std::log(sum));
      for (ca::int64 k = 0; k < n; ++k) {
        const auto at = std::size_t(r * n + k);
        scaled[at] = r < 3 ? nan : std::exp(double(row[k])) / sum * double(n);
        logarithm[at] = double(row[k]) - sums.back();
      }
    }
    const ca::ndarray<float> wide = ca::array(x, {rows, n + 3}), apart = wide(_, ca::slice(1, 1 + n)), a = apart.copy();
    const ca::ndarray<float> zeros = ca::zeros({n});
    for (const auto& operand : {a, apart}) {
      CHECK(test::close(nnet::softmax(operand) * float(n), s, scaled, 2e-6));
      CHECK(test::close(nnet::log_softmax(operand), s, logarithm, 2e-6));
      CHECK(test::close(nnet::logsumexp(operand), {rows}, sums, 1e-6));
    }
    CHECK(test::close(nnet::softmax(apart + zeros) * float(n), s, scaled, 2e-6));
    CHECK(test::close(nnet::log_softmax(ca::astype<double>(apart)), s, logarithm, 1e-12));
    const ca::ndarray<ca::float16> half = ca::astype<ca::float16>(a);
    CHECK(test::close(nnet::log_softmax(half), s, logarithm, 6e-4));  // rounded to 11 bits
    CHECK(test::close(nnet::logsumexp(half), {rows}, sums, 6e-4));
    CHECK(test::close(ca::astype<float>(nnet::softmax(half)) * float(n), s, scaled, 6e-4 + 4e-8 * double(n)));
    const ca::ndarray<float> down = ca::copy(a.t());
    CHECK(test::close(nnet::logsumexp(down, 0), {rows}, sums, 1e-6));
    CHECK(test::close(ca::transpose(nnet::softmax(down, 0)) * float(n), s, scaled, 2e-6));
    CHECK(test::close(ca::transpose(nnet::log_softmax(down, 0)), s, logarithm, 2e-6));
    CHECK(test::close(nnet::logsumexp(ca::astype<ca::float16>(down), 0), {rows}, sums, 6e-4));
  }
}

namespace {

/// Many short rows, the same few again and again, against these few; and without the last ones.
template <class T>
void check_many_rows(double relative) {
  for (const ca::int64 n : {2, 5, 14, 28, 127, 300}) {
    INFO(ca::dtype_name<T> << ", n " << n);
    const ca::int64 period = 48, times = (ca::int64(1) << 23) / (n * period * ca::int64(sizeof(T))) * 3;
    const ca::ndarray<T> few = ca::astype<T>(test::wave_of({period, n}, 3) * 4.);
    const ca::ndarray<T> many = ca::reshape(ca::broadcast_to(few, {times, period, n}), {times * period, n}),
                         less = many(ca::slice(0, times * period - 3));
    const auto agree = [&](const auto& function) {
      const ca::ndarray<T> all = function(many), some = function(less), right = function(few);
      const auto each = ca::reshape(all, {times, right.size()});
      const auto apart = ca::abs(ca::astype<double>(each) - ca::astype<double>(ca::reshape(right, {1, -1})));
      CHECK(ca::max(apart / (1. + ca::abs(ca::astype<double>(ca::reshape(right, {1, -1}))))).item() <= relative);
      CHECK(ca::all(some == all(ca::slice(0, less.shape(0)))).item());
    };
    agree([](const auto& x) { return nnet::softmax(x, 1); });
    agree([](const auto& x) { return nnet::log_softmax(x, 1); });
    agree([](const auto& x) { return nnet::logsumexp(x, 1); });
  }
}

}  // namespace

TEST_CASE("losses: the softmax family of many short rows", "[large]") {
  check_many_rows<float>(1e-6);
  check_many_rows<double>(1e-14);
  check_many_rows<ca::float16>(1e-3);
}
