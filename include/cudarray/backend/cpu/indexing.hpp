// What a mask selects on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "../../eval/segments.hpp"
#include "../../memory/bytes.hpp"
#include "kernel/loop.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// How many of the bytes are not 0.
inline int64 count_true(const uint8* m, int64 n) {
  constexpr uint64 low = 0x7f7f7f7f7f7f7f7f;
  int64 count = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64 word;
    ::std::memcpy(&word, m + i, 8);
    count += __builtin_popcountll((((word & low) + low) | word) & ~low);  // the upper bit of each byte that is not 0
  }
  for (; i < n; ++i) count += m[i] != 0;
  return count;
}

/// A new array of `item(i)` for every i where the mask is true: parts are counted, then filled.
template <class T, class F>
detail::storage_ref select(cpu device, const detail::segments& mask, int64& count, const F& item) {
  constexpr int64 block = 256, most = 64;
  const uint8* const m = mask.at<uint8>();
  const int64 n = mask.n, parts = parts_for(n) < most ? parts_for(n) : most;
  detail::count(detail::counters.kernels);
  int64 place[most];
  parallel(parts, [&](int64 part) {
    const int64 begin = n * part / parts;
    place[part] = count_true(m + begin, n * (part + 1) / parts - begin);
  });
  count = 0;
  for (int64 part = 0; part < parts; ++part) {
    const int64 found = place[part];
    place[part] = count;
    count += found;
  }
  detail::storage_ref r = allocate(device, ::std::size_t(count) * sizeof(T));
  parallel(parts, [&](int64 part) {
    T* to = static_cast<T*>(r->data) + place[part];
    T found[block];  // without a branch for each element
    uint8 is[block];
    const int64 end = n * (part + 1) / parts;
    for (int64 i = n * part / parts; i < end;) {
      int64 k = 0;
      const int64 some = end - i < block ? end - i : block;
      ::std::memcpy(is, m + i, ::std::size_t(some));
      detail::normalise_bool(is, ::std::size_t(some));
      for (int64 j = 0; j < some; ++j, ++i) {
        found[k] = item(i);
        k += is[j];
      }
      for (int64 j = 0; j < k; ++j) to[j] = found[j];
      to += k;
    }
  });
  return r;
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// A template, as are other entries: compiled where it is called.
template <class Index = int64>
detail::storage_ref flat_nonzero(cpu device, const detail::segments& mask, int64& count) {
  return host::select<Index>(device, mask, count, [](int64 i) { return i; });
}

template <class T>
detail::storage_ref select_flagged(cpu device, const detail::segments& from, const detail::segments& mask,
                                   int64& count) {
  return host::select<T>(device, mask, count, [p = from.at<const T>()](int64 i) { return p[i]; });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
