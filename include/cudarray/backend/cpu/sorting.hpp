// Sorting and scanning on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#if defined(CUDARRAY_HAS_HIGHWAY)
// Highway 1.0.3 does not compile for machines with all that its newest target needs, unless that target is asked for.
#if defined(__AVX512BITALG__) && defined(__VAES__) && defined(__AVXVNNI__) && !defined(HWY_WANT_AVX3_DL)
#define HWY_WANT_AVX3_DL
#endif
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>
#endif

#include "../../eval/sequences.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend {
namespace host {

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
    if (v != v) return K(~K(0));
    const K b = v == T(0) ? K(0) : __builtin_bit_cast(K, v);
    return K(b & top ? ~b : b | top);
  }
}

/// Sequences from this on are sorted by several threads each.
inline constexpr int64 shared_sequence = 262144;

/// An element, and where it stood.
template <class T>
struct keyed {
  detail::unsigned_t<sizeof(T)> key;
  uint32 position;
};
template <class T>
auto sort_key(const keyed<T>& k) {
  return k.key;
}

/// Ascending, stable, some bits of the keys at a time; the sorted items are in what is returned, `to` if all bits vary.
/// `other` may be `from`. Parts of the items are counted and moved by several threads.
template <class Build, class Item>
const Item* radix_sort(const Item* a, Item* to, Item* other, int64 n) {
  constexpr int bits = 8 * int(sizeof(sort_key(*a)));
  const int width = bits <= 16 || n < 32768 ? 8 : 11, digits = (bits + width - 1) / width;
  const int64 values = int64(1) << width, parts = n < shared_sequence ? 1 : ::std::min<int64>(num_threads(), 16);
  const scratch space((parts == 1 ? digits : parts) * values * int64(sizeof(int64)));
  auto* const places = reinterpret_cast<int64*>(space.p);
  const auto digit = [&](const Item& v, int d) { return int64(sort_key(v) >> (width * d)) & (values - 1); };
  Item* b = digits % 2 == 1 || other == a ? to : other;
  if (parts == 1) {  // all digits at once
    ::std::fill(places, places + digits * values, 0);
    for (int64 i = 0; i < n; ++i)
      for (int d = 0; d < digits; ++d) ++places[d * values + digit(a[i], d)];
  }
  for (int d = 0; d < digits; ++d) {
    int64* const place = parts == 1 ? places + d * values : places;
    if (parts > 1)
      parallel(parts, [&](int64 part) {
        int64* const count = place + part * values;
        ::std::fill(count, count + values, 0);
        for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) ++count[digit(a[i], d)];
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
      for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) b[at[digit(a[i], d)]++] = a[i];
    });
    a = b;
    b = b == to ? other : to;
  }
  return a;
}

template <class T>
inline constexpr bool highway_sorts = ::std::is_arithmetic_v<T> && sizeof(T) >= 4;  // radix sorts short keys faster

/// Whether Highway's sort, on one thread, is the faster for each sequence.
template <class Build, class T>
bool by_highway(const detail::sequences& s) {
  if constexpr (!Build::highway || !highway_sorts<T>) return false;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return false;
#endif
  constexpr int64 few = 4;  // threads whose radix sort is slower
  return s.n >= 32 && (s.n < shared_sequence || s.outer >= num_threads() || num_threads() <= few);
}

