// Threads on the CPU: how many, the same bits from any number of them, the precision of long sums, and exceptions.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <cudarray/threads.hpp>
#include <limits>
#include <stdexcept>
#include <thread>

#include "engine.hpp"

namespace {

/// The bytes of results, one after another.
struct results {
  std::string bytes;
  std::vector<std::size_t> ends;
  template <class X>
  void add(const X& x) {
    const array<ca::value_type_t<X>> a = ca::ascontiguousarray(ca::eval(x));
    bytes.append(reinterpret_cast<const char*>(a.data()), std::size_t(a.nbytes()));
    ends.push_back(bytes.size());
  }
  /// The number of the first result that differs; -1: none does.
  int differs(const results& o) const {
    for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
      if (ends[i] != o.ends[i] || bytes.compare(begin, ends[i] - begin, o.bytes, begin, ends[i] - begin) != 0)
        return int(i);
    return -1;
  }
};

/// Every kind of operation over arrays large enough for several threads, from numbers of one seed.
results everything() {
  results r;
  ca::random::generator g(11);
  const auto draw = [&](const ca::shape& s) { return ca::random::uniform<float>(s, -2, 3, g, host); };
  for (const ca::shape& s : std::vector<ca::shape>{{401, 403}, {100003, 3}, {3, 100003}, {1, 300001}, {20011, 16}}) {
    const array<float> a = draw(s), b = draw(s), c = draw({s[1], s[0]});
    const auto back = slice(none, none, -1);
    r.add(a + b * 2);
    r.add(ca::exp(a) / (1 + c.t()));
    r.add(a(_, back) - b(back));
    r.add(ca::where(a > b, a, ca::reshape(b(_, 0), {-1, 1})));
    r.add(ca::astype<ca::float16>(c.t()));
    const array<double> target = ca::zeros<double>({s[0], 2 * s[1]}, host);
    target(_, slice(none, none, 2)) = a + c.t();
    r.add(target);
    const auto e = ca::exp(a - ca::max(a, 1, ca::keepdims));
    r.add(e / ca::sum(e, 1, ca::keepdims));
    r.add((a - ca::mean(a, 1, ca::keepdims)) / ca::sqrt(ca::var(a, 1, ca::keepdims) + 1e-5f));
    for (const ca::axes& axes : std::vector<ca::axes>{0, 1, ca::axes::all()}) {
      r.add(ca::sum(a, axes));
      r.add(ca::sum(c.t(), axes));
      r.add(ca::sum(a(_, back) * c.t(), axes));
      r.add(ca::mean((a - b) * (a - b), axes));
      r.add(ca::var(a, axes));
      r.add(ca::sum(ca::astype<ca::bfloat16>(a), axes));
      r.add(ca::prod(ca::astype<double>(a), axes));
      r.add(ca::max(c.t(), axes));
      r.add(ca::argmin(ca::rint(a * 8), axes));
      r.add(ca::argmax(c.t(), axes));
      r.add(ca::any(a > 2.9999f, axes));
    }
    for (int axis = 0; axis < 2; ++axis) {
      r.add(ca::cumsum(a, axis));
      r.add(ca::cumsum(ca::astype<double>(a) * 1.1, axis));
      r.add(ca::cumprod(a, axis));
      r.add(ca::cummax(c.t(), axis));
      r.add(ca::sort(a, axis));
      r.add(ca::argsort(ca::rint(a * 8), axis));
      r.add(ca::nnet::softmax(a, axis));
      r.add(ca::nnet::log_softmax(a, axis));
      r.add(ca::nnet::logsumexp(a, axis));
    }
    r.add(ca::eval(a(a > b)));
    r.add(ca::flatnonzero(a > 1));
    const int64 picks = 400001 / s[1] + 1;
    const array<int64> index = ca::random::integers({picks}, -s[0], s[0], g, host);
    r.add(ca::take(a, index));
    r.add(ca::take(a(slice(none, 2)), index % s[1], 1));
    const array<float> sums = a.copy();
    ca::scatter_add(sums, index, draw({picks, s[1]}));
    r.add(sums);
    sums(a < 0) = 0;
    sums(ca::arange<int64>(0, s[0] / 2, 1, host)) = b(slice(s[0] / 2));
    r.add(sums);
    r.add(ca::concatenate({a, b}, 1));
    if constexpr (!ca::this_build::cblas || ca::this_build::vector_bytes == 64)  // a BLAS shares products out otherwise
      r.add(ca::matmul(a(slice(300), slice(300)), c(slice(300), slice(300))));
  }
  r.add(ca::matmul(draw({10001, 3, 3}), draw({10001, 3, 3})));
  if constexpr (!ca::this_build::cblas || ca::this_build::vector_bytes == 64)
    r.add(ca::matmul(draw({5, 70001}), draw({70001, 7})));
  for (const int64 n : {300001, 1 << 19}) {
    r.add(ca::random::uniform<float>({n}, 0, 1, g, host));
    r.add(ca::random::normal<double>({n}, 0, 1, g, host));
    r.add(ca::random::bits({n}, g, host));
    r.add(ca::random::permutation(n, g, host));
  }
  return r;
}

/// The largest relative error of the sums of positive numbers: along rows, down columns, and of all.
double worst_error(const array<float>& a, int64 rows) {
  const int64 columns = a.size() / rows;
  const array<float> m = ca::reshape(a, {rows, columns}), down = ca::sum(m, 0), along = ca::sum(m, 1);
  const array<float> down_turned = ca::sum(m.t(), 1), along_turned = ca::sum(m.t(), 0), fused = ca::sum(m * 2 - m, 1);
  std::vector<double> column(std::size_t(columns), 0.);
  double all = 0, worst = 0;
  const auto check = [&worst](float v, double e) { worst = std::fmax(worst, std::fabs(double(v) - e) / e); };
  for (int64 i = 0; i < rows; ++i) {
    double row = 0;
    for (int64 j = 0; j < columns; ++j) {
      const double v = double(a.data()[i * columns + j]);
      row += v;
      column[std::size_t(j)] += v;
    }
    check(along.at(i), row);
    check(along_turned.at(i), row);
    check(fused.at(i), row);
    all += row;
  }
  for (int64 j = 0; j < columns; ++j) {
    check(down.at(j), column[std::size_t(j)]);
    check(down_turned.at(j), column[std::size_t(j)]);
  }
  check(ca::sum(m).item(), all);
  check(ca::sum(m.t()).item(), all);
  check(ca::mean(m).item(), all / double(a.size()));
  return worst;
}
void check_precision(int64 n) {
  ca::random::generator g(5);
  for (int kind = 0; kind < 3; ++kind) {
    const array<float> a = kind == 0   ? ca::full<float>({n}, 0.1f, host)
                           : kind == 1 ? ca::full<float>({n}, 1.f / 3, host)
                                       : ca::random::uniform<float>({n}, 0, 1, g, host);
    for (int64 rows = 1; rows <= n; rows *= 16) {
      CAPTURE(kind, n, rows);
      CHECK(worst_error(a, rows) <= 1e-6);
    }
  }
}

struct unlucky : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("threads: how many") {
  const threads t(3);
  CHECK(ca::num_threads() == 3);
  for (const int n : {1, 1024, 2}) {
    ca::set_num_threads(n);
    CHECK(ca::num_threads() == n);
  }
  const auto text = [](int n) { return test::thrown<ca::value_error>([n] { ca::set_num_threads(n); }); };
  CHECK(text(0) == "set_num_threads: 0 threads; 1 to 1024 are possible");
  CHECK(text(-1) == "set_num_threads: -1 threads; 1 to 1024 are possible");
  CHECK(text(1025) == "set_num_threads: 1025 threads; 1 to 1024 are possible");
  CHECK(ca::num_threads() == 2);
}

TEST_CASE("threads: the same bits from any number of them") {
  const threads t(1);
  const results right = everything();
  for (const int n : {2, 3, 5}) {
    ca::set_num_threads(n);
    CAPTURE(n);
    CHECK(everything().differs(right) == -1);
  }
}

TEST_CASE("threads: sums of 2^24 numbers of float32") {
  const threads t(3);
  check_precision(1 << 24);
}
TEST_CASE("threads: sums of 2^28 numbers of float32", "[.slow]") { check_precision(1 << 28); }

TEST_CASE("threads: what a function throws comes once, and all goes on") {
  for (const int n : {1, 2, 5}) {
    const threads t(n);
    const int64 size = 1 << 20;
    const array<float> a = ca::astype<float>(ca::arange<ca::int32>(0, size, 1, host));
    for (const float bad : {0.f, 700001.f, float(size - 1)}) {
      int times = 0;
      const auto f = [bad](float v) { return v == bad ? throw unlucky("at " + std::to_string(int(v))) : v + 1; };
      try {
        const array<float> b = ca::map(f, a);
      } catch (const unlucky& e) {
        ++times;
        CHECK(e.what() == "at " + std::to_string(int(bad)));
      }
      CHECK(times == 1);
      CHECK(test::thrown<unlucky>([&] { ca::sum(ca::map(f, a)).item(); }) == "at " + std::to_string(int(bad)));
      CHECK(test::thrown<unlucky>([&] { ca::eval(ca::map([](float) -> float { throw unlucky("all"); }, a)); }) ==
            "all");
      const array<float> c = ca::map([](float v) { return v * 2; }, a) + 1;
      bool right = true;
      for (int64 i = 0; i < size; ++i) right = right && c.data()[i] == float(2 * i + 1);
      CHECK(right);
    }
  }
}

TEST_CASE("threads: an index out of range in a large take") {
  const threads t(5);
  const array<float> table = ca::ones<float>({1000, 3}, host);
  const array<int64> index = ca::arange<int64>(0, 400000, 1, host) % 1000;
  for (const int64 bad : {1000, -1001, 1 << 30})
    for (const int64 at : {0, 199999, 399999}) {
      const array<int64> i = index.copy();
      i(at) = bad;
      const std::string text = "index " + std::to_string(bad) + " is out of bounds for axis 0 with size 1000";
      CHECK(test::thrown<ca::index_error>([&] { ca::eval(ca::take(table, i)); }) == "take: " + text);
      CHECK(test::thrown<ca::index_error>([&] { ca::eval(ca::take(table, i) + 1); }) == "take: " + text);
      CHECK(test::thrown<ca::index_error>([&] { table(i) = 2; }) == "index: " + text);
    }
  CHECK(ca::sum(ca::take(table, index)).item() == 1200000);
}

TEST_CASE("threads: several threads of the program at the same time") {
  const threads t(3);
  int wrong[4] = {};
  std::vector<std::thread> users;
  for (int k = 0; k < 4; ++k)
    users.emplace_back([k, &wrong] {
      const int64 n = 300001 + 1000 * k;
      for (int round = 0; round < 10; ++round) {
        const array<int64> a = ca::arange<int64>(0, n, 1, host) + k;
        const array<float> b = ca::astype<float>(a % 7) * float(k + 1);
        const array<float> c =
            ca::ascontiguousarray(ca::eval(ca::reshape(b(slice(none, n / 1000 * 1000)), {-1, 1000}).t() + 1));
        const array<int64> order = ca::argsort(-a);
        double sum = 0;
        bool right = true;
        for (int64 i = 0; i < n; ++i) {
          sum += double((i + k) % 7 * (k + 1));
          right = right && b.data()[i] == float((i + k) % 7 * (k + 1)) && order.data()[i] == n - 1 - i;
        }
        right = right && ca::sum(ca::astype<double>(b)).item() == sum && ca::sum(a).item() == n * (n - 1) / 2 + n * k;
        for (int64 i = 0; i < c.size(); ++i)
          right = right && c.data()[i] == b.data()[i % (n / 1000) * 1000 + i / (n / 1000)] + 1;
        right = right && ca::argmax(a).item() == n - 1 && ca::eval(a(a >= n)).size() == k;
        const std::string text = test::thrown<unlucky>(
            [&] { ca::eval(ca::map([k](int64 v) { return v == 200000 ? throw unlucky(std::to_string(k)) : v; }, a)); });
        wrong[k] += !right || text != std::to_string(k);
      }
    });
  for (auto& u : users) u.join();
  for (const int w : wrong) CHECK(w == 0);
}

TEST_CASE("threads: scans of fewer long rows than threads") {
  const int before = ca::num_threads();
  ca::set_num_threads(7);
  const int64 n = 300001;
  const array<float> ones = ca::ones<float>({3, n}, host), steps = ca::cumsum(ones, 1);
  const array<float> expected = ca::arange<float>(1, n + 1, 1, host);
  const array<int64> whole = ca::cumsum(ca::astype<int64>(ones), 1), largest = ca::cummax(whole, 1);
  const array<double> wide = ca::cumsum(ca::astype<double>(ones), 1);
  CHECK(ca::all(steps == expected).item());
  CHECK(ca::all(whole == expected).item());
  CHECK(ca::all(largest == expected).item());
  CHECK(ca::all(wide == expected).item());
  ca::set_num_threads(before);
}

TEST_CASE("threads: cumulative sums of float64 stay where nothing is added, and do not overflow in parts") {
  const array<double> tenths = ca::where(ca::arange<int64>(0, 40000, 1, host) % 4096 == 0, 0.0, 0.1);
  const array<double> sums = ca::cumsum(tenths, 0);
  CHECK(ca::all(sums(slice(1, none)) >= sums(slice(none, -1))).item());
  const array<double> waves = ca::where(ca::arange<int64>(0, 8200, 1, host) % 2 == 0, 1e306, -1e306);
  CHECK(ca::all(ca::isfinite(ca::cumsum(waves, 0))).item());
}
