// Kernels of gradients: all those of a statement at each place, with the sums of operands that are repeated.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/joined_gradients.hpp"
#include "../plan/gradients.hpp"
#include "map.cuh"
#include "warp.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// One element of a gradient that was summed up.
template <class T, class Sum>
__device__ void write_sum(T* p, Sum sum, bool adds) {
  if (adds) sum += Sum(element_cast<detail::compute_t<T>>(*p));
  *p = element_cast<T>(sum);
}

/// A gradient of one operand alone is no `slots`.
template <int J, int Count, class C, class V, int N>
__device__ lanes<C, N> gradient_lanes(const lanes<V, N>& v) {
  if constexpr (Count == 1) return lane_cast<C>(v);
  else return lanes_of<J, C>(v);
}

template <int J, int, class C, class Counts, class... V>
__device__ auto gradient_lanes(const detail::joined_values<Counts, V...>& v) {
  using joined = detail::joined_values<Counts, V...>;
  constexpr int k = joined::template expression<J>;
  return gradient_lanes<joined::template number<J>, joined::template count<k>, C>(detail::get<k>(v.of));
}
/// Adds to the first of the gradients of one variable the others, which have its type.
template <int J, class V, int... I>
__device__ void join_gradients(V& v, const int8* part_of, ::std::integer_sequence<int, I...>) {
  const auto add = [&]<int K>() {
    auto& whole = detail::get<K>(v);
    const auto& part = detail::get<J>(v);
    if constexpr (::std::is_same_v<decltype(whole.v), decltype(part.v)>)
      if (part_of[J] == K) {
#pragma unroll
        for (int k = 0; k < int(sizeof(part.v) / sizeof(part.v[0])); ++k) whole.v[k] += part.v[k];
      }
  };
  (add.template operator()<I>(), ...);
}

/// Where a block is: among the outer places, along rows, and among the blocks down them.
struct gradient_block {
  int64 outer, column, row;
};

/// What a thread of a kernel of gradients has added up.
template <int V, class Access, class Target, class Plan>
struct gradient_sums;
template <int V, class Access, int First, class... T, class Plan>
struct gradient_sums<V, Access, detail::gradients_to<First, T...>, Plan> {
  using values = detail::slots<lanes<detail::compute_t<T>, V>...>;
  using sum_type = typename detail::gradients_to<First, T...>::sum;
  const detail::gradients_to<First, T...>& to;
  const Plan& p;
  values total{};

  template <class R, int... J>
  __device__ void take(const Access& a, const R& computed, ::std::integer_sequence<int, J...>) {
    values v{{gradient_lanes<J, int(sizeof...(J)), detail::compute_t<T>>(computed)}...};
    (join_gradients<J>(v, p.part_of, ::std::make_integer_sequence<int, J>{}), ...);
    (put<J>(a, v), ...);
  }
  /// The end of a row.
  template <int J>
  __device__ void close_row(const gradient_block& at, int64 row, bool is_row) {
    if (p.form[J] != gradient_form::rows) return;
    auto sum = fold<J>();
    for (int half = p.across / 2; half > 0; half /= 2) sum += shuffle_down(sum, half);
    if (is_row && (threadIdx.x & (p.across - 1)) == 0)
      leave<J>((at.outer * p.column_blocks.divisor + at.column) * p.rows + row, sum_type(sum));
  }
  /// The end of a block.
  template <int J>
  __device__ void close_block(const gradient_block& at, sum_type* shared) {
    const auto& s = p.threads;
    const int t = int(threadIdx.x);
    const int64 part = at.outer * p.row_blocks.divisor + at.row;
    if (p.form[J] == gradient_form::columns) {
#pragma unroll
      for (int k = 0; k < V; ++k) shared[t * V + k] = sum_type(detail::get<J>(total).v[k]);
      __syncthreads();
      for (int i = t; i < p.across * V; i += int(blockDim.x)) {
        const int64 thread = at.column * p.across + i / V, element = split_element(s, thread) + i % V * s.gap;
        if (thread >= s.last || element >= s.limit) continue;
        sum_type sum(0);
        for (int d = 0; d < p.down; ++d) sum += shared[d * p.across * V + i];
        leave<J>(part * s.limit + element, sum);
      }
      __syncthreads();
    } else if (p.form[J] == gradient_form::all) {
      sum_type sum(fold<J>());
      for (int half = warp / 2; half > 0; half /= 2) sum += shuffle_down(sum, half);
      if (t % warp == 0) shared[t / warp] = sum;
      __syncthreads();
      if (t == 0) {
        for (int w = 1; w < int(blockDim.x) / warp; ++w) sum += shared[w];
        leave<J>(part * p.column_blocks.divisor + at.column, sum);
      }
      __syncthreads();
    }
  }

 private:
  template <int J>
  __device__ void put(const Access& a, const values& v) {
    auto* const q = detail::get<J>(to.p);
    using U = ::std::remove_cvref_t<decltype(*q)>;
    auto g = detail::get<J>(v);
    if (p.form[J] == gradient_form::whole) {
      if (to.adds >> J & 1u) {
        lanes<U, V> there;
        if (a.space->wide & 1) there = load_wide<V>(q + a.offset[0]);
        else
#pragma unroll
          for (int k = 0; k < V; ++k) there.v[k] = q[a.offset[0] + (k < a.inside ? k : 0) * a.space->lane_step[0]];
        const auto old = lane_cast<detail::compute_t<U>>(there);
#pragma unroll
        for (int k = 0; k < V; ++k) g.v[k] += old.v[k];
      }
      a.template store<0>(q, lane_cast<U>(g));
    } else if (p.form[J] != gradient_form::none) {
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < a.inside) detail::get<J>(total).v[k] += g.v[k];
    }
  }
  /// The lanes of gradient J together, which begins again.
  template <int J>
  __device__ auto fold() {
    auto& t = detail::get<J>(total);
    auto sum = t.v[0];
#pragma unroll
    for (int k = 1; k < V; ++k) sum += t.v[k];
    t = {};
    return sum;
  }
  /// What a block has found of a sum: all of it, or its part.
  template <int J>
  __device__ void leave(int64 place, const sum_type& sum) const {
    if (p.partial[J] != nullptr) static_cast<sum_type*>(p.partial[J])[place] = sum;
    else write_sum(detail::get<J>(to.p) + place, sum, to.adds >> J & 1u);
  }
};

