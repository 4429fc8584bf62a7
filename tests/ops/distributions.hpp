// What the tests of distributions share: a chi-square statistic of bins, and hashes of bits.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "test.hpp"

namespace test {

namespace rnd = ca::random;

/// The sum of (counted - expected)^2 / expected over bins (-inf, edge 0], .., (last edge, inf).
template <class X>
double chi_square(const X& x, const std::vector<double>& edges, const std::vector<double>& probabilities) {
  std::vector<double> counts(probabilities.size(), 0.);
  const auto v = values(x);
  for (const auto e : v)
    counts[std::size_t(std::lower_bound(edges.begin(), edges.end(), static_cast<double>(e)) - edges.begin())] += 1;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * double(v.size()), d = counts[i] - expected;
    sum += d * d / expected;
  }
  return sum;
}

/// FNV-1a of the elements' bytes, in C order.
template <class X>
ca::uint64 hash(const X& x) {
  std::vector<unsigned char> bytes;
  for (const ca::value_type_t<X> e : values(x)) {
    const auto* at = reinterpret_cast<const unsigned char*>(&e);
    bytes.insert(bytes.end(), at, at + sizeof e);
  }
  ca::uint64 h = 0xcbf29ce484222325u;
  for (const unsigned char b : bytes) h = (h ^ b) * 0x100000001b3u;
  return h;
}

}  // namespace test
