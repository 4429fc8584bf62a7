// Golden cases of where, clip and the conversions between dtypes.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class T>
value where(const test_case& c) {
  return download(ca::where(load<bool>(c.in[0]), load<T>(c.in[1]), load<T>(c.in[2])));
}

template <class T>
value clip(const test_case& c) {
  return download(ca::clip(load<T>(c.in[0]), load<T>(c.in[1]), load<T>(c.in[2])));
}

template <class T, class To>
value astype(const test_case& c) {
  return download(ca::astype<To>(load<T>(c.in[0])));
}

}  // namespace

void add_selection(table& t) {
  each_dtype([&]<class T>() {
    t[key<bool, T>("where")] = where<T>;
    t[key<T, T>("clip")] = clip<T>;
    each_dtype([&]<class To>() { t[key<T>(std::string("astype<") + ca::dtype_name<To> + ">")] = astype<T, To>; });
  });
}

}  // namespace golden
