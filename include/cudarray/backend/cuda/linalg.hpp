// Products of matrices on CUDA, by cuBLAS.
// SPDX-License-Identifier: MIT
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>

#include "../../core/precision.hpp"
#include "../../eval/product.hpp"
#include "runtime/handles.hpp"

namespace cudarray::inline v0::backend::gpu {

inline void check(cublasStatus_t s, const char* call) {
  if (s == CUBLAS_STATUS_SUCCESS) return;
  if (s == CUBLAS_STATUS_ALLOC_FAILED) detail::fail<out_of_memory>("cublas: ", call, ": ", cublasGetStatusString(s));
  detail::fail<cuda_error>("cublas: ", call, ": ", cublasGetStatusString(s));
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

/// float32 is IEEE float32 unless this thread asked for TF32.
template <class T>
cublasComputeType_t compute_type() {
  if constexpr (::std::is_same_v<T, double> || ::std::is_same_v<T, complex128>) return CUBLAS_COMPUTE_64F;
  else if constexpr (detail::is_half<T>) return CUBLAS_COMPUTE_32F;
  else return detail::thread_precision() == precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// A handle of cuBLAS, which cuBLASLt takes for one of its own, and the algorithms that cuBLASLt chose.
struct blas_handle {
  struct choice {
    int64 m, n, k, leading[3];
    int kind;
    cublasLtMatmulAlgo_t algorithm;
    ::std::size_t workspace;
    bool found;
  };
  static constexpr int most = 64;
  cublasHandle_t handle = nullptr;
  choice known[most];
  int count = 0, oldest = 0;
  blas_handle* next = nullptr;

  blas_handle() { check(cublasCreate(&handle), "cublasCreate"); }
  cublasLtHandle_t light() const { return reinterpret_cast<cublasLtHandle_t>(handle); }
  /// The handle, for work on a stream.
  cublasHandle_t on(stream_state& s, detail::storage_ref& own_workspace) {
    check(cublasSetStream(handle, s.handle), "cublasSetStream");
    check(cublasSetWorkspace(handle, workspace_on(s, own_workspace), workspace_bytes), "cublasSetWorkspace");
    return handle;
  }
};

/// Descriptors of cuBLASLt, destroyed with it.
struct light_product {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  light_product() = default;
  light_product(const light_product&) = delete;
  light_product& operator=(const light_product&) = delete;
  ~light_product() {
    (void)cublasLtMatmulPreferenceDestroy(preference);
    (void)cublasLtMatrixLayoutDestroy(c);
    (void)cublasLtMatrixLayoutDestroy(b);
    (void)cublasLtMatrixLayoutDestroy(a);
    (void)cublasLtMatmulDescDestroy(operation);
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t what, const V& v) {
    check(cublasLtMatmulDescSetAttribute(operation, what, &v, sizeof(v)), "cublasLtMatmulDescSetAttribute");
  }
  template <class V>
  void prefer(cublasLtMatmulPreferenceAttributes_t what, const V& v) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, what, &v, sizeof(v)),
          "cublasLtMatmulPreferenceSetAttribute");
  }
};

/// The algorithm for a product like `wanted`, whose operands are so aligned: known, or asked of cuBLASLt, which may
/// find none.
inline blas_handle::choice& choose_algorithm(blas_handle& blas, light_product& d, blas_handle::choice wanted,
                                             uint32 alignment) {
  for (int i = 0; i < blas.count; ++i) {
    blas_handle::choice& c = blas.known[i];
    if (c.m == wanted.m && c.n == wanted.n && c.k == wanted.k && c.kind == wanted.kind &&
        ::std::equal(c.leading, c.leading + 3, wanted.leading))
      return c;
  }
  check(cublasLtMatmulPreferenceCreate(&d.preference), "cublasLtMatmulPreferenceCreate");
  d.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    d.prefer(which, alignment);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const cublasStatus_t s =
      cublasLtMatmulAlgoGetHeuristic(blas.light(), d.operation, d.a, d.b, d.c, d.c, d.preference, 1, &found, &count);
  if (s != CUBLAS_STATUS_NOT_SUPPORTED) check(s, "cublasLtMatmulAlgoGetHeuristic");
  wanted.algorithm = found.algo, wanted.workspace = found.workspaceSize, wanted.found = count > 0;
  return blas.known[blas.count < blas_handle::most ? blas.count++ : blas.oldest++ % blas_handle::most] = wanted;
}

}  // namespace cudarray::inline v0::backend::gpu
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

