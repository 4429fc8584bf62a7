// Pooling on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/pooling.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/pooling.cuh"
#endif
