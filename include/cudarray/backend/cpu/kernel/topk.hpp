// The largest or smallest elements of segments on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "sorting.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// An element's place in the order that is asked for, what comes first being the least: its key, and where it stands.
struct wide_place {
  uint64 key;
  int64 at;
  bool operator<(const wide_place& o) const { return key != o.key ? key < o.key : at < o.at; }
  static wide_place of(uint64 key, int64 at) { return {key, at}; }
  static wide_place last() { return {~uint64(0), INT64_MAX}; }
  /// Puts two in order.
  static void order(wide_place& a, wide_place& b) {
    if (b < a) ::std::swap(a, b);
  }
  int64 position() const { return at; }
};
/// The same in one number: keys of at most 32 bits, fewer than 2^32 positions.
struct packed_place {
  uint64 both;
  bool operator<(const packed_place& o) const { return both < o.both; }
  static packed_place of(uint64 key, int64 at) { return {key << 32 | uint64(at)}; }
  static packed_place last() { return {~uint64(0)}; }
  static void order(packed_place& a, packed_place& b) {
    const uint64 low = a.both < b.both ? a.both : b.both;
    b.both = a.both < b.both ? b.both : a.both;
    a.both = low;
  }
  int64 position() const { return int64(both & 0xffffffffu); }
};

inline constexpr int64 short_top = 16;           ///< so few are kept in order
inline constexpr int64 short_top_segment = 256;  ///< of so short a one all places are made first

/// The key of an element in the order that is asked for.
template <class T>
CUDARRAY_FORCE_INLINE auto top_key(T v, bool largest) {
  using K = decltype(sort_key(v));
  return K(sort_key(v) ^ (largest ? K(~K(0)) : K(0)));
}
template <class Place, class T>
CUDARRAY_FORCE_INLINE Place place_of(T v, bool largest, int64 i) {
  return Place::of(top_key(v, largest), i);
}
/// Puts a place among k that are in order; the last of these falls out.
template <class Place>
CUDARRAY_FORCE_INLINE void insert_place(Place* places, int64 k, Place p) {
  for (int64 j = 0; j < k; ++j) Place::order(places[j], p);  // what comes after it is pushed on
}

/// The first k places of a segment, found by going over it once; once as many are known, most elements need no more
/// than a comparison. A few are kept in order. More are collected up to twice k, then all but the first k are dropped.
template <class T, class Place>
class top_finder {
 public:
  static constexpr int N = lanes_for<4>, step = 4 * N;
  static constexpr bool packable = ::std::is_arithmetic_v<T> && !::std::is_same_v<T, bool>;

  /// Room for so many places in a part of n elements.
  static int64 room(int64 k, int64 n) { return k <= short_top ? k : ::std::min(n, 2 * k + 2 * step); }
  /// Of a segment that begins at `from`.
  top_finder(const T* from, int64 k, bool largest, Place* space, int64 room)
      : from_(from), k_(k), room_(room), largest_(largest), few_(k <= short_top), place_(space) {
    if (few_) ::std::fill(space, space + k, Place::last());
  }

  /// Goes over the elements [i, end); then the first min(k, elements) places are there, in no order.
  CUDARRAY_NO_INLINE void go_over(int64 i, int64 end) {
    while (i < end) {
      if (!has_room(1)) {
        drop();
      } else if (packable && full_) {
        i = largest_ ? pass<true>(i, end) : pass<false>(i, end);
      } else {
        for (; i < end && has_room(1) && !(packable && full_); ++i) take(i);
      }
    }
    if (size_ > k_) drop();
  }
  int64 size() const { return size_; }

 private:
  bool has_room(int64 n) const { return few_ || room_ - size_ >= n; }
  void take(int64 i) {
    const Place p = place_of<Place>(from_[i], largest_, i);
    if (!few_) {
      place_[size_] = p;
      size_ += !full_ || p < last_;
    } else if (!full_ || p < last_) {
      insert_place(place_, k_, p);
      last_ = place_[k_ - 1];
      if (!full_) full_ = ++size_ == k_;
    }
  }
  void drop() {
    ::std::nth_element(place_, place_ + k_ - 1, place_ + size_);
    size_ = k_;
    last_ = place_[k_ - 1];
    full_ = true;
  }
  /// As far as there is room. Elements that do not come before the last of k are passed over by packs.
  template <bool Largest>
  int64 pass(int64 i, int64 end) {
    if constexpr (packable) {
      T last = from_[last_.position()];
      const auto passed = [](const auto& v, const auto& bound) {  // not true of NaN, of which nothing is known
        return Largest ? v <= bound : v >= bound;
      };
      for (; end - i >= step && has_room(step); i += step) {
        const auto bound = simd::splat<T, N>(last);
        const auto before = [&](int g) { return !passed(simd::load_lanes<T, N>(from_ + i + g * N), bound); };
        if (!any((before(0) | before(1)) | (before(2) | before(3)))) continue;
        for (int64 j = i; j < i + step; ++j)
          if (!passed(from_[j], last)) take(j);
        last = from_[last_.position()];
      }
      if (end - i >= step) drop();
      else
        for (; i < end && has_room(1); ++i)
          if (!passed(from_[i], last)) take(i);
    }
    return i;
  }