/// cuBLAS is column-major: c' = b' a' is what our row-major c = a b looks like to it.
template <class T>
void multiply_matrices(cuda device, const detail::product& g) {
  using scale = ::std::conditional_t<detail::is_half<T>, float, T>;
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  for (int i = 0; i < 3; ++i) gpu::use_on(g.store[i], stream, i == 0);
  const auto transposed = [&](int o) { return g.column[o] == 1 ? CUBLAS_OP_N : CUBLAS_OP_T; };
  const auto leading = [&](int o) { return g.column[o] == 1 ? g.row[o] : g.column[o]; };
  const gpu::lent<gpu::blas_handle> blas(device.ordinal);
  detail::storage_ref own_workspace;
  const cublasHandle_t handle = blas->on(*stream, own_workspace);
  if (g.m == 1 && g.n == 1 && g.batch == 1) {  // cuBLAS's product of matrices takes twice as long for it
    gpu::check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
    const cublasStatus_t done =
        cublasDotEx_64(handle, g.k, g.at<T>(1), gpu::data_type<T>(), g.column[1], g.at<T>(2), gpu::data_type<T>(),
                       g.row[2], g.at<T>(0), gpu::data_type<T>(), gpu::data_type<scale>());
    gpu::check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
    gpu::check(done, "cublasDotEx");
    detail::count(detail::counters.kernels);
    return;
  }
  const scale one(1), zero(0);
  gpu::check(cublasGemmStridedBatchedEx_64(handle, transposed(2), transposed(1), g.n, g.m, g.k, &one, g.at<T>(2),
                                           gpu::data_type<T>(), leading(2), g.step[2], g.at<T>(1), gpu::data_type<T>(),
                                           leading(1), g.step[1], &zero, g.at<T>(0), gpu::data_type<T>(), leading(0),
                                           g.step[0], g.batch, gpu::compute_type<T>(), CUBLAS_GEMM_DEFAULT),
             "cublasGemmStridedBatchedEx");
  detail::count(detail::counters.kernels);
}

/// c = a b + bias, and max(c, 0) of it, in one kernel of cuBLASLt, where it has one and all lies on 16 bytes.
template <class T>
bool multiply_with_epilogue(cuda device, const detail::product& g, const detail::epilogue& e) {
  if constexpr (!::std::is_same_v<T, float> && !detail::is_half<T>) {
    return false;
  } else {
    constexpr ::std::size_t alignment = 16;
    const T* const bias = static_cast<const T*>(e.bias->data) + e.offset;
    const auto transposed = [&](int o) { return g.column[o] == 1 ? CUBLAS_OP_N : CUBLAS_OP_T; };
    const auto leading = [&](int o) { return g.column[o] == 1 ? g.row[o] : g.column[o]; };
    const auto aligned = [&](const void* p) { return reinterpret_cast<::std::uintptr_t>(p) % alignment == 0; };
    bool fits = aligned(bias);
    for (int i = 0; i < 3; ++i)
      fits = fits && aligned(g.at<T>(i)) && ::std::size_t(leading(i)) * sizeof(T) % alignment == 0;
    if (!fits) return false;
    const gpu::device_guard guard(device.ordinal);
    const gpu::stream_ref& stream = gpu::current(device.ordinal);
    const gpu::lent<gpu::blas_handle> blas(device.ordinal);
    gpu::light_product d;
    constexpr cudaDataType_t type = gpu::data_type<T>();
    const cublasComputeType_t compute = gpu::compute_type<T>();
    const cublasLtEpilogue_t epilogue = e.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    // as in multiply_matrices c' = b' a' is what cuBLASLt computes, and the bias is one element for each of its rows
    const auto matrix = [&](cublasLtMatrixLayout_t& to, int o, int64 rows, int64 columns) {
      const bool plain = transposed(o) == CUBLAS_OP_N;
      gpu::check(cublasLtMatrixLayoutCreate(&to, type, uint64(plain ? columns : rows), uint64(plain ? rows : columns),
                                            leading(o)),
                 "cublasLtMatrixLayoutCreate");
    };
    gpu::check(cublasLtMatmulDescCreate(&d.operation, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    d.set(CUBLASLT_MATMUL_DESC_TRANSA, transposed(2));
    d.set(CUBLASLT_MATMUL_DESC_TRANSB, transposed(1));
    d.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    d.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    d.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
    matrix(d.a, 2, g.k, g.n);
    matrix(d.b, 1, g.m, g.k);
    matrix(d.c, 0, g.m, g.n);
    const int kind =
        int(transposed(1)) | int(transposed(2)) << 2 | int(e.relu) << 4 | int(compute) << 6 | int(type) << 16;
    gpu::blas_handle::choice& best = gpu::choose_algorithm(
        *blas, d, {g.m, g.n, g.k, {leading(0), leading(1), leading(2)}, kind, {}, 0, false}, uint32(alignment));
    if (!best.found) return false;
    for (int i = 0; i < 3; ++i) gpu::use_on(g.store[i], stream, i == 0);
    gpu::use_on(e.bias, stream, false);
    detail::storage_ref own_workspace;
    const float one = 1, zero = 0;
    gpu::check(cublasLtMatmul(blas->light(), d.operation, &one, g.at<T>(2), d.a, g.at<T>(1), d.b, &zero, g.at<T>(0),
                              d.c, g.at<T>(0), d.c, &best.algorithm, gpu::workspace_on(*stream, own_workspace),
                              best.workspace, stream->handle),
               "cublasLtMatmul");
    detail::count(detail::counters.kernels);
    return true;
  }
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
