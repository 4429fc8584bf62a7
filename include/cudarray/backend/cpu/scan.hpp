// Running totals on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/segments.hpp"
#include "kernel/scan.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class Op, class T>
detail::storage_ref scan_segments(cpu device, const detail::segments& s) {
  using kernel = host::scan_kernel<Op, T>;
  using result = typename kernel::result;
  constexpr int64 together = 512;  // neighbouring segments
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(result));
  detail::count(detail::counters.kernels);
  const T* const from = s.at<const T>();
  result* const to = static_cast<result*>(r->data);
  const int64 groups = s.inner == 1 ? 1 : (s.inner + together - 1) / together, units = s.outer * groups;
  const int64 wanted = host::parts_for(s.elements() / 2);
  // few long segments are shared out each
  const bool shared =
      kernel::in_blocks && s.inner == 1 && units < num_threads() && s.n >= 64 * kernel::block && wanted > 1;
  const bool streamed = s.n >= 1024 && host::exceeds_cache(s.elements() * int64(sizeof(result)));
  const int64 parts = shared ? 1 : ::std::max<int64>(1, ::std::min(wanted, units));
  host::parallel(parts, [&](int64 part) {
    for (int64 unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
      const int64 j = unit % groups * together, at = unit / groups * s.n * s.inner + j;
      if (s.inner == 1) kernel::along(from + at, to + at, s.n, streamed, shared ? num_threads() : 1);
      else kernel::across(from + at, to + at, s.n, s.inner, ::std::min(together, s.inner - j));
    }
  });
  return r;
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