/// While it stands, Highway sorts elements of 4 bytes by AVX2 on Zen 4, AMD's first processor with AVX-512: it stores
/// the lanes that a mask picks one by one, and sorts by that take 6 times as long. (Later versions of Highway have a
/// target for it.)
struct CUDARRAY_PER_BUILD highway_choice {
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
template <class Build, class T>
void sort_by_highway(const T* from, T* to, int64 n) {
  using K = detail::signed_t<sizeof(T)>;
  const auto ordered = [](auto v) {
    const K k = __builtin_bit_cast(K, v);
    return __builtin_bit_cast(decltype(v), K(k ^ (k >> (8 * int(sizeof(K)) - 1) & ::std::numeric_limits<K>::max())));
  };
  T* end = to + n;
  if constexpr (!::std::is_floating_point_v<T>) {
    ::std::copy(from, from + n, to);
    ::hwy::Sorter()(to, ::std::size_t(n), ::hwy::SortAscending());
  } else {
    const auto number = [](T v) { return v == v; };
    if (::std::all_of(from, from + n, number)) {
      ::std::transform(from, from + n, to, ordered);
    } else {
      end = to;
      for (int64 i = 0; i < n; ++i)
        if (number(from[i])) *end++ = ordered(from[i]);
      ::std::copy_if(from, from + n, end, [](T v) { return v != v; });
    }
    ::hwy::Sorter()(reinterpret_cast<K*>(to), ::std::size_t(end - to), ::hwy::SortAscending());
    ::std::transform(to, end, to, ordered);
    T* const zero = ::std::partition_point(to, end, [](T v) { return v < T(0); });
    if (zero != end && *zero == T(0)) ::std::copy_if(from, from + n, zero, [](T v) { return v == T(0); });
  }
}
#endif

/// Sequences shorter than this are sorted by comparing.
inline constexpr int64 short_sequence = 96;

/// Runs `body(o)` for all sequences: on several threads, where each is sorted by one.
template <class F>
void each_sequence(const detail::sequences& s, bool alone, const F& body) {
  const int64 parts = alone ? ::std::min(parts_for(s.outer * s.n * 8), s.outer) : 1;
  parallel(::std::max<int64>(parts, 1), [&](int64 part) {
    const int64 whole = ::std::max<int64>(parts, 1);
    for (int64 o = s.outer * part / whole; o < s.outer * (part + 1) / whole; ++o) body(o);
  });
}

/// What stands before `N` elements, and within them.
template <class Build, class Op, class T>
struct scan_kernel {
  using types = typename Op::template types<T>;
  using total = typename types::total;
  using result = typename types::result;
  static constexpr int N = lanes_for<Build, 8>;
  static constexpr bool packable =
      ::std::is_arithmetic_v<T> && !::std::is_same_v<T, bool> && ::std::is_arithmetic_v<total>;

  /// A sequence goes in blocks, so that several threads come to the bits of one: what stands before a block is combined
  /// of the totals of those before it, and a total of `N` lanes' own.
  static constexpr int64 block = 4096;
  /// Not where it would show that a total is rounded otherwise than the running one, or overflows alone.
  static constexpr bool in_blocks =
      packable && !Op::parts_overflow && (!detail::is_floating<total> || sizeof(total) > sizeof(result));

  struct lanes_total {
    simd::pack<total, N, Build> lanes = simd::splat<total, N, Build>(Op::template identity<total>());
    void add(const simd::pack<total, N, Build>& a) { lanes = Op::combine(lanes, a); }
    total value() const {
      total sum = lane(lanes, 0);
      for (int k = 1; k < N; ++k) sum = Op::combine(sum, lane(lanes, k));
      return sum;
    }
  };
  static auto load(const T* from) { return lane_cast<total>(simd::load_lanes<T, N, Build>(from)); }
  static total rest(const T* from, int64 i, int64 n, total sum) {
    for (; i < n; ++i) sum = Op::combine(sum, Op::template lift<total>(from[i], i));
    return sum;
  }

  static total total_of(const T* from, int64 n) {
    lanes_total own;
    int64 i = 0;
    for (; i + N <= n; i += N) own.add(load(from + i));
    return rest(from, i, n, own.value());
  }

