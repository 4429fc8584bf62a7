// The table of operands: functions are called with arrays, views with gaps, expressions and selections.
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>
#include <utility>

#include "test.hpp"

namespace test {

/// An array, a number, a text or a shape of a result: what it is compared by.
struct part {
  std::string dtype;
  ca::shape shape;
  std::vector<long double> elements;
};
using parts = std::vector<part>;

template <class R>
void add_parts(parts& to, const R& r) {
  if constexpr (ca::array_expression<R>) {
    using T = ca::value_type_t<R>;
    const std::vector<T> all = values(r);
    part p{ca::dtype_name<T>, ca::eval(r).shape(), {}};
    if constexpr (ca::kind_of<T> == ca::kind::complex_) {
      p.shape.push_back(2);
      for (const T& v : all) p.elements.push_back(v.re), p.elements.push_back(v.im);
    } else {
      p.elements = exact(all);
    }
    to.push_back(p);
  } else if constexpr (std::is_same_v<R, std::string>) {
    to.push_back({"text", ca::shape(ca::int64(r.size())), {r.begin(), r.end()}});
  } else if constexpr (std::is_same_v<R, ca::shape>) {
    to.push_back({"shape", ca::shape(r.ndim()), {r.begin(), r.end()}});
  } else if constexpr (std::is_arithmetic_v<R>) {
    to.push_back({"number", {}, {static_cast<long double>(r)}});
  } else if constexpr (requires { r.begin(); }) {
    for (const auto& e : r) add_parts(to, e);
  } else {
    std::apply([&to](const auto&... e) { (add_parts(to, e), ...); }, r);
  }
}
template <class R>
parts parts_of(const R& r) {
  parts p;
  add_parts(p, r);
  return p;
}

inline const char* const kinds[] = {"an array", "a view", "an expression", "a selection"};

/// The array as it is, in memory with gaps, as what is yet to be computed, or as what an index picks.
template <int Kind, class T>
auto operand(const ca::ndarray<T>& x) {
  if constexpr (Kind == 0) {
    return x;
  } else if constexpr (Kind == 1) {
    ca::shape s = x.shape();
    s.push_back(2);
    const ca::ndarray<T> wide = ca::full<T>(s, std::is_same_v<T, bool> ? 1 : 77);
    wide(ca::ellipsis, 1) = x;
    return wide(ca::ellipsis, 1);
  } else if constexpr (Kind == 2) {
    if constexpr (std::is_same_v<T, bool>) return x & true;
    else return x * 1;
  } else {
    if (x.ndim() == 1) return x(ca::full<bool>(x.shape(), true));
    if (x.ndim() == 0) return ca::reshape(x, {1})(ca::zeros<ca::int64>(ca::shape{}));
    return x(ca::arange<ca::int64>(x.shape(0)));
  }
}

inline void expect_same(const char* function, int kind, const parts& got, const parts& expected, double relative) {
  INFO(function << " of " << kinds[kind]);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("part " << i);
    CHECK(got[i].dtype == expected[i].dtype);
    const verdict v =
        compare(got[i].dtype.c_str(), got[i].shape, expected[i].shape, got[i].elements, expected[i].elements, relative);
    CHECK(v);
  }
}
/// Of several operands the first is of a kind, the next of the following, and so on around.
template <int Kind, class F, std::size_t... I, class... T>
void expect_kind(const char* function, const parts& expected, double relative, const F& f, std::index_sequence<I...>,
                 const ca::ndarray<T>&... x) {
  expect_same(function, Kind, parts_of(f(operand<(Kind + int(I)) % 4>(x)...)), expected, relative);
}
template <class F, class... T>
void expect_kinds(const char* function, double relative, const F& f, const ca::ndarray<T>&... x) {
  const parts expected = parts_of(f(x...));
  const std::index_sequence_for<T...> each;
  if constexpr (sizeof...(T) > 1) expect_kind<0>(function, expected, relative, f, each, x...);
  expect_kind<1>(function, expected, relative, f, each, x...);
  expect_kind<2>(function, expected, relative, f, each, x...);
  expect_kind<3>(function, expected, relative, f, each, x...);
}

// One line of the table: f of operands of all kinds gives what it gives of the arrays x. docs/operand_kinds.py reads
// the names.

template <class F, class... T>
void exactly(const char* function, const F& f, const ca::ndarray<T>&... x) {
  expect_kinds(function, 0, f, x...);
}
/// Where the order of additions, or the last bits, may depend on how the elements lie.
template <class F, class... T>
void nearly(const char* function, const F& f, const ca::ndarray<T>&... x) {
  expect_kinds(function, 1e-6, f, x...);
}

}  // namespace test
