// Sorting on CUDA, by CUB's radix sorts.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/sorting.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// One long segment is sorted as it is; of several, all elements are, and then by segment, stably.
template <class T>
detail::storage_ref sort_segments(cuda device, const detail::segments& s) {
  using ordered = gpu::ordered<T>;
  using bits = typename ordered::bits;
  const int64 n = s.elements();
  const T* const from = s.at<const T>();
  detail::storage_ref r = allocate(device, ::std::size_t(n) * sizeof(T));
  T* const to = static_cast<T*>(r->data);
  gpu::use_on(s.store, gpu::current(device.ordinal), false);
  gpu::sort_job job(device);
  if (gpu::sort_short<false, T>(job, s, to)) return r;
  if (s.outer > 1) {
    gpu::check_countable("sort", s);
    bits *const keys = job.make<bits>(n), *const sorted = job.make<bits>(n);
    uint32 *const rows = job.make<uint32>(n), *const sorted_rows = job.make<uint32>(n);
    job.each(keys, n, gpu::to_ordered<false, T>{from});
    job.each(rows, n, gpu::row_number{nullptr, gpu::divider(s.n)});
    job.pairs(keys, sorted, rows, sorted_rows, n);
    job.pairs(sorted_rows, rows, sorted, keys, n, gpu::bits_of(s.outer - 1));
    job.each(to, n, gpu::from_ordered<T>{keys});
  } else if constexpr (detail::is_half<T>) {
    bits *const keys = job.make<bits>(n), *const sorted = job.make<bits>(n);
    job.each(keys, n, gpu::to_ordered<false, T>{from});
    job.keys(keys, sorted, n);
    job.each(to, n, gpu::from_ordered<T>{sorted});
  } else {
    using key = ::std::conditional_t<::std::is_same_v<T, bool>, uint8, T>;
    key* const sorted = reinterpret_cast<key*>(to);
    job.keys(reinterpret_cast<const key*>(from), sorted, n);
    if constexpr (ordered::floating) {
      key* const copy = job.make<key>(n);
      int64* const shift = job.make<int64>(1);
      const unsigned blocks = unsigned(gpu::multiprocessors(device.ordinal)) * 4;
      job.run(gpu::find_nan_kernel<key>, blocks, sorted, copy, shift, n);
      job.run(gpu::rotate_kernel<key>, blocks, sorted, copy, shift, n);
    }
  }
  return r;
}

template <class T>
detail::storage_ref argsort_segments(cuda device, const detail::segments& s) {
  using bits = typename gpu::ordered<T>::bits;
  const int64 n = s.elements();
  detail::storage_ref r = allocate(device, ::std::size_t(n) * sizeof(int64));
  int64* const to = static_cast<int64*>(r->data);
  gpu::use_on(s.store, gpu::current(device.ordinal), false);
  gpu::sort_job job(device);
  if (gpu::sort_short<true, T>(job, s, to)) return r;
  gpu::check_countable("argsort", s);
  bits *const keys = job.make<bits>(n), *const sorted = job.make<bits>(n);
  uint32 *order = job.make<uint32>(n), *const places = job.make<uint32>(n);
  job.each(keys, n, gpu::to_ordered<true, T>{s.at<const T>()});
  job.each(places, n, gpu::own_place{});
  job.pairs(keys, sorted, places, order, n);
  const gpu::divider length(s.n);
  if (s.outer > 1) {
    uint32 *const rows = job.make<uint32>(n), *const sorted_rows = job.make<uint32>(n);
    job.each(rows, n, gpu::row_number{order, length});
    job.pairs(rows, sorted_rows, order, places, n, gpu::bits_of(s.outer - 1));
    order = places;
  }
  job.each(to, n, gpu::place_in_row{order, length});
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
