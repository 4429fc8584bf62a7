// Adding at places that indices pick.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/indexing.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/reduce.hpp"
#include "backend/cpu/scatter.hpp"
#include "ops/scatter.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#include "backend/cuda/indexing.cuh"
#include "backend/cuda/reduce.cuh"
#include "backend/cuda/scatter.cuh"
#endif
#endif
