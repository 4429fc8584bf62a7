// The kernel of row programs: a group of threads holds a row in shared memory, reduces it level by level, and maps it.
// SPDX-License-Identifier: MIT
#pragma once

#include "accumulator.cuh"
#include "row_access.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// Sums of a thread, each of some elements in the narrower type, then in the wider.
template <class Step>
struct step_accumulator {
  using op = typename Step::op;
  using types = device_types<op, typename ::std::remove_cvref_t<decltype(Step::tree)>::value_type, true>;
  using total = typename types::total;
  using block = typename types::block;
  static constexpr int chains = sizeof(block) <= 4 ? 4 : 2;
  static constexpr bool blocks = adds_in_blocks<types>;
  block part[chains];
  total sum;

  __device__ step_accumulator() : sum(op::template identity<total>()) { clear(); }
  __device__ void clear() {
#pragma unroll
    for (int k = 0; k < chains; ++k) part[k] = op::template identity<block>();
  }
  template <class Value, int N>
  __device__ void add(const lanes<Value, N>& v) {
    const auto c = lane_cast<detail::compute_t<Value>>(v);
#pragma unroll
    for (int k = 0; k < N; ++k) add_value<op>(part[k % chains], c.v[k], 0);
  }
  __device__ void close() {
#pragma unroll
    for (int k = 1; k < chains; ++k) part[0] = op::combine(part[0], part[k]);
    sum = op::combine(sum, op::template widen<total>(part[0]));
    clear();
  }
};

/// What is given is not added up.
template <class Tree>
struct step_accumulator<detail::row_given<Tree>> {
  using total = char;
};

/// What a program's steps hold and find. Accumulators of one level are in use at a time.
template <class Program>
struct program_parts;
template <int Levels, class Tree, class... Steps>
struct program_parts<detail::row_program<Levels, Tree, Steps...>> {
  using accumulators = detail::slots<step_accumulator<Steps>...>;
  static constexpr int total_bytes = [] {
    int most = 1;
    ((most = int(sizeof(typename step_accumulator<Steps>::total)) > most
                 ? int(sizeof(typename step_accumulator<Steps>::total))
                 : most),
     ...);
    return most;
  }();
  /// Of each step what every warp of a block has found, and every block of a cluster.
  static constexpr int finders = row_block / warp + row_cluster;
  static constexpr int shared_bytes = int(sizeof...(Steps)) * finders * total_bytes;
};

