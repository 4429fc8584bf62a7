// Golden cases of the 16-bit floats and of complex numbers.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class T>
value copy(const test_case& c) {
  return download(load<T>(c.in[0]));
}

template <class T, class To>
value astype(const test_case& c) {
  return download(ca::astype<To>(load<T>(c.in[0])));
}

template <class T>
value add(const test_case& c) {
  return download(load<T>(c.in[0]) + load<T>(c.in[1]));
}

template <class T>
value multiply(const test_case& c) {
  return download(load<T>(c.in[0]) * load<T>(c.in[1]));
}

template <class T>
value sum(const test_case& c) {
  return download(ca::sum(load<T>(c.in[0]), c.axes()));
}

template <class T>
void add_dtype(table& t) {
  t[key<T>("copy")] = copy<T>;
  t[key<T>("astype<float32>")] = astype<T, float>;
  t[key<float>(std::string("astype<") + ca::dtype_name<T> + ">")] = astype<float, T>;
  t[key<T, T>("add")] = add<T>;
  t[key<T, T>("multiply")] = multiply<T>;
  t[key<T>("sum")] = sum<T>;
}

}  // namespace

void add_half(table& t) {
  add_dtype<ca::float16>(t);
  add_dtype<ca::bfloat16>(t);
  add_dtype<ca::complex64>(t);
}

}  // namespace golden
