// Convolution by cuDNN: IEEE float32, deterministic algorithms.
// SPDX-License-Identifier: MIT
#pragma once

#include <cudnn.h>

#include "../../core/precision.hpp"
#include "../../eval/convolution.hpp"
#include "memory.hpp"

namespace cudarray::inline v0::backend {
namespace gpu {

inline void check(cudnnStatus_t s, const char* call) {
  if (s != CUDNN_STATUS_SUCCESS) throw cuda_error(detail::cat("cudnn: ", call, ": ", cudnnGetErrorString(s)));
}

/// This thread's handle for a device, on the thread's current stream. Handles live as long as the process.
CUDARRAY_PUBLIC inline cudnnHandle_t dnn_handle(int ordinal) {
  static thread_local cudnnHandle_t handles[most_devices];
  if (handles[ordinal] == nullptr) check(cudnnCreate(&handles[ordinal]), "cudnnCreate");
  check(cudnnSetStream(handles[ordinal], current(ordinal)->handle), "cudnnSetStream");
  return handles[ordinal];
}

/// The descriptors of one convolution.
struct convolution_descriptors {
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;

  convolution_descriptors(const detail::convolution& c, cudnnDataType_t type) {
    check(cudnnCreateTensorDescriptor(&x), "cudnnCreateTensorDescriptor");
    check(cudnnCreateTensorDescriptor(&y), "cudnnCreateTensorDescriptor");
    check(cudnnCreateFilterDescriptor(&w), "cudnnCreateFilterDescriptor");
    check(cudnnCreateConvolutionDescriptor(&convolution), "cudnnCreateConvolutionDescriptor");
    check(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, type, int(c.n), int(c.c), int(c.h), int(c.w)),
          "cudnnSetTensor4dDescriptor");
    check(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, type, int(c.n), int(c.k), int(c.p), int(c.q)),
          "cudnnSetTensor4dDescriptor");
    check(cudnnSetFilter4dDescriptor(w, type, CUDNN_TENSOR_NCHW, int(c.k), int(c.c), int(c.r), int(c.s)),
          "cudnnSetFilter4dDescriptor");
    check(cudnnSetConvolution2dDescriptor(convolution, int(c.padding[0]), int(c.padding[1]), int(c.stride[0]),
                                          int(c.stride[1]), 1, 1, CUDNN_CROSS_CORRELATION, type),
          "cudnnSetConvolution2dDescriptor");
    const bool exact = detail::thread_precision() == precision::ieee;
    check(cudnnSetConvolutionMathType(convolution, exact ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH),
          "cudnnSetConvolutionMathType");
  }
  ~convolution_descriptors() {
    (void)cudnnDestroyConvolutionDescriptor(convolution);
    (void)cudnnDestroyFilterDescriptor(w);
    (void)cudnnDestroyTensorDescriptor(y);
    (void)cudnnDestroyTensorDescriptor(x);
  }
  convolution_descriptors(const convolution_descriptors&) = delete;
  convolution_descriptors& operator=(const convolution_descriptors&) = delete;
};

}  // namespace gpu

template <class Build, class T>
bool convolve_natively(cuda device, const detail::convolution& c) {
  if constexpr (!::std::is_same_v<T, float> && !::std::is_same_v<T, double>) {
    return false;
  } else {
    using what = detail::convolution::what;
    const gpu::device_guard guard(device.ordinal);
    const gpu::stream_ref& stream = gpu::current(device.ordinal);
    gpu::use_on(c.x, stream, c.part == what::backward_data);
    gpu::use_on(c.weights, stream, c.part == what::backward_weights);
    gpu::use_on(c.y, stream, c.part == what::forward);
    T* const x = static_cast<T*>(c.x->data) + c.offset_x;
    T* const w = static_cast<T*>(c.weights->data) + c.offset_weights;
    T* const y = static_cast<T*>(c.y->data) + c.offset_y;
    const cudnnHandle_t handle = gpu::dnn_handle(device.ordinal);
    const gpu::convolution_descriptors d(c, sizeof(T) == 4 ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE);
    constexpr auto forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    constexpr auto data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
    constexpr auto weights = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
    const T one = 1, zero = 0;
    ::std::size_t bytes = 0;
    if (c.part == what::forward)
      gpu::check(cudnnGetConvolutionForwardWorkspaceSize(handle, d.x, d.w, d.convolution, d.y, forward, &bytes),
                 "workspace size");
    else if (c.part == what::backward_data)
      gpu::check(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, d.w, d.y, d.convolution, d.x, data, &bytes),
                 "workspace size");
    else
      gpu::check(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, d.x, d.y, d.convolution, d.w, weights, &bytes),
                 "workspace size");
    const detail::storage_ref scratch = allocate(device, bytes);
    if (c.part == what::forward)
      gpu::check(cudnnConvolutionForward(handle, &one, d.x, x, d.w, w, d.convolution, forward, scratch->data, bytes,
                                         &zero, d.y, y),
                 "cudnnConvolutionForward");
    else if (c.part == what::backward_data)
      gpu::check(cudnnConvolutionBackwardData(handle, &one, d.w, w, d.y, y, d.convolution, data, scratch->data, bytes,
                                              &zero, d.x, x),
                 "cudnnConvolutionBackwardData");
    else
      gpu::check(cudnnConvolutionBackwardFilter(handle, &one, d.x, x, d.y, y, d.convolution, weights, scratch->data,
                                                bytes, &zero, d.w, w),
                 "cudnnConvolutionBackwardFilter");
    detail::count(detail::counters.kernels);
    return true;
  }
}

}  // namespace cudarray::inline v0::backend
