// Row programs on CUDA: one kernel, in which rows are read once.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/row_program.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {

template <int Operands, int Levels, class Tree, class... Steps>
void survey_program(survey<Operands>& leaves, const detail::row_program<Levels, Tree, Steps...>& p) {
  const auto note = [&leaves]<class L>(const L& l) {
    if constexpr (requires { L::operand; })
      if constexpr (L::operand < Operands) leaves(l);
  };
  for_each_operand(p.tree, note);
  [&]<int... Ix>(::std::integer_sequence<int, Ix...>) { (for_each_operand(detail::get<Ix>(p.steps).tree, note), ...); }
  (::std::make_integer_sequence<int, int(sizeof...(Steps))>{});
}
/// The operands of a tree, but for what is kept or picked, a bit each.
template <int Operands, class Tree>
inline constexpr uint64 operands_in = 0;
template <int Operands, int Ix, class T>
inline constexpr uint64 operands_in<Operands, detail::load<Ix, T>> = Ix < Operands ? uint64(1) << Ix : 0;
template <int Operands, class Op, class Types, class... K>
inline constexpr uint64 operands_in<Operands, detail::apply<Op, Types, K...>> = (uint64(0) | ... |
                                                                                 operands_in<Operands, K>);
/// Those that are still read where a value is kept: of the results, and of other steps of the last level.
template <int Operands, class Program>
inline constexpr uint64 read_last = 0;
template <int Operands, int Levels, class Tree, class... Steps>
inline constexpr uint64 read_last<Operands, detail::row_program<Levels, Tree, Steps...>> =
    (operands_in<Operands, Tree> | ... |
     (Steps::level == Levels - 1 && !Steps::keeps ? operands_in<Operands, decltype(Steps::tree)> : 0));

/// Bytes of the widest element that a tree or a program reads, but for what says what is picked.
template <int Operands, class Tree>
inline constexpr int widest_operand = 0;
template <int Operands, int Ix, class T>
inline constexpr int widest_operand<Operands, detail::load<Ix, T>> = Ix < Operands ? int(sizeof(T)) : 0;
template <int Operands, int Ix, class T, class X>
inline constexpr int widest_operand<Operands, detail::gathered<Ix, T, X>> = int(sizeof(T));
template <int Operands, class Tree>
inline constexpr int widest_operand<Operands, detail::kept_value<Tree>> = widest_operand<Operands, Tree>;
template <int Operands, class Op, class Types, class... K>
inline constexpr int widest_operand<Operands, detail::apply<Op, Types, K...>> = [] {
  int w = 0;
  ((w = widest_operand<Operands, K> > w ? widest_operand<Operands, K> : w), ...);
  return w;
}();
template <int Operands, int Levels, class Tree, class... Steps>
inline constexpr int widest_operand<Operands, detail::row_program<Levels, Tree, Steps...>> = [] {
  int w = widest_operand<Operands, Tree>;
  ((w = widest_operand<Operands, decltype(Steps::tree)> > w ? widest_operand<Operands, decltype(Steps::tree)> : w),
   ...);
  return w;
}();

/// Bytes of shared memory that a block of a kernel may have besides what it has anyway. The kernel is the binary's own,
/// so is what is known of it.
#pragma GCC visibility push(hidden)
template <auto Kernel>
int most_shared_of(int ordinal) {
  static per_device known_bytes;
  return known_bytes.known(ordinal, [ordinal] {
    const device_guard guard(ordinal);
    cudaFuncAttributes code;
    check(cudaFuncGetAttributes(&code, Kernel), "cudaFuncGetAttributes");
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal), "cudaDeviceGetAttribute");
    bytes -= int(code.sharedSizeBytes);
    check(cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
    return bytes;
  });
}
#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Target, class Program, int Operands>
bool run_row_program(cuda device, const Target& target, const Program& program,
                     const detail::iteration_space<Operands>& s) {
  constexpr int moved = gpu::widest_operand<Operands, Program>, to = gpu::widest_written<Target>,
                widest = moved > to ? moved : to,
                V = widest <= 2    ? 8
                    : widest >= 16 ? 1
                                   : 16 / widest;
  constexpr auto kernel = gpu::row_program_kernel<V, Target, Program, Operands>;
  gpu::survey<Operands> leaves;
  gpu::survey_program(leaves, program);
  leaves.written(target);
  const bool hopper = gpu::compiled_for_hopper(device.ordinal, reinterpret_cast<const void*>(kernel));
  gpu::row_program_plan<Operands> r;
  if (!gpu::plan_row_program(r, s, leaves.of,
                             {V, detail::results_of<Target>, Program::kept_bytes, gpu::read_last<Operands, Program>,
                              gpu::most_shared_of<kernel>(device.ordinal), gpu::multiprocessors(device.ordinal),
                              hopper ? gpu::row_cluster : 1}))
    return false;
  gpu::order_results<Target>(device.ordinal, s);
  gpu::launch_clusters(unsigned(r.parts), device.ordinal, s.store, Operands, kernel,
                       dim3(unsigned(r.blocks), unsigned(r.parts)), unsigned(r.threads), r.block_bytes(), target,
                       program, r);
  return true;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
