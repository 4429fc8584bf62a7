// Elementwise functions and operators.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/memory.hpp"
#include "ops/math.hpp"
#include "ops/operators.hpp"
#include "ops/transfer.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#endif
#endif
