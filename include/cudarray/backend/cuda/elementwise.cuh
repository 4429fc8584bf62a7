// Elementwise plans on CUDA: one kernel whose lanes go along an axis, one that turns operands in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Groups of lanes a thread works on at once: enough loads under way, few registers.
template <int Loads>
inline constexpr int groups_for = Loads <= 1 ? 4 : Loads == 2 ? 2 : 1;

/// Every place of a space, V lanes in a thread, U groups of threads in a block one after another.
template <int V, int U, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    map_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
               const __grid_constant__ thread_space<Operands> s) {
  lane_access<V, Operands, Tree, Target> a[U];
  const int64 t = int64(blockIdx.x) * (U * block_threads) + threadIdx.x;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    a[u].start(s);
    if (t + u * block_threads >= s.threads) continue;
    a[u].inside = s.template inside<V>(s.move(t + u * block_threads, 0, s.ndim, a[u].offset));
    a[u].fetch(tree, target);
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) a[u].template fetch<true>(tree, target);
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (a[u].inside > 0) put(a[u], target, lane_cast<typename Target::value_type>(tree(a[u])));
}

inline constexpr int tile_rows = 8;  ///< of threads, 32 in a row

/// A space cut into square tiles of its last two axes, y and x. Operand 0 is contiguous along x; the operands in
/// `turned` are along y: threads next to each other read those along y and everything else along x.
template <int Operands>
struct tile_space {
  thread_space<Operands> tiles;  ///< an element is a tile; the lanes go across the rows of one
  int64 height = 0, width = 0;
  int64 y_step[Operands] = {}, x_step[Operands] = {};
  uint64 turned = 0;
};

/// One of the loads of a tile: which lanes it fetches, and, if turned, how they pass through shared memory from the
/// threads that read them to those that use them.
template <class Access, int Tile, int Widest>
struct tile_part {
  static constexpr int V = Tile / tile_rows, row = Tile + 1;  // one more: a column's elements lie in different banks
  enum { fetch, pass_in, pass_out } stage;
  Access& a;
  uint64 turned;
  int inside, inside_turned, column;
  char* shared;
  template <int I, class T>
  __device__ void operator()(const detail::load<I, T>& l) const {
    auto& value = static_cast<detail::slot<I, lanes<T, V>>&>(a.loaded).value;
    const bool turns = turned >> I & 1;
    if (stage == fetch) {
      const int n = turns ? inside_turned : inside;
      if (n > 0) value = a.template read<I>(l.p, n);
    } else if (turns) {
      T* const t = reinterpret_cast<T*>(shared + __popcll(turned & ((uint64(1) << I) - 1)) * (Tile * row * Widest));
#pragma unroll
      for (int k = 0; k < V; ++k) {
        const int across = int(threadIdx.y) + k * tile_rows;
        if (stage == pass_in) t[column * row + across] = value.v[k];
        else value.v[k] = t[across * row + column];
      }
    }
  }
  template <class L>
  __device__ void operator()(const L&) const {}
};

template <int Tile, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    tile_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ tile_space<Operands> s) {
  extern __shared__ __align__(16) char shared[];
  constexpr int U = Tile / 32, V = Tile / tile_rows;
  using part = tile_part<lane_access<V, Operands, Tree>, Tile, Tree::widest>;
  const int y = s.tiles.ndim - 2, x = s.tiles.ndim - 1, i = int(threadIdx.x), j = int(threadIdx.y);
  const int64 b = blockIdx.x, rows = s.tiles.extent[x].divide(b);
  const int64 x0 = (b - rows * s.tiles.extent[x].divisor) * Tile;
  const int64 y0 = (rows - s.tiles.extent[y].divide(rows) * s.tiles.extent[y].divisor) * Tile;
  const auto within = [](int64 n) { return n <= 0 ? 0 : n > Tile - tile_rows ? V : int((n + tile_rows - 1) / tile_rows); };
  const int down = within(s.height - y0 - j), across = within(s.width - x0 - j);
  lane_access<V, Operands, Tree> a[U];
  a[0].start(s.tiles);
  s.tiles.move(b, 0, s.tiles.ndim, a[0].offset);
  int inside_turned[U];
#pragma unroll
  for (int u = U - 1; u >= 0; --u) {
    a[u] = a[0];
    const int column = i + 32 * u;
#pragma unroll
    for (int k = 0; k < Operands; ++k)
      a[u].offset[k] += s.turned >> k & 1 ? column * s.y_step[k] + j * s.x_step[k] : column * s.x_step[k] + j * s.y_step[k];
    a[u].inside = x0 + column < s.width ? down : 0;
    inside_turned[u] = y0 + column < s.height ? across : 0;
    detail::for_each_operand(tree, part{part::fetch, a[u], s.turned, a[u].inside, inside_turned[u], column, shared});
  }
#pragma unroll
  for (int u = 0; u < U; ++u)
    detail::for_each_operand(tree, part{part::pass_in, a[u], s.turned, 0, 0, i + 32 * u, shared});
  __syncthreads();
#pragma unroll
  for (int u = 0; u < U; ++u) {
    detail::for_each_operand(tree, part{part::pass_out, a[u], s.turned, 0, 0, i + 32 * u, shared});
    if (a[u].inside > 0) put(a[u], target, lane_cast<typename Target::value_type>(tree(a[u])));
  }
}

