// The price of an option: by the formula of Black and Scholes, and its value at each node of a binomial tree.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::_, ca::none, ca::slice;
using array = ca::ndarray<double>;

auto normal(const auto& x) { return 0.5 * (1 + ca::erf(x / std::sqrt(2.))); }

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000, steps = 200;
  const array spot = ca::linspace<double>(50, 150, n);
  const double strike = 100, rate = 0.03, sigma = 0.2, time = 1;
  const array d = (ca::log(spot / strike) + (rate + sigma * sigma / 2) * time) / (sigma * std::sqrt(time));
  const array call = spot * normal(d) - strike * std::exp(-rate * time) * normal(d - sigma * std::sqrt(time));
  const double up = std::exp(sigma * std::sqrt(time / steps));
  const double p = (std::exp(rate * time / steps) - 1 / up) / (up - 1 / up);
  array value = ca::maximum(spot(_, ca::newaxis) * ca::power(up, ca::arange(steps, -steps - 1, -2)) - strike, 0);
  for (int step = 0; step < steps; ++step)
    value = std::exp(-rate * time / steps) * (p * value(_, slice(none, -1)) + (1 - p) * value(_, slice(1, none)));
  std::cout << call(slice(none, none, n / 10)) << '\n' << ca::max(ca::abs(value(_, 0) - call)) << '\n';
}
