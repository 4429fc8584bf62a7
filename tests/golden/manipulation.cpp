// Golden cases of copies, shapes and joining.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class T>
value copy(const test_case& c) {
  return download(load<T>(c.in[0]));
}

template <class T>
value transpose(const test_case& c) {
  return download(ca::transpose(load<T>(c.in[0]), c.axes()));
}

template <class T>
value reshape(const test_case& c) {
  return download(ca::reshape(load<T>(c.in[0]), ca::shape(c.integers.data(), int(c.integers.size()))));
}

template <class T>
std::vector<ca::ndarray<T>> parts(const test_case& c) {
  std::vector<ca::ndarray<T>> p;
  for (const operand& o : c.in) p.push_back(load<T>(o));
  return p;
}

template <class T>
value concatenate(const test_case& c) {
  return download(ca::concatenate(parts<T>(c), int(c.integers[0])));
}

template <class T>
value stack(const test_case& c) {
  return download(ca::stack(parts<T>(c), int(c.integers[0])));
}

}  // namespace

void add_manipulation(table& t) {
  each_dtype([&]<class T>() {
    t[key<T>("copy")] = copy<T>;
    t[key<T>("transpose")] = transpose<T>;
    t[key<T>("reshape")] = reshape<T>;
    t[key<T, T>("concatenate")] = concatenate<T>;
    t[key<T, T>("stack")] = stack<T>;
  });
}

}  // namespace golden
