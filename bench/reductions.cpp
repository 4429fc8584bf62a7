// Sums over all, last, first, middle and outer axes, argmax, mean and variance, and a sum fused with what it sums.
// SPDX-License-Identifier: MIT
#include <cudarray/reductions.hpp>

#include "bench.hpp"

using namespace bench;

namespace {

template <class T = float>
void sums(suite& s, int64 rows, int64 columns, const std::string& dtype = "") {
  const std::string params = dtype + dims(rows, columns);
  const work w{.bytes = double(sizeof(T)) * double(rows) * double(columns)};
  s.row("R2_sum_ax1", params, w, [=] {
    const ca::ndarray<T> a = ca::astype<T>(normal({rows, columns}));
    const auto r = ca::eval(ca::sum(a, 1));
    return [=] { ca::sum(a, 1, ca::out(r)); };
  });
  s.row("R3_sum_ax0", params, w, [=] {
    const ca::ndarray<T> a = ca::astype<T>(normal({rows, columns}));
    const auto r = ca::eval(ca::sum(a, 0));
    return [=] { ca::sum(a, 0, ca::out(r)); };
  });
}

void places_and_moments(suite& s, int64 rows, int64 columns) {
  const std::string params = dims(rows, columns);
  const work w{.bytes = 4. * double(rows) * double(columns)};
  for (const int axis : {1, 0}) {
    const std::string along = "_ax" + std::to_string(axis);
    s.row("R5_argmax" + along, params, w, [=] {
      const array a = normal({rows, columns});
      const auto r = ca::empty<int64>(axis == 1 ? rows : columns);
      return [=] { ca::argmax(a, axis, ca::out(r)); };
    });
    s.row("R6_meanvar" + along, params, w, [=] {
      const array a = normal({rows, columns});
      return [=] { ca::mean_var(a, axis); };
    });
  }
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
  sum_all<float>(s, count(many), many);
  sum_all<double>(s, "fp64 " + count(many / 2), many / 2);
  sum_all<ca::float16>(s, "fp16 " + count(many * 2), many * 2);
  sum_all<ca::int32>(s, "int32 " + count(many), many);
  s.row("R8_ssd", count(many), {.bytes = 8 * n}, [] {
    const array a = normal(many), b = normal(many), r = ca::empty({});
    return [=] { ca::sum((a - b) * (a - b), ca::out(r)); };
  });
  s.row("R8_ssd_ax1", dims(side - 1, side / 2 + 1), {.bytes = 4. * double(side - 1) * double(side + 2)}, [] {
    const array a = normal({side - 1, side / 2 + 1}), b = normal({side - 1, side / 2 + 1}), r = ca::empty(side - 1);
    return [=] { ca::sum((a - b) * (a - b), 1, ca::out(r)); };
  });
  sums(s, side, side);
  sums(s, tall, 64);
  sums(s, 64, tall);
  sums(s, side - 1, side + 1);
  sums(s, tall, 63);
  sums(s, 2 * tall, 33);
  sums(s, 16 * tall, 3);
  sums<double>(s, side / 2, side, "fp64 ");
  sums<double>(s, side / 2 - 1, side + 1, "fp64 ");
  sums<ca::float16>(s, side - 1, 2 * side + 1, "fp16 ");
  sums<ca::float16>(s, 2 * tall, 50, "fp16 ");
  sums<ca::uint8>(s, 64 * tall, 3, "uint8 ");
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
  s.row("R1_sum_all", "cut " + dims(tall / 16, 1000), {.bytes = 4. * double(tall / 16) * 1000}, [] {
    const array a = normal({tall / 16, 1024})(ca::_, ca::slice(0, 1000)), r = ca::empty({});
    return [=] { ca::sum(a, ca::out(r)); };
  });
  s.row("R1_sum_all", "cut " + dims(tall, 50), {.bytes = 4. * double(tall) * 50}, [] {
    const array a = normal({tall, 64})(ca::_, ca::slice(0, 50)), r = ca::empty({});
    return [=] { ca::sum(a, ca::out(r)); };
  });
  s.row("R4_sum_outer", dims(tall / 1024, 1024, 49), {.bytes = 4. * double(tall) * 49}, [] {
    const array a = normal({tall / 1024, 1024, 49}), r = ca::empty(1024);
    return [=] { ca::sum(a, {0, 2}, ca::out(r)); };
  });
  s.row("R5_any", "bool " + count(many * 4), {.bytes = 4 * n}, [] {
    const auto a = ca::zeros<bool>(many * 4), r = ca::empty<bool>({});
    return [=] { ca::any(a, ca::out(r)); };
  });
  places_and_moments(s, side, side);
  places_and_moments(s, side - 1, side + 1);
  s.row("R5_all", count(many), {.bytes = 4 * n}, [] {
    const array a = normal(many);
    const auto r = ca::empty<bool>({});
    return [=] { ca::all(a > -100, ca::out(r)); };  // true: every element must be seen
  });
  return s.run();
}
