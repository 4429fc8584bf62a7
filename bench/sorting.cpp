// Sorting and scanning: one long axis, many short ones, along and across.
// SPDX-License-Identifier: MIT
#include <cudarray/random.hpp>
#include <cudarray/sorting.hpp>

#include "bench.hpp"

using namespace bench;

int main(int argc, char** argv) {
  suite s(argc, argv);
  constexpr int64 n = many / 4;
  const auto sorts = [&](const std::string& params, const ca::shape& shape) {
    s.row("R9_sort", params, {.footprint = 1e9}, [=] {
      const array a = normal(shape);
      return [=, r = array()]() mutable { r = ca::sort(a); };
    });
    s.row("R9_argsort", params, {.footprint = 1e9}, [=] {
      const array a = normal(shape);
      return [=, r = ca::ndarray<int64>()]() mutable { r = ca::argsort(a); };
    });
  };
  sorts(count(n), {n});
  sorts(dims(n / 1024, 1024), {n / 1024, 1024});
  sorts(dims(64, n / 64), {64, n / 64});
  const auto tops = [&](const std::string& params, const ca::shape& shape, int64 k) {
    s.row("R9_topk", std::to_string(k) + " of " + params, {.bytes = 4. * double(shape.elements())}, [=] {
      const array a = normal(shape);
      return [=, r = array()]() mutable { r = ca::topk(a, k).values; };
    });
  };
  tops(count(many), {many}, 100);
  tops(dims(tall, many / tall), {tall, many / tall}, 8);
  tops(dims(side, side), {side, side}, 10);
  tops(dims(1024, 50257), {1024, 50257}, 50);
  const auto scans = [&](const std::string& params, const ca::shape& shape, int axis) {
    s.row("R9_cumsum", params, {.bytes = 8. * double(shape.elements())}, [=] {
      const array a = normal(shape);
      return [=, r = array()]() mutable { r = ca::cumsum(a, axis); };
    });
  };
  scans(count(many), {many}, 0);
  scans("odd " + count(many - 1), {many - 1}, 0);
  scans("ax1 " + dims(side, side), {side, side}, 1);
  scans("ax0 " + dims(side, side), {side, side}, 0);
  scans("ax1 " + dims(tall, many / tall), {tall, many / tall}, 1);
  scans("ax0 " + dims(tall, many / tall), {tall, many / tall}, 0);
  scans("ax0 " + dims(many / 4, 4), {many / 4, 4}, 0);
  return s.run();
}
