// Products of real matrices of our own: blocked for the caches and the registers, matrix by vector at memory speed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "../../../eval/product.hpp"
#include "../runtime/memory.hpp"
#include "../simd/pack.hpp"
#include "strided_copy.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// How a product of our own goes through its operands: `rows` x 2 packs of the result stay in registers while `depth`
/// rows of b pass, `high` rows of a at a time lie in the second cache and one strip of b in the first.
template <class T>
struct blocking {
  static constexpr int N = this_build::vector_bytes / int(sizeof(T));
#if defined(__x86_64__)
  static constexpr bool many_registers = this_build::vector_bytes == 64;
#else
  static constexpr bool many_registers = true;
#endif
  static constexpr int rows = many_registers ? 12 : 6, few = many_registers ? 4 : 3, width = 2 * N;
  static constexpr int64 depth = 256, panel = 16 * width, high = 4 * rows;
  static constexpr int64 pitch = depth + 64 / int(sizeof(T));  // rows of a in different sets of the cache
};

/// What was loaded stays in a register: g++ would load it anew for each use, and loads are as scarce as products.
template <class T, int N>
CUDARRAY_FORCE_INLINE void keep([[maybe_unused]] simd::pack<T, N>& a) {
#if defined(__x86_64__) && defined(__AVX512F__)
  if constexpr (sizeof(a) >= 16) asm("" : "+v"(a.v));
#endif
}

/// Rows x Packs of c, where b's row p is at `row_of_b(p)`: c = a @ b, or c += a @ b.
template <class T, int Rows, int Packs, class Step, class Along, class RowOfB>
CUDARRAY_FORCE_INLINE void multiply_block(int64 depth, const T* a, Step a_row, Along a_column, const RowOfB& row_of_b,
                                          T* c, int64 c_row, bool add) {
  using K = blocking<T>;
  using pack = simd::pack<T, K::N>;
  pack sum[::std::size_t(Rows)][::std::size_t(Packs)] = {};
  for (int64 p = 0; p < depth; ++p) {
    const T* const b = row_of_b(p);
    pack x[::std::size_t(Packs)];
    CUDARRAY_UNROLL
    for (int q = 0; q < Packs; ++q) x[q] = simd::load_lanes<T, K::N>(b + q * K::N);
    CUDARRAY_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const pack v = simd::splat<T, K::N>(a[r * a_row + p * a_column]);
      CUDARRAY_UNROLL
      for (int q = 0; q < Packs; ++q) sum[r][q] = {sum[r][q].v + v.v * x[q].v};
    }
  }
  CUDARRAY_UNROLL
  for (int r = 0; r < Rows; ++r) {
    CUDARRAY_UNROLL
    for (int q = 0; q < Packs; ++q) {
      T* const to = c + r * c_row + q * K::N;
      simd::store_lanes(to, add ? simd::load_lanes<T, K::N>(to) + sum[r][q] : sum[r][q]);
    }
  }
}

/// The same from copies of a's rows and b's strip.
template <class T, int Rows, int Packs>
void multiply_copies(int64 depth, const T* a, const T* b, T* c, int64 c_row, bool add) {
  using K = blocking<T>;
  multiply_block<T, Rows, Packs>(
      depth, a, ::std::integral_constant<int64, K::pitch>{}, ::std::integral_constant<int64, 1>{},
      [=](int64 p) { return b + p * K::width; }, c, c_row, add);
}

/// Calls `run(integral_constant<int, R>, i)`, which returns R, for blocks of R rows from i on that make up `rows`.
template <class K, class F>
CUDARRAY_FORCE_INLINE void for_row_blocks(int64 rows, const F& run) {
  for (int64 i = 0; i < rows;)
    i += rows - i >= K::rows  ? run(::std::integral_constant<int, K::rows>{}, i)
         : rows - i >= K::few ? run(::std::integral_constant<int, K::few>{}, i)
                              : run(::std::integral_constant<int, 1>{}, i);
}

