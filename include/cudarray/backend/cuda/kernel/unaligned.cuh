// Elementwise plans on CUDA whose rows are no whole accesses: wide ones all the same, brought into line in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "lanes.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// What V neighbouring lanes lie in, wherever they begin: two aligned accesses, one after the other.
template <class T, int V>
struct two_words {
  static constexpr int size = int(sizeof(T)), bytes = V * size, words = bytes / 4;
  uint32 w[2 * words];
  int off;    ///< bytes before lane 0
  bool none;  ///< nothing is picked: lanes are 0

  /// Loads lanes [begin, end) of those at `p`. Others may be any.
  __device__ void load(const T* p, int begin, int end) {
    off = int(reinterpret_cast<uintptr_t>(p) % bytes);
    const char* const first = reinterpret_cast<const char*>(p) - off;
    fetch(w, first, begin < end && off + begin * size < bytes);
    fetch(w + words, first + bytes, begin < end && off + end * size > bytes);
  }
  /// The lanes as words from lane 0 on.
  __device__ void line_up() {
#pragma unroll
    for (int by = words / 2; by > 0; by /= 2)
      if (by * 4 % size == 0) {
        const bool move = off & by * 4;
#pragma unroll
        for (int i = 0; i + by < 2 * words; ++i) w[i] = move ? w[i + by] : w[i];
      }
    if constexpr (size < 4)
#pragma unroll
      for (int i = 0; i < words; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], off % 4 * 8);
#pragma unroll
    for (int i = 0; i < words; ++i) w[i] = none ? 0 : w[i];
  }

 private:
  /// Without a jump: loads that follow are under way at once.
  __device__ static void fetch(uint32* to, const char* from, bool needed) {
    const auto at = __cvta_generic_to_global(from);
    if constexpr (words == 4)
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "l"(at), "r"(int(needed)));
    else if constexpr (words == 2)
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
                   : "=r"(to[0]), "=r"(to[1])
                   : "l"(at), "r"(int(needed)));
    else
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
                   : "=r"(to[0])
                   : "l"(at), "r"(int(needed)));
  }
};

template <int V, class List>
struct spans_of;
template <int V, int... Ix, class... T>
struct spans_of<V, operand_list<operand<Ix, T>...>> : detail::slot<Ix, two_words<T, V>>... {};

/// Whether a kernel for unaligned rows is made: not where loads of one element at a time do as well.
template <int V, uint64 Indices, class List>
inline constexpr bool lines_up = false;
template <int V, uint64 Indices, int... Ix, class... T>
requires(sizeof...(Ix) > 0) inline constexpr bool lines_up<V, Indices, operand_list<operand<Ix, T>...>> = [] {
  constexpr bool moved[] = {!(Indices >> Ix & 1)...};
  constexpr int bytes[] = {V * int(sizeof(T))...};
  int n = 0;
  for (int k = 0; k < int(sizeof...(Ix)); ++k) {
    if (moved[k] && (bytes[k] < 4 || bytes[k] > 16)) return false;
    n += moved[k];
  }
  return V > 1 && n >= 1 && n <= 3;
}();

/// V neighbouring places along the last axis, some of which may be outside of their row.
template <int V, int Operands, class Tree>
struct unaligned_access : basic_access<true, V, Operands, Tree> {
  using base = basic_access<true, V, Operands, Tree>;
  int begin;  ///< lanes before this one are outside, too
  spans_of<V, all_operands<Tree>> spans;

  /// First what says what is picked; then what is moved; then this as lanes.
  enum stage { says, moves, as_lanes };
  template <stage S>
  struct fetch_part {
    unaligned_access& a;
    template <int Ix, class T>
    __device__ void operator()(const detail::load<Ix, T>& l) const {
      constexpr bool index = (base::indices >> Ix & 1) != 0;
      if constexpr (index && S == says) {
        lanes<T, V> r;
        r.v[0] = load_one(l.p + a.offset[Ix]);
#pragma unroll
        for (int k = 1; k < V; ++k) r.v[k] = r.v[0];
        a.template held<Ix, T>() = repack<typename base::template held_as<T>>(r);
      } else if constexpr (!index && S != says) {
        move<Ix>(l.p + a.offset[Ix], true);
      }
    }
    template <int Ix, class T, class X>
    __device__ void operator()(const detail::gathered<Ix, T, X>& g) const {
      if constexpr (S == moves) {
        int64 at = lane_cast<int64>(g.index(a)).v[0];
        const bool fits = detail::resolve_index(at, g.limit, g.fault, detail::position_of<X>(a));
        move<Ix>(g.p + a.offset[Ix] + at * g.stride, fits);
      } else if constexpr (S == as_lanes) {
        move<Ix, T>(nullptr, true);
      }
    }
    template <class L>
    __device__ void operator()(const L&) const {}

