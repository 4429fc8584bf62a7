// Golden cases of two operands of different dtypes: all pairs for add, a few for others.
// SPDX-License-Identifier: MIT
#include "binary.hpp"

namespace golden {
namespace {

template <class A, class B, class F>
void add(table& t, const char* name, F) {
  t[key<A, B>(name)] = binary<F, A, B>;
}

template <class F>
void add_pairs(table& t, const char* name, F f) {
  add<ca::int32, float>(t, name, f);
  add<ca::uint8, ca::int64>(t, name, f);
  add<float, double>(t, name, f);
}

}  // namespace

void add_mixed(table& t) {
  each_dtype([&]<class A>() { each_dtype([&]<class B>() { add<A, B>(t, "add", GOLDEN_FUNCTION(add)); }); });
  add_pairs(t, "multiply", GOLDEN_FUNCTION(multiply));
  add_pairs(t, "divide", GOLDEN_FUNCTION(divide));
  add_pairs(t, "maximum", GOLDEN_FUNCTION(maximum));
  add_pairs(t, "remainder", GOLDEN_FUNCTION(remainder));
  add_pairs(t, "less", GOLDEN_FUNCTION(less));
  add<ca::uint8, ca::int64>(t, "bitwise_or", GOLDEN_FUNCTION(bitwise_or));
  add<bool, ca::int32>(t, "bitwise_or", GOLDEN_FUNCTION(bitwise_or));
}

}  // namespace golden
