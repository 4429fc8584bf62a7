// Where the threads of a kernel stand in an iteration space, several places (lanes) each, and what a tree sees there.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../eval/plan.hpp"
#include "vector_access.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// How many lanes make an access of 16 bytes of what is moved, and at most 32 of what is computed with. (Half types
/// into float32 with 8 lanes, two stores of 16 bytes each, took 0.125 ms, with 4 lanes 0.1125.)
template <int Widest, int WidestMoved>
inline constexpr int lanes_for = 16 / (WidestMoved > 0 && WidestMoved < Widest ? Widest / 2 : Widest);

/// The element of the split axis at which the first lane of thread `at` stands.
template <class Index, int Operands>
__device__ Index split_element(const thread_space<Operands>& s, Index at) {
  return s.by_warps ? (at & ~Index(warp - 1)) * Index(s.lanes) + (at & Index(warp - 1)) : at * Index(s.unit);
}

template <class Index, int Operands>
__device__ int64 walk_axes(const thread_space<Operands>& s, Index i, int begin, int end, int64* offset) {
  Index first = 0, moved[Operands] = {};
#pragma unroll 1
  for (int d = end - 1; d >= begin; --d) {
    const Index rest = i;
    i = d > begin ? s.extent[d].divide(i) : 0;
    Index at = rest - i * Index(s.extent[d].divisor);
    if (d == s.split) first = at = split_element(s, at);
#pragma unroll
    for (int k = 0; k < Operands; ++k) moved[k] += at * Index(s.step[k][d]);
  }
#pragma unroll
  for (int k = 0; k < Operands; ++k) offset[k] += moved[k];
  return first;
}
/// Adds to the offsets where thread i of the axes [begin, end) in C order stands. Returns the element of its first lane
/// on the split axis where that is one of them.
template <int Operands>
__device__ int64 go_to(const thread_space<Operands>& s, int64 i, int begin, int end, int64* offset) {
  return s.index32 ? walk_axes<int32>(s, int32(i), begin, end, offset) : walk_axes<int64>(s, i, begin, end, offset);
}

/// The same for all axes, without a loop where they are few: behind the last one there is one element.
template <int Operands>
__device__ int64 go_to(const thread_space<Operands>& s, int64 i, int64* offset) {
  constexpr int few = 3;
  if (!s.index32 || s.ndim > few) return go_to(s, i, 0, s.ndim, offset);
  int32 left = int32(i), first = 0, moved[Operands] = {};
#pragma unroll
  for (int d = few - 1; d >= 0; --d) {
    const int32 rest = left;
    left = d > 0 ? s.extent[d].divide(left) : 0;
    int32 at = rest - left * int32(s.extent[d].divisor);
    if (d == s.split) first = at = split_element(s, at);
#pragma unroll
    for (int k = 0; k < Operands; ++k) moved[k] += at * int32(s.step[k][d]);
  }
#pragma unroll
  for (int k = 0; k < Operands; ++k) offset[k] += moved[k];
  return first;
}

/// How many of V lanes are inside, the first of them at element `first` of the split axis, which ends at `end`.
template <int V, class Index, int Operands>
__device__ int lanes_inside(const thread_space<Operands>& s, Index first, Index end) {
  if (s.whole || first + (V - 1) * Index(s.gap) < end) return V;
  int n = 0;
#pragma unroll
  for (int k = 0; k < V; ++k) n += first + k * Index(s.gap) < end;
  return n;
}
template <int V, int Operands>
__device__ int lanes_inside(const thread_space<Operands>& s, int64 first) {
  return lanes_inside<V>(s, first, s.limit);
}

/// The lanes of all loads and gathered elements of a tree, in registers: they are fetched before anything is computed,
/// so that all are under way at once.
template <int Ix, class T>
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
template <int Ix, class T>
struct operands_of<detail::load<Ix, T>> {
  using type = operand_list<operand<Ix, T>>;
};
template <int Ix, class T, class X>
struct operands_of<detail::gathered<Ix, T, X>> : joined<operand_list<operand<Ix, T>>, typename operands_of<X>::type> {};
template <class Op, class Types, class... K>
struct operands_of<detail::apply<Op, Types, K...>> : joined<typename operands_of<K>::type...> {};
template <class T, class Index>
struct operands_of<detail::scatter_to<T, Index>> : operands_of<Index> {};

/// The operands of a tree, a bit each, that say what is picked.
template <class List>
inline constexpr uint64 operand_bits = 0;
template <int... Ix, class... T>
inline constexpr uint64 operand_bits<operand_list<operand<Ix, T>...>> = (uint64(0) | ... | (uint64(1) << Ix));
template <class Tree>
inline constexpr uint64 index_operands = 0;
template <int Ix, class T, class X>
inline constexpr uint64 index_operands<detail::gathered<Ix, T, X>> = operand_bits<typename operands_of<X>::type>;
template <class T, class Index>
inline constexpr uint64 index_operands<detail::scatter_to<T, Index>> = operand_bits<typename operands_of<Index>::type>;
template <class Op, class Types, class... K>
inline constexpr uint64 index_operands<detail::apply<Op, Types, K...>> = (uint64(0) | ... | index_operands<K>);