/// How many blocks a multiprocessor must have room for in its registers; 0: as many as the compiler finds best.
template <int V>
inline constexpr int least_gradient_blocks = V > 4 ? 2 : 0;

/// Lanes that are neighbours, with numbers computed in groups, or lie as the space says.
template <int V, int Operands, class Tree>
struct gradient_access : row_access<V, Operands, Tree> {
  bool neighbours;
  template <int Ix, class G>
  __device__ auto generate(const G& g) const {
    if (neighbours) return row_access<V, Operands, Tree>::template generate<Ix>(g);
    return basic_access<true, V, Operands, Tree>::template generate<Ix>(g);
  }
};

/// All gradients of a statement. There is one kernel for aligned rows and for any layout: a second one would take nvcc
/// 0.7 s for each statement.
template <int V, int Operands, class Target, class Tree, int... J>
__global__ void __launch_bounds__(block_threads, least_gradient_blocks<V>)
    gradient_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                    const __grid_constant__ gradient_plan<Operands, int(sizeof...(J))> p) {
  in_stream_order();
  using access = gradient_access<V, Operands, Tree>;
  constexpr auto every = ::std::integer_sequence<int, J...>{};
  using sum_type = typename Target::sum;
  __shared__ __align__(16) char memory[block_threads * V * sizeof(sum_type)];
  auto* const shared = reinterpret_cast<sum_type*>(memory);
  const auto& s = p.threads;
  const int x = s.ndim - 1, depth = int(threadIdx.x) >> p.across_log2;
  gradient_block at;
  const int64 of_rows = p.column_blocks.divide(int64(blockIdx.x));
  at.column = int64(blockIdx.x) - of_rows * p.column_blocks.divisor;
  at.outer = p.row_blocks.divide(of_rows);
  at.row = of_rows - at.outer * p.row_blocks.divisor;
  const int64 first = at.column * p.steps * p.across + (int(threadIdx.x) & (p.across - 1));
  const int64 element = split_element(s, first), begin = at.row * p.rows_of_block, end = begin + p.rows_of_block,
              stop = end < p.rows ? end : p.rows;
  access a;
  a.neighbours = p.neighbours;
  const auto start = [&](int64 row) {
    a.start(s);
    go_to(s, at.outer, 0, p.outer, a.offset);
    if (row < stop) go_to(s, row, p.outer, x, a.offset);
#pragma unroll
    for (int k = 0; k < Operands; ++k) a.offset[k] += element * s.step[k][x];
  };
  start(begin + depth);
  gradient_sums<V, access, Target, gradient_plan<Operands, int(sizeof...(J))>> sums{target, p};
  for (int64 row = begin + depth; row - depth < stop; row += p.down) {
    const bool is_row = depth < p.down && row < stop;
    if (!p.even_rows && row != begin + depth) start(row);
    for (int u = 0; u < p.steps; ++u) {
      const bool inside = is_row && first + u * p.across < s.last;
      a.inside = !inside ? 0 : p.neighbours ? V : lanes_inside<V>(s, element + u * p.across * V);
      if (a.inside > 0) {
        a.template fetch<reach::either>(tree);
        sums.take(a, tree.computed(a), every);
      }
#pragma unroll
      for (int k = 0; k < Operands; ++k) a.offset[k] += p.next_step[k];
    }
    if (p.has_rows) (sums.template close_row<J>(at, row, is_row), ...);
#pragma unroll
    for (int k = 0; k < Operands; ++k) a.offset[k] += p.next_row[k];
  }
  if (p.has_totals) (sums.template close_block<J>(at, shared), ...);
}

/// Adds up what so many blocks left of each sum: `width` sums side by side. A block takes `across` sums.
template <class T, class Sum, class Partial = Sum>
__global__ void __launch_bounds__(block_threads)
    shared_sums_kernel(T* to, const void* partial, const __grid_constant__ thread_space<1> s, const divider width,
                       const int64 sharing, const int across, const bool adds) {
  in_stream_order();
  __shared__ __align__(16) char memory[block_threads * sizeof(Sum)];
  auto* const shared = reinterpret_cast<Sum*>(memory);
  const int t = int(threadIdx.x), depths = block_threads / across;
  const int64 sum = int64(blockIdx.x) * across + (t & (across - 1));
  Sum own(0);
  if (sum < s.threads) {
    const int64 outer = width.divide(sum);
    const auto* const from =
        static_cast<const Partial*>(partial) + outer * sharing * width.divisor + (sum - outer * width.divisor);
#pragma unroll 4
    for (int64 b = t / across; b < sharing; b += depths) own += Sum(from[b * width.divisor]);
  }
  shared[t] = own;
  __syncthreads();
  if (t >= across || sum >= s.threads) return;
  for (int d = 1; d < depths; ++d) own += shared[d * across + t];
  int64 offset[1] = {};
  go_to(s, sum, offset);
  write_sum(to + offset[0], own, adds);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
