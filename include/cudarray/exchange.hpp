// Arrays shared with other libraries without copies: DLPack, mdspan, span.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "ops/dlpack.hpp"
#include "ops/mdspan.hpp"