/// Bytes of the widest element that is loaded, but for what says what is picked; 0: there is none.
template <uint64 Indices, class List>
inline constexpr int widest_element = 0;
template <uint64 Indices, int... Ix, class... T>
inline constexpr int widest_element<Indices, operand_list<operand<Ix, T>...>> = [] {
  int w = 0;
  ((w = !(Indices >> Ix & 1) && int(sizeof(T)) > w ? int(sizeof(T)) : w), ...);
  return w;
}();

/// Bytes of the widest element that is written.
template <class Target>
inline constexpr int widest_written = int(sizeof(typename Target::value_type));
template <int First, class... T>
inline constexpr int widest_written<detail::store_several<First, T...>> =
    widest_element<0, operand_list<operand<0, T>...>>;

template <int V, class List, bool Packed>
struct fetched;
template <int V, int... Ix, class... T, bool Packed>
struct fetched<V, operand_list<operand<Ix, T>...>, Packed> : detail::slot<Ix, held_lanes<Packed, T, V>>... {
  static constexpr int count = int(sizeof...(Ix));
  static constexpr int first = [] {
    int f = -1;
    ((f = f < 0 ? Ix : f), ...);
    return f;
  }();
};
template <class... Trees>
using all_operands = typename joined<typename operands_of<Trees>::type...>::type;
template <int V, class... Trees>
using registers = fetched<V, all_operands<Trees...>, false>;
template <class... Trees>
inline constexpr int widest_loaded = widest_element<(uint64(0) | ... | index_operands<Trees>), all_operands<Trees...>>;

/// How the lanes of a load lie: as one aligned access; strided, some of them outside perhaps; or as the space says, all
/// inside, where rows may be picked as wholes (`taken`): all lanes have one index then. `masked`: as `strided`, by one
/// form of loads, which may be ahead of each other; lanes outside are zero. `either`: wide where the space says so,
/// else masked.
enum class reach { wide, strided, whole, taken, masked, either };

/// V places of a space as trees see them.
template <bool Packed, int V, int Operands, class... Trees>
struct basic_access {
  static constexpr int width = V;
  template <class T>
  using held_as = held_lanes<Packed, T, V>;
  static constexpr uint64 indices = (uint64(0) | ... | index_operands<Trees>);
  const thread_space<Operands>* space;
  int64 offset[Operands];
  int inside;  ///< lanes from this one on are outside; they repeat lane 0
  fetched<V, all_operands<Trees...>, Packed> loaded;

  template <int Ix, class T>
  __device__ held_as<T>& held() {
    return static_cast<detail::slot<Ix, held_as<T>>&>(loaded).value;
  }
  __device__ void start(const thread_space<Operands>& s) {
    space = &s;
    inside = 0;
#pragma unroll
    for (int k = 0; k < Operands; ++k) offset[k] = 0;
  }
  /// The lanes of one operand. A kernel whose loads have one form only runs ahead of them; where a load may take one of
  /// two, the second waits for the first although only one is made (they share registers).
  template <reach R, int Ix, class T>
  __device__ held_as<T> read(const T* p, int inside) const {
    const T* q = p + offset[Ix];
    constexpr bool along_row = R == reach::whole || R == reach::taken, index = R == reach::taken && (indices >> Ix & 1);
    if (!index && (R == reach::wide || ((along_row || R == reach::either) && space->wide >> Ix & 1)))
      return load_wide<V, T, held_as<T>>(q);
    const int64 step = space->lane_step[Ix] * int64(sizeof(T));
    lanes<T, V> r;
    if constexpr (along_row || R == reach::either)
      if (along_row || step == 0) {  // it stands still
        r.v[0] = load_one(q);
#pragma unroll
        for (int k = 1; k < V; ++k) r.v[k] = r.v[0];
        return repack<held_as<T>>(r);
      }
    if constexpr (R == reach::masked || R == reach::either) {
#pragma unroll
      for (int k = 0; k < V; ++k, q = step_bytes(q, step)) {
        r.v[k] = {};
        if (k < inside) r.v[k] = load_one(q);
      }
    } else if constexpr (!along_row) {
      if (inside == V) {
#pragma unroll
        for (int k = 0; k < V; ++k, q += space->lane_step[Ix]) r.v[k] = load_one(q);
      } else {
#pragma unroll
        for (int k = 0; k < V; ++k) r.v[k] = load_one(q + (k < inside ? k * space->lane_step[Ix] : 0));
      }
    }
    return repack<held_as<T>>(r);
  }
  template <reach R, bool Gathered>
  struct reader {
    basic_access& a;
    template <int Ix, class T>
    __device__ void operator()(const detail::load<Ix, T>& l) const {
      if constexpr (!Gathered) a.template held<Ix, T>() = a.template read<R, Ix>(l.p, a.inside);
    }
    template <int Ix, class T, class X>
    __device__ void operator()(const detail::gathered<Ix, T, X>& g) const {
      if constexpr (Gathered) a.template held<Ix, T>() = a.template pick<R>(g);
    }
    template <class L>
    __device__ void operator()(const L&) const {}
  };
  /// First everything that is loaded, then (`Gathered`) what is gathered by it.
  template <reach R, bool Gathered = false>
  __device__ void fetch(const Trees&... trees) {
    (detail::for_each_operand(trees, reader<R, Gathered>{*this}), ...);
  }

