// Softmax, log-softmax and logsumexp on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/rows.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/rows.cuh"
#endif
