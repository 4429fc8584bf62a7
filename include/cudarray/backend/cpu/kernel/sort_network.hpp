// Sorting many short segments on the CPU: as many at a time as a pack has lanes, by a network of comparisons.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Calls `order(i, j)`, which puts elements i < j in order, until n of them are: Batcher's merge exchange (Knuth, The
/// Art of Computer Programming 3, 5.2.2, algorithm M).
template <class F>
CUDARRAY_FORCE_INLINE void merge_exchange(int64 n, const F& order) {
  int64 top = 1;
  while (2 * top < n) top *= 2;
  for (int64 p = top; p > 0; p /= 2)
    for (int64 q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int64 first = r; first < n - d; first += 2 * p)
        for (int64 i = first, end = first + p < n - d ? first + p : n - d; i < end; ++i) order(i, i + d);
      if (q == p) break;
    }
}

/// Whole numbers K in packs, a segment in each lane.
template <class K>
struct sort_network {
  static constexpr int N = lanes_for<int(sizeof(K))>;
  using pack = simd::pack<K, N>;
  static constexpr int64 limit = 32 * N < 512 ? 32 * N : 512;  ///< longer segments are sorted faster one by one

  static CUDARRAY_FORCE_INLINE pack load(const K* p) { return simd::load_lanes<K, N>(p); }
  static void sort(K* rows, int64 n) {
    merge_exchange(n, [&](int64 i, int64 j) {
      const pack x = load(rows + i * N), y = load(rows + j * N);
      const auto swapped = y < x;
      simd::store_lanes(rows + i * N, select(swapped, y, x));
      simd::store_lanes(rows + j * N, select(swapped, x, y));
    });
  }
  /// With where they stood, which is the order of equals.
  static void sort(K* rows, K* at, int64 n) {
    merge_exchange(n, [&](int64 i, int64 j) {
      const pack x = load(rows + i * N), y = load(rows + j * N), p = load(at + i * N), q = load(at + j * N);
      const auto swapped = (y < x) | ((y == x) & (q < p));
      simd::store_lanes(rows + i * N, select(swapped, y, x));
      simd::store_lanes(rows + j * N, select(swapped, x, y));
      simd::store_lanes(at + i * N, select(swapped, q, p));
      simd::store_lanes(at + j * N, select(swapped, p, q));
    });
  }
};

/// Elements whose order is that of whole numbers of their size, which floats become but for NaN and -0.
template <class T>
inline constexpr bool orders_as_number = !::std::is_same_v<T, bool> && !detail::is_complex<T>;
template <class T>
using order_number = ::std::conditional_t<::std::is_unsigned_v<T>, T, detail::signed_t<sizeof(T)>>;
/// The bits of a float, or of a vector of them, as such numbers K; and back.
template <class K, class V>
CUDARRAY_FORCE_INLINE V float_order(V bits) {
  return bits ^ ((bits >> (8 * int(sizeof(K)) - 1)) & ::std::numeric_limits<K>::max());
}

/// Sorts as many segments of n elements as a pack has lanes. False, and nothing is written, where there is NaN or -0.
template <class T>
bool sort_together(const T* from, T* to, int64 n, void* space) {
  using K = order_number<T>;
  using network = sort_network<K>;
  using pack = typename network::pack;
  constexpr int N = network::N;
  K* const rows = static_cast<K*>(space);
  copy_tile<sizeof(T)>(rows, N, from, n, N, 1, n);
  if constexpr (detail::is_floating<T>) {
    constexpr K magnitude = ::std::numeric_limits<K>::max(), minus_zero = ::std::numeric_limits<K>::min(),
                infinity = __builtin_bit_cast(K, T(::std::numeric_limits<float>::infinity()));
    pack wrong = simd::splat<K, N>(K(0));
    for (int64 i = 0; i < n; ++i) {
      const pack k = network::load(rows + i * N);
      wrong.v |= ((k.v & magnitude) > infinity) | (k.v == minus_zero);
      simd::store_lanes(rows + i * N, pack{float_order<K>(k.v)});
    }
    for (int r = 0; r < N; ++r)
      if (lane(wrong, r) != 0) return false;
  }
  network::sort(rows, n);
  if constexpr (detail::is_floating<T>)
    for (int64 i = 0; i < n; ++i) simd::store_lanes(rows + i * N, pack{float_order<K>(network::load(rows + i * N).v)});
  copy_tile<sizeof(T)>(to, n, rows, N, n, 1, N);
  return true;
}

/// Lays the keys of as many segments of n elements as a pack has lanes of 64 bits side by side into `rows`, and where
/// each stood into `other`; both have room for all. `key` gives an element's order as an unsigned number. One of at
/// most 32 bits becomes one number with its place.
template <class T, class Key>
void lay_keys(const T* from, int64 n, uint64* rows, uint64* other, const Key& key) {
  constexpr int N = sort_network<uint64>::N;
  for (int64 i = 0; i < n * N; ++i) other[i] = key(from[i]);
  copy_tile<8>(rows, N, other, n, N, 1, n);
  for (int64 i = 0; i < n; ++i)
    for (int r = 0; r < N; ++r) {
      if constexpr (sizeof(key(*from)) <= 4) rows[i * N + r] = rows[i * N + r] << 32 | uint64(i);
      else other[i * N + r] = uint64(i);
    }
}

/// The positions that sort these segments; `space` is room for two such groups of them.
template <class T, class Key>
void argsort_together(const T* from, int64* to, int64 n, uint64* space, const Key& key) {
  using network = sort_network<uint64>;
  constexpr int N = network::N;
  constexpr bool one = sizeof(key(*from)) <= 4;
  uint64* const rows = space;
  uint64* const other = space + n * N;
  lay_keys(from, n, rows, other, key);
  if constexpr (one) {
    network::sort(rows, n);
    for (int64 i = 0; i < n * N; ++i) rows[i] &= 0xffffffff;
  } else {
    network::sort(rows, other, n);
  }
  copy_tile<8>(to, n, one ? rows : other, N, n, 1, N);
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
