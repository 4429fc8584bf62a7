// Searching in sorted arrays, sets, picking and putting by conditions and indices.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/scan.hpp"
#include "backend/scatter.hpp"
#include "backend/sorting.hpp"
#include "ops/picking.hpp"
#include "ops/searching.hpp"
