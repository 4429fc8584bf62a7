// Kernels around CUB's sorts, and of its own for short segments.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>

#include "../../../eval/segments.hpp"
#include "lanes.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

template <int Bytes>
using key_bits =
    ::std::conditional_t<Bytes == 1, uint8,
                         ::std::conditional_t<Bytes == 2, uint16, ::std::conditional_t<Bytes == 4, uint32, uint64>>>;

/// Elements as unsigned integers in the same order: NaN above all others, -0 with `Equal` as 0, else below it.
template <class T>
struct ordered {
  using bits = key_bits<sizeof(T)>;
  static constexpr bits sign = bits(bits(1) << (8 * sizeof(T) - 1));
  static constexpr bool floating = detail::is_floating<T>;
  template <bool Equal>
  static __device__ bits from(T v) {
    bits b;
    memcpy(&b, &v, sizeof(T));
    if constexpr (floating) {
      const auto f = element_cast<detail::compute_t<T>>(v);
      if (f != f) return bits(~bits(0));
      if (Equal && f == 0) b = 0;
      return bits(b & sign ? ~b : b | sign);
    } else if constexpr (::std::is_signed_v<T>) {
      return bits(b ^ sign);
    } else {
      return b;
    }
  }
  static __device__ T to(bits b) {
    if constexpr (floating) b = b & sign ? bits(b & ~sign) : bits(~b);  // all bits set: a NaN
    else if constexpr (::std::is_signed_v<T>) b = bits(b ^ sign);
    T v;
    memcpy(&v, &b, sizeof(T));
    return v;
  }
};

/// `to[i] = f(i)`
template <class T, class F>
__global__ void __launch_bounds__(block_threads) each_kernel(T* to, int64 n, const F f) {
  in_stream_order();
  const int64 i = int64(blockIdx.x) * (4 * block_threads) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * block_threads < n) to[i + k * block_threads] = f(i + k * block_threads);
}
template <bool Equal, class T>
struct to_ordered {
  const T* from;
  __device__ auto operator()(int64 i) const { return ordered<T>::template from<Equal>(from[i]); }
};
template <class T>
struct from_ordered {
  const typename ordered<T>::bits* from;
  __device__ T operator()(int64 i) const { return ordered<T>::to(from[i]); }
};
struct row_number {
  const uint32* position;  ///< null: the places themselves
  divider n;
  __device__ uint32 operator()(int64 i) const { return uint32(n.divide(position ? int64(position[i]) : i)); }
};
struct own_place {
  __device__ uint32 operator()(int64 i) const { return uint32(i); }
};
struct place_in_row {
  const uint32* position;
  divider n;
  __device__ int64 operator()(int64 i) const {
    const int64 p = position[i];
    return p - n.divide(p) * n.divisor;
  }
};

