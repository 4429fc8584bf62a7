// Functions of your own.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/each_index.hpp"
#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "backend/reduce.hpp"
#include "ops/your_functions.hpp"
