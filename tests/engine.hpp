// What the tests of the CPU engine share.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/threads.hpp>
#include <limits>

#include "test.hpp"

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
template <class T>
using array = ca::ndarray<T, ca::cpu>;

inline const ca::cpu host{};
inline constexpr double nan_ = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

/// So many threads, whatever the machine has, for the scope.
struct threads {
  int before = ca::num_threads();
  explicit threads(int n) { ca::set_num_threads(n); }
  ~threads() { ca::set_num_threads(before); }
};

inline std::size_t at(int64 i) { return static_cast<std::size_t>(i); }