/// All rows of c, Packs of each, from the operands as they stand; b has unit steps along its rows.
template <class T, int Packs>
void multiply_in_place(int64 m, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row, T* c,
                       int64 c_row) {
  using K = blocking<T>;
  for_row_blocks<K>(m, [=](auto rows, int64 i) {
    multiply_block<T, rows(), Packs>(
        k, a + i * a_row, a_row, a_column, [=](int64 p) { return b + p * b_row; }, c + i * c_row, c_row, false);
    return rows();
  });
}

/// Copies fewer than 2 * Most elements, in pieces of fixed sizes.
template <int Most, class T>
CUDARRAY_FORCE_INLINE void copy_pieces(T* to, const T* from, int64 count) {
  if (count & Most) ::std::memcpy(to, from, sizeof(T) * Most), to += Most, from += Most;
  if constexpr (Most > 1) copy_pieces<Most / 2>(to, from, count);
}

/// The same for as many rows and columns as c has there.
template <class T, int Rows, int Packs>
void multiply_edge(int64 depth, const T* a, const T* b, T* c, int64 c_row, bool add, int64 rows, int64 columns) {
  constexpr int64 width = Packs * blocking<T>::N;
  if (rows >= Rows && columns == width) return multiply_copies<T, Rows, Packs>(depth, a, b, c, c_row, add);
  alignas(64) T whole[::std::size_t(Rows * width)];
  multiply_copies<T, Rows, Packs>(depth, a, b, whole, width, false);
  for (int64 i = 0; i < rows && i < Rows; ++i) {
    T *const to = c + i * c_row, *const from = whole + i * width;
    if (add)
      for (int64 j = 0; j < columns; ++j) from[j] += to[j];
    copy_pieces<width>(to, from, columns);
  }
}

/// c = a @ b for one matrix, any steps. Each element is added up in the same order, whatever part of c is asked for.
template <class T>
void blocked_product(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                     int64 b_column, T* c, int64 c_row) {
  using K = blocking<T>;
  if (b_column == 1 && k <= K::depth && n <= 4 * K::width && n % K::N == 0 && m <= 4 * K::high) {
    for (int64 j = 0; j < n; j += K::width)  // the caches hold them all
      (n - j < K::width ? multiply_in_place<T, 1> : multiply_in_place<T, 2>)(m, k, a, a_row, a_column, b + j, b_row,
                                                                             c + j, c_row);
    return;
  }
  const int64 panel = n < K::panel ? (n + K::width - 1) / K::width * K::width : K::panel;
  const scratch space((K::depth * panel + K::high * K::pitch) * int64(sizeof(T)));
  T *const right = reinterpret_cast<T*>(space.p), *const left = right + K::depth * panel;
  const int64 slabs = (k + K::depth - 1) / K::depth;  // of equal depth
  for (int64 slab = 0; slab < slabs; ++slab)
    for (int64 j0 = 0; j0 < n; j0 += K::panel) {
      const int64 p0 = k * slab / slabs, deep = k * (slab + 1) / slabs - p0,
                  wide = n - j0 < K::panel ? n - j0 : K::panel;
      // rows of b a few at a time, so that they are read in order; columns of it a strip at a time
      const int64 few = b_column == 1 ? 16 : deep;
      for (int64 p = 0; p < deep; p += few)
        for (int64 j = 0; j < wide; j += K::width) {
          const int64 columns = wide - j < K::width ? wide - j : K::width, count = deep - p < few ? deep - p : few;
          const T* const from = b + (p0 + p) * b_row + (j0 + j) * b_column;
          T* const strip = right + j * K::depth + p * K::width;
          if (columns < K::width) ::std::memset(strip, 0, sizeof(T) * ::std::size_t(count * K::width));
          if (b_column == 1) {
            for (int64 i = 0; i < count; ++i) copy_pieces<K::width>(strip + i * K::width, from + i * b_row, columns);
          } else {
            copy_tile<sizeof(T)>(strip, K::width, from, count, columns, b_row, b_column);
          }
        }
      for (int64 i0 = 0; i0 < m; i0 += K::high) {
        const int64 high = m - i0 < K::high ? m - i0 : K::high;
        copy_tile<sizeof(T)>(left, K::pitch, a + i0 * a_row + p0 * a_column, high, deep, a_row, a_column);
        for (int64 i = high; i % K::rows != 0; ++i)
          ::std::memset(left + i * K::pitch, 0, sizeof(T) * ::std::size_t(deep));
        const auto run = [&](auto rows, int64 i) {
          for (int64 j = 0; j < wide; j += K::width) {
            const int64 columns = wide - j < K::width ? wide - j : K::width;
            T* const to = c + (i0 + i) * c_row + j0 + j;
            const T *const block = left + i * K::pitch, *const strip = right + j * K::depth;
            if (columns > K::N) multiply_edge<T, rows(), 2>(deep, block, strip, to, c_row, slab > 0, high - i, columns);
            else multiply_edge<T, rows(), 1>(deep, block, strip, to, c_row, slab > 0, high - i, columns);
          }
          return rows();
        };
        for (int64 i = 0; i < high;)
          i += high - i > K::rows - K::few ? run(::std::integral_constant<int, K::rows>{}, i)
                                           : run(::std::integral_constant<int, K::few>{}, i);
      }
    }
}

