// Philox 4x32-10, and uniform and normal numbers from its words: the same bits on host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "build.hpp"
#include "math.hpp"

namespace cudarray::inline v0::detail {

// The functions below are written once for single numbers and for SIMD packs of them. What the language has for numbers
// only is named here; packs overload it. nvcc does not let them name the type of a pack, hence `auto`.

/// The halves of the 64-bit product w * c.
template <class W>
struct product_halves {
  W high, low;
};
CUDARRAY_HD constexpr product_halves<uint32> multiply_wide(uint32 w, uint32 c) {
  const uint64 product = uint64(w) * c;
  return {uint32(product >> 32), uint32(product)};
}
/// 64 bits of two words.
CUDARRAY_HD constexpr uint64 join_words(uint32 low, uint32 high) { return low | uint64(high) << 32; }
template <int By, ::std::integral U>
CUDARRAY_HD constexpr U shift_right(U w) {
  return w >> By;
}
template <int By, ::std::integral U>
CUDARRAY_HD constexpr U shift_left(U w) {
  return w << By;
}
/// Bits as another type of the same size.
template <class To, class From>
requires(kind_of<From> != kind::none) CUDARRAY_HD constexpr To bit_lanes(From v) { return __builtin_bit_cast(To, v); }
/// A conversion of values that both types have.
template <class To, class From>
requires(kind_of<From> != kind::none) CUDARRAY_HD constexpr To exact_lanes(From v) { return To(v); }

/// Four 32-bit words, or four times lanes of them.
template <class W>
struct words_of {
  W w[4];
  /// One of the two pairs, as 64 bits.
  CUDARRAY_EXEC_CHECK_OFF
  CUDARRAY_HD constexpr auto two(int k) const { return join_words(w[2 * k], w[2 * k + 1]); }
};
using words = words_of<uint32>;

/// The keys of the ten rounds that belong to a key. They are made on the host: on CUDA they are constants then, and the
/// additions saved are a tenth of the work.
struct round_keys {
  uint32 of[10][2] = {};
  constexpr round_keys() = default;
  CUDARRAY_PER_BUILD constexpr round_keys(uint32 key0, uint32 key1) {
    for (int round = 0; round < 10; ++round) {
      of[round][0] = key0 + uint32(round) * 0x9E3779B9u;
      of[round][1] = key1 + uint32(round) * 0xBB67AE85u;
    }
  }
};

/// The counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11),
/// with 10 rounds: the block of words that belongs to a counter under a key.
CUDARRAY_EXEC_CHECK_OFF
template <class W = uint32>
CUDARRAY_HD constexpr words_of<W> philox(words_of<W> counter, const round_keys& keys) {
  for (int round = 0; round < 10; ++round) {
    const auto a = multiply_wide(counter.w[0], 0xD2511F53u), b = multiply_wide(counter.w[2], 0xCD9E8D57u);
    counter = {{b.high ^ counter.w[1] ^ lanes_like(a.low, keys.of[round][0]), b.low,
                a.high ^ counter.w[3] ^ lanes_like(a.low, keys.of[round][1]), a.low}};
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
  CUDARRAY_HD constexpr words at(uint64 i) const { return attempt_at(i, 0); }
  /// One of the blocks of a number that takes as many as it needs: which of them, in the top 16 bits of the stream.
  CUDARRAY_HD constexpr words attempt_at(uint64 i, uint32 attempt) const {
    const uint64 b = block + i + (base != nullptr ? *base : 0);
    return philox(words{{uint32(b), uint32(b >> 32), uint32(stream), uint32(stream >> 32) ^ attempt << 16}}, keys);
  }
  /// Lanes of blocks: `ahead` counts from block i on. On the host.
  template <class W>
  words_of<W> at(uint64 i, const W& ahead) const {
    using namespace math;
    const uint64 b = block + i;
    const W low = lanes_like(ahead, uint32(b)) + ahead,
            carry = select(low < ahead, lanes_like(ahead, 1), lanes_like(ahead, 0));
    return philox(words_of<W>{{low, lanes_like(ahead, uint32(b >> 32)) + carry, lanes_like(ahead, uint32(stream)),
                               lanes_like(ahead, uint32(stream >> 32))}},
                  keys);
  }
};

inline namespace CUDARRAY_ARITHMETIC {

/// The smaller of two numbers, b where a is NaN; not for zeros of different signs. One instruction on CUDA.
CUDARRAY_HD inline float smaller(float a, float b) { return __builtin_fminf(a, b); }

/// The upper 53 bits as a number, from two parts that a float64 holds above 2^52.
CUDARRAY_EXEC_CHECK_OFF
template <class W>
CUDARRAY_HD auto upper_bits(const W& w) {
  using namespace math;
  const auto high = shift_right<32>(w), low = shift_right<11>(w) - shift_left<21>(high),
             above = lanes_like(w, 0x4330000000000000u);
  const auto from = bit_lanes<double>(above);
  return fma(bit_lanes<double>(high + above) - from, lanes_like(from, 2097152.), bit_lanes<double>(low + above) - from);
}
/// [0, 1) with 24 random bits, or 53 of 64.
CUDARRAY_EXEC_CHECK_OFF
template <class W>
CUDARRAY_HD constexpr auto unit_float(const W& w) {
  const auto f = exact_lanes<float>(bit_lanes<int32>(shift_right<8>(w)));
  return f * lanes_like(f, 5.9604644775390625e-8f);
}
CUDARRAY_EXEC_CHECK_OFF
template <class W>
CUDARRAY_HD auto unit_double(const W& w) {
  const auto f = upper_bits(w);
  return f * lanes_like(f, 1.1102230246251565e-16);
}
/// (0, 1].
CUDARRAY_EXEC_CHECK_OFF
template <class W>
CUDARRAY_HD constexpr auto positive_float(const W& w) {
  const auto f = exact_lanes<float>(bit_lanes<int32>(shift_right<8>(w) + lanes_like(w, 1)));
  return f * lanes_like(f, 5.9604644775390625e-8f);
}
CUDARRAY_EXEC_CHECK_OFF
template <class W>
CUDARRAY_HD auto positive_double(const W& w) {
  const auto f = upper_bits(w);
  return (f + lanes_like(f, 1)) * lanes_like(f, 1.1102230246251565e-16);
}

/// Its bits plus k are those of it plus k, for whole k of a magnitude below 2^22 (2^51): numbers without a conversion,
/// which is slow on CUDA, and which AVX2 does not have for 64 bits.
template <class T>
inline constexpr T units = ::std::is_same_v<T, float> ? T(12582912) : T(6755399441055744);  // 1.5 * 2^23, 1.5 * 2^52

/// log(m) is that of 1 + f; `rest`, where it is given, is f before a rounding of 1 + f, for numbers of exponent 0.
template <class L>
CUDARRAY_HD constexpr L beyond_one(const L& f, const L&) {
  return f;
}
CUDARRAY_EXEC_CHECK_OFF
template <class L>
CUDARRAY_HD constexpr L beyond_one(const L& f, const L& e, const L& rest) {
  return math::select(e == lanes_like(e, 0), rest, f);
}
/// -2 log(u) for positive u, by operations that are rounded the same everywhere: u = m 2^e with m in [2/3, 4/3), and
/// log(m) = f + f^2 Q(f), f = m - 1, by a polynomial fitted to it (made here; 9e-8 off over all u of (0, 1]), or, in
/// float64, 2 atanh(s), s = f / (m + 1), its series cut where it falls below the last bit. L: T, or lanes of it.
/// `rest`, if given, is u - 1 without the rounding of u.
CUDARRAY_EXEC_CHECK_OFF
template <class T, class L, class... Rest>
CUDARRAY_HD inline auto minus_two_log(const L& u, const Rest&... rest) {
  using namespace math;
  constexpr bool single = ::std::is_same_v<T, float>;
  using bits = ::std::conditional_t<single, int32, int64>;
  constexpr int mantissa = single ? 23 : 52;
  const auto c = constants_like{u, T(0)};
  const auto b = bit_lanes<bits>(u), k = shift_right<mantissa>(b - bit_lanes<bits>(c(T(2. / 3))));
  const auto m = bit_lanes<T>(b - shift_left<mantissa>(k));
  const auto e = bit_lanes<T>(k + bit_lanes<bits>(c(units<T>))) - c(units<T>);
  const auto f = beyond_one(m - c(1), e, rest...);
  if constexpr (single) {
    constexpr float q[] = {-0x1.ffffd6p-2f, 0x1.5554fap-2f, -0x1.001480p-2f, 0x1.99d428p-3f,
                           -0x1.5032e8p-3f, 0x1.1ea25ap-3f, -0x1.3b2848p-3f, 0x1.1f4270p-3f};
    auto p = c(-2 * q[7]);
    for (int i = 6; i >= 0; --i) p = fma(p, f, c(-2 * q[i]));
    return fma(e, c(-1.38629436111989061883), fma(p, f * f, c(-2) * f));
  } else {
    constexpr int terms = 11;
    const auto s = f / (m + c(1)), z = s * s;
    auto p = c(T(1) / T(2 * terms + 1));
    for (int i = terms - 1; i >= 0; --i) p = fma(p, z, c(T(1) / T(2 * i + 1)));
    return fma(c(-4) * s, p, e * c(-1.38629436111989061883));
  }
}

/// An exponential number of random bits: -log(x) or -log(1 - x) for an x of (0, 1/2], so that both tails are fine.
CUDARRAY_EXEC_CHECK_OFF
template <class T, class W>
CUDARRAY_HD inline auto exponential_of(const W& w) {
  using namespace math;
  constexpr bool single = ::std::is_same_v<T, float>;
  using bits = ::std::conditional_t<single, uint32, uint64>;
  const auto low = w < lanes_like(w, bits(1) << (8 * sizeof(bits) - 1));
  const auto folded = select(low, w, ~w);
  const auto number = [&] {
    if constexpr (single) return exact_lanes<float>(bit_lanes<int32>(folded));  // a rounding, the same everywhere
    else return upper_bits(folded);
  };
  const auto n = number();
  const auto c = constants_like{n, T(0)};
  const auto x = single ? fma(n, c(0x1p-32), c(0x1p-33)) : fma(n, c(0x1p-53), c(0x1p-54));
  return c(0.5) * minus_two_log<T>(select(low, x, c(1) - x), -x);
}

/// sin and cos.
template <class L>
struct sine_and_cosine {
  L sine, cosine;
};
template <class L>
sine_and_cosine(L, L) -> sine_and_cosine<L>;

/// The coefficients of sin(2 pi x) / x, from `first` = 1 on, or of cos(2 pi x), from 0 on, in powers of x^2 (Taylor).
template <int Terms>
struct turn_series {
  double of[::std::size_t(Terms + 1)];
  constexpr explicit turn_series(int first) {
    constexpr double turn = 6.28318530717958647693;
    of[0] = first == 1 ? turn : 1;
    for (int i = 1; i <= Terms; ++i) of[i] = of[i - 1] * -(turn * turn) / ((2 * i - 1 + first) * (2 * i + first));
  }
};

/// Those of 2 pi t for t in [0, 1): the nearest quarter turn, and a series for the rest.
CUDARRAY_EXEC_CHECK_OFF
template <class T, class L>
CUDARRAY_HD inline auto sincos_turn(const L& t) {
  using namespace math;
  constexpr int terms = ::std::is_same_v<T, float> ? 4 : 8;
  constexpr turn_series<terms> sines(1), cosines(0);
  const auto c = constants_like{t, T(0)};
  const auto q = fma(t, c(4), c(units<T>)) - c(units<T>);  // 0 to 4
  const auto x = fma(q, c(-0.25), t), z = x * x;           // |x| <= 1 / 8
  auto s = c(sines.of[terms]), k = c(cosines.of[terms]);
  for (int i = terms - 1; i >= 0; --i) {
    s = fma(s, z, c(sines.of[i]));
    k = fma(k, z, c(cosines.of[i]));
  }
  s = s * x;
  const auto one = q == c(1), two = q == c(2), three = q == c(3);
  const auto swap = one | three;
  const auto sine = select(swap, k, s), cosine = select(swap, s, k);
  return sine_and_cosine{select(two | three, -sine, sine), select(one | two, -cosine, cosine)};
}

/// The two normal numbers of a pair of uniform ones (Box and Muller 1958).
template <class L>
struct normal_pair {
  L first, second;
};
template <class L>
normal_pair(L, L) -> normal_pair<L>;
CUDARRAY_EXEC_CHECK_OFF
template <class T, class L>
CUDARRAY_HD inline auto box_muller(const L& u, const L& turn) {
  using namespace math;
  const auto v = sincos_turn<T>(turn);
  const auto r = sqrt(minus_two_log<T>(u));
  return normal_pair{r * v.cosine, r * v.sine};
}

}  // namespace CUDARRAY_ARITHMETIC

}  // namespace cudarray::inline v0::detail
