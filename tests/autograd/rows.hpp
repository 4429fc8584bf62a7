// Functions in which reductions meet their rows, in NumPy's notation, and what their tests share.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "differences.hpp"

namespace test {

inline const auto layer_norm = [](const auto& x, const auto& g, const auto& b) {
  return (x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5) * g + b;
};
inline const auto softmax = [](const auto& x) {
  const auto e = ca::exp(x - ca::max(x, -1, ca::keepdims));
  return e / ca::sum(e, -1, ca::keepdims);
};
inline const auto weighted = [](const auto& x, const auto& w) {
  return x * w / (ca::sum(x * x * w, -1, ca::keepdims) + 50.);
};

/// Checks `f(x...)` of operands that are laid out as they are said.
template <class F, class... O>
void check_rows(const char* name, const F& f, const O&... of) {
  INFO(name);
  std::vector<numbers> values;
  for (const operand& o : {of...}) {
    const int k = int(values.size());
    values.push_back(random_numbers(unsigned(11 + k)).between(-2, 2, o.dims.elements(), k));
  }
  check_jacobian(f, values, {of...}, std::make_integer_sequence<int, int(sizeof...(O))>{});
}
/// Numbers between -1.5 and 1.5 that no formula of the tests knows.
inline doubles waves(const ca::shape& s, double f = .7) {
  numbers v;
  for (ca::int64 i = 0; i < s.elements(); ++i) v.push_back(1.5 * std::sin(f * double(i) + double(i % 7)));
  return ca::array(v, s);
}

}  // namespace test
