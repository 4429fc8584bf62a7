// SIMD packs over the compiler's vector extension: arithmetic, comparison, selection, conversion.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "../../../core/math.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD {

/// What lanes of T are kept in; arithmetic on half types is done in float32.
template <class T>
using register_t = ::std::conditional_t<::std::is_arithmetic_v<T>, T, uint16>;

/// N lanes of T.
template <class T, int N>
struct pack {
  typedef register_t<T> vector __attribute__((vector_size(N * sizeof(T))));
  vector v;
};

/// N truth values, W bytes a lane, all bits set or none.
template <int W, int N>
struct mask {
  using lane = detail::signed_t<W>;
  typedef lane vector __attribute__((vector_size(N * W)));
  vector v;
};

template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> splat(T x) {
  return {__builtin_bit_cast(register_t<T>, x) - typename pack<T, N>::vector{}};  // x - 0 is x for -0.0 too
}

template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> resize(const mask<V, N>& m) {
  if constexpr (W == V) return m;
  else return {__builtin_convertvector(m.v, typename mask<W, N>::vector)};
}

/// True where one instruction makes integers wider. g++ 12 takes a dozen.
template <class U, class T, int N>
inline constexpr bool widens =
#if defined(__x86_64__) && !defined(__clang__)
    ::std::is_integral_v<U>&& ::std::is_integral_v<T> && sizeof(U) > sizeof(T) && sizeof(T) * N >= 16 &&
    sizeof(U) * N >= 32 && int(sizeof(U)) * N <= this_build::vector_bytes;
#else
    false;
#endif

template <class U, class T, int N>
CUDARRAY_FORCE_INLINE pack<U, N> convert(const pack<T, N>& a) {
  // g++ 12 takes the lanes one by one where they get more than twice as wide, and between floats and small integers
  if constexpr (widens<U, T, N>) {
    pack<U, N> r;
#define CUDARRAY_WIDEN(from, to, letters)                                                         \
  if constexpr (sizeof(T) == from && sizeof(U) == to) {                                           \
    if constexpr (::std::is_signed_v<T>) asm("vpmovsx" letters " %1, %0" : "=v"(r.v) : "v"(a.v)); \
    else asm("vpmovzx" letters " %1, %0" : "=v"(r.v) : "v"(a.v));                                 \
  }
    CUDARRAY_WIDEN(1, 2, "bw")
    CUDARRAY_WIDEN(1, 4, "bd")
    CUDARRAY_WIDEN(1, 8, "bq")
    CUDARRAY_WIDEN(2, 4, "wd")
    CUDARRAY_WIDEN(2, 8, "wq")
    CUDARRAY_WIDEN(4, 8, "dq")
#undef CUDARRAY_WIDEN
    return r;
  } else if constexpr (::std::is_integral_v<T> && ::std::is_floating_point_v<U> && sizeof(T) < 4) {
    return {__builtin_convertvector(convert<int32>(a).v, typename pack<U, N>::vector)};
  } else if constexpr (sizeof(U) > 2 * sizeof(T) && ::std::is_integral_v<T>) {
    using wider =
        ::std::conditional_t<::std::is_signed_v<T>, detail::signed_t<2 * sizeof(T)>, detail::unsigned_t<2 * sizeof(T)>>;
    return convert<U>(convert<wider>(a));
  } else if constexpr (::std::is_floating_point_v<T> && ::std::is_integral_v<U> && sizeof(U) < 4) {
    return {__builtin_convertvector(__builtin_convertvector(a.v, typename pack<int32, N>::vector),
                                    typename pack<U, N>::vector)};
  } else {
    return {__builtin_convertvector(a.v, typename pack<U, N>::vector)};
  }
}

template <class U, class T, int N>
CUDARRAY_FORCE_INLINE pack<U, N> bits(const pack<T, N>& a) {
  static_assert(sizeof(U) == sizeof(T));
  return {reinterpret_cast<typename pack<U, N>::vector>(a.v)};
}

#define CUDARRAY_COMPARE(op)                                                                       \
  template <class T, int N>                                                                        \
  CUDARRAY_FORCE_INLINE mask<sizeof(T), N> operator op(const pack<T, N>& a, const pack<T, N>& b) { \
    return {reinterpret_cast<typename mask<sizeof(T), N>::vector>(a.v op b.v)};                    \
  }
