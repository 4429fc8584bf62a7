// Sorting and scanning on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

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

/// Ascending, stable, byte by byte of the keys; `a` and `b` hold n items, the sorted ones are in what is returned.
/// Parts of the items are counted and moved by several threads.
template <class Build, class Item>
Item* radix_sort(Item* a, Item* b, int64 n) {
  constexpr int digits = int(sizeof(sort_key(*a))), values = 256;
  const int64 parts = n < 262144 ? 1 : ::std::min<int64>(num_threads(), 16);
  const scratch space(parts * values * int64(sizeof(int64)));
  auto* const place = reinterpret_cast<int64(*)[values]>(space.p);
  for (int d = 0; d < digits; ++d) {
    const auto digit = [d](const Item& v) { return int(sort_key(v) >> (8 * d) & 255); };
    parallel(parts, [&](int64 part) {
      int64* const count = place[part];
      ::std::fill(count, count + values, 0);
      for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) ++count[digit(a[i])];
    });
    int64 next = 0;
    bool moves = true;
    for (int v = 0; v < values; ++v)
      for (int64 part = 0, all = 0; part < parts; ++part) {
        const int64 count = place[part][v];
        place[part][v] = next;
        next += count;
        moves = moves && (all += count) < n;
      }
    if (!moves) continue;  // all have the same digit
    parallel(parts, [&](int64 part) {
      int64* const to = place[part];
      for (int64 i = n * part / parts, end = n * (part + 1) / parts; i < end; ++i) b[to[digit(a[i])]++] = a[i];
    });
    ::std::swap(a, b);
  }
  return a;
}

/// Sequences shorter than this are sorted by comparing.
inline constexpr int64 short_sequence = 512;

/// Runs `body(o)` for all sequences: on several threads, unless each is sorted by several.
template <class F>
void each_sequence(const detail::sequences& s, const F& body) {
  const int64 parts = s.n < 262144 ? ::std::min(parts_for(s.outer * s.n * 8), s.outer) : 1;
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
  /// The product of a block may overflow where the running one does not.
  static constexpr bool in_blocks = packable && !::std::is_same_v<Op, op::prod_op>;

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
  host::each_sequence(s, [&](int64 o) {
    const T* const from = s.at<T>() + o * s.n;
    T* const to = static_cast<T*>(r->data) + o * s.n;
    if (s.n < host::short_sequence) {
      ::std::copy(from, from + s.n, to);
      ::std::sort(to, to + s.n, [](const T& a, const T& b) { return host::sort_key(a) < host::sort_key(b); });
    } else {
      const host::scratch space(s.n * int64(sizeof(T)));
      T* const other = reinterpret_cast<T*>(space.p);
      ::std::copy(from, from + s.n, to);
      if (const T* sorted = host::radix_sort<Build>(to, other, s.n); sorted != to)
        ::std::copy(sorted, sorted + s.n, to);
    }
  });
  return r;
}

template <class Build, class T>
detail::storage_ref argsort_sequences(cpu device, const detail::sequences& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(int64));
  detail::count(detail::counters.kernels);
  host::each_sequence(s, [&](int64 o) {
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
      const item* const sorted = host::radix_sort<Build>(items, items + s.n, s.n);
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
  const int64 wanted = host::parts_for(s.elements() / 2), parts = ::std::max<int64>(1, ::std::min(wanted, units));
  // few long sequences are shared out each
  const bool shared =
      kernel::in_blocks && s.inner == 1 && units < num_threads() && s.n >= 64 * kernel::block && wanted > 1;
  const bool streamed = host::exceeds_cache(s.elements() * int64(sizeof(result)));
  host::parallel(shared ? 1 : parts, [&](int64 part) {
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
