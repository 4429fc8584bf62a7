// Products of matrices on the CPU: BLAS where it was found, else a blocked product of our own.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CBLAS)
#include <cblas.h>
#endif

#include <vector>

#include "../../eval/product.hpp"
#include "../../memory/stats.hpp"
#include "pack.hpp"
#include "threads.hpp"

/// OpenBLAS's own: absent in other libraries.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cudarray::inline v0::backend {
namespace host {

/// c = a @ b for one matrix, any steps. b is packed panel by panel; a block of `rows` x (2 packs) of c stays in
/// registers.
template <class Build, class T>
void blocked_product(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                     int64 b_column, T* c, int64 c_row) {
  constexpr int N = Build::vector_bytes / int(sizeof(T)), rows = 4, width = 2 * N;
  constexpr int64 depth = 256, panel = 16 * width;
  using pack = simd::pack<T, N, Build>;
  ::std::vector<T> packed(::std::size_t(depth * panel)), left(::std::size_t(depth * rows));
  for (int64 j0 = 0; j0 < n; j0 += panel) {
    const int64 columns = n - j0 < panel ? n - j0 : panel;
    for (int64 p0 = 0; p0 < k || p0 == 0; p0 += depth) {
      const int64 deep = k - p0 < depth ? k - p0 : depth;
      for (int64 j = 0; j < columns; j += width)  // strips of `width` columns, filled up with zeros
        for (int64 p = 0; p < deep; ++p)
          for (int64 q = 0; q < width; ++q)
            packed[::std::size_t(j * depth + p * width + q)] =
                j + q < columns ? b[(p0 + p) * b_row + (j0 + j + q) * b_column] : T(0);
      for (int64 i = 0; i < m; i += rows) {
        const int64 high = m - i < rows ? m - i : rows;
        for (int64 p = 0; p < deep; ++p)
          for (int64 r = 0; r < rows; ++r)
            left[::std::size_t(p * rows + r)] = r < high ? a[(i + r) * a_row + (p0 + p) * a_column] : T(0);
        for (int64 j = 0; j < columns; j += width) {
          pack sum[rows][2];
          for (auto& s : sum) s[0] = s[1] = simd::splat<T, N, Build>(T(0));
          const T* strip = packed.data() + j * depth;
          for (int64 p = 0; p < deep; ++p) {
            const pack x = simd::load_lanes<T, N, Build>(strip + p * width),
                       y = simd::load_lanes<T, N, Build>(strip + p * width + N);
            for (int r = 0; r < rows; ++r) {
              const pack v = simd::splat<T, N, Build>(left[::std::size_t(p * rows + r)]);
              sum[r][0] = {sum[r][0].v + v.v * x.v};
              sum[r][1] = {sum[r][1].v + v.v * y.v};
            }
          }
          for (int64 r = 0; r < high; ++r)
            for (int64 q = 0; q < width && j + q < columns; ++q) {
              T& to = c[(i + r) * c_row + j0 + j + q];
              const T v = simd::lane(sum[r][q / N], int(q % N));
              to = p0 == 0 ? v : to + v;
            }
        }
      }
    }
  }
}

/// Half and complex types: accumulated in float32 or as they are.
template <class T>
void plain_product(int64 m, int64 n, int64 k, const T* a, int64 a_row, int64 a_column, const T* b, int64 b_row,
                   int64 b_column, T* c, int64 c_row) {
  using C = detail::compute_t<T>;
  for (int64 i = 0; i < m; ++i)
    for (int64 j = 0; j < n; ++j) {
      C sum{};
      for (int64 p = 0; p < k; ++p) sum = sum + C(a[i * a_row + p * a_column]) * C(b[p * b_row + j * b_column]);
      c[i * c_row + j] = detail::convert_scalar<T>(sum);
    }
}

}  // namespace host

namespace host {

/// Part of one product of a batch: `rows` x `columns` of its result, from (i, j) on.
template <class Build, class T>
void multiply_part(const detail::product& g, int64 which, int64 i, int64 j, int64 rows, int64 columns) {
  T* const c = g.at<T>(0) + which * g.step[0] + i * g.row[0] + j;
  const T *a = g.at<T>(1) + which * g.step[1] + i * g.row[1], *b = g.at<T>(2) + which * g.step[2] + j * g.column[2];
#if defined(CUDARRAY_HAS_CBLAS)
  if constexpr (Build::cblas && (::std::is_same_v<T, float> || ::std::is_same_v<T, double>)) {
    const auto transposed = [&](int o) { return g.column[o] == 1 ? CblasNoTrans : CblasTrans; };
    const auto leading = [&](int o) { return int(g.column[o] == 1 ? g.row[o] : g.column[o]); };
    const int m = int(rows), n = int(columns), k = int(g.k);
    if constexpr (::std::is_same_v<T, float>)
      cblas_sgemm(CblasRowMajor, transposed(1), transposed(2), m, n, k, 1.f, a, leading(1), b, leading(2), 0.f, c,
                  leading(0));
    else
      cblas_dgemm(CblasRowMajor, transposed(1), transposed(2), m, n, k, 1., a, leading(1), b, leading(2), 0., c,
                  leading(0));
    return;
  }
#endif
  if constexpr (::std::is_arithmetic_v<T>)
    blocked_product<Build>(rows, columns, g.k, a, g.row[1], g.column[1], b, g.row[2], g.column[2], c, g.row[0]);
  else plain_product(rows, columns, g.k, a, g.row[1], g.column[1], b, g.row[2], g.column[2], c, g.row[0]);
}

/// False where the BLAS brings threads of its own that cannot be told to rest. OpenBLAS's can: two pools of threads
/// would take the processors from each other.
template <class Build, class T>
bool own_threads() {
  if constexpr (Build::cblas && (::std::is_same_v<T, float> || ::std::is_same_v<T, double>)) {
    static const bool told = openblas_set_num_threads != nullptr && (openblas_set_num_threads(1), true);
    return told;
  } else {
    return true;
  }
}

}  // namespace host

template <class Build, class T>
void multiply_matrices(cpu, const detail::product& g) {
  detail::count(detail::counters.kernels);
  constexpr int64 least = 64;  // rows or columns worth a call of their own
  const int64 work = g.batch * g.m * g.n * (g.k > 0 ? g.k : 1);
  // a batch is shared out whole, a few large products by their rows or columns
  int64 parts = work < 1 << 18 || !host::own_threads<Build, T>() ? 1 : num_threads(), pieces = 1;
  const bool by_rows = g.m >= g.n;
  const int64 side = by_rows ? g.m : g.n;
  if (g.batch < 4 * parts) {
    const int64 most = side / least;
    pieces = most < 1 ? 1 : parts < most ? parts : most;
  }
  const int64 units = g.batch * pieces;
  // at multiples of the blocks that BLAS computes, so that each element is added up as it would be in one call
  const auto border = [&](int64 piece) { return piece == pieces ? side : side * piece / pieces / 16 * 16; };
  if (parts > units) parts = units;
  host::parallel(parts, [&](int64 part) {
    for (int64 unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
      const int64 which = unit / pieces, begin = border(unit % pieces), extent = border(unit % pieces + 1) - begin;
      if (by_rows) host::multiply_part<Build, T>(g, which, begin, 0, extent, g.n);
      else host::multiply_part<Build, T>(g, which, 0, begin, g.m, extent);
    }
  });
}

}  // namespace cudarray::inline v0::backend

#pragma GCC diagnostic pop
