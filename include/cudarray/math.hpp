// Elementwise functions and operators.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "core/dtype_info.hpp"
#include "ops/complex.hpp"
#include "ops/math.hpp"
#include "ops/numbers.hpp"
#include "ops/operators.hpp"
#include "ops/transfer.hpp"
