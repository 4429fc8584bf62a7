// Sorting and scanning along an axis.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/scanning.hpp"
#include "backend/cpu/sorting.hpp"
#include "backend/cpu/topk.hpp"
#include "ops/sorting.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#include "backend/cuda/scan.cuh"
#include "backend/cuda/sorting.cuh"
#include "backend/cuda/topk.cuh"
#endif
#endif
