// Gradients on the CPU: one pass over the operands.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/gradients.hpp"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <int First, class... T, class Tree, int Operands>
void run_gradients(cpu, const detail::gradients_to<First, T...>& to, const Tree& tree,
                   const detail::iteration_space<Operands>& s) {
  using target = detail::gradients_to<First, T...>;
  constexpr int gradients = target::count, N = host::lanes_for<Tree::widest>;
  constexpr auto all = ::std::make_integer_sequence<int, gradients>{};
  detail::count(detail::counters.kernels);
  const host::gradient_body<target, Tree> body{to, tree};
  host::gradient_operand of[::std::size_t(Operands)];
  detail::for_each_operand(tree, [&](const auto& leaf) {
    if constexpr (requires { leaf.p; })
      of[leaf.operand] = {const_cast<char*>(reinterpret_cast<const char*>(leaf.p)), int(sizeof(*leaf.p)), true, false};
  });
  int operand_of[::std::size_t(gradients)];
  constexpr int line_bytes[] = {int(sizeof(detail::compute_t<T>))...};
  [&]<int... J>(::std::integer_sequence<int, J...>) {
    ((operand_of[J] = target::operand(J), of[target::operand(J)] = {reinterpret_cast<char*>(detail::get<J>(to.p)),
                                                                    int(sizeof(T)), (to.adds >> J & 1u) != 0, true}),
     ...);
  }
  (all);
  const host::gradient_kernel kernel{&body,
                                     host::gradient_row_of<N, target, Tree, Operands>(all),
                                     Operands,
                                     gradients,
                                     N,
                                     of,
                                     operand_of,
                                     line_bytes,
                                     [](const void* b, int gradient, int64 at, double sum) {
                                       host::finish_gradient<target, Tree>(
                                           b, gradient, at, sum, ::std::make_integer_sequence<int, gradients>{});
                                     }};
  host::walk_gradients(kernel, host::walk_space(s));
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
