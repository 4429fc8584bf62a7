// Scans on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/sequences.hpp"
#include "kernel/scan.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Op, class T>
detail::storage_ref scan_sequences(cuda device, const detail::sequences& s) {
  using total = gpu::scan_total<Op, T>;
  using R = gpu::scan_result<Op, T>;
  using gpu::ceil_div;
  constexpr int threads = gpu::block_threads, items = gpu::scan_items<T, R>;
  const bool row = s.inner == 1;
  gpu::scan_plan p{s.outer, s.n, s.inner};
  // Accesses of 128 bytes of float32; wider ones where lines share sectors, narrow ones where sequences have very many
  // tiles, which ask for much.
  constexpr int64 very_long = 1 << 17;
  const int wanted = s.n >= very_long                       ? 16
                     : s.inner * int64(sizeof(R)) % 32 != 0 ? 64
                                                            : 32,
            most = wanted < gpu::scan_abreast<total> ? wanted : gpu::scan_abreast<total>;
  int abreast = 1, pieces = 1;
  while (abreast < s.inner && abreast < most) abreast *= 2;
  while (pieces * abreast < threads && pieces * items < s.n) pieces *= 2;
  while (pieces * abreast < threads && abreast < s.inner) abreast *= 2;
  const int64 strips = ceil_div(s.inner, abreast);
  const bool whole = s.n <= pieces * items;
  const int long_items = row ? gpu::scan_row_items<T, R> : items;
  p.rows = whole ? int(s.n) : pieces * long_items;
  p.wide = strips == 1 ? int(s.inner) : int(ceil_div(ceil_div(s.inner, strips), 8) * 8);
  if (strips == 1 && whole) {
    if (pieces == 1) p.several = items / int(s.n);
    p.many = threads / (pieces * abreast) * p.several;
  }
  p.each = pieces == 1    ? p.several * p.rows
           : whole && row ? int(ceil_div(ceil_div(p.rows, pieces), 4) * 4)
           : whole        ? items
                          : long_items;
  p.strips = gpu::divider(ceil_div(s.inner, p.wide));
  p.beside = gpu::divider(p.strips.divisor * ceil_div(s.outer, p.many));
  const int64 lead = row && !whole && s.outer > 1 && s.n * int64(sizeof(R)) % 16 != 0 ? 16 / int(sizeof(R)) - 1 : 0;
  p.depth = uint32(ceil_div(s.n + lead, p.rows));
  while (1 << p.abreast_log2 < abreast) ++p.abreast_log2;
  while (1 << p.pieces_log2 < pieces) ++p.pieces_log2;
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(R)), words;
  uint64* told = nullptr;
  int64 blocks = p.beside.divisor * p.depth;
  auto* kernel = row ? gpu::scan_short_kernel<Op, T> : gpu::scan_columns_kernel<Op, T>;
  if (!whole) {
    kernel = row ? gpu::scan_long_kernel<true, Op, T> : gpu::scan_long_kernel<false, Op, T>;
    const int64 fit = int64(gpu::multiprocessors(device.ordinal)) * gpu::scan_blocks, beside = p.beside.divisor;
    p.alone = p.depth == 1 || beside * 10 >= ceil_div(beside, fit) * fit * 9;
    if (blocks > fit) blocks = fit;
  }
  if (!whole && !p.alone) {
    while (int64(p.depth - 1) >> (8 - p.abreast_log2) * p.levels != 0) ++p.levels;
    const ::std::size_t bytes =
        (1 + ::std::size_t(p.depth) * ::std::size_t(s.outer * s.inner) * gpu::marked<total>::words) * sizeof(uint64);
    words = allocate(device, bytes);
    told = static_cast<uint64*>(words->data);
    const gpu::device_guard guard(device.ordinal);
    gpu::check(cudaMemsetAsync(told, 0, bytes, gpu::current(device.ordinal)->handle), "cudaMemsetAsync");
  }
  detail::storage* const operands[] = {r.get(), s.store};
  gpu::launch(device.ordinal, operands, 2, kernel, dim3(unsigned(blocks)), threads, 0, s.at<const T>(),
              static_cast<R*>(r->data), told, p);
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