/// Negative NaNs, which CUB puts first, go last: how many there are, and a copy of the sorted keys, if any.
template <class T>
__global__ void __launch_bounds__(block_threads) find_nan_kernel(const T* sorted, T* copy, int64* shift, int64 n) {
  in_stream_order();
  const auto negative_nan = [=](int64 i) { return sorted[i] != sorted[i] && math::copysign(T(1), sorted[i]) < T(0); };
  int64 low = 0, high = negative_nan(0) ? n : 0;  // the first that is none
  while (low < high) {
    const int64 middle = (low + high) / 2;
    if (negative_nan(middle)) low = middle + 1;
    else high = middle;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *shift = low;
  if (low == 0) return;
  for (int64 i = int64(blockIdx.x) * block_threads + threadIdx.x; i < n; i += int64(gridDim.x) * block_threads)
    copy[i] = sorted[i];
}
template <class T>
__global__ void __launch_bounds__(block_threads) rotate_kernel(T* sorted, const T* copy, const int64* shift, int64 n) {
  in_stream_order();
  const int64 by = *shift;
  if (by == 0) return;
  for (int64 i = int64(blockIdx.x) * block_threads + threadIdx.x; i < n; i += int64(gridDim.x) * block_threads)
    sorted[i] = copy[i + by < n ? i + by : i + by - n];
}

/// A block on each segment, which it holds in registers: its elements, or (`Positions`) where they were.
template <bool Positions, int Items, class T>
__global__ void __launch_bounds__(block_threads)
    sort_rows_kernel(const T* from, ::std::conditional_t<Positions, int64, T>* to, int n) {
  in_stream_order();
  using bits = typename ordered<T>::bits;
  using sorter =
      ::cub::BlockRadixSort<bits, block_threads, Items, ::std::conditional_t<Positions, uint16, ::cub::NullType>>;
  __shared__ typename sorter::TempStorage scratch;
  from += int64(blockIdx.x) * n, to += int64(blockIdx.x) * n;
  bits key[Items];
  uint16 position[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {  // stable: what is added at the end stays behind NaN
    const int i = int(threadIdx.x) * Items + k;
    key[k] = i < n ? ordered<T>::template from<Positions>(from[i]) : bits(~bits(0));
    position[k] = uint16(i);
  }
  if constexpr (Positions) sorter(scratch).SortBlockedToStriped(key, position);
  else sorter(scratch).SortBlockedToStriped(key);
#pragma unroll
  for (int k = 0; k < Items; ++k)
    if (const int i = int(threadIdx.x) + k * block_threads; i < n) {
      if constexpr (Positions) to[i] = position[k];
      else to[i] = ordered<T>::to(key[k]);
    }
}

struct lower_key {
  template <class K>
  __device__ bool operator()(K a, K b) const {
    return a < b;
  }
};

/// The same of short segments, by `Threads` neighbouring threads each.
template <bool Positions, int Threads, int Items, class T>
__global__ void __launch_bounds__(block_threads)
    sort_short_rows_kernel(const T* from, ::std::conditional_t<Positions, int64, T>* to, int n, int64 rows) {
  in_stream_order();
  constexpr int groups = block_threads / Threads;
  using bits = typename ordered<T>::bits;
  using place = ::std::conditional_t<(Threads * Items > 256), uint16, uint8>;
  using sorter = ::cub::WarpMergeSort<bits, Items, Threads, ::std::conditional_t<Positions, place, ::cub::NullType>>;
  __shared__ typename sorter::TempStorage scratch[groups];
  const int lane = int(threadIdx.x) % Threads, group = int(threadIdx.x) / Threads;
  const int64 row = int64(blockIdx.x) * groups + group;
  const int inside = row < rows ? n : 0;
  from += row * n, to += row * n;
  bits key[Items];
  place position[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {  // stable: what is added at the end stays behind NaN
    const int i = lane * Items + k;
    key[k] = i < inside ? ordered<T>::template from<Positions>(from[i]) : bits(~bits(0));
    position[k] = place(i);
  }
  if constexpr (Positions) sorter(scratch[group]).StableSort(key, position, lower_key{});
  else sorter(scratch[group]).Sort(key, lower_key{});
#pragma unroll
  for (int k = 0; k < Items; ++k)
    if (const int i = lane * Items + k; i < inside) {
      if constexpr (Positions) to[i] = position[k];
      else to[i] = ordered<T>::to(key[k]);
    }
}

/// Sorting one device's arrays on the current stream.
class sort_job {
 public:
  explicit sort_job(cuda device) : device_(device), guard_(device.ordinal), stream_(current(device.ordinal)) {}

  /// New memory, kept until the job is done.
  template <class T>
  T* make(int64 n) {
    kept_[count_] = allocate(device_, ::std::size_t(n) * sizeof(T));
    return static_cast<T*>(kept_[count_++]->data);
  }
  template <class T, class F>
  void each(T* to, int64 n, const F& f) {
    run(each_kernel<T, F>, unsigned(ceil_div(n, 4 * block_threads)), to, n, f);
  }
  template <class... P, class... A>
  void run(void (*kernel)(P...), dim3 blocks, const A&... arguments) {
    launch(device_.ordinal, nullptr, 0, kernel, blocks, block_threads, 0, arguments...);
  }
  /// One of CUB's, called as it wants it, first for the size of its scratch memory.
  template <class F>
  void cub(const F& call) {
    ::std::size_t bytes = 0;
    check(call(static_cast<void*>(nullptr), bytes, stream_->handle), "cub::DeviceRadixSort");
    void* const scratch = make<char>(int64(bytes) + 1);
    check(call(scratch, bytes, stream_->handle), "cub::DeviceRadixSort");
    detail::count(detail::counters.kernels);
  }
  template <class K>
  void keys(const K* from, K* to, int64 n) {
    cub([=](void* scratch, ::std::size_t& bytes, cudaStream_t stream) {
      return ::cub::DeviceRadixSort::SortKeys(scratch, bytes, from, to, n, 0, int(8 * sizeof(K)), stream);
    });
  }
  template <class K, class V>
  void pairs(const K* from, K* to, const V* values, V* values_to, int64 n, int bits = int(8 * sizeof(K))) {
    cub([=](void* scratch, ::std::size_t& bytes, cudaStream_t stream) {
      return ::cub::DeviceRadixSort::SortPairs(scratch, bytes, from, to, values, values_to, n, 0, bits, stream);
    });
  }

 private:
  cuda device_;
  device_guard guard_;
  const stream_ref& stream_;
  detail::storage_ref kept_[12];
  int count_ = 0;
};

/// Sorts short segments, if they are, in blocks or parts of warps.
template <bool Positions, class T, class R>
bool sort_short(sort_job& job, const detail::segments& s, R* to) {
  constexpr int few = 4, many = sizeof(T) > 4 ? 8 : 16;
  const auto by_warps = [&]<int Threads, int Items>(::std::integer_sequence<int, Threads, Items>) {
    if (s.n > Threads * Items) return false;
    job.run(sort_short_rows_kernel<Positions, Threads, Items, T>, unsigned(ceil_div(s.outer, block_threads / Threads)),
            s.at<const T>(), to, int(s.n), s.outer);
    return true;
  };
  if (by_warps(::std::integer_sequence<int, 8, 4>{}) || by_warps(::std::integer_sequence<int, 16, 4>{}) ||
      by_warps(::std::integer_sequence<int, 32, 4>{}) || by_warps(::std::integer_sequence<int, 32, 8>{}) ||
      by_warps(::std::integer_sequence<int, 32, 16>{}))
    return true;
  if (s.n > many * block_threads) return false;
  if (s.n <= few * block_threads)
    job.run(sort_rows_kernel<Positions, few, T>, unsigned(s.outer), s.at<const T>(), to, int(s.n));
  else job.run(sort_rows_kernel<Positions, many, T>, unsigned(s.outer), s.at<const T>(), to, int(s.n));
  return true;
}

inline int bits_of(int64 n) {
  int b = 1;
  while (n >> b > 0) ++b;
  return b;
}

inline void check_countable(const char* function, const detail::segments& s) {
  if (s.elements() >> 32 > 0)
    detail::fail<value_error>(function, ": ", s.elements(), " elements: at most 4294967295 on CUDA");
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
