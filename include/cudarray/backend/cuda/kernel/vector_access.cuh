// Several elements in registers at once, and the accesses of up to 16 bytes that bring them there and back.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../core/math.hpp"
#include "launch.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // device code belongs to the file's own binary

/// V values in registers: those of V places of the space at once.
template <class T, int V>
struct lanes {
  T v[V];
};
/// detail::lane_cast, by the device's own conversions between half types and float32, which all others of them go by.
template <class To, class T>
__device__ To element_cast(T v) {
  if constexpr (::std::is_same_v<To, T>) {
    return v;
  } else if constexpr (::std::is_same_v<T, float16>) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
    return element_cast<To>(f);
  } else if constexpr (::std::is_same_v<T, bfloat16>) {
    return element_cast<To>(float(v));
  } else if constexpr (!detail::is_half<To> || detail::is_complex<T> || detail::is_dual<T>) {
    return detail::lane_cast<To>(v);
  } else if constexpr (!::std::is_same_v<T, float>) {
    if constexpr (detail::rounded_once<T>) return element_cast<To>(detail::round_to_odd(v));
    else return element_cast<To>(static_cast<float>(v));
  } else {
    To h;
    if constexpr (::std::is_same_v<To, float16>) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(v));
    else NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(v));), (h = To(v);))
    return h;
  }
}
template <class To>
struct several_elements;
template <class Indices, class... T>
struct several_elements<detail::slots_of<Indices, T...>> {
  template <class V, int... J>
  __device__ static detail::slots<T...> of(const V& v, ::std::integer_sequence<int, J...>) {
    return {{element_cast<T>(detail::get<J>(v))}...};
  }
};
template <class To, class Indices, class... T>
__device__ To element_cast(const detail::slots_of<Indices, T...>& v) {
  return several_elements<To>::of(v, ::std::make_integer_sequence<int, int(sizeof...(T))>{});
}
template <class To, class T, int V>
__device__ lanes<To, V> lane_cast(const lanes<T, V>& a) {
  lanes<To, V> r;
#pragma unroll
  for (int k = 0; k < V; ++k) r.v[k] = element_cast<To>(a.v[k]);
  return r;
}

/// The element of global or of shared memory so many bytes on, by one addition: the compiler multiplies anew for each
/// of a row of lanes, if it is let.
template <class T>
__device__ T* step_bytes(T* p, int64 bytes) {
  auto at = __cvta_generic_to_global(p) + ::std::size_t(bytes);
  asm volatile("" : "+l"(at));
  return static_cast<T*>(__cvta_global_to_generic(at));
}
template <class T>
__device__ T* step_shared_bytes(T* p, int bytes) {
  auto at = uint32(__cvta_generic_to_shared(p)) + uint32(bytes);
  asm volatile("" : "+r"(at));
  return static_cast<T*>(__cvta_shared_to_generic(at));
}

/// Loads the compiler leaves where they are. It likes to put a load right before its use, to need fewer registers; but
/// what counts is how many are under way.
__device__ inline void load_word(uint4& v, const void* p) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(p)));
}
__device__ inline void load_word(uint2& v, const void* p) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(__cvta_generic_to_global(p)));
}
__device__ inline void load_word(uint32& v, const void* p) {
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)));
}
__device__ inline void load_word(uint16& v, const void* p) {
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(v) : "l"(__cvta_generic_to_global(p)));
}
__device__ inline void load_word(uint8& v, const void* p) {
  uint16 h;
  asm volatile("ld.global.u8 %0, [%1];" : "=h"(h) : "l"(__cvta_generic_to_global(p)));
  v = uint8(h);
}

/// An access of so many bytes.
template <int Bytes>
struct chunk_of {
  using type = uint4;
  static constexpr int count = Bytes / 16;
};
template <class Word>
struct one_word {
  using type = Word;
  static constexpr int count = 1;
};
template <>
struct chunk_of<8> : one_word<uint2> {};
template <>
struct chunk_of<4> : one_word<uint32> {};
template <>
struct chunk_of<2> : one_word<uint16> {};
template <>
struct chunk_of<1> : one_word<uint8> {};

/// Lanes as they are in memory.
template <class T, int V>
struct packed_lanes {
  using chunk = chunk_of<V* int(sizeof(T))>;
  typename chunk::type words[chunk::count];
};
/// What lanes are held in until they are used: `Packed`, where they are smaller, the words of memory. (Taken apart
/// where they arrive, each takes a register, and the next load waits.)
template <bool Packed, class T, int V>
using held_lanes =
    ::std::conditional_t<(Packed && sizeof(T) < 4 && V * sizeof(T) >= 4), packed_lanes<T, V>, lanes<T, V>>;
template <class To, class From>
__device__ To repack(const From& from) {
  if constexpr (::std::is_same_v<To, From>) return from;
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
/// Lanes to compute with: as bool any byte but 0 is true.
template <class T, int V, class Held>
__device__ lanes<T, V> unpack(const Held& held) {
  if constexpr (::std::is_same_v<T, bool>) {
    const auto bytes = repack<lanes<uint8, V>>(held);
    lanes<bool, V> r;
#pragma unroll
    for (int k = 0; k < V; ++k) r.v[k] = bytes.v[k] != 0;
    return r;
  } else {
    return repack<lanes<T, V>>(held);
  }
}

/// V neighbouring elements by wide accesses; `p` is aligned for them.
template <int V, class T, class Lanes = lanes<T, V>>
__device__ Lanes load_wide(const T* p) {
  using packed = packed_lanes<T, V>;
  packed w;
#pragma unroll
  for (int i = 0; i < packed::chunk::count; ++i)
    load_word(w.words[i], reinterpret_cast<const typename packed::chunk::type*>(p) + i);
  return repack<Lanes>(w);
}
template <class T>
__device__ T load_one(const T* p) {
  return unpack<T, 1>(load_wide<1, T, packed_lanes<T, 1>>(p)).v[0];
}
template <int V, class T>
__device__ void store_wide(T* p, const lanes<T, V>& v) {
  using chunk = chunk_of<V* int(sizeof(T))>;
  typename chunk::type c[chunk::count];
  memcpy(c, &v, sizeof(v));
#pragma unroll
  for (int i = 0; i < chunk::count; ++i) reinterpret_cast<typename chunk::type*>(p)[i] = c[i];
}

/// Turns a square of elements of which every word is a row: the words are its columns then.
__device__ inline void turn_square(uint32 (&w)[2]) {
  const uint32 low = __byte_perm(w[0], w[1], 0x5410);
  w[1] = __byte_perm(w[0], w[1], 0x7632);
  w[0] = low;
}
__device__ inline void turn_square(uint32 (&w)[4]) {
  const uint32 a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140),
               c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
  w[0] = __byte_perm(a, b, 0x5410), w[1] = __byte_perm(a, b, 0x7632);
  w[2] = __byte_perm(c, d, 0x5410), w[3] = __byte_perm(c, d, 0x7632);
}

/// V lanes from shared memory by wide accesses. The compiler is not shown what is in the words: it would load bytes of
/// them once more instead of taking them apart.
template <int V, class T>
__device__ lanes<T, V> load_shared(const T* p) {
  auto w = *reinterpret_cast<const packed_lanes<T, V>*>(p);
  for (auto& word : w.words) {
    if constexpr (requires { word.z; }) asm("" : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w));
    else if constexpr (requires { word.x; }) asm("" : "+r"(word.x), "+r"(word.y));
    else if constexpr (sizeof(word) == 4) asm("" : "+r"(word));
  }
  return repack<lanes<T, V>>(w);
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
