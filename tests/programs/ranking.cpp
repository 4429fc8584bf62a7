// Ranking: the accuracy of the best k, a confusion matrix, the area under a curve, quantiles and correlations.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <iostream>
namespace ca = cudarray;
using ca::_, ca::none, ca::slice;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000, classes = 10;
  const auto i = ca::arange(n);
  const ca::ndarray<float> scores = ca::astype<float>(ca::sin(ca::outer(i + 1, ca::arange(1, classes + 1)) * 0.9));
  const ca::ndarray<ca::int64> labels = (i * 7 + ca::floor_divide(i, 3)) % classes;
  const auto best = ca::argsort(-scores, 1)(_, slice(0, 3));
  std::cout << ca::mean(ca::any(best == labels(_, ca::newaxis), 1)) << '\n';
  ca::ndarray<ca::int64> confusion = ca::zeros<ca::int64>(classes * classes);
  ca::scatter_add(confusion, labels * classes + best(_, 0), 1);
  confusion = ca::reshape(confusion, {classes, classes});
  std::cout << confusion(slice(0, 3)) << ' ' << ca::trace(confusion) << '\n';
  const ca::ndarray<bool> positive = labels == 3, sorted = positive(ca::argsort(-scores(_, 3)));
  const ca::ndarray<double> tpr = ca::cumsum(sorted) / ca::sum(positive),
                            fpr = ca::cumsum(~sorted) / ca::sum(~positive);
  std::cout << ca::sum(ca::diff(fpr) * (tpr(slice(1, none)) + tpr(slice(none, -1))) / 2) << '\n';
  std::cout << ca::quantile(scores(_, 3), {0.05, 0.5, 0.95}) << ' ' << ca::corrcoef(scores.t())(0, slice(0, 4)) << '\n';
}
