// Attention as a whole on each device that has it.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_CUDNN)
#include "cuda/attention.hpp"
#endif