  /// One block, after `before`; its own total is returned.
  static total along_block(const T* from, result* to, int64 n, total before, bool streamed) {
    const auto fill = simd::splat<total, N, Build>(Op::template identity<total>());
    auto sum = simd::splat<total, N, Build>(before);
    lanes_total own;
    int64 i = 0;
    for (; i + N <= n; i += N) {
      auto a = load(from + i);
      own.add(a);
      a = Op::combine(simd::pick_lanes<simd::moved_up<1>>(a, fill), a);
      if constexpr (N > 2) a = Op::combine(simd::pick_lanes<simd::moved_up<2>>(a, fill), a);
      if constexpr (N > 4) a = Op::combine(simd::pick_lanes<simd::moved_up<4>>(a, fill), a);
      const auto v = lane_cast<result>(Op::combine(sum, a));
      sum = Op::combine(sum, simd::pick_lanes<simd::last_lane>(a, a));
      if (streamed) simd::stream_lanes(to + i, v);
      else simd::store_lanes(to + i, v);
    }
    single(from, to, i, n, lane(sum, 0));
    return rest(from, i, n, own.value());
  }
  static total single(const T* from, result* to, int64 i, int64 n, total sum) {
    for (; i < n; ++i) {
      sum = Op::combine(sum, Op::template lift<total>(from[i], i));
      to[i] = Op::template finish<result>(sum, i + 1);
    }
    return sum;
  }

  /// One sequence without gaps, on so many threads.
  static void along(const T* from, result* to, int64 n, bool streamed, int64 threads) {
    total sum = Op::template identity<total>();
    if constexpr (!packable) {
      single(from, to, 0, n, sum);
    } else {
      int64 lead = 0;  // up to where packs of the result are aligned
      if (streamed)
        while (lead < n && reinterpret_cast<::std::uintptr_t>(to + lead) % (N * sizeof(result)) != 0) ++lead;
      sum = single(from, to, 0, lead, sum);
      from += lead, to += lead, n -= lead;
      if constexpr (!in_blocks) along_block(from, to, n, sum, streamed);
      else if (threads > 1) along_shared(from, to, n, sum, streamed, threads);
      else
        for (int64 at = 0; at < n; at += block)
          sum = Op::combine(sum, along_block(from + at, to + at, ::std::min(n - at, block), sum, streamed));
      if (streamed) simd::finish_stream();
    }
  }

  /// As many blocks at a time as stay in the threads' caches: their totals first, then they themselves.
  static void along_shared(const T* from, result* to, int64 n, total sum, bool streamed, int64 threads) {
    const int64 blocks = (n + block - 1) / block, most = threads * ((int64(1) << 19) / (block * int64(sizeof(T))));
    const scratch space(most * int64(sizeof(total)));
    total* const before = reinterpret_cast<total*>(space.p);
    for (int64 first = 0; first < blocks; first += most) {
      const int64 count = ::std::min(blocks - first, most);
      const auto each = [&](const auto& body) {
        parallel(threads, [&](int64 part) {
          for (int64 b = count * part / threads; b < count * (part + 1) / threads; ++b)
            body(b, (first + b) * block, ::std::min(n - (first + b) * block, block));
        });
      };
      each([&](int64 b, int64 at, int64 length) { before[b] = total_of(from + at, length); });
      for (int64 b = 0; b < count; ++b) sum = Op::combine(sum, ::std::exchange(before[b], sum));
      each([&](int64 b, int64 at, int64 length) { along_block(from + at, to + at, length, before[b], streamed); });
    }
  }

  /// Neighbouring sequences, `pitch` apart in each step.
  static void across(const T* from, result* to, int64 n, int64 pitch, int64 width) {
    const scratch space(width * int64(sizeof(total)));
    total* const sum = reinterpret_cast<total*>(space.p);
    for (int64 j = 0; j < width; ++j) sum[j] = Op::template identity<total>();
    for (int64 i = 0; i < n; ++i, from += pitch, to += pitch) {
      int64 j = 0;
      if constexpr (packable)
        for (; j + N <= width; j += N) {
          const auto t = Op::combine(simd::load_lanes<total, N, Build>(sum + j),
                                     lane_cast<total>(simd::load_lanes<T, N, Build>(from + j)));
          simd::store_lanes(sum + j, t);
          simd::store_lanes(to + j, lane_cast<result>(t));
        }
      for (; j < width; ++j) {
        sum[j] = Op::combine(sum[j], Op::template lift<total>(from[j], i));
        to[j] = Op::template finish<result>(sum[j], i + 1);
      }
    }
  }
};

}  // namespace host

