// Arrays made of formulas: geometric sequences, coordinates, functions of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "creation.hpp"
#include "manipulation.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// sign * base^(start + i * step); the first and the last element may be given exactly.
template <class T>
struct geometric_sequence {
  using value_type = T;
  double base, start, step, sign, first, last;
  int64 last_index;  ///< -1: none is given
  CUDARRAY_HD T operator()(int64 i) const {
    if (last_index >= 0 && i == 0) return lane_cast<T>(first);
    return lane_cast<T>(i == last_index ? last : sign * math::power(base, start + double(i) * step));
  }
};
inline double step_of(const char* function, double start, double stop, int64 n) {
  if (n < 0) fail<value_error>(function, ": ", n, " values");
  return n > 1 ? (stop - start) / double(n - 1) : 0;
}

/// The least number of arrays, N at least, that f takes.
template <class F, class Index, int N = 1>
constexpr int arity() {
  constexpr bool fits = []<int... K>(::std::integer_sequence<int, K...>) {
    return ::std::is_invocable_v<F, decltype((void)K, ::std::declval<const Index&>())...>;
  }
  (::std::make_integer_sequence<int, N>{});
  if constexpr (fits) return N;
  else if constexpr (N == max_rank) return 0;
  else return arity<F, Index, N + 1>();
}

/// The coordinates along axis d of an array of a shape, which broadcast to it.
template <class Device>
ndarray<int64, Device> coordinates(const shape& s, int d, Device device) {
  shape along;
  for (int i = 0; i < s.ndim(); ++i) along.push_back(i == d ? s[d] : 1);
  return reshape(integer_range<int64>(0, s[d], 1, device), along);
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// n powers of a base whose exponents go from start to stop, both included. Eager. Throws value_error for a negative n.
///     ca::logspace(0, 2, 3)  // [1 10 100]
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> logspace(double start, double stop, detail::any_integer n = 50, double base = 10,
                                  Device device = {}) {
  const double step = detail::step_of("logspace", start, stop, n);
  return detail::from_generator("logspace", n.value, detail::geometric_sequence<T>{base, start, step, 1, 0, 0, -1},
                                device);
}
/// n values from start to stop, both included, each the one before times the same number. Eager. Throws value_error
/// where start and stop are not of one sign, and for a negative n.
///     ca::geomspace(1, 8, 4)  // [1 2 4 8]
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> geomspace(double start, double stop, detail::any_integer n = 50, Device device = {}) {
  if (!((start > 0 && stop > 0) || (start < 0 && stop < 0)))
    detail::fail<value_error>("geomspace: from ", start, " to ", stop, ": of one sign, not 0");
  const double from = math::log10(math::abs(start)),
               step = detail::step_of("geomspace", from, math::log10(math::abs(stop)), n);
  return detail::from_generator("geomspace", n.value,
                                detail::geometric_sequence<T>{10, from, step, start < 0 ? -1. : 1., start,
                                                              n > 1 ? stop : start, n > 1 ? n - 1 : 0},
                                device);
}
/// Ones on the main diagonal of a square matrix, zeros elsewhere. Eager.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> identity(detail::any_integer n, Device device = {}) {
  return eye<T, Device>(n, n, 0, device);
}

/// The coordinates of the elements of an array of a shape: (number of axes, the shape), int64. Eager.
template <device_tag Device = default_device>
const ndarray<int64, Device> indices(const shape& s, Device device = {}) {
  shape all{s.ndim()};
  for (const int64 n : s) all.push_back(n);
  const ndarray<int64, Device> r = empty<int64, Device>(all, device);
  for (int d = 0; d < s.ndim(); ++d) r(d)(ellipsis) = detail::coordinates(s, d, device);
  return r;
}
/// f of the coordinates of an array's elements: f takes an array (int64, lazy functions of it are fused) for each axis
/// of the shape. Eager. Throws value_error where f takes another number.
///     ca::fromfunction([](const auto& i, const auto& j) { return i == j; }, {3, 3})
template <device_tag Device = default_device, class F>
auto fromfunction(const F& f, const shape& s, Device device = {}) {
  constexpr int n = detail::arity<F, ndarray<int64, Device>>();
  static_assert(n > 0, "cudarray: fromfunction: the function takes an array for each axis of the shape");
  if (s.ndim() != n)
    detail::fail<value_error>("fromfunction: a function of ", n, " coordinates for an array of ", s.ndim(), " axes");
  return [&]<int... K>(::std::integer_sequence<int, K...>) {
    const auto r = f(detail::coordinates(s, K, device)...);
    if constexpr (array_expression<decltype(r)>) return copy(broadcast_to(r, s));
    else return full<normal_dtype_t<::std::remove_const_t<decltype(r)>>, Device>(s, r, device);
  }
  (::std::make_integer_sequence<int, n>{});
}

/// The powers of the elements of one axis as rows: from n - 1 to 0, or (`increasing`) from 0; n absent: as many as
/// there are elements. Integers become int64, floats stay what they are. Lazy. Throws shape_error, value_error.
///     ca::vander(x, 3)  // columns x^2, x, 1
template <array_expression X>
auto vander(const X& x, detail::any_integer n = -1, bool increasing = false) {
  using T = ::std::conditional_t<(kind_of<value_type_t<X>> < kind::floating), int64, value_type_t<X>>;
  const shape& s = detail::dims_of(x);
  if (s.ndim() != 1) detail::fail<shape_error>("vander: an array of shape ", s, ", not of one axis");
  if (n < -1) detail::fail<value_error>("vander: ", n, " columns");
  const int64 columns = n == -1 ? s[0] : int64(n), first = increasing ? 0 : columns - 1, step = increasing ? 1 : -1;
  const auto exponents = detail::integer_range<::std::conditional_t<detail::is_complex<T>, int64, detail::primal_t<T>>>(
      first, first + step * columns, step, detail::device_of(x));
  return power(expand_dims(eval(astype<T>(x)), 1), exponents);
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
