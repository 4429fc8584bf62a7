// Picking by masks on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/indexing.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/indexing.cuh"
#endif
