// Gradients by central differences, and numbers to try them on.
// SPDX-License-Identifier: MIT
#pragma once

#include "test.hpp"

namespace test {

using doubles = ca::ndarray<double>;

/// n different numbers of (-2, 2), no two closer than 1e-3 for the n of these tests.
inline std::vector<double> wave(ca::int64 n, double phase = 0) {
  std::vector<double> v;
  for (ca::int64 i = 0; i < n; ++i) v.push_back(2 * std::sin(1.7 * double(i) + phase) + 1e-2 * std::cos(double(i)));
  return v;
}
inline doubles wave_of(const ca::shape& s, double phase = 0) { return ca::array(wave(s.elements(), phase), s); }

/// The gradient of the number f(x) with respect to x, in C order.
template <class F>
std::vector<double> slope(const F& f, const doubles& x, double h = 1e-4) {
  const std::vector<double> at = values(x);
  std::vector<double> r;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> above = at, below = at;
    above[i] += h;
    below[i] -= h;
    r.push_back((f(doubles(ca::array(above, x.shape()))) - f(doubles(ca::array(below, x.shape())))) / (2 * h));
  }
  return r;
}

}  // namespace test
