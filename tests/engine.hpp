// What the tests of the CPU engine share.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "test.hpp"

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using test::threads;
template <class T>
using array = ca::ndarray<T, ca::cpu>;

inline const ca::cpu host{};
inline constexpr double nan_ = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

inline std::size_t at(int64 i) { return static_cast<std::size_t>(i); }
