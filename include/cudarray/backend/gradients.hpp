// Gradients on each device that has an entry for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/row_gradients.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/row_gradients.cuh"
#endif
