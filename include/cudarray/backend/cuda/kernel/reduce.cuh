// Kernels of reductions on CUDA: the same bits in every run, as atomics add nothing up.
// SPDX-License-Identifier: MIT
#pragma once

#include "../plan/reduce.hpp"
#include "short_rows.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Combines the threads of each result in the same order always; the value is valid where depth is 0. The lanes of
/// depth d stand (lead + d * turn) mod V before the results; lead -1: none does.
template <class Op, int V, class Total, int Operands>
__device__ void combine_block(Total (&total)[V], const reduce_plan<Operands>& r, int depth, Total* shared,
                              int32 lead = -1) {
  const int t = int(threadIdx.x);
  if (r.along) {
    for (int half = (r.result_threads < 32 ? r.result_threads : 32) / 2; half > 0; half /= 2)
      total[0] = Op::combine(total[0], shuffle_down(total[0], half));
    if (r.result_threads <= 32) return;
    if (t % 32 == 0) shared[t / 32] = total[0];
    __syncthreads();
    if (depth == 0)
      for (int w = 1; w < r.result_threads / 32; ++w) total[0] = Op::combine(total[0], shared[t / 32 + w]);
    return;
  }
  const int alike = lead < 0 ? 1 : V;
  for (int half = r.result_threads / 2; half >= alike; half /= 2) {
    if (depth >= half && depth < 2 * half)
#pragma unroll
      for (int k = 0; k < V; ++k) shared[(t - half * r.block_results) * V + k] = total[k];
    __syncthreads();
    if (depth < half)
#pragma unroll
      for (int k = 0; k < V; ++k) total[k] = Op::combine(total[k], shared[t * V + k]);
    __syncthreads();
  }
  if (lead < 0) return;
  if (depth < V)
#pragma unroll
    for (int k = 0; k < V; ++k) shared[t * V + k] = total[k];
  __syncthreads();
  if (t < r.own_results)
#pragma unroll 1
    for (int d = 0; d < V; ++d) {
      const Total* const at = shared + (d * r.block_results + t) * V + ((lead + d * r.turn) & (V - 1));
#pragma unroll
      for (int k = 0; k < V; ++k) total[k] = d == 0 ? at[k] : Op::combine(total[k], at[k]);
    }
  __syncthreads();
}

/// Counts a block that has left its part; what other blocks of the device have left before is seen after.
__device__ inline uint32 take_ticket(uint32* counter) {
  uint32 before;
  asm volatile("atom.global.add.acq_rel.gpu.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return before;
}

/// What a block has found: combined, where several share a result by the one that comes last. False for the others;
/// the totals are valid where depth is 0.
template <class Op, class Types, int V, class Total, int Operands>
__device__ bool finish_block(const reduce_plan<Operands>& r, Total (&total)[V], int64 result, int depth, int inside,
                             int32 lead, Total* shared, Total* partial, uint32* tickets) {
  if (!adds_in_blocks<Types> && r.along)
#pragma unroll
    for (int k = 1; k < V; ++k) total[0] = Op::combine(total[0], total[k]);
  combine_block<Op>(total, r, depth, shared, lead);
  const int results = r.along ? 1 : inside;  // of this thread
  if (gridDim.y > 1) {
    __shared__ bool last;
    const auto left = [&](int64 chunk) { return partial + (chunk * r.results + result) * (r.along ? 1 : V); };
    if (depth == 0 && result < r.results)
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < results) left(blockIdx.y)[k] = total[k];
    __syncthreads();
    if (threadIdx.x == 0) last = take_ticket(tickets + blockIdx.x) == gridDim.y - 1;
    __syncthreads();
    if (!last) return false;
    if (threadIdx.x == 0) tickets[blockIdx.x] = 0;
#pragma unroll
    for (int k = 0; k < V; ++k) total[k] = Op::template identity<Total>();
    if (result < r.results)
#pragma unroll(V* int(sizeof(Total)) <= 32 ? 4 : 2)
      for (int c = depth; c < int(gridDim.y); c += r.result_threads)
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < results) total[k] = Op::combine(total[k], left(c)[k]);
    combine_block<Op>(total, r, depth, shared);
  }
  return true;
}

