// Sorts of segments: by Highway, by networks, by digits.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#if defined(CUDARRAY_HAS_HIGHWAY)
// Highway 1.0.3 does not compile for machines with all that its newest target needs, unless that target is asked for.
#if defined(__AVX512BITALG__) && defined(__VAES__) && defined(__AVXVNNI__) && !defined(HWY_WANT_AVX3_DL)
#define HWY_WANT_AVX3_DL
#endif
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>
#endif

#include "../../../eval/segments.hpp"
#include "sort_network.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Bits that compare, as an unsigned number, as the elements do: NaN last, -0 and 0 alike.
template <class T>
auto sort_key(T v) {
  using K = detail::unsigned_t<sizeof(T)>;
  constexpr K top = K(K(1) << (8 * sizeof(T) - 1));
  if constexpr (::std::is_same_v<T, bool> || kind_of<T> == kind::unsigned_) {
    return K(v);
  } else if constexpr (kind_of<T> == kind::signed_) {
    return K(K(v) ^ top);
  } else {
    if (detail::is_nan(v)) return K(~K(0));
    const K b = v == T(0) ? K(0) : __builtin_bit_cast(K, v);
    return K(b & top ? ~b : b | top);
  }
}

/// Segments from this on are sorted by several threads each.
inline constexpr int64 shared_segment = 262144;

/// The key of an element, and where it stood.
template <class Key>
struct keyed {
  Key key;
  uint32 position;
};
/// A key of 64 bits in halves, and where the element stood: 12 bytes for 16.
struct halved {
  uint32 upper, lower, position;
};

/// Ascending, stable, some bits at a time of what `key` has of an item; the sorted items are in what is returned, `to`
/// if all bits vary. `other` may be `from`. Parts of the items are counted and moved by several threads.
template <class Item, class F>
const Item* radix_sort(const Item* a, Item* to, Item* other, int64 n, const F& key) {
  constexpr int bits = 8 * int(sizeof(key(*a)));
  const int width = bits <= 16 || n < 32768 ? 8 : 11, digits = (bits + width - 1) / width;
  const int64 values = int64(1) << width, parts = n < shared_segment ? 1 : ::std::min<int64>(num_threads(), 16);
  const scratch space((parts == 1 ? digits : parts) * values * int64(sizeof(int64)));
  auto* const places = reinterpret_cast<int64*>(space.p);
  const auto digit = [key, mask = values - 1](const Item& v, int shift) { return int64(key(v) >> shift) & mask; };
  Item* b = digits % 2 == 1 || other == a ? to : other;
  if (parts == 1) {  // all digits at once
    ::std::fill(places, places + digits * values, 0);
    for (int64 i = 0; i < n; ++i)
      for (int d = 0; d < digits; ++d) ++places[d * values + digit(a[i], width * d)];
  }
  for (int d = 0; d < digits; ++d) {
    int64* const place = parts == 1 ? places + d * values : places;
    if (parts > 1)
      parallel(parts, [&](int64 part) {
        int64* const count = place + part * values;
        ::std::fill(count, count + values, 0);
        for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) ++count[digit(a[i], width * d)];
      });
    int64 next = 0;
    bool moves = true;
    for (int64 v = 0; v < values; ++v)
      for (int64 part = 0, all = 0; part < parts; ++part) {
        const int64 count = place[part * values + v];
        place[part * values + v] = next;
        next += count;
        moves = moves && (all += count) < n;
      }
    if (!moves) continue;  // all have the same digit
    parallel(parts, [&](int64 part) {
      int64* const at = place + part * values;
      const Item* const from = a;  // (stores might change what is not a copy)
      Item* const target = b;
      const auto digit_of = digit;
      const int shift = width * d;
      for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i)
        target[at[digit_of(from[i], shift)]++] = from[i];
    });
    a = b;
    b = b == to ? other : to;
  }
  return a;
}

template <class T>
inline constexpr bool highway_sorts = ::std::is_arithmetic_v<T> && sizeof(T) >= 4;  // radix sorts short keys faster