  const T* from_;
  int64 k_, room_, size_ = 0;
  bool largest_, few_, full_ = false;  ///< full: k are known
  Place last_{};                       ///< of the first k, once they are
  Place* place_;
};

/// A few of a short segment, in order. All places are made first: by themselves they are, and without jumps.
template <class Place, class T>
CUDARRAY_NO_INLINE void find_short_top(const T* from, int64 n, int64 k, bool largest, Place* found) {
  Place places[short_top_segment];
  for (int64 i = 0; i < n; ++i) places[i] = place_of<Place>(from[i], largest, i);
  Place last = Place::last();
  ::std::fill(found, found + k, last);
  for (int64 i = 0; i < n; ++i)
    if (places[i] < last) {
      insert_place(found, k, places[i]);
      last = found[k - 1];
    }
}

/// The same of as many segments as a pack has lanes, a segment in each: row j of `found` is their places of rank j.
/// `space` is room for two groups of keys.
template <class T>
void find_tops_together(const T* from, int64 n, int64 k, bool largest, uint64* space, uint64* found) {
  using network = sort_network<uint64>;
  using pack = typename network::pack;
  constexpr int N = network::N;
  lay_keys(from, n, space, space + n * N, [=](T v) { return top_key(v, largest); });
  for (int64 j = 0; j < k; ++j) simd::store_lanes(found + j * N, simd::splat<uint64, N>(~uint64(0)));
  for (int64 i = 0; i < n; ++i) {
    pack p = network::load(space + i * N);
    if (!any(p < network::load(found + (k - 1) * N))) continue;
    for (int64 j = 0; j < k; ++j) {
      const pack q = network::load(found + j * N);
      const auto before = p < q;
      simd::store_lanes(found + j * N, select(before, p, q));
      p = select(before, q, p);
    }
  }
}

/// The first k of n places in order.
template <class Place>
void order_places(Place* p, int64 n, int64 k) {
  if (n > k) ::std::nth_element(p, p + k, p + n);
  if constexpr (::std::is_same_v<Place, packed_place>) {
    if (k >= 1024) {
      const scratch space(k * int64(sizeof(Place)));
      auto* const other = reinterpret_cast<Place*>(space.p);
      const auto key = [](const Place& v) { return v.both; };
      if (const Place* const sorted = radix_sort(p, p, other, k, key); sorted != p) ::std::copy(sorted, sorted + k, p);
      return;
    }
  }
  ::std::sort(p, p + k);
}

template <class T, class Place>
detail::top_elements find_top(cpu device, const detail::segments& s, int64 k, bool largest) {
  detail::top_elements r{allocate(device, ::std::size_t(s.outer * k) * sizeof(T)),
                         allocate(device, ::std::size_t(s.outer * k) * sizeof(int64))};
  detail::count(detail::counters.kernels);
  using finder = top_finder<T, Place>;
  const int64 parts = s.n < shared_segment || s.outer >= num_threads() ? 1 : ::std::min<int64>(num_threads(), 16);
  const int64 room = finder::room(k, (s.n + parts - 1) / parts);
  const auto store = [&](int64 o, int64 i, int64 position) {
    static_cast<T*>(r.values->data)[o * k + i] = s.at<const T>()[o * s.n + position];
    static_cast<int64*>(r.positions->data)[o * k + i] = position;
  };
  const auto store_all = [&](int64 o, const Place* places) {
    for (int64 i = 0; i < k; ++i) store(o, i, places[i].position());
  };
  const auto one = [&](int64 o) {
    const T* const from = s.at<T>() + o * s.n;
    if (k <= short_top && s.n <= short_top_segment) {
      Place places[short_top];
      find_short_top(from, s.n, k, largest, places);
      return store_all(o, places);
    }
    const scratch space(parts * room * int64(sizeof(Place)));
    Place* const places = reinterpret_cast<Place*>(space.p);
    int64 found[16];
    parallel(parts, [&](int64 part) {
      finder f(from, k, largest, places + part * room, room);
      f.go_over(s.n * part / parts, s.n * (part + 1) / parts);
      found[part] = f.size();
    });
    int64 all = found[0];
    for (int64 part = 1; part < parts; all += found[part++])
      ::std::copy(places + part * room, places + part * room + found[part], places + all);
    order_places(places, all, k);
    store_all(o, places);
  };
  if constexpr (::std::is_same_v<Place, packed_place>) {
    using network = sort_network<uint64>;
    constexpr int N = network::N;
    if (N >= 4 && k <= short_top && s.n <= network::limit && s.outer >= N) {
      group_segments<N>(
          s, (2 * s.n + k) * N * int64(sizeof(uint64)),
          [&](int64 o, void* space) {
            auto* const keys = static_cast<uint64*>(space);
            uint64* const found = keys + 2 * s.n * N;
            find_tops_together(s.at<const T>() + o * s.n, s.n, k, largest, keys, found);
            for (int lane = 0; lane < N; ++lane)
              for (int64 i = 0; i < k; ++i) store(o + lane, i, packed_place{found[i * N + lane]}.position());
            return true;
          },
          one);
      return r;
    }
  }
  each_segment(s, parts == 1, one);
  return r;
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
