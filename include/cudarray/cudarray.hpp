// Everything: the umbrella header.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "creation.hpp"
#include "indexing.hpp"
#include "io.hpp"
#include "linalg.hpp"
#include "manipulation.hpp"
#include "math.hpp"
#include "nnet.hpp"
#include "random.hpp"
#include "reductions.hpp"
#include "stats.hpp"
#include "stream.hpp"
