// Function annotations: host/device marks, visibility, forced inlining.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__CUDACC__)
#define CUDARRAY_HD __host__ __device__
#else
#define CUDARRAY_HD
#endif

#define CUDARRAY_PUBLIC __attribute__((visibility("default")))
#define CUDARRAY_HIDDEN __attribute__((visibility("hidden")))
#define CUDARRAY_FORCE_INLINE inline __attribute__((always_inline))
