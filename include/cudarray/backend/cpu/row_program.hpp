// Row programs on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/row_program.hpp"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// Rows that packs can read: of fewer elements the loops over many rows are faster, longer ones are worth several
/// threads.
template <int Operands>
bool has_program_rows(const detail::iteration_space<Operands>& space) {
  const int inner = space.ndim - 1;
  const int64 n = space.extent[inner];
  bool yes = n >= host::tuning::least_program_row && n <= host::tuning::most_program_row;
  for (int k = 0; k < Operands; ++k) yes = yes && (space.stride[k][inner] == 1 || space.stride[k][inner] == 0);
  return yes;
}
template <class Target, class Program, int Operands>
bool run_row_program(cpu, const Target& target, const Program& program,
                     const detail::iteration_space<Operands>& space) {
  using runner_type = host::row_runner<Target, Program, Operands>;
  const int inner = space.ndim - 1;
  const int64 n = space.extent[inner];
  if (!has_program_rows(space)) return false;
  const bool apart = host::writes_apart<Target>(space);
  detail::count(detail::counters.kernels);
  const host::walk_space s(space);
  const int64 rows = s.size(0, s.kept), wanted = host::parts_for(rows * n), parts = wanted < rows ? wanted : rows;
  const bool streamed = apart && host::exceeds_cache(rows * n * int64(sizeof(typename Target::value_type)));
  host::parallel(parts, [&](int64 part) {
    const host::scratch kept(n * Program::kept_bytes);
    runner_type runner(target, program, n, {true, streamed, apart}, kept.p);
    for (int k = 0; k < Operands; ++k) runner.step[k] = s.stride[k][inner];
    host::walk_rows(s, host::place_in(s), 0, s.kept - 1, rows * part / parts, rows * (part + 1) / parts,
                    [&](host::place_in at, int64 i, int64 stop) {
                      if (s.kept > 0) at.advance(s, s.kept - 1, i);
                      for (; i < stop; ++i) {
                        for (int k = 0; k < Operands; ++k) runner.offset[k] = at.offset[k];
                        runner.run();
                        if (s.kept > 0) at.advance(s, s.kept - 1, 1);
                      }
                    });
    if (streamed) simd::finish_stream();
  });
  return true;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
