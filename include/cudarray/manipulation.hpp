// Changing shape and order, joining, splitting.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "ops/diagonals.hpp"
#include "ops/joining.hpp"
#include "ops/manipulation.hpp"
#include "ops/packing.hpp"
#include "ops/pad.hpp"
#include "ops/rearrange.hpp"
#include "ops/repeating.hpp"
#include "ops/splitting.hpp"
