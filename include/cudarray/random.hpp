// Random arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/sorting.hpp"
#include "ops/random.hpp"
