// Elementwise plans on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "loop.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend {

template <class Build, class Target, class Tree, int Operands>
void run_elementwise(cpu, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using value = typename Target::value_type;
  constexpr bool packable = Target::direct && Tree::packable && ::std::is_arithmetic_v<value>;
  detail::count(detail::counters.kernels);
  const int inner = s.ndim - 1;
  const int64 n = inner < 0 ? 1 : s.extent[inner];
  int64 step[Operands] = {};
  for (int k = 0; k < Operands && inner >= 0; ++k) step[k] = s.stride[k][inner];
  const bool by_packs = packable && inner >= 0 && step[0] == 1 && host::unit_steps(s, inner, 1);
  host::odometer<Operands, Build> at;
  do {
    int64 i = 0;
    if constexpr (packable) {
      constexpr int N = host::lanes_for<Build, (int(sizeof(value)) > Tree::widest ? int(sizeof(value)) : Tree::widest)>;
      if (by_packs)
        for (; i + N <= n; i += N) {
          const host::pack_access<N, Operands, Build> a{at.offset, step, i};
          simd::store_lanes(target.p + at.offset[0] + i, lane_cast<value>(tree(a)));
        }
    }
    for (; i < n; ++i) {
      const host::element_access<Operands, Build> a{at.offset, step, i};
      target(a, tree(a));
    }
  } while (at.next(s, 0, inner));
}

}  // namespace cudarray::inline v0::backend

#pragma GCC diagnostic pop
