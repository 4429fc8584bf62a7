// The largest elements on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/topk.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/topk.cuh"
#endif
