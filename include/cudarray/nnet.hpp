// The neural-network module: free functions with gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "random.hpp"

#include "backend/convolution.hpp"
#include "backend/pooling.hpp"
#include "backend/rows.hpp"
#include "indexing.hpp"
#include "linalg.hpp"
#include "nnet/activations.hpp"
#include "nnet/attention.hpp"
#include "nnet/batch_norm.hpp"
#include "nnet/channels_last.hpp"
#include "nnet/conv.hpp"
#include "nnet/cross_entropy.hpp"
#include "nnet/ctc_loss.hpp"
#include "nnet/dropout.hpp"
#include "nnet/elementwise_losses.hpp"
#include "nnet/embedding.hpp"
#include "nnet/images.hpp"
#include "nnet/initializers.hpp"
#include "nnet/linear.hpp"
#include "nnet/local_response_norm.hpp"
#include "nnet/losses.hpp"
#include "nnet/nll_loss.hpp"
#include "nnet/norm.hpp"
#include "nnet/pool.hpp"
#include "nnet/positions.hpp"
#include "nnet/recurrent.hpp"
#include "reductions.hpp"
