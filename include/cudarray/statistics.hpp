// Statistics: NaN-aware reductions, quantiles, covariances, differences, histograms.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/linalg.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/scan.hpp"
#include "backend/scatter.hpp"
#include "backend/sorting.hpp"
#include "ops/convolve.hpp"
#include "ops/differences.hpp"
#include "ops/histograms.hpp"
#include "ops/quantiles.hpp"
#include "ops/statistics.hpp"
