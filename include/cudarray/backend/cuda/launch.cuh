// The one kernel launch, and how the threads and lanes of a kernel cover an iteration space.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/plan.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend::gpu {

inline constexpr int block_threads = 256;

/// Launches a kernel on the current stream of `ordinal` after ordering it behind other users of its operands (operand
/// 0 is written); counted and checked.
template <class... P, class... A>
void launch(int ordinal, detail::storage* const* operands, int count, void (*kernel)(P...), dim3 grid, dim3 threads,
            ::std::size_t shared_bytes, const A&... arguments) {
  const device_guard guard(ordinal);
  const stream_ref& stream = current(ordinal);
  for (int k = 0; k < count; ++k) use_on(operands[k], stream, k == 0);
  kernel<<<grid, threads, shared_bytes, stream->handle>>>(arguments...);
  check(cudaGetLastError(), "kernel launch");
  detail::count(detail::counters.kernels);
}

inline int64 ceil_div(int64 a, int64 b) { return (a + b - 1) / b; }

inline int multiprocessors(int ordinal) {
  static int known[most_devices];
  if (known[ordinal] == 0)
    check(cudaDeviceGetAttribute(&known[ordinal], cudaDevAttrMultiProcessorCount, ordinal), "cudaDeviceGetAttribute");
  return known[ordinal];
}

#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

static __device__ __noinline__ int64 divide_far(int64 n, int64 divisor) { return n / divisor; }

/// Division of numbers that are not negative by one known on the host: multiply and shift below 2^31 (Granlund and
/// Montgomery 1994).
struct divider {
  int64 divisor = 1;
  uint32 magic = 1, shift = 0;
  divider() = default;
  explicit divider(int64 d) : divisor(d > 0 ? d : 1) {
    if (divisor >> 31) return;
    while (shift < 31 && (int64(1) << shift) < divisor) ++shift;
    magic = uint32(((uint64(1) << 32) * ((uint64(1) << shift) - uint64(divisor))) / uint64(divisor) + 1);
  }
  __device__ int32 divide(int32 n) const { return int32((__umulhi(uint32(n), magic) + uint32(n)) >> shift); }
  __device__ int64 divide(int64 n) const {
    return (n | divisor) >> 31 ? divide_far(n, divisor) : int64(divide(int32(n)));
  }
};

/// V values in registers: those of V places of the space at once.
template <class T, int V>
struct lanes {
  T v[V];
};
template <class To, class T, int V>
__device__ lanes<To, V> lane_cast(const lanes<T, V>& a) {
  lanes<To, V> r;
#pragma unroll
  for (int k = 0; k < V; ++k) r.v[k] = detail::lane_cast<To>(a.v[k]);
  return r;
}

/// The lanes as one access of memory.
template <class T, int V>
struct alignas(V * sizeof(T)) wide {
  lanes<T, V> lane;
};

/// How many lanes of the widest dtype make an access of 16 bytes; at most 8.
template <int Widest>
inline constexpr int lanes_for = Widest >= 16 ? 1 : Widest >= 8 ? 2 : Widest >= 4 ? 4 : 8;

/// An iteration space as V lanes in each of many threads walk it. The lanes divide one axis, `split`: lane k of the
/// thread at coordinate c there stands at element `c * unit + k * gap`. So they are neighbours (unit V, gap 1), which
/// makes accesses wide where memory is aligned, or a part of the axis apart (unit 1, gap the axis' share), so that
/// neighbouring threads read neighbouring elements whatever the alignment.
template <int Operands>
struct thread_space {
  int ndim = 0, kept = 0, split = -1;
  bool near = true;   ///< 32 bits hold every number of threads and every offset
  bool whole = true;  ///< no lane is outside
  int64 threads = 1;  ///< of all axes
  int64 unit = 1, gap = 1, limit = 1;
  uint64 wide = 0;  ///< a bit for each operand whose lanes are one aligned access
  divider extent[max_rank];
  int64 step[Operands][max_rank] = {};
  int64 lane_step[Operands] = {};

  /// The axes of `s`, of which the lanes divide axis `split` (-1 where there is none).
  template <int V>
  void divide(const detail::iteration_space<Operands>& s, int split_axis, bool neighbours) {
    constexpr int64 far = int64(1) << 31;
    ndim = s.ndim, kept = s.kept, split = split_axis;
    whole = V == 1;
    int64 reach[Operands] = {};
    for (int d = 0; d < ndim; ++d) {
      int64 n = s.extent[d], by = 1;
      for (int k = 0; k < Operands; ++k) reach[k] += n * (s.stride[k][d] < 0 ? -s.stride[k][d] : s.stride[k][d]);
      if (d == split) {
        limit = n;
        n = ceil_div(n, V);
        whole = n * V == limit;
        unit = by = neighbours ? V : 1;
        gap = neighbours ? 1 : n;
        for (int k = 0; k < Operands; ++k) lane_step[k] = gap * s.stride[k][d];
      }
      threads *= n;
      extent[d] = divider(n);
      for (int k = 0; k < Operands; ++k) step[k][d] = by * s.stride[k][d];
    }
    near = threads < far;
    for (int k = 0; k < Operands; ++k) near = near && reach[k] < far;
  }

