// Row programs on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/row_program.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "cuda/row_program.cuh"
#endif
