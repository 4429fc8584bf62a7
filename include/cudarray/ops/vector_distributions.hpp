// Random vectors: counts, probabilities, normal vectors.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "discrete_distributions.hpp"
#include "distributions.hpp"
#include "linalg.hpp"
#include "your_functions.hpp"

namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

/// s with one axis more.
inline shape with_axis(const char* function, shape s, int64 n) {
  if (s.ndim() == max_rank)
    cudarray::detail::fail<shape_error>(function, ": a shape of ", s.ndim(), " axes has no room");
  s.push_back(n);
  return s;
}
/// The extent of the last axis of a parameter. Throws shape_error.
template <class P>
int64 categories_of(const char* function, const char* name, const P& p) {
  const shape s = cudarray::detail::dims_of(p);
  if (s.ndim() == 0 || s[s.ndim() - 1] == 0)
    cudarray::detail::fail<shape_error>(function, ": ", name, " of shape ", s, " says no categories");
  return s[s.ndim() - 1];
}

/// A row of counts: of each category a binomial number of what is left for it and those behind it.
struct multinomial_row {
  random_source from;
  int64 categories;
  CUDARRAY_HD void operator()(const multi_index& at, array_access<int64> counts, array_access<const double> n,
                              array_access<const double> p) const {
    const int64 row = at[0];
    double weight = 0, left = n(row);
    int64 last = 0;
    for (int64 k = 0; k < categories; ++k) {
      weight += p(row, k);
      if (p(row, k) > 0) last = k;
    }
    for (int64 k = 0; k < categories; ++k) {
      cudarray::detail::draws d(from, row * categories + k);
      const double of = p(row, k) / weight;
      const double here = k == last ? left : k > last ? 0 : cudarray::detail::binomial_number(d, left, of < 1 ? of : 1);
      counts(row, k) = int64(here);
      left -= here, weight -= p(row, k);
    }
  }
};

