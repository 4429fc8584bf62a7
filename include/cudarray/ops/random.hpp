// Random arrays: a function of seed, stream and logical index, the same for every layout, launch and device.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/philox.hpp"
#include "creation.hpp"
#include "sorting.hpp"

namespace cudarray::inline v0::random {

/// A position in a stream of random numbers: a value, copied freely; a copy repeats what the original will give.
///
/// A call for n numbers takes the next ceil(n / 4) blocks of four words, or ceil(n / 2) for numbers of 64 bits
/// (float64, integers, permutation).
class generator {
 public:
  explicit generator(uint64 seed, uint64 stream = 0) : source_{seed, stream, 0} {}
  uint64 seed() const { return source_.seed; }
  uint64 stream() const { return source_.stream; }
  /// The next block.
  uint64 offset() const { return source_.block; }
  void skip(uint64 blocks) { source_.block += blocks; }
  /// Hands out the blocks for n numbers, `per_block` to a block.
  detail::random_source take(int64 n, int per_block) {
    const detail::random_source s = source_;
    source_.block += (uint64(n) + uint64(per_block) - 1) / uint64(per_block);
    return s;
  }

 private:
  detail::random_source source_;
};

namespace detail_random {
/// The process's seed; its epoch counts the calls of `seed`.
struct process_seed {
  uint64 value = 0, epoch = 0, threads = 0;
};
CUDARRAY_PUBLIC inline process_seed process;
struct thread_state {
  uint64 epoch = ~uint64(0), thread = 0;
  generator g{0};
};
CUDARRAY_PUBLIC inline thread_state& this_thread() {
  static thread_local thread_state s{~uint64(0), __atomic_fetch_add(&process.threads, uint64(1), __ATOMIC_RELAXED),
                                     generator(0)};
  return s;
}
}  // namespace detail_random

/// This thread's generator: stream k for the k-th thread that asks, restarted by `seed`.
inline generator& thread_generator() {
  auto& s = detail_random::this_thread();
  const uint64 epoch = __atomic_load_n(&detail_random::process.epoch, __ATOMIC_ACQUIRE);
  if (s.epoch != epoch) {
    s.g = generator(__atomic_load_n(&detail_random::process.value, __ATOMIC_RELAXED), s.thread);
    s.epoch = epoch;
  }
  return s.g;
}

/// Restarts every thread's generator with this seed. Without it the seed is 0.
inline void seed(uint64 value) {
  __atomic_store_n(&detail_random::process.value, value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&detail_random::process.epoch, uint64(1), __ATOMIC_RELEASE);
}

namespace detail_random {

using cudarray::detail::box_muller;
using cudarray::detail::random_source;
using cudarray::detail::unit_double;
using cudarray::detail::unit_float;

struct word_at {
  using value_type = uint32;
  random_source from;
  CUDARRAY_HD uint32 operator()(int64 i) const { return from.word(i); }
};

template <class T>
struct uniform_at {
  using value_type = T;
  random_source from;
  T low, width, last;  ///< last: the largest number below the upper bound, which rounding could reach
  CUDARRAY_HD T operator()(int64 i) const {
    T v;
    if constexpr (::std::is_same_v<T, float>) v = math::fma(unit_float(from.word(i)), width, low);
    else v = math::fma(unit_double(from.two_words(i)), width, low);
    return v > last ? last : v;
  }
};

template <class T>
struct normal_at {
  using value_type = T;
  random_source from;
  T loc, scale;
  CUDARRAY_HD T operator()(int64 i) const {
    if constexpr (::std::is_same_v<T, float>) {
      const auto b = from.at(uint64(i) / 4);
      const int pair = int(i % 4) / 2 * 2;
      const float u = float((b.w[pair] >> 8) + 1) * 5.9604644775390625e-8f;
      return math::fma(box_muller(u, unit_float(b.w[pair + 1]), i & 1), scale, loc);
    } else {
      const auto b = from.at(uint64(i) / 2);
      const double u = double(((b.w[0] | uint64(b.w[1]) << 32) >> 11) + 1) * 1.1102230246251565e-16;
      return math::fma(box_muller(u, unit_double(b.w[2] | uint64(b.w[3]) << 32), i & 1), scale, loc);
    }
  }
};

/// The high half of a 64-bit product maps 64 random bits to [0, range): no bias above range / 2^64 (Lemire 2019).
struct integer_at {
  using value_type = int64;
  random_source from;
  int64 low;
  uint64 range;
  CUDARRAY_HD int64 operator()(int64 i) const {
    const uint64 x = from.two_words(i), xl = uint32(x), xh = x >> 32, rl = uint32(range), rh = range >> 32;
    const uint64 middle = xh * rl + ((xl * rl) >> 32), cross = xl * rh + uint32(middle);
    return int64(uint64(low) + xh * rh + (middle >> 32) + (cross >> 32));
  }
};

struct key_at {
  using value_type = int64;
  random_source from;
  CUDARRAY_HD int64 operator()(int64 i) const { return int64(from.two_words(i) >> 1); }
};

}  // namespace detail_random

/// Random 32-bit words. Eager.
template <device_tag Device = default_device, class Build = this_build>
const ndarray<uint32, Device> bits(const shape& s, generator& g = thread_generator(), Device device = {}) {
  const int64 n = cudarray::detail::check_extents("random::bits", s).elements();
  return cudarray::detail::from_generator<Build>("random::bits", s, detail_random::word_at{g.take(n, 4)}, device);
}

/// Numbers of [low, high), float32 or float64. Eager.
///     ca::random::uniform({2, 3})
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> uniform(const shape& s, ::std::type_identity_t<T> low = 0, ::std::type_identity_t<T> high = 1,
                                 generator& g = thread_generator(), Device device = {}) {
  static_assert(cudarray::detail::real_floating<T>, "cudarray: random::uniform makes float or double");
  const int64 n = cudarray::detail::check_extents("random::uniform", s).elements();
  return cudarray::detail::from_generator<Build>(
      "random::uniform", s,
      detail_random::uniform_at<T>{g.take(n, sizeof(T) == 4 ? 4 : 2), low, high - low,
                                   low < high ? ::std::nextafter(high, low) : high},
      device);
}

/// Normal numbers of mean `loc` and standard deviation `scale`, float32 or float64; the same bits on every device.
/// Eager. Throws value_error for a negative scale.
template <dtype T = float, device_tag Device = default_device, class Build = this_build>
const ndarray<T, Device> normal(const shape& s, ::std::type_identity_t<T> loc = 0, ::std::type_identity_t<T> scale = 1,
                                generator& g = thread_generator(), Device device = {}) {
  static_assert(cudarray::detail::real_floating<T>, "cudarray: random::normal makes float or double");
  if (!(scale >= 0)) throw value_error(cudarray::detail::cat("random::normal: scale ", double(scale), " is negative"));
  const int64 n = cudarray::detail::check_extents("random::normal", s).elements();
  return cudarray::detail::from_generator<Build>(
      "random::normal", s, detail_random::normal_at<T>{g.take(n, sizeof(T) == 4 ? 4 : 2), loc, scale}, device);
}

/// Integers of [low, high). Eager. Throws value_error where there are none.
template <device_tag Device = default_device, class Build = this_build>
const ndarray<int64, Device> integers(const shape& s, int64 low, int64 high, generator& g = thread_generator(),
                                      Device device = {}) {
  if (high <= low) throw value_error(cudarray::detail::cat("random::integers: no integers in [", low, ", ", high, ")"));
  const int64 n = cudarray::detail::check_extents("random::integers", s).elements();
  return cudarray::detail::from_generator<Build>(
      "random::integers", s, detail_random::integer_at{g.take(n, 2), low, uint64(high) - uint64(low)}, device);
}

/// 0 to n - 1 in random order: the stable argsort of n random keys. Eager. Throws value_error for a negative n.
template <device_tag Device = default_device, class Build = this_build>
const ndarray<int64, Device> permutation(int64 n, generator& g = thread_generator(), Device device = {}) {
  if (n < 0) throw value_error(cudarray::detail::cat("random::permutation: ", n, " elements"));
  const auto keys =
      cudarray::detail::from_generator<Build>("random::permutation", n, detail_random::key_at{g.take(n, 2)}, device);
  return argsort<ndarray<int64, Device>, Build>(keys);
}

}  // namespace cudarray::inline v0::random
