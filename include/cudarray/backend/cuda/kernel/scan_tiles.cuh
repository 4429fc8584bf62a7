// What the scans of CUDA are made of: tiles and a thread's part of them, and what tiles tell each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/scan.hpp"
#include "warp.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

template <class Op, class T>
using scan_total = typename Op::template types<T>::total;
template <class Op, class T>
using scan_result = typename Op::template types<T>::result;

/// Elements of a thread: 16, fewer where these take more than 64 bytes, but for those of one byte; whole words of 16
/// bytes.
template <class T, class R, int Widest = int(sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R))>
inline constexpr int scan_items = sizeof(T) == 1 || Widest <= 4 ? 16 : 64 / Widest;

/// Of rows that are longer than a tile of those: what passes through registers is packed there.
template <class T, class R>
inline constexpr int scan_row_items = sizeof(T) <= 2 && sizeof(R) <= 2 ? 32 : scan_items<T, R>;

/// Threads along inner at most, where segments have several tiles.
template <class Total>
inline constexpr int scan_inner_threads = sizeof(Total) > 8 ? 16 : 64;

/// A value in memory with a mark in each word, which holds four bytes of it: written and read without fences.
template <class V>
struct marked {
  static constexpr int words = (int(sizeof(V)) + 3) / 4;
  __device__ static void write(uint64* to, const V& v) {
    uint32 w[words] = {};
    memcpy(w, &v, sizeof(V));
#pragma unroll
    for (int i = 0; i < words; ++i)
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to + i)),
                   "l"(uint64(w[i]) | uint64(1) << 32)
                   : "memory");
  }
  /// False if it is not written yet.
  __device__ static bool read(const uint64* from, V& v) {
    uint32 w[words];
    bool all = true;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      uint64 word;
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                   : "=l"(word)
                   : "l"(__cvta_generic_to_global(from + i))
                   : "memory");
      w[i] = uint32(word);
      all = all && word >> 32 != 0;
    }
    memcpy(&v, w, sizeof(V));
    return all;
  }
};

/// Where a tile is, and how much of it there is.
struct scan_place {
  uint32 chunk;  ///< its number along n
  int rows, wide, many;
  int64 segment, first;  ///< its first segment and element
  int skip;              ///< elements before its row
  bool exists;
};
template <bool Rows>
__device__ scan_place scan_locate(uint32 chunk, uint32 strip, const scan_plan& p) {
  const auto left = [](int64 all, int64 at, int most) { return all - at < most ? int(all - at) : most; };
  const uint32 upper = Rows ? strip : uint32(p.strips.divide(int32(strip)));
  const int64 inner = Rows ? 1 : p.inner, outer = int64(upper) * p.many, row = int64(chunk) * p.rows,
              column = Rows ? 0 : int64(strip - upper * uint32(p.strips.divisor)) * p.wide;
  return {chunk,
          left(p.n, row, p.rows),
          Rows ? 1 : left(inner, column, p.wide),
          left(p.outer, outer, p.many),
          outer * inner + column,
          (outer * p.n + row) * inner + column,
          0,
          true};
}

/// A thread's part of a tile: `mine` elements of column c from row `row` on.
struct scan_part {
  int c, row, mine;
  __device__ scan_part(const scan_plan& p, const scan_place& w, int inner_threads_log2) {
    const int t = int(threadIdx.x), line = t >> inner_threads_log2, group = line >> p.pieces_log2,
              before = (line & ((1 << p.pieces_log2) - 1)) * p.each, left = w.many - group * p.several;
    c = t & ((1 << inner_threads_log2) - 1);
    row = group * p.several * p.rows + before;
    mine = c < w.wide && left > 0 ? (left < p.several ? left : p.several) * w.rows - before : 0;
    if (mine > p.each) mine = p.each;
  }
};

template <int Items, class F>
__device__ void scan_each(int each, const F& f) {
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k % 4 == 0 && k >= each) break;
    f(k);
  }
}
template <class Op, class T>
__device__ scan_total<Op, T> scan_lift(T v) {
  return Op::template lift<scan_total<Op, T>>(element_cast<detail::compute_t<T>>(v), 0);
}
/// What a thread's elements from `skip` on add up to. Those after the last one of a segment may be any: nothing comes
/// after them.
template <class Op, class T, int Items>
__device__ scan_total<Op, T> scan_sum(const T (&own)[Items], int each, int skip = 0) {
  scan_total<Op, T> sum = Op::template identity<scan_total<Op, T>>();
  scan_each<Items>(each, [&](int k) {
    if (k >= skip) sum = Op::combine(sum, scan_lift<Op>(own[k]));
  });
  return sum;
}
/// Hands `write(k, result)` a thread's results from `skip` on; they begin anew after every `length` elements.
template <class Op, class T, int Items, class Write>
__device__ void scan_elements(const T (&own)[Items], scan_total<Op, T> before, int each, int length, int skip,
                              const Write& write) {
  int until = length;
  scan_each<Items>(each, [&](int k) {
    if (k == until) {
      until += length;
      before = Op::template identity<scan_total<Op, T>>();
    }
    if (k >= skip) before = Op::combine(before, scan_lift<Op>(own[k]));
    write(k, Op::template finish<scan_result<Op, T>>(before, 0));
  });
}

