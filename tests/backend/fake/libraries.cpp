// cuBLAS and cuDNN of the fake runtime: they count handles and plans, and use the memory they are given.
// SPDX-License-Identifier: MIT
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>

#include <cstdlib>
#include <mutex>

#include "runtime.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  int calls = 0;  ///< under way
};
struct cudnnContext {
  cudaStream_t stream = nullptr;
};
namespace fake {

struct library_counts {
  std::mutex lock;
  long blas = 0, dnn = 0, descriptors = 0, plans = 0;
  bool supports = true;
};
static library_counts all;

void add_library_counts(counts& c) {
  const std::lock_guard<std::mutex> guard(all.lock);
  c.blas_handles = all.blas;
  c.dnn_handles = all.dnn;
  c.dnn_descriptors = all.descriptors;
  c.plans_made = all.plans;
}
void dnn_supports(bool yes) { all.supports = yes; }

struct descriptor {
  cudnnBackendDescriptorType_t type;
};

/// A product on the handle's stream. Two at a time on one handle are a fault of the library's.
static cublasStatus_t multiply(cublasHandle_t h, const void* a, const void* b, void* c) {
  if (__atomic_add_fetch(&h->calls, 1, __ATOMIC_ACQ_REL) != 1) std::abort();
  work(h->stream, {{a, false}, {b, false}, {h->workspace, true}, {c, true}});
  __atomic_sub_fetch(&h->calls, 1, __ATOMIC_ACQ_REL);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace fake

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
  const std::lock_guard<std::mutex> guard(fake::all.lock);
  ++fake::all.blas;
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) { return "told to fail"; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void* p, size_t) {
  h->workspace = p;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDotEx_64(cublasHandle_t h, int64_t, const void* x, cudaDataType, int64_t, const void* y,
                              cudaDataType, int64_t, void* r, cudaDataType, cudaDataType) {
  return fake::multiply(h, x, y, r);
}
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t h, cublasOperation_t, cublasOperation_t, int64_t, int64_t,
                                             int64_t, const void*, const void* a, cudaDataType, int64_t, long long,
                                             const void* b, cudaDataType, int64_t, long long, const void*, void* c,
                                             cudaDataType, int64_t, long long, int64_t, cublasComputeType_t,
                                             cublasGemmAlgo_t) {
  return fake::multiply(h, a, b, c);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType, uint64_t, uint64_t, int64_t) {
  *l = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t, cudaDataType_t) {
  *d = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void*,
                                              size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* r,
                                              int* count) {
  *r = {};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void* a,
                              cublasLtMatrixLayout_t, const void* b, cublasLtMatrixLayout_t, const void*, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*,
                              void* workspace, size_t, cudaStream_t s) {
  fake::work(s, {{a, false}, {b, false}, {workspace, true}, {d, true}});
  return CUBLAS_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* h) {
  const std::lock_guard<std::mutex> guard(fake::all.lock);
  ++fake::all.dnn;
  *h = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
size_t cudnnGetVersion(void) { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "told to fail"; }
cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* d) {
  const std::lock_guard<std::mutex> guard(fake::all.lock);
  ++fake::all.descriptors;
  *d = new fake::descriptor{type};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  const std::lock_guard<std::mutex> guard(fake::all.lock);
  --fake::all.descriptors;
  delete static_cast<fake::descriptor*>(d);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, int64_t, const void*) {
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t, int64_t* count, void* values) {
  *count = name == CUDNN_ATTR_ENGINEHEUR_RESULTS ? 1 : 0;
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX || name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
    *static_cast<int64_t*>(values) = 0;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  const std::lock_guard<std::mutex> guard(fake::all.lock);
  if (static_cast<fake::descriptor*>(d)->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return CUDNN_STATUS_SUCCESS;
  ++fake::all.plans;
  return fake::all.supports ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) {
  fake::work(h->stream, {});
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
