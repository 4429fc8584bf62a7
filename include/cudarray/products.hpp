// Products of vectors and tensors, formulas of them, chains of matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/indexing.hpp"
#include "backend/linalg.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "ops/einsum.hpp"
#include "ops/products.hpp"
