// A signal: smoothed, its peaks, its autocorrelation, gaps interpolated.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::none, ca::slice;
using array = ca::ndarray<double>;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 2000;
  const array t = ca::arange(n) * 0.01;
  const array x = ca::sin(2 * M_PI * t) + 0.3 * ca::cos(50 * t * t);
  const array window = ca::exp(-ca::square(ca::linspace<double>(-2, 2, 31)));
  const array smooth = ca::convolve(x, window / ca::sum(window), ca::convolution_mode::same);
  const array middle = smooth(slice(1, -1));
  const auto higher = (middle > smooth(slice(none, -2))) & (middle > smooth(slice(2, none))) & (middle > 0.5);
  const auto peaks = ca::eval(ca::flatnonzero(higher) + 1);
  std::cout << peaks(slice(0, 10)) << ' ' << ca::eval(smooth(peaks))(slice(0, 10)) << '\n';
  const array centred = smooth - ca::mean(smooth), full = ca::correlate(centred, centred, ca::convolution_mode::full);
  std::cout << full(slice(n - 1, n + 199, 20)) / ca::sum(ca::square(centred)) << '\n';
  const auto known = ca::delete_(ca::arange(n), ca::slice(100, n - 100, 7), 0);
  std::cout << ca::max(ca::abs(ca::interp(t, t(known), smooth(known)) - smooth)) << '\n';
  std::cout << ca::trapezoid(ca::square(smooth), t) << '\n';
}
