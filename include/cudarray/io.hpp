// Printing arrays; .npy and IDX files.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/memory.hpp"
#include "io/idx.hpp"
#include "io/npy.hpp"
#include "io/print.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#if defined(__CUDACC__)
#include "backend/cuda/elementwise.cuh"
#endif
#endif
