// A row of an elementwise plan on the CPU: by packs as far as they go, element by element from there.
// SPDX-License-Identifier: MIT
#pragma once

#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// How the elements of a row are computed and written.
struct row_form {
  bool packs;     ///< operands in memory have steps of 0 or 1, what is written 1
  bool streamed;  ///< past the caches
  bool apart;     ///< the target is not read, so that some elements may be written twice
};

/// Elements of packs [begin, begin + count * N).
struct pack_run {
  int64 begin, count;
  bool streamed;
};
/// Cuts [i, n), with at least a pack in it, into runs of packs of N elements: with an unaligned one in front of
/// streamed ones, and one that reaches back at the end. Returns how many runs there are; `i` is what is left to single
/// elements.
inline int cut_row(pack_run (&run)[3], int64& i, int64 n, int64 N, int64 misaligned, row_form form) {
  int runs = 0;
  if (form.streamed && misaligned != 0) {
    run[runs++] = {i, 1, false};
    i += N - misaligned;
  }
  run[runs] = {i, (n - i) / N, form.streamed};
  i += run[runs++].count * N;
  if (i < n && form.apart) {
    run[runs++] = {n - N, 1, false};
    i = n;
  }
  return runs;
}

/// What a row kernel reads: where results go, and what is computed.
template <class Target, class Tree>
struct map_body {
  const Target& target;
  const Tree& tree;
};
template <class Target, class Tree>
inline constexpr bool pack_map = Target::direct&& Tree::packable&& detail::has_lanes<typename Target::value_type>;

/// Random numbers, of which a block of words gives two or four, are made a pack of blocks at a time.
template <class Tree>
inline constexpr bool makes_numbers = false;
template <int Ix, class G>
requires requires { G::group; }
inline constexpr bool makes_numbers<detail::generated<Ix, G>> = ::std::is_floating_point_v<typename G::value_type> ||
                                                                ::std::is_same_v<typename G::value_type, uint32> ||
                                                                ::std::is_same_v<typename G::value_type, int64>;

/// The numbers of blocks `block` to `block + N - 1` in order.
template <int N, class G>
CUDARRAY_FORCE_INLINE void number_packs(const G& g, int64 block, simd::pack<typename G::value_type, N>* to) {
  const auto ahead = simd::from_lanes<uint32, N>([](int k) { return uint32(k); });
  const auto words = g.from.at(uint64(block), ahead);
  const auto a = g.number(words, 0), b = g.number(words, 1);
  if constexpr (G::group == 2) {
    to[0] = simd::interleave<false>(a, b);
    to[1] = simd::interleave<true>(a, b);
  } else {
    const auto c = g.number(words, 2), d = g.number(words, 3);
    const auto ac = simd::interleave<false>(a, c), bd = simd::interleave<false>(b, d),
               ac2 = simd::interleave<true>(a, c), bd2 = simd::interleave<true>(b, d);
    to[0] = simd::interleave<false>(ac, bd);
    to[1] = simd::interleave<true>(ac, bd);
    to[2] = simd::interleave<false>(ac2, bd2);
    to[3] = simd::interleave<true>(ac2, bd2);
  }
}

/// Where packs of a row are written, N elements from k on.
template <class Target>
struct row_writer;
template <class T>
struct row_writer<detail::store_to<T>> {
  T* to;
  row_writer(const detail::store_to<T>& target, const int64* offset) : to(target.p + offset[0]) {}
  /// By how many elements element i is off alignment for packs of N.
  int64 misaligned(int64 i, int64 N) const {
    return int64(reinterpret_cast<::std::uintptr_t>(to + i) / sizeof(T) % ::std::size_t(N));
  }
  template <class V>
  CUDARRAY_FORCE_INLINE void store(int64 k, const V& v) const {
    simd::store_lanes(to + k, v);
  }
  template <class V>
  CUDARRAY_FORCE_INLINE void stream(int64 k, const V& v) const {
    simd::stream_lanes(to + k, v);
  }
};
/// Of several arrays, none of which goes past the caches.
template <int First, class... T>
struct row_writer<detail::store_several<First, T...>> {
  const detail::store_several<First, T...>& target;
  const int64* offset;
  row_writer(const detail::store_several<First, T...>& to, const int64* at) : target(to), offset(at) {}
  int64 misaligned(int64, int64) const { return 0; }
  template <class V>
  CUDARRAY_FORCE_INLINE void store(int64 k, const V& v) const {
    target.each([&]<int J, int Ix, class P>(P* to) {
      if (to != nullptr) simd::store_lanes(to + offset[Ix] + k, detail::get<J>(v));
    });
  }
  template <class V>
  CUDARRAY_FORCE_INLINE void stream(int64 k, const V& v) const {
    store(k, v);
  }
};

