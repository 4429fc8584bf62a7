// Bytes that come from outside, made what elements are.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "../core/build.hpp"
#include "../core/dtype.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Makes every byte of booleans 0 or 1: what is not 0 is true.
inline void normalise_bool(void* bytes, ::std::size_t n) {
  constexpr ::std::size_t lanes = this_build::vector_bytes;
  typedef unsigned char vector __attribute__((vector_size(lanes)));
  auto* p = static_cast<unsigned char*>(bytes);
  for (; n >= lanes; p += lanes, n -= lanes) {
    vector v;
    ::std::memcpy(&v, p, lanes);
    v = reinterpret_cast<vector>(-(v != 0));
    ::std::memcpy(p, &v, lanes);
  }
  for (; n > 0; ++p, --n) *p = *p != 0;
}

/// Turns the bytes of each of `n` numbers around; a complex number is two. For one byte there is nothing to do.
template <class T>
void swap_bytes(T* elements, ::std::size_t n) {
  constexpr ::std::size_t size = is_complex<T> ? sizeof(T) / 2 : sizeof(T);
  if constexpr (size > 1) {
    auto* p = reinterpret_cast<char*>(elements);
    for (const char* const end = p + n * sizeof(T); p < end; p += size) {
      unsigned_t<int(size)> v;
      ::std::memcpy(&v, p, size);
      if constexpr (size == 2) v = __builtin_bswap16(v);
      else if constexpr (size == 4) v = __builtin_bswap32(v);
      else v = __builtin_bswap64(v);
      ::std::memcpy(p, &v, size);
    }
  }
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
