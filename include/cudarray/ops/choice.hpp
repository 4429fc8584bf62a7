// Random choices: of numbers, of elements, of categories; and random orders.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "indexing.hpp"
#include "parameters.hpp"
#include "searching.hpp"

namespace cudarray::inline v0::random {

/// Whether an element can be chosen several times.
struct choice_options {
  bool replace = true;
};

}  // namespace cudarray::inline v0::random
namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

template <class D>
using indices = ndarray<int64, D>;

/// The running sums of weights, made on the host, so that they are the same on every device.
template <class P>
::std::vector<double> running_sums(const char* function, const P& p, int64 n) {
  constexpr bool real = is_parameter<P>();
  static_assert(real, "cudarray: weights are real numbers");
  const shape dims = cudarray::detail::dims_of(p);
  if (dims.ndim() != 1 || dims[0] != n)
    cudarray::detail::fail<shape_error>(function, ": weights of shape ", dims, " for ", n, " elements");
  const auto weights = to<cpu>(astype<double>(p));
  ::std::vector<double> sums(weights.data(), weights.data() + n);
  double total = 0;
  for (int64 i = 0; i < n; ++i) {
    double& at = sums[::std::size_t(i)];
    if (!nonnegative::holds(at))
      cudarray::detail::fail<value_error>(function, ": weight ", i, " is ", at, ", not ", nonnegative::wanted);
    at = total += at;
  }
  if (n > 0 && !positive::holds(total))
    cudarray::detail::fail<value_error>(function, ": the weights add up to ", total);
  return sums;
}

inline void check_choices(const char* function, int64 n, int64 chosen, bool replace) {
  if (n < 0) cudarray::detail::fail<value_error>(function, ": of ", n, " elements");
  if (n == 0 && chosen > 0) cudarray::detail::fail<value_error>(function, ": of no elements");
  if (!replace && chosen > n)
    cudarray::detail::fail<value_error>(function, ": ", chosen, " of ", n, " elements without replacement");
}

