// A device's memory: statistics, a limit, the pool.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/memory.hpp"
#include "ops/memory.hpp"
