// CUDA streams and events; empty where CUDA is not enabled.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/runtime/memory.hpp"
#endif
