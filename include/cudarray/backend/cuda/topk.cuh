// The largest or smallest elements of segments on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "kernel/topk.cuh"
#include "sorting.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
detail::top_elements topk_segments(cuda device, const detail::segments& s, int64 k, bool largest) {
  using bits = typename gpu::ordered<T>::bits;
  const auto make = [&](int64 n, ::std::size_t bytes) { return allocate(device, ::std::size_t(n) * bytes); };
  detail::top_elements r{make(s.outer * k, sizeof(T)), make(s.outer * k, sizeof(int64))};
  T* const values = static_cast<T*>(r.values->data);
  int64* const positions = static_cast<int64*>(r.positions->data);
  gpu::use_on(s.store, gpu::current(device.ordinal), false);
  gpu::sort_job job(device);
  const gpu::element_keys<T> elements{s.at<const T>(), largest ? bits(~bits(0)) : bits(0)};
  detail::storage_ref keys, at;  // what was found, `n` in each segment
  int64 n = s.n;
  const auto found = [&] {
    return gpu::found_keys<bits>{static_cast<const bits*>(keys->data), static_cast<const int64*>(at->data)};
  };
  const bool few = k <= gpu::first_most;
  const int64 part = ::std::max(gpu::part_elements, 8 * k);
  while (few ? n > gpu::first_within : n > k && k <= gpu::select_most && (keys.get() != nullptr || n >= 4 * k)) {
    const int64 parts = gpu::ceil_div(n, part), count = s.outer * parts * k;
    const detail::storage_ref to_keys = make(count, sizeof(bits)), to_at = make(count, sizeof(int64));
    const auto run = [&](const auto& source) {
      job.run(gpu::select_first_kernel<::std::remove_cvref_t<decltype(source)>>, unsigned(s.outer * parts), source,
              static_cast<bits*>(to_keys->data), static_cast<int64*>(to_at->data), n, parts, uint32(k));
    };
    if (keys.get() != nullptr) run(found());
    else run(elements);
    keys = to_keys, at = to_at;
    n = parts * k;
  }
  if (few) {
    const auto run = [&]<int Items>(const auto& source) {
      job.run(gpu::first_of_rows_kernel<Items, ::std::remove_cvref_t<decltype(source)>, T>,
              unsigned(gpu::ceil_div(s.outer, gpu::block_threads / gpu::warp)), source, s.at<const T>(), values,
              positions, s.outer, int(n), s.n, int(k));
    };
    if (keys.get() != nullptr) run.template operator()<32>(found());
    else if (n <= 4 * gpu::warp) run.template operator()<4>(elements);
    else run.template operator()<32>(elements);
    return r;
  }
  if (keys.get() == nullptr) {
    keys = make(s.outer * n, sizeof(bits));
    job.each(static_cast<bits*>(keys->data), s.outer * n, gpu::key_of<T>{elements});
  }
  const detail::storage_ref sorted = argsort_segments<bits>(device, {keys.get(), 0, s.outer, n, 1});
  const gpu::divider each(k);
  job.each(positions, s.outer * k,
           gpu::position_of{static_cast<const int64*>(sorted->data),
                            at.get() != nullptr ? static_cast<const int64*>(at->data) : nullptr, n, each});
  job.each(values, s.outer * k, gpu::element_of<T>{s.at<const T>(), positions, s.n, each});
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
