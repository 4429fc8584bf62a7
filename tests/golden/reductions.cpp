// Golden cases of the reductions.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class F, class T>
value reduction(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  if (c.given) return c.keepdims ? download(F{}(x, c.axes(), ca::keepdims)) : download(F{}(x, c.axes()));
  return c.keepdims ? download(F{}(x, ca::keepdims)) : download(F{}(x));
}

template <class F>
void add(table& t, const char* name, F) {
  each_dtype([&]<class T>() { t[key<T>(name)] = reduction<F, T>; });
}

}  // namespace

void add_reductions(table& t) {
#define GOLDEN_REDUCTION(name) add(t, #name, [](const auto&... x) { return ca::name(x...); })
  GOLDEN_REDUCTION(sum);
  GOLDEN_REDUCTION(prod);
  GOLDEN_REDUCTION(mean);
  GOLDEN_REDUCTION(max);
  GOLDEN_REDUCTION(min);
  GOLDEN_REDUCTION(argmax);
  GOLDEN_REDUCTION(argmin);
  GOLDEN_REDUCTION(any);
  GOLDEN_REDUCTION(all);
  GOLDEN_REDUCTION(var);
  GOLDEN_REDUCTION(std);
#undef GOLDEN_REDUCTION
}

}  // namespace golden
