// Adding, multiplying, largest and smallest at picked places on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "kernel/scatter.cuh"
#include "sorting.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Op, class T>
void combine_at_indices(cuda device, const detail::segments& to, const detail::segments& index,
                        const detail::segments& values, const detail::index_check& check) {
  constexpr int64 most = (int64(1) << 32) - 2;
  const int64 m = index.n;
  if (m > most || to.n > most)
    detail::fail<value_error>(check.fault.function, ": ", m > most ? m : to.n, m > most ? " indices" : " places",
                              ": at most 4294967294 on CUDA");
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  gpu::use_on(to.store, stream, true);
  gpu::use_on(index.store, stream, false);
  gpu::use_on(values.store, stream, false);
  const gpu::resolved_index pick{index.at<const int64>(), check};
  T* const target = to.at<T>();
  const T* const source = values.at<const T>();
  if constexpr (::std::is_same_v<Op, op::sum_op> && gpu::adds_in_any_order<T>) {
    const int64 count = values.elements(), places = to.elements(), fit = gpu::multiprocessors(device.ordinal) * 8,
                step = 4 * gpu::block_threads;
    const int bins = places <= gpu::most_bins && count >= 4 * places ? int(places) : 0;
    int64 share = step;
    if (bins > 0) share = gpu::ceil_div(::std::max(gpu::ceil_div(count, fit), 4 * places), step) * step;
    gpu::launch(device.ordinal, nullptr, 0, gpu::add_each_kernel<T>, dim3(unsigned(gpu::ceil_div(count, share))),
                gpu::block_threads, ::std::size_t(bins) * sizeof(T), target, source, pick, count, to.n, gpu::divider(m),
                gpu::divider(to.inner), share, bins);
  } else {
    gpu::sort_job job(device);
    uint32 *const place = job.make<uint32>(m), *const from = job.make<uint32>(m), *const sorted = job.make<uint32>(m),
                  *const order = job.make<uint32>(m);
    job.each(place, m, pick);
    job.each(from, m, gpu::own_place{});
    job.pairs(place, sorted, from, order, m, gpu::bits_of(to.n));
    gpu::combine_plan p{sorted, order, m, to.n, to.inner, gpu::ceil_div(m, gpu::run_length), 1, 1, 1};
    const auto run = [&]<int V>(::std::integral_constant<int, V>) {
      const int64 groups = to.inner / V;
      while (p.team < gpu::warp && p.team < groups) p.team *= 2;
      p.per_strip = gpu::ceil_div(p.chunks, gpu::block_threads / p.team);
      p.strips = gpu::ceil_div(groups, p.team);
      // as many outer places at a time as a grid has blocks for
      const int64 blocks = p.per_strip * p.strips, fit = INT32_MAX / blocks, together = to.outer < fit ? to.outer : fit;
      auto* const edges = job.make<gpu::lanes<detail::compute_t<T>, V>>(together * 2 * p.chunks * groups);
      for (int64 o = 0; o < to.outer; o += together) {
        const unsigned grid = unsigned(blocks * (to.outer - o < together ? to.outer - o : together));
        T* const t = target + o * to.n * to.inner;
        job.run(gpu::combine_runs_kernel<Op, V, T>, grid, t, source + o * m * to.inner, edges, p);
        job.run(gpu::combine_edges_kernel<Op, V, T>, grid, t, edges, p);
      }
    };
    constexpr int wide = 16 / int(sizeof(T));
    const auto aligned = [](const void* a) { return reinterpret_cast<::std::uintptr_t>(a) % 16 == 0; };
    if (wide > 1 && to.inner % wide == 0 && aligned(target) && aligned(source))
      run(::std::integral_constant<int, wide>{});
    else run(::std::integral_constant<int, 1>{});
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
