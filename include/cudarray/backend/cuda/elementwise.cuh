// Elementwise plans on CUDA: aligned rows, unaligned ones, tiles with transposed operands, all else.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/map.cuh"
#include "kernel/tile.cuh"
#include "kernel/unaligned.cuh"
#include "plan/map.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Tiles, if they pay.
template <int E, int U, int V, class Target, class Tree, int Operands>
bool run_tiles(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s,
               const operand_info* of, const transposed_axis& turn, tile_plan<Operands>& c) {
  constexpr int bytes = E == 1 ? Tree::widest : 4 * E;
  if (!plan_tiles(c, s, of, turn, U, V, most_shared / bytes, E)) return false;
  launch(device.ordinal, s.store, Operands, tile_kernel<E, U, V, Operands, Target, Tree>, dim3(unsigned(c.blocks)),
         block_threads, ::std::size_t(__builtin_popcountll(c.transposed)) * ::std::size_t(c.slot) * bytes, target, tree,
         c);
  return true;
}

/// What is compiled of the kernels of a map.
template <class Target, class Tree>
struct map_kernels {
  static constexpr int written = widest_written<Target>, loads = registers<1, Tree, Target>::count,
                       widest = written > Tree::widest ? written : Tree::widest, read = widest_loaded<Tree, Target>,
                       moved = read > 0 && written > read ? written : read;
  static constexpr int V =
      lanes_for<widest, moved> < computed_together<Tree> ? computed_together<Tree> : lanes_for<widest, moved>;
  // groups: enough loads under way, few registers; a gathered element waits for its index as well
  static constexpr bool picks = picks_rows<Target, Tree>;
  static constexpr int U = loads == 0 || (loads <= 2 && picks) ? 4 : loads <= 2 ? 2 : 1;
  // along rows operands may stand still, and are few loads then
  static constexpr int row_U = U == 1 && loads <= 4 && moved <= 4 ? 2 : U;
  // the other kernels write one array, and their targets read nothing
  static constexpr bool one_result = registers<1, Target>::count == 0 && detail::results_of<Target> == 1;
  static constexpr bool may_turn = one_result && !picks && loads > 0 && loads <= 12;
  // unaligned rows: where one element at a time would not do, which it does where these are wide
  static constexpr bool lines_up = Target::direct && one_result && detail::in_lanes<Tree> && (picks || moved <= 2) &&
                                   gpu::lines_up<V, index_operands<Tree>, all_operands<Tree>>;
};

/// By tiles, if an operand lies along another axis and they pay.
template <class Target, class Tree, int Operands>
bool run_tiled(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s,
               const survey<Operands>& leaves) {
  using kernels = map_kernels<Target, Tree>;
  const transposed_axis turn(s, leaves.of);
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

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Target, class Tree, int Operands>
void run_elementwise(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  static_assert(sizeof(Target) + sizeof(Tree) + sizeof(gpu::thread_space<Operands>) <= gpu::parameter_bytes,
                "a plan must fit the kernel parameters");
  // nvcc wraps a user's lambda in a class with a copy constructor, and hands it to kernels all the same
  static_assert(
      (::std::is_trivially_copyable_v<Tree> || !detail::in_lanes<Tree>)&&::std::is_trivially_copyable_v<Target>);
  gpu::order_results<Target>(device.ordinal, s);
  if constexpr (gpu::fills<Target, Tree>) {
    using T = typename Target::value_type;
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
  constexpr int V = kernels::V, U = kernels::U, row_U = kernels::row_U;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  leaves.written(target);
  if constexpr (kernels::may_turn)
    if (gpu::run_tiled(device, target, tree, s, leaves)) return;
  const gpu::map_plan<Operands> c = gpu::plan_map(s, leaves.of, V, U, row_U, kernels::lines_up);
  const dim3 blocks{unsigned(c.blocks)};
  if (c.form == c.rows) {
    gpu::launch(device.ordinal, s.store, Operands, gpu::row_kernel<V, row_U, Operands, Target, Tree>, blocks,
                gpu::block_threads, 0, target, tree, c.threads, c.per_row);
  } else if (c.form == c.unaligned) {
    if constexpr (kernels::lines_up)
      gpu::launch(device.ordinal, s.store, Operands, gpu::unaligned_kernel<V, Operands, Target, Tree>, blocks,
                  gpu::block_threads, 0, target, tree, c.threads, c.per_row, c.lead, c.dense);
  } else {
    gpu::launch(device.ordinal, s.store, Operands, gpu::map_kernel<V, U, Operands, Target, Tree>, blocks,
                gpu::block_threads, 0, target, tree, c.threads);
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
