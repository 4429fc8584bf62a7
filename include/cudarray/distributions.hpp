// Distributions of random numbers beyond random.hpp's, choices and random orders.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/each_index.hpp"
#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/linalg.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/scan.hpp"
#include "backend/scatter.hpp"
#include "backend/sorting.hpp"
#include "ops/choice.hpp"
#include "ops/discrete_distributions.hpp"
#include "ops/distributions.hpp"
#include "ops/vector_distributions.hpp"
