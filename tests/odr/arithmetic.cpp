// Files with and without -ffast-math in one program: the precise ones give NumPy's results, and all of them know NaN.
// SPDX-License-Identifier: MIT
#include "arithmetic.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

int failures = 0;
const char* file = "";
void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("%s: %s\n", file, what);
  ++failures;
}
/// The same elements; a NaN is one, and -0 is not 0.
template <class T, std::size_t N>
bool are(const host<T>& a, const T (&expected)[N]) {
  if (a.size() != int(N)) return false;
  for (std::size_t k = 0; k < N; ++k) {
    const T v = a.at(int(k));
    if (v != v && expected[k] != expected[k]) continue;
    if (std::memcmp(&v, &expected[k], sizeof(T)) != 0) return false;
  }
  return true;
}

constexpr float not_number = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

/// What holds under -ffast-math, too: what elements are, and where NaN goes.
void check_everywhere(const char* name, const arithmetic_results& r) {
  file = name;
  check(are<bool>(r.nan, {0, 1, 0, 0, 0, 0, 0, 0, 1}), "isnan");
  check(are<bool>(r.inf, {0, 0, 1, 0, 0, 1, 0, 0, 0}), "isinf");
  check(are<bool>(r.finite, {1, 0, 0, 1, 1, 0, 1, 1, 0}), "isfinite");
  check(are<float>(r.larger, {2, not_number, 2, 2, 2.5f, inf, 2, 7, not_number}), "maximum");
  check(are<float>(r.smaller, {1, not_number, -inf, -0.f, 2, 2, -3, 2, not_number}), "minimum");
  check(are<float>(r.sorted, {-inf, -3, -0.f, 1, 2.5f, 7, inf, not_number, not_number}), "sort");
  check(
      are<double>(r.sorted_doubles, {-HUGE_VAL, -3, -0., 1, 2.5, 7, HUGE_VAL, double(not_number), double(not_number)}),
      "sort of float64");
  check(are<ca::int64>(r.order, {2, 6, 3, 0, 4, 7, 5, 1, 8}), "argsort");
  check(are<int>(r.integers, {1, 0, -2147483647 - 1, 0, 2, 2147483647, -3, 7, 0}), "astype<int>");
  check(are<ca::int8>(r.bytes, {1, 0, -128, 0, 2, 127, -3, 7, 0}), "astype<int8>");
  check(std::isnan(r.max) && std::isnan(r.min), "max and min");
  check(r.argmax == 1 && r.argmin == 1 && r.argmax_row == 1 && r.argmax_column == 1, "argmax and argmin");
  check(r.scalar_nan && r.scalar_inf && !r.scalar_finite, "isnan, isinf and isfinite of a scalar");
  check(std::isnan(r.scalar_larger) && std::isnan(r.scalar_smaller), "maximum and minimum of scalars");
  check(r.scalar_integer == 0, "NaN as an integer");
  check(r.text == "[ 1.   nan -inf -0.   2.5  inf -3.   7.   nan]", r.text.c_str());
}
void check_precise(const arithmetic_results& r) {
  check(are<float>(r.product, {-0.f, 0}), "-0 * 0");
  check(are<float>(r.cancelled, {0, 8, 48}), "(1e8 + x) - 1e8 in float32");
  check(are<double>(r.reciprocal, {1 / 3., 5 / 3., 49 / 3.}), "division by 3");
  check(are<ca::complex64>(r.quotient, {{0.5f, 0}, {0.5f, 0}, {0.5f, 0}}), "complex division");
  check(are<double>(r.normal, {-0.26569881206504736, -0.06456348253912393, -0.44623323807639587, 1.5432298791936914}),
        "random::normal");
}

}  // namespace

int main() {
  const host<float> special = ca::array<float>({1, not_number, -inf, -0.f, 2.5f, inf, -3, 7, not_number}),
                    large = ca::array<float>({1e8f, 1e8f, 1e8f}), small = ca::array<float>({1, 5, 49});
  check_everywhere("precise", arithmetic_precise(special, large, small));
  check_precise(arithmetic_precise(special, large, small));
  check_everywhere("-ffast-math", arithmetic_fast(special, large, small));
  check_everywhere("-ffast-math -O3", arithmetic_fastest(special, large, small));
  std::printf("arithmetic: %d failed\n", failures);
  return failures != 0;
}
