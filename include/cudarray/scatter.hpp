// Adding, multiplying, largest and smallest at places that indices pick; sums and extremes of segments.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/scatter.hpp"
#include "ops/scatter.hpp"
#include "ops/segment_reductions.hpp"
