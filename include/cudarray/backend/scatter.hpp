// Additions at indices on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/scatter.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/scatter.cuh"
#endif
