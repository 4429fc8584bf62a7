// Elementwise plans on CUDA: kernels for aligned rows, for ragged ones, for tiles with turned operands, for all else.
// SPDX-License-Identifier: MIT
#pragma once

#include "plan/map.hpp"
#include "plan/tile.hpp"
#include "ragged.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Neighbouring lanes, of which those that are computed together are whole groups.
template <int V, int Operands, class... Trees>
struct row_access : basic_access<true, V, Operands, Trees...> {
  template <int Ix, class G>
  __device__ auto generate(const G& g) const {
    if constexpr (requires { requires V % G::group == 0; }) {
      lanes<typename G::value_type, V> r;
      const int64 first = int64(uint64(this->offset[Ix]) / G::group);  // never negative: a shift
#pragma unroll
      for (int k = 0; k < V / G::group; ++k) g.fill(first + k, r.v + k * G::group);
      return r;
    } else {
      return basic_access<true, V, Operands, Trees...>::template generate<Ix>(g);
    }
  }
};

/// How many numbers of a tree's leaves are computed together, at most.
template <class Tree>
inline constexpr int computed_together = 1;
template <int Ix, class G>
requires requires { G::group; }
inline constexpr int computed_together<detail::generated<Ix, G>> = G::group;
template <class Op, class Types, class... K>
inline constexpr int computed_together<detail::apply<Op, Types, K...>> = [] {
  int most = 1;
  ((most = computed_together<K> > most ? computed_together<K> : most), ...);
  return most;
}();

/// Whether rows are read or written where an index says.
template <class Target, class Tree>
inline constexpr bool picks_rows = !Target::direct || detail::has_gathered<Tree>;

/// Rows of neighbouring lanes with wide accesses: `per_row` blocks on each row of the last axis, or, where rows are
/// short, blocks on all threads (a group of which takes `per_row` even rows); U groups of threads in a block one after
/// another, no lane outside.
template <int V, int U, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    row_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
               const __grid_constant__ thread_space<Operands> s, const divider per_row) {
  in_stream_order();
  constexpr bool taken = picks_rows<Target, Tree>;  // as wholes
  constexpr reach how = taken ? reach::taken : reach::whole;
  row_access<V, Operands, Tree, Target> a[U];
  const int x = s.ndim - 1;
  int64 block = blockIdx.x;
  a[0].start(s);
  if (__builtin_expect(x > 0 && !s.short_rows, 0)) {  // small arrays are flat, and notice every jump
    const int64 row = per_row.divide(block);
    block -= row * per_row.divisor;
    go_to(s, row, 0, x, a[0].offset);
  }
  const int64 t = block * (U * block_threads) + threadIdx.x;
  if (taken && s.even_rows) go_to(s, t, 0, 2, a[0].offset);
#pragma unroll
  for (int u = U - 1; u >= 0; --u) {
    if (u > 0) a[u] = a[0];
    const int64 at = t + u * block_threads;
    if (at >= (s.short_rows ? s.threads : s.last)) continue;
    a[u].inside = V;
    if (taken && s.even_rows) {
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[u].offset[k] += u * per_row.divisor * s.step[k][0];
    } else if (__builtin_expect(s.short_rows, 0)) {
      go_to(s, at, 0, s.ndim, a[u].offset);
    } else {
      // along a row an operand moves by ones or stands still
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (s.lane_step[k] != 0) a[u].offset[k] += at * V;
    }
    a[u].template fetch<how>(tree, target);
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) a[u].template fetch<how, true>(tree, target);
  using value = typename Target::value_type;
  if constexpr (registers<1, Tree>::count == 0) {
    lanes<value, V> v[U];  // of threads outside, too: without jumps in between all share what is constant
#pragma unroll
    for (int u = 0; u < U; ++u) v[u] = lane_cast<value>(tree(a[u]));
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (a[u].inside > 0) put(a[u], target, v[u]);
  } else {
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (a[u].inside > 0) put(a[u], target, lane_cast<value>(tree(a[u])));
  }
}

/// Every place of a space, V lanes in a thread, U groups of threads in a block one after another.
template <int V, int U, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    map_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
               const __grid_constant__ thread_space<Operands> s) {
  in_stream_order();
  lane_access<V, Operands, Tree, Target> a[U];
  const int64 t = int64(blockIdx.x) * (U * block_threads) + threadIdx.x;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    a[u].start(s);
    if (t + u * block_threads >= s.threads) continue;
    a[u].inside = lanes_inside<V>(s, go_to(s, t + u * block_threads, 0, s.ndim, a[u].offset));
    if (a[u].inside > 0) a[u].template fetch<reach::apart>(tree, target);
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) a[u].template fetch<reach::apart, true>(tree, target);
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) put(a[u], target, lane_cast<typename Target::value_type>(tree(a[u])));
}

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