/// A lower triangular matrix whose product with its transpose is a covariance c, row by row; columns of pivots that are
/// 0, to rounding, are 0. Throws value_error where c is not symmetric and positive semi-definite, to `tolerance` of the
/// variances of the row and the column.
inline ::std::vector<double> covariance_root(const char* function, const double* c, int64 n, double tolerance) {
  ::std::vector<double> root(::std::size_t(n * n), 0.);
  const auto at = [&](int64 i, int64 j) -> double& { return root[::std::size_t(i * n + j)]; };
  for (int64 j = 0; j < n; ++j) {
    const double variance = c[j * n + j];
    bool definite = variance >= 0;
    for (int64 i = j; i < n && definite; ++i) {
      const double here = c[i * n + j], there = c[j * n + i];
      const double size = math::sqrt(variance) * math::sqrt(math::abs(c[i * n + i]));
      if (!(math::abs(here - there) <= tolerance * size))
        cudarray::detail::fail<value_error>(function, ": cov is not symmetric: ", here, " and ", there, " at ",
                                            shape{i, j});
      double rest = here;
      for (int64 k = 0; k < j; ++k) rest -= at(i, k) * at(j, k);
      if (i == j) at(j, j) = rest > 1e-15 * double(n) * variance ? math::sqrt(rest) : 0;
      else if (at(j, j) > 0) at(i, j) = rest / at(j, j);
      definite = i == j ? rest >= -tolerance * size : at(j, j) > 0 || math::abs(rest) <= math::sqrt(tolerance) * size;
    }
    if (!definite) cudarray::detail::fail<value_error>(function, ": cov is not positive semi-definite: see row ", j);
  }
  return root;
}

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
namespace cudarray::inline v0::random::inline CUDARRAY_BUILD {

/// How often each of k categories comes up in n trials, with probabilities in proportion to p(.., k): int64 of shape
/// (s.., k). p's other axes, and n, broadcast to s. Unlike NumPy's, p need not add up to 1. The bits are the same on
/// every device. Eager. Throws value_error, shape_error.
///     ca::random::multinomial(5, 100, ca::array({0.2, 0.3, 0.5}))  // (5, 3)
template <class N, array_expression P>
const ndarray<int64, device_type_t<P>> multinomial(const shape& s, const N& n, const P& p,
                                                   generator& g = thread_generator()) {
  constexpr const char* f = "random::multinomial";
  using D = device_type_t<P>;
  const int64 k = detail_random::categories_of(f, "p", p), rows = cudarray::detail::check_extents(f, s).elements();
  const shape full_shape = detail_random::with_axis(f, s, k);
  const ndarray<double, D> of(
      astype<double>(detail_random::parameter<detail_random::nonnegative>(f, "p", p, full_shape)));
  const ndarray<double, D> sums(sum(of, -1));
  if (rows > 0 && eval(min(sums)).item() <= 0)
    cudarray::detail::fail<value_error>(f, ": probabilities that add up to 0");
  if (rows > 0 && !math::isfinite(eval(max(sums)).item()))
    cudarray::detail::fail<value_error>(f, ": probabilities that add up to inf");
  const auto trials = detail_random::parameter<detail_random::count>(f, "n", n, s);
  const ndarray<double, D> total(full<double, D>(s, 0, of.device()) + trials);
  const ndarray<int64, D> counts = zeros<int64, D>({rows, k}, of.device());
  const auto from = detail_random::take(f, g, rows * k, 1, of.device());
  for_each_index({rows}, detail_random::multinomial_row{from, k}, out(counts), reshape(total, {rows}),
                 reshape(of, {rows, k}));
  return reshape(counts, full_shape);
}

/// Probabilities of k categories of Dirichlet's distribution, of concentrations alpha(.., k) > 0: of shape (s.., k), by
/// gamma numbers in logarithms, which tolerance concentrations do not make underflow. Eager. Throws value_error,
/// shape_error.
///     ca::random::dirichlet(5, ca::array({0.5, 1, 2}))  // (5, 3)
template <dtype T = float, array_expression A>
const ndarray<T, device_type_t<A>> dirichlet(const shape& s, const A& alpha, generator& g = thread_generator()) {
  constexpr const char* f = "random::dirichlet";
  using R = detail_random::real_number_t<T>;
  const shape full_shape = detail_random::with_axis(f, s, detail_random::categories_of(f, "alpha", alpha));
  const auto a = detail_random::parameter<detail_random::positive>(f, "alpha", alpha, full_shape);
  const auto logs = detail_random::sample<double, detail_random::log_gamma_sampler>(f, full_shape, g, a.device(), a);
  const ndarray<double, device_type_t<A>> e(exp(logs - max(logs, -1, keepdims)));
  return detail_random::as_numbers<R>(e / sum(e, -1, keepdims));
}

/// Normal vectors of d numbers, of mean (d,) and covariance (d, d): of shape (s.., d). Eager; cov is read on the host.
/// Throws shape_error; value_error where cov is not symmetric and positive semi-definite.
///     ca::random::multivariate_normal(5, ca::zeros(2), ca::array({{2, 1}, {1, 2}}))  // (5, 2)
template <dtype T = float, array_expression M, array_expression C>
const ndarray<T, device_type_t<M>> multivariate_normal(const shape& s, const M& mean, const C& cov,
                                                       generator& g = thread_generator()) {
  constexpr const char* f = "random::multivariate_normal";
  using R = detail_random::real_number_t<T>;
  using D = device_type_t<M>;
  const shape of = cudarray::detail::dims_of(mean), c = cudarray::detail::dims_of(cov);
  if (of.ndim() != 1 || c != shape{of[0], of[0]})
    cudarray::detail::fail<shape_error>(f, ": mean of shape ", of, " and cov of shape ", c, ", not (d) and (d, d)");
  const shape full_shape = detail_random::with_axis(f, cudarray::detail::check_extents(f, s), of[0]);
  const ndarray<R, D> at(astype<R>(detail_random::parameter<detail_random::finite>(f, "mean", mean, of)));
  const auto matrix = to<cpu>(astype<double>(detail_random::parameter<detail_random::finite>(f, "cov", cov, c)));
  // of float32 covariances the last bits are rounded
  const double tolerance = sizeof(value_type_t<C>) < 8 && kind_of<value_type_t<C>> == kind::floating ? 1e-6 : 1e-12;
  const auto root = detail_random::covariance_root(f, matrix.data(), of[0], tolerance);
  const ndarray<R, D> factor(astype<R>(reshape(array(root, at.device()), c)));
  const auto z = normal<R, D>({s.elements(), of[0]}, 0, 1, g, at.device());
  return reshape(detail_random::as_numbers<R>(matmul(z, factor.t()) + at), full_shape);
}

}  // namespace cudarray::inline v0::random::inline CUDARRAY_BUILD
