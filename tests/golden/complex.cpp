// Golden cases of the functions of complex numbers.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

namespace golden {
namespace {

template <class T, class F>
value of_one(const test_case& c) {
  return download(F{}(load<T>(c.in[0])));
}
template <class T, class F>
value of_two(const test_case& c) {
  return download(F{}(load<T>(c.in[0]), load<T>(c.in[1])));
}
template <class T, class F>
value of_axes(const test_case& c) {
  return download(F{}(load<T>(c.in[0]), c.axes()));
}

template <class T>
void add_dtype(table& t) {
#define CUDARRAY_UNARY(name) t[key<T>(#name)] = of_one<T, decltype([](const auto& x) { return ca::name(x); })>;
  CUDARRAY_UNARY(absolute)
  CUDARRAY_UNARY(angle)
  CUDARRAY_UNARY(arccos)
  CUDARRAY_UNARY(arccosh)
  CUDARRAY_UNARY(arcsin)
  CUDARRAY_UNARY(arcsinh)
  CUDARRAY_UNARY(arctan)
  CUDARRAY_UNARY(arctanh)
  CUDARRAY_UNARY(conj)
  CUDARRAY_UNARY(cos)
  CUDARRAY_UNARY(cosh)
  CUDARRAY_UNARY(exp)
  CUDARRAY_UNARY(exp2)
  CUDARRAY_UNARY(expm1)
  CUDARRAY_UNARY(imag)
  CUDARRAY_UNARY(isfinite)
  CUDARRAY_UNARY(isinf)
  CUDARRAY_UNARY(isnan)
  CUDARRAY_UNARY(log)
  CUDARRAY_UNARY(log10)
  CUDARRAY_UNARY(log1p)
  CUDARRAY_UNARY(log2)
  CUDARRAY_UNARY(negative)
  CUDARRAY_UNARY(positive)
  CUDARRAY_UNARY(real)
  CUDARRAY_UNARY(reciprocal)
  CUDARRAY_UNARY(rint)
  CUDARRAY_UNARY(sign)
  CUDARRAY_UNARY(sin)
  CUDARRAY_UNARY(sinh)
  CUDARRAY_UNARY(sqrt)
  CUDARRAY_UNARY(square)
  CUDARRAY_UNARY(tan)
  CUDARRAY_UNARY(tanh)
#undef CUDARRAY_UNARY
#define CUDARRAY_BINARY(name) \
  t[key<T, T>(#name)] = of_two<T, decltype([](const auto& x, const auto& y) { return ca::name(x, y); })>;
  CUDARRAY_BINARY(divide)
  CUDARRAY_BINARY(equal)
  CUDARRAY_BINARY(not_equal)
  CUDARRAY_BINARY(power)
  CUDARRAY_BINARY(subtract)
#undef CUDARRAY_BINARY
#define CUDARRAY_REDUCTION(name) \
  t[key<T>(#name)] = of_axes<T, decltype([](const auto& x, const ca::axes& over) { return ca::name(x, over); })>;
  CUDARRAY_REDUCTION(mean)
  CUDARRAY_REDUCTION(prod)
  CUDARRAY_REDUCTION(std)
  CUDARRAY_REDUCTION(var)
#undef CUDARRAY_REDUCTION
}

}  // namespace

void add_complex(table& t) {
  add_dtype<ca::complex64>(t);
  add_dtype<ca::complex128>(t);
}

}  // namespace golden
