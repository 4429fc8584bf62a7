// Products of matrices on CUDA, by cuBLAS.
// SPDX-License-Identifier: MIT
#pragma once

#include <cublas_v2.h>

#include "../../eval/product.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend {
namespace gpu {

inline void check(cublasStatus_t s, const char* call) {
  if (s == CUBLAS_STATUS_SUCCESS) return;
  if (s == CUBLAS_STATUS_ALLOC_FAILED)
    throw out_of_memory(detail::cat("cublas: ", call, ": ", cublasGetStatusString(s)));
  throw cuda_error(detail::cat("cublas: ", call, ": ", cublasGetStatusString(s)));
}

/// This thread's handle for a device, on the thread's current stream. Handles live as long as the process.
CUDARRAY_PUBLIC inline cublasHandle_t blas_handle(int ordinal) {
  static thread_local cublasHandle_t handles[most_devices];
  if (handles[ordinal] == nullptr) check(cublasCreate(&handles[ordinal]), "cublasCreate");
  check(cublasSetStream(handles[ordinal], current(ordinal)->handle), "cublasSetStream");
  return handles[ordinal];
}

template <class T>
constexpr cudaDataType_t data_type() {
  if constexpr (::std::is_same_v<T, float16>) return CUDA_R_16F;
  else if constexpr (::std::is_same_v<T, bfloat16>) return CUDA_R_16BF;
  else if constexpr (::std::is_same_v<T, float>) return CUDA_R_32F;
  else if constexpr (::std::is_same_v<T, double>) return CUDA_R_64F;
  else if constexpr (::std::is_same_v<T, complex64>) return CUDA_C_32F;
  else return CUDA_C_64F;
}

}  // namespace gpu

/// cuBLAS is column-major: c' = b' a' is what our row-major c = a b looks like to it.
template <class Build, class T>
void multiply_matrices(cuda device, const detail::product& g) {
  constexpr bool wide = ::std::is_same_v<T, double> || ::std::is_same_v<T, complex128>;
  using scale = ::std::conditional_t<detail::is_half<T>, float, T>;
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  for (int i = 0; i < 3; ++i) gpu::use_on(g.store[i], stream, i == 0);
  const auto transposed = [&](int o) { return g.column[o] == 1 ? CUBLAS_OP_N : CUBLAS_OP_T; };
  const auto leading = [&](int o) { return g.column[o] == 1 ? g.row[o] : g.column[o]; };
  if (g.k == 0) {
    // nothing is added up, and cuBLAS would not accept empty operands
    for (int64 i = 0; i < g.batch; ++i)
      gpu::check(cudaMemsetAsync(g.at<T>(0) + i * g.step[0], 0, ::std::size_t(g.m * g.n) * sizeof(T), stream->handle),
                 "cudaMemsetAsync");
    return;
  }
  const scale one(1), zero(0);
  gpu::check(cublasGemmStridedBatchedEx_64(gpu::blas_handle(device.ordinal), transposed(2), transposed(1), g.n, g.m,
                                           g.k, &one, g.at<T>(2), gpu::data_type<T>(), leading(2), g.step[2],
                                           g.at<T>(1), gpu::data_type<T>(), leading(1), g.step[1], &zero, g.at<T>(0),
                                           gpu::data_type<T>(), leading(0), g.step[0], g.batch,
                                           wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
             "cublasGemmStridedBatchedEx");
  detail::count(detail::counters.kernels);
}

}  // namespace cudarray::inline v0::backend
