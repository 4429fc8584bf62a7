// Kernels that are compiled from source at run time: of CUDA alone.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/raw_kernel.hpp"
#endif
