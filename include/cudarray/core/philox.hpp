// Philox 4x32-10, and uniform and normal numbers from its words: the same bits on host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include "math.hpp"

namespace cudarray::inline v0::detail {

/// Four 32-bit words.
struct words {
  uint32 w[4];
  /// One of the two pairs, as 64 bits.
  CUDARRAY_HD constexpr uint64 two(int k) const { return w[2 * k] | uint64(w[2 * k + 1]) << 32; }
};

/// The keys of the ten rounds that belong to a key. They are made on the host: on CUDA they are constants then, and the
/// additions saved are a tenth of the work.
struct round_keys {
  uint32 of[10][2] = {};
  constexpr round_keys() = default;
  constexpr round_keys(uint32 key0, uint32 key1) {
    for (int round = 0; round < 10; ++round) {
      of[round][0] = key0 + uint32(round) * 0x9E3779B9u;
      of[round][1] = key1 + uint32(round) * 0xBB67AE85u;
    }
  }
};

/// The counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11),
/// with 10 rounds: the block of words that belongs to a counter under a key.
CUDARRAY_HD constexpr words philox(words counter, const round_keys& keys) {
  for (int round = 0; round < 10; ++round) {
    const uint64 a = uint64(0xD2511F53u) * counter.w[0], b = uint64(0xCD9E8D57u) * counter.w[2];
    counter = {{uint32(b >> 32) ^ counter.w[1] ^ keys.of[round][0], uint32(b),
                uint32(a >> 32) ^ counter.w[3] ^ keys.of[round][1], uint32(a)}};
  }
  return counter;
}

/// Where a call's numbers come from: the blocks from `block` on, of one stream of one seed; in a captured graph, from
/// `block` behind `*base` on.
struct random_source {
  uint64 seed = 0, stream = 0, block = 0;
  const uint64* base = nullptr;
  round_keys keys;
  constexpr random_source() = default;
  constexpr random_source(uint64 seed_, uint64 stream_)
      : seed(seed_), stream(stream_), keys(uint32(seed_), uint32(seed_ >> 32)) {}
  CUDARRAY_HD constexpr words at(uint64 i) const {
    const uint64 b = block + i + (base != nullptr ? *base : 0);
    return philox({{uint32(b), uint32(b >> 32), uint32(stream), uint32(stream >> 32)}}, keys);
  }
};

/// [0, 1) with 24 random bits, or 53.
CUDARRAY_HD constexpr float unit_float(uint32 w) { return float(w >> 8) * 5.9604644775390625e-8f; }
CUDARRAY_HD constexpr double unit_double(uint64 w) { return double(w >> 11) * 1.1102230246251565e-16; }

/// -2 log(u) for u in (0, 1], by fma and division alone, so that every compiler gives the same bits:
/// log(m 2^e) = e log 2 + 2 atanh(s), s = (m - 1) / (m + 1), its series cut where it falls below the last bit.
template <class T>
CUDARRAY_HD inline T minus_two_log(T u) {
  constexpr bool single = ::std::is_same_v<T, float>;
  using bits = ::std::conditional_t<single, uint32, uint64>;
  constexpr int mantissa = single ? 23 : 52, bias = single ? 127 : 1023, terms = single ? 5 : 11;
  const bits b = __builtin_bit_cast(bits, u);
  int e = int(b >> mantissa) - bias;
  T m = __builtin_bit_cast(T, (b & ((bits(1) << mantissa) - 1)) | (bits(bias) << mantissa));
  if (m > T(1.41421356237309505)) {
    m = m / T(2);
    ++e;
  }
  const T s = (m - T(1)) / (m + T(1)), z = s * s;
  T p = T(1) / T(2 * terms + 1);
  for (int k = terms - 1; k >= 0; --k) p = math::fma(p, z, T(1) / T(2 * k + 1));
  return math::fma(T(-4) * s, p, T(e) * T(-1.38629436111989061883));
}

/// sin and cos of 2 pi t for t in [0, 1): the octant by comparison, the rest by Taylor's series in fma.
template <class T>
CUDARRAY_HD inline void sincos_turn(T t, T& sine, T& cosine) {
  constexpr int terms = ::std::is_same_v<T, float> ? 5 : 9;
  const int quarter = int(math::fma(t, T(4), T(0.5)));                         // nearest quarter turn, 0 to 4
  const T x = math::fma(T(quarter), T(-0.25), t) * T(6.28318530717958647693);  // |x| <= pi / 4
  const T z = -(x * x);
  T s = T(1), c = T(1);
  for (int k = terms; k > 0; --k) {
    s = math::fma(s * z, T(1) / T(2 * k * (2 * k + 1)), T(1));
    c = math::fma(c * z, T(1) / T(2 * k * (2 * k - 1)), T(1));
  }
  s = s * x;
  const bool swap = quarter & 1;
  sine = swap ? c : s;
  cosine = swap ? s : c;
  if (quarter == 2 || quarter == 3) sine = -sine;
  if (quarter == 1 || quarter == 2) cosine = -cosine;
}

/// One of the two normal numbers of a pair of uniform ones (Box and Muller 1958).
template <class T>
CUDARRAY_HD inline T box_muller(T u, T turn, bool second) {
  T s, c;
  sincos_turn(turn, s, c);
  return math::sqrt(minus_two_log(u)) * (second ? s : c);
}

}  // namespace cudarray::inline v0::detail