/// Whether nothing is read of the arrays that are written.
template <class Target, int Operands>
bool writes_apart(const detail::iteration_space<Operands>& s) {
  constexpr int results = detail::results_of<Target>, first = Operands - results + 1;
  bool apart = true;
  for (int j = 0; j < results; ++j)
    for (int k = 1; k < first; ++k) apart = apart && s.store[k] != s.store[j == 0 ? 0 : first + j - 1];
  return apart;
}

/// Lanes of the packs of a map; 1: it has none.
template <class Target, class Tree>
inline constexpr int map_lanes = [] {
  if constexpr (pack_map<Target, Tree>) {
    constexpr int own = detail::computed_bytes<typename Target::value_type>;
    return lanes_for<(own > Tree::widest ? own : Tree::widest)>;
  } else {
    return 1;
  }
}();

template <class Target, class Tree, int Operands>
void map_row(const void* plan, const int64* offsets, const int64* steps, int64 i, int64 n, row_form form) {
  // copies, which stores to the target cannot change
  const Target target = static_cast<const map_body<Target, Tree>*>(plan)->target;
  const Tree tree = static_cast<const map_body<Target, Tree>*>(plan)->tree;
  int64 offset[::std::size_t(Operands)], step[::std::size_t(Operands)];
  for (int k = 0; k < Operands; ++k) offset[k] = offsets[k], step[k] = steps[k];
  if constexpr (pack_map<Target, Tree>) {
    using value = typename Target::value_type;
    constexpr int N = map_lanes<Target, Tree>;
    const row_writer<Target> writer(target, offset);
    if constexpr (makes_numbers<Tree>) {
      constexpr int group = decltype(tree.function)::group;
      if (form.packs && step[1] == 1 && (offset[1] + i) % group == 0)
        for (; i + group * N <= n; i += group * N) {
          simd::pack<typename Tree::value_type, N> v[::std::size_t(group)];
          number_packs<N>(tree.function, (offset[1] + i) / group, v);
          for (int k = 0; k < group; ++k) writer.store(i + k * N, lane_cast<value>(v[k]));
        }
    }
    if (form.packs && n - i >= N) {
      const int64 misaligned = writer.misaligned(i, N);
      // a user's function sees each element once: no packs that overlap
      if constexpr (!detail::in_lanes<Tree>) form.apart = false, form.streamed = form.streamed && misaligned == 0;
      pack_run run[3];
      const int runs = cut_row(run, i, n, N, misaligned, form);
      bool ones = true;
      for (int k = 1; k < Operands; ++k) ones = ones && steps[k] == 1;
      for (const pack_run* r = run; r < run + runs; ++r) {
        if (ones && !r->streamed) {
          for (int64 k = r->begin, stop = k + r->count * N; k < stop; k += N)
            writer.store(k,
                         lane_cast<value>(detail::stored_values(target, tree, pack_access<N, true>{offset, step, k})));
          continue;
        }
        for (int64 k = r->begin, stop = k + r->count * N; k < stop; k += N) {
          const auto v = lane_cast<value>(detail::stored_values(target, tree, pack_access<N>{offset, step, k}));
          if (r->streamed) writer.stream(k, v);
          else writer.store(k, v);
        }
      }
    }
  }
  for (; i < n; ++i) {
    const element_access a{offset, step, i};
    target(a, detail::stored_values(target, tree, a));
  }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
