// The parameters of random distributions: numbers or arrays that broadcast to the shape asked for, and are checked.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/samplers.hpp"
#include "manipulation.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "random.hpp"
#include "reductions.hpp"

namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

/// What a parameter may be: a real number, or an array of them.
template <class P>
constexpr bool is_parameter() {
  if constexpr (array_expression<P>) return kind_of<value_type_t<P>> != kind::complex_;
  else if constexpr (scalar_value<P>) return kind_of<P> != kind::complex_;
  else return false;
}

// Which numbers it may be.
#define CUDARRAY_WANTED(name, text, condition)                    \
  struct name {                                                   \
    static constexpr const char* wanted = text;                   \
    CUDARRAY_HD static bool holds(double v) { return condition; } \
  };
CUDARRAY_WANTED(finite, "finite", math::isfinite(v))
CUDARRAY_WANTED(nonnegative, "at least 0 and finite", v >= 0 && math::isfinite(v))
CUDARRAY_WANTED(positive, "above 0 and finite", v > 0 && math::isfinite(v))
CUDARRAY_WANTED(above_one, "above 1 and finite", v > 1 && math::isfinite(v))
CUDARRAY_WANTED(probability, "of [0, 1]", v >= 0 && v <= 1)
CUDARRAY_WANTED(positive_probability, "of (0, 1]", v > 0 && v <= 1)
CUDARRAY_WANTED(probability_below_one, "of [0, 1)", v >= 0 && v < 1)
CUDARRAY_WANTED(count, "a whole number of [0, 2^53]", v >= 0 && v <= 9007199254740992. && v == math::floor(v))
CUDARRAY_WANTED(lesser_count, "a whole number of [0, 10^15]", v >= 0 && v <= 1e15 && v == math::floor(v))
CUDARRAY_WANTED(mean_count, "of [0, 2^62]", v >= 0 && v <= 4611686018427387904.)
#undef CUDARRAY_WANTED

template <class Wanted>
struct is_wrong {
  template <class V>
  CUDARRAY_HD bool operator()(V v) const {
    return !Wanted::holds(static_cast<double>(v));
  }
};

inline bool broadcasts_to(const shape& from, const shape& to) {
  const int more = to.ndim() - from.ndim();
  for (int d = 0; d < from.ndim(); ++d)
    if (more < 0 || (from[d] != 1 && from[d] != to[d + more])) return false;
  return more >= 0;
}
/// A parameter as a double, or as an array broadcast to s. Throws value_error for what is not as wanted, and
/// shape_error. Waits for arrays.
template <class Wanted, class P>
auto parameter(const char* function, const char* name, const P& p, const shape& s) {
  constexpr bool early = ::std::is_same_v<P, generator>, real = early || is_parameter<P>();
  static_assert(!early, "cudarray: the generator stands behind all parameters: exponential(shape, 1, g)");
  static_assert(real, "cudarray: the parameters of random numbers are real numbers, or arrays of them");
  if constexpr (early || !real) {
    return 0.;
  } else if constexpr (array_expression<P>) {
    const auto a = as_array(p);
    if (!broadcasts_to(a.shape(), s))
      cudarray::detail::fail<shape_error>(function, ": ", name, " of shape ", a.shape(), " for numbers of shape ", s);
    if (a.size() > 0) {
      const auto flat = ravel(a);
      const int64 at = eval(argmax(map(is_wrong<Wanted>{}, flat))).item();
      const double v = static_cast<double>(cudarray::detail::lane_cast<double>(flat(at).item()));
      if (!Wanted::holds(v))
        cudarray::detail::fail<value_error>(function, ": ", name, " is ", v, " at flat index ", at, ", not ",
                                            Wanted::wanted);
    }
    return broadcast_to(a, s);
  } else {
    const double v = cudarray::detail::lane_cast<double>(p);
    if (!Wanted::holds(v))
      cudarray::detail::fail<value_error>(function, ": ", name, " is ", v, ", not ", Wanted::wanted);
    return v;
  }
}

/// Whether a condition of several parameters holds for any element.
template <class F, class... P>
bool holds_anywhere(const F& condition, const P&... p) {
  if constexpr ((array_expression<P> || ...)) return eval(any(map(condition, p...))).item();
  else return condition(p...);
}

/// float or double.
template <class T>
struct float_or_double {
  static constexpr bool is = cudarray::detail::real_floating<T>;
  static_assert(is, "cudarray: random numbers of this distribution are of float or double");
  using type = ::std::conditional_t<is, T, float>;
};
template <class T>
using real_number_t = typename float_or_double<T>::type;

/// 0, 1, 2, ..
struct position {
  using value_type = int64;
  CUDARRAY_HD int64 operator()(int64 i) const { return i; }
};
/// What a sampler makes for each index of a shape, and of the parameters there. A block each, and further ones of other
/// streams.
template <class T, class Sampler>
struct sampled {
  random_source from;
  template <class... P>
  CUDARRAY_HD T operator()(int64 i, P... p) const {
    cudarray::detail::draws d(from, i);
    return cudarray::detail::lane_cast<T>(Sampler::number(d, static_cast<double>(p)...));
  }
};
/// Eager.
template <class T, class Sampler, class Device, class... P>
const ndarray<T, Device> sample(const char* function, const shape& s, generator& g, Device device, const P&... p) {
  const random_source from = take(function, g, cudarray::detail::check_extents(function, s).elements(), 1, device);
  const cudarray::detail::generate<position, Device> index{{}, {}, s, device.ordinal};
  return ndarray<T, Device>(map(sampled<T, Sampler>{from}, index, p...));
}

/// Numbers made of uniform ones and the like, as an array.
template <class T, class X>
const ndarray<T, device_type_t<X>> as_numbers(const X& x) {
  return ndarray<T, device_type_t<X>>(astype<T>(x));
}
/// A standard exponential number for each element; or Gumbel's.
template <class T, class Device>
auto exponentials(const char* function, const shape& s, generator& g, Device device) {
  return drawn(function, s, numbers_at<exponential_number<T, false>>{}, g, device);
}
template <class T, class Device>
auto gumbels(const char* function, const shape& s, generator& g, Device device) {
  return drawn(function, s, numbers_at<exponential_number<T, true>>{}, g, device);
}

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
