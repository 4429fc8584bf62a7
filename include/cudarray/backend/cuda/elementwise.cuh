// Elementwise plans on CUDA: a flat kernel with wide accesses, and a general one.
// SPDX-License-Identifier: MIT
#pragma once

#include "launch.cuh"

namespace cudarray::inline v0::backend {
namespace gpu {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// V lanes in registers.
template <class T, int V>
struct lanes {
  T v[V];
};
template <class To, class T, int V>
__device__ lanes<To, V> lane_cast(const lanes<T, V>& a) {
  lanes<To, V> r;
#pragma unroll
  for (int i = 0; i < V; ++i) r.v[i] = detail::lane_cast<To>(a.v[i]);
  return r;
}

/// V neighbouring elements; operands step by 1 (a bit in `steps`) or stand still.
template <int V, int Operands>
struct flat_access {
  int64 i;
  uint64 steps;
  template <int I, class T>
  __device__ lanes<T, V> load(const T* p) const {
    struct alignas(V * sizeof(T)) wide {
      lanes<T, V> v;
    };
    if (steps >> I & 1) return reinterpret_cast<const wide*>(p + i)->v;
    return splat(*p);
  }
  template <class T>
  __device__ lanes<T, V> splat(T v) const {
    lanes<T, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = v;
    return r;
  }
  template <int I, class G>
  __device__ auto generate(const G& g) const {
    lanes<typename G::value_type, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = g(steps >> I & 1 ? i + k : int64(0));
    return r;
  }
  template <class Op, class... L>
  __device__ auto apply(const Op& op, const L&... l) const {
    lanes<::std::remove_cvref_t<decltype(op(l.v[0]...))>, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = op(l.v[k]...);
    return r;
  }
};

template <int V, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    flat_kernel(const Target target, const Tree tree, const int64 n, const uint64 steps) {
  using T = typename Target::value_type;
  struct alignas(V * sizeof(T)) wide {
    lanes<T, V> v;
  };
  const int64 first = int64(blockIdx.x) * blockDim.x + threadIdx.x, stride = int64(gridDim.x) * blockDim.x;
  for (int64 i = first * V; i + V <= n; i += stride * V)
    reinterpret_cast<wide*>(target.p + i)->v = lane_cast<T>(tree(flat_access<V, Operands>{i, steps}));
  if (const int64 i = n / V * V + first; i < n) {
    element_access<int64, Operands> a;
#pragma unroll
    for (int k = 0; k < Operands; ++k) a.offset[k] = steps >> k & 1 ? i : 0;
    target(a, tree(a));
  }
}

template <class Index, int Operands, class Target, class Tree>
__global__ void __launch_bounds__(block_threads)
    general_kernel(const Target target, const Tree tree, const device_space<Index, Operands> s, const Index n) {
  const Index stride = Index(gridDim.x) * blockDim.x;
  for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    element_access<Index, Operands> a = {};
    s.add_offsets(i, 0, s.ndim, a.offset);
    target(a, tree(a));
    if (i > n - stride) break;  // the next step could overflow
  }
}

/// Visits the pointers of a plan: true if all operands that move are aligned for V lanes.
template <int V, int I, class T>
bool aligned(const detail::load<I, T>& l) {
  return reinterpret_cast<::std::uintptr_t>(l.p) % (V * sizeof(T)) == 0;
}
template <int V, class T>
bool aligned(const detail::constant<T>&) {
  return true;
}
template <int V, int I, class G>
bool aligned(const detail::generated<I, G>&) {
  return true;
}
template <int V, int I, class T, class X>
bool aligned(const detail::gathered<I, T, X>&) {
  return false;
}
template <int V, class Op, class Types, class... K>
bool aligned(const detail::apply<Op, Types, K...>& a) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) { return (aligned<V>(detail::get<J>(a.kids)) && ...); }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

template <class Tree>
inline constexpr bool has_gathered = false;
template <int I, class T, class X>
inline constexpr bool has_gathered<detail::gathered<I, T, X>> = true;
template <class Op, class Types, class... K>
inline constexpr bool has_gathered<detail::apply<Op, Types, K...>> = (has_gathered<K> || ...);

#pragma GCC visibility pop
}  // namespace gpu

template <class Build, class Target, class Tree, int Operands>
void run_elementwise(cuda device, const Target& target, const Tree& tree, const detail::iteration_space<Operands>& s) {
  static_assert(sizeof(Tree) + sizeof(gpu::device_space<int64, Operands>) <= 4096,
                "a plan must fit the kernel parameters");
  static_assert(::std::is_trivially_copyable_v<Tree> && ::std::is_trivially_copyable_v<Target>);
  const int64 n = s.size(0, s.ndim), most_blocks = int64(gpu::multiprocessors(device.ordinal)) * 16;
  const auto blocks = [&](int64 threads) {
    const int64 b = gpu::ceil_div(threads, gpu::block_threads);
    return dim3(unsigned(b < most_blocks ? (b > 0 ? b : 1) : most_blocks));
  };
  if constexpr (Target::direct && !gpu::has_gathered<Tree>) {
    using T = typename Target::value_type;
    constexpr int widest = int(sizeof(T)) > Tree::widest ? int(sizeof(T)) : Tree::widest;
    constexpr int V = widest >= 16 ? 1 : widest >= 8 ? 2 : 4;
    bool flat =
        s.ndim == 1 && s.stride[0][0] == 1 && reinterpret_cast<::std::uintptr_t>(target.p) % (V * sizeof(T)) == 0;
    uint64 steps = 1;
    for (int k = 1; k < Operands && flat; ++k) {
      const int64 step = s.stride[k][0];
      flat = step == 0 || step == 1;
      steps |= uint64(step) << k;
    }
    if (flat && gpu::aligned<V>(tree))
      return gpu::launch(device.ordinal, s.store, Operands, gpu::flat_kernel<V, Operands, Target, Tree>,
                         blocks(gpu::ceil_div(n, V)), gpu::block_threads, 0, target, tree, n, steps);
  }
  const auto general = [&]<class Index>(Index) {
    gpu::launch(device.ordinal, s.store, Operands, gpu::general_kernel<Index, Operands, Target, Tree>, blocks(n),
                gpu::block_threads, 0, target, tree, gpu::device_space<Index, Operands>(s), Index(n));
  };
  if (gpu::fits_32_bits(s)) general(int32{});
  else general(int64{});
}

}  // namespace cudarray::inline v0::backend
