// A function for each index on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/each_index.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/each_index.cuh"
#endif