/// What stands in a tile before a thread's elements, which add up to `sum`; for all threads of a block. The first
/// threads, one for each column, learn what the pieces of theirs add up to. `totals` has one for each thread.
template <class Op, class Total>
__device__ Total scan_within(Total sum, Total& all, Total* totals, int inner_threads_log2, int pieces_log2) {
  const int t = int(threadIdx.x), inner_threads = 1 << inner_threads_log2, units = inner_threads << pieces_log2,
            within = t & (units - 1), lane = within % warp;
#pragma unroll
  for (int by = 1; by < warp; by *= 2)
    if (by >= inner_threads && by < units) {
      const Total below = shuffle_up(sum, by);
      if (lane >= by) sum = Op::combine(below, sum);
    }
  Total below = Op::template identity<Total>();
  if (inner_threads < warp) {
    below = shuffle_up(sum, inner_threads);
    if (lane < inner_threads) below = Op::template identity<Total>();
  }
  totals[t] = sum;
  __syncthreads();
  // the last ones of each warp, or of all pieces
  const int unit = inner_threads < warp ? warp : inner_threads;
  const Total* const through = totals + (t - within - inner_threads + (t & (inner_threads - 1)));
  Total before = Op::template identity<Total>();
#pragma unroll 1
  for (int u = unit; u <= within; u += unit) before = Op::combine(before, through[u]);
  all = before;
  if (t < inner_threads)
#pragma unroll 1
    for (int u = unit; u <= units; u += unit) all = Op::combine(all, through[u]);
  return Op::combine(before, below);
}

/// Keeps a value in its register: the compiler does not work it out anew for each use. Pointers are global ones.
template <class V>
__device__ void keep(V*& v) {
  asm volatile("" : "+l"(v));
  __builtin_assume(__isGlobal(v));
}
__device__ inline void keep(int& v) { asm volatile("" : "+r"(v)); }

/// Sums of tiles are at words + 1, as a Fenwick tree (1994) of a large base: tile i tells of the last base^k tiles, for
/// the largest power that divides i + 1. So a tile asks for fewer than `base` of each level, and what it tells needs
/// lower levels only: nobody waits for a sum of all before. The first word counts the tiles that are taken: those
/// before a tile's are at work, or done.
template <class Op, class Total>
struct scan_chain {
  using mark = marked<Total>;
  uint64* words;
  const scan_plan& p;
  int c, inner_threads_log2;

  __device__ uint32 take() const { return uint32(atomicAdd(reinterpret_cast<unsigned long long*>(words), 1ull)); }
  __device__ int base_log2() const { return exponent_of(block_threads) - inner_threads_log2; }
  __device__ uint64* place(const scan_place& w, uint32 i) const {
    return words + 1 + (i * (p.outer * p.inner) + w.segment + c) * mark::words;
  }
  __device__ bool tells(const scan_place& w) const { return int(threadIdx.x) < w.wide && w.chunk + 1 < p.depth; }
  /// Tells what a tile adds up to, where that is all it has to tell.
  __device__ void tell(const scan_place& w, const Total& all) const {
    const uint32 most = (1u << base_log2()) - 1;
    if (tells(w) && (w.chunk & most) != most) mark::write(place(w, w.chunk), all);
  }
  /// What the tiles before one add up to, which itself adds up to `all`; for all threads of a block. `shared` has 16
  /// totals for each thread along inner.
  __device__ Total ask(const scan_place& w, const Total& all, Total* shared) const {
    constexpr int at_once = 2;
    const int t = int(threadIdx.x), inner_threads = 1 << inner_threads_log2, log2 = base_log2();
    const uint32 most = (1u << log2) - 1, seat = uint32(t >> inner_threads_log2);
    int level = 0;  // of what the tile tells
    while ((w.chunk >> level * log2 & most) == most) ++level;
    Total sums = Op::template identity<Total>();
    for (int from = 0, upto = level > 0 && level < p.levels ? level : p.levels; from < p.levels;
         from = upto, upto = p.levels) {
      Total sum = Op::template identity<Total>();
#pragma unroll 1
      for (int l = from; l < upto; l += at_once) {
        uint32 asked[at_once];  // one more than the tile, or none
        Total one[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const uint32 upper = w.chunk >> (l + u) * log2;
          one[u] = Op::template identity<Total>();
          asked[u] =
              l + u < upto && c < w.wide && seat < (upper & most) ? ((upper & ~most) + seat + 1) << (l + u) * log2 : 0;
        }
        bool wait;
        do {
          wait = false;
#pragma unroll
          for (int u = 0; u < at_once; ++u)
            if (asked[u] != 0) {
              if (mark::read(place(w, asked[u] - 1), one[u])) asked[u] = 0;
              else wait = true;
            }
        } while (wait);
#pragma unroll
        for (int u = 0; u < at_once; ++u) sum = Op::combine(sum, one[u]);
      }
#pragma unroll
      for (int by = warp / 2; by > 0; by /= 2)
        if (by >= inner_threads) sum = Op::combine(sum, shuffle_down(sum, by));
      const int unit = inner_threads < warp ? warp : inner_threads, units = block_threads / unit;
      if (t % unit < inner_threads) shared[t / unit * inner_threads + c] = sum;
      __syncthreads();
      for (int k = 0; k < units; ++k) sums = Op::combine(sums, shared[k * inner_threads + c]);
      if (upto == level && tells(w)) mark::write(place(w, w.chunk), Op::combine(sums, all));
      shared += units * inner_threads;
    }
    return sums;
  }
};

