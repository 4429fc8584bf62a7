// Softmax and its kin on CUDA: a row is read once and held in registers, or read twice.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/rows.hpp"
#include "reduce.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

inline constexpr int row_groups = 8;      ///< groups of lanes that a thread holds of a row, at most
inline constexpr int row_threads = 1024;  ///< of a block on a long row

/// The larger number; NaN is handed on by the sum that follows.
struct larger {
  template <class T>
  static __device__ T combine(T a, T b) {
    return fmax(a, b);
  }
};

/// exp(x), of half types' values by the device's own instruction.
template <class Value, class T>
__device__ T exp_of(T x) {
  if constexpr (sizeof(Value) < sizeof(T)) return __expf(x);
  else return math::exp(x);
}

/// Combines the `deep` threads of a row; each gets the result. `deep` is a power of two.
template <class Op, class T>
__device__ T combine_row(T v, int deep, T* shared) {
  for (int half = (deep < warp ? deep : warp) / 2; half > 0; half /= 2)
    v = Op::combine(v, T(__shfl_xor_sync(~0u, v, half)));
  if (deep <= warp) return v;
  const int t = int(threadIdx.x), first = t / deep * deep / warp;
  __syncthreads();  // shared memory may still be read
  if (t % warp == 0) shared[t / warp] = v;
  __syncthreads();
  v = shared[first];
  for (int w = 1; w < deep / warp; ++w) v = Op::combine(v, shared[first + w]);
  return v;
}

/// What elements are taken relative to: the largest of them, where that is a number.
template <class T>
__device__ T finite_or_zero(T v) {
  return v == detail::bounds<T>::highest || v == detail::bounds<T>::lowest ? T(0) : v;
}
/// The largest of a part of a row, and the sum of exp(x - largest).
template <class T>
struct row_part {
  T largest, sum;
};
/// That of a row, of what `deep` threads have found.
template <class T>
__device__ row_part<T> combine_parts(const row_part<T>& mine, int deep, T* shared) {
  const T top = combine_row<larger>(mine.largest, deep, shared);
  return {top, combine_row<op::sum_op>(T(mine.sum * math::exp(mine.largest - finite_or_zero(top))), deep, shared)};
}
/// Where all is -inf, or +inf is there, that is logsumexp; softmax has no value.
template <class T>
__device__ T logarithm_of(const row_part<T>& row) {
  return finite_or_zero(row.largest) == row.largest || row.sum != row.sum ? math::log(row.sum) + row.largest
                                                                          : row.largest;
}
template <class T>
__device__ T inverse_of(const row_part<T>& row) {
  return 1 / (finite_or_zero(row.largest) == row.largest ? row.sum : row.largest - row.largest);
}

/// `deep` threads on a row of at most deep * V * row_groups elements. `Wide`: so are loads; otherwise a thread's
/// elements are `deep` apart, so that a warp's accesses lie together whatever the alignment.
template <detail::row_function F, bool Wide, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ thread_space<Operands> s, const int deep, const int64 rows) {
  in_stream_order();
  using T = detail::compute_t<typename Tree::value_type>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  constexpr reach how = Wide ? reach::wide : reach::masked;
  __shared__ T shared[block_threads / warp];
  const int shift = exponent_of(deep), depth = int(threadIdx.x) & (deep - 1), x_axis = s.ndim - 1;
  const int64 row = (int64(blockIdx.x) * block_threads + int(threadIdx.x)) >> shift;
  // elements of this thread
  int mine = row < rows ? (int(s.extent[x_axis].divisor) - depth + deep - 1) >> shift : 0;
  if (Wide) mine *= V;
  basic_access<true, V, Operands, Tree> base;
  base.start(s);
  if (row < rows) s.move(row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) base.offset[k] += s.step[k][x_axis] * (Wide ? depth * V : depth);
  lanes<T, V> x[row_groups];
  T largest = detail::bounds<T>::lowest;
  {
    basic_access<true, V, Operands, Tree> a[row_groups];
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      if (g * V >= mine) break;
      a[g] = base;
      a[g].inside = Wide || mine - g * V > V ? V : mine - g * V;
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[g].offset[k] += s.step[k][x_axis] * (g * deep * V);
      a[g].template fetch<how>(tree);
    }
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      if (g * V >= mine) break;
      x[g] = lane_cast<T>(tree(a[g]));
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (Wide || g * V + k < mine) largest = larger::combine(largest, x[g].v[k]);
    }
  }
  largest = combine_row<larger>(largest, deep, shared);
  // where all is -inf, or +inf is there, that is logsumexp; softmax has no value
  const bool infinite = largest == detail::bounds<T>::highest || largest == detail::bounds<T>::lowest;
  const T top = F != detail::row_function::softmax && infinite ? T(0) : largest;
  T sum = 0;
