// Gradients against differences: the whole Jacobian of a function of float64 arrays of many shapes and layouts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/autograd.hpp>

#include "test.hpp"

namespace test {

using numbers = std::vector<double>;
using doubles = ca::ndarray<double>;

/// How many operands a function of the tables has.
template <class Op>
constexpr int operands_of = requires(const Op& f, double x) {
  f(x);
}
? 1 : requires(const Op& f, double x) { f(x, x); }
? 2 : 3;

/// Numbers in (low, high), the same on every device. They are multiples of 2^-12, and no two seeds have one in common.
struct random_numbers {
  unsigned state;
  explicit random_numbers(unsigned seed) : state(seed * 2654435761u + 12345u) {}
  unsigned next() { return state = state * 1664525u + 1013904223u; }
  int below(int n) { return int((next() >> 8) % unsigned(n)); }
  numbers between(double low, double high, ca::int64 n, int seed) {
    numbers v;
    for (ca::int64 i = 0; i < n; ++i)
      v.push_back(low + (high - low) * ((double(next() >> 20) * 8 + double(seed % 8)) / 32768 + 1e-5));
    return v;
  }
};

/// An operand: its shape, and how it lies in memory.
struct operand {
  ca::shape dims;
  enum { plain, transposed, spread, reversed } layout = plain;
};

/// An array with these elements that lies as it is said.
inline doubles laid_out(const numbers& v, const operand& o) {
  const doubles a = ca::array(v, o.dims);
  const int n = o.dims.ndim();
  if (n == 0 || o.layout == operand::plain) return a;
  if (o.layout == operand::transposed) return doubles(a.t().copy()).t();
  if (o.layout == operand::reversed) return ca::flip(doubles(ca::flip(a, 0).copy()), 0);
  ca::shape wide = o.dims;
  wide[n - 1] = 2 * wide[n - 1];
  const doubles b = ca::zeros<double>(wide);
  const doubles every = b(ca::ellipsis, ca::slice(0, wide[n - 1], 2));
  if (every.size() > 0) every(ca::ellipsis) = a;
  return every;
}

/// Whether the gradients of `f(x...)`, one row of the Jacobian after the other, are its differences of fourth order.
template <class F, int... K>
void check_jacobian(const F& f, const std::vector<numbers>& at_values, const std::vector<operand>& of,
                    std::integer_sequence<int, K...>) {
  const doubles arrays[] = {laid_out(at_values[K], of[K])...};
  const ca::variable<double> variables[] = {arrays[K]...};
  const ca::variable<double> y = f(variables[K]...);
  const auto evaluate = [&](int k, ca::int64 i, double by) {
    std::vector<numbers> moved = at_values;
    moved[std::size_t(k)][std::size_t(i)] += by;
    const doubles at[] = {laid_out(moved[K], of[K])...};
    return test::values(doubles(f(at[K]...)));
  };
  CHECK(test::close(y.value(), y.shape(), test::values(doubles(f(arrays[K]...))), 1e-14));
  // rows of the Jacobian
  std::vector<std::vector<numbers>> rows(sizeof...(K));
  const ca::int64 results = y.size();
  for (ca::int64 j = 0; j < results; ++j) {
    numbers one(std::size_t(results), 0.);
    one[std::size_t(j)] = 1;
    for (const auto& v : variables) v.zero_grad();
    y.backward(ca::array(one, y.shape()), {.retain_graph = true});
    for (int k = 0; k < int(sizeof...(K)); ++k) {
      const operand& o = of[std::size_t(k)];
      rows[std::size_t(k)].push_back(variables[k].has_grad() ? test::values(variables[k].grad())
                                                             : numbers(std::size_t(o.dims.elements()), 0.));
      if (variables[k].has_grad()) REQUIRE(variables[k].grad().shape() == o.dims);
    }
  }
  if (results == 0) return y.backward(ca::zeros<double>(y.shape()));
  for (int k = 0; k < int(sizeof...(K)); ++k) {
    double scale = 0, worst = 0;
    for (const numbers& row : rows[std::size_t(k)])
      for (const double g : row) scale = std::fmax(scale, std::fabs(g));
    for (ca::int64 i = 0; i < of[std::size_t(k)].dims.elements(); ++i) {
      const double h = 1e-3;
      const numbers a = evaluate(k, i, -2 * h), b = evaluate(k, i, -h), c = evaluate(k, i, h),
                    d = evaluate(k, i, 2 * h);
      for (std::size_t j = 0; j < a.size(); ++j) {
        const double difference = (a[j] - 8 * b[j] + 8 * c[j] - d[j]) / (12 * h),
                     gradient = rows[std::size_t(k)][j][std::size_t(i)];
        worst =
            std::fmax(worst, std::fabs(gradient - difference) / (1e-6 * std::fabs(difference) + 1e-8 * scale + 1e-12));
      }
    }
    INFO("operand " << k << " of shape " << of[std::size_t(k)].dims.str());
    CHECK(worst <= 1);
  }
}

/// Shapes that operands have together: random ones, and those at the edges.
template <int Operands>
std::vector<std::vector<operand>> shapes_of() {
  std::vector<std::vector<operand>> all;
  const auto same = [&](const ca::shape& s) { all.push_back(std::vector<operand>(Operands, operand{s})); };
  same({});
  same({1});
  same({7});
  same({0});
  same({2, 0, 3});
  random_numbers random(7);
  while (all.size() < 24) {
    const int n = 1 + random.below(3);
    ca::shape s;
    for (int d = 0; d < n; ++d) s.push_back(1 + random.below(n == 1 ? 9 : n == 2 ? 4 : 3));
    std::vector<operand> of;
    for (int k = 0; k < Operands; ++k) {
      operand o{s};
      if (k != int(all.size()) % Operands) {  // one has the whole shape
        ca::shape part;
        for (int d = random.below(n + 1); d < n; ++d) part.push_back(random.below(3) == 0 ? 1 : s[d]);
        o.dims = part;
      }
      o.layout = decltype(o.layout)(random.below(4));
      of.push_back(o);
    }
    all.push_back(of);
  }
  return all;
}

/// Where operands of a function are.
struct range {
  double low = -2, high = 2;
};

/// Checks `f(x...)` at operands in `ranges`.
template <class F, class... R>
void check_gradients(const char* name, const F& f, const R&... ranges) {
  constexpr int operands = int(sizeof...(R));
  const range in[] = {ranges...};
  int round = 0;
  for (const std::vector<operand>& of : shapes_of<operands>()) {
    random_numbers random(unsigned(++round));
    std::vector<numbers> values;
    for (int k = 0; k < operands; ++k)
      values.push_back(random.between(in[k].low, in[k].high, of[std::size_t(k)].dims.elements(), k));
    INFO(name << ", shapes " << round);
    check_jacobian(f, values, of, std::make_integer_sequence<int, operands>{});
  }
}

inline numbers joined(const std::vector<doubles>& arrays) {
  numbers all;
  for (const doubles& a : arrays)
    for (const double v : test::values(a)) all.push_back(v);
  return all;
}
template <class... A>
std::vector<doubles> list_of(const std::tuple<A...>& all) {
  return std::apply([](const auto&... a) { return std::vector<doubles>{doubles(ca::stop_gradient(a))...}; }, all);
}
template <class A>
std::vector<doubles> list_of(const A& a) {
  return {doubles(ca::stop_gradient(a))};
}
/// Whether a derivative along a direction is the difference of fourth order: `at(t)` is the function t along it.
template <class At>
void check_direction(const char* what, const numbers& derivative, const At& at) {
  const double h = 1e-3;
  const numbers a = at(-2 * h), b = at(-h), c = at(h), d = at(2 * h);
  REQUIRE(derivative.size() == a.size());
  double scale = 0, worst = 0;
  for (const double v : derivative) scale = std::fmax(scale, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = (a[i] - 8 * b[i] + 8 * c[i] - d[i]) / (12 * h);
    worst =
        std::fmax(worst, std::fabs(derivative[i] - difference) / (1e-6 * std::fabs(difference) + 1e-8 * scale + 1e-11));
  }
  INFO(what);
  CHECK(worst <= 1);
}
/// The derivative of `f(x...)` along a direction, and that of its gradients, against differences.
template <class F, int... K>
void check_tangents(const F& f, const std::vector<numbers>& values, const std::vector<operand>& of,
                    std::integer_sequence<int, K...>) {
  const doubles x[] = {laid_out(values[K], of[K])...};
  random_numbers random(11);
  const doubles v[] = {ca::array(random.between(-1, 1, of[K].dims.elements(), K), of[K].dims)...};
  const auto moved = [&](double t, int k) { return ca::variable<double>(doubles(x[k] + t * v[k])); };
  const auto [y, dy] = ca::jvp(f)(x[K]..., v[K]...);
  CHECK(test::close(y, y.shape(), test::values(doubles(f(x[K]...))), 1e-14));
  REQUIRE(dy.shape() == y.shape());
  check_direction("jvp", test::values(dy),
                  [&](double t) { return test::values(doubles(ca::stop_gradient(f(moved(t, K)...)))); });
  const doubles weights = ca::array(random.between(-1, 1, y.size(), 7), y.shape());
  const auto gradients = [&](const auto&... a) { return std::get<1>(ca::vjp(f, a...))(weights); };
  const auto second = ca::jvp(gradients)(x[K]..., v[K]...);
  check_direction("jvp of the gradients", joined(list_of(std::get<1>(second))),
                  [&](double t) { return joined(list_of(gradients(moved(t, K)...))); });
}

/// The Jacobian of f of operands of these shapes, each laid out in several ways.
template <class F, class... Shapes>
void check_layouts(const char* name, const F& f, const Shapes&... shapes) {
  random_numbers random(5);
  int k = 0;
  const std::vector<numbers> values{random.between(-2, 2, shapes.elements(), k++)...};
  for (const auto layout : {operand::plain, operand::transposed, operand::spread}) {
    INFO(name << ", layout " << int(layout));
    check_jacobian(f, values, {operand{shapes, layout}...}, std::make_integer_sequence<int, int(sizeof...(Shapes))>{});
  }
  check_tangents(f, values, {operand{shapes}...}, std::make_integer_sequence<int, int(sizeof...(Shapes))>{});
}

}  // namespace test
