// The softmax family on CUDA: rows are read once and held in registers, or read twice.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/rows.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Rows whose elements lie side by side, of any length and alignment.
template <detail::row_function F, class Make, class Tree, int Operands>
bool run_rows(cuda device, const Make& make, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using loaded = gpu::registers<1, Tree>;
  using target = decltype(make());
  using T = detail::compute_t<typename Tree::value_type>;
  constexpr int V = gpu::lanes_for<Tree::widest, gpu::widest_loaded<Tree>>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  const int x = s.ndim - 1;
  if (s.ndim != s.kept + 1 || loaded::count == 0 || s.size(0, s.ndim) == 0 || s.extent[x] > INT32_MAX / 4) return false;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  if (!per_row) leaves.of[0] = {reinterpret_cast<const void*>(256), int(sizeof(typename target::value_type))};  // new
  const int64 rows = s.size(0, s.kept), places = s.extent[x];
  for (int k = 0; k < Operands; ++k)
    if (leaves.of[k].data != nullptr && s.stride[k][x] != 1 && s.stride[k][x] != 0) return false;
  gpu::thread_space<Operands> t;
  uint64 operands = 0;
  const bool wide = places % V == 0 && gpu::wide_operands(s, leaves.of, x, V, operands) &&
                    __builtin_popcountll(operands) == loaded::count + !per_row;
  constexpr int held = gpu::block_groups<T>;
  const int64 groups = gpu::ceil_div(places, V);
  constexpr auto shared = gpu::row_share_kernel<F, V, Operands, target, Tree>;
  const int multiprocessors = gpu::multiprocessors(device.ordinal);
  const int cluster =
      gpu::compiled_for_hopper(device.ordinal, reinterpret_cast<const void*>(shared)) ? gpu::most_parts : 1;
  dim3 grid;
  int threads;
  if (const int k = gpu::equally_aligned(s, leaves.of, x, V);
      k > 0 &&
      !(wide && ::std::is_same_v<typename Tree::value_type, float> &&  // rows_kernel is faster; it spills by others
        groups <= gpu::block_threads * held) &&
      (per_row || gpu::aligned_as_new(s, leaves.of[k], k, x, V)) &&
      gpu::share_rows(rows, groups, per_row, cluster, multiprocessors, grid, threads)) {
    t.divide(s, 1, x, true);
    t.wide = 1;
    gpu::launch_clusters(grid.y, device.ordinal, s.store, Operands, shared, grid, unsigned(threads), 0, make(), tree, t,
                         {int32(places), int32(gpu::ceil_div(groups, grid.y)), gpu::off_alignment(leaves.of[k], V)});
    return true;
  }
  if (gpu::staged_rows<Operands> r; r.cover(s, leaves.of, V, wide, per_row, gpu::stage_groups<T>, multiprocessors)) {
    const target to = make();
    gpu::launch(device.ordinal, s.store, Operands, gpu::row_stage_kernel<F, V, Operands, target, Tree>,
                unsigned(r.blocks), gpu::block_threads,
                ::std::size_t(r.block_rows) * ::std::size_t(r.length) * sizeof(typename Tree::value_type), to, tree, r);
    return true;
  }
  if (groups <= gpu::block_threads * held) {
    t.divide(s, wide ? V : 1, x, true);
    t.wide = wide ? operands : 0;
    int deep = gpu::power_of_two_above(gpu::ceil_div(groups, held), gpu::block_threads);
    // whole lines of memory, where rows have them; halves of those of short rows
    while (deep < gpu::warp && (deep * 4 < groups || (!per_row && deep < 4 && deep * 4 == groups) ||
                                (!wide && deep < 8 && deep * (V < 4 ? 4 : V) < places)))
      deep *= 2;
    if (!wide)
      for (int k = 0; k < Operands; ++k) t.lane_step[k] = deep * s.stride[k][x];
    const target to = make();
    gpu::launch(device.ordinal, s.store, Operands,
                wide ? gpu::rows_kernel<F, true, V, Operands, target, Tree>
                     : gpu::rows_kernel<F, false, V, Operands, target, Tree>,
                dim3(unsigned(gpu::ceil_div(rows, gpu::block_threads / deep))), gpu::block_threads, 0, to, tree, t,
                deep, int(gpu::ceil_div(groups, deep)), rows);
    return true;
  }
  constexpr auto passes = gpu::row_passes_kernel<F, V, Operands, target, Tree, T>;
  t.divide(s, 1, x, true);
  const gpu::row_cover r = gpu::cover_rows(rows, places, !per_row, cluster, multiprocessors);
  for (int k = 0; k < Operands; ++k) t.lane_step[k] = r.threads * s.stride[k][x];
  const target to = make();
  detail::storage_ref found;
  if (r.parts > 1) found = allocate(device, ::std::size_t(rows * r.parts) * sizeof(gpu::row_part<T>));
  const auto run = [&](gpu::row_cover::phase phase, int parts) {
    gpu::launch_clusters(phase == gpu::row_cover::both ? unsigned(parts) : 1, device.ordinal, s.store, Operands, passes,
                         dim3(unsigned(rows), unsigned(parts)), unsigned(r.threads), 0, to, tree, t, r, phase,
                         static_cast<gpu::row_part<T>*>(found.get() ? found->data : nullptr));
  };
  if (r.parts <= cluster) {
    run(gpu::row_cover::both, r.parts);
  } else {
    run(gpu::row_cover::first, r.parts);
    run(gpu::row_cover::second, per_row ? 1 : r.parts);
  }
  return true;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