#pragma unroll
  for (int g = 0; g < row_groups; ++g) {
    if (g * V >= mine) break;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      const T e = exp_of<typename Tree::value_type>(x[g].v[k] - top);
      if (F == detail::row_function::softmax) x[g].v[k] = e;
      if (Wide || g * V + k < mine) sum += e;
    }
  }
  sum = combine_row<op::sum_op>(sum, deep, shared);
  if (row >= rows) return;
  const T logarithm = math::log(sum) + top, inverse = 1 / sum;
  if constexpr (per_row) {
    if (depth == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      if (g * V >= mine) break;
      base.offset[0] += g == 0 ? 0 : deep * V;
      base.inside = Wide || mine - g * V > V ? V : mine - g * V;
#pragma unroll
      for (int k = 0; k < V; ++k)
        x[g].v[k] = F == detail::row_function::softmax ? x[g].v[k] * inverse : x[g].v[k] - logarithm;
      put(base, target, lane_cast<typename Target::value_type>(x[g]));
    }
  }
}

/// How the blocks of a cluster hold a row.
struct row_share {
  int32 places;  ///< of a row
  int32 part;    ///< groups of V of these in a block
  int lead;      ///< elements the first row is off alignment
};
inline constexpr int share_threads = 512;  ///< of a block of a cluster, at most
inline constexpr int most_parts = 8;       ///< blocks of a cluster
/// Chooses the grid for row_share_kernel, and the threads of its blocks; false where it does not fit, or should not.
/// `groups` of V elements lie in a row, which is held or (`once`) not.
CUDARRAY_NO_INLINE inline bool share_rows(int64 rows, int64 groups, bool once, int cluster, int multiprocessors,
                                          dim3& grid, int& threads) {
  constexpr int64 least = 1024;  // groups of a block, where there are too few rows
  threads = power_of_two_above(ceil_div(groups, row_groups), block_threads);
  int64 parts = 1;
  if (!once) {
    if (groups > int64(cluster) * block_threads * row_groups) threads = share_threads;
    while (parts * threads * row_groups < groups) parts *= 2;
  }
  while (parts < cluster && rows * parts < 2 * multiprocessors && groups > 2 * parts * least) parts *= 2;
  grid = dim3(unsigned(rows), unsigned(parts));
  return threads >= 64 && parts <= cluster && (groups < 2 * least || rows * cluster >= multiprocessors);
}
/// Rows whose loads are wide where they are aligned; their ends go one by one. A row is held by a block or by those of
/// a cluster; for logsumexp, which does not need it again, a block goes over as much as it is given.
template <detail::row_function F, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(share_threads, 2)
    row_share_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                     const __grid_constant__ thread_space<Operands> s, const __grid_constant__ row_share r) {
  in_stream_order();
  using value = typename Tree::value_type;
  using T = detail::compute_t<value>;
  constexpr bool softmax = F == detail::row_function::softmax, per_row = F == detail::row_function::logsumexp;
  constexpr bool keeps = softmax && ::std::is_same_v<value, T>;
  constexpr int leader = registers<V, Tree>::first, groups = per_row ? row_groups / 2 : row_groups;
  __shared__ row_part<T> of_warps[most_parts * share_threads / warp];
  const int deep = int(blockDim.x), t = int(threadIdx.x), parts = int(gridDim.y);
  if (parts > 1) cluster_arrive();
  lane_access<1, Operands, Tree> edge;
  edge.start(s);
  s.move(blockIdx.x, 0, s.kept, edge.offset);
  basic_access<true, V, Operands, Tree> base;
  base.start(s);
  base.inside = V;
  const int before = -(r.lead + int(edge.offset[leader])) & (V - 1), middle = (r.places - before) / V;
  const int first = int(blockIdx.y) * r.part, behind = t < before ? t : t + middle * V;
  int left = middle - first < r.part ? middle - first : r.part;  // groups of V, from this block's first
#pragma unroll
  for (int k = 0; k < Operands; ++k) {
    base.offset[k] = edge.offset[k] + (before + (first + t) * V) * s.step[k][s.ndim - 1];
    edge.offset[k] += behind * s.step[k][s.ndim - 1];
  }
  edge.inside = blockIdx.y == 0 && behind < r.places;
  if (edge.inside > 0) edge.template fetch<reach::wide>(tree);
  held_lanes<true, value, V> x[groups];  // exponentials, or what they are of, where that is smaller
  const auto numbers = [&](int g) { return lane_cast<T>(repack<lanes<value, V>>(x[g])); };
  row_part<T> mine{detail::bounds<T>::lowest, 0};
  T from;
  do {
    basic_access<true, V, Operands, Tree> a[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      a[g] = base;
#pragma unroll
      for (int k = 0; k < Operands; ++k) a[g].offset[k] += int64(g * deep * V) * s.step[k][s.ndim - 1];
      if (t + g * deep < left) a[g].template fetch<reach::wide>(tree);
    }
    T top = mine.largest;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      x[g] = repack<held_lanes<true, value, V>>(tree(a[g]));
      const auto v = numbers(g);
#pragma unroll
      for (int k = 0; k < V; ++k) top = larger::combine(top, v.v[k]);
    }
    from = finite_or_zero(top);
    mine = {top, mine.sum * exp_of<value>(mine.largest - from)};
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      auto v = numbers(g);
#pragma unroll
      for (int k = 0; k < V; ++k) mine.sum += v.v[k] = exp_of<value>(v.v[k] - from);
      if constexpr (keeps) x[g] = v;
    }
    if constexpr (per_row) {
      left -= groups * deep;
#pragma unroll
      for (int k = 0; k < Operands; ++k) base.offset[k] += int64(groups * deep * V) * s.step[k][s.ndim - 1];
    }
  } while (per_row && left > 0);
  const T held = mine.largest;
  T end = detail::bounds<T>::lowest;
  if (edge.inside > 0) {
    end = element_cast<T>(tree(edge).v[0]);
    const T top = larger::combine(held, end), zero = finite_or_zero(top);
    mine = {top, mine.sum * exp_of<value>(held - zero) + exp_of<value>(end - zero)};
  }
  mine = combine_parts(mine, warp, static_cast<T*>(nullptr));
  const int lane = t % warp, warps = deep / warp;
  row_part<T>* const place = of_warps + int(blockIdx.y) * warps + t / warp;
  if (parts > 1) {
    cluster_wait();  // all have begun
    if (lane < parts) store_in_block(place, lane, mine);
    cluster_arrive();
    cluster_wait();
  } else {
    if (lane == 0) *place = mine;
    __syncthreads();
  }
  row_part<T> whole{detail::bounds<T>::lowest, 0};
  for (int i = lane; i < parts * warps; i += warp) {
    const row_part<T> next = of_warps[i];
    const T top = larger::combine(whole.largest, next.largest), zero = finite_or_zero(top);
    whole = {top, whole.sum * math::exp(whole.largest - zero) + next.sum * math::exp(next.largest - zero)};
  }
  whole = combine_parts(whole, warp, static_cast<T*>(nullptr));
  if constexpr (per_row) {
    if (t == 0 && blockIdx.y == 0) target(place_access{base.offset[0]}, logarithm_of(whole));
  } else {
    const T logarithm = logarithm_of(whole), inverse = inverse_of(whole), zero = finite_or_zero(whole.largest),
            factor = inverse * math::exp(held - zero);
    if (edge.inside > 0)
      target(place_access{edge.offset[0]},
             element_cast<value>(softmax ? math::exp(end - zero) * inverse : end - logarithm));
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (t + g * deep >= left) break;
      auto v = numbers(g);
#pragma unroll
      for (int k = 0; k < V; ++k)
        v.v[k] = softmax ? (keeps ? v.v[k] : exp_of<value>(v.v[k] - from)) * factor : v.v[k] - logarithm;
      auto at = base;
      at.offset[0] += g * deep * V;
      put(at, target, lane_cast<value>(v));
    }
  }
}

