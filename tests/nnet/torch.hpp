// What PyTorch makes of nnet's functions: cases of torch_golden.py, and checks of values and gradients against them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudarray/autograd.hpp>
#include <fstream>
#include <sstream>

#include "test.hpp"

namespace torch {

struct array {
  ca::shape shape;
  std::vector<double> values;
};
struct golden_case {
  std::string name;
  std::vector<array> in;
  array out;
  std::vector<std::pair<int, array>> gradients;  ///< with the number of the operand
};

inline array read_array(std::istringstream& words) {
  std::string dims;
  words >> dims;
  array a;
  if (dims != "-") {
    std::istringstream extents(dims);
    for (std::string n; std::getline(extents, n, ',');) a.shape.push_back(std::stoll(n));
  }
  for (std::string v; words >> v;) a.values.push_back(std::stod(v));
  return a;
}
/// The cases of a file in tests/nnet/golden whose names end so.
inline std::vector<golden_case> read_cases(const std::string& file, const std::string& end) {
  std::ifstream in("tests/nnet/golden/" + file);
  INFO("the tests read tests/nnet/golden/" << file << ": run them in the root of the sources");
  REQUIRE(in.good());
  std::vector<golden_case> cases;
  for (std::string line, kind; std::getline(in, line);) {
    std::istringstream words(line);
    words >> kind;
    if (kind == "case") {
      cases.emplace_back();
      std::getline(words >> std::ws, cases.back().name);
    } else if (kind == "in") {
      cases.back().in.push_back(read_array(words));
    } else if (kind == "out") {
      cases.back().out = read_array(words);
    } else {
      cases.back().gradients.emplace_back(std::stoi(kind.substr(4)), read_array(words));
    }
  }
  REQUIRE(cases.size() > 20);
  std::erase_if(cases, [&end](const golden_case& c) { return !c.name.ends_with(end); });
  return cases;
}

template <class T>
ca::ndarray<T> make(const array& a) {
  return ca::astype<T>(ca::array(a.values, a.shape));
}
template <class T>
constexpr double tolerance = std::is_same_v<T, double>        ? 1e-10
                             : std::is_same_v<T, float>       ? 1e-5
                             : std::is_same_v<T, ca::float16> ? 2e-3
                                                              : 1.6e-2;

/// f of N operands against what PyTorch makes of them, as variables and, without a gradient, as arrays.
template <class T, int N, class F>
void check(const golden_case& c, const F& f) {
  INFO(c.name << ", " << ca::dtype_name<T> << ", " << ca::detail::cat(c.in[0].shape));
  REQUIRE(int(c.in.size()) == N);
  ca::variable<T> x[N];
  for (int k = 0; k < N; ++k) {
    x[k] = make<T>(c.in[std::size_t(k)]);
    x[k].requires_grad(false);
  }
  for (const auto& [operand, g] : c.gradients) x[operand].requires_grad(true);
  ca::variable<T> y;
  [&]<int... K>(std::integer_sequence<int, K...>) { y = f(x[K]...); }
  (std::make_integer_sequence<int, N>{});
  const auto agrees = [](const ca::ndarray<T>& a, const array& expected) {
    return test::close(ca::astype<double>(a), expected.shape, expected.values, tolerance<T>);
  };
  CHECK(agrees(y.value(), c.out));
  array weights = c.out;
  for (std::size_t i = 0; i < weights.values.size(); ++i) weights.values[i] = double(i % 3 + 1);
  y.backward(make<T>(weights));
  for (const auto& [operand, g] : c.gradients) {
    INFO("gradient of operand " << operand);
    CHECK(agrees(x[operand].grad(), g));
  }
}

/// Checks the cases of a file with arrays of dtypes T: `check(of<N>, name, f)` those of that name, which have N
/// operands.
template <class... T>
class checker {
  std::vector<golden_case> cases_;
  std::vector<bool> checked_;

 public:
  explicit checker(const std::string& file, const std::string& end = "")
      : cases_(read_cases(file, end)), checked_(cases_.size()) {}
  template <int N, class F>
  void operator()(std::integral_constant<int, N>, const std::string& name, const F& f) {
    int found = 0;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (cases_[i].name != name) continue;
      ++found;
      checked_[i] = true;
      (check<T, N>(cases_[i], f), ...);
    }
    INFO(name);
    CHECK(found > 0);
  }
  /// Every case was checked.
  void finish() const {
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (!checked_[i]) {
        INFO(cases_[i].name);
        CHECK(checked_[i]);
      }
  }
};
template <int N>
inline constexpr std::integral_constant<int, N> of{};

}  // namespace torch
