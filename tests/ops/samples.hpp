// Arrays that tests of statistics share.
// SPDX-License-Identifier: MIT
#pragma once

#include "test.hpp"

namespace samples {

using ints = std::vector<int>;
using doubles = std::vector<double>;

inline const double inf = HUGE_VAL, none = NAN;

template <class X, class T>
constexpr bool is = std::is_same_v<ca::value_type_t<X>, T>;
template <class T>
using line = decltype(ca::ones<T>({2}));

inline const auto f64 = [](const doubles& v) { return ca::array<double>(v); };
inline const auto holes = [] { return ca::array<double>({{1, NAN, 3, 2}, {4, 5, 6, 9}, {NAN, NAN, NAN, NAN}}); };
inline const auto table = [] { return ca::array<double>({{1, 2, 3}, {4, 5, 6}}); };
inline const auto variables = [] { return ca::array<double>({{1, 2, 4, 8}, {3, 1, 0, -2}, {5, 5, 6, 7}}); };
inline const auto block = [] {
  return ca::array(doubles{0, 1, 4, 9, 16, 8, 2, 15, 13, 13, 15, 2, 8, 16, 9, 4, 1, 0, 1, 4, 9, 16, 8, 2}, {2, 3, 4});
};

}  // namespace samples
