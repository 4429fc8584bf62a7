// The rows of scripts/cpu-bench in xtensor.
// SPDX-License-Identifier: MIT
#include <omp.h>

#include <xtensor/xindex_view.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "worker.hpp"

using namespace worker;

namespace {

using floats = xt::xtensor<float, 1>;
using table = xt::xtensor<float, 2>;
using xt::placeholders::_;

template <class T = float, class... I>
auto of(I... extents) {
  return [=](int seed) {
    const std::array<std::size_t, sizeof...(I)> shape{std::size_t(extents)...};
    xt::xtensor<T, sizeof...(I)> a(shape);
    fill(a.data(), int64(a.size()), seed);
    return a;
  };
}

/// Adds a row that assigns f(arguments...) to an array that is there.
template <class F, class To, class... Make>
void row_into(const char* name, F f, To to, Make... make) {
  const auto call = [f](auto& d, auto&... a) {
    xt::noalias(d) = f(a...);
    return &d;
  };
  row(name, call, to, [=](int seed) { return make(seed - 1); }...);
}

void maps() {
  const auto square = of(4096, 4096), odd = of(4093, 4099);
  const auto many = of(16 * M), small = of(K), some = of(4 * M);
  const auto triad = [](const auto& a, const auto& b, const auto& c) { return a + b * c; };
  const auto triad_new = [](const floats& a, const floats& b, const floats& c) { return floats(a + b * c); };
  row_into("triad 16M into", triad, many, many, many, many);
  row("triad 16M new", triad_new, many, many, many);
  row_into("triad 1K into", triad, small, small, small, small);
  row("triad 1K new", triad_new, small, small, small);
  const auto f64 = of<double>(8 * M);
  row_into("triad double 8M", triad, f64, f64, f64, f64);
  const auto i32 = of<int>(16 * M);
  row_into("triad int32 16M", triad, i32, i32, i32, i32);
  const auto chain = [](const auto& a, const auto& b, const auto& c) {
    return xt::tanh(a) * b + xt::exp(-c * c) + xt::sqrt(xt::abs(a));
  };
  row_into("chain 4M", chain, some, some, some, some);
  row_into(
      "sin 4M", [](const auto& a) { return xt::sin(a); }, some, some);
  row_into(
      "exp double 4M", [](const auto& a) { return xt::exp(a); }, of<double>(4 * M), of<double>(4 * M));
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  const auto plus_new = [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a + b); };
  row("a + row 4096^2", plus_new, square, of(4096));
  row("a + column 4096^2", plus_new, square, of(4096, 1));
  row("a + row 4093x4099", plus_new, odd, of(4099));
  row("a + b 5 axes", plus_new, of(32, 17, 8, 33, 29), of(32, 1, 8, 1, 29));
  const auto u8 = of<std::uint8_t>(64 * M);
  row_into("a + b uint8 64M", plus, u8, u8, u8);
  const auto plus_transposed = [](const auto& a, auto& b) { return a + xt::transpose(b); };
  row_into("a + b.T 4096^2", plus_transposed, square, square, square);
  row_into("a + b.T 4093x4099", plus_transposed, odd, odd, of(4099, 4093));
  const auto where = [](const auto& m, const auto& a, const auto& b) { return xt::where(m, a, b); };
  row_into("where 16M", where, many, of<bool>(16 * M), many, many);
  row_into(
      "a < b 16M", [](const auto& a, const auto& b) { return a < b; }, of<bool>(16 * M), many, many);
  const auto large = [many](int seed) { return floats(many(seed) * 100.f); };
  row_into(
      "float to int32 16M", [](const auto& a) { return xt::cast<int>(a); }, i32, large);
  row_into(
      "uint8 to float 16M", [](const auto& a) { return xt::cast<float>(a); }, many, of<std::uint8_t>(16 * M));
  const auto slice = [](auto& a) { return xt::view(a, xt::range(_, _, 2), xt::range(_, _, -1)); };
  row_into("a[::2, ::-1] 4096^2", slice, of(2048, 4096), square);
  row_into(
      "transpose copy 4096^2", [](auto& a) { return xt::transpose(a); }, square, square);
}

