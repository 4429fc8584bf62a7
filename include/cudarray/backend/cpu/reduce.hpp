// Reductions on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/reduce.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Target, class Tree, class Op, int Operands>
void run_reduce(cpu, const Target& target, const Tree& tree, const Op&, const detail::iteration_space<Operands>& s) {
  using reduction = host::stored_reduction<Target, Tree, Op, Operands>;
  using kernels = typename reduction::kernels;
  static_assert(sizeof(typename kernels::total) <= 64);
  detail::count(detail::counters.kernels);
  const reduction with_target{{tree}, target};
  const kernels& self = with_target;
  if constexpr (kernels::packable && !detail::has_gathered<Tree>) {
    const host::single_row<Operands> row(s, 65535, 1);
    if (row.is && s.kept == 0) {
      typename kernels::total sum;
      kernels::clear(&sum, 1);
      kernels::along(&self, row.offset, row.step, 0, row.n, 0, true, &sum);
      reduction::store(&self, row.offset, row.offset, &sum, 1, row.n);
      return;
    }
  }
  host::memory_operand of[::std::size_t(Operands)];
  host::list_operands(tree, of);
  host::walk_reduction(
      {&self,
       kernels::clear,
       kernels::merge,
       reduction::store,
       kernels::along,
       kernels::across,
       kernels::beside,
       host::fetcher::of(self.tree),
       int(sizeof(typename kernels::total)),
       {of, kernels::N, kernels::packable, Op::indexed, kernels::takes_short_rows && !detail::has_gathered<Tree>}},
      host::walk_space(s));
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
