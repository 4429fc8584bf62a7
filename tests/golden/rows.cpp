// Golden cases of row programs: softmax, normalisations, cross-entropy and their like in notation.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

#include <limits>

namespace golden {
namespace {

template <class X>
auto softmax_of(const X& x) {
  return ca::exp(x - ca::max(x, -1, ca::keepdims)) /
         ca::sum(ca::exp(x - ca::max(x, -1, ca::keepdims)), -1, ca::keepdims);
}
template <class T>
value softmax(const test_case& c) {
  return download(softmax_of(load<T>(c.in[0])));
}
template <class T>
value masked_softmax(const test_case& c) {
  return download(
      softmax_of(ca::where(load<bool>(c.in[1]), load<T>(c.in[0]), -std::numeric_limits<double>::infinity())));
}
template <class T>
value softmax_gradient(const test_case& c) {
  const auto y = load<T>(c.in[0]), dy = load<T>(c.in[1]);
  return download(y * (dy - ca::sum(dy * y, -1, ca::keepdims)));
}
template <class T>
value layer_norm(const test_case& c) {
  const auto x = load<T>(c.in[0]), gain = load<T>(c.in[1]), bias = load<T>(c.in[2]);
  return download((x - ca::mean(x, -1, ca::keepdims)) / ca::sqrt(ca::var(x, -1, ca::keepdims) + 1e-5) * gain + bias);
}
template <class T>
value rms_norm(const test_case& c) {
  const auto x = load<T>(c.in[0]), gain = load<T>(c.in[1]);
  return download(x / ca::sqrt(ca::mean(x * x, -1, ca::keepdims) + 1e-5) * gain);
}
template <class T>
value cross_entropy(const test_case& c) {
  const auto x = load<T>(c.in[0]);
  const auto label = load<ca::int64>(c.in[1]);
  const auto most = ca::max(x, -1, ca::keepdims);
  return download(ca::log(ca::sum(ca::exp(x - most), -1, ca::keepdims)) + most - ca::take_along_axis(x, label, -1));
}

template <class T>
void add_halves(table& t) {
  t[key<T>("softmax")] = softmax<T>;
  t[key<T, T>("softmax_gradient")] = softmax_gradient<T>;
  t[key<T, T>("rms_norm")] = rms_norm<T>;
}
template <class T>
void add_all(table& t) {
  add_halves<T>(t);
  t[key<T, bool>("masked_softmax")] = masked_softmax<T>;
  t[key<T, T>("layer_norm")] = layer_norm<T>;
  t[key<T, ca::int64>("cross_entropy")] = cross_entropy<T>;
}

}  // namespace

void add_rows(table& t) {
  add_all<float>(t);
  add_all<double>(t);
  add_halves<ca::float16>(t);
  add_halves<ca::bfloat16>(t);
}

}  // namespace golden