template <class Build, class T>
detail::storage_ref sort_sequences(cpu device, const detail::sequences& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(T));
  detail::count(detail::counters.kernels);
  const bool highway = host::by_highway<Build, T>(s);
  const host::highway_choice choice(highway ? int(sizeof(T)) : 0);
  host::each_sequence(s, highway || s.n < host::shared_sequence, [&](int64 o) {
    const T* const from = s.at<T>() + o * s.n;
    T* const to = static_cast<T*>(r->data) + o * s.n;
    if (highway) {
#if defined(CUDARRAY_HAS_HIGHWAY)
      if constexpr (host::highway_sorts<T>) host::sort_by_highway<Build>(from, to, s.n);
#endif
    } else if (s.n < host::short_sequence) {
      ::std::copy(from, from + s.n, to);
      ::std::sort(to, to + s.n, [](const T& a, const T& b) { return host::sort_key(a) < host::sort_key(b); });
    } else {
      const host::scratch space(s.n * int64(sizeof(T)));
      if (const T* sorted = host::radix_sort<Build>(from, to, reinterpret_cast<T*>(space.p), s.n); sorted != to)
        ::std::copy(sorted, sorted + s.n, to);
    }
  });
  return r;
}

template <class Build, class T>
detail::storage_ref argsort_sequences(cpu device, const detail::sequences& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(int64));
  detail::count(detail::counters.kernels);
  host::each_sequence(s, s.n < host::shared_sequence, [&](int64 o) {
    const T* const k = s.at<T>() + o * s.n;
    int64* const order = static_cast<int64*>(r->data) + o * s.n;
    if (s.n < host::short_sequence || s.n >> 32 != 0) {
      for (int64 i = 0; i < s.n; ++i) order[i] = i;
      ::std::stable_sort(order, order + s.n,
                         [k](int64 a, int64 b) { return host::sort_key(k[a]) < host::sort_key(k[b]); });
    } else {
      using item = host::keyed<T>;
      const host::scratch space(2 * s.n * int64(sizeof(item)));
      item* const items = reinterpret_cast<item*>(space.p);
      for (int64 i = 0; i < s.n; ++i) items[i] = {host::sort_key(k[i]), uint32(i)};
      const item* const sorted = host::radix_sort<Build>(items, items + s.n, items, s.n);
      for (int64 i = 0; i < s.n; ++i) order[i] = sorted[i].position;
    }
  });
  return r;
}

template <class Build, class Op, class T>
detail::storage_ref scan_sequences(cpu device, const detail::sequences& s) {
  using kernel = host::scan_kernel<Build, Op, T>;
  using result = typename kernel::result;
  constexpr int64 together = 512;  // neighbouring sequences
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(result));
  detail::count(detail::counters.kernels);
  const T* const from = s.at<const T>();
  result* const to = static_cast<result*>(r->data);
  const int64 groups = s.inner == 1 ? 1 : (s.inner + together - 1) / together, units = s.outer * groups;
  const int64 wanted = host::parts_for(s.elements() / 2);
  // few long sequences are shared out each
  const bool shared =
      kernel::in_blocks && s.inner == 1 && units < num_threads() && s.n >= 64 * kernel::block && wanted > 1;
  const bool streamed = s.n >= 1024 && host::exceeds_cache(s.elements() * int64(sizeof(result)));
  const int64 parts = shared ? 1 : ::std::max<int64>(1, ::std::min(wanted, units));
  host::parallel(parts, [&](int64 part) {
    for (int64 unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
      const int64 j = unit % groups * together, at = unit / groups * s.n * s.inner + j;
      if (s.inner == 1) kernel::along(from + at, to + at, s.n, streamed, shared ? num_threads() : 1);
      else kernel::across(from + at, to + at, s.n, s.inner, ::std::min(together, s.inner - j));
    }
  });
  return r;
}

}  // namespace cudarray::inline v0::backend

#pragma GCC diagnostic pop
