// What the C++ workers of scripts/cpu-bench share: inputs, a table of rows, timing, checksums, the loop for the driver.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace worker {

using int64 = std::int64_t;
inline constexpr int64 K = 1 << 10, M = 1 << 20;

/// Element i of input `seed`, in [0, 1), as worker.py has it.
inline float value(std::uint32_t i, std::uint32_t seed) {
  std::uint32_t h = (i + seed * 1000003u) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return float((h ^ h >> 13) >> 8) * 0x1p-24f;
}

/// Fills p; `scale` 0 is 1 for floats and 100 for integers.
template <class T>
void fill(T* p, int64 n, int seed, float scale = 0) {
  if (scale == 0) scale = std::is_integral_v<T> ? 100 : 1;
  for (int64 i = 0; i < n; ++i) {
    const float v = value(std::uint32_t(i), std::uint32_t(seed));
    if constexpr (std::is_same_v<T, bool>) p[i] = v < 0.5f;
    else p[i] = T(v * scale);
  }
}

/// A weighted sum of what a call returned (a number, an array, or the address of one), and the same of absolute values.
template <class R>
std::string checksum(const R& result) {
  const auto number = [](const auto& v) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) return double(v);
    else return double(static_cast<float>(v));
  };
  if constexpr (std::is_pointer_v<R>) {
    return checksum(*result);
  } else {
    if constexpr (requires { result.is_contiguous(), result.copy(); })
      if (!result.is_contiguous()) return checksum(result.copy());
    double sum = 0, scale = 0;
    const auto add = [&](double v, int64 i) { sum += v * double(1 + i % 7), scale += std::abs(v) * double(1 + i % 7); };
    if constexpr (requires { result.data(); }) {
      const auto* const p = result.data();
      for (int64 i = 0; i < int64(result.size()); ++i) add(number(p[i]), i);
    } else {
      add(number(result), 0);
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.12g %.12g", sum, scale);
    return text;
  }
}

/// What one call of a row does, on inputs that are there.
struct task {
  std::function<void()> call;
  std::function<std::string()> check;
};

inline std::map<std::string, std::function<task()>>& rows() {
  static std::map<std::string, std::function<task()>> all;
  return all;
}

/// Adds a row: f is timed, on what the makers return for the seeds 0, 1, ...
template <class F, class... Make>
void row(const std::string& name, F f, Make... make) {
  rows()[name] = [=] {
    auto next = [seed = 0]() mutable { return seed++; };
    using inputs = std::tuple<std::decay_t<std::invoke_result_t<Make, int>>...>;
    const std::shared_ptr<inputs> in(new inputs{make(next())...});
    return task{[=] {
                  const auto result = std::apply(f, *in);
                  asm volatile("" : : "r"(&result) : "memory");  // it is used
                },
                [=] { return checksum(std::apply(f, *in)); }};
  };
}

/// Milliseconds of one call: the median of samples that take `target` milliseconds together.
inline double measure(const std::function<void()>& call, double target) {
  const auto sample = [&](int calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / calls;
  };
  const auto calls_of = [](double once) { return std::clamp(int(0.5 / once), 1, 10000); };
  sample(1);
  const double once = sample(calls_of(sample(1)));
  const int calls = calls_of(once), samples = std::clamp(int(target / (once * calls)), 3, 99);
  std::vector<double> times;
  for (int s = 0; s < samples; ++s) times.push_back(sample(calls));
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[std::size_t(samples / 2)];
}

/// Answers lines "time|check THREADS TARGET_MS ROW" with nanoseconds or a checksum, - for a row that is not there.
inline int serve(const std::function<void(int)>& set_threads) {
  std::string verb, name, current;
  int threads = 0, before = 0;
  double target = 0;
  task now;
  while (std::cin >> verb >> threads >> target && std::getline(std::cin >> std::ws, name)) {
    std::string answer = "-";
    if (const auto found = rows().find(name); found != rows().end()) {
      try {
        if (threads != std::exchange(before, threads)) set_threads(threads);
        if (verb == "check" || name != std::exchange(current, name)) {
          now = {};
          now = found->second();
        }
        answer = verb == "check" ? now.check() : std::to_string(measure(now.call, target) * 1e6);
      } catch (const std::exception& e) {
        answer = std::string("error ") + e.what();
      }
    } else {
      now = {};
      current.clear();
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace worker
