// Sums over all, last, first, middle and outer axes, argmax, mean and variance, and a sum fused with what it sums.
// SPDX-License-Identifier: MIT
#include <cudarray/reductions.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

void sums(suite& s, int64 rows, int64 columns) {
  const std::string params = dims(rows, columns);
  const work w{.bytes = 4. * double(rows) * double(columns)};
  s.row("R2_sum_ax1", params, w, [=] {
    const array a = normal({rows, columns}), r = ca::empty(rows);
    return [=] { ca::sum(a, 1, ca::out(r)); };
  });
  s.row("R3_sum_ax0", params, w, [=] {
    const array a = normal({rows, columns}), r = ca::empty(columns);
    return [=] { ca::sum(a, 0, ca::out(r)); };
  });
}

template <class T>
void sum_all(suite& s, const std::string& params, int64 n) {
  s.row("R1_sum_all", params, {.bytes = double(n) * sizeof(T)}, [n] {
    const ca::ndarray<T> a = ca::astype<T>(normal(n) * 100);
    const auto r = ca::eval(ca::sum(a));
    return [=] { ca::sum(a, ca::out(r)); };
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  const double n = double(many);
  const work square{.bytes = 4. * double(side) * double(side)};
  sum_all<float>(s, count(many), many);
  sum_all<double>(s, "fp64 " + count(many / 2), many / 2);
  sum_all<ca::float16>(s, "fp16 " + count(many * 2), many * 2);
  sum_all<ca::int32>(s, "int32 " + count(many), many);
  s.row("R8_ssd", count(many), {.bytes = 8 * n}, [] {
    const array a = normal(many), b = normal(many), r = ca::empty({});
    return [=] { ca::sum((a - b) * (a - b), ca::out(r)); };
  });
  sums(s, side, side);
  sums(s, tall, 64);
  sums(s, 64, tall);
  sums(s, side - 1, side + 1);
  const int64 outer = gpu ? 256 : 64, middle = gpu ? 1024 : 256;
  const work block{.bytes = 4. * double(outer * outer) * double(middle)};
  s.row("R4_sum_mid", dims(outer, middle, outer), block, [=] {
    const array a = normal({outer, middle, outer}), r = ca::empty({outer, outer});
    return [=] { ca::sum(a, 1, ca::out(r)); };
  });
  s.row("R4_sum_outer", dims(outer, middle, outer), block, [=] {
    const array a = normal({outer, middle, outer}), r = ca::empty(middle);
    return [=] { ca::sum(a, {0, 2}, ca::out(r)); };
  });
  s.row("R5_argmax_ax1", dims(side, side), square, [] {
    const array a = normal({side, side});
    const auto r = ca::empty<int64>(side);
    return [=] { ca::argmax(a, 1, ca::out(r)); };
  });
  s.row("R5_argmax_ax0", dims(side, side), square, [] {
    const array a = normal({side, side});
    const auto r = ca::empty<int64>(side);
    return [=] { ca::argmax(a, 0, ca::out(r)); };
  });
  s.row("R6_meanvar_ax1", dims(side, side), square, [] {
    const array a = normal({side, side});
    return [=] { ca::mean_var(a, 1); };
  });
  s.row("R6_meanvar_ax0", dims(side, side), square, [] {
    const array a = normal({side, side});
    return [=] { ca::mean_var(a, 0); };
  });
  s.row("R5_all", count(many), {.bytes = 4 * n}, [] {
    const array a = normal(many);
    const auto r = ca::empty<bool>({});
    return [=] { ca::all(a > -100, ca::out(r)); };  // true: every element must be seen
  });
  return s.run();
}
