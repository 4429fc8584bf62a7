// Golden cases of sorting and scanning.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class F, class T>
value segments(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  return c.given ? download(F{}(x, int(c.integers.at(0)))) : download(F{}(x));
}

template <class F>
void add(table& t, const char* name, F) {
  each_dtype([&]<class T>() { t[key<T>(name)] = segments<F, T>; });
}

/// The integers of a case: axis, k, whether the largest.
template <class T>
auto top(const test_case& c) {
  const auto& of = c.integers;
  return ca::topk(load<T>(c.in[0]), of.at(1), {.axis = int(of.at(0)), .largest = of.at(2) != 0});
}

}  // namespace

void add_sorting(table& t) {
#define GOLDEN_SEQUENCES(name) add(t, #name, [](const auto& x, auto... axis) { return ca::name(x, axis...); })
  GOLDEN_SEQUENCES(sort);
  GOLDEN_SEQUENCES(argsort);
  GOLDEN_SEQUENCES(cumsum);
  GOLDEN_SEQUENCES(cumprod);
  GOLDEN_SEQUENCES(cummax);
  GOLDEN_SEQUENCES(cummin);
#undef GOLDEN_SEQUENCES
  each_dtype([&]<class T>() {
    t[key<T>("topk")] = [](const test_case& c) { return download(top<T>(c).values); };
    t[key<T>("topk_indices")] = [](const test_case& c) { return download(top<T>(c).indices); };
  });
}

}  // namespace golden
