// Reductions over axes.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/reduce.hpp"
#include "ops/reductions.hpp"
#include "ops/transfer.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#include "backend/cuda/reduce.cuh"
#endif
#endif