  /// Adds to the offsets where place i of the axes [begin, end) in C order lies. Returns the coordinate of the first
  /// lane on the split axis where it is one of them.
  __device__ int64 move(int64 i, int begin, int end, int64* offset) const {
    return near ? walk<int32>(int32(i), begin, end, offset) : walk<int64>(i, begin, end, offset);
  }
  /// How many of V lanes are inside, the first of them at `first` on the split axis.
  template <int V>
  __device__ int inside(int64 first) const {
    if (whole || first + (V - 1) * gap < limit) return V;
    int n = 0;
#pragma unroll
    for (int k = 0; k < V; ++k) n += first + k * gap < limit;
    return n;
  }

 private:
  template <class Index>
  __device__ int64 walk(Index i, int begin, int end, int64* offset) const {
    Index first = 0, moved[Operands] = {};
#pragma unroll 1
    for (int d = end - 1; d >= begin; --d) {
      Index at = i;
      if (d > begin) {
        i = extent[d].divide(i);
        at -= i * Index(extent[d].divisor);
      }
      if (d == split) first = at * Index(unit);
#pragma unroll
      for (int k = 0; k < Operands; ++k) moved[k] += at * Index(step[k][d]);
    }
#pragma unroll
    for (int k = 0; k < Operands; ++k) offset[k] += moved[k];
    return first;
  }
};

/// The lanes of all loads and gathered elements of a tree, in registers: they are fetched before anything is computed,
/// so that all are under way at once.
template <int I, class T>
struct operand {};
template <class... L>
struct operand_list {};
template <class... Lists>
struct joined {
  using type = operand_list<>;
};
template <class... L>
struct joined<operand_list<L...>> {
  using type = operand_list<L...>;
};
template <class... L, class... M, class... R>
struct joined<operand_list<L...>, operand_list<M...>, R...> : joined<operand_list<L..., M...>, R...> {};
template <class Tree>
struct operands_of {
  using type = operand_list<>;
};
template <int I, class T>
struct operands_of<detail::load<I, T>> {
  using type = operand_list<operand<I, T>>;
};
template <int I, class T, class X>
struct operands_of<detail::gathered<I, T, X>> : joined<operand_list<operand<I, T>>, typename operands_of<X>::type> {};
template <class Op, class Types, class... K>
struct operands_of<detail::apply<Op, Types, K...>> : joined<typename operands_of<K>::type...> {};
template <class T, class Index>
struct operands_of<detail::scatter_to<T, Index>> : operands_of<Index> {};

template <int V, class List>
struct fetched;
template <int V, int... I, class... T>
struct fetched<V, operand_list<operand<I, T>...>> : detail::slot<I, lanes<T, V>>... {
  static constexpr int count = int(sizeof...(I));
};
template <int V, class... Trees>
using registers = fetched<V, typename joined<typename operands_of<Trees>::type...>::type>;

/// V places of a space as trees see them.
template <int V, int Operands, class... Trees>
struct lane_access {
  const thread_space<Operands>* space;
  int64 offset[Operands];
  int inside;  ///< lanes from this one on are outside; they repeat lane 0
  registers<V, Trees...> loaded;

  __device__ void start(const thread_space<Operands>& s) {
    space = &s;
    inside = 0;
#pragma unroll
    for (int k = 0; k < Operands; ++k) offset[k] = 0;
  }
  template <int I, class T>
  __device__ lanes<T, V> read(const T* p, int inside) const {
    const T* const q = p + offset[I];
    const int64 step = space->lane_step[I];
    lanes<T, V> r;
    if ((space->wide >> I & 1) && inside == V) {
      r = reinterpret_cast<const wide<T, V>*>(q)->lane;
    } else if (step == 0) {
      const T v = *q;
#pragma unroll
      for (int k = 0; k < V; ++k) r.v[k] = v;
    } else if (inside == V) {
#pragma unroll
      for (int k = 0; k < V; ++k) r.v[k] = q[k * step];
    } else {
#pragma unroll
      for (int k = 0; k < V; ++k) r.v[k] = q[k < inside ? k * step : 0];
    }
    return r;
  }
  template <bool Gathered>
  struct reader {
    lane_access& a;
    template <int I, class T>
    __device__ void operator()(const detail::load<I, T>& l) const {
      if constexpr (!Gathered)
        static_cast<detail::slot<I, lanes<T, V>>&>(a.loaded).value = a.template read<I>(l.p, a.inside);
    }
    template <int I, class T, class X>
    __device__ void operator()(const detail::gathered<I, T, X>& g) const {
      if constexpr (Gathered) static_cast<detail::slot<I, lanes<T, V>>&>(a.loaded).value = a.pick(g);
    }
    template <class L>
    __device__ void operator()(const L&) const {}
  };
  /// First everything that is loaded, then (`Gathered`) what is gathered by it.
  template <bool Gathered = false>
  __device__ void fetch(const Trees&... trees) {
    (detail::for_each_operand(trees, reader<Gathered>{*this}), ...);
  }

