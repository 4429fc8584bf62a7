// Cumulative sums and products on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/scan.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/scan.cuh"
#endif
