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

/// What a comparison found: nothing, or where it is wrong, in words.
struct verdict {
  std::string wrong;
  operator bool() const { return wrong.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const verdict& v) {
    return out << (v ? std::string("as expected") : v.wrong);
  }
};

/// Elements in C order against what they should be: equal, or within `relative` of it (of 1 where it is less); NaN
/// equals NaN. A long double holds every element exactly.
inline verdict compare(const char* dtype, const ca::shape& got_shape, const ca::shape& shape,
                       const std::vector<long double>& got, const std::vector<long double>& expected, double relative) {
  if (got_shape != shape) return {ca::detail::cat("shape ", got_shape, ", expected ", shape)};
  if (got.size() != expected.size())
    return {ca::detail::cat(got.size(), " elements, ", expected.size(), " are expected")};
  const auto is_wrong = [&](std::size_t i) {
    const long double a = got[i], b = expected[i];
    if (a == b || (a != a && b != b)) return false;  // infinities, NaN
    return !(std::fabs(a - b) <= relative * std::fmax(1.L, std::fabs(b)));
  };
  std::size_t first = got.size();
  int others = -1;
  for (std::size_t i = got.size(); i-- > 0;)
    if (is_wrong(i)) first = i, ++others;
  if (others < 0) return {};
  const auto number = [](long double x) {
    return std::fabs(x) < 9e18L && x == std::floor(x) ? std::to_string(ca::int64(x)) : ca::detail::cat(double(x));
  };
  std::string place = ")";
  ca::int64 left = ca::int64(first);
  for (int d = shape.ndim(); d-- > 0; left /= shape[d])
    place = (d > 0 ? ", " : "") + std::to_string(left % shape[d]) + place;
  return {ca::detail::cat("element (", place, " of ", dtype, " ", shape, " is ", number(got[first]), ", expected ",
                          number(expected[first]), "; ", others, " others are wrong")};
}

template <class T>
std::vector<long double> exact(const std::vector<T>& v) {
  std::vector<long double> r;
  for (const auto x : v)
    if constexpr (std::is_arithmetic_v<T>) r.push_back(static_cast<long double>(x));
    else r.push_back(static_cast<long double>(float(x)));
  return r;
}
template <ca::array_expression X, class T>
verdict compare(const X& x, const ca::shape& s, const std::vector<T>& expected, double relative) {
  using value = ca::value_type_t<X>;
  const ca::ndarray<value, ca::device_type_t<X>> a = x;
  return compare(ca::dtype_name<value>, a.shape(), s, exact(values(a)), exact(expected), relative);
}

/// Shape and elements are the expected ones, exactly; NaN equals NaN.
template <ca::array_expression X, class T>
verdict equal(const X& x, const ca::shape& s, const std::vector<T>& expected) {
  return compare(x, s, expected, 0);
}

/// The shape fits and every element is within `relative` of the expected one, or NaN where that is.
template <ca::array_expression X>
verdict close(const X& x, const ca::shape& s, const std::vector<double>& expected, double relative = 1e-6) {
  return compare(x, s, expected, relative);
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
