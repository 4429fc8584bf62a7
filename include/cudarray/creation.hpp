// Making arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "ops/creation.hpp"
#include "ops/transfer.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/elementwise.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#endif
#endif