  template <int I, class T>
  __device__ lanes<T, V> load(const T*) const {
    return detail::get<I>(loaded);
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
    if constexpr (requires { G::group; }) {
      if (V == G::group && space->lane_step[I] == 1 && offset[I] % V == 0) {
        g.fill(offset[I] / V, r.v);
        return r;
      }
    }
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = g(offset[I] + k * space->lane_step[I]);
    return r;
  }
  template <class Op, class... L>
  __device__ auto apply(const Op& op, const L&... l) const {
    lanes<::std::remove_cvref_t<decltype(op(l.v[0]...))>, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = op(l.v[k]...);
    return r;
  }
  template <int I, class T, class X>
  __device__ lanes<T, V> gather(const detail::gathered<I, T, X>&) const {
    return detail::get<I>(loaded);
  }
  /// Where all lanes pick the same index, as along a row that is taken whole, they are read as one.
  template <int I, class T, class X>
  __device__ lanes<T, V> pick(const detail::gathered<I, T, X>& g) const {
    const auto index = lane_cast<int64>(g.index(*this));
    lanes<T, V> r = {};
    if ((space->wide >> I & 1) && inside == V) {
      int64 at = index.v[0];
      if (detail::resolve_index(at, g.limit, g.fault, g.function, g.axis))
        r = reinterpret_cast<const wide<T, V>*>(g.p + offset[I] + at * g.stride)->lane;
      return r;
    }
#pragma unroll
    for (int k = 0; k < V; ++k) {
      int64 at = index.v[k];
      if (k < inside && detail::resolve_index(at, g.limit, g.fault, g.function, g.axis))
        r.v[k] = g.p[offset[I] + k * space->lane_step[I] + at * g.stride];
    }
    return r;
  }
};

/// Stores the lanes that are inside.
template <class Access, class T, int V>
__device__ void put(const Access& a, const detail::store_to<T>& target, const lanes<T, V>& v) {
  T* const to = target.p + a.offset[0];
  if ((a.space->wide & 1) && a.inside == V) {
    reinterpret_cast<wide<T, V>*>(to)->lane = v;
  } else {
    const int64 step = a.space->lane_step[0];
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k < a.inside) to[k * step] = v.v[k];
  }
}
template <class Access, class T, class Index, int V>
__device__ void put(const Access& a, const detail::scatter_to<T, Index>& target, const lanes<T, V>& v) {
  const auto index = lane_cast<int64>(target.index(a));
#pragma unroll
  for (int k = 0; k < V; ++k) {
    int64 at = index.v[k];
    if (k < a.inside && detail::resolve_index(at, target.limit, target.fault, target.function, target.axis))
      target.p[a.offset[0] + k * a.space->lane_step[0] + at * target.stride] = v.v[k];
  }
}

/// One place of operand 0.
struct place_access {
  int64 offset;
  template <int, class T>
  __device__ T* at(T* p) const {
    return p + offset;
  }
};

/// Looks whether neighbouring lanes along `axis` can use wide accesses: every operand that moves there steps by one and
/// is aligned wherever a row begins.
template <int V, int Operands>
struct wide_check {
  const detail::iteration_space<Operands>& space;
  int axis;
  uint64 wide = 0;   ///< the operands that move and fit
  bool fits = true;  ///< no operand moves and does not fit

  template <class T>
  bool aligned(int operand, const T* p) const {
    bool ok = reinterpret_cast<::std::uintptr_t>(p) % (V * sizeof(T)) == 0;
    for (int d = 0; d < space.ndim; ++d) ok = ok && (d == axis || space.stride[operand][d] % V == 0);
    return ok;
  }
  template <class T>
  void look(int operand, const T* p) {
    const int64 step = space.stride[operand][axis];
    if (step == 0) return;
    const bool ok = step == 1 && aligned(operand, p);
    fits = fits && ok;
    wide |= uint64(ok) << operand;
  }
  template <int I, class T>
  void operator()(const detail::load<I, T>& l) {
    look(I, l.p);
  }
  template <int I, class T, class X>
  void operator()(const detail::gathered<I, T, X>& g) {
    bool whole = space.stride[I][axis] == 1 && g.stride % V == 0 && aligned(I, g.p);
    detail::for_each_operand(g.index, [&]<class L>(const L&) {
      if constexpr (requires { L::operand; }) whole = whole && space.stride[L::operand][axis] == 0;
    });
    wide |= uint64(whole) << I;
  }
  template <class L>
  void operator()(const L&) {}
};

#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu
