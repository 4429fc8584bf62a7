// The neural-network module: free functions with gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/cpu/convolution.hpp"
#include "backend/cpu/pooling.hpp"
#include "backend/cpu/rows.hpp"
#include "indexing.hpp"
#include "linalg.hpp"
#include "nnet/activations.hpp"
#include "nnet/conv.hpp"
#include "nnet/dropout.hpp"
#include "nnet/linear.hpp"
#include "nnet/losses.hpp"
#include "nnet/pool.hpp"
#include "random.hpp"
#include "reductions.hpp"
#if defined(CUDARRAY_HAS_CUDA) && defined(__CUDACC__)
#include "backend/cuda/pooling.cuh"
#include "backend/cuda/rows.cuh"
#endif
#if defined(CUDARRAY_HAS_CUDNN)
#include "backend/cuda/convolution.hpp"
#endif
