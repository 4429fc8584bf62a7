// The golden suite's cases as generate.py writes them, and how a family of functions runs them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <cudarray/cudarray.hpp>
#include <map>
#include <string>
#include <vector>

namespace ca = cudarray;

namespace golden {

/// The elements of an array on the host, in C order, and their dtype by name.
struct value {
  std::string dtype;
  ca::shape shape;
  std::vector<unsigned char> bytes;
};

/// An operand: a base buffer, and the view of it.
struct operand {
  std::string dtype;
  ca::layout where;
  std::vector<unsigned char> base;
};

/// One call and its result. `integers` are what the function takes: axes, a permutation, a shape, an index.
struct test_case {
  std::string op;
  bool given, keepdims;  // given: false where `integers` is absent, which is not the same as empty
  double relative, absolute;
  std::vector<ca::int64> integers;
  std::vector<operand> in;
  value expected;

  /// The integers as axes; absent: all.
  ca::axes axes() const {
    std::vector<int> a(integers.begin(), integers.end());
    if (!given) return ca::axes::all();
    switch (a.size()) {
      case 0:
        return {};
      case 1:
        return {a[0]};
      case 2:
        return {a[0], a[1]};
      case 3:
        return {a[0], a[1], a[2]};
      case 4:
        return {a[0], a[1], a[2], a[3]};
      default:
        return {a.at(0), a.at(1), a.at(2), a.at(3), a.at(4)};
    }
  }
};

/// Runs a case whose operands have the dtypes it was made for.
using handler = value (*)(const test_case&);
/// By function and the dtypes of the first two operands: "add int32 float32".
using table = std::map<std::string, handler>;

template <class... T>
std::string key(std::string op) {
  ((op += std::string(" ") + ca::dtype_name<T>), ...);
  return op;
}

/// Calls `f.operator()<T>()` for each of the six dtypes all functions are tested with.
template <class F>
void each_dtype(const F& f) {
  f.template operator()<bool>();
  f.template operator()<ca::int32>();
  f.template operator()<ca::int64>();
  f.template operator()<ca::uint8>();
  f.template operator()<float>();
  f.template operator()<double>();
}

/// Another view of an array's storage.
template <class T>
ca::ndarray<T> view(const ca::ndarray<T>& a, const ca::layout& where) {
  return ca::ndarray<T>(ca::detail::leaf<T, ca::default_device>(a.storage(), where));
}

/// The operand on the device.
template <class T>
ca::ndarray<T> load(const operand& o) {
  const std::span<const T> elements(reinterpret_cast<const T*>(o.base.data()), o.base.size() / sizeof(T));
  return view(ca::array(elements, elements.size()), o.where);
}

/// The result of an expression, back on the host.
template <ca::array_expression X>
value download(const X& x) {
  using T = ca::value_type_t<X>;
  const auto host = ca::to<ca::cpu>(ca::copy(x));
  value v{ca::dtype_name<T>, host.shape(), std::vector<unsigned char>(std::size_t(host.nbytes()))};
  if (!v.bytes.empty()) std::memcpy(v.bytes.data(), host.data(), v.bytes.size());
  return v;
}

/// One family of functions each, in the file of that name.
void add_unary(table& t);
void add_special(table& t);
void add_arithmetic(table& t);
void add_mixed(table& t);
void add_logic(table& t);
void add_selection(table& t);
void add_reductions(table& t);
void add_sorting(table& t);
void add_indexing(table& t);
void add_manipulation(table& t);
void add_linalg(table& t);
void add_half(table& t);
void add_complex(table& t);
void add_rows(table& t);
void add_surface(table& t);

}  // namespace golden
