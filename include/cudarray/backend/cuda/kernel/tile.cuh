// The kernel of maps with an operand along another axis: tiles go through shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/tile.hpp"
#include "lanes.cuh"
#include "launch.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Lanes as tiles pass them on: E = 1, V elements; otherwise V cells of E words with E elements each.
template <int E, int V, int Operands, class... Trees>
struct tile_access : basic_access<(E > 1), V * E * E, Operands, Trees...> {
  static constexpr int words = E, count = V;
  const int64* across;  ///< words from one of a cell to the next

  template <class T>
  using unit = ::std::conditional_t<E == 1, T, uint32>;
  template <class T>
  struct units {
    unit<T> v[V][E];
  };
  /// n of operand Ix, the others are zero.
  template <int Ix, class T>
  __device__ units<T> fetch(const T* p, int n) const {
    const unit<T>* q = reinterpret_cast<const unit<T>*>(p) + this->offset[Ix];
    const int64 step = this->space->lane_step[Ix] * int64(sizeof(unit<T>)), row = across[Ix] * int64(sizeof(unit<T>));
    units<T> r;
#pragma unroll
    for (int k = 0; k < V; ++k, q = step_bytes(q, step)) {
      const unit<T>* w = q;
#pragma unroll
      for (int i = 0; i < E; ++i) {
        r.v[k][i] = {};
        if (k < n) r.v[k][i] = load_one(w);
        if (i + 1 < E) w = step_bytes(w, row);
      }
    }
    return r;
  }
  template <int Ix, class T>
  __device__ void store(T* p, const lanes<T, V * E * E>& v) const {
    const auto r = repack<units<T>>(v);
    unit<T>* q = reinterpret_cast<unit<T>*>(p) + this->offset[Ix];
    const int64 step = this->space->lane_step[Ix] * int64(sizeof(unit<T>)), row = across[Ix] * int64(sizeof(unit<T>));
#pragma unroll
    for (int k = 0; k < V; ++k, q = step_bytes(q, step)) {
      unit<T>* w = q;
#pragma unroll
      for (int i = 0; i < E; ++i) {
        if (k < this->inside) *w = r.v[k][i];
        if (i + 1 < E) w = step_bytes(w, row);
      }
    }
  }
};

/// One of the loads of a tile: which lanes it fetches, and, if transposed, how they pass through shared memory from the
/// threads that read them to those that use them.
template <class Access, int Widest>
struct tile_part {
  enum { fetch, pass_in, pass_out } stage;
  Access& a;
  uint64 transposed;
  int inside, inside_transposed, slot;  ///< slot: elements of shared memory for an operand, or for a word of its cells
  int place, lane;                      ///< there: of the thread's first lane, and from lane to lane
  char* shared;
  template <int Ix, class T>
  __device__ void operator()(const detail::load<Ix, T>& l) const {
    constexpr int E = Access::words;
    using units = typename Access::template units<T>;
    using unit = typename Access::template unit<T>;
    auto& held = a.template held<Ix, T>();
    const bool turns = transposed >> Ix & 1;
    if (stage == fetch) {
      held = repack<::std::remove_reference_t<decltype(held)>>(
          a.template fetch<Ix>(l.p, turns ? inside_transposed : inside));
    } else if (turns) {
      auto value = repack<units>(held);
      unit* t = reinterpret_cast<unit*>(shared + __popcll(transposed & ((uint64(1) << Ix) - 1)) * (slot * E * Widest)) +
                place;
      const int n = stage == pass_in ? inside_transposed : inside;
#pragma unroll
      for (int k = 0; k < Access::count; ++k, t = step_shared_bytes(t, lane * int(sizeof(unit)))) {
        if constexpr (E > 1)
          if (stage == pass_in) turn_square(value.v[k]);
        unit* w = t;
#pragma unroll
        for (int i = 0; i < E; ++i) {
          if (k < n) {
            if (stage == pass_in) *w = value.v[k][i];
            else value.v[k][i] = *w;
          }
          if (i + 1 < E) w = step_shared_bytes(w, slot * int(sizeof(unit)));
        }
      }
      if (stage == pass_out) held = repack<::std::remove_reference_t<decltype(held)>>(value);
    }
  }
  template <class L>
  __device__ void operator()(const L&) const {}
};

