// Random arrays: a function of seed, stream and logical index, the same for every layout, launch and device.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/generator.hpp"
#include "creation.hpp"
#include "sorting.hpp"

namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD {

using cudarray::detail::bit_lanes;
using cudarray::detail::box_muller;
using cudarray::detail::exponential_of;
using cudarray::detail::lanes_like;
using cudarray::detail::minus_two_log;
using cudarray::detail::positive_double;
using cudarray::detail::positive_float;
using cudarray::detail::random_source;
using cudarray::detail::shift_left;
using cudarray::detail::shift_right;
using cudarray::detail::smaller;
using cudarray::detail::unit_double;
using cudarray::detail::unit_float;
using cudarray::detail::words;
using cudarray::detail::words_of;

/// Numbers made from blocks of words: `N` says how many come of one block, and what the k-th of them is.
template <class N>
struct numbers_at : N {
  using value_type = typename N::value_type;
  static constexpr int group = N::per_block;
  random_source from;
  CUDARRAY_HD value_type operator()(int64 i) const {
    return this->number(from.at(uint64(i) / group), int(uint64(i) % group));
  }
  /// All numbers of block b.
  CUDARRAY_HD void fill(int64 b, value_type* to) const {
    const words w = from.at(uint64(b));
    if constexpr (requires { this->pair(w, 0); }) {
      for (int k = 0; k < group; k += 2) {
        const auto two = this->pair(w, k);
        to[k] = two.first, to[k + 1] = two.second;
      }
    } else {
      for (int k = 0; k < group; ++k) to[k] = this->number(w, k);
    }
  }
};

/// All are made of lanes of words, too.
struct word {
  using value_type = uint32;
  static constexpr int per_block = 4;
  template <class W>
  CUDARRAY_HD W number(const words_of<W>& w, int k) const {
    return w.w[k];
  }
};

template <class T>
struct uniform_number {
  using value_type = T;
  static constexpr int per_block = sizeof(T) == 4 ? 4 : 2;
  T low, width, last;  ///< last: the largest number below the upper bound, which rounding could reach
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const words_of<W>& w, int k) const {
    using namespace math;
    if constexpr (::std::is_same_v<T, float>) {
      const auto u = unit_float(w.w[k]), end = lanes_like(u, last);
      return smaller(fma(u, lanes_like(u, width), lanes_like(u, low)), end);
    } else {
      const auto u = unit_double(w.two(k)), end = lanes_like(u, last),
                 v = fma(u, lanes_like(u, width), lanes_like(u, low));
      return select(v < end, v, end);
    }
  }
};

template <class T>
struct normal_number {
  using value_type = T;
  static constexpr int per_block = sizeof(T) == 4 ? 4 : 2;
  T loc, scale;
  /// Numbers k and k + 1, for an even k.
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto pair(const words_of<W>& w, int k) const {
    using namespace math;
    const auto both = [&] {
      if constexpr (::std::is_same_v<T, float>) return box_muller<T>(positive_float(w.w[k]), unit_float(w.w[k + 1]));
      else return box_muller<T>(positive_double(w.two(0)), unit_double(w.two(1)));
    };
    auto z = both();
    z.first = fma(z.first, lanes_like(z.first, scale), lanes_like(z.first, loc));
    z.second = fma(z.second, lanes_like(z.second, scale), lanes_like(z.second, loc));
    return z;
  }
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const words_of<W>& w, int k) const {
    const auto two = pair(w, k / 2 * 2);
    return k % 2 == 0 ? two.first : two.second;
  }
};

/// Exponential numbers of mean 1, or -log of them, which are Gumbel's.
template <class T, bool Gumbel>
struct exponential_number {
  using value_type = T;
  static constexpr int per_block = sizeof(T) == 4 ? 4 : 2;
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const words_of<W>& w, int k) const {
    const auto e = exponential_lanes(w, k);
    if constexpr (Gumbel) return lanes_like(e, T(0.5)) * minus_two_log<T>(e);
    else return e;
  }

 private:
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto exponential_lanes(const words_of<W>& w, int k) const {
    if constexpr (sizeof(T) == 4) return exponential_of<T>(w.w[k]);
    else return exponential_of<T>(w.two(k));
  }
};

