// Sorting on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/sorting.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
detail::storage_ref sort_segments(cpu device, const detail::segments& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(T));
  detail::count(detail::counters.kernels);
  const auto from = [&](int64 o) { return s.at<const T>() + o * s.n; };
  const auto to = [&](int64 o) { return static_cast<T*>(r->data) + o * s.n; };
  const bool highway = host::by_highway<T>(s);
  const host::highway_choice choice(highway ? int(sizeof(T)) : 0);
  const auto one = [&](int64 o) {
    if (highway) {
#if defined(CUDARRAY_HAS_HIGHWAY)
      if constexpr (host::highway_sorts<T>) host::sort_by_highway(from(o), to(o), s.n);
#endif
    } else if (s.n < host::short_segment) {
      ::std::copy(from(o), from(o) + s.n, to(o));
      ::std::sort(to(o), to(o) + s.n, [](const T& a, const T& b) { return host::sort_key(a) < host::sort_key(b); });
    } else {
      const host::scratch space(s.n * int64(sizeof(T)));
      const T* const sorted =
          host::radix_sort(from(o), to(o), reinterpret_cast<T*>(space.p), s.n, [](T v) { return host::sort_key(v); });
      if (sorted != to(o)) ::std::copy(sorted, sorted + s.n, to(o));
    }
  };
  if constexpr (host::orders_as_number<T>) {
    using network = host::sort_network<host::order_number<T>>;
    constexpr int N = network::N;
    if (s.n > 1 && s.n <= network::limit && s.outer >= N) {
      host::group_segments<N>(
          s, s.n * N * int64(sizeof(T)),
          [&](int64 o, void* space) { return host::sort_together(from(o), to(o), s.n, space); }, one);
      return r;
    }
  }
  host::each_segment(s, highway || s.n < host::shared_segment, one);
  return r;
}

template <class T>
detail::storage_ref argsort_segments(cpu device, const detail::segments& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(int64));
  detail::count(detail::counters.kernels);
  const auto from = [&](int64 o) { return s.at<const T>() + o * s.n; };
  const auto to = [&](int64 o) { return static_cast<int64*>(r->data) + o * s.n; };
  const auto one = [&](int64 o) {
    const T* const k = from(o);
    int64* const order = to(o);
    if (s.n < host::short_segment || s.n >> 32 != 0) {
      for (int64 i = 0; i < s.n; ++i) order[i] = i;
      ::std::stable_sort(order, order + s.n,
                         [k](int64 a, int64 b) { return host::sort_key(k[a]) < host::sort_key(k[b]); });
    } else {
      host::argsort_by_radix(k, order, s.n);
    }
  };
  using network = host::sort_network<uint64>;
  constexpr int N = network::N;
  if (s.n > 1 && s.n <= 2 * network::limit && s.outer >= N)
    host::group_segments<N>(
        s, 2 * s.n * N * int64(sizeof(uint64)),
        [&](int64 o, void* space) {
          host::argsort_together(from(o), to(o), s.n, static_cast<uint64*>(space),
                                 [](T v) { return host::sort_key(v); });
          return true;
        },
        one);
  else host::each_segment(s, s.n < host::shared_segment, one);
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
