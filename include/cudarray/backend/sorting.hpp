// Sorting on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/sorting.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/sorting.cuh"
#endif
