// What a mask selects on CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernel/indexing.cuh"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// A template, as are other entries: its kernels are compiled where it is called.
template <class Index = int64>
detail::storage_ref flat_nonzero(cuda device, const detail::segments& mask, int64& count) {
  return gpu::select<Index>(device, mask, nullptr, count, gpu::position{});
}

template <class T>
detail::storage_ref select_flagged(cuda device, const detail::segments& from, const detail::segments& mask,
                                   int64& count) {
  using word = gpu::word_of<sizeof(T)>;
  return gpu::select<word>(device, mask, from.store, count,
                           gpu::element<word>{reinterpret_cast<const word*>(from.at<const T>())});
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