template <class Tree>
inline constexpr bool has_gathered = false;
template <int I, class T, class X>
inline constexpr bool has_gathered<detail::gathered<I, T, X>> = true;
template <class Op, class Types, class... K>
inline constexpr bool has_gathered<detail::apply<Op, Types, K...>> = (has_gathered<K> || ...);

inline int64 magnitude(int64 v) { return v < 0 ? -v : v; }

/// The axis that most operands lie along which do not lie along the last one, and those operands; -1 if tiles would not
/// pay.
template <int Operands, class Tree>
int turned_axis(const detail::iteration_space<Operands>& s, const Tree& tree, uint64& turned) {
  constexpr int64 least = 16;
  const int x = s.ndim - 1;
  int best = -1, most = 0;
  if (x < 1 || s.extent[x] < least) return -1;
  for (int y = 0; y < x; ++y) {
    if (s.extent[y] < least) continue;
    uint64 those = 0;
    int n = 0;
    detail::for_each_operand(tree, [&]<class L>(const L&) {
      if constexpr (requires { L::operand; L::p; }) {
        const int64 along_y = magnitude(s.stride[L::operand][y]), along_x = magnitude(s.stride[L::operand][x]);
        if (along_y == 0 || along_y > 2 || along_x < least) return;
        those |= uint64(1) << L::operand;
        ++n;
      }
    });
    if (n > most) best = y, most = n, turned = those;
  }
  return best;
}

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class Target, class Tree, int Operands>
void run_elementwise(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  static_assert(sizeof(Target) + sizeof(Tree) + sizeof(gpu::thread_space<Operands>) <= 4096,
                "a plan must fit the kernel parameters");
  static_assert(::std::is_trivially_copyable_v<Tree> && ::std::is_trivially_copyable_v<Target>);
  using T = typename Target::value_type;
  constexpr int widest = int(sizeof(T)) > Tree::widest ? int(sizeof(T)) : Tree::widest;
  constexpr int V = gpu::lanes_for<widest>, loads = gpu::registers<V, Tree, Target>::count;
  const int x = s.ndim - 1;
  if constexpr (Target::direct && !gpu::has_gathered<Tree> && loads > 0 && loads <= 12) {
    uint64 turned = 0;
    if (const int y = gpu::turned_axis(s, tree, turned); y >= 0) {
      constexpr int side = widest <= 4 && loads <= 4 ? 64 : 32;
      gpu::tile_space<Operands> t;
      detail::iteration_space<Operands> tiles = s;  // y moved next to x, both counted in tiles
      const auto put_axis = [&](int to, int from, int64 size) {
        tiles.extent[to] = gpu::ceil_div(s.extent[from], size);
        for (int k = 0; k < Operands; ++k) tiles.stride[k][to] = s.stride[k][from] * size;
      };
      for (int d = y; d < x - 1; ++d) put_axis(d, d + 1, 1);
      put_axis(x - 1, y, side);
      put_axis(x, x, side);
      t.tiles.template divide<1>(tiles, -1, false);
      t.height = s.extent[y], t.width = s.extent[x], t.turned = turned;
      for (int k = 0; k < Operands; ++k) {
        t.y_step[k] = s.stride[k][y], t.x_step[k] = s.stride[k][x];
        t.tiles.lane_step[k] = gpu::tile_rows * (turned >> k & 1 ? t.x_step[k] : t.y_step[k]);
      }
      const int shared = __builtin_popcountll(turned) * side * (side + 1) * Tree::widest;
      if (shared <= 48 << 10)
        return gpu::launch(device.ordinal, s.store, Operands, gpu::tile_kernel<side, Operands, Target, Tree>,
                           dim3(unsigned(t.tiles.threads)), dim3(32, gpu::tile_rows), ::std::size_t(shared), target,
                           tree, t);
    }
  }
  constexpr int U = gpu::groups_for<loads>;
  gpu::thread_space<Operands> t;
  int split = x;
  bool neighbours = false;
  if (x >= 0) {
    gpu::wide_check<V, Operands> check{s, x};
    if constexpr (Target::direct) check.look(0, target.p);
    detail::for_each_operand(tree, check);
    if constexpr (!Target::direct) detail::for_each_operand(target, check);
    neighbours = check.fits;
    if (neighbours) t.wide = check.wide;
    else if (s.extent[x] < 64)
      for (int d = 0; d < x; ++d) split = s.extent[d] > s.extent[split] ? d : split;
  }
  t.template divide<V>(s, split, neighbours);
  gpu::launch(device.ordinal, s.store, Operands, gpu::map_kernel<V, U, Operands, Target, Tree>,
              dim3(unsigned(gpu::ceil_div(t.threads, U * gpu::block_threads))), gpu::block_threads, 0, target, tree, t);
}

}  // namespace cudarray::inline v0::backend
