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

/// `deep` threads on a row of at most deep * V * row_groups elements; loads are wide.
template <detail::row_function F, int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                const __grid_constant__ thread_space<Operands> s, const int deep, const int64 rows) {
  using T = detail::compute_t<typename Tree::value_type>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  __shared__ T shared[block_threads / warp];
  const int depth = int(threadIdx.x) % deep;
  const int64 row = int64(blockIdx.x) * (block_threads / deep) + int(threadIdx.x) / deep;
  const int64 places = s.extent[s.ndim - 1].divisor;
  lane_access<V, Operands, Tree> base;
  base.start(s);
  if (row < rows) s.move(row, 0, s.kept, base.offset);
  lanes<T, V> x[row_groups];
  T largest = detail::bounds<T>::lowest;
  {
    lane_access<V, Operands, Tree> a[row_groups];
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      a[g] = base;
      const int at = depth + g * deep;
      if (at >= places || row >= rows) continue;
      a[g].inside = V;
#pragma unroll
      for (int k = 0; k < Operands; ++k)
        if (s.lane_step[k] != 0) a[g].offset[k] += at * V;
      a[g].template fetch<reach::wide>(tree);
    }
#pragma unroll
    for (int g = 0; g < row_groups; ++g) {
      if (a[g].inside == 0) continue;
      x[g] = lane_cast<T>(tree(a[g]));
#pragma unroll
      for (int k = 0; k < V; ++k) largest = op::max_op::combine(largest, x[g].v[k]);
    }
  }
  largest = combine_row<op::max_op>(largest, deep, shared);
  // where all is -inf, or +inf is there, that is logsumexp; softmax has no value
  const bool infinite = largest == detail::bounds<T>::highest || largest == detail::bounds<T>::lowest;
  const T top = F != detail::row_function::softmax && infinite ? T(0) : largest;
  T sum = 0;
#pragma unroll
  for (int g = 0; g < row_groups; ++g) {
    if (depth + g * deep >= places) continue;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      const T e = math::exp(x[g].v[k] - top);
      if (F == detail::row_function::softmax) x[g].v[k] = e;
      sum += e;
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
      const int at = depth + g * deep;
      if (at >= places) continue;
      base.offset[0] += (g == 0 ? depth : deep) * V;
      base.inside = V;
#pragma unroll
      for (int k = 0; k < V; ++k)
        x[g].v[k] = F == detail::row_function::softmax ? x[g].v[k] * inverse : x[g].v[k] - logarithm;
      put(base, target, lane_cast<typename Target::value_type>(x[g]));
    }
  }
}

/// How blocks share rows that registers do not hold, or that are not aligned.
struct row_cover {
  enum phase { both, first, second };  ///< first: what parts of rows add up to; second: the results that come of it
  int deep;                            ///< threads of a row in a block, a power of two
  int parts;                           ///< blocks of a row: a cluster, or in two phases
  int32 part;                          ///< places of a part
  int64 rows, places;
  int threads;  ///< of a block
  bool held;    ///< between the passes, in shared memory
};
/// Chooses it. Blocks of a cluster share rows where these are few, more blocks in two kernels where they are very few:
/// what a block does once takes its time, and one block to a row is best where there are enough.
CUDARRAY_NO_INLINE inline row_cover cover_rows(int64 rows, int64 places, int64 bytes, bool twice, int cluster,
                                               int multiprocessors) {
  constexpr int64 least = 4096, far = 16384;  // places of a part; of a row that is long
  row_cover r;
  r.rows = rows;
  r.places = places;
  r.threads = block_threads;
  int64 parts = ceil_div(2 * multiprocessors, rows);
  if (parts > cluster && rows * cluster >= multiprocessors) parts = cluster;
  if (parts > ceil_div(places, least)) parts = ceil_div(places, least);
  if (parts > block_threads) parts = block_threads;
  r.parts = int(parts);
  r.part = int32(ceil_div(places, parts));
  if (parts > 1) {
    r.deep = r.threads;
  } else if (twice && places > far) {  // few rows at a time, so that the second pass finds them in the cache
    r.deep = r.threads = row_threads;
  } else {  // threads of a warp need not wait for each other
    const int few = power_of_two_above(ceil_div(places, 32), r.threads);
    const int many = power_of_two_above(ceil_div(places, 8), warp);
    r.deep = few > many ? few : many;
  }
  r.held = twice && parts <= cluster &&
           r.threads / r.deep * int64(r.part) * bytes <= most_shared - row_threads / warp * bytes;
  return r;
}
/// The largest of a part of a row, and the sum of exp(x - largest).
template <class T>
struct row_part {
  T largest, sum;
};

