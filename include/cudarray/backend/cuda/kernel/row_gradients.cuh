// The kernel of row programs whose results are gradients: sums over rows are added up in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "gradients.cuh"
#include "row_program.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// The plan of a program of gradients. A block takes `row_groups` groups of rows, one after the other.
template <int Operands, int Gradients>
struct row_gradients_plan : row_program_plan<Operands> {
  int8 part_of[Gradients];   ///< the first gradient of the same variable
  bool wanted[Gradients];    ///< whether it is computed, and no part of another
  int sums[Gradients];       ///< shared memory for sums over the rows; -1: it is one for each element
  void* partial[Gradients];  ///< where each block leaves these
  bool has_sums = false;
  bool even = true;  ///< all rows are equally aligned
  int row_groups = 1;
};

template <int V, class Target, class Program, int Operands>
struct row_gradients_worker;
template <int V, int First, class... T, class Program, int Operands>
struct row_gradients_worker<V, detail::gradients_to<First, T...>, Program, Operands>
    : row_worker<V, Program, Operands> {
  using base = row_worker<V, Program, Operands>;
  using target = detail::gradients_to<First, T...>;
  using plan_type = row_gradients_plan<Operands, target::count>;
  static constexpr auto every = ::std::make_integer_sequence<int, target::count>{};
  template <int J>
  using type_of = ::std::remove_pointer_t<::std::remove_cvref_t<decltype(detail::get<J>(target{}.p))>>;
  template <int J>
  using sum_of = detail::compute_t<type_of<J>>;
  const target& to;
  const plan_type& p;

  /// The sums begin.
  __device__ void clear() const {
    each_sum([&]<int J>() {
      sum_of<J>* const sum = sums<J>(this->held);
      for (int i = this->lane; i < p.part_width + V - 1; i += this->P) sum[i] = sum_of<J>(0);
    });
  }
  /// The gradients of a row.
  __device__ void store_gradients() const {
    const auto tree = detail::bind_around<Operands, division_by_inverse>(this->program.tree, this->row.values);
    this->each([&]<int N>(int i) { put_all<N>(tree, i, every); });
  }
  /// What all groups of the block have found of sums.
  __device__ void leave_sums(const char* raw, int groups) {
    const int shift = this->shift(), begin = this->find_part(int(p.lead & (V - 1)));
    __syncthreads();
    each_sum([&]<int J>() {
      auto* const to_all = static_cast<sum_of<J>*>(p.partial[J]) + int64(blockIdx.x) * p.width + begin;
      for (int i = int(threadIdx.x); i < this->width; i += int(blockDim.x)) {
        sum_of<J> sum(0);
        for (int k = 0; k < groups; ++k) sum += sums<J>(raw + k * p.row_bytes)[shift + i];
        to_all[i] = sum;
      }
    });
  }

 private:
  /// Elements in front of the first one in the memory of sums, so that vectors are aligned.
  __device__ int shift() const { return p.even && this->part == 0 ? p.lead & (V - 1) : 0; }
  template <int J, class Char>
  __device__ auto* sums(Char* of_row) const {
    using C = ::std::conditional_t<::std::is_const_v<Char>, const sum_of<J>, sum_of<J>>;
    return reinterpret_cast<C*>(of_row + p.sums[J]);
  }
  template <class F>
  __device__ void each_sum(const F& f) const {
    [&]<int... J>(::std::integer_sequence<int, J...>) { ((p.sums[J] >= 0 ? f.template operator()<J>() : void()), ...); }
    (every);
  }
  template <int N, class Tree, int... J>
  __device__ void put_all(const Tree& tree, int i, ::std::integer_sequence<int, J...>) const {
    const auto computed = tree.computed(this->template access<N>(i));
    detail::slots<lanes<sum_of<J>, N>...> v{{gradient_lanes<J, target::count, sum_of<J>>(computed)}...};
    (join_gradients<J>(v, p.part_of, ::std::make_integer_sequence<int, J>{}), ...);
    (put_one<J>(detail::get<J>(v), i), ...);
  }
  template <int J, int N>
  __device__ void put_one(lanes<sum_of<J>, N> g, int i) const {
    using U = type_of<J>;
    if (!p.wanted[J]) return;
    if (p.sums[J] >= 0) {
      sum_of<J>* const sum = sums<J>(this->held) + shift() + i;
      if (N > 1 && p.even) {
        add(g, unpack<sum_of<J>, N>(load_shared<N>(sum)));
        store_wide(sum, g);
      } else {
#pragma unroll
        for (int k = 0; k < N; ++k) sum[k] += g.v[k];
      }
      return;
    }
    constexpr int Ix = target::template operand_of<J>;
    U* const q = detail::get<J>(to.p);
    if (to.adds >> J & 1u) {
      const U* const from = q + this->row.offset[Ix] + i;
      lanes<U, N> old;
      if (N > 1 && p.of[Ix] == row_operand::vectors) old = load_wide<N>(from);
      else
#pragma unroll
        for (int k = 0; k < N; ++k) old.v[k] = from[k];
      add(g, lane_cast<sum_of<J>>(old));
    }
    this->template put_lanes<N, Ix>(q, i, lane_cast<U>(g));
  }
  template <class C, int N>
  __device__ static void add(lanes<C, N>& g, const lanes<C, N>& more) {
#pragma unroll
    for (int k = 0; k < N; ++k) g.v[k] += more.v[k];
  }
};

template <int V, class Target, class Program, int Operands>
__global__ void __launch_bounds__(row_block, 2)
    row_gradients_kernel(const __grid_constant__ Target target, const __grid_constant__ Program program,
                         const __grid_constant__ row_gradients_plan<Operands, Target::count> plan) {
  in_stream_order();
  using worker = row_gradients_worker<V, Target, Program, Operands>;
  extern __shared__ __align__(16) char raw[];
  __shared__ __align__(16) char found[2 * worker::base::parts::shared_bytes];
  const int P = plan.row_threads, group = int(threadIdx.x) >> exponent_of(P),
            groups = int(blockDim.x) >> exponent_of(P);
  worker w{{program, plan, raw + group * plan.row_bytes, found, P, int(threadIdx.x) & (P - 1), int(blockIdx.y)},
           target,
           plan};
  if (plan.parts > 1) cluster_begin();
  w.clear();
#pragma unroll 1
  for (int k = 0; k < plan.row_groups; ++k) {
    if (k > 0) w.wait_for_row();
    if (k > 0 && plan.parts > 1) {
      cluster_barrier();
      cluster_begin();
    }
    const int64 number = (int64(k) * gridDim.x + blockIdx.x) * groups + group;
    const bool outside = number >= plan.rows;
    w.take(outside, outside ? 0 : number);
    if (!outside) w.store_gradients();
  }
  if (plan.has_sums) w.leave_sums(raw, groups);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
