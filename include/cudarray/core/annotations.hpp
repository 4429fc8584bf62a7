// Function annotations: host/device marks, visibility, forced inlining.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__CUDACC__)
#define CUDARRAY_HD __host__ __device__
// Before a template for both sides whose arguments may be of the host alone, as the CPU backend's are.
#define CUDARRAY_EXEC_CHECK_OFF _Pragma("nv_exec_check_disable")
#else
#define CUDARRAY_HD
#define CUDARRAY_EXEC_CHECK_OFF
#endif

// True for lambdas that nvcc compiles for both sides, which it does of those marked so, with --extended-lambda.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
#define CUDARRAY_IS_MARKED_LAMBDA(F) \
  (__nv_is_extended_host_device_lambda_closure_type(F) || __nv_is_extended_device_lambda_closure_type(F))
#elif defined(__CUDACC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#define CUDARRAY_IS_MARKED_LAMBDA(F) false
#else
#define CUDARRAY_IS_MARKED_LAMBDA(F) true
#endif

// Whether functions for both sides may hold SIMD packs in variables: nvcc takes none that has a vector's type.
#if defined(__CUDACC__)
#define CUDARRAY_HD_HOLDS_PACKS false
#else
#define CUDARRAY_HD_HOLDS_PACKS true
#endif

// Whether this file is compiled for a GPU, too, which fuses products and sums whatever the host's flags say.
#if defined(__CUDACC__)
#define CUDARRAY_DEVICE_CODE true
#else
#define CUDARRAY_DEVICE_CODE false
#endif

#define CUDARRAY_PUBLIC __attribute__((visibility("default")))
#define CUDARRAY_FORCE_INLINE inline __attribute__((always_inline))
// Before a loop of few iterations, known at compile time, whose arrays belong in registers.
#if defined(__CUDACC__)
#define CUDARRAY_UNROLL  // nvcc takes neither form in host code
#elif defined(__clang__)
#define CUDARRAY_UNROLL _Pragma("unroll")
#else
#define CUDARRAY_UNROLL _Pragma("GCC unroll 16")
#endif
// What runs once at most, or is little beside what follows: small code, and less to compile.
#define CUDARRAY_COLD __attribute__((cold, noinline))
// What many templates call and none is faster for having inside: less to compile.
#define CUDARRAY_NO_INLINE __attribute__((noinline))
