// A device's memory: statistics, a limit, the pool.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/memory.hpp"
#include "ops/memory.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/memory.hpp"
#endif
