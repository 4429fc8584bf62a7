// What a file's arithmetic decides, compiled into files with and without -ffast-math.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/cudarray.hpp>
#include <limits>

namespace ca = cudarray;
template <class T>
using host = ca::ndarray<T, ca::cpu>;

/// Results of one file, to be compared with NumPy's where another file is.
struct arithmetic_results {
  host<bool> nan, inf, finite;
  host<float> larger, smaller, sorted, product, cancelled;
  host<double> sorted_doubles, reciprocal;
  host<int> integers;
  host<ca::int8> bytes;
  host<ca::int64> order;
  float max = 0, min = 0;
  ca::int64 argmax = 0, argmin = 0, argmax_row = 0, argmax_column = 0;
  bool scalar_nan = false, scalar_inf = false, scalar_finite = false;
  float scalar_larger = 0, scalar_smaller = 0;
  int scalar_integer = 0;
  host<double> normal, range;
  host<float> uniform;
  host<ca::float16> halves;
  host<ca::complex64> quotient;
  std::string text;
};

/// `special` is {1, nan, -inf, -0, 2.5, inf, -3, 7, ...}; `static`, so that each file has its own.
[[maybe_unused]] static arithmetic_results compute(const host<float>& special, const host<float>& large,
                                                   const host<float>& small) {
  arithmetic_results r;
  r.nan = ca::isnan(special), r.inf = ca::isinf(special), r.finite = ca::isfinite(special);
  r.larger = ca::maximum(special, 2.f), r.smaller = ca::minimum(special, 2.f);
  r.sorted = ca::sort(special), r.sorted_doubles = ca::sort(ca::astype<double>(special));
  r.order = ca::argsort(special);
  r.integers = ca::astype<int>(special), r.bytes = ca::astype<ca::int8>(ca::astype<double>(special));
  r.max = ca::max(special).item(), r.min = ca::min(special).item();
  r.argmax = ca::argmax(special).item(), r.argmin = ca::argmin(special).item();
  const host<float> rows = ca::concatenate({ca::reshape(special, {1, -1}), ca::reshape(special, {1, -1})}, 0);
  const host<ca::int64> along = ca::argmax(rows, 1), down = ca::argmax(rows.t(), 0);
  r.argmax_row = along.at(1), r.argmax_column = down.at(0);
  const float v = special.at(1), w = special.at(2);
  r.scalar_nan = ca::math::isnan(v), r.scalar_inf = ca::math::isinf(w), r.scalar_finite = ca::math::isfinite(v);
  r.scalar_larger = ca::math::maximum(v, special.at(0)), r.scalar_smaller = ca::math::minimum(special.at(0), v);
  r.scalar_integer = ca::detail::convert_scalar<int>(v);
  r.product = special(ca::slice(3, 5)) * 0.f;
  r.cancelled = (large + small) - large;
  r.reciprocal = ca::astype<double>(small) / 3.0 + 0.0;
  ca::random::generator g(0x0123456789abcdefu, 0xfedcba9876543210u);
  r.normal = ca::random::normal<double, ca::cpu>({4}, 0, 1, g);
  r.uniform = ca::random::uniform<float, ca::cpu>({4}, 0, 1, g);
  r.range = ca::concatenate({ca::arange<double, ca::cpu>(0, 1, .1), ca::linspace<double, ca::cpu>(0, 1, 7)});
  r.halves = ca::concatenate({ca::full<ca::float16, ca::cpu>({3}, 1 + 0x1p-11 + 0x1p-40),
                              host<ca::float16>(ca::astype<ca::float16>(ca::astype<double>(large)))});
  const host<ca::complex64> c = ca::astype<ca::complex64>(small);
  r.quotient = c / (c + c);
  r.text = ca::to_string(special);
  return r;
}

arithmetic_results arithmetic_precise(const host<float>& special, const host<float>& large, const host<float>& small);
arithmetic_results arithmetic_fast(const host<float>& special, const host<float>& large, const host<float>& small);
arithmetic_results arithmetic_fastest(const host<float>& special, const host<float>& large, const host<float>& small);
