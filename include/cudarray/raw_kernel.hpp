// Kernels from CUDA source that is compiled at run time. Needs NVRTC: the target cudarray::nvrtc.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "backend/raw_kernel.hpp"
#include "ops/raw_kernel.hpp"