/// Indices of [0, n).
template <class D>
const indices<D> chosen(const char* function, int64 n, const shape& s, bool replace, generator& g, D device) {
  const int64 k = cudarray::detail::check_extents(function, s).elements();
  check_choices(function, n, k, replace);
  if (k == 0) return zeros<int64, D>(s, device);
  if (replace) return draw(function, s, integer_numbers<int64>(int64(0), n), g, device);
  return reshape(copy(permutation<D>(n, g, device)(slice(0, k))), s);
}
/// The same, each in proportion to its weight. With replacement by inversion; without, those of which exponential
/// numbers divided by the weights are the smallest, in that order (Efraimidis, Spirakis 2006).
template <class D, class P>
const indices<D> chosen_by_weight(const char* function, int64 n, const shape& s, const P& p, bool replace, generator& g,
                                  D device) {
  const int64 k = cudarray::detail::check_extents(function, s).elements();
  check_choices(function, n, k, replace);
  const auto sums = running_sums(function, p, n);
  if (k == 0) return zeros<int64, D>(s, device);
  if (replace) {
    const double total = sums.back(), below = math::nextafter(total, 0.);
    const auto u = drawn(function, s, uniform_numbers<double>(0, 1), g, device);
    return indices<D>(searchsorted(array(sums, device), minimum(u * total, below), side::right));
  }
  const int64 there = eval(count_nonzero(p)).item();
  if (k > there)
    cudarray::detail::fail<value_error>(function, ": ", k, " elements without replacement, but ", there,
                                        " weights are not 0");
  const auto weight = astype<double>(p);
  const auto waits = exponentials<double>(function, shape(n), g, device) / weight;
  const ndarray<double, D> times = where(weight > 0, minimum(waits, 1e308), __builtin_huge_val());
  return reshape(copy(argsort(times)(slice(0, k))), s);
}
template <class X, class D>
auto elements_at(const X& x, const indices<D>& index) {
  return ndarray<value_type_t<X>, D>(take(x, index, 0));
}
/// A copy, the slices along an axis in random order.
template <class T, class D>
const ndarray<T, D> reordered(const char* function, const ndarray<T, D>& a, int64 axis, generator& g) {
  const int at = cudarray::detail::normal_axis(function, axis, a.ndim());
  return ndarray<T, D>(take(a, permutation(a.shape()[at], g, a.device()), at));
}
/// The extent of the first axis. Throws shape_error.
inline int64 first_extent(const char* function, const shape& s) {
  if (s.ndim() == 0) cudarray::detail::fail<shape_error>(function, ": of an array without axes");
  return s[0];
}

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
namespace cudarray::inline v0::random::inline CUDARRAY_BUILD {

/// Random choices of 0 to n - 1, an int64 array of shape s, each in proportion to its weight in p, absent: all the
/// same. The weights need not add up to 1. With `{.replace = false}` each is chosen once at most. Eager. Throws
/// value_error where there are too few to choose from, for a negative weight, and for weights that are all 0;
/// shape_error.
///     ca::random::choice(10, 3, {.replace = false})
///     ca::random::choice(4, {2, 5}, ca::array({0.1, 0.2, 0.3, 0.4}))
template <device_tag Device = default_device>
const ndarray<int64, Device> choice(cudarray::detail::any_integer n, const shape& s, const choice_options& o = {},
                                    generator& g = thread_generator(), Device device = {}) {
  return detail_random::chosen("random::choice", n, s, o.replace, g, device);
}
template <array_expression P>
const ndarray<int64, device_type_t<P>> choice(cudarray::detail::any_integer n, const shape& s, const P& p,
                                              const choice_options& o = {}, generator& g = thread_generator()) {
  return detail_random::chosen_by_weight("random::choice", n, s, p, o.replace, g, cudarray::detail::device_of(p));
}
/// Random elements of x along its first axis: of shape s + x.shape[1:].
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> choice(const X& x, const shape& s, const choice_options& o = {},
                                                        generator& g = thread_generator()) {
  constexpr const char* function = "random::choice";
  const auto a = cudarray::detail::as_array(x);
  const int64 n = detail_random::first_extent(function, a.shape());
  return detail_random::elements_at(a, detail_random::chosen(function, n, s, o.replace, g, a.device()));
}
template <array_expression X, array_expression P>
const ndarray<value_type_t<X>, device_type_t<X>> choice(const X& x, const shape& s, const P& p,
                                                        const choice_options& o = {},
                                                        generator& g = thread_generator()) {
  constexpr const char* function = "random::choice";
  const auto a = cudarray::detail::as_array(x);
  const int64 n = detail_random::first_extent(function, a.shape());
  return detail_random::elements_at(a, detail_random::chosen_by_weight(function, n, s, p, o.replace, g, a.device()));
}

template <array_expression X>
auto choice(const X& x, const shape& s, generator& g) {
  return choice(x, s, choice_options(), g);
}
template <class Of, array_expression P>
auto choice(const Of& of, const shape& s, const P& p, generator& g) {
  return choice(of, s, p, choice_options(), g);
}
template <device_tag Device = default_device>
auto choice(cudarray::detail::any_integer n, const shape& s, generator& g) {
  return choice<Device>(n, s, choice_options(), g);
}

/// A copy of x, its slices along an axis in random order. Eager. Throws index_error.
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> permutation(const X& x, cudarray::detail::any_integer axis = 0,
                                                             generator& g = thread_generator()) {
  return detail_random::reordered("random::permutation", cudarray::detail::as_array(x), axis, g);
}
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> permutation(const X& x, generator& g) {
  return permutation(x, 0, g);
}
/// The slices of an array along an axis brought into random order, in place. Throws index_error; value_error where x is
/// read-only.
///     ca::random::shuffle(x)
template <class T, class Device>
void shuffle(const ndarray<T, Device>& x, cudarray::detail::any_integer axis = 0, generator& g = thread_generator()) {
  cudarray::detail::check_writable(*x.storage(), x.where());
  x(ellipsis) = detail_random::reordered("random::shuffle", x, axis, g);
}
template <class T, class Device>
void shuffle(const ndarray<T, Device>& x, generator& g) {
  shuffle(x, 0, g);
}
/// A copy of x, the elements of each line along an axis in an order of their own; without an axis: all elements. Eager.
/// Throws index_error.
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> permuted(const X& x, cudarray::detail::any_integer axis,
                                                          generator& g = thread_generator()) {
  constexpr const char* function = "random::permuted";
  const auto a = cudarray::detail::as_array(x);
  const int at = cudarray::detail::normal_axis(function, axis, a.ndim());
  const auto keys =
      detail_random::draw(function, a.shape(), detail_random::numbers_at<detail_random::key>{}, g, a.device());
  return ndarray<value_type_t<X>, device_type_t<X>>(take_along_axis(a, argsort(keys, at), at));
}
template <array_expression X>
const ndarray<value_type_t<X>, device_type_t<X>> permuted(const X& x, generator& g = thread_generator()) {
  const auto a = cudarray::detail::as_array(x);
  return reshape(permutation(ravel(a), 0, g), a.shape());
}

/// A category for each line of logits along an axis, with the probabilities of their softmax: the largest of the logits
/// plus numbers of Gumbel's distribution. int64 of x's shape without the axis. Eager. Throws index_error, shape_error
/// for an axis of no categories. More than one for the same logits: broadcast_to(logits, ..).
///     ca::random::categorical(logits)  // (batch, classes) -> (batch,)
template <array_expression X>
const ndarray<int64, device_type_t<X>> categorical(const X& logits, cudarray::detail::any_integer axis = -1,
                                                   generator& g = thread_generator()) {
  constexpr const char* function = "random::categorical";
  using R = ::std::conditional_t<::std::is_same_v<value_type_t<X>, double>, double, float>;
  const auto a = cudarray::detail::as_array(logits);
  constexpr bool real = kind_of<value_type_t<X>> != kind::complex_;
  static_assert(real, "cudarray: logits are real numbers");
  const int at = cudarray::detail::normal_axis(function, axis, a.ndim());
  if (a.shape()[at] == 0)
    cudarray::detail::fail<shape_error>(function, ": no categories along axis ", at, " of shape ", a.shape());
  const auto noise = detail_random::gumbels<R>(function, a.shape(), g, a.device());
  return ndarray<int64, device_type_t<X>>(argmax(a + noise, at));
}
template <array_expression X>
const ndarray<int64, device_type_t<X>> categorical(const X& logits, generator& g) {
  return categorical(logits, -1, g);
}

}  // namespace cudarray::inline v0::random::inline CUDARRAY_BUILD