   private:
    template <int Ix, class T>
    __device__ void move(const T* from, bool fits) const {
      two_words<T, V>& span = static_cast<detail::slot<Ix, two_words<T, V>>&>(a.spans).value;
      if constexpr (S == moves) {
        span.load(from, a.begin, fits ? a.inside : 0);
        span.none = !fits;
      } else {
        span.line_up();
        auto& value = a.template held<Ix, T>();
        static_assert(sizeof value == two_words<T, V>::bytes);
        memcpy(&value, span.w, sizeof value);
      }
    }
  };
  template <stage S>
  __device__ void fetch(const Tree& tree) {
    detail::for_each_operand(tree, fetch_part<S>{*this});
  }
};

/// Rows of at least V elements, whatever their alignment; `per_row` threads on each, of which the last one may have
/// nothing. `lead`: elements that the target is behind alignment. Where rows are `dense`, an access at which one ends
/// and the next one begins is put together by the latter's thread. (With two groups of threads in a block, one after
/// another as in the other kernels, picked rows of 127 took a tenth more.)
template <int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    unaligned_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                     const __grid_constant__ thread_space<Operands> s, const divider per_row, const int lead,
                     const bool dense) {
  in_stream_order();
  using access = unaligned_access<V, Operands, Tree>;
  using value = typename Target::value_type;
  constexpr int words = V * int(sizeof(value)) > 4 ? V * int(sizeof(value)) / 4 : 1;
  const int lane = int(threadIdx.x) % warp, many = int(per_row.divisor), n = int(s.last);
  const int64 t = int64(blockIdx.x) * block_threads + threadIdx.x;
  access a;
  a.start(s);
  a.begin = 0;
  int first = 0, to_end = 0;  // lane 0's distance from alignment where the row begins; threads to the next row
  if (t < s.threads) {
    const int64 row = s.index32 ? per_row.divide(int32(t)) : per_row.divide(t);
    const int thread = int(t - row * many);
    go_to(s, row, 0, s.ndim - 1, a.offset);
    first = (lead + int(a.offset[0])) & (V - 1);
    const int64 column = int64(thread) * V - first, left = s.last - column;
    if (left > 0) {
      a.begin = column < 0 ? int(-column) : 0;
      a.inside = left < V ? int(left) : V;
      to_end = t + many - thread < s.threads ? many - thread : warp;
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (!(access::indices >> k & 1)) a.offset[k] += column;
      a.template fetch<access::says>(tree);
      a.template fetch<access::moves>(tree);
    }
  }
  a.template fetch<access::as_lanes>(tree);
  lanes<value, V> v = lane_cast<value>(tree(a));
  int begin = a.begin, end = a.inside;
  // threads back to the last one of the row before, whose lanes come before `begin`
  const int rest = (n - 1) & (V - 1), back = 1 + (rest > 0) - (((first - n) & (V - 1)) + rest >= V);
  const bool joins = dense && begin > 0 && lane >= back && t >= many;
  uint32 own[words] = {}, other[words];
  memcpy(own, &v, sizeof v);
#pragma unroll
  for (int i = 0; i < words; ++i) other[i] = __shfl_sync(~0u, own[i], joins ? lane - back : lane);
  if (joins) {
#pragma unroll
    for (int i = 0; i < words; ++i) {
      const int bits = begin * int(sizeof(value)) * 8 - 32 * i;
      const uint32 theirs = bits >= 32 ? ~0u : bits <= 0 ? 0u : (1u << bits) - 1;
      own[i] = (other[i] & theirs) | (own[i] & ~theirs);
    }
    memcpy(&v, own, sizeof v);
    begin = 0;
  }
  value* const to = target.p + a.offset[0];
  if (begin == 0 && end == V) {
    store_wide(to, v);
  } else if (!(dense && end < V && lane + to_end < warp)) {  // or the next row's thread has them
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k >= begin && k < end) to[k] = v.v[k];
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
