// Gradients on the CPU: one pass over the operands.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../memory/stats.hpp"
#include "kernel/gradients.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Runs gradients whose rows `row`, or what `walk` puts there, takes by N elements.
template <int N, class Tree, int First, class... T, class Body, int Operands>
void run_gradients_by(const detail::gradients_to<First, T...>& to, const Tree& tree, const Body& body,
                      decltype(gradient_kernel::row) row, decltype(gradient_kernel::walk) walk,
                      const detail::iteration_space<Operands>& s) {
  using target = detail::gradients_to<First, T...>;
  constexpr int gradients = target::count;
  constexpr auto all = ::std::make_integer_sequence<int, gradients>{};
  detail::count(detail::counters.kernels);
  gradient_operand of[::std::size_t(Operands)];
  for_each_operand(tree, [&](const auto& leaf) {
    if constexpr (requires { leaf.p; })
      if constexpr (::std::remove_cvref_t<decltype(leaf)>::operand < Operands)
        of[leaf.operand] = {const_cast<char*>(reinterpret_cast<const char*>(leaf.p)), int(sizeof(*leaf.p)), true,
                            false};
  });
  int operand_of[::std::size_t(gradients)];
  constexpr int line_bytes[] = {int(sizeof(detail::compute_t<T>))...};
  [&]<int... J>(::std::integer_sequence<int, J...>) {
    ((operand_of[J] = target::operand(J), of[target::operand(J)] = {reinterpret_cast<char*>(detail::get<J>(to.p)),
                                                                    int(sizeof(T)), (to.adds >> J & 1u) != 0, true}),
     ...);
  }
  (all);
  const gradient_kernel kernel{&to,
                               &body,
                               row,
                               Operands,
                               gradients,
                               N,
                               of,
                               operand_of,
                               line_bytes,
                               [](const void* target_of_all, int gradient, int64 at, double sum) {
                                 finish_gradient<target>(target_of_all, gradient, at, sum,
                                                         ::std::make_integer_sequence<int, gradients>{});
                               },
                               walk,
                               walk != walk_gradient_rows};
  walk_gradients(kernel, walk_space(s));
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <int First, class... T, class Tree, int Operands>
void run_gradients(cpu, const detail::gradients_to<First, T...>& to, const Tree& tree,
                   const detail::iteration_space<Operands>& s) {
  using target = detail::gradients_to<First, T...>;
  constexpr int N = host::lanes_for<Tree::widest>;
  const host::gradient_body<target, Tree> body{to, tree};
  host::run_gradients_by<N>(
      to, tree, body,
      host::gradient_row_of<N, target, Tree, Operands>(::std::make_integer_sequence<int, target::count>{}),
      host::walk_gradient_rows, s);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