/// The high half of a 64-bit product maps 64 random bits to [0, range): no bias above range / 2^64 (Lemire 2019).
struct integer_number {
  using value_type = int64;
  static constexpr int per_block = 2;
  int64 low;
  uint64 range;
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const words_of<W>& w, int k) const {
    const auto x = w.two(k), xh = shift_right<32>(x), xl = x - shift_left<32>(xh);
    const auto rl = lanes_like(x, uint64(uint32(range))), rh = lanes_like(x, range >> 32);
    const auto middle = xh * rl + shift_right<32>(xl * rl), upper = shift_right<32>(middle),
               cross = xl * rh + (middle - shift_left<32>(upper));
    return bit_lanes<int64>(lanes_like(x, uint64(low)) + xh * rh + upper + shift_right<32>(cross));
  }
};

struct key {
  using value_type = int64;
  static constexpr int per_block = 2;
  CUDARRAY_EXEC_CHECK_OFF
  template <class W>
  CUDARRAY_HD auto number(const words_of<W>& w, int k) const {
    return bit_lanes<int64>(shift_right<1>(w.two(k)));
  }
};

template <class T>
numbers_at<uniform_number<T>> uniform_numbers(T low, T high) {
  if (!math::isfinite(high - low))
    cudarray::detail::fail<value_error>("random::uniform: [", double(low), ", ", double(high), ") has no finite width");
  const T below = sizeof(T) == 4 ? T(__builtin_nextafterf(float(high), float(low)))
                                 : T(__builtin_nextafter(double(high), double(low)));
  return {{low, high - low, low < high ? below : high + T(0)}, {}};
}
template <class T>
numbers_at<normal_number<T>> normal_numbers(T loc, T scale) {
  if (!(scale >= 0)) cudarray::detail::fail<value_error>("random::normal: scale ", double(scale), " is negative");
  return {{loc, scale}, {}};
}
/// Integers of [low, high), which T holds all of.
template <class T, ::std::integral L, ::std::integral H>
numbers_at<integer_number> integer_numbers(L low, H high) {
  using V = ::std::conditional_t<(kind_of<T> <= kind::signed_), T, int64>;
  constexpr bool half = ::std::is_same_v<T, float16>;  // ends at 65504; other floats hold more, and round
  const cudarray::detail::int128 first = low, end = high, least = half ? -65504 : ::std::numeric_limits<V>::lowest(),
                                 most = half ? 65504 : ::std::numeric_limits<V>::max();
  if (end <= first) cudarray::detail::fail<value_error>("random::integers: no integers in [", low, ", ", high, ")");
  if (first < least || end - 1 > most)
    cudarray::detail::fail<value_error>("random::integers: [", low, ", ", high, ") does not fit ",
                                        dtype_name<::std::conditional_t<half, T, V>>);
  return {{int64(uint64(low)), uint64(high) - uint64(low)}, {}};
}

/// A generator's next numbers; while a graph is captured, those that each of its launches will find.
template <class Device>
random_source take(const char* function, generator& g, int64 n, int per_block, Device device) {
  return draw_log::pass(draw_log::current(), [&] {
    const uint64 blocks = (uint64(n) + uint64(per_block) - 1) / uint64(per_block);
    random_source s(g.seed(), g.stream());
    if (!capture_random(device, blocks, s)) return g.take(n, per_block);
    if (&g != &thread_generator())
      cudarray::detail::fail<value_error>(function, ": a graph can capture numbers of the thread's generator only");
    return s;
  });
}

