// Catch2, version 2 or 3, and what all tests share: arrays compared with expected values on either device.
// SPDX-License-Identifier: MIT
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cmath>
#include <cudarray/cudarray.hpp>
#include <string>
#include <vector>

namespace ca = cudarray;

namespace test {

/// All tests run with released memory overwritten: a use after release changes a result.
inline const bool poisoned = (ca::poison_released(true), true);

/// So many threads, whatever the machine has, for the scope.
struct threads {
  int before = ca::num_threads();
  explicit threads(int n) { ca::set_num_threads(n); }
  ~threads() { ca::set_num_threads(before); }
};

/// The elements of an array or expression on the host, in C order.
template <ca::array_expression X>
std::vector<ca::value_type_t<X>> values(const X& x) {
  using T = ca::value_type_t<X>;
  const ca::ndarray<T, ca::cpu> a = ca::to<ca::cpu>(ca::copy(x));
  return std::vector<T>(a.data(), a.data() + a.size());
}

/// True if shape and elements are the expected ones, exactly; NaN equals NaN.
template <ca::array_expression X, class T>
bool equal(const X& x, const ca::shape& s, const std::vector<T>& expected) {
  const auto v = values(x);
  if (ca::ndarray<ca::value_type_t<X>, ca::device_type_t<X>>(x).shape() != s || v.size() != expected.size())
    return false;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double a = double(v[i]), b = double(expected[i]);
    if (a != b && !(a != a && b != b)) return false;
  }
  return true;
}

/// True if shape fits and every element is within `relative` of the expected one, or NaN where that is.
template <ca::array_expression X>
bool close(const X& x, const ca::shape& s, const std::vector<double>& expected, double relative = 1e-6) {
  const auto v = values(x);
  if (ca::ndarray<ca::value_type_t<X>, ca::device_type_t<X>>(x).shape() != s || v.size() != expected.size())
    return false;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double a = double(v[i]), b = expected[i];
    if (a == b || (a != a && b != b)) continue;  // infinities, NaN
    if (!(std::fabs(a - b) <= relative * std::fmax(1., std::fabs(b)))) return false;
  }
  return true;
}

/// The text of the exception of type E that `f` throws, or what came instead.
template <class E, class F>
std::string thrown(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace test