/// Whether Highway's sort, on one thread, is the faster for each segment.
template <class T>
bool by_highway(const detail::segments& s) {
  if constexpr (!this_build::highway || !highway_sorts<T>) return false;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return false;
#endif
  constexpr int64 few = 4;  // threads whose radix sort is slower
  return s.n >= 32 && (s.n < shared_segment || s.outer >= num_threads() || num_threads() <= few);
}

/// While it stands, Highway sorts elements of 4 bytes by AVX2 on Zen 4, AMD's first processor with AVX-512: it stores
/// the lanes that a mask picks one by one, and sorts by that take 6 times as long. (Later versions of Highway have a
/// target for it.)
struct highway_choice {
#if defined(CUDARRAY_HAS_HIGHWAY) && defined(__x86_64__)
  bool narrower = false;
  explicit highway_choice(int bytes) {
    if (bytes != 4 || !__builtin_cpu_is("amd") || __builtin_cpu_supports("avx512vp2intersect")) return;  // Zen 5 on
    constexpr auto avx512 = HWY_AVX3 | HWY_AVX3_DL, better = HWY_AVX3_DL - 1;
    const auto has = ::hwy::SupportedTargets();
    narrower = (has & avx512) != 0 && (has & better) == 0;
    if (narrower) ::hwy::GetChosenTarget().Update(has & ~avx512);
  }
  ~highway_choice() {
    if (narrower) ::hwy::GetChosenTarget().Update(::hwy::SupportedTargets());
  }
#else
  explicit highway_choice(int) {}
#endif
};

#if defined(CUDARRAY_HAS_HIGHWAY)
/// Ascending into `to`; NaN last, and zeros of both signs as they stood. Floats as integers of their order: Highway 1.0
/// takes infinity for the largest number.
template <class T>
void sort_by_highway(const T* from, T* to, int64 n) {
  using K = detail::signed_t<sizeof(T)>;
  const auto ordered = [](auto v) { return __builtin_bit_cast(decltype(v), float_order<K>(__builtin_bit_cast(K, v))); };
  T* end = to + n;
  if constexpr (!::std::is_floating_point_v<T>) {
    ::std::copy(from, from + n, to);
    ::hwy::Sorter()(to, ::std::size_t(n), ::hwy::SortAscending());
  } else {
    K others = 0;  // not `if`: the loop is one of packs
    for (int64 i = 0; i < n; ++i) {
      to[i] = ordered(from[i]);
      others |= K(detail::is_nan(from[i]));
    }
    if (others) {
      end = to;
      for (int64 i = 0; i < n; ++i)
        if (!detail::is_nan(from[i])) *end++ = ordered(from[i]);
      ::std::copy_if(from, from + n, end, [](T v) { return detail::is_nan(v); });
    }
    ::hwy::Sorter()(reinterpret_cast<K*>(to), ::std::size_t(end - to), ::hwy::SortAscending());
    ::std::transform(to, end, to, ordered);
    T* const zero = ::std::partition_point(to, end, [](T v) { return v < T(0); });
    if (zero != end && *zero == T(0)) ::std::copy_if(from, from + n, zero, [](T v) { return v == T(0); });
  }
}
#endif

/// Segments shorter than this are sorted by comparing.
inline constexpr int64 short_segment = 96;

/// Whether every second of n keys of 64 bits, or more, shares its upper half with another one, as far as some elements
/// tell: one of each stretch, picked as if by chance. They tell less of millions, where each pass that is spared is
/// worth more. n >= 32.
template <class T>
bool share_upper_halves(const T* k, int64 n) {
  uint32 seen[1024];
  const int64 count = n / 16 < 1024 ? n / 16 : 1024, stretch = n / count;
  for (int64 i = 0; i < count; ++i) {
    uint64 h = uint64(i + 1) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    seen[i] = uint32(sort_key(k[i * stretch + int64((h >> 32) % uint64(stretch))]) >> 32);
  }
  ::std::sort(seen, seen + count, [](uint32 a, uint32 b) { return a < b; });  // (a sort of this build's own)
  int64 pairs = 0;
  for (int64 i = 1, alike = 0; i < count; ++i) pairs += alike = seen[i] == seen[i - 1] ? alike + 1 : 0;
  return pairs * n > count * (count - 1) / 4;
}

