// Loops of running totals.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// What stands before `N` elements, and within them.
template <class Op, class T>
struct scan_kernel {
  using types = typename Op::template types<T>;
  using total = typename types::total;
  using result = typename types::result;
  static constexpr int N = lanes_for<8>;
  static constexpr bool packable =
      !::std::is_same_v<T, bool> && ::std::is_arithmetic_v<total> && (::std::is_arithmetic_v<T> || detail::is_half<T>);

  /// A segment goes in blocks, so that several threads come to the bits of one: what stands before a block is combined
  /// of the totals of those before it, and a total of `N` lanes' own.
  static constexpr int64 block = 4096;
  /// Not where it would show that a total is rounded otherwise than the running one, or overflows alone.
  static constexpr bool in_blocks =
      packable && !Op::parts_overflow && (!detail::is_floating<total> || sizeof(total) > sizeof(result));

  struct lanes_total {
    simd::pack<total, N> lanes = simd::splat<total, N>(Op::template identity<total>());
    void add(const simd::pack<total, N>& a) { lanes = Op::combine(lanes, a); }
    total value() const {
      total sum = lane(lanes, 0);
      for (int k = 1; k < N; ++k) sum = Op::combine(sum, lane(lanes, k));
      return sum;
    }
  };
  static auto load(const T* from) { return lane_cast<total>(simd::load_lanes<T, N>(from)); }
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
    // known to be zeros, clang++ shifts them in by vexpandpd: blocks took four times as long
    const volatile total none = Op::template identity<total>();
    const auto fill = simd::splat<total, N>(none);
    auto sum = simd::splat<total, N>(before);
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

  /// One segment without gaps, on so many threads.
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

  /// Neighbouring segments, `pitch` apart in each step.
  static void across(const T* from, result* to, int64 n, int64 pitch, int64 width) {
    const scratch space(width * int64(sizeof(total)));
    total* const sum = reinterpret_cast<total*>(space.p);
    for (int64 j = 0; j < width; ++j) sum[j] = Op::template identity<total>();
    for (int64 i = 0; i < n; ++i, from += pitch, to += pitch) {
      int64 j = 0;
      if constexpr (packable)
        for (; j + N <= width; j += N) {
          const auto t =
              Op::combine(simd::load_lanes<total, N>(sum + j), lane_cast<total>(simd::load_lanes<T, N>(from + j)));
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

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
