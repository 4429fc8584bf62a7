// Copying strided pieces of arrays to where they are contiguous: through registers where they are transposed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "../simd/pack.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#if !defined(__clang__)  // g++ 12 counts how often loops to an end that it does not know may run
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// An element of so many bytes, of whatever type.
template <int Bytes>
struct __attribute__((may_alias)) element {
  using word = detail::unsigned_t<Bytes>;
  word v;
};
template <>
struct __attribute__((may_alias)) element<16> {
  uint64 v[2];
};

/// p + pitch, computed here: g++ keeps such sums for a whole loop, and those that find no register in vector registers.
template <class T>
CUDARRAY_FORCE_INLINE T* next_line(T* p, int64 pitch) {
  p += pitch;
  asm("" : "+r"(p));
  return p;
}

/// to[i][j] = from[j][i] for N x N elements, of which the first `rows` rows are stored.
template <int N, int Bytes>
CUDARRAY_FORCE_INLINE void transpose_block(element<Bytes>* to, int64 pitch, const element<Bytes>* from, int64 along,
                                           int64 rows = N) {
  using word = typename element<Bytes>::word;
  using pack = simd::pack<word, N>;
  pack a[::std::size_t(N)], b[::std::size_t(N)];
  CUDARRAY_UNROLL
  for (int i = 0; i < N; ++i, from = next_line(from, along)) a[i] = simd::load_pack<pack>(from);
  CUDARRAY_UNROLL
  for (int width = 1; width < N; width *= 2) {
    CUDARRAY_UNROLL
    for (int i = 0; i < N / 2; ++i) {
      b[2 * i] = simd::interleave<false>(a[i], a[i + N / 2]);
      b[2 * i + 1] = simd::interleave<true>(a[i], a[i + N / 2]);
    }
    CUDARRAY_UNROLL
    for (int i = 0; i < N; ++i) a[i] = b[i];
  }
  CUDARRAY_UNROLL
  for (int i = 0; i < N; ++i, to = next_line(to, pitch))
    if (i < rows) simd::store_pack(to, a[i]);
}

/// to[j] = from[j * Along] for most j < columns, by packs; returns for how many. Nothing else is read.
template <int Along, int Bytes>
int64 pick_line(element<Bytes>* to, const element<Bytes>* from, int64 columns) {
  constexpr int N = this_build::vector_bytes / Bytes;
  using pack = simd::pack<typename element<Bytes>::word, N>;
  int64 j = 0;
  for (; j + N < columns; j += N) {
    const auto load = [&](int64 at) { return simd::load_pack<pack>(from + at); };
    pack a;
    if constexpr (Along == -1) {
      a = load(-j - (N - 1));
      a = simd::pick_lanes<simd::reversed_lanes>(a, a);
    } else {
      a = simd::pick_lanes<simd::even_lanes>(load(2 * j), load(2 * j + N));
    }
    simd::store_pack(to + j, a);
  }
  return j;
}

/// to[j * to_step] = from[j * from_step] for j < n, four at a time, as loops of one element take twice as long at some
/// addresses of their code.
template <int Bytes>
CUDARRAY_FORCE_INLINE void copy_apart(element<Bytes>* to, int64 to_step, const element<Bytes>* from, int64 from_step,
                                      int64 n) {
  int64 j = 0;
  for (; j + 4 <= n; j += 4) {
    CUDARRAY_UNROLL
    for (int u = 0; u < 4; ++u, to += to_step, from += from_step) *to = *from;
  }
  for (; j < n; ++j, to += to_step, from += from_step) *to = *from;
}

/// Where rows of elements lie.
template <class T>
struct lines {
  T* first;
  int64 down, along;
};
/// Rows of so few elements, at once.
template <int Columns, int Bytes>
CUDARRAY_COLD void copy_few(lines<element<Bytes>> to, lines<const element<Bytes>> from, int64 rows) {
  for (int64 i = 0; i < rows; ++i, to.first += to.down, from.first += from.down) {
    element<Bytes> v[::std::size_t(Columns)];
    CUDARRAY_UNROLL
    for (int j = 0; j < Columns; ++j) v[j] = from.first[j * from.along];
    CUDARRAY_UNROLL
    for (int j = 0; j < Columns; ++j) to.first[j * to.along] = v[j];
  }
}
/// Short rows, few columns at a time; false where they are not short.
template <int Bytes>
bool copy_short_rows(lines<element<Bytes>> to, lines<const element<Bytes>> from, int64 rows, int64 columns) {
  if (columns > 8 || rows <= columns) return false;
  for (int64 few; columns > 0; columns -= few, to.first += few * to.along, from.first += few * from.along) {
    few = columns == 5 || columns == 6 ? 3 : columns < 4 ? columns : 4;
    if (few == 4) copy_few<4>(to, from, rows);
    else if (few == 3) copy_few<3>(to, from, rows);
    else if (few == 2) copy_few<2>(to, from, rows);
    else copy_apart(to.first, to.down, from.first, from.down, rows);
  }
  return true;
}