/// The places of n elements, fewer than 2^32, in their order.
template <class T>
void argsort_by_radix(const T* k, int64* order, int64 n) {
  using Key = decltype(sort_key(*k));
  using item = ::std::conditional_t<sizeof(Key) == 8, halved, keyed<Key>>;
  const scratch space(2 * n * int64(sizeof(item)));
  item *const first = reinterpret_cast<item*>(space.p), *const second = first + n;
  if constexpr (sizeof(Key) < 8) {
    for (int64 i = 0; i < n; ++i) first[i] = {sort_key(k[i]), uint32(i)};
    const item* const sorted = radix_sort(first, second, first, n, [](const item& v) { return v.key; });
    for (int64 i = 0; i < n; ++i) order[i] = sorted[i].position;
  } else {
    const auto upper = [](const item& v) { return v.upper; };
    const auto lower = [](const item& v) { return v.lower; };
    item *sorted = first, *other = second;
    const auto sort_by = [&](const auto& half) {
      if (radix_sort(sorted, other, sorted, n, half) == other) ::std::swap(sorted, other);
    };
    for (int64 i = 0; i < n; ++i) first[i] = {uint32(sort_key(k[i]) >> 32), uint32(sort_key(k[i])), uint32(i)};
    const bool shared = share_upper_halves(k, n);
    if (shared) sort_by(lower);
    sort_by(upper);
    // where upper halves are equal the lower ones decide
    for (int64 begin = 0, end; begin < n && !shared; begin = end) {
      for (end = begin + 1; end < n && sorted[end].upper == sorted[begin].upper;) ++end;
      if (end - begin < 32) {
        for (int64 i = begin + 1; i < end; ++i) {
          const item v = sorted[i];
          int64 to = i;
          for (; to > begin && v.lower < sorted[to - 1].lower; --to) sorted[to] = sorted[to - 1];
          sorted[to] = v;
        }
      } else {
        const item* const run = radix_sort(sorted + begin, other + begin, sorted + begin, end - begin, lower);
        if (run != sorted + begin) ::std::copy(run, run + (end - begin), sorted + begin);
      }
    }
    for (int64 i = 0; i < n; ++i) order[i] = sorted[i].position;
  }
}

/// Runs `body(o)` for all segments: on several threads, where each is sorted by one.
template <class F>
void each_segment(const detail::segments& s, bool alone, const F& body) {
  const int64 parts = alone ? ::std::min(parts_for(s.outer * s.n * 8), s.outer) : 1;
  parallel(::std::max<int64>(parts, 1), [&](int64 part) {
    const int64 whole = ::std::max<int64>(parts, 1);
    for (int64 o = s.outer * part / whole; o < s.outer * (part + 1) / whole; ++o) body(o);
  });
}

/// Runs `together(o, space)`, `bytes` of it, for groups of N segments, from o on, on several threads, and `one(o)` for
/// those that are left and where `together` says false. There are N segments at least.
template <int N, class Together, class One>
void group_segments(const detail::segments& s, int64 bytes, const Together& together, const One& one) {
  const int64 parts = ::std::max<int64>(1, ::std::min(parts_for(s.outer * s.n * 4), s.outer / N));
  parallel(parts, [&](int64 part) {
    const scratch space(bytes);
    for (int64 o = s.outer * part / parts, end = s.outer * (part + 1) / parts, next; o < end; o = next) {
      next = ::std::min(o + N, end);
      if (next - o == N && together(o, static_cast<void*>(space.p))) continue;
      for (int64 row = o; row < next; ++row) one(row);
    }
  });
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
