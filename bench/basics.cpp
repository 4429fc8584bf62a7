// Fused map, sum and matmul against this machine's copy bandwidth and matrix-product peak.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cudarray/cudarray.hpp>
#include <vector>

namespace ca = cudarray;
using array = ca::ndarray<float>;

namespace {

double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Milliseconds of a call: the median of 15 groups of `calls`, after a warm-up.
template <class F>
double milliseconds(int calls, const F& f) {
  f();
  ca::synchronize();
  std::vector<double> times;
  for (int group = 0; group < 15; ++group) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) f();
    ca::synchronize();
    times.push_back((now() - begin) / calls);
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

void row(const char* name, double ms, double amount, double limit, const char* unit) {
  std::printf("%-44s %9.3f ms %9.1f %s  %5.2f of the limit\n", name, ms, amount / ms * 1e-6, unit, amount / ms / limit);
}

}  // namespace

int main() {
  constexpr bool gpu = !ca::default_device::synchronous;
  const ca::int64 n = gpu ? 1 << 26 : 1 << 24, k = gpu ? 4096 : 1024;
  const int calls = gpu ? 20 : 3;
  const double bytes = double(n) * sizeof(float);
  std::printf("%s, %ld elements of float32, medians of 15\n", ca::default_device::name, long(n));
  const array a = ca::random::normal({n}), b = ca::random::normal({n}), c = ca::random::normal({n}), d = ca::empty({n});
  const double copy = milliseconds(calls, [&] { d(ca::_) = a; });
  const double bandwidth = 2 * bytes / copy;
  row("d = a (the copy: the limit in GB/s)", copy, 2 * bytes, bandwidth, "GB/s");
  row("d = a + b * c", milliseconds(calls, [&] { d(ca::_) = a + b * c; }), 4 * bytes, bandwidth, "GB/s");
  row("d = tanh(a) * b + exp(-c * c) + sqrt(abs(a))",
      milliseconds(calls, [&] { d(ca::_) = ca::tanh(a) * b + ca::exp(-c * c) + ca::sqrt(ca::abs(a)); }), 4 * bytes,
      bandwidth, "GB/s");
  const array s = ca::empty({});
  row("s = sum(a)", milliseconds(calls, [&] { ca::sum(a, ca::out(s)); }), bytes, bandwidth, "GB/s");
  const ca::int64 side = gpu ? 8192 : 4096;
  const array m = ca::reshape(a, {side, side}), rows = ca::empty({side});
  row("r = sum(m, 1)", milliseconds(calls, [&] { ca::sum(m, 1, ca::out(rows)); }), bytes, bandwidth, "GB/s");
  row("r = sum(m, 0)", milliseconds(calls, [&] { ca::sum(m, 0, ca::out(rows)); }), bytes, bandwidth, "GB/s");
  const array x = ca::random::normal({k, k}), y = ca::random::normal({k, k});
  const double flops = 2. * double(k) * double(k) * double(k);
  const double product = milliseconds(calls, [&] { array z = ca::matmul(x, y); });
  std::printf("%-44s %9.3f ms %9.1f GFLOP/s\n", gpu ? "matmul 4096^3 (IEEE float32)" : "matmul 1024^3", product,
              flops / product * 1e-6);
}
