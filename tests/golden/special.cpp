// Golden cases of the functions of special_functions.inc and special_binary_functions.inc, and of what rounds.
// SPDX-License-Identifier: MIT
#include "binary.hpp"
#include "unary.hpp"

namespace golden {
namespace {

template <class T>
value round(const test_case& c) {
  return download(ca::round(load<T>(c.in[0]), c.integers.at(0)));
}

}  // namespace

void add_special(table& t) {
#define CUDARRAY_FUNCTION(name, ...) add_unary<ca::op::name##_op>(t, #name, [](const auto& x) { return ca::name(x); });
#include <cudarray/expr/special_functions.inc>
#undef CUDARRAY_FUNCTION
  each_dtype([&]<class T>() {
    t[key<T>("nan_to_num")] = unary<decltype([](const auto& x) { return ca::nan_to_num(x); }), T>;
    if constexpr (!std::is_same_v<T, bool>) t[key<T>("round")] = round<T>;
  });
  GOLDEN_BINARY(fmax);
  GOLDEN_BINARY(fmin);
  GOLDEN_BINARY(fmod);
  GOLDEN_BINARY(heaviside);
  GOLDEN_BINARY(logaddexp);
  GOLDEN_BINARY(logaddexp2);
  GOLDEN_BINARY(gcd);
  GOLDEN_BINARY(lcm);
  GOLDEN_BINARY(isclose);
  GOLDEN_BINARY(nextafter);
}

}  // namespace golden
