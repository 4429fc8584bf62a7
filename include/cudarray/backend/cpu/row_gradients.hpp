// Row programs of gradients on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/row_gradients.hpp"
#include "gradients.hpp"
#include "row_program.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// The rows of a part of a program of gradients: [from, to) in C order.
template <class Target, class Program, int Operands, int... J>
void walk_program_gradients(const gradient_kernel& given, const walk_space& s, gradient_sums& own, int64 from,
                            int64 to) {
  const auto& of = *static_cast<const gradient_body<Target, Program>*>(given.body);
  const int inner = s.ndim - 1;
  const int64 n = s.extent[inner];
  row_runner<Target, Program, Operands> runner(of.target, of.tree, n, {}, nullptr);
  using tree_type = ::std::remove_cv_t<decltype(runner.bind(of.tree.tree))>;
  gradient_kernel g = given;
  g.row = gradient_row<lanes_for<decltype(of.tree.tree)::widest>, Target, tree_type, Operands, J...>;
  gradient_row_walker walker(g, s, own);
  for (int k = 0; k < Operands; ++k) runner.step[k] = s.stride[k][inner];
  walk_rows(s, place_in(s), 0, s.kept - 1, from / n, to / n, [&](place_in at, int64 i, int64 stop) {
    if (s.kept > 0) at.advance(s, s.kept - 1, i);
    for (; i < stop; ++i) {
      for (int k = 0; k < Operands; ++k) runner.offset[k] = at.offset[k];
      runner.take_steps();
      const gradient_body<Target, tree_type> body{of.target, runner.bind(of.tree.tree)};
      g.body = &body;
      walker.take(at, 0, n);
      if (s.kept > 0) at.advance(s, s.kept - 1, 1);
    }
  });
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <int First, class... T, class Program, int Operands>
bool run_row_program(cpu, const detail::gradients_to<First, T...>& to, const Program& program,
                     const detail::iteration_space<Operands>& s) {
  using target = detail::gradients_to<First, T...>;
  if (!has_program_rows(s)) return false;
  constexpr auto walk = []<int... J>(::std::integer_sequence<int, J...>) {
    return host::walk_program_gradients<target, Program, Operands, J...>;
  }
  (::std::make_integer_sequence<int, target::count>{});
  host::run_gradients_by<host::lanes_for<decltype(program.tree)::widest>>(
      to, program.tree, host::gradient_body<target, Program>{to, program}, nullptr, walk, s);
  return true;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
