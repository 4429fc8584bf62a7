// Products of matrices and vectors.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/linalg.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "ops/linalg.hpp"
