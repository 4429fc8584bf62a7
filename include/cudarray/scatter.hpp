// Adding at places that indices pick.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/scatter.hpp"
#include "ops/scatter.hpp"