void reductions() {
  const auto square = of(4096, 4096), scores = of(4096, 1024);
  const auto many = of(16 * M);
  constexpr auto now = xt::evaluation_strategy::immediate;
  row(
      "sum 16M", [=](const auto& a) { return xt::sum(a, now)(); }, many);
  row(
      "sum 1K", [=](const auto& a) { return xt::sum(a, now)(); }, of(K));
  row(
      "sum int32 16M", [=](const auto& a) { return xt::sum<int64>(a, now)(); }, of<int>(16 * M));
  row(
      "sum uint8 64M", [=](const auto& a) { return xt::sum<int64>(a, now)(); }, of<std::uint8_t>(64 * M));
  row(
      "max uint8 64M", [=](const auto& a) { return xt::amax(a, now)(); }, of<std::uint8_t>(64 * M));
  row(
      "sum((a-b)^2) 16M", [=](const auto& a, const auto& b) { return xt::sum<double>(xt::square(a - b), now)(); }, many,
      many);
  const auto sum_over = [=](std::size_t axis) {
    return [=](const auto& a) { return xt::eval(xt::sum(a, {axis}, now)); };
  };
  row("sum axis 1 4096^2", sum_over(1), square);
  row("sum axis 0 4096^2", sum_over(0), square);
  row("sum axis 1 64x512x256", sum_over(1), of(64, 512, 256));
  row("sum axis 1 1Mx16", sum_over(1), of(M, 16));
  row("sum axis 0 1Mx16", sum_over(0), of(M, 16));
  row("sum axis 0 double 4093x2049", sum_over(0), of<double>(4093, 2049));
  row(
      "max axis 1 4096^2", [=](const auto& a) { return xt::eval(xt::amax(a, {1}, now)); }, square);
  row(
      "argmax axis 1 4096^2", [](const auto& a) { return xt::eval(xt::argmax(a, 1)); }, square);
  const auto variance = [=](const table& a, std::size_t axis) {
    const table m = xt::mean(a, {axis}, xt::keep_dims | now);
    return floats(xt::mean(xt::square(a - m), {axis}, now));
  };
  row(
      "mean and var axis 1 4096^2", [=](const table& a) { return variance(a, 1); }, square);
  row(
      "var axis 0 4096^2", [=](const table& a) { return variance(a, 0); }, square);
  const auto kept = xt::keep_dims | now;
  row(
      "softmax 4096x1024",
      [=](const table& a) {
        const table m = xt::amax(a, {1}, kept), e = xt::exp(a - m), s = 1 / xt::sum(e, {1}, kept);
        return table(e * s);
      },
      scores);
  row(
      "log_softmax 4096x1024",
      [=](const table& a) {
        const table m = xt::amax(a, {1}, kept), e = xt::exp(a - m), s = m + xt::log(xt::sum(e, {1}, kept));
        return table(a - s);
      },
      scores);
  row(
      "logsumexp 4096x1024",
      [=](const table& a) {
        const table m = xt::amax(a, {1}, kept), e = xt::exp(a - m);
        return table(m + xt::log(xt::sum(e, {1}, kept)));
      },
      scores);
}

void others() {
  row(
      "cumsum 16M", [](const floats& a) { return floats(xt::cumsum(a)); }, of(16 * M));
  row(
      "sort 4M", [](const floats& a) { return xt::sort(a); }, of(4 * M));
  row(
      "argsort 1M", [](const floats& a) { return xt::argsort(a); }, of(M));
  row(
      "a[mask] 16M", [](auto& a, const auto& m) { return floats(xt::filter(a, m)); }, of(16 * M), of<bool>(16 * M));
  const auto index = [](int seed) {
    std::vector<std::size_t> i(100000);
    fill(i.data(), int64(i.size()), seed, 1e6f);
    return i;
  };
  row(
      "take 100K rows of 1Mx32", [](auto& a, auto& i) { return table(xt::view(a, xt::keep(i), xt::all())); }, of(M, 32),
      index);
  row(
      "uniform 16M", [](floats& a) { return xt::noalias(a) = xt::random::rand<float>({16 * M}), &a; }, of(16 * M));
  row(
      "normal 16M", [](floats& a) { return xt::noalias(a) = xt::random::randn<float>({16 * M}), &a; }, of(16 * M));
}

}  // namespace

int main() {
  maps();
  reductions();
  others();
  return serve([](int threads) { omp_set_num_threads(threads); });
}