/// Rows results at a time, matrix[r * down + p] * x[p] added up over p.
template <class T, int Rows>
void multiply_rows(int64 k, const T* matrix, int64 down, const T* x, T* y, int64 step) {
  using K = blocking<T>;
  using pack = simd::pack<T, K::N>;
  pack sum[::std::size_t(Rows)][2] = {};
  int64 p = 0;
  for (; p + K::width <= k; p += K::width) {
    CUDARRAY_UNROLL
    for (int q = 0; q < 2; ++q) {
      const pack v = simd::load_lanes<T, K::N>(x + p + q * K::N);
      CUDARRAY_UNROLL
      for (int r = 0; r < Rows; ++r) sum[r][q].v += v.v * simd::load_lanes<T, K::N>(matrix + r * down + p + q * K::N).v;
    }
  }
  for (int r = 0; r < Rows; ++r) {
    T rest = T(0);
    for (int64 i = p; i < k; ++i) rest += matrix[r * down + i] * x[i];
    T lanes[K::width];
    ::std::memcpy(lanes, sum[r], sizeof(lanes));
    for (int width = K::N; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    y[r * step] = lanes[0] + rest;
  }
}

/// Rows up to this long are turned side by side before they are multiplied.
template <class T>
inline constexpr int64 short_row = 3 * blocking<T>::width;

/// The same for short rows, in blocks of turned ones: a lane is a result, and none has to be added up across lanes.
template <class T>
void multiply_short_rows(int64 count, int64 k, const T* matrix, int64 down, const T* x, T* y, int64 step) {
  constexpr int N = blocking<T>::N, wide = 64;
  static_assert(wide % N == 0);
  const scratch space((k + 1) * wide * int64(sizeof(T)));
  T *const tile = reinterpret_cast<T*>(space.p), *const result = tile + k * wide;
  ::std::memset(tile, 0, ::std::size_t(k) * wide * sizeof(T));  // the last block has fewer rows
  for (int64 i = 0; i < count; i += wide) {
    const int64 rows = count - i < wide ? count - i : wide;
    copy_tile<sizeof(T)>(tile, wide, matrix + i * down, k, rows, 1, down);
    for (int64 j = 0; j < wide; j += N) {
      simd::pack<T, N> sum{};
      for (int64 p = 0; p < k; ++p) sum.v += simd::splat<T, N>(x[p]).v * simd::load_lanes<T, N>(tile + p * wide + j).v;
      simd::store_lanes(result + j, sum);
    }
    for (int64 j = 0; j < rows; ++j) y[(i + j) * step] = result[j];
  }
}

/// Sums of few columns, `along` from row to row, in blocks of turned ones: a lane adds up its own rows.
template <class T>
void multiply_few_columns(int64 count, int64 k, const T* matrix, int64 along, const T* x, T* y, int64 step) {
  constexpr int N = blocking<T>::N, wide = 64;
  const scratch space(count * (wide + N) * int64(sizeof(T)));
  T *const tile = reinterpret_cast<T*>(space.p), *const sums = tile + count * wide;
  ::std::memset(sums, 0, ::std::size_t(count) * N * sizeof(T));
  const int64 whole = k - k % wide;
  for (int64 p = 0; p < whole; p += wide) {
    copy_tile<sizeof(T)>(tile, wide, matrix + p * along, count, wide, 1, along);
    for (int64 i = 0; i < count; ++i) {
      auto sum = simd::load_lanes<T, N>(sums + i * N);
      CUDARRAY_UNROLL
      for (int j = 0; j < wide; j += N)
        sum.v += simd::load_lanes<T, N>(x + p + j).v * simd::load_lanes<T, N>(tile + i * wide + j).v;
      simd::store_lanes(sums + i * N, sum);
    }
  }
  for (int64 i = 0; i < count; ++i) {
    T sum = 0;
    for (int j = 0; j < N; ++j) sum += sums[i * N + j];
    for (int64 p = whole; p < k; ++p) sum += x[p] * matrix[p * along + i];
    y[i * step] = sum;
  }
}

/// y = matrix @ x: `count` results, each a sum over k; of the matrix's two steps one is 1.
template <class T>
void multiply_vector(int64 count, int64 k, const T* matrix, int64 down, int64 along, const T* x, int64 x_step, T* y,
                     int64 y_step) {
  using K = blocking<T>;
  constexpr int64 most = 1024;
  constexpr int at_once = 4;
  const scratch space((x_step == 1 ? most : most + k) * int64(sizeof(T)));
  T *const sums = reinterpret_cast<T*>(space.p), *const line = sums + most;
  if (x_step != 1) {
    copy_tile<sizeof(T)>(line, k, x, 1, k, k, x_step);
    x = line;
  }
  if (along == 1 && k <= short_row<T> && count >= 16) return multiply_short_rows(count, k, matrix, down, x, y, y_step);
  if (along == 1) {
    int64 i = 0;
    for (; i + at_once <= count; i += at_once)
      multiply_rows<T, at_once>(k, matrix + i * down, down, x, y + i * y_step, y_step);
    for (; i < count; ++i) multiply_rows<T, 1>(k, matrix + i * down, down, x, y + i * y_step, y_step);
    return;
  }
  if (count <= K::N / 2) return multiply_few_columns(count, k, matrix, along, x, y, y_step);
  // rows of the matrix are added up, a piece of them that stays in the first cache
  for (int64 j0 = 0; j0 < count; j0 += most) {
    const int64 wide = count - j0 < most ? count - j0 : most;
    for (int64 j = 0; j < wide; ++j) y[(j0 + j) * y_step] = T(0);
    for (int64 p0 = 0; p0 < k; p0 += K::depth) {
      ::std::memset(sums, 0, sizeof(T) * most);
      const int64 end = k - p0 < K::depth ? k : p0 + K::depth;
      const auto add = [&]<int Rows>(int64 p, ::std::integral_constant<int, Rows>) {
        const T* const from = matrix + p * along + j0;
        int64 j = 0;
        for (; j + K::N <= wide; j += K::N) {
          auto v = simd::load_lanes<T, K::N>(sums + j);
          CUDARRAY_UNROLL
          for (int r = 0; r < Rows; ++r)
            v.v += simd::splat<T, K::N>(x[p + r]).v * simd::load_lanes<T, K::N>(from + r * along + j).v;
          simd::store_lanes(sums + j, v);
        }
        for (; j < wide; ++j) {
          T v = sums[j];
          CUDARRAY_UNROLL
          for (int r = 0; r < Rows; ++r) v += x[p + r] * from[r * along + j];
          sums[j] = v;
        }
      };
      int64 p = p0;
      for (; p + at_once <= end; p += at_once) add(p, ::std::integral_constant<int, at_once>{});
      for (; p < end; ++p) add(p, ::std::integral_constant<int, 1>{});
      for (int64 j = 0; j < wide; ++j) y[(j0 + j) * y_step] += sums[j];
    }
  }
}

/// Copies `count` matrices, `step` apart, of lines of `length` elements side by side, `apart` from line to line, so
/// that neighbours in `tile` are the same element of all; or `back`. Matrices take `wide` places there.
template <class T>
void turn_matrices(T* tile, int64 wide, T* p, int64 count, int64 step, int64 lines, int64 length, int64 apart,
                   bool back) {
  if (apart == length) length *= lines, lines = 1;
  for (int64 i = 0; i < lines; ++i, p += apart, tile += length * wide)
    if (back) copy_tile<sizeof(T)>(p, step, tile, count, length, 1, wide);
    else copy_tile<sizeof(T)>(tile, wide, p, length, count, 1, step);
}

/// The products [first, last) of a batch of small ones, two packs of them at a time: each lane is a product's.
template <class T>
void multiply_beside(const detail::product& g, int64 first, int64 last) {
  constexpr int N = blocking<T>::N, wide = blocking<T>::width;
  using pack = simd::pack<T, N>;
  const int64 m = g.m, n = g.n, k = g.k, left = m * k * wide, right = k * n * wide;
  const scratch space((left + right + m * n * wide) * int64(sizeof(T)));
  T *const a = reinterpret_cast<T*>(space.p), *const b = a + left, *const c = b + right;
  ::std::memset(a, 0, sizeof(T) * ::std::size_t(left + right));  // also lanes of no product are computed
  const auto turn = [&](int operand, T* tile, int64 rows, int64 columns, int64 at, bool back) {
    const bool by_rows = g.column[operand] == 1;
    const int64 count = last - at < wide ? last - at : wide;
    turn_matrices(tile, wide, g.at<T>(operand) + at * g.step[operand], count, g.step[operand], by_rows ? rows : columns,
                  by_rows ? columns : rows, by_rows ? g.row[operand] : g.column[operand], back);
  };
  const bool a_rows = g.column[1] == 1, b_rows = g.column[2] == 1;
  const int64 a_row = (a_rows ? k : 1) * wide, a_column = (a_rows ? 1 : m) * wide, b_row = (b_rows ? n : 1) * wide,
              b_column = (b_rows ? 1 : k) * wide;
  const auto some = [&]<int Columns>(int64 i, int64 j, ::std::integral_constant<int, Columns>) {
    pack sum[::std::size_t(Columns)][2] = {};
    for (int64 p = 0; p < k; ++p) {
      CUDARRAY_UNROLL
      for (int q = 0; q < 2; ++q) {
        const pack x = simd::load_lanes<T, N>(a + i * a_row + p * a_column + q * N);
        CUDARRAY_UNROLL
        for (int e = 0; e < Columns; ++e)
          sum[e][q].v += x.v * simd::load_lanes<T, N>(b + p * b_row + (j + e) * b_column + q * N).v;
      }
    }
    CUDARRAY_UNROLL
    for (int e = 0; e < Columns; ++e) {
      CUDARRAY_UNROLL
      for (int q = 0; q < 2; ++q) simd::store_lanes(c + (i * n + j + e) * wide + q * N, sum[e][q]);
    }
  };
  for (int64 at = first; at < last; at += wide) {
    turn(1, a, m, k, at, false);
    turn(2, b, k, n, at, false);
    for (int64 i = 0; i < m; ++i) {
      int64 j = 0;
      for (; j + 4 <= n; j += 4) some(i, j, ::std::integral_constant<int, 4>{});
      if (n - j == 3) some(i, j, ::std::integral_constant<int, 3>{});
      if (n - j == 2) some(i, j, ::std::integral_constant<int, 2>{});
      if (n - j == 1) some(i, j, ::std::integral_constant<int, 1>{});
    }
    turn(0, c, m, n, at, true);
  }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD

#pragma GCC diagnostic pop
