// Sorting and scanning on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>

#include "../../eval/sequences.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend {
namespace host {

/// Ascending, NaN last.
template <class T>
bool comes_before(const T& a, const T& b) {
  const bool an = a != a, bn = b != b;
  return an || bn ? !an && bn : a < b;
}

}  // namespace host

template <class Build, class T>
detail::storage_ref sort_sequences(cpu device, const detail::sequences& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(T));
  detail::count(detail::counters.kernels);
  T* to = static_cast<T*>(r->data);
  ::std::memcpy(to, s.at<T>(), ::std::size_t(s.elements()) * sizeof(T));
  for (int64 i = 0; i < s.outer; ++i, to += s.n) ::std::sort(to, to + s.n, host::comes_before<T>);
  return r;
}

template <class Build, class T>
detail::storage_ref argsort_sequences(cpu device, const detail::sequences& s) {
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(int64));
  detail::count(detail::counters.kernels);
  int64* order = static_cast<int64*>(r->data);
  const T* k = s.at<T>();
  for (int64 row = 0; row < s.outer; ++row, order += s.n, k += s.n) {
    for (int64 i = 0; i < s.n; ++i) order[i] = i;
    ::std::stable_sort(order, order + s.n, [k](int64 a, int64 b) { return host::comes_before(k[a], k[b]); });
  }
  return r;
}

template <class Build, class Op, class T>
detail::storage_ref scan_sequences(cpu device, const detail::sequences& s) {
  using types = typename Op::template types<T>;
  using total = typename types::total;
  using result = typename types::result;
  constexpr int64 together = 64;  // neighbouring sequences
  detail::storage_ref r = allocate(device, ::std::size_t(s.elements()) * sizeof(result));
  detail::count(detail::counters.kernels);
  for (int64 o = 0; o < s.outer; ++o)
    for (int64 j0 = 0; j0 < s.inner; j0 += together) {
      const int64 width = s.inner - j0 < together ? s.inner - j0 : together;
      const T* from = s.at<const T>() + o * s.n * s.inner + j0;
      result* to = static_cast<result*>(r->data) + o * s.n * s.inner + j0;
      total sum[together];
      for (total& t : sum) t = Op::template identity<total>();
      for (int64 i = 0; i < s.n; ++i, from += s.inner, to += s.inner)
        for (int64 j = 0; j < width; ++j) {
          sum[j] = Op::combine(sum[j], Op::template lift<total>(from[j], i));
          to[j] = Op::template finish<result>(sum[j], i + 1);
        }
    }
  return r;
}

}  // namespace cudarray::inline v0::backend
