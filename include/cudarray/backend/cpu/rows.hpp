// The softmax family on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/rows.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Rows that packs can read, up to a quarter of a million elements; longer ones are worth several threads.
template <detail::row_function F, class Make, class Tree, int Operands>
bool run_rows(cpu, const Make& make, const Tree& tree, const detail::iteration_space<Operands>& space) {
  using target_type = decltype(make());
  using kernel = host::row_kernel<F, target_type, Tree, Operands>;
  const int inner = space.ndim - 1;
  if constexpr (!Tree::packable) {
    return false;
  } else {
    if (space.ndim != space.kept + 1 || space.size(0, space.ndim) == 0 || space.extent[inner] > 1 << 18) return false;
    host::memory_operand of[::std::size_t(Operands)];
    host::list_operands(tree, of);
    int64 step[::std::size_t(Operands)];
    for (int k = 0; k < Operands; ++k) {
      step[k] = space.stride[k][inner];
      const bool unit = k == 0 && F == detail::row_function::logsumexp ? step[k] == 0 : step[k] == 1;
      if (!unit && (k == 0 || (of[k].p && step[k] != 0))) return false;
    }
    detail::count(detail::counters.kernels);
    const target_type target = make();
    const host::walk_space s(space);
    const int64 n = s.extent[inner], rows = s.size(0, s.kept), wanted = host::parts_for(rows * n),
                parts = wanted < rows ? wanted : rows;
    if (s.kept == 1 && n <= kernel::short_row && rows >= kernel::N) {
      const int64 groups = rows / kernel::N, shares = parts < groups ? parts : groups;
      int64 down[::std::size_t(Operands)];
      bool flat = true;
      for (int k = 0; k < Operands; ++k) {
        down[k] = s.stride[k][0];
        flat = flat && (k == 0 || down[k] == n * step[k]);
      }
      host::parallel(shares, [&](int64 part) {
        const auto group = [&](int64 row) {
          int64 offset[::std::size_t(Operands)];
          for (int k = 0; k < Operands; ++k) offset[k] = row * down[k];
          kernel::run_together(target, tree, offset, step, down, n, flat);
        };
        for (int64 g = groups * part / shares; g < groups * (part + 1) / shares; ++g) group(g * kernel::N);
        if (part == shares - 1 && rows % kernel::N != 0) group(rows - kernel::N);  // reaches back over its own rows
      });
      return true;
    }
    host::parallel(parts, [&](int64 part) {
      const host::scratch buffer(kernel::in_place ? 0 : n * int64(sizeof(typename kernel::T)));
      host::walk_rows(s, host::place_in(s), 0, s.kept - 1, rows * part / parts, rows * (part + 1) / parts,
                      [&](host::place_in at, int64 i, int64 stop) {
                        if (s.kept > 0) at.advance(s, s.kept - 1, i);
                        for (; i < stop; ++i) {
                          kernel::run(target, tree, at.offset, step, n,
                                      reinterpret_cast<typename kernel::T*>(buffer.p));
                          if (s.kept > 0) at.advance(s, s.kept - 1, 1);
                        }
                      });
    });
    return true;
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
