// Convolutions on each device: without cuDNN, on CUDA by windows and products.
// SPDX-License-Identifier: MIT
#pragma once

#include "cpu/convolution.hpp"
#if defined(CUDARRAY_HAS_CUDNN)
#include "cuda/convolution.hpp"
#endif
