// Gradients on CUDA: one pass over the operands, and one over what blocks share of sums.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/gradients.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Adds up, in order, what `sharing` blocks left of each sum of a gradient: `width` sums side by side.
template <class Sum, class Partial = Sum, class T>
void add_shared_sums(cuda device, T* to, detail::storage* const* store, const void* partial,
                     const thread_space<1>& places, int64 width, int64 sharing, bool adds) {
  int across = power_of_two_above(places.threads, block_threads);
  while (across > tuning::sums_side_by_side && across * sharing > tuning::parts_of_sum * block_threads) across /= 2;
  launch(device.ordinal, store, 1, shared_sums_kernel<T, Sum, Partial>,
         dim3(unsigned(ceil_div(places.threads, across))), block_threads, 0, to, partial, places, divider(width),
         sharing, across, adds);
}

/// One run: of the gradients in `left`, or as many as fit together.
template <int V, int First, class... T, class Tree, int All, int... J>
void run_gradients_once(cuda device, const detail::gradients_to<First, T...>& to, const Tree& tree,
                        detail::iteration_space<All> s, gradient_plan<First, int(sizeof...(J))>& p, unsigned& left,
                        ::std::integer_sequence<int, J...>) {
  using target = detail::gradients_to<First, T...>;
  constexpr int gradients = int(sizeof...(J));
  constexpr int operand_of[] = {target::operand(J)...};
  survey<First> leaves;
  detail::for_each_operand(tree, leaves);
  const operand_info written[] = {{detail::get<J>(to.p), int(sizeof(T))}...};
  plan_gradients(p, s, leaves.of, {operand_of, written}, left, V, multiprocessors(device.ordinal));
  thread_space<1> places[gradients];
  int64 length[gradients] = {}, total = 0;  // of sums that blocks share, or that are not dense
  for (int j = 0; j < gradients; ++j) {
    if (p.form[j] < gradient_form::columns) continue;
    bool dense;
    places[j] = places_of_sum(s.extent, s.stride[operand_of[j]], s.ndim, dense);
    if (dense && p.sharing(p.form[j]) == 1) continue;
    total += length[j] = places[j].threads * p.sharing(p.form[j]);
  }
  detail::storage_ref memory;
  if (total > 0) {
    memory = allocate(device, ::std::size_t(total) * sizeof(typename target::sum));
    auto* next = static_cast<typename target::sum*>(memory->data);
    for (int j = 0; j < gradients; ++j)
      if (length[j] > 0) p.partial[j] = next, next += length[j];
  }
  const int threads = p.across * p.down;
  launch(device.ordinal, s.store, All, gradient_kernel<V, First, target, Tree, J...>, dim3(unsigned(p.blocks)),
         dim3(unsigned(threads < warp ? warp : threads)), 0, to, tree, p);
  const auto finish = [&]<int K>() {
    if (p.partial[K] == nullptr) return;
    add_shared_sums<typename target::sum>(device, detail::get<K>(to.p), &s.store[operand_of[K]], p.partial[K],
                                          places[K], p.width(p.form[K]), p.sharing(p.form[K]), bool(to.adds >> K & 1u));
  };
  (finish.template operator()<J>(), ...);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <int First, class... T, class Tree, int Operands>
void run_gradients(cuda device, const detail::gradients_to<First, T...>& to, const Tree& tree,
                   const detail::iteration_space<Operands>& s) {
  constexpr int gradients = int(sizeof...(T));
  using plan = gpu::gradient_plan<First, gradients>;
  static_assert(sizeof(to) + sizeof(Tree) + sizeof(plan) <= gpu::parameter_bytes,
                "a plan must fit the kernel parameters");
  constexpr auto every = ::std::make_integer_sequence<int, gradients>{};
  const void* pointers[gradients];
  [&]<int... J>(::std::integer_sequence<int, J...>) { ((pointers[J] = detail::get<J>(to.p)), ...); }
  (every);
  int8 part_of[gradients];
  unsigned left = 0;
  for (int j = 0; j < gradients; ++j) {
    part_of[j] = -1;
    for (int i = j - 1; i >= 0; --i)
      if (pointers[i] != nullptr && pointers[i] == pointers[j]) part_of[j] = int8(i);
    left |= unsigned(pointers[j] != nullptr && part_of[j] < 0) << j;
    gpu::use_on(s.store[detail::gradients_to<First, T...>::operand(j)], gpu::current(device.ordinal), true);
  }
  while (left != 0) {
    plan p;
    for (int j = 0; j < gradients; ++j) p.part_of[j] = part_of[j];
    gpu::run_gradients_once<gpu::lanes_for<Tree::widest, gpu::widest_loaded<Tree>>>(device, to, tree, s, p, left,
                                                                                    every);
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