/// Copies 4, 8 or 16 bytes of global memory to shared memory; `copies_done` waits for those of this thread.
template <int Bytes>
__device__ void copy_ahead(char* to, const char* from) {
  using word = typename chunk_of<Bytes>::type;
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_80,
      (const uint32 place = uint32(__cvta_generic_to_shared(to)); const auto source = __cvta_generic_to_global(from);
       if constexpr (Bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(source)
                                               : "memory");
       else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(source), "n"(Bytes)
                         : "memory");),
      (*reinterpret_cast<word*>(to) = *reinterpret_cast<const word*>(from);))
}
__device__ inline void copies_done() {
  NV_IF_TARGET(NV_PROVIDES_SM_80, (asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");))
}

/// A group of threads on a row at a time: `P` of them, this one being `lane`. `held`: its shared memory for a row.
template <int V, class Program, int Operands>
struct row_worker {
  using parts = program_parts<Program>;
  using view = row_view<typename Program::results, Operands>;
  const Program& program;
  const row_program_plan<Operands>& plan;
  char* held;
  char* found;  ///< shared memory of the block, for what its warps find: twice
  int P, lane;
  int part = 0;                          ///< of the row that this block has
  int width = 0, head = 0, vectors = 0;  ///< of it: elements, those before the first whole vector, and vectors
  view row;

  /// Calls `f(load)` for every operand that is read where it lies, once.
  template <class F>
  __device__ void each_load(const F& f) const {
    uint64 seen = 0;
    const auto loads = [&]<class L>(const L& l) {
      if constexpr (
          requires { l.p; } && !requires { l.index; })
        if constexpr (L::operand < Operands) {
          if (!(seen >> L::operand & 1)) f(l);
          seen |= uint64(1) << L::operand;
        }
    };
    for_each_operand(program.tree, loads);
    [&]<int... Ix>(::std::integer_sequence<int, Ix...>) {
      (for_each_operand(detail::get<Ix>(program.steps).tree, loads), ...);
    }
    (::std::make_integer_sequence<int, Program::count>{});
  }
  /// Calls `f<Ix>()` for the steps of a level.
  template <int Level, class F>
  __device__ static void each_step(const F& f) {
    [&]<int... Ix>(::std::integer_sequence<int, Ix...>) { (if_level<Level, Ix>(f), ...); }
    (::std::make_integer_sequence<int, Program::count>{});
  }
  /// Finds this block's part of a row that is `off` elements off alignment: where it begins. All but the first parts
  /// begin with a whole vector, and what is behind the last vector is the last one's.
  __device__ int find_part(int off) {
    const int before = (V - off) & (V - 1);
    head = before < plan.width ? before : plan.width;
    vectors = int(unsigned(plan.width - head) / unsigned(V));
    width = plan.width;
    if (plan.parts == 1) return 0;
    const int each = (vectors + plan.parts - 1) >> exponent_of(plan.parts),
              first = part * each < vectors ? part * each : vectors,
              stop = vectors - first < each ? vectors : first + each, begin = part == 0 ? 0 : head + first * V;
    if (part != plan.parts - 1) width = head + stop * V;
    width -= begin;
    if (part != 0) head = 0;
    vectors = int(unsigned(width - head) / unsigned(V));
    return begin;
  }
  /// Goes to a row: brings what is held of it to shared memory, unless it is `outside` and just there for the others.
  __device__ void enter(bool outside, const row_offsets<Operands>& offset) {
    const int begin = find_part(int(offset.off & (V - 1))), off = part == 0 ? int(offset.off & (V - 1)) : 0;
    row.kept = plan.kept < 0 ? nullptr : held + plan.kept + off * plan.kept_bytes;
#pragma unroll
    for (int k = 0; k < Operands; ++k) row.offset[k] = offset.of[k] + (plan.of[k] == row_operand::still ? 0 : begin);
    each_load([&]<int Ix, class T>(const detail::load<Ix, T>&) {
      const char* const from = plan.data[Ix] + row.offset[Ix] * int64(sizeof(T));
      row.at[Ix] = plan.place[Ix] < 0 ? from : held + plan.place[Ix] + off * int(sizeof(T));
      if ((plan.copied >> Ix & 1) && !outside)
        bring<V* int(sizeof(T))>(held + plan.place[Ix], from - off * int(sizeof(T)),
                                 int(unsigned(width + off + V - 1) / unsigned(V)));
    });
    each_step<-1>([&]<int Ix>() {
      const auto& given = detail::get<Ix>(program.steps).tree;
      detail::get<Ix>(row.values) = given(access<1>(0)).v[0];
    });
  }
  /// Calls `f<N>(i)` for the vectors of the row, and for what is before and behind them.
  template <class F>
  __device__ void each(const F& f) const {
#pragma unroll 1
    for (int g = lane; g < vectors; g += P) f.template operator()<V>(head + g * V);
    if constexpr (V > 1)
#pragma unroll 1
      for (int k = lane; k < width - vectors * V; k += P) f.template operator()<1>(k < head ? k : k + vectors * V);
  }
  template <int N>
  __device__ program_access<N, view, Operands> access(int i) const {
    return {plan, row, i};
  }

  /// The reductions of a level. Rows that are not there have nothing to add.
  template <int Level>
  __device__ void reduce(bool outside) {
    typename parts::accumulators sums;
    const auto trees = bind_level<Level>(::std::make_integer_sequence<int, Program::count>{});
    int left = block_length;
    if (!outside)
      each([&]<int N>(int i) {
        each_step<Level>([&]<int Ix>() {
          const auto e = detail::get<Ix>(trees)(access<N>(i));
          detail::get<Ix>(sums).add(e);
          if constexpr (step_at<Ix>::keeps) keep(i, e);
        });
        if (--left == 0) {
          each_step<Level>([&]<int Ix>() { detail::get<Ix>(sums).close(); });
          left = block_length;
        }
      });
    char* const of_level = found + Level % 2 * parts::shared_bytes;
    each_step<Level>([&]<int Ix>() { share<Ix>(detail::get<Ix>(sums), of_level); });
    if (P > warp) {
      __syncthreads();
      each_step<Level>([&]<int Ix>() { combine_found<Ix>(detail::get<Ix>(sums), of_level, 0, P / warp); });
    }
    if (plan.parts > 1) {
      if (Level == 0) cluster_begun();
      each_step<Level>([&]<int Ix>() { hand_out<Ix>(detail::get<Ix>(sums), of_level); });
      cluster_barrier();
      each_step<Level>(
          [&]<int Ix>() { combine_found<Ix>(detail::get<Ix>(sums), of_level, row_block / warp, plan.parts); });
    }
    each_step<Level>([&]<int Ix>() {
      detail::get<Ix>(row.values) =
          step_at<Ix>::op::template finish<typename step_at<Ix>::result>(detail::get<Ix>(sums).sum, plan.width);
    });
  }
  /// A row, and what its steps find.
  __device__ void take(bool outside, int64 number) {
    enter(outside, row_offsets<Operands>(plan, number));
    if (plan.row_bytes > 0) {
      copies_done();
      wait_for_row();
    }
    [&]<int... L>(::std::integer_sequence<int, L...>) { (reduce<L>(outside), ...); }
    (::std::make_integer_sequence<int, Program::levels>{});
  }
  /// Waits for the other threads on the row.
  __device__ void wait_for_row() const {
    if (P > warp) __syncthreads();
    else __syncwarp();
  }
  /// The program's results of the row: those that are one for it, and those of each element.
  template <class Target>
  __device__ void store(const Target& target) const {
    const auto tree = detail::bind_row<Operands, division_by_inverse>(program.tree, row.values);
    if (lane == 0 && part == 0 && any_result(target, false)) put<1>(target, tree, false, 0);
    if (any_result(target, true)) each([&]<int N>(int i) { put<N>(target, tree, true, i); });
  }

 protected:
  template <class T>
  __device__ bool any_result(const detail::store_to<T>&, bool moving) const {
    return (plan.of[0] != row_operand::still) == moving;
  }
  template <int First, class... T>
  __device__ bool any_result(const detail::store_several<First, T...>& target, bool moving) const {
    bool any = false;
    target.each([&]<int J, int Ix, class P>(P*) { any = any || (plan.of[Ix] != row_operand::still) == moving; });
    return any;
  }
  template <int N, int Ix, class T>
  __device__ void put_lanes(T* p, int i, const lanes<T, N>& v) const {
    T* const to = p + row.offset[Ix] + i;
    if (N > 1 && plan.of[Ix] != row_operand::vectors) [[unlikely]] {
#pragma unroll
      for (int k = 0; k < N; ++k) to[k] = v.v[k];
    } else {
      store_wide(to, v);
    }
  }
  template <int N, class T, class Tree>
  __device__ void put(const detail::store_to<T>& target, const Tree& tree, bool, int i) const {
    put_lanes<N, 0>(target.p, i, lane_cast<T>(tree(access<N>(i))));
  }
  /// Of several results those that move, or those that do not: all are computed before one is stored.
  template <int N, int First, class... T, class Types, class... K>
  __device__ void put(const detail::store_several<First, T...>& target,
                      const detail::apply<detail::together_op, Types, K...>& tree, bool moving, int i) const {
    const auto wanted = [&](int k) { return (plan.of[k] != row_operand::still) == moving; };
    detail::slots<lanes<T, N>...> v;
    target.each([&]<int J, int Ix, class P>(P*) {
      if (wanted(Ix)) detail::get<J>(v) = lane_cast<P>(detail::get<J>(tree.kids)(access<N>(i)));
    });
    target.each([&]<int J, int Ix, class P>(P* p) {
      if (wanted(Ix)) put_lanes<N, Ix>(p, i, detail::get<J>(v));
    });
  }
  template <int Ix>
  using step_at = ::std::remove_cvref_t<decltype(detail::get<Ix>(::std::declval<const Program&>().steps))>;
  /// The tree of a step of this level for the row.
  template <int Level, int Ix>
  __device__ auto tree_of() const {
    if constexpr (step_at<Ix>::level == Level)
      return detail::bind_row<Operands, division_by_inverse>(detail::get<Ix>(program.steps).tree, row.values);
    else return 0;
  }
  template <int Level, int... Ix>
  __device__ auto bind_level(::std::integer_sequence<int, Ix...>) const {
    return detail::slots<decltype(tree_of<Level, Ix>())...>{{tree_of<Level, Ix>()}...};
  }
  template <int Level, int Ix, class F>
  __device__ static void if_level(const F& f) {
    if constexpr (step_at<Ix>::level == Level) f.template operator()<Ix>();
  }

  template <int Bytes>
  __device__ void bring(char* to, const char* from, int count) const {
#pragma unroll 1
    for (int g = lane; g < count; g += P)
      if constexpr (Bytes >= 4 && Bytes <= 16) copy_ahead<Bytes>(to + g * Bytes, from + g * Bytes);
  }
  template <class T, int N>
  __device__ void keep(int i, const lanes<T, N>& v) const {
    if (row.kept != nullptr) store_wide(reinterpret_cast<T*>(row.kept) + i, v);
  }
  template <int Ix, class Accumulator>
  __device__ void share(Accumulator& a, char* of_level) const {
    using total = typename Accumulator::total;
    a.close();
    const int within = P < warp ? P : warp, t = int(threadIdx.x);
#pragma unroll 1
    for (int half = within / 2; half > 0; half /= 2) a.sum = Accumulator::op::combine(a.sum, shuffle_down(a.sum, half));
    if (P <= warp) {
      const int first = t & (warp - 1) & ~(within - 1);
      a.sum = each_word(a.sum, [first](uint32 w) { return __shfl_sync(~0u, w, first); });
    } else if (t % warp == 0) {
      found_by<Ix, total>(of_level)[t / warp] = a.sum;
    }
  }
  /// Every block of the cluster gets this one's total.
  template <int Ix, class Accumulator>
  __device__ void hand_out(const Accumulator& a, char* of_level) const {
    if (int(threadIdx.x) < plan.parts)
      store_in_block(found_by<Ix, typename Accumulator::total>(of_level) + row_block / warp + part, int(threadIdx.x),
                     a.sum);
  }
  /// Combines what so many warps or blocks have found, in an order that is always the same.
  template <int Ix, class Accumulator>
  __device__ static void combine_found(Accumulator& a, char* of_level, int first, int count) {
    const auto* const shared = found_by<Ix, typename Accumulator::total>(of_level) + first;
    a.sum = shared[0];
#pragma unroll 1
    for (int w = 1; w < count; ++w) a.sum = Accumulator::op::combine(a.sum, shared[w]);
  }
  template <int Ix, class Total>
  __device__ static Total* found_by(char* of_level) {
    return reinterpret_cast<Total*>(of_level + Ix * parts::finders * parts::total_bytes);
  }
};

template <int V, class Target, class Program, int Operands>
__global__ void __launch_bounds__(row_block)
    row_program_kernel(const __grid_constant__ Target target, const __grid_constant__ Program program,
                       const __grid_constant__ row_program_plan<Operands> plan) {
  in_stream_order();
  using worker = row_worker<V, Program, Operands>;
  extern __shared__ __align__(16) char raw[];
  __shared__ __align__(16) char found[2 * worker::parts::shared_bytes];
  const int P = plan.row_threads, group = int(threadIdx.x) >> exponent_of(P),
            groups = int(blockDim.x) >> exponent_of(P);
  worker w{program, plan, raw + group * plan.row_bytes, found, P, int(threadIdx.x) & (P - 1), int(blockIdx.y)};
  if (plan.parts > 1) cluster_begin();
  const int64 number = int64(blockIdx.x) * groups + group;
  const bool outside = number >= plan.rows;
  w.take(outside, outside ? 0 : number);
  if (!outside) w.store(target);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
