// Making arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "ops/creation.hpp"
#include "ops/sequences.hpp"
#include "ops/transfer.hpp"
#include "ops/windows.hpp"