/// One of the loads of a tile: which lanes it fetches, and, if turned, how they pass through shared memory from the
/// threads that read them to those that use them.
template <class Access, int Widest>
struct tile_part {
  enum { fetch, pass_in, pass_out } stage;
  Access& a;
  uint64 turned;
  int inside, inside_turned, slot;  ///< slot: elements of shared memory for an operand, or for a word of its cells
  int place, lane;                  ///< there: of the thread's first lane, and from lane to lane
  char* shared;
  template <int Ix, class T>
  __device__ void operator()(const detail::load<Ix, T>& l) const {
    constexpr int E = Access::words;
    using units = typename Access::template units<T>;
    using unit = typename Access::template unit<T>;
    auto& held = a.template held<Ix, T>();
    const bool turns = turned >> Ix & 1;
    if (stage == fetch) {
      held =
          repack<::std::remove_reference_t<decltype(held)>>(a.template fetch<Ix>(l.p, turns ? inside_turned : inside));
    } else if (turns) {
      auto value = repack<units>(held);
      unit* t =
          reinterpret_cast<unit*>(shared + __popcll(turned & ((uint64(1) << Ix) - 1)) * (slot * E * Widest)) + place;
      const int n = stage == pass_in ? inside_turned : inside;
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

/// Tiles of three axes, x, r and y. Operand 0 is contiguous along x; the operands in `turned` are along y: threads next
/// to each other read those along y and everything else along x, then along r; U groups of V lanes go across. The rows
/// of skewed tiles begin where their memory is aligned. With two operands five blocks instead of four on a
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
    for (int i = 0; i < 3; ++i) a[0].offset[k] += int64(s.turned >> k & 1 ? from[i] : to[i]) * s.step[k][i];
  const auto end = [&](int axis, int from, int size) {
    return s.tiled[axis] - from < size ? s.tiled[axis] : from + size;
  };
  const int end_x = end(0, begin[0] - early, s.box), end_r = end(1, begin[1], s.tile[1]),
            end_y = end(2, begin[2], s.tile[2]), written = begin[0] - before + s.tile[0],
            last_x = written < end_x ? written : end_x;
  int inside_turned[U];
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
    inside_turned[u] =
        from[1] < end_r ? s.in.inside(from[0] + u * s.in.group[0], end_y, from[2] + u * s.in.group[1], end_x, V) : 0;
    detail::for_each_operand(tree, part{part::fetch, a[u], s.turned, a[u].inside, inside_turned[u], 0, 0, 0, shared});
  }
  const int first_in = s.in.shared(in.c), first_out = s.out.shared(out.c) + early - before;
#pragma unroll
  for (int u = 0; u < U; ++u)
    detail::for_each_operand(tree, part{part::pass_in, a[u], s.turned, 0, inside_turned[u], s.slot,
                                        first_in + u * s.in.shared_group, s.in.shared_lane, shared});
  __syncthreads();
#pragma unroll
  for (int u = 0; u < U; ++u) {
    detail::for_each_operand(tree, part{part::pass_out, a[u], s.turned, a[u].inside, 0, s.slot,
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

/// Tiles, if they pay.
template <int E, int U, int V, class Target, class Tree, int Operands>
bool run_tiles(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s,
               const operand_info* of, const turned_axis& turn, tile_plan<Operands>& c) {
  constexpr int bytes = E == 1 ? Tree::widest : 4 * E;
  if (!plan_tiles(c, s, of, turn, U, V, most_shared / bytes, E)) return false;
  launch(device.ordinal, s.store, Operands, tile_kernel<E, U, V, Operands, Target, Tree>, dim3(unsigned(c.blocks)),
         block_threads, ::std::size_t(__builtin_popcountll(c.turned)) * ::std::size_t(c.slot) * bytes, target, tree, c);
  return true;
}

/// What is compiled of the kernels of a map.
template <class Target, class Tree>
struct map_kernels {
  using T = typename Target::value_type;
  static constexpr int loads = registers<1, Tree, Target>::count,
                       widest = int(sizeof(T)) > Tree::widest ? int(sizeof(T)) : Tree::widest,
                       read = widest_loaded<Tree, Target>,
                       moved = read > 0 && int(sizeof(T)) > read ? int(sizeof(T)) : read;
  static constexpr int V =
      lanes_for<widest, moved> < computed_together<Tree> ? computed_together<Tree> : lanes_for<widest, moved>;
  // groups: enough loads under way, few registers; a gathered element waits for its index as well
  static constexpr bool picks = picks_rows<Target, Tree>;
  static constexpr int U = loads == 0 || (loads <= 2 && picks) ? 4 : loads <= 2 ? 2 : 1;
  // the other kernels write one array, and their targets read nothing
  static constexpr bool one_result = registers<1, Target>::count == 0;
  static constexpr bool may_turn = one_result && !picks && loads > 0 && loads <= 12;
  // ragged rows: where one element at a time would not do, which it does where these are wide
  static constexpr bool lines_up = Target::direct && one_result && detail::in_lanes<Tree> && (picks || moved <= 2) &&
                                   gpu::lines_up<V, index_operands<Tree>, all_operands<Tree>>;
};

/// By tiles, if an operand lies along another axis and they pay.
template <class Target, class Tree, int Operands>
bool run_tiled(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s,
               const survey<Operands>& leaves) {
  using kernels = map_kernels<Target, Tree>;
  const turned_axis turn(s, leaves.of);
  if (turn.axis < 0) return false;
  if constexpr (constexpr int E = elements_of_words<typename Target::value_type, all_operands<Tree>>;
                E > 1 && kernels::loads <= 4 && Operands == kernels::loads + 1) {
    auto space = s;
    auto info = leaves;
    auto along = turn;
    tile_plan<Operands> c;
    if (in_words(space, info.of, along, E, c.across) &&
        run_tiles<E, 4, 4 / E>(device, target, tree, space, info.of, along, c))
      return true;
  }
  constexpr bool narrow = kernels::widest <= 4 && kernels::loads <= 4;
  constexpr int groups = narrow && kernels::loads <= 2 ? 2 : 1, lanes = narrow || kernels::loads == 1 ? 8 : 4;
  tile_plan<Operands> c;
  return run_tiles<1, groups, lanes>(device, target, tree, s, leaves.of, turn, c);
}

/// By the kernel for any layout, as covered.
template <class Target, class Tree, int Operands>
void run_general(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s,
                 const map_plan<Operands>& c) {
  using kernels = map_kernels<Target, Tree>;
  launch(device.ordinal, s.store, Operands, map_kernel<kernels::V, kernels::U, Operands, Target, Tree>,
         dim3(unsigned(c.blocks)), block_threads, 0, target, tree, c.threads);
}

/// Trees that are generated numbers as they are, of which 16 bytes are made together.
template <class Target, class Tree>
inline constexpr bool fills = false;
template <class T, int Ix, class G>
requires requires { G::group; }
inline constexpr bool fills<detail::store_to<T>, detail::generated<Ix, G>> =
    ::std::is_same_v<T, typename G::value_type> && G::group * sizeof(T) == 16;

/// Generated numbers into n neighbouring elements, aligned: U groups of threads in a block one after another.
template <int U, class G>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(typename G::value_type* to, const __grid_constant__ G numbers, const int64 n) {
  in_stream_order();
  constexpr int V = G::group;
  const int64 first = int64(blockIdx.x) * (U * block_threads) + threadIdx.x;
  lanes<typename G::value_type, V> v[U];
#pragma unroll
  for (int u = 0; u < U; ++u) numbers.fill(first + u * block_threads, v[u].v);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const int64 at = (first + u * block_threads) * V;
    if (at + V <= n) store_wide(to + at, v[u]);
    else
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (at + k < n) to[at + k] = v[u].v[k];
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Target, class Tree, int Operands>
void run_elementwise(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  static_assert(sizeof(Target) + sizeof(Tree) + sizeof(gpu::thread_space<Operands>) <= 4096,
                "a plan must fit the kernel parameters");
  // nvcc wraps a user's lambda in a class with a copy constructor, and hands it to kernels all the same
  static_assert(
      (::std::is_trivially_copyable_v<Tree> || !detail::in_lanes<Tree>)&&::std::is_trivially_copyable_v<Target>);
  using T = typename Target::value_type;
  if constexpr (gpu::fills<Target, Tree>) {
    constexpr int U = 2;
    constexpr int64 per_block = U * gpu::block_threads * (16 / int(sizeof(T)));
    if (s.ndim == 1 && s.stride[0][0] == 1 && s.stride[Tree::operand][0] == 1 &&
        reinterpret_cast<uintptr_t>(target.p) % 16 == 0) {
      gpu::launch(device.ordinal, s.store, Operands,
                  gpu::fill_kernel<U, ::std::remove_cvref_t<decltype(tree.function)>>,
                  dim3(unsigned(gpu::ceil_div(s.extent[0], per_block))), gpu::block_threads, 0, target.p, tree.function,
                  s.extent[0]);
      return;
    }
  }
  using kernels = gpu::map_kernels<Target, Tree>;
  constexpr int V = kernels::V, U = kernels::U;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  leaves.written(target);
  if constexpr (kernels::may_turn)
    if (gpu::run_tiled(device, target, tree, s, leaves)) return;
  const gpu::map_plan<Operands> c = gpu::plan_map(s, leaves.of, V, U, kernels::lines_up);
  const dim3 blocks{unsigned(c.blocks)};
  if (c.form == c.rows) {
    gpu::launch(device.ordinal, s.store, Operands, gpu::row_kernel<V, U, Operands, Target, Tree>, blocks,
                gpu::block_threads, 0, target, tree, c.threads, c.per_row);
  } else if (c.form == c.ragged) {
    if constexpr (kernels::lines_up)
      gpu::launch(device.ordinal, s.store, Operands, gpu::ragged_kernel<V, Operands, Target, Tree>, blocks,
                  gpu::block_threads, 0, target, tree, c.threads, c.per_row, c.lead, c.dense);
  } else {
    gpu::run_general(device, target, tree, s, c);
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
