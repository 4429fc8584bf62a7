// Softmax and its kin on CUDA: rows are read once and held in registers, or read twice.
// SPDX-License-Identifier: MIT
#pragma once

#include "row_passes.cuh"
#include "row_share.cuh"
#include "row_stage.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// `deep` threads on a row of at most deep * V * block_groups elements, `used` groups of lanes in each. `Wide`: so are
/// loads; otherwise a thread's elements are `deep` apart, so that a warp's accesses lie together whatever the
/// alignment.
template <detail::row_function F, bool Wide, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ thread_space<Operands> s, const int deep, const int used, const int64 rows) {
  in_stream_order();
  using value = typename Tree::value_type;
  using T = detail::compute_t<value>;
  constexpr bool softmax = F == detail::row_function::softmax, per_row = F == detail::row_function::logsumexp;
  constexpr reach how = Wide ? reach::wide : reach::masked;
  constexpr int groups = block_groups<T>;
  // where all threads go the same way, exponentials of doubles do not wait for each other; others are ahead of memory
  constexpr bool together = sizeof(T) > 4;
  __shared__ T shared[block_threads / warp];
  const int shift = exponent_of(deep), depth = int(threadIdx.x) & (deep - 1), x_axis = s.ndim - 1;
  const int64 row = (int64(blockIdx.x) * block_threads + int(threadIdx.x)) >> shift;
  // elements of this thread
  int mine = row < rows ? (int(s.extent[x_axis].divisor) - depth + deep - 1) >> shift : 0;
  if (Wide) mine *= V;
  const auto behind = [=](int g) { return together ? g >= used : g * V >= mine; };
  const auto inside = [mine](int g) {
    const int left = mine - g * V;
    return (Wide && !together) || left >= V ? V : Wide || left < 0 ? 0 : left;
  };
  basic_access<true, V, Operands, Tree> base;
  base.start(s);
  if (row < rows) go_to(s, row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) base.offset[k] += s.step[k][x_axis] * (Wide ? depth * V : depth);
  held_row<F, Wide, groups, V, value> x;
  T largest = detail::bounds<T>::lowest;
  {
    basic_access<true, V, Operands, Tree> a[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      a[g] = base;
      a[g].inside = inside(g);
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[g].offset[k] += s.step[k][x_axis] * (g * deep * V);
      if (!together || a[g].inside > 0) a[g].template fetch<how>(tree);
    }
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      x.hold(g, tree(a[g]), a[g].inside);
      const auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) largest = larger::combine(largest, v.v[k]);
    }
  }
  largest = combine_row<larger>(largest, deep, shared);
  // where all is -inf, or +inf is there, that is logsumexp; softmax has no value
  const bool infinite = largest == detail::bounds<T>::highest || largest == detail::bounds<T>::lowest;
  const T top = !softmax && infinite ? T(0) : largest;
  T sum = 0;
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    if (behind(g)) break;
    auto v = x[g];
#pragma unroll
    for (int k = 0; k < V; ++k) sum += v.v[k] = exp_of<value>(v.v[k] - top);
    x.keep(g, v);
  }
  sum = combine_row<op::sum_op>(sum, deep, shared);
  if (row >= rows) return;
  const T logarithm = math::log(sum) + top, inverse = 1 / sum;
  if constexpr (per_row) {
    if (depth == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (behind(g)) break;
      base.offset[0] += g == 0 ? 0 : deep * V;
      base.inside = inside(g);
      auto v = x[g];
#pragma unroll
      for (int k = 0; k < V; ++k) v.v[k] = softmax ? x.power(v.v[k], top) * inverse : v.v[k] - logarithm;
      if (!together || base.inside > 0) put(base, target, lane_cast<value>(v));
    }
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
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
                ::std::size_t(r.own) * ::std::size_t(r.length) * sizeof(typename Tree::value_type), to, tree, r);
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
