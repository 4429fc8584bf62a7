// Adding at picked places on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/sequences.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend {

template <class Build, class T>
void add_at_indices(cpu, const detail::sequences& to, const detail::sequences& index, const detail::sequences& values,
                    const detail::index_check&) {
  using C = detail::compute_t<T>;
  detail::count(detail::counters.kernels);
  for (int64 o = 0; o < to.outer; ++o)
    for (int64 i = 0; i < index.n; ++i) {
      const int64 k = index.at<int64>()[i];
      T* const row = to.at<T>() + (o * to.n + (k < 0 ? k + to.n : k)) * to.inner;
      const T* const v = values.at<T>() + (o * index.n + i) * to.inner;
      for (int64 j = 0; j < to.inner; ++j) row[j] = detail::lane_cast<T>(math::add(C(row[j]), C(v[j])));
    }
}

}  // namespace cudarray::inline v0::backend
