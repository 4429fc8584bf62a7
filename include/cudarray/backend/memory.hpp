// Memory of each device, and copies between devices.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/runtime/memory.hpp"
#if defined(CUDARRAY_HAS_CUDA)
#include "cuda/runtime/memory.hpp"
#endif