/// How blocks share rows that registers do not hold.
struct row_cover {
  enum phase { both, first, second };  ///< first: what parts of rows add up to; second: the results that come of it
  int parts;                           ///< blocks of a row: a cluster, or in two phases
  int32 part;                          ///< places of a part
  int64 places;
  int threads;  ///< of a block
};
/// Chooses it. Blocks of a cluster share rows where these are few, more blocks in two kernels where they are very few:
/// what a block does once takes its time, and one block to a row is best where there are enough.
CUDARRAY_NO_INLINE inline row_cover cover_rows(int64 rows, int64 places, bool twice, int cluster, int multiprocessors) {
  constexpr int64 least = 4096, far = 16384;  // places of a part; of a row that is long
  row_cover r;
  r.places = places;
  int64 parts = ceil_div(2 * multiprocessors, rows);
  if (parts > cluster && rows * cluster >= multiprocessors) parts = cluster;
  if (parts > ceil_div(places, least)) parts = ceil_div(places, least);
  if (parts > block_threads) parts = block_threads;
  r.parts = int(parts);
  r.part = int32(ceil_div(places, parts));
  // few rows at a time, so that the second pass finds them in the cache
  r.threads = parts == 1 && twice && places > far ? row_threads : block_threads;
  return r;
}

/// Two passes over a row or a part of it: the first keeps the largest so far and the sum relative to it (Milakov and
/// Gimelshein 2018). Lane k of a thread is a block's width from lane k - 1: a warp's accesses lie together whatever the
/// alignment.
template <detail::row_function F, int V, int Operands, class Target, class Tree, class T>
__global__ void __launch_bounds__(row_threads)
    row_passes_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                      const __grid_constant__ thread_space<Operands> s, const __grid_constant__ row_cover r,
                      const row_cover::phase phase, row_part<T>* found) {
  in_stream_order();
  using access = lane_access<V, Operands, Tree>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  __shared__ T shared[row_threads / warp];
  const int deep = int(blockDim.x), t = int(threadIdx.x);
  const int64 row = blockIdx.x, begin = int64(blockIdx.y) * r.part;
  const int32 n = int32(r.places - begin < r.part ? r.places - begin : r.part);
  access base;
  base.start(s);
  int64 step[Operands];
  s.move(row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) {
    step[k] = s.step[k][s.ndim - 1];
    base.offset[k] += begin * step[k];
  }
  // `use(a)` for U times V places, `deep` apart; lanes may be outside
  constexpr int U = 4;
  const auto each = [&](const auto& use) {
    for (int32 at = t; at - t < n; at += U * V * deep) {
      access a[U];
      const auto fetch = [&]<bool All>(::std::bool_constant<All>) {
#pragma unroll
        for (int u = 0; u < U; ++u) {
          a[u] = base;
          a[u].inside = All ? V : 0;
#pragma unroll
          for (int k = 0; k < V; ++k)
            if (!All) a[u].inside += at + (u * V + k) * deep < n;
#pragma unroll
          for (int k = 0; k < Operands; ++k) a[u].offset[k] += (at + u * V * deep) * step[k];
          if (All || a[u].inside > 0) a[u].template fetch<reach::apart>(tree);
        }
        use(a);
      };
      if (at - t <= n - U * V * deep) fetch(::std::true_type());
      else fetch(::std::false_type());
    }
  };
  T largest = detail::bounds<T>::lowest, sum = 0;
  if (phase != row_cover::second) {
    each([&](const access(&a)[U]) {
      lanes<T, V> v[U];
      T top = largest;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (a[u].inside == 0) continue;
        v[u] = lane_cast<T>(tree(a[u]));
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < a[u].inside) top = larger::combine(top, v[u].v[k]);
      }
      const T from = finite_or_zero(top);
      sum *= math::exp(largest - from);
      largest = top;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        T part = 0;
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < a[u].inside) part += exp_of<typename Tree::value_type>(v[u].v[k] - from);
        sum += part;
      }
    });
  }
  row_part<T> whole{largest, sum};
  if (phase != row_cover::second) whole = combine_parts(whole, deep, shared);
  if (r.parts > 1) {
    if (phase != row_cover::second && t == 0) found[row * r.parts + blockIdx.y] = whole;
    if (phase == row_cover::first) return;
    if (phase == row_cover::both) cluster_arrive(), cluster_wait();
    whole =
        combine_parts(t < r.parts ? found[row * r.parts + t] : row_part<T>{detail::bounds<T>::lowest, 0}, deep, shared);
  }
  const T logarithm = logarithm_of(whole), inverse = inverse_of(whole), top = whole.largest;
  if constexpr (per_row) {
    if (t == 0 && blockIdx.y == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
    each([&](const access(&a)[U]) {
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (a[u].inside == 0) continue;
        auto v = lane_cast<T>(tree(a[u]));
#pragma unroll
        for (int k = 0; k < V; ++k)
          v.v[k] = F == detail::row_function::softmax ? exp_of<typename Tree::value_type>(v.v[k] - top) * inverse
                                                      : v.v[k] - logarithm;
        put(a[u], target, lane_cast<typename Target::value_type>(v));
      }
    });
  }
}

