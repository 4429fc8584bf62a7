// Elementwise plans on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/elementwise.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Target, class Tree, int Operands>
void run_elementwise(cpu, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using value = typename Target::value_type;
  detail::count(detail::counters.kernels);
  const host::map_body<Target, Tree> plan{target, tree};
  const bool apart = host::writes_apart<Target>(s);
  if constexpr (host::pack_map<Target, Tree> && !detail::has_gathered<Tree>) {
    const host::single_row<Operands> row(s, 4096, 0);
    if (row.is)
      return host::map_row<Target, Tree, Operands>(&plan, row.offset, row.step, 0, row.n, {true, false, apart});
  }
  const host::walk_space walk(s);
  if constexpr (!Target::direct) {
    int64 step[::std::size_t(Operands)];
    for (int k = 0; k < Operands; ++k) step[k] = s.ndim == 0 ? 0 : s.stride[k][s.ndim - 1];
    if (s.ndim > 0 && host::stands_still(target.index, step))
      return host::put_rows<Target, Tree, Operands>(target, tree, walk, step, apart);
  }
  // bytes of borrowed memory, which may be any, become 0 or 1
  bool bytes_alike = true;
  if constexpr (::std::is_same_v<value, bool> && Operands > 1) bytes_alike = !s.store[1] || !s.store[1]->borrowed;
  host::memory_operand of[::std::size_t(Operands)];
  host::list_operands(tree, of);
  host::list_results(target, of);
  host::map_kernels map{
      &plan,
      host::map_row<Target, Tree, Operands>,
      host::fetcher::of(tree),
      nullptr,
      {of, host::pack_map<Target, Tree>, detail::has_gathered<Tree>, host::is_copy<Target, Tree> && bytes_alike,
       !Target::direct, apart, detail::results_of<Target> > 1}};
  if constexpr (host::is_take<Target, Tree>)
    if (bytes_alike) map.take = host::take_rows<Target, Tree, Operands>;
  host::walk_map(map, walk);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
