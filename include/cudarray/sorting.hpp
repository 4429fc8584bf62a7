// Sorting and scanning along an axis.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "backend/scan.hpp"
#include "backend/sorting.hpp"
#include "backend/topk.hpp"
#include "ops/sorting.hpp"