/// A tile of a row in shared memory: words of 16 bytes with a place left out after every 8, against bank conflicts.
/// Only elements from `lo` on and before `hi` belong to the row. They come from memory, and go there, word by word
/// where these are whole.
template <class T, int Items>
struct scan_line {
  static constexpr int wide = 16 / int(sizeof(T)), words = Items / wide;
  static constexpr int step = block_threads * 9 / 8 * 16, step_one = step / wide, bytes = words * step;
  using word = lanes<T, wide>;
  __device__ static int place(int word) { return (word + word / 8) * 16; }
  __device__ static int place_one(int t) { return place(t / wide) + t % wide * int(sizeof(T)); }
  __device__ static word fetch(const char* from) {
    const uint4 bits = *reinterpret_cast<const uint4*>(from);
    word r;
    memcpy(&r, &bits, sizeof r);
    return r;
  }
  /// A thread's share of what is on its way in, as it lies in memory: small elements do not take a register each.
  struct share {
    using held = held_lanes<true, T, wide>;
    held packed[words];
    bool aligned;
    __device__ void load(const T* from, int lo, int hi) {
      const int t = int(threadIdx.x);
      aligned = reinterpret_cast<uintptr_t>(from) % 16 == 0;
      if (aligned) {
        from += t * wide;
        keep(from);
#pragma unroll
        for (int k = 0; k < words; ++k) {
          const T* const at = from + k * block_threads * wide;
          const int left = hi - (t + k * block_threads) * wide;
          if (left >= wide) packed[k] = load_wide<wide, T, held>(at);
          else
            collect(
                packed[k], [&](int i) { return i < left; }, [&](int i) { return at + i; });
        }
      } else {
        from += t;
        keep(from);
#pragma unroll
        for (int k = 0; k < words; ++k) {
          const auto place = [k](int i) { return (k * wide + i) * block_threads; };
          collect(
              packed[k], [&](int i) { return t + place(i) >= lo && t + place(i) < hi; },
              [&](int i) { return from + place(i); });
        }
      }
    }
    __device__ void put(char* memory) const {
      const int t = int(threadIdx.x);
      if (aligned) {
#pragma unroll
        for (int k = 0; k < words; ++k)
          store_wide(reinterpret_cast<T*>(memory + place(t) + k * step), repack<word>(packed[k]));
      } else {
#pragma unroll
        for (int k = 0; k < Items; ++k)
          *reinterpret_cast<T*>(memory + place_one(t) + k * step_one) = repack<word>(packed[k / wide]).v[k % wide];
      }
    }

   private:
    /// Loads the elements at at(i) for which exists(i) holds; the others may be any.
    template <class Exists, class At>
    __device__ static void collect(word& to, const Exists& exists, const At& at) {
#pragma unroll
      for (int i = 0; i < wide; ++i)
        if (exists(i)) to.v[i] = load_one(at(i));
    }
    template <class Exists, class At>
    __device__ static void collect(packed_lanes<T, wide>& to, const Exists& exists, const At& at) {
      word one;
      collect(one, exists, at);
      to = repack<packed_lanes<T, wide>>(one);
    }
  };
  /// A thread's own elements.
  __device__ static void get(const char* memory, T (&own)[Items]) {
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const word one = fetch(memory + place(int(threadIdx.x) * words) + k * 16);
#pragma unroll
      for (int i = 0; i < wide; ++i) own[k * wide + i] = one.v[i];
    }
  }
  /// To memory that is aligned.
  __device__ static void copy_out(T* to, const char* memory, int lo, int hi) {
    const int t = int(threadIdx.x);
    to += t * wide;
    keep(to);
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const int at = (t + k * block_threads) * wide;
      const word one = fetch(memory + place(t) + k * step);
      if (at >= lo && at + wide <= hi) store_wide(to + k * block_threads * wide, one);
      else
#pragma unroll
        for (int i = 0; i < wide; ++i)
          if (at + i >= lo && at + i < hi) to[k * block_threads * wide + i] = one.v[i];
    }
  }
};

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
