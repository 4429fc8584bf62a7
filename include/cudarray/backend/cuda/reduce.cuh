// Reductions on CUDA over any axes of any operand.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/reduce.cuh"
#include "plan/copies.hpp"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

/// Counters, all zero between kernels, that tell the last block of a kernel: the stream's, or new ones in a graph.
inline uint32* tickets_on(cuda device, const stream_ref& stream, detail::storage_ref& owned) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream->handle, &status), "cudaStreamIsCapturing");
  if (status == cudaStreamCaptureStatusNone) return stream->tickets;
  owned = allocate(device, most_tickets * sizeof(uint32));
  check(cudaMemsetAsync(owned->data, 0, most_tickets * sizeof(uint32), stream->handle), "cudaMemsetAsync");
  return static_cast<uint32*>(owned->data);
}

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Tree, int Operands>
auto plan_copies(cuda, const Tree& tree, const detail::iteration_space<Operands>& s) {
  if constexpr (gpu::registers<1, Tree>::count > 1 && !detail::has_gathered<Tree>) {
    gpu::survey<Operands> leaves;
    detail::for_each_operand(tree, leaves);
    return gpu::plan_copies(s, leaves.of);
  } else {
    return ::std::false_type{};
  }
}

template <class Target, class Tree, class Op, int Operands>
void run_reduce(cuda device, const Target& target, const Tree& tree, const Op&,
                const detail::iteration_space<Operands>& s) {
  using total = typename gpu::device_types<Op, typename Tree::value_type, false>::total;
  using loaded = gpu::registers<1, Tree>;
  constexpr int most = 192 / int(sizeof(total)), wished = gpu::lanes_for<Tree::widest, gpu::widest_loaded<Tree>>;
  constexpr int V = wished <= most ? wished
                    : most >= 8    ? 8
                    : most >= 4    ? 4
                    : most >= 2    ? 2
                                   : 1;  // totals: 48 KB a block
  static_assert(V * gpu::widest_loaded<Tree> <= 16, "accesses over the ends of rows stay in what allocate() gives");
  constexpr int U = gpu::wide_steps<V, int(sizeof(total)), Tree>, short_U = gpu::steps_under_way<V, Tree>,
                general_U = loaded::count <= 4 && V <= 4 ? 4 : 2;  // places at a time
  constexpr int shared = gpu::block_threads * V * int(sizeof(total));
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  const int multiprocessors = gpu::multiprocessors(device.ordinal);
  gpu::short_rows_plan<Operands> rows;
  if constexpr (loaded::count > 0 && !detail::has_gathered<Tree>) {
    if (gpu::plan_short_rows(rows, s, leaves.of, wished, short_U, multiprocessors))
      return gpu::launch(
          device.ordinal, s.store, Operands, gpu::short_rows_kernel<wished, short_U, Operands, Op, Target, Tree>,
          unsigned(rows.blocks), gpu::block_threads,
          ::std::size_t(short_U) * rows.stride * wished * sizeof(typename Tree::value_type), target, tree, rows);
  }
  const gpu::reduce_plan<Operands> r = gpu::plan_reduce(
      s, {leaves.of, loaded::count, V, U, general_U, Op::indexed, V <= 4 && sizeof(total) == 8,
          gpu::may_fold<typename gpu::device_types<Op, typename Tree::value_type, true>::total>, multiprocessors});
  auto* kernel = r.loads_wide() ? gpu::reduce_kernel<true, true, V, U, Operands, Op, Target, Tree>
                                : gpu::reduce_kernel<false, true, V, general_U, Operands, Op, Target, Tree>;
  int which = r.loads_wide();
  if constexpr (Op::indexed)
    if (r.count >> 31 != 0)
      kernel = gpu::reduce_kernel<false, false, V, general_U, Operands, Op, Target, Tree>, which = 2;
  static gpu::per_device resident[3];  // blocks of each kernel on a multiprocessor
  const int fit = resident[which].known(device.ordinal, [&] {
    const gpu::device_guard guard(device.ordinal);
    int n = 0;
    gpu::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, gpu::block_threads, shared),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return n;
  });
  const gpu::reduce_blocks blocks = gpu::blocks_of(r, int64(multiprocessors) * fit);
  const dim3 grid(unsigned(blocks.results), unsigned(blocks.parts));
  detail::storage_ref partial, own_tickets;
  uint32* tickets = nullptr;
  if (grid.y > 1) {
    partial = allocate(device, ::std::size_t(grid.y) * ::std::size_t(r.results) * (r.along ? 1 : V) * sizeof(total));
    tickets = gpu::tickets_on(device, gpu::current(device.ordinal), own_tickets);
  }
  gpu::launch(device.ordinal, s.store, Operands, kernel, grid, gpu::block_threads, shared, target, tree,
              partial.get() ? partial->data : nullptr, tickets, r);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
