// Reductions on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/reduce.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/reduce.cuh"
#endif
