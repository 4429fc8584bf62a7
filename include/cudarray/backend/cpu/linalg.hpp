// Products of matrices on the CPU: BLAS where it was found and is the faster, else our own.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CBLAS)
#include <cblas.h>
#endif

#include <algorithm>

#include "../../eval/product.hpp"
#include "../../memory/stats.hpp"
#include "kernel/product.hpp"
#include "runtime/threads.hpp"

/// OpenBLAS's own: absent in other libraries.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// Whether a product of so many multiplications goes to the BLAS. Ours is as fast in a file compiled for AVX-512, where
/// OpenBLAS may take a new processor for one of 2004; for AVX2 it is up to a sixth slower, but has no call to prepare.
inline constexpr bool by_blas(int64 work) {
  if (!this_build::cblas || this_build::vector_bytes > 32) return false;
  return this_build::vector_bytes < 32 || !this_build::fma || work >= 1 << 20;
}

/// y = matrix @ x: `count` sums over k; of the matrix's two steps one is 1. Files compiled for the oldest processors
/// have the BLAS do it, which looks for a newer one.
template <class T>
void vector_product(int64 count, int64 k, const T* matrix, int64 down, int64 along, const T* x, int64 x_step, T* y,
                    int64 y_step) {
#if defined(CUDARRAY_HAS_CBLAS)
  if constexpr (this_build::cblas && this_build::vector_bytes < 32) {
    const auto call = [&](auto f) {
      if (along == 1)
        f(CblasRowMajor, CblasNoTrans, int(count), int(k), T(1), matrix, int(count > 1 ? down : k), x, int(x_step),
          T(0), y, int(y_step));
      else
        f(CblasRowMajor, CblasTrans, int(k), int(count), T(1), matrix, int(along), x, int(x_step), T(0), y,
          int(y_step));
    };
    if constexpr (::std::is_same_v<T, float>) call(cblas_sgemv);
    else call(cblas_dgemv);
    return;
  }
#endif
  multiply_vector(count, k, matrix, down, along, x, x_step, y, y_step);
}

/// c = a @ b for float32 or float64; of a's and b's row and column steps one is 1, c's rows are contiguous.
template <class T>
void multiply_real(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                   int64 b_column, T* c, int64 c_row) {
  if (m == 1) return vector_product(n, k, b, b_column, b_row, a, a_column, c, 1);
  if (n == 1) return vector_product(m, k, a, a_row, a_column, b, b_row, c, c_row);
#if defined(CUDARRAY_HAS_CBLAS)
  if (by_blas(m * n * k)) {
    const auto call = [&](auto f) {
      const auto transposed = [](int64 column) { return column == 1 ? CblasNoTrans : CblasTrans; };
      const auto leading = [](int64 row, int64 column) { return int(column == 1 ? row : column); };
      f(CblasRowMajor, transposed(a_column), transposed(b_column), int(m), int(n), int(k), T(1), a,
        leading(a_row, a_column), b, leading(b_row, b_column), T(0), c, int(c_row));
    };
    if constexpr (::std::is_same_v<T, float>) call(cblas_sgemm);
    else call(cblas_dgemm);
    return;
  }
#endif
  blocked_product(m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row);
}

template <class To, class T>
void convert_line(int64 count, const T* from, To* to) {
  constexpr int N = this_build::vector_bytes / 4;
  int64 i = 0;
  for (; i + N <= count; i += N) simd::store_lanes(to + i, simd::lane_cast<To>(simd::load_lanes<T, N>(from + i)));
  for (; i < count; ++i) to[i] = detail::convert_scalar<To>(from[i]);
}

constexpr int64 converted_rows = 512;
/// Calls `run(i, rows)` for blocks of less than twice so many rows: what is converted of them stays in the cache.
template <class F>
void for_converted_rows(int64 m, const F& run) {
  const int64 blocks = m < converted_rows ? 1 : m / converted_rows;
  for (int64 block = 0; block < blocks; ++block) {
    const int64 i = m * block / blocks;
    run(i, m * (block + 1) / blocks - i);
  }
}