/// Tiles of three axes, x, r and y. Operand 0 is contiguous along x; the operands in `transposed` are along y: threads
/// next to each other read those along y and everything else along x, then along r; U groups of V lanes go across. The
/// rows of skewed tiles begin where their memory is aligned. With two operands five blocks instead of four on a
/// multiprocessor make a + b.T 7 % faster. E > 1: places are cells of E words with E elements each (`in_words`).
template <int E, int U, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads, E > 1                            ? 3
                                                 : registers<1, Tree>::count <= 2 ? 5
                                                                                  : 1)
    tile_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ tile_plan<Operands> s) {
  in_stream_order();
  extern __shared__ __align__(16) char shared[];
  using part = tile_part<tile_access<E, V, Operands, Tree>, E == 1 ? Tree::widest : 4>;
  int b = int(blockIdx.x);
  int begin[3];  // of this tile, along x, r and y
#pragma unroll
  for (const int axis : {0, 2, 1}) {
    const int rest = s.along[axis].divide(b);
    begin[axis] = (b - rest * int(s.along[axis].divisor)) * s.tile[axis];
    b = rest;
  }
  tile_access<E, V, Operands, Tree> a[U];
  a[0].start(s.threads);
  a[0].across = s.across;
  if (s.threads.ndim > 0) go_to(s.threads, b, 0, s.threads.ndim, a[0].offset);
  // of skewed tiles: reading begins so far before the columns that are written
  const int early = s.alignment > 1 && begin[0] > 0 ? s.alignment : 0;
  const tile_place out = s.out.place(int(threadIdx.x)), in = s.in.place(int(threadIdx.x));
  const int row = begin[2] + out.c[2], deep_row = begin[1] + out.c[1];
  int before = 0;  // all rows of a thread are so far off alignment
  if (s.alignment > 1)
    before = int((uint32(s.lead) + uint32(a[0].offset[0]) + uint32(deep_row) * uint32(s.step[0][1]) +
                  uint32(row) * uint32(s.step[0][2])) &
                 uint32(s.alignment - 1));
  // from here on places are in the space, but for those in shared memory
  const int from[3] = {begin[2] + in.c[0], begin[1] + in.c[1], begin[0] - early + in.c[2]};
  const int to[3] = {begin[0] + out.c[0] - before, deep_row, row};
#pragma unroll
  for (int k = 0; k < Operands; ++k)
#pragma unroll
    for (int i = 0; i < 3; ++i) a[0].offset[k] += int64(s.transposed >> k & 1 ? from[i] : to[i]) * s.step[k][i];
  const auto end = [&](int axis, int from, int size) {
    return s.tiled[axis] - from < size ? s.tiled[axis] : from + size;
  };
  const int end_x = end(0, begin[0] - early, s.box), end_r = end(1, begin[1], s.tile[1]),
            end_y = end(2, begin[2], s.tile[2]), written = begin[0] - before + s.tile[0],
            last_x = written < end_x ? written : end_x;
  int inside_transposed[U];
#pragma unroll
  for (int u = U - 1; u >= 0; --u) {
    if (u > 0) {
      a[u] = a[0];
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[u].offset[k] += u * s.group_step[k];
    }
    const int x = to[0] + u * s.out.group[0];
    const bool valid = x >= begin[0] - early && to[1] < end_r;
    a[u].inside = valid ? s.out.inside(x, last_x, to[2] + u * s.out.group[1], end_y, V) : 0;
    inside_transposed[u] =
        from[1] < end_r ? s.in.inside(from[0] + u * s.in.group[0], end_y, from[2] + u * s.in.group[1], end_x, V) : 0;
    detail::for_each_operand(tree,
                             part{part::fetch, a[u], s.transposed, a[u].inside, inside_transposed[u], 0, 0, 0, shared});
  }
  const int first_in = s.in.shared(in.c), first_out = s.out.shared(out.c) + early - before;
#pragma unroll
  for (int u = 0; u < U; ++u)
    detail::for_each_operand(tree, part{part::pass_in, a[u], s.transposed, 0, inside_transposed[u], s.slot,
                                        first_in + u * s.in.shared_group, s.in.shared_lane, shared});
  __syncthreads();
#pragma unroll
  for (int u = 0; u < U; ++u) {
    detail::for_each_operand(tree, part{part::pass_out, a[u], s.transposed, a[u].inside, 0, s.slot,
                                        first_out + u * s.out.shared_group, s.out.shared_lane, shared});
    if (a[u].inside > 0) put(a[u], target, lane_cast<typename Target::value_type>(tree(a[u])));
  }
}

/// E, where it and what is loaded are elements of 4 / E bytes, 1 or 2; otherwise 1.
template <class T, class List>
inline constexpr int elements_of_words = 1;
template <class T, int... Ix, class... L>
requires(sizeof(T) < 4) inline constexpr int elements_of_words<T, operand_list<operand<Ix, L>...>> =
    (... && (sizeof(L) == sizeof(T))) ? 4 / int(sizeof(T)) : 1;

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
