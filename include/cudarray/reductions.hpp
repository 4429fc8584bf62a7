// Reductions over axes.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "backend/row_program.hpp"
#include "ops/closeness.hpp"
#include "ops/reductions.hpp"
#include "ops/transfer.hpp"