/// Half types: in float32, rounded once.
template <class T>
void multiply_halves(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                     int64 b_column, T* c, int64 c_row) {
  const int64 high = ::std::min(m, 2 * converted_rows);
  const scratch space((k * n + high * (k + n)) * int64(sizeof(float)));
  float *const y = reinterpret_cast<float*>(space.p), *const x = y + k * n, *const z = x + high * k;
  // rows lie as they did, or columns, one below the other
  const auto widen = [](const T* from, float* to, int64 rows, int64 columns, int64& row, int64& column) {
    const bool by_rows = column == 1;
    const int64 lines = by_rows ? rows : columns, count = by_rows ? columns : rows, step = by_rows ? row : column;
    for (int64 i = 0; i < lines; ++i) convert_line(count, from + i * step, to + i * count);
    (by_rows ? row : column) = count;
  };
  widen(b, y, k, n, b_row, b_column);
  for_converted_rows(m, [&](int64 i, int64 rows) {
    int64 row = a_row, column = a_column;
    widen(a + i * a_row, x, rows, k, row, column);
    multiply_real(rows, n, k, x, row, column, y, b_row, b_column, z, n);
    for (int64 r = 0; r < rows; ++r) convert_line(n, z + r * n, c + (i + r) * c_row);
  });
}

/// Complex types, as one real product: a's parts lie side by side, b's (x, y) become the rows (x, y) and (-y, x).
template <class T>
void multiply_complex(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                      int64 b_column, T* c, int64 c_row) {
  using R = decltype(T{}.re);
  const scratch space((k * n * 4 + ::std::min(m, 2 * converted_rows) * k * 2) * int64(sizeof(R)));
  R *const y = reinterpret_cast<R*>(space.p), *const x = y + k * n * 4;
  for (int64 p = 0; p < k; ++p)
    for (int64 j = 0; j < n; ++j) {
      const T v = b[p * b_row + j * b_column];
      R* const to = y + (p * 2 * n + j) * 2;
      to[0] = v.re, to[1] = v.im, to[2 * n] = -v.im, to[2 * n + 1] = v.re;
    }
  for_converted_rows(m, [&](int64 first, int64 rows) {
    for (int64 i = 0; i < rows; ++i)
      for (int64 p = 0; p < k; ++p) {
        const T v = a[(first + i) * a_row + p * a_column];
        R* const to = x + (i * k + p) * 2;
        to[0] = v.re, to[1] = v.im;
      }
    multiply_real(rows, 2 * n, 2 * k, x, 2 * k, 1, y, 2 * n, 1, reinterpret_cast<R*>(c + first * c_row), 2 * c_row);
  });
}

/// Part of one product of a batch: `rows` x `columns` of its result, from (i, j) on.
template <class T>
void multiply_part(const detail::product& g, int64 which, int64 i, int64 j, int64 rows, int64 columns) {
  T* const c = g.at<T>(0) + which * g.step[0] + i * g.row[0] + j;
  const T *a = g.at<T>(1) + which * g.step[1] + i * g.row[1], *b = g.at<T>(2) + which * g.step[2] + j * g.column[2];
  constexpr auto multiply = [] {
    if constexpr (::std::is_arithmetic_v<T>) return multiply_real<T>;
    else if constexpr (detail::is_half<T>) return multiply_halves<T>;
    else return multiply_complex<T>;
  }();
  multiply(rows, columns, g.k, a, g.row[1], g.column[1], b, g.row[2], g.column[2], c, g.row[0]);
}

/// A batch of products of so few elements that a call for each would take most of the time. Rows of whole packs do
/// better where they lie.
template <class T>
bool are_small(const detail::product& g) {
  using K = blocking<T>;
  constexpr int64 most = 640;  // elements of a product's three matrices: two packs of each stay in the second cache
  const auto at_most = [](int64 x, int64 y) { return x <= most && y <= most && x * y <= most; };
  return g.batch >= K::width && at_most(g.m, g.n) && at_most(g.m, g.k) && at_most(g.k, g.n) &&
         g.m * g.n + g.m * g.k + g.k * g.n <= most && (g.m < K::few || g.n % K::N != 0 || g.column[2] != 1);
}

