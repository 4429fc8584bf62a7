// Sorting one axis.
// SPDX-License-Identifier: MIT
#include <cudarray/indexing.hpp>
#include <cudarray/random.hpp>

#include "bench.hpp"

using namespace bench;

int main(int argc, char** argv) {
  suite s(argc, argv);
  constexpr int64 n = many / 4;
  s.row("R9_argsort", count(n), {.footprint = 1e9}, [] {
    const array a = normal(n);
    return [=, r = ca::ndarray<int64>()]() mutable { r = ca::argsort(a); };
  });
  s.row("R9_sort", count(n), {.footprint = 1e9}, [] {
    const array a = normal(n);
    return [=, r = array()]() mutable { r = array(ca::take(a, ca::argsort(a))); };
  });
  return s.run();
}
