// Selecting by masks and index arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "ops/indexing.hpp"
#include "ops/selection.hpp"