/// Lane k of row Ix of packs, one behind the other, in which every Rows-th element is of the same row: of the first two
/// packs, or of pack Last, the others being there already.
template <int Rows, int Ix, int Last>
struct lanes_of_row {
  template <int N>
  static constexpr int at(int k) {
    const int from = Ix + k * Rows;
    return Last == 1 ? from % (2 * N) : from / N == Last ? N + from % N : k;
  }
};
template <int Rows, int Ix, int Last = Rows - 1, class P>
CUDARRAY_FORCE_INLINE P row_of(const P* packs) {
  if constexpr (Last == 1) return simd::pick_lanes<lanes_of_row<Rows, Ix, 1>>(packs[0], packs[1]);
  else return simd::pick_lanes<lanes_of_row<Rows, Ix, Last>>(row_of<Rows, Ix, Last - 1>(packs), packs[Last]);
}
/// to[i * pitch + j] = from[i + j * Rows] for i < Rows and most j < columns, by packs; returns for how many.
template <int Rows, int Bytes>
int64 split_columns(element<Bytes>* to, int64 pitch, const element<Bytes>* from, int64 columns) {
  constexpr int N = (Bytes < 4 ? 16 : this_build::vector_bytes) / Bytes;
  using pack = simd::pack<typename element<Bytes>::word, N>;
  int64 j = 0;
  for (; j + N <= columns; j += N) {
    pack v[::std::size_t(Rows)];
    CUDARRAY_UNROLL
    for (int i = 0; i < Rows; ++i, from += N) v[i] = simd::load_pack<pack>(from);
    simd::store_pack(to + j, row_of<Rows, 0>(v));
    simd::store_pack(to + pitch + j, row_of<Rows, 1>(v));
    if constexpr (Rows > 2) simd::store_pack(to + 2 * pitch + j, row_of<Rows, 2>(v));
    if constexpr (Rows > 3) simd::store_pack(to + 3 * pitch + j, row_of<Rows, 3>(v));
  }
  return j;
}

template <int Bytes>
void copy_tile(void* to_, int64 pitch, const void* from_, int64 rows, int64 columns, int64 down, int64 along) {
  auto* to = static_cast<element<Bytes>*>(to_);
  auto* from = static_cast<const element<Bytes>*>(from_);
  if constexpr (Bytes <= 8) {
    // wide interleaving of elements below 4 bytes is not one instruction everywhere
    constexpr int N = (Bytes < 4 ? 16 : this_build::vector_bytes) / Bytes;
    if (down == 1 && along != 1) {
      int64 j = 0;
      const bool dense = along == rows;
      if constexpr (this_build::vector_bytes > 16) {  // SSE2 has hardly any of these shuffles
        if (dense && rows == 2) j = split_columns<2>(to, pitch, from, columns);
        if (dense && rows == 3) j = split_columns<3>(to, pitch, from, columns);
        if (dense && rows == 4) j = split_columns<4>(to, pitch, from, columns);
      }
      for (; j + N <= columns; j += N) {
        int64 i = 0;
        for (; i + N <= rows; i += N) transpose_block<N>(to + i * pitch + j, pitch, from + i + j * along, along);
        // the rest of a column by the same code, where that is worth it and the next columns are what it reads behind
        if (dense && rows - i > N / 4 && i + N + (j + N - 1) * rows <= columns * rows) {
          transpose_block<N>(to + i * pitch + j, pitch, from + i + j * along, along, rows - i);
          i = rows;
        }
        for (; i < rows; ++i) copy_apart<Bytes>(to + i * pitch + j, 1, from + i + j * along, along, N);
      }
      for (; j < columns; ++j) copy_apart<Bytes>(to + j, pitch, from + j * along, 1, rows);
      return;
    }
  }
  if (rows > 1 && down == 0) {  // one row over and over
    copy_tile<Bytes>(to, pitch, from, 1, columns, down, along);
    if (pitch == columns) {
      for (int64 done = 1; done < rows; done *= 2)
        ::std::memcpy(to + done * pitch, to,
                      ::std::size_t((rows - done < done ? rows - done : done) * pitch) * sizeof(*to));
    } else {
      for (int64 i = 1; i < rows; ++i) ::std::memcpy(to + i * pitch, to, ::std::size_t(columns) * sizeof(*to));
    }
    return;
  }
  if ((Bytes > 1 || along != 0) && copy_short_rows<Bytes>({to, pitch, 1}, {from, down, along}, rows, columns)) return;
  for (int64 i = 0; i < rows; ++i, to += pitch, from += down) {
    if (along == 1) {
      ::std::memcpy(to, from, ::std::size_t(columns) * sizeof(*to));
    } else if (along == 0) {
      for (int64 j = 0; j < columns; ++j) to[j] = *from;
    } else {
      int64 j = 0;
      if constexpr (Bytes <= 8) {
        if (along == -1) j = pick_line<-1>(to, from, columns);
        if (along == 2) j = pick_line<2>(to, from, columns);
      }
      copy_apart(to + j, 1, from + j * along, along, columns - j);
    }
  }
}

/// to[i * down + j * along] = from[i * pitch + j].
template <int Bytes>
void spread_tile(void* to_, int64 pitch, const void* from_, int64 rows, int64 columns, int64 down, int64 along) {
  auto* to = static_cast<element<Bytes>*>(to_);
  auto* from = static_cast<const element<Bytes>*>(from_);
  if (copy_short_rows<Bytes>({to, down, along}, {from, pitch, 1}, rows, columns)) return;
  for (int64 i = 0; i < rows; ++i, to += down, from += pitch) copy_apart(to, along, from, 1, columns);
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