CUDARRAY_COMPARE(==)
CUDARRAY_COMPARE(!=)
CUDARRAY_COMPARE(<)
CUDARRAY_COMPARE(<=)
CUDARRAY_COMPARE(>)
CUDARRAY_COMPARE(>=)
#undef CUDARRAY_COMPARE

#define CUDARRAY_MASK_OP(op)                                                               \
  template <int W, int V, int N>                                                           \
  CUDARRAY_FORCE_INLINE mask<W, N> operator op(const mask<W, N>& a, const mask<V, N>& b) { \
    return {a.v op resize<W>(b).v};                                                        \
  }
CUDARRAY_MASK_OP(&)
CUDARRAY_MASK_OP(|)
CUDARRAY_MASK_OP(^)
#undef CUDARRAY_MASK_OP
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator==(const mask<W, N>& a, const mask<V, N>& b) {
  return {~(a.v ^ resize<W>(b).v)};
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator!=(const mask<W, N>& a, const mask<V, N>& b) {
  return a ^ b;
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator<(const mask<W, N>& a, const mask<V, N>& b) {
  return {~a.v & resize<W>(b).v};
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator<=(const mask<W, N>& a, const mask<V, N>& b) {
  return {~a.v | resize<W>(b).v};
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator>(const mask<W, N>& a, const mask<V, N>& b) {
  return {a.v & ~resize<W>(b).v};
}
template <int W, int V, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator>=(const mask<W, N>& a, const mask<V, N>& b) {
  return {a.v | ~resize<W>(b).v};
}
template <int W, int N>
CUDARRAY_FORCE_INLINE mask<W, N> operator!(const mask<W, N>& a) {
  return {~a.v};
}

/// Integer arithmetic wraps: it is done on unsigned lanes.
#define CUDARRAY_PACK_OP(op)                                                               \
  template <class T, int N>                                                                \
  CUDARRAY_FORCE_INLINE pack<T, N> operator op(const pack<T, N>& a, const pack<T, N>& b) { \
    if constexpr (kind_of<T> == kind::signed_) {                                           \
      using U = ::std::make_unsigned_t<T>;                                                 \
      return bits<T>(pack<U, N>{bits<U>(a).v op bits<U>(b).v});                            \
    } else {                                                                               \
      return {a.v op b.v};                                                                 \
    }                                                                                      \
  }
CUDARRAY_PACK_OP(+)
CUDARRAY_PACK_OP(-)
CUDARRAY_PACK_OP(*)
#undef CUDARRAY_PACK_OP
#define CUDARRAY_PACK_OP(op)                                                               \
  template <class T, int N>                                                                \
  CUDARRAY_FORCE_INLINE pack<T, N> operator op(const pack<T, N>& a, const pack<T, N>& b) { \
    return {a.v op b.v};                                                                   \
  }
CUDARRAY_PACK_OP(/)
CUDARRAY_PACK_OP(&)
CUDARRAY_PACK_OP(|)
CUDARRAY_PACK_OP(^)
#undef CUDARRAY_PACK_OP
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> operator~(const pack<T, N>& a) {
  return {~a.v};
}
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> operator-(const pack<T, N>& a) {
  if constexpr (detail::is_integer<T>) return splat<T, N>(T(0)) - a;
  else return {-a.v};
}

template <class T, int W, int N>
CUDARRAY_FORCE_INLINE pack<T, N> select(const mask<W, N>& c, const pack<T, N>& a, const pack<T, N>& b) {
  return {resize<sizeof(T)>(c).v ? a.v : b.v};
}
template <int W, int V, int U, int N>
CUDARRAY_FORCE_INLINE mask<W, N> select(const mask<W, N>& c, const mask<V, N>& a, const mask<U, N>& b) {
  return {(c.v & resize<W>(a).v) | (~c.v & resize<W>(b).v)};
}

/// Comparisons as core/math.hpp has them, of integers of two signs too.
#define CUDARRAY_COMPARE(name, op)                                                                              \
  template <class T, class U, int N>                                                                            \
  CUDARRAY_FORCE_INLINE auto name(const pack<T, N>& a, const pack<U, N>& b) {                                   \
    using truth = mask<sizeof(T), N>;                                                                           \
    const auto all = [](bool c) { return truth{typename truth::vector{} - typename truth::lane(c)}; };          \
    if constexpr (::std::is_same_v<T, U>) return a op b;                                                        \
    else if constexpr (::std::is_signed_v<T>) return select(a < splat<T, N>(0), all(-1 op 0), bits<U>(a) op b); \
    else return select(b < splat<U, N>(0), all(0 op - 1), a op bits<T>(b));                                     \
  }                                                                                                             \
  template <int W, int V, int N>                                                                                \
  CUDARRAY_FORCE_INLINE auto name(const mask<W, N>& a, const mask<V, N>& b) {                                   \
    return a op b;                                                                                              \
  }
CUDARRAY_COMPARE(equal, ==)
CUDARRAY_COMPARE(not_equal, !=)
CUDARRAY_COMPARE(less, <)
CUDARRAY_COMPARE(less_equal, <=)
CUDARRAY_COMPARE(greater, >)
CUDARRAY_COMPARE(greater_equal, >=)
#undef CUDARRAY_COMPARE

/// float16 and bfloat16 as core/half.hpp converts them.
template <int N>
CUDARRAY_FORCE_INLINE pack<float, N> to_float(const pack<bfloat16, N>& a) {
  return bits<float>(pack<uint32, N>{convert<uint32>(pack<uint16, N>{a.v}).v << 16});
}
template <int N>
CUDARRAY_FORCE_INLINE pack<float, N> to_float(const pack<float16, N>& a) {
#if defined(__F16C__)
  if constexpr (sizeof(a) >= 16) {
    pack<float, N> r;
    asm("vcvtph2ps %1, %0" : "=v"(r.v) : "v"(a.v));
    return r;
  }
#endif
  const auto u = [](uint32 x) { return splat<uint32, N>(x); };
  const auto h = convert<uint32>(pack<uint16, N>{a.v});
  const pack<uint32, N> magnitude{(h & u(0x7fff)).v << 13}, sign{(h & u(0x8000)).v << 16};
  const auto finite = bits<uint32>(bits<float>(magnitude) * splat<float, N>(5.192296858534828e33f));  // 2^112
  return bits<float>(select((h & u(0x7c00)) == u(0x7c00), finite | u(0x7f800000), finite) | sign);
}
template <class H, int N>
CUDARRAY_FORCE_INLINE pack<H, N> from_float(const pack<float, N>& f) {
#if defined(__F16C__)
  if constexpr (::std::is_same_v<H, float16> && N >= 8) {
    pack<H, N> r;
    asm("vcvtps2ph $0, %1, %0" : "=v"(r.v) : "v"(f.v));
    return r;
  }
#endif
  const auto u = [](uint32 x) { return splat<uint32, N>(x); };
  const auto shift = [](const pack<uint32, N>& x, int by) { return pack<uint32, N>{x.v >> by}; };
  const auto x = bits<uint32>(f), a = x & u(0x7fffffff);
  const auto nan = a > u(0x7f800000);
  pack<uint32, N> r;
  if constexpr (::std::is_same_v<H, bfloat16>) {
    r = select(nan, shift(x, 16) | u(0x40), shift(x + u(0x7fff) + (shift(x, 16) & u(1)), 16));
  } else {
    r = shift(a - u(0x38000000) + u(0xfff) + (shift(a, 13) & u(1)), 13);
    r = select(a < u(0x38800000), bits<uint32>(bits<float>(a) + splat<float, N>(0.5f)) - u(0x3f000000), r);
    r = select(a >= u(0x477ff000), u(0x7c00), r);
    r = select(nan, u(0x7e00) | (shift(a, 13) & u(0x3ff)), r) | (shift(x, 16) & u(0x8000));
  }
  return {convert<uint16>(r).v};
}

/// What of an integer, or of a float64's bits, float32 has no room for, in one bit: the lowest that is left is set
/// where any of those below is.
template <class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> fold_bits(const pack<T, N>& a, T below) {
  const auto low = splat<T, N>(below);
  return (((a & low) + low) | a) & splat<T, N>(T(~below));
}
/// As core/half.hpp has it, on the way to H: float32's subnormal numbers, which have fewer bits, are all 0 as float16.
template <class H, int N>
CUDARRAY_FORCE_INLINE pack<float, N> round_to_odd(const pack<double, N>& a) {
  if constexpr (::std::is_same_v<H, bfloat16>) {
    const auto size = abs(a), zero = splat<double, N>(0.), least = splat<double, N>(0x1p-126);
    if (any((size < least) & (size > zero)))
      return from_lanes<float, N>([&](int k) { return detail::round_to_odd(double(a.v[k])); });
  }
  return convert<float>(bits<double>(fold_bits<uint64>(bits<uint64>(a), 0x1fffffff)));
}
template <class H, class T, int N>
CUDARRAY_FORCE_INLINE pack<float, N> round_to_odd(const pack<T, N>& a) {
  const auto s = [](T x) { return splat<T, N>(x); };
  if constexpr (::std::is_same_v<H, float16>) {  // all beyond are infinite
    constexpr T most = 1 << 17;
    auto v = select(a > s(most), s(most), a);
    if constexpr (::std::is_signed_v<T>) v = select(a < s(T(-most)), s(T(-most)), v);
    return convert<float>(convert<int32>(v));
  } else {  // integers of up to 24 and 53 bits are exact
    constexpr T below = sizeof(T) == 4 ? T(0xff) : T(0x7ff), most = T(1) << (sizeof(T) == 4 ? 24 : 53);
    auto wide = a >= s(most);
    if constexpr (::std::is_signed_v<T>) wide = wide | (a <= s(-most));
    const auto v = select(wide, fold_bits<T>(a, below), a);
    if constexpr (sizeof(T) == 4) return convert<float>(v);
    else return convert<float>(bits<double>(fold_bits<uint64>(bits<uint64>(convert<double>(v)), 0x1fffffff)));
  }
}

/// isnan and its relatives as core/dtype.hpp has them: by bits where comparisons say nothing.
template <class T, int N>
CUDARRAY_FORCE_INLINE auto magnitude(const pack<T, N>& a) {
  using Int = detail::signed_t<sizeof(T)>;
  return bits<Int>(a) & splat<Int, N>(::std::numeric_limits<Int>::max());
}
template <class T, int N>
CUDARRAY_FORCE_INLINE auto infinite_bits() {
  using Int = detail::signed_t<sizeof(T)>;
  return splat<Int, N>(__builtin_bit_cast(Int, detail::bounds<T>::highest));
}
template <class T, int N>
CUDARRAY_FORCE_INLINE auto isnan(const pack<T, N>& a) {
  if constexpr (detail::by_bits<T>) return magnitude(a) > infinite_bits<T, N>();
  else return a != a;
}

/// Conversions as `convert_scalar` has them: float to integer saturates, NaN gives 0.
template <class To, class T, int N>
CUDARRAY_FORCE_INLINE auto lane_cast(const pack<T, N>& a) {
  if constexpr (::std::is_same_v<To, T>) {
    return a;
  } else if constexpr (detail::is_dual<To>) {
    const auto constant = lane_cast<detail::primal_t<To>>(a);
    return dual<::std::remove_const_t<decltype(constant)>>(constant);
  } else if constexpr (!::std::is_arithmetic_v<T>) {
    return lane_cast<To>(to_float(a));
  } else if constexpr (!::std::is_arithmetic_v<To>) {
    if constexpr (sizeof(T) > 4 || (detail::is_integer<T> && sizeof(T) == 4))
      return from_float<To>(round_to_odd<To>(a));
    else return from_float<To>(lane_cast<float>(a));
  } else if constexpr (::std::is_same_v<To, bool>) {
    return a != splat<T, N>(T(0));
  } else if constexpr (detail::is_floating<T> && detail::is_integer<To>) {
    constexpr T high = T(To(1) << (::std::numeric_limits<To>::digits - 1)) * T(2);
    constexpr T low = kind_of<To> == kind::signed_ ? -high : T(0);
    const auto zero = splat<T, N>(T(0)), lo = splat<T, N>(low), hi = splat<T, N>(high);
    const auto inside = select((a > lo) & (a < hi), a, select(a <= lo, lo, zero));
    const auto r = select(a >= hi, splat<To, N>(::std::numeric_limits<To>::max()), convert<To>(inside));
    if constexpr (detail::by_bits<T>) return select(isnan(a), splat<To, N>(To(0)), r);
    else return r;
  } else {
    return convert<To>(a);
  }
}
template <class To, int W, int N>
CUDARRAY_FORCE_INLINE auto lane_cast(const mask<W, N>& m) {
  if constexpr (::std::is_same_v<To, bool>) return m;
  else if constexpr (detail::is_dual<To>) return lane_cast<To>(lane_cast<detail::primal_t<To>>(m));
  else if constexpr (!::std::is_arithmetic_v<To>) return from_float<To>(lane_cast<float>(m));
  else return select(m, splat<To, N>(To(1)), splat<To, N>(To(0)));
}

/// A vector wherever it stands. Copied by memcpy it would go by halves of 16 bytes through the stack where g++ is not
/// told which AVX2 processor it is for; a wide load of what two stores have just left waits for both.
template <class V>
struct __attribute__((packed, may_alias)) unaligned {
  V v;
};
template <class P>
CUDARRAY_FORCE_INLINE P load_pack(const void* p) {
  return {static_cast<const unaligned<typename P::vector>*>(p)->v};
}
template <class P>
CUDARRAY_FORCE_INLINE void store_pack(void* p, const P& a) {
  static_cast<unaligned<typename P::vector>*>(p)->v = a.v;
}

/// Stores past the caches where the machine can, to an address aligned to the pack.
template <class T, int N>
CUDARRAY_FORCE_INLINE void stream_lanes(T* p, const pack<T, N>& a) {
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (sizeof(a) >= 16) {
    asm volatile("vmovntps %1, %0" : "=m"(*reinterpret_cast<typename pack<T, N>::vector*>(p)) : "v"(a.v));
    return;
  }
#elif defined(__x86_64__)
  if constexpr (sizeof(a) == 16) {
    asm volatile("movntps %1, %0" : "=m"(*reinterpret_cast<typename pack<T, N>::vector*>(p)) : "x"(a.v));
    return;
  }
#endif
  store_pack(p, a);
}
/// Streamed stores become visible before what comes after.
CUDARRAY_FORCE_INLINE void finish_stream() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#endif
}

// In pack_dual.hpp.
template <int N, class T>
CUDARRAY_FORCE_INLINE dual<pack<T, N>> load_dual(const dual<T>* p);
template <class R, int N, class F>
CUDARRAY_FORCE_INLINE auto dual_from_lanes(const F& f);

/// Unaligned loads and stores; truth values are bytes of 0 and 1.
template <class T, int N>
CUDARRAY_FORCE_INLINE auto load_lanes(const T* p) {
  if constexpr (::std::is_same_v<T, bool>) {
    return load_pack<pack<uint8, N>>(p) != splat<uint8, N>(uint8(0));
  } else if constexpr (detail::is_dual<T>) {
    return load_dual<N>(p);
  } else {
    return load_pack<pack<T, N>>(p);
  }
}
template <class T, int N>
CUDARRAY_FORCE_INLINE void store_lanes(T* p, const pack<T, N>& a) {
  store_pack(p, a);
}
template <int W, int N>
CUDARRAY_FORCE_INLINE void store_lanes(bool* p, const mask<W, N>& m) {
  store_pack(p, pack<uint8, N>{reinterpret_cast<typename pack<uint8, N>::vector>(resize<1>(m).v) & uint8(1)});
}
template <int W, int N>
CUDARRAY_FORCE_INLINE void stream_lanes(bool* p, const mask<W, N>& m) {
  stream_lanes(reinterpret_cast<uint8*>(p),
               pack<uint8, N>{reinterpret_cast<typename pack<uint8, N>::vector>(resize<1>(m).v) & uint8(1)});
}

template <class T, int N>
CUDARRAY_FORCE_INLINE T lane(const pack<T, N>& a, int i) {
  return __builtin_bit_cast(T, register_t<T>(a.v[i]));
}
template <int W, int N>
CUDARRAY_FORCE_INLINE bool lane(const mask<W, N>& a, int i) {
  return a.v[i] != 0;
}

/// True if any lane is.
template <int W, int N>
CUDARRAY_FORCE_INLINE bool any(const mask<W, N>& m) {
#if defined(__x86_64__) && defined(__AVX__)
  // g++ takes the lanes out one by one
  if constexpr (this_build::vector_bytes >= int(sizeof(m)) && sizeof(m) >= 16) {
    bool r;
    if constexpr (sizeof(m) == 64) asm("vptestmd %1, %1, %%k1\n\tkortestw %%k1, %%k1" : "=@ccnz"(r) : "v"(m.v) : "k1");
    else asm("vptest %1, %1" : "=@ccnz"(r) : "x"(m.v));
    return r;
  }
#endif
  if constexpr (sizeof(m) < 8) {
    for (int k = 0; k < N; ++k)
      if (m.v[k]) return true;
    return false;
  } else {
    typename pack<uint64, int(sizeof(m) / 8)>::vector w;
    ::std::memcpy(&w, &m, sizeof(w));
    uint64 all = 0;
    for (int k = 0; k < int(sizeof(m) / 8); ++k) all |= w[k];
    return all != 0;
  }
}

/// Lane k is lane `Pick::at(k)` of a, or, from N on, of b.
template <class Pick, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> pick_lanes(const pack<T, N>& a, const pack<T, N>& b) {
#if defined(__clang__)
  return [&]<int... K>(::std::integer_sequence<int, K...>) {
    return pack<T, N>{__builtin_shufflevector(a.v, b.v, Pick::template at<N>(K)...)};
  }
  (::std::make_integer_sequence<int, N>{});
#else
  typename mask<sizeof(T), N>::vector which{};
  for (int k = 0; k < N; ++k) which[k] = typename mask<sizeof(T), N>::lane(Pick::template at<N>(k));
  return {__builtin_shuffle(a.v, b.v, which)};
#endif
}
/// Lanes of a and b in turn: from the first halves of both, or the second.
template <bool Second>
struct in_turn {
  template <int N>
  static constexpr int at(int k) {
    return (Second ? N / 2 : 0) + k / 2 + (k % 2 ? N : 0);
  }
};
template <bool Second, class T, int N>
CUDARRAY_FORCE_INLINE pack<T, N> interleave(const pack<T, N>& a, const pack<T, N>& b) {
  if constexpr (N == 1) return Second ? b : a;
  else return pick_lanes<in_turn<Second>>(a, b);
}
/// Every other lane of a, then of b.
struct even_lanes {
  template <int N>
  static constexpr int at(int k) {
    return 2 * k;
  }
};
struct reversed_lanes {
  template <int N>
  static constexpr int at(int k) {
    return N - 1 - k;
  }
};
/// The lanes of a moved up by some, and the first ones of b below.
template <int By>
struct moved_up {
  template <int N>
  static constexpr int at(int k) {
    return k < By ? N + k : k - By;
  }
};
struct last_lane {
  template <int N>
  static constexpr int at(int) {
    return N - 1;
  }
};

/// Lanes of type R, lane k being `f(k)`.
template <class R, int N, class F>
CUDARRAY_FORCE_INLINE auto from_lanes(const F& f) {
  if constexpr (::std::is_same_v<R, bool>) {
    mask<1, N> r;
    for (int k = 0; k < N; ++k) r.v[k] = f(k) ? int8(-1) : int8(0);
    return r;
  } else if constexpr (detail::is_dual<R>) {
    return dual_from_lanes<R, N>(f);
  } else {
    pack<R, N> r;
    for (int k = 0; k < N; ++k) r.v[k] = __builtin_bit_cast(register_t<R>, f(k));
    return r;
  }
}

/// A scalar function on each lane: for functions without a pack form, and for a user's.
template <class F, int N, class... P>
CUDARRAY_FORCE_INLINE auto each_lane(const F& f, const P&... p) {
  using R = ::std::remove_cvref_t<decltype(f(lane(p, 0)...))>;
  return from_lanes<R, N>([&](int k) { return f(lane(p, k)...); });
}

}  // namespace cudarray::inline v0::simd::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
