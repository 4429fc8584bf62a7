// Elementwise expressions on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/elementwise.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/elementwise.cuh"
#endif
