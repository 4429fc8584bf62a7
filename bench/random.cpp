// Random numbers, Philox 4x32-10.
// SPDX-License-Identifier: MIT
#include "bench.hpp"

using namespace bench;

int main(int argc, char** argv) {
  suite s(argc, argv);
  const double n = double(many);
  s.row("G1_uniform", count(many), {.bytes = 4 * n, .footprint = 1e9},
        [] { return [r = array()]() mutable { r = ca::random::uniform(many); }; });
  s.row("G1_normal", count(many), {.bytes = 4 * n, .footprint = 1e9},
        [] { return [r = array()]() mutable { r = ca::random::normal(many); }; });
  s.row("G1_normal", "fp64 " + count(many / 2), {.bytes = 4 * n, .footprint = 1e9},
        [] { return [r = ca::ndarray<double>()]() mutable { r = ca::random::normal<double>(many / 2); }; });
  s.row("G1_bits", count(many), {.bytes = 4 * n, .footprint = 1e9},
        [] { return [r = ca::ndarray<ca::uint32>()]() mutable { r = ca::random::bits(many); }; });
  s.row("G2_permutation", count(tall), {.footprint = 1e9},
        [] { return [r = ca::ndarray<int64>()]() mutable { r = ca::random::permutation(tall); }; });
  return s.run();
}