/// False where the BLAS brings threads of its own that cannot be told to rest. OpenBLAS's can: two pools of threads
/// would take the processors from each other.
inline bool own_threads(int64 work) {
  if (!by_blas(work)) return true;
  static const bool told = openblas_set_num_threads != nullptr && (openblas_set_num_threads(1), true);
  return told;
}

/// One product of few results, each a sum over very many: nothing but the sums can be shared out.
inline bool is_deep(const detail::product& g) { return g.batch == 1 && g.m < 128 && g.n < 128 && g.k >= 1 << 14; }
/// In slabs that follow from the shape alone, which are added up in order: the same bits by any number of threads.
template <class T>
void multiply_deep(const detail::product& g, int64 threads) {
  constexpr int64 least = 8192, most = 64;
  const int64 slabs = g.k / least < most ? g.k / least : most, size = g.m * g.n,
              parts = threads < slabs ? threads : slabs;
  const scratch space(slabs * size * int64(sizeof(T)));
  T* const sums = reinterpret_cast<T*>(space.p);
  parallel(parts, [&](int64 part) {
    for (int64 s = slabs * part / parts; s < slabs * (part + 1) / parts; ++s) {
      const int64 begin = g.k * s / slabs, end = g.k * (s + 1) / slabs;
      multiply_real(g.m, g.n, end - begin, g.at<T>(1) + begin * g.column[1], g.row[1], g.column[1],
                    g.at<T>(2) + begin * g.row[2], g.row[2], g.column[2], sums + s * size, g.n);
    }
  });
  for (int64 i = 0; i < g.m; ++i)
    for (int64 j = 0; j < g.n; ++j) {
      T sum = sums[i * g.n + j];
      for (int64 s = 1; s < slabs; ++s) sum += sums[s * size + i * g.n + j];
      g.at<T>(0)[i * g.row[0] + j] = sum;
    }
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <class T>
void multiply_matrices(cpu, const detail::product& g) {
  detail::count(detail::counters.kernels);
  constexpr int64 least = 64;  // rows or columns worth a call of their own
  const int64 work = g.batch * g.m * g.n * g.k;
  const int64 threads =
      work < 1 << 18 || !host::own_threads(detail::is_complex<T> ? 4 * work : work) ? 1 : num_threads();
  if constexpr (::std::is_arithmetic_v<T>) {
    if (host::is_deep(g)) return host::multiply_deep<T>(g, threads);
    if (host::are_small<T>(g)) {
      constexpr int64 wide = host::blocking<T>::width;
      const int64 groups = (g.batch + wide - 1) / wide, parts = threads < groups ? threads : groups;
      return host::parallel(parts, [&](int64 part) {
        const int64 end = groups * (part + 1) / parts * wide;
        host::multiply_beside<T>(g, groups * part / parts * wide, end < g.batch ? end : g.batch);
      });
    }
  }
  // a batch is shared out whole, a few large products by their rows and columns
  int64 down = 1, across = 1;
  if (g.batch < 4 * threads)
    for (bool more = true; more && g.batch * down * across < threads;) {
      int64& pieces = g.m / down >= g.n / across ? down : across;
      more = (&pieces == &down ? g.m : g.n) / (pieces + 1) >= least;
      if (more) ++pieces;
    }
  // at multiples of what our kernels compute at a time, on any machine: 12 rows, 32 columns
  const auto edge = [](int64 side, int64 piece, int64 pieces, int64 block) {
    return piece == pieces ? side : (side * piece / pieces + block / 2) / block * block;
  };
  const int64 pieces = down * across, units = g.batch * pieces, parts = threads < units ? threads : units;
  host::parallel(parts, [&](int64 part) {
    for (int64 unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
      const int64 row = unit % pieces / across, column = unit % across, i = edge(g.m, row, down, 12),
                  j = edge(g.n, column, across, 32);
      host::multiply_part<T>(g, unit / pieces, i, j, edge(g.m, row + 1, down, 12) - i,
                             edge(g.n, column + 1, across, 32) - j);
    }
  });
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
