// Adding, multiplying, largest and smallest at picked places on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/segments.hpp"
#include "kernel/loop.hpp"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// What goes to one place is combined in order: segments of places are one thread's, or, of rows of 1 KiB and more,
/// each thread adds to its share of the places.
template <class Op, class T>
void combine_at_indices(cpu, const detail::segments& to, const detail::segments& index, const detail::segments& values,
                        const detail::index_check&) {
  using C = detail::compute_t<T>;
  constexpr int64 ahead = 2 * host::fetcher::ahead, line = 64 / int64(sizeof(T)), most_fetched = 4 * line;
  const int64 n = to.inner, picks = index.n, fetched = n < most_fetched ? n : most_fetched;
  const int64* const pick = index.at<const int64>();
  int64 parts = host::parts_for(to.outer * picks * n / 2) == 1 ? 1 : num_threads();
  const bool whole = to.outer >= parts;
  constexpr int64 least = 1024, page = 4096;  // to find out whose a place is takes longer than to add a short row
  const int64 bytes = n * int64(sizeof(T));
  if (!whole && (bytes < least || to.n * bytes < 4 * page * parts)) parts = 1;
  detail::count(detail::counters.kernels);
  host::parallel(parts, [&](int64 part) {
    const int64 end = whole ? to.outer * (part + 1) / parts : to.outer;
    for (int64 o = whole ? to.outer * part / parts : 0; o < end; ++o) {
      T* const places = to.at<T>() + o * to.n * n;
      const T* const v = values.at<const T>() + o * picks * n;
      const auto place = [&](int64 i) { return pick[i] < 0 ? pick[i] + to.n : pick[i]; };
      if (n == 1) {
        for (int64 i = 0; i < picks; ++i) {
          host::prefetch(places + place(i + ahead < picks ? i + ahead : i));
          T& p = places[place(i)];
          p = detail::lane_cast<T>(Op::combine(C(p), C(v[i])));
        }
        continue;
      }
      T* row[ahead];
      for (int64 i = 0; i < picks + ahead; ++i) {
        T*& next = row[i % ahead];
        if (i >= ahead && next != nullptr) host::combine_line<Op, C>(next, v + (i - ahead) * n, n);
        if (i >= picks) continue;
        next = nullptr;
        const int64 k = place(i);
        if (!whole && host::writer_of(k, bytes, parts) != part) continue;
        next = places + k * n;
        for (int64 j = 0; j < fetched + line - 1; j += line) host::prefetch(next + (j < fetched ? j : fetched - 1));
      }
    }
  });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