/// A sum or the like of several operands: its totals leave registers to more loads and more blocks at once.
template <int TotalBytes, class Tree>
inline constexpr bool adds_several =
    TotalBytes <= 8 && registers<1, Tree>::count >= 2 && registers<1, Tree>::count <= 4;

/// How many blocks a multiprocessor must have room for in its registers; 0: as many as the compiler finds best, where
/// measuring found no better. A bound of 1 is another thing: the compiler then takes all registers it can use.
template <bool Wide, int V, int TotalBytes, class Tree>
inline constexpr int least_blocks = [] {
  constexpr int loads = registers<1, Tree>::count;
  constexpr bool light =
      loads == 1 && !detail::has_gathered<Tree> && V <= 8 && TotalBytes <= 16 && V * TotalBytes < 128;
  if (Wide && adds_several<TotalBytes, Tree>) {
    if (V == 2) return loads == 2 ? 3 : 4;
    if (V == 8 && loads > 2) return 2;
  }
  if (Wide) return Tree::widest == 8 ? (light ? 3 : 2) : light ? 4 : 0;
  if (TotalBytes > 8 || loads > 2) return 0;
  return V > 4 ? 3 : 4;
}();

/// Steps of a thread under way at once, so that loads are enough and registers few.
template <int V, class Tree>
inline constexpr int steps_under_way = [] {
  constexpr int loads = registers<1, Tree>::count;
  return loads <= (V == 4 ? 4 : 2) ? 4 : loads <= 4 ? 2 : 1;
}();
template <int V, int TotalBytes, class Tree>
inline constexpr int wide_steps = [] {
  if (adds_several<TotalBytes, Tree> && V == 2) return registers<1, Tree>::count == 2 ? 2 : 1;
  if (adds_several<TotalBytes, Tree> && V == 8) return 4;
  return steps_under_way<V, Tree>;
}();

/// Adds the tiles of a result that are this thread's, U steps under way at once. `Wide`: so are loads, and no lane is
/// outside; there are less than 2^30 places, runs and tiles then.
template <bool Wide, int U, class Index, class Op, class Types, int V, class Total, class Access, int Operands,
          class Tree>
