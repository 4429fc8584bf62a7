// Products of matrices on each device.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/linalg.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "cuda/linalg.hpp"
#endif