  template <int Ix, class T>
  __device__ lanes<T, V> load(const T*) const {
    return unpack<T, V>(detail::get<Ix>(loaded));
  }
  template <class T>
  __device__ lanes<T, V> splat(T v) const {
    lanes<T, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = v;
    return r;
  }
  /// Reductions ask for places before the first and behind the last, too, and drop what they get.
  template <int Ix, class G>
  __device__ auto generate(const G& g) const {
    lanes<typename G::value_type, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = g(offset[Ix] + k * space->lane_step[Ix]);
    return r;
  }
  template <class Op, class... L>
  __device__ auto apply(const Op& op, const L&... l) const {
    lanes<::std::remove_cvref_t<decltype(op(l.v[0]...))>, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = op(l.v[k]...);
    return r;
  }
  template <int Ix, class T, class X>
  __device__ lanes<T, V> gather(const detail::gathered<Ix, T, X>&) const {
    return unpack<T, V>(detail::get<Ix>(loaded));
  }
  template <int Ix>
  __device__ int64 distance(int k) const {
    return offset[Ix] + k * space->lane_step[Ix];
  }
  template <reach R, int Ix, class T, class X>
  __device__ held_as<T> pick(const detail::gathered<Ix, T, X>& g) const {
    const auto index = lane_cast<int64>(g.index(*this));
    if constexpr (R == reach::taken) {
      held_as<T> r = {};
      int64 at = index.v[0];
      if (detail::resolve_index(at, g.limit, g.fault, detail::position_of<X>(*this)))
        r = load_wide<V, T, held_as<T>>(g.p + offset[Ix] + at * g.stride);
      return r;
    } else {
      lanes<T, V> r = {};
#pragma unroll
      for (int k = 0; k < V; ++k) {
        int64 at = index.v[k];
        if (k < inside && detail::resolve_index(at, g.limit, g.fault, detail::position_of<X>(*this, k)))
          r.v[k] = detail::read_element(g.p + offset[Ix] + k * space->lane_step[Ix] + at * g.stride);
      }
      return repack<held_as<T>>(r);
    }
  }
  /// Stores the lanes that are inside into operand Ix.
  template <int Ix, class T>
  __device__ void store(T* p, const lanes<T, V>& v) const {
    T* to = p + offset[Ix];
    if ((space->wide >> Ix & 1) && inside == V) {
      store_wide(to, v);
    } else {
      const int64 step = space->lane_step[Ix] * int64(sizeof(T));
#pragma unroll
      for (int k = 0; k < V; ++k, to = step_bytes(to, step))
        if (k < inside) *to = v.v[k];
    }
  }
};

template <int V, int Operands, class... Trees>
using lane_access = basic_access<false, V, Operands, Trees...>;

template <class Access, class T, int V>
__device__ void put(const Access& a, const detail::store_to<T>& target, const lanes<T, V>& v) {
  a.template store<0>(target.p, v);
}
/// One of several values of each lane.
template <int J, class T, class Several, int V>
__device__ lanes<T, V> lanes_of(const lanes<Several, V>& v) {
  lanes<T, V> r;
#pragma unroll
  for (int k = 0; k < V; ++k) r.v[k] = detail::get<J>(v.v[k]);
  return r;
}
template <class Access, int First, class... T, class Several, int V>
__device__ void put(const Access& a, const detail::store_several<First, T...>& target, const lanes<Several, V>& v) {
  target.each([&]<int J, int Ix, class P>(P* to) { a.template store<Ix>(to, lanes_of<J, P>(v)); });
}
template <class Access, class T, class Index, int V>
__device__ void put(const Access& a, const detail::scatter_to<T, Index>& target, const lanes<T, V>& v) {
  const auto index = lane_cast<int64>(target.index(a));
  if (a.space->wide & 1) {  // a whole row is picked
    int64 at = index.v[0];
    if (detail::resolve_index(at, target.limit, target.fault, detail::position_of<Index>(a)))
      store_wide(target.p + a.offset[0] + at * target.stride, v);
    return;
  }
#pragma unroll
  for (int k = 0; k < V; ++k) {
    int64 at = index.v[k];
    if (k < a.inside && detail::resolve_index(at, target.limit, target.fault, detail::position_of<Index>(a, k)))
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

#pragma GCC visibility pop

}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