__device__ void add_tiles(accumulator<Op, Types, V, Total>& sum, const Access& base, const Tree& tree,
                          const reduce_plan<Operands>& r, int64 places, int32 before, int depth) {
  using tile_number = ::std::conditional_t<Wide, int32, int64>;
  constexpr reach how = Wide ? reach::wide : reach::strided;
  const auto& s = r.threads;
  const int32 lane = depth & (r.run_threads - 1), at = !Wide && r.along ? split_element(s, lane) : lane;
  int steps = 0;
  const tile_number tiles = tile_number(r.tiles), every = tile_number(gridDim.y) * r.run_groups;
  for (tile_number tile = tile_number(blockIdx.y) * r.run_groups + (depth >> r.run_threads_log2); tile < tiles;
       tile += every) {
    Access row = base;
    int32 left, end;  // of places or runs, and of elements, from this thread's first on
    Index first = before + Index(Wide && r.along ? at * V : at);
    const auto enter = [&]<class N>(N t) {
      const auto below = [](N n) { return sizeof(N) == 4 || n < N(1 << 30) ? int32(n) : 1 << 30; };
      N run = 0, u0 = t;  // so many steps of the run are before these
      if (r.runs > 1) {
        const bool by_runs = !Wide && r.by_runs;
        const N whole = r.row_tiles.divide(t), rest = t - whole * N(r.row_tiles.divisor);
        run = by_runs ? rest : whole;
        u0 = by_runs ? whole : rest;
        run *= r.run_tiles;
        go_to(s, run, s.kept, s.ndim - 1, row.offset);
      }
      u0 *= U;
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        row.offset[k] += int64(at + u0 * (Wide ? r.run_threads : r.element_step)) * N(r.ahead[k]);
      left = below(N(places) - lane - u0 * r.run_threads);
      if (r.run_tiles > 1 && left > 0) left = below(N(r.runs) - run);
      end = Wide ? 0 : below(N(r.positions) - u0 * r.element_step);
      first += Index(run) * Index(r.positions) + Index(u0) * r.element_step;
    };
    if (Wide || r.index32) enter(int32(tile));
    else enter(int64(tile));
    Access a[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      a[u] = row;
      if (Wide) a[u].inside = V;
      else if (r.along) a[u].inside = lanes_inside<V>(s, at + u * r.element_step, end);
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (u > 0) a[u].offset[k] += r.step[k][u - 1];
      if (u * r.left_step < left && (Wide || a[u].inside > 0)) a[u].template fetch<how>(tree);
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (u * r.left_step < left && (Wide || a[u].inside > 0)) a[u].template fetch<how, true>(tree);
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (u * r.left_step < left && (Wide || a[u].inside > 0))
        sum.add(tree(a[u]), a[u].inside, first + u * Index(r.position_step), r.along ? Index(s.gap) : Index(0));
    if ((steps += U) >= block_length) {
      sum.close_block(r.along);
      steps = 0;
    }
  }
  sum.close_block(r.along);
}

/// The results of folded accesses: a thread adds up the columns of one, and what stands before and behind all rows.
template <class Op, class Types, int V, class Target, class Tree, class Total, int Operands>
__device__ void finish_folds(const Target& target, const Tree& tree, const reduce_plan<Operands>& r,
                             const Total (&total)[V], int64 group, int place, int depth, Total* shared) {
  constexpr int leader = registers<V, Tree>::first;
  if (depth == 0 && place < r.own_results)
#pragma unroll
    for (int k = 0; k < V; ++k) shared[place * V + k] = total[k];
  __syncthreads();
  lane_access<1, Operands, Tree> start;
  start.start(r.threads);
  go_to(r.threads, group, 0, r.threads.kept, start.offset);
  const int before = -(r.lead + int(start.offset[leader])) & (V - 1);
  const int64 elements = r.count * r.columns;
  for (int c = int(threadIdx.x); c < r.columns; c += block_threads) {
    Total sum = Op::template identity<Total>();
    const auto add = [&](int64 row, int64 end) {  // the column's elements, one by one
      for (int64 e = row * r.columns + c; e < end; e += r.columns, ++row) {
        auto at = start;
#pragma unroll
        for (int k = 1; k < Operands; ++k) at.offset[k] += e * r.threads.lane_step[k];
        at.template fetch<reach::wide>(tree);
        const auto v = element_cast<detail::compute_t<typename Tree::value_type>>(tree(at).v[0]);
        sum = Op::combine(sum, Op::template lift<Total>(v, row));
      }
    };
    const bool rows = r.run == 0;
    if (rows) add(0, before);
    // of the result's lanes
    const int first = rows ? (c + V * r.columns - before) % r.columns : c / r.each * r.run + c % r.each;
    const int end = rows ? r.columns * r.rows : first + r.run, step = rows ? r.columns : r.each;
    for (int j = first; j < end; j += step) {
      Total one = shared[j];
      if constexpr (Op::indexed)
        if (one.position >= 0) one.position = one.position * r.rows + (before + j) / r.columns;
      sum = Op::combine(sum, one);
    }
    if (rows) add(r.row * r.rows + (before + first) / r.columns, elements);
    target(place_access{start.offset[0] + c * r.threads.lane_step[0]},
           Op::template finish<typename Types::result>(sum, r.count));
  }
}

/// `Wide`: accesses are not strided. `Near`: positions take 32 bits.
template <bool Wide, bool Near, int V, int U, int Operands, class Op, class Target, class Tree>
__global__ void __launch_bounds__(
    block_threads,
    least_blocks<Wide, V, int(sizeof(typename device_types<Op, typename Tree::value_type, false>::total)), Tree>)
    reduce_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree, void* partial,
                  uint32* tickets, const __grid_constant__ reduce_plan<Operands> r) {
  in_stream_order();
  using types = device_types<Op, typename Tree::value_type, Near>;
  using total = typename types::total;
  using index = ::std::conditional_t<Near, int32, int64>;
  using widest_total = typename device_types<Op, typename Tree::value_type, false>::total;
  constexpr bool packed = V > 8 || !adds_in_blocks<types> || adds_several<int(sizeof(widest_total)), Tree>;
  using access = basic_access<Wide && packed, V, Operands, Tree>;
  const auto& s = r.threads;
  const int t = int(threadIdx.x);
  const int depth = r.along ? t & (r.result_threads - 1) : t >> exponent_of(r.block_results);
  const int place = r.along ? t >> exponent_of(r.result_threads) : t & (r.block_results - 1);
  constexpr int leader = registers<V, Tree>::first;  // the operand whose alignment is that of all
  const bool unaligned = Wide && r.access == reduce_access::unaligned,
             folded = Wide && may_fold<total> && r.access == reduce_access::folded;
  extern __shared__ __align__(16) char raw[];
  total* const shared = reinterpret_cast<total*>(raw);
  using number = ::std::conditional_t<Wide, int32, int64>;
  const number results = number(r.results), every = number(gridDim.x) * r.own_results;
  for (number group = number(blockIdx.x) * r.own_results; group < results; group += every) {
    const number result = folded && place >= r.own_results ? results : group + place;
    int32 lead = unaligned && !r.along ? 0 : -1;
    access base;
    base.start(s);
    accumulator<Op, types, V, total> sum;
    if (result < results) {
      const int64 first = go_to(s, result, 0, s.kept, base.offset);
      base.inside = r.along || Wide ? V : lanes_inside<V>(s, first);
      if constexpr (Wide) {
        const auto off = [&r](const auto& a, int32 rows = 0) {  // elements from the last that is aligned
          return (r.lead + int32(a.offset[leader]) + rows * r.turn) & (V - 1);
        };
        int32 before = 0, places = int32(r.row);
        if (unaligned || folded) {
          before = r.along || folded ? -off(base) & (V - 1) : -off(base, depth);
          if (r.along) places = (int32(r.positions) - before) / V;
          else if (unaligned && first + before >= s.limit) places = 0;
#pragma unroll
          for (int k = 0; k < Operands; ++k) base.offset[k] += before * s.lane_step[k];
        }
        add_tiles<true, U, index>(sum, base, tree, r, places, r.along ? before : 0, depth);
        if (unaligned) {  // once more where this is: the loop needs the registers
          lane_access<1, Operands, Tree> edge;
          edge.start(s);
          const int64 start = go_to(s, result, 0, s.kept, edge.offset);
          if (!r.along) {
            lead = off(edge);
            base.offset[0] = edge.offset[0];
            base.inside = place < r.own_results ? lanes_inside<V>(s, start) : 0;
          } else if (blockIdx.y == 0) {  // what is left of the row: an element each, at most
            const int32 skipped = -off(edge) & (V - 1), rest = (int32(r.positions) - skipped) & ~(V - 1),
                        one = depth < skipped ? depth : depth + rest;
            if (one < r.positions) {
#pragma unroll
              for (int k = 0; k < Operands; ++k) edge.offset[k] += one * s.lane_step[k];
              edge.template fetch<reach::wide>(tree);
              sum.add_one(tree(edge).v[0], one);
            }
          }
        }
      } else {
        add_tiles<false, U, index>(sum, base, tree, r, r.row, 0, depth);
      }
    }
    if (finish_block<Op, types>(r, sum.total, result, depth, base.inside, lead, shared, static_cast<total*>(partial),
                                tickets)) {
      if (folded) {
        if constexpr (may_fold<total>) finish_folds<Op, types>(target, tree, r, sum.total, group, place, depth, shared);
      } else if (depth == 0 && result < results) {
        const int count = r.along ? 1 : base.inside;
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < count)
            target(place_access{base.offset[0] + k * s.lane_step[0]},
                   Op::template finish<typename types::result>(sum.total[k], r.count));
      }
    }
    if (r.result_threads > warp || !r.along) __syncthreads();  // shared memory is used again
  }
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