#pragma GCC visibility pop
}  // namespace gpu

/// Rows whose elements lie side by side, of any length and alignment.
template <class Build, detail::row_function F, class Make, class Tree, int Operands>
bool run_rows(cuda device, const Make& make, const Tree& tree, const detail::iteration_space<Operands>& s) {
  using loaded = gpu::registers<1, Tree>;
  using target = decltype(make());
  using T = detail::compute_t<typename Tree::value_type>;
  constexpr int V = gpu::lanes_for<Tree::widest, gpu::widest_loaded<Tree>>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  const int x = s.ndim - 1;
  if (s.ndim != s.kept + 1 || loaded::count == 0 || s.size(0, s.ndim) == 0 || s.extent[x] > INT32_MAX / 4) return false;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  if (!per_row) leaves.of[0] = {reinterpret_cast<const void*>(256), int(sizeof(typename target::value_type))};  // new
  const int64 rows = s.size(0, s.kept), places = s.extent[x];
  for (int k = 0; k < Operands; ++k)
    if (leaves.of[k].data != nullptr && s.stride[k][x] != 1 && s.stride[k][x] != 0) return false;
  gpu::thread_space<Operands> t;
  uint64 operands = 0;
  const bool wide = places % V == 0 && gpu::wide_operands(s, leaves.of, x, V, operands) &&
                    __builtin_popcountll(operands) == loaded::count + !per_row;
  const int64 groups = gpu::ceil_div(places, V);
  constexpr auto shared = gpu::row_share_kernel<F, V, Operands, target, Tree>;
  const int multiprocessors = gpu::multiprocessors(device.ordinal);
  const int cluster =
      gpu::compiled_for_hopper(device.ordinal, reinterpret_cast<const void*>(shared)) ? gpu::most_parts : 1;
  dim3 grid;
  int threads;
  if (const int k = gpu::equally_aligned(s, leaves.of, x, V);
      k > 0 &&
      !(wide && sizeof(T) == sizeof(typename Tree::value_type) && groups <= gpu::block_threads * gpu::row_groups) &&
      (per_row || gpu::aligned_as_new(s, leaves.of[k], k, x, V)) &&
      gpu::share_rows(rows, groups, per_row, cluster, multiprocessors, grid, threads)) {
    t.divide(s, 1, x, true);
    t.wide = 1;
    gpu::launch_clusters(grid.y, device.ordinal, s.store, Operands, shared, grid, unsigned(threads), 0, make(), tree, t,
                         {int32(places), int32(gpu::ceil_div(groups, grid.y)), gpu::off_alignment(leaves.of[k], V)});
    return true;
  }
  if (groups <= gpu::block_threads * gpu::row_groups) {
    t.divide(s, wide ? V : 1, x, true);
    t.wide = wide ? operands : 0;
    int deep = gpu::power_of_two_above(gpu::ceil_div(groups, gpu::row_groups), gpu::block_threads);
    // whole lines of memory, where rows have them
    while (deep < gpu::warp && (deep * 4 < groups || (!wide && deep < 8 && deep < groups))) deep *= 2;
    if (!wide)
      for (int k = 0; k < Operands; ++k) t.lane_step[k] = deep * s.stride[k][x];
    const target to = make();
    gpu::launch(device.ordinal, s.store, Operands,
                wide ? gpu::rows_kernel<F, true, V, Operands, target, Tree>
                     : gpu::rows_kernel<F, false, V, Operands, target, Tree>,
                dim3(unsigned(gpu::ceil_div(rows, gpu::block_threads / deep))), gpu::block_threads, 0, to, tree, t,
                deep, rows);
    return true;
  }
  constexpr auto passes = gpu::row_passes_kernel<F, V, Operands, target, Tree, T>;
  t.divide(s, 1, x, true);
  const gpu::row_cover r = gpu::cover_rows(rows, places, !per_row, cluster, multiprocessors);
  for (int k = 0; k < Operands; ++k) t.lane_step[k] = r.threads * s.stride[k][x];
  const target to = make();
  detail::storage_ref found;
  if (r.parts > 1) found = allocate(device, ::std::size_t(rows * r.parts) * sizeof(gpu::row_part<T>));
  const auto run = [&](gpu::row_cover::phase phase, int parts) {
    gpu::launch_clusters(phase == gpu::row_cover::both ? unsigned(parts) : 1, device.ordinal, s.store, Operands, passes,
                         dim3(unsigned(rows), unsigned(parts)), unsigned(r.threads), 0, to, tree, t, r, phase,
                         static_cast<gpu::row_part<T>*>(found.get() ? found->data : nullptr));
  };
  if (r.parts <= cluster) {
    run(gpu::row_cover::both, r.parts);
  } else {
    run(gpu::row_cover::first, r.parts);
    run(gpu::row_cover::second, per_row ? 1 : r.parts);
  }
  return true;
}

}  // namespace cudarray::inline v0::backend
