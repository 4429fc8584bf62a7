// Printing arrays; .npy and IDX files.
// SPDX-License-Identifier: MIT
#pragma once

#include "ndarray.hpp"

#include "backend/elementwise.hpp"
#include "backend/memory.hpp"
#include "io/idx.hpp"
#include "io/npy.hpp"
#include "io/print.hpp"