/// The larger number; NaN is handed on by the sum that follows.
struct larger {
  template <class T>
  static __device__ T combine(T a, T b) {
    return a > b ? a : b;
  }
};

/// Two passes over rows: the first keeps the largest so far and the sum relative to it (Milakov and Gimelshein 2018).
/// Lane k of thread t is `deep` places from lane k - 1: a warp's accesses lie together whatever the alignment.
template <detail::row_function F, int V, int Operands, class Target, class Tree, class Part>
__global__ void __launch_bounds__(row_threads)
    row_passes_kernel(const __grid_constant__ Target target, const __grid_constant__ Tree tree,
                      const __grid_constant__ thread_space<Operands> s, const __grid_constant__ row_cover r,
                      const row_cover::phase phase, Part* found) {
  using T = detail::compute_t<typename Tree::value_type>;
  using access = lane_access<V, Operands, Tree>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  extern __shared__ __align__(16) char raw[];
  __shared__ T shared[row_threads / warp];
  const int deep = r.deep, t = int(threadIdx.x) % deep, of_block = int(threadIdx.x) / deep;
  const int64 row = int64(blockIdx.x) * (int(blockDim.x) / deep) + of_block, begin = int64(blockIdx.y) * r.part;
  const int32 n = row >= r.rows ? 0 : int32(r.places - begin < r.part ? r.places - begin : r.part);
  T* const held = reinterpret_cast<T*>(raw) + of_block * n;
  access base;
  base.start(s);
  int64 step[Operands];
  if (n > 0) s.move(row, 0, s.kept, base.offset);
#pragma unroll
  for (int k = 0; k < Operands; ++k) {
    step[k] = s.step[k][s.ndim - 1];
    base.offset[k] += begin * step[k];
  }
  // `use(a, at)` for V places from `at` on, `deep` apart, after `prepare(a)` of several such
  const auto each = [&](const auto& prepare, const auto& use) {
    constexpr int U = 4;
    const auto at_place = [&](int32 at, int inside) {
      access a = base;
      a.inside = inside;
#pragma unroll
      for (int k = 0; k < Operands; ++k) a.offset[k] += at * step[k];
      return a;
    };
    int32 at = t;
    for (; at - t <= n - U * V * deep; at += U * V * deep) {
      access a[U];
#pragma unroll
      for (int u = 0; u < U; ++u) prepare(a[u] = at_place(at + u * V * deep, V));
#pragma unroll
      for (int u = 0; u < U; ++u) use(a[u], at + u * V * deep);
    }
    if (at - t >= n) return;
    access a[U];  // the rest
#pragma unroll
    for (int u = 0; u < U; ++u) {
      int inside = 0;
#pragma unroll
      for (int k = 0; k < V; ++k) inside += at + (u * V + k) * deep < n;
      a[u] = at_place(at + u * V * deep, inside);
      if (inside > 0) prepare(a[u]);
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (a[u].inside > 0) use(a[u], at + u * V * deep);
  };
  const auto fetch = [&](access& a) { a.template fetch<reach::apart>(tree); };
  const auto finite = [](T v) { return v == detail::bounds<T>::highest || v == detail::bounds<T>::lowest ? T(0) : v; };
  T largest = detail::bounds<T>::lowest, sum = 0;
  if (phase != row_cover::second) {
    each(fetch, [&](const access& a, int32 at) {
      const auto v = lane_cast<T>(tree(a));
      T top = largest;
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < a.inside) top = larger::combine(v.v[k], top);
      const T from = finite(top);
      sum *= math::exp(largest - from);
      largest = top;
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < a.inside) {
          sum += math::exp(v.v[k] - from);
          if (r.held) held[at + k * deep] = v.v[k];
        }
    });
  }
  T top;
  const auto combine = [&] {
    top = combine_row<larger>(largest, deep, shared);
    sum = combine_row<op::sum_op>(T(sum * math::exp(largest - finite(top))), deep, shared);
  };
  if (phase != row_cover::second) combine();
  if (n == 0) return;
  if (r.parts > 1) {
    if (phase != row_cover::second && t == 0) found[row * r.parts + blockIdx.y] = {top, sum};
    if (phase == row_cover::first) return;
    if (phase == row_cover::both) cluster_barrier();
    const Part of_part = t < r.parts ? found[row * r.parts + t] : Part{detail::bounds<T>::lowest, 0};
    largest = of_part.largest;
    sum = of_part.sum;
    combine();
  }
  // as above
  if (F == detail::row_function::softmax && finite(top) != top) sum = top - top;
  const T logarithm = finite(top) == top || sum != sum ? math::log(sum) + top : top, inverse = 1 / sum;
  if constexpr (per_row) {
    if (t == 0 && blockIdx.y == 0) target(place_access{base.offset[0]}, logarithm);
  } else {
    const auto finish = [&](const access& a, lanes<T, V> v) {
#pragma unroll
      for (int k = 0; k < V; ++k)
        v.v[k] = F == detail::row_function::softmax ? math::exp(v.v[k] - top) * inverse : v.v[k] - logarithm;
      put(a, target, lane_cast<typename Target::value_type>(v));
    };
    if (r.held)
      each([](access&) {},
           [&](const access& a, int32 at) {
             lanes<T, V> v;
#pragma unroll
             for (int k = 0; k < V; ++k) v.v[k] = k < a.inside ? held[at + k * deep] : T(0);
             finish(a, v);
           });
    else each(fetch, [&](const access& a, int32) { finish(a, lane_cast<T>(tree(a))); });
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
  constexpr int V = gpu::lanes_for<Tree::widest, loaded::widest>;
  constexpr bool per_row = F == detail::row_function::logsumexp;
  const int x = s.ndim - 1;
  if (s.ndim != s.kept + 1 || loaded::count == 0 || s.size(0, s.ndim) == 0 || s.extent[x] > INT32_MAX / 4) return false;
  gpu::survey<Operands> leaves;
  detail::for_each_operand(tree, leaves);
  if (!per_row) leaves.of[0] = {reinterpret_cast<const void*>(256), int(sizeof(typename target::value_type))};  // new
  const int64 rows = s.size(0, s.kept), places = s.extent[x];
  uint64 wide = 0;
  if (places % V == 0 && places <= gpu::block_threads * V * gpu::row_groups &&
      gpu::wide_operands(s, leaves.of, x, V, wide) && __builtin_popcountll(wide) == loaded::count + !per_row) {
    gpu::thread_space<Operands> t;
    t.divide(s, V, x, true);
    t.wide = wide;
    int deep = gpu::power_of_two_above(gpu::ceil_div(t.extent[x].divisor, gpu::row_groups), gpu::block_threads);
    while (deep < gpu::warp && deep * 4 < t.extent[x].divisor)
      deep *= 2;  // whole lines of memory, where rows have them
    const target to = make();
    gpu::launch(device.ordinal, s.store, Operands, gpu::rows_kernel<F, V, Operands, target, Tree>,
                dim3(unsigned(gpu::ceil_div(rows, gpu::block_threads / deep))), gpu::block_threads, 0, to, tree, t,
                deep, rows);
    return true;
  }
  for (int k = 0; k < Operands; ++k)
    if (leaves.of[k].data != nullptr && s.stride[k][x] != 1 && s.stride[k][x] != 0) return false;
  constexpr auto passes = gpu::row_passes_kernel<F, V, Operands, target, Tree, gpu::row_part<T>>;
  static int clusters[gpu::most_devices];  // how many blocks they have
  int& cluster = clusters[device.ordinal];
  if (cluster == 0) cluster = gpu::most_of_cluster(device.ordinal, reinterpret_cast<const void*>(passes));
  gpu::thread_space<Operands> t;
  t.divide(s, 1, x, true);
  const gpu::row_cover r =
      gpu::cover_rows(rows, places, int64(sizeof(T)), !per_row, cluster, gpu::multiprocessors(device.ordinal));
  for (int k = 0; k < Operands; ++k) t.lane_step[k] = r.deep * s.stride[k][x];
  const int64 together = r.threads / r.deep;
  const target to = make();
  detail::storage_ref found;
  if (r.parts > 1) found = allocate(device, ::std::size_t(rows * r.parts) * sizeof(gpu::row_part<T>));
  const auto run = [&](gpu::row_cover::phase phase, int parts) {
    gpu::launch_clusters(phase == gpu::row_cover::both ? unsigned(parts) : 1, device.ordinal, s.store, Operands, passes,
                         dim3(unsigned(gpu::ceil_div(rows, together)), unsigned(parts)), unsigned(r.threads),
                         r.held ? ::std::size_t(together * r.part) * sizeof(T) : 0, to, tree, t, r, phase,
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