/// A generator's next numbers, lazy: the same ones in every expression they stand in.
template <class Device, class F>
cudarray::detail::generate<F, Device> drawn(const char* function, const shape& s, F numbers, generator& g,
                                            Device device) {
  numbers.from = take(function, g, cudarray::detail::check_extents(function, s).elements(), F::group, device);
  return {{}, numbers, s, device.ordinal};
}
/// A new array of them.
template <class Device, class F>
const ndarray<typename F::value_type, Device> draw(const char* function, const shape& s, const F& numbers, generator& g,
                                                   Device device) {
  return ndarray<typename F::value_type, Device>(cudarray::detail::materialise(drawn(function, s, numbers, g, device)));
}
/// The same into an array that is there. One that is read-only consumes nothing.
template <class T, class Device, class F>
const ndarray<T, Device> draw(const char* function, const out_argument<T, Device>& o, F numbers, generator& g) {
  const auto to = o.array.node();
  cudarray::detail::check_writable(*to.store, to.where);
  numbers.from = take(function, g, to.where.elements(), F::group, o.array.device());
  return cudarray::detail::write_out(
      function, o, cudarray::detail::generate<F, Device>{{}, numbers, to.where.dims, to.store->ordinal});
}

}  // namespace cudarray::inline v0::random::detail_random::inline CUDARRAY_BUILD
namespace cudarray::inline v0::random::inline CUDARRAY_BUILD {

/// `ca::out(c)` in place of the shape, after the numbers that say which: writes into c what the shape's form would give
/// in C order, whatever c's strides; the dtype is c's.
///     ca::random::uniform(-1, 1, ca::out(c))

/// Random 32-bit words. Eager.
template <device_tag Device = default_device>
const ndarray<uint32, Device> bits(const shape& s, generator& g = thread_generator(), Device device = {}) {
  return detail_random::draw("random::bits", s, detail_random::numbers_at<detail_random::word>{}, g, device);
}
template <class T, class Device>
const ndarray<T, Device> bits(const out_argument<T, Device>& o, generator& g = thread_generator()) {
  return detail_random::draw("random::bits", o, detail_random::numbers_at<detail_random::word>{}, g);
}

/// Numbers of [low, high), float32 or float64. Eager.
///     ca::random::uniform({2, 3})
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> uniform(const shape& s, ::std::type_identity_t<T> low = T(0),
                                 ::std::type_identity_t<T> high = T(1), generator& g = thread_generator(),
                                 Device device = {}) {
  constexpr bool floating = cudarray::detail::real_floating<T>;
  static_assert(floating, "cudarray: random::uniform makes float or double");
  if constexpr (floating)
    return detail_random::draw("random::uniform", s, detail_random::uniform_numbers<T>(low, high), g, device);
  else return {};
}
template <class T, class Device>
const ndarray<T, Device> uniform(::std::type_identity_t<T> low, ::std::type_identity_t<T> high,
                                 const out_argument<T, Device>& o, generator& g = thread_generator()) {
  constexpr bool floating = cudarray::detail::real_floating<T>;
  static_assert(floating, "cudarray: random::uniform makes float or double");
  if constexpr (floating)
    return detail_random::draw("random::uniform", o, detail_random::uniform_numbers<T>(low, high), g);
  else return {};
}

/// Normal numbers of mean `loc` and standard deviation `scale`, float32 or float64; the same bits on every device.
/// Eager. Throws value_error for a negative scale.
template <dtype T = float, device_tag Device = default_device>
const ndarray<T, Device> normal(const shape& s, ::std::type_identity_t<T> loc = T(0),
                                ::std::type_identity_t<T> scale = T(1), generator& g = thread_generator(),
                                Device device = {}) {
  constexpr bool floating = cudarray::detail::real_floating<T>;
  static_assert(floating, "cudarray: random::normal makes float or double");
  if constexpr (floating)
    return detail_random::draw("random::normal", s, detail_random::normal_numbers<T>(loc, scale), g, device);
  else return {};
}
template <class T, class Device>
const ndarray<T, Device> normal(::std::type_identity_t<T> loc, ::std::type_identity_t<T> scale,
                                const out_argument<T, Device>& o, generator& g = thread_generator()) {
  constexpr bool floating = cudarray::detail::real_floating<T>;
  static_assert(floating, "cudarray: random::normal makes float or double");
  if constexpr (floating)
    return detail_random::draw("random::normal", o, detail_random::normal_numbers<T>(loc, scale), g);
  else return {};
}

/// Integers of [low, high), int64. Eager. Throws value_error where there are none, or the dtype (that of `ca::out`)
/// does not hold them.
template <device_tag Device = default_device, ::std::integral L, ::std::integral H>
const ndarray<int64, Device> integers(const shape& s, L low, H high, generator& g = thread_generator(),
                                      Device device = {}) {
  return detail_random::draw("random::integers", s, detail_random::integer_numbers<int64>(low, high), g, device);
}
template <class T, class Device, ::std::integral L, ::std::integral H>
const ndarray<T, Device> integers(L low, H high, const out_argument<T, Device>& o, generator& g = thread_generator()) {
  return detail_random::draw("random::integers", o, detail_random::integer_numbers<T>(low, high), g);
}

/// 0 to n - 1 in random order: the stable argsort of n random keys. Eager. Throws value_error for a negative n.
template <device_tag Device = default_device>
const ndarray<int64, Device> permutation(cudarray::detail::any_integer n, generator& g = thread_generator(),
                                         Device device = {}) {
  if (n < 0) cudarray::detail::fail<value_error>("random::permutation: ", n, " elements");
  return argsort<ndarray<int64, Device>>(
      detail_random::draw("random::permutation", n.value, detail_random::numbers_at<detail_random::key>{}, g, device));
}

}  // namespace cudarray::inline v0::random::inline CUDARRAY_BUILD
