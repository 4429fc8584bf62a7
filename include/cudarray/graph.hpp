// CUDA graphs; empty where CUDA is not enabled.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CUDA)
#include "backend/cuda/graph.hpp"
#endif
